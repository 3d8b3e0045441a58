"""Options as typed -> what the library takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from blockcalc.errors import UsageError, shown

if TYPE_CHECKING:
    from blockcalc.model import Model


def load(source: str, sets: Iterable[str] | None, free: Iterable[str] | None) -> Model:
    """The model that the command names, with what `--set` and `--free` ask for.

    Raises BlockcalcError's family.
    """
    from blockcalc.model import Model

    return Model.load(source, overrides=overrides(sets or ()), free=letters(free or ()), where="--set")


def overrides(sets: Iterable[str]) -> dict[str, str]:
    """NAME=VALUE, each -> name and value.

    Raises UsageError for one without = and for a name given twice.
    """
    found: dict[str, str] = {}
    for text in sets:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise UsageError(f"--set {shown(text)}: write NAME=VALUE, as in --set h_kv=4")
        if name in found:
            raise UsageError(f"--set {name} is given twice")
        found[name] = value
    return found


def letters(free: Iterable[str]) -> list[str]:
    """`d,L`, each -> the letters.

    Raises UsageError for an empty one.
    """
    found = []
    for text in free:
        names = [letter.strip() for letter in text.split(",")]
        if not all(names):
            raise UsageError(f"--free {shown(text)}: write letters with commas between, as in --free d,L")
        found += names
    return found


def sizes(**given: str | None) -> dict[str, int]:
    """The run's sizes that were given, by letter.

    Raises UsageError for one that is no whole number.
    """
    from blockcalc.config.integers import parse_integer

    return {letter: parse_integer(text, f"--{letter}") for letter, text in given.items() if text is not None}
