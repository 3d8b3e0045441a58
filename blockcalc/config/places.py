"""Where a name stands in an architecture: letter, full name or dotted path -> the fields that it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from blockcalc.config.architecture import Architecture
from blockcalc.errors import ConfigError, UsageError, did_you_mean, one_of
from blockcalc.notation import BY_LETTER, LETTERS, base

Path = tuple[str | int, ...]

_HOLDERS: Mapping[str, Path] = {
    **dict.fromkeys(("d", "L", "V", "P"), ()),
    **dict.fromkeys(("h", "h_kv", "d_h", "W"), ("blocks", "*", "attention")),
    **dict.fromkeys(("f", "f_e", "f_s", "E", "k"), ("blocks", "*", "feedforward")),
}
"""Letter that can be set -> the part that holds its field; "*" is any block kind."""

_KINDS = {"f": "mlp", **dict.fromkeys(("f_e", "f_s", "E", "k"), "moe")}
"""Letter -> the kind of feed-forward part that has it."""

_ADDED = ("V", "P", "W", "f_s")
"""Letters whose field is none where the model has no such thing (elsewhere none means a rule)."""

_RUN = {"B": "8", "T": "128", "S": "4096", "D": "300e9"}
"""Letters that the run sets, with an example each."""


@dataclass(frozen=True, slots=True)
class Field:
    """What a field takes: a size or something else; none or not; words that make a part (`tag` = word)."""

    size: bool = False
    optional: bool = False
    tag: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """One field of one architecture, by its path from the top."""

    path: Path
    field: Field


def dotted(path: Path) -> str:
    """A path as `--set` takes it."""
    return ".".join(str(step) for step in path)


def places(architecture: Architecture, name: str, where: str = "--set") -> list[Place]:
    """The fields that a name means, one or more.

    Raises UsageError and ConfigError, as `overrides.override` says.
    """
    if name in _RUN:
        raise UsageError(f"{where}: {name} is an option of its own: --{name} {_RUN[name]}")
    standing = dict(_standing(architecture))
    letter, block = _letter(architecture, name)
    if letter:
        found = _lettered(standing, letter, block, name, where)
    elif "." in name:
        found = _dotted(standing, name, where)
    else:
        found = _named(standing, architecture, name, where)
    return [Place(at, _field_at(architecture, standing, at)) for at in found]


def _standing(part: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every path below a part with what stands there, from the top down."""
    steps: Any = ()
    if is_dataclass(part):
        steps = ((field.name, getattr(part, field.name)) for field in fields(part))
    elif isinstance(part, Mapping):
        steps = part.items()
    elif isinstance(part, tuple) and part and is_dataclass(part[0]):
        steps = enumerate(part)
    for step, value in steps:
        yield (*at, step), value
        yield from _standing(value, (*at, step))


def _matches(at: Path, pattern: Path) -> bool:
    return len(at) == len(pattern) and all(want in ("*", have) for want, have in zip(pattern, at, strict=True))


# Letters


def _letter(architecture: Architecture, name: str) -> tuple[str, str]:
    """Letter and block kind ("*" for all of them); no letter for another sort of name."""
    if name in BY_LETTER:
        return name, "*"
    root = base(name)
    if root != name and name[len(root) + 1 :] in architecture.blocks:
        return root, name[len(root) + 1 :]
    full = [entry.letter for entry in LETTERS if entry.field == name]
    return (full[0], "*") if len(full) == 1 else ("", "")


def _lettered(standing: Mapping[Path, Any], letter: str, block: str, name: str, where: str) -> list[Path]:
    holder = _HOLDERS.get(letter)
    if holder is None or (block != "*" and not holder):
        raise UsageError(f"{where}: {name} follows from other sizes and can't be set; {_instead(standing, letter)}")
    pattern = (*(block if step == "*" else step for step in holder), BY_LETTER[letter].field)
    found = [at for at in standing if _matches(at, pattern) and _holds(standing, at, letter)]
    if not found:
        other = "a plain feed-forward part; experts' width is f_e" if letter == "f" else "a mixture of experts"
        whose = "no block" if block == "*" else f"{block} is no block that"
        raise ConfigError(f"{whose} has {other}", key=name, where=where)
    # A window is changed where the model has one; only a model without gets one in every block.
    present = [at for at in found if standing[at] is not None] if letter in _ADDED else []
    return present or found


def _holds(standing: Mapping[Path, Any], at: Path, letter: str) -> bool:
    return letter not in _KINDS or bool(standing[at[:-1]].kind == _KINDS[letter])


def _instead(standing: Mapping[Path, Any], letter: str) -> str:
    runs = [dotted(at) for at in standing if _matches(at, ("pattern", "start", "*", "count"))]
    return f"{one_of(['L', *runs]) if letter == 'L' else one_of(_HOLDERS)} can be"


# Full names


def _named(standing: Mapping[Path, Any], architecture: Architecture, name: str, where: str) -> list[Path]:
    """All places of a field, where they are the same field of each block kind."""
    found = [at for at in standing if at[-1] == name and not _matches(at, ("blocks", "*"))]
    if not found:
        raise UsageError(f"{where}: no letter or field {name[:60]!r} in this model; {_hint(standing, name)}")
    general = dict.fromkeys(_general(at, len(architecture.blocks) > 1) for at in found)
    if len({_general(at, True) for at in found}) > 1:
        choices = ["d" if path == ("width",) else dotted(path) for path in general]
        raise UsageError(f"{where}: {name} stands in several parts; write {one_of(choices)}")
    return found


def _general(at: Path, several: bool) -> Path:
    """The path with places in a list left open, and the block's name where there are several."""
    opened = tuple("*" if isinstance(step, int) else step for step in at)
    return (*opened[:1], "*", *opened[2:]) if several and at[0] == "blocks" else opened


def _hint(standing: Mapping[Path, Any], name: str) -> str:
    blocks = [str(at[1]) for at in standing if _matches(at, ("blocks", "*"))]
    suffixed = [f"{letter}_{block}" for letter, at in _HOLDERS.items() if at for block in blocks]
    known = [*_HOLDERS, *(suffixed if len(blocks) > 1 else [])]
    known += sorted({str(at[-1]) for at in standing if not isinstance(at[-1], int)} - set(blocks))
    return did_you_mean(name, known) or f"letters are {one_of(_HOLDERS)}; a field goes by its name or its dotted path"


# Dotted paths


def _dotted(standing: Mapping[Path, Any], name: str, where: str) -> list[Path]:
    steps = tuple(
        int(step) if step.isascii() and step.isdigit() and len(step) < 9 else step for step in name.split(".")
    )
    found = [at for at in standing if _matches(at, steps)]
    if found:
        return found
    absent = [at for at in standing if standing[at] is None and _matches(at, steps[: len(at)])]
    if absent:
        raise ConfigError(f"this model has none, so no {name[:80]}", key=dotted(absent[0]), where=where)
    hint = did_you_mean(name, [dotted(at) for at in standing]) or "a path reads like blocks.block.attention.heads"
    raise UsageError(f"{where}: no field {name[:80]!r} in this model; {hint}")


# What a field takes


def _field_at(architecture: Architecture, standing: Mapping[Path, Any], at: Path) -> Field:
    part = standing[at[:-1]] if len(at) > 1 else architecture
    hints = get_type_hints(type(part), include_extras=True) if is_dataclass(part) else {}
    return _field(list(_members(hints[at[-1]]))) if at[-1] in hints else Field()


def _members(hint: Any) -> Iterator[Any]:
    """The members of a union, also of an annotated one."""
    if get_origin(hint) is Annotated:
        yield from _members(get_args(hint)[0])
    elif get_origin(hint) in (Union, UnionType):
        for member in get_args(hint):
            yield from _members(member)
    else:
        yield hint


def _field(members: list[Any]) -> Field:
    """What the members of a field's type take; words as in positions=alibi, f=rounded_up, qk_norm=rmsnorm."""
    parts = [get_type_hints(member) for member in members if is_dataclass(member)]
    tag = next((tag for tag in ("kind", "rule") if any(tag in hints for hints in parts)), "")
    kinds = [hints[tag] for hints in parts if tag in hints]
    words = tuple(word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind))
    return Field(int in members, type(None) in members, tag if words else "", words)
