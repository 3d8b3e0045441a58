"""Changes to an architecture by letter, by full name or by dotted path: `h_kv=4`, `tied_head=false`.

The architecture becomes plain data, the data is changed and read anew, so every rule holds for the
result, and what follows from a size (f by its rule, d_h from d and h) follows from the new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from operator import index
from typing import Any, SupportsIndex

from blockcalc.config.architecture import Architecture
from blockcalc.config.integers import parse_integer
from blockcalc.config.places import Field, Path, Place, dotted, places
from blockcalc.errors import ConfigError, UsageError, one_of

_TAGS = ("kind", "rule")


def override(architecture: Architecture, overrides: Mapping[str, object], where: str = "--set") -> Architecture:
    """The architecture with `overrides` applied: name -> value, a text in the grammar of `--set` or the value itself.

    A name is a letter of the notation (with `_block` for one block kind alone), a field's full name, which
    changes it wherever it stands, or a dotted path from the architecture down.
    Raises UsageError for a name that is none of these or that means several fields
    or a size of the run, ConfigError for a value that can't be or a size that the model has no part for.
    """
    if not overrides:
        return architecture
    # Imported here: it loads pydantic, which an architecture without changes needn't.
    from blockcalc.config.schema import read_architecture

    data, taken = architecture_data(architecture), dict[Path, str]()
    for name, value in overrides.items():
        for place in places(architecture, name, where):
            _claim(taken, place.path, name, where)
            _put(data, place, _converted(value, place, name, where))
    return read_architecture(data, where)


def architecture_data(architecture: Architecture) -> dict[str, Any]:
    """An architecture as plain data in the grammar's own words, defaults left out.

    `schema.read_architecture` makes the same architecture of it.
    """
    data: dict[str, Any] = _plain(architecture)
    return data


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in fields(value)
            if field.name in _TAGS or getattr(value, field.name) != field.default
        }
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value


def _claim(taken: dict[Path, str], path: Path, name: str, where: str) -> None:
    if path in taken:
        raise UsageError(f"{where}: {taken[path]} and {name} both set {dotted(path)}; give one of them")
    taken[path] = name


def _put(data: dict[str, Any], place: Place, value: object) -> None:
    part: Any = data
    for step in place.path[:-1]:
        part = part[step]
    part[place.path[-1]] = value


def _converted(value: object, place: Place, name: str, where: str) -> object:
    """A value as the field takes it. What is no text goes to the schema as it is."""
    if not isinstance(value, str):
        return index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else value
    text, field = value.strip(), place.field
    if text.lower() in {"none", "null"} and field.optional:
        return None
    if field.tag and text in field.words:
        return {field.tag: text}
    if field.size:
        return _size(text, field, name, where)
    if field.tag:
        words = one_of([*field.words, *(["none"] if field.optional else [])])
        raise ConfigError("no such part", key=name, value=text, where=where, fix=f"{words} would do")
    return _scalar(text)


def _size(text: str, field: Field, name: str, where: str) -> int:
    try:
        return parse_integer(text, name)
    except UsageError as error:
        also = [*field.words, *(["none"] if field.optional else [])]
        fix = f"or {', '.join(also)}" if also else ""
        raise ConfigError(str(error), where=where, fix=fix) from None


def _scalar(text: str) -> object:
    """true, false, a number or a word."""
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if not text[:1].isdigit() and text[:1] not in {"-", "."}:
        return text
    try:
        return parse_integer(text)
    except UsageError:
        return _float(text)


def _float(text: str) -> object:
    try:
        return float(text) if text.isascii() and len(text) <= 40 else text
    except ValueError:
        return text


def flat_data(architecture: Architecture) -> dict[str, str]:
    """An architecture as dotted path -> value in words, as `--set` takes both: `blocks.local.attention.heads` "12"."""
    return dict(_flat(architecture_data(architecture), ()))


def _flat(data: Any, at: Path) -> Iterator[tuple[str, str]]:
    nested = isinstance(data, list) and bool(data) and isinstance(data[0], dict)
    if isinstance(data, dict) or nested:
        for step, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _flat(value, (*at, step))
    elif isinstance(data, list):
        yield dotted(at), ", ".join(data)
    else:
        words = {True: "true", False: "false", None: "none"}
        yield dotted(at), words[data] if data is None or isinstance(data, bool) else str(data)
