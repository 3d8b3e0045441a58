"""The error family: one line each, an exit code each, and the nearest known name."""

from __future__ import annotations

from collections.abc import Iterable


class BlockcalcError(Exception):
    """Anything blockcalc refuses. The message is one line; `exit_code` is what the command line returns."""

    exit_code = 3

    def __str__(self) -> str:
        return printable(" ".join(super().__str__().split()))


class NoAnswerError(BlockcalcError):
    """The question has no answer: nothing fits, nothing crosses, a check found a mismatch."""

    exit_code = 1


class UsageError(BlockcalcError):
    """The command line or a call was written wrongly."""

    exit_code = 2


class ConfigError(BlockcalcError, ValueError):
    """A configuration that can't be: where it stands, the rule that it breaks, what would do.

    `where` is a file or another source, `key` the dotted path inside it.
    """

    exit_code = 3

    def __init__(self, problem: str, *, key: str = "", value: object = None, where: str = "", fix: str = "") -> None:
        self.problem, self.key, self.value, self.where, self.fix = problem, key, value, where, fix
        super().__init__(self._line())

    def _line(self) -> str:
        subject = self.key if self.value is None else f"{self.key} = {shown(self.value)}"
        parts = [part for part in (self.where, subject, self.problem) if part]
        return ": ".join(parts) + (f"; {self.fix}" if self.fix else "")

    def at(self, *, where: str = "", prefix: str = "") -> ConfigError:
        """The same refusal, told from further out: with the source and the path that lead to its key."""
        key = ".".join(part for part in (prefix, self.key) if part)
        return type(self)(self.problem, key=key, value=self.value, where=where or self.where, fix=self.fix)


class UnknownNameError(BlockcalcError, LookupError):
    """No such preset, file or model family."""

    exit_code = 4


def printable(text: str) -> str:
    """`text` on one line and without control characters, which names from outside may hold."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " if c.isspace() else "�" for c in text)


def shown(value: object) -> str:
    """A value as a message quotes it: JSON's words, cut where it would fill the line."""
    words = {True: "true", False: "false", None: "null"}
    if value is None or isinstance(value, bool):
        return words[value]
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a number of more than 40 digits"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean gpt2-medium?`, or "" when nothing known is near."""
    import difflib

    names = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(name.lower()[:80], names, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(names[match] for match in near)}?" if near else ""


def one_of(names: Iterable[str]) -> str:
    """`a, b or c`, for listing what would be right."""
    *rest, last = list(names) or ["nothing"]
    return f"{', '.join(rest)} or {last}" if rest else last


def chosen(value: object, names: Iterable[str], what: str) -> str:
    """The value, where it is one of the names.

    Raises UsageError naming the nearest, or all of them.
    """
    known = list(names)
    if isinstance(value, str) and value in known:
        return value
    hint = did_you_mean(value, known) if isinstance(value, str) else ""
    raise UsageError(f"{what} = {shown(value)}: {hint or f'is {one_of(known)}'}")
