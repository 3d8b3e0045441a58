"""The presets: find, list, load.

One TOML file a model. Its head, the lines before the first table, says what is known about the model
(family, aliases, context, published totals and where they come from); `[architecture]` and the tables
below it describe it in the grammar's own words. The file's name is the model's name.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from blockcalc.config.files import read_text
from blockcalc.errors import ConfigError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from blockcalc.config.architecture import Architecture

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PRESET_DIRS: tuple[str, ...] = (
    os.path.join(_PACKAGE, "presets", "models"),
    os.path.join(os.path.dirname(_PACKAGE), "presets", "models"),
)
"""Where presets lie: inside the package once it is installed, beside it in a checkout. The first that exists counts."""

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a preset says about a model besides its architecture.

    `published` is the number of stored parameters, a tied matrix once; `published_active` counts k of E
    experts; `published_non_embedding` leaves token and position tables and an untied head out. `source`
    says where the numbers are from.
    """

    name: str
    family: str = ""
    aliases: tuple[str, ...] = ()
    context: int | None = None
    published: int | None = None
    published_active: int | None = None
    published_non_embedding: int | None = None
    source: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset(Head):
    """A preset: its head and its architecture."""

    architecture: Architecture


def preset_names() -> list[str]:
    """The names of the shipped presets, sorted."""
    return sorted(file.removesuffix(".toml") for file in os.listdir(_folder()) if file.endswith(".toml"))


@cache
def preset_heads() -> tuple[Head, ...]:
    """The heads of the shipped presets by name, read without the architectures below them."""
    return tuple(_head(name, tomllib.loads(_head_text(_path(name))), name) for name in preset_names())


def resolve_name(name: str) -> str:
    """The path of the preset of that name or alias, upper or lower case.

    Raises UnknownNameError with the nearest names.
    """
    wanted = name.lower()
    if wanted and len(wanted) <= 100 and _LETTERS.issuperset(wanted):
        if os.path.isfile(_path(wanted)):
            return _path(wanted)
        for other in preset_names():
            # Parsed only where the word stands at all: reading is cheap, parsing all heads isn't.
            text = _head_text(_path(other))
            if f'"{wanted}"' in text.lower() and wanted in _aliases(other, text):
                return _path(other)
    raise UnknownNameError(_unknown(name))


def _aliases(name: str, head: str) -> list[str]:
    return [alias.lower() for alias in _head(name, tomllib.loads(head), name).aliases]


def load_preset(name: str) -> Preset:
    """The shipped preset of that name or alias.

    The tests hold every shipped file to the schema, so this needn't. Raises UnknownNameError.
    """
    from blockcalc.config.build import build_architecture

    path = resolve_name(name)
    data = _parse(read_text(path), path)
    return _preset(os.path.basename(path).removesuffix(".toml"), data, path, build_architecture)


def read_preset_file(path: str) -> Preset:
    """A user's own preset file: the same format, checked by the schema. Every key of the head may be left out.

    Raises ConfigError naming the file, the key and the rule, UnknownNameError when there is no such file.
    """
    from blockcalc.config.schema import read_architecture

    name = os.path.basename(path).removesuffix(".toml")
    return _preset(name, _parse(read_text(path), path), path, lambda data: read_architecture(data, path))


def read_preset(data: Mapping[str, Any], name: str, where: str) -> Preset:
    """The same for data already parsed: a head beside "architecture", or the architecture alone. Raises ConfigError."""
    from blockcalc.config.schema import read_architecture

    whole = data if "architecture" in data else {"architecture": data}
    return _preset(name, whole, where, lambda architecture: read_architecture(architecture, where))


def _preset(name: str, data: Mapping[str, Any], where: str, build: Any) -> Preset:
    head = _head(name, {key: value for key, value in data.items() if key != "architecture"}, where)
    architecture = data.get("architecture")
    if not isinstance(architecture, Mapping):
        raise ConfigError("is missing; it describes the model", key="[architecture]", where=where)
    given = {"name": head.name, **architecture}
    if head.context is not None and given.setdefault("context", head.context) != head.context:
        raise ConfigError(
            f"the head of the file gives {head.context}",
            key="architecture.context",
            value=given["context"],
            where=where,
        )
    about = {field.name: getattr(head, field.name) for field in fields(Head)}
    return Preset(architecture=build(given), **about)


_KINDS: Mapping[str, tuple[type[Any], str]] = {
    "name": (str, "is text"),
    "family": (str, "is text"),
    "aliases": (list, "is a list of names"),
    "context": (int, "is a whole number from 1"),
    "published": (int, "is a whole number from 1"),
    "published_active": (int, "is a whole number from 1"),
    "published_non_embedding": (int, "is a whole number from 1"),
    "source": (str, "is text"),
    "note": (str, "is text"),
}


def _head(name: str, data: Mapping[str, Any], where: str) -> Head:
    for key, value in data.items():
        if key not in _KINDS:
            fix = did_you_mean(key, [*_KINDS, "architecture"]) or "the model's sizes belong under [architecture]"
            raise ConfigError("no such key in the head of a preset", key=key, where=where, fix=fix)
        kind, rule = _KINDS[key]
        texts = kind is not list or type(value) is not list or all(isinstance(entry, str) for entry in value)
        if type(value) is not kind or not texts or (kind is int and value < 1):
            raise ConfigError(rule, key=key, value=_scalar(value), where=where)
    return Head(**{"name": name, **data, "aliases": tuple(data.get("aliases", ()))})


def _scalar(value: object) -> object:
    return value if isinstance(value, (str, int, float, bool)) else None


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError("is not a preset: nested too deeply", where=where) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"is not TOML: {error}", where=where) from None
    except ValueError:  # from int(), at 4,300 digits
        raise ConfigError("holds a number of more digits than make sense", where=where) from None


def _head_text(path: str) -> str:
    lines: list[str] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("["):
                break
            lines.append(line)
    return "".join(lines)


@cache
def _folder() -> str:
    return next((folder for folder in PRESET_DIRS if os.path.isdir(folder)), PRESET_DIRS[0])


def _path(name: str) -> str:
    return os.path.join(_folder(), f"{name}.toml")


def _unknown(name: str) -> str:
    known = [entry for head in preset_heads() for entry in (head.name, *head.aliases)]
    hint = did_you_mean(name, known) or "`blockcalc presets` lists the known ones"
    return f'"{name[:80]}": no such preset, and no such file; {hint}'
