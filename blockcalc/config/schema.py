"""Data from outside -> the grammar's parts, checked by pydantic: strict types, unknown keys refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from blockcalc.config import architecture as grammar
from blockcalc.config import parts, widths
from blockcalc.errors import ConfigError, did_you_mean

_PARTS = [value for module in (grammar, parts, widths) for value in vars(module).values() if is_dataclass(value)]
_TAGS = {"mlp", "moe", "rotary", "alibi", "times", "rounded_up", "rounded_nearest", "int"}
_MESSAGES = {
    "int_type": "is a whole number",
    "int_from_float": "is a whole number",
    "float_type": "is a number",
    "finite_number": "is a finite number",
    "bool_type": "is true or false",
    "string_type": "is text",
    "missing": "is missing",
    "tuple_type": "is a list",
    "dict_type": "is a table",
    "dataclass_type": "is a table",
    "model_attributes_type": "is a table",
}


@cache
def _adapter() -> TypeAdapter[grammar.Architecture]:
    for part in _PARTS:
        setattr(part, "__pydantic_config__", ConfigDict(extra="forbid", strict=True, allow_inf_nan=False))  # noqa: B010
    return TypeAdapter(grammar.Architecture)


def read_architecture(data: Mapping[str, Any], where: str = "") -> grammar.Architecture:
    """The architecture that `data` describes in the grammar's own words.

    Raises ConfigError naming the source, the key, its value and what would do.
    """
    try:
        # As JSON, so that strict types mean what they say: 12 is no text, "12" and 12.0 no size.
        return _adapter().validate_json(json.dumps(data, allow_nan=True, default=_nothing))
    except ValidationError as error:
        raise _first(error).at(where=where) from None
    except ConfigError as error:
        raise error.at(where=where) from None


def _nothing(_: object) -> list[object]:
    """What no field takes, for what is neither text, number, list nor table: a date in TOML, say."""
    return []


def _first(error: ValidationError) -> ConfigError:
    """Pydantic's first complaint in blockcalc's words."""
    errors = error.errors(include_url=False)
    # Where a number or a table may stand, a table is judged as one.
    first = next((one for one in errors if one["type"] != "int_type" or not isinstance(one["input"], dict)), errors[0])
    path = _path(first["loc"])
    context, kind = first.get("ctx", {}), first["type"]
    if isinstance(context.get("error"), ConfigError):
        inner: ConfigError = context["error"]
        return inner.at(prefix=".".join(path))
    key = ".".join(path)
    value = first["input"] if not isinstance(first["input"], (dict, list)) else None
    if kind in {"unexpected_keyword_argument", "extra_forbidden"}:
        return ConfigError("no such key", key=key, fix=did_you_mean(path[-1], _keys()))
    if kind == "missing":
        return ConfigError("is missing", key=key)
    if kind == "union_tag_not_found":
        tag = str(context.get("discriminator", "")).strip("'")
        return ConfigError("is missing", key=f"{key}.{tag}")
    if kind.startswith("union_tag"):
        tag = str(context.get("discriminator", "")).strip("'")
        expected = str(context.get("expected_tags", "")) or "a kind"
        return ConfigError(f"its {tag} is {expected}", key=key, value=context.get("tag"))
    if kind == "literal_error":
        return ConfigError(f"is {context['expected']}", key=key, value=value)
    return ConfigError(_MESSAGES.get(kind, first["msg"]), key=key, value=value)


def _path(location: tuple[int | str, ...]) -> list[str]:
    """The keys that lead somewhere, without the steps by which pydantic names the member of a union."""
    steps = [str(step) for step in location if not str(step).startswith("tagged-union")]
    return [step for before, step in pairwise(("", *steps)) if step not in _TAGS or before in {*_TAGS, "blocks"}]


@cache
def _keys() -> tuple[str, ...]:
    return tuple(sorted({field.name for part in _PARTS for field in fields(part)}))
