"""The command reference, made from the command line itself: `python docs/commands.py` prints it."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.main import get_command
from typer.models import ArgumentInfo

from blockcalc.cli.app import application

_HEAD = """# Commands

This page is made from the command line by `python docs/update.py`. Each command prints one table; see
[conventions](conventions.md) for what is counted and [configuration](configuration.md) for what `--set` changes.
A size is a whole number and may be written as `8192`, `8_192`, `8k` (8,000), `8Ki` (8,192), `2^13` or `1e6`.
"""
_SHARED_BY = 5


def reference() -> str:
    """The page: every command with its arguments and options, those that most commands share once at the end."""
    found = list(_commands(get_command(application()), "blockcalc"))
    rows = Counter(_row(param) for _, command in found for param in _params(command))
    shared = {row: None for row, count in rows.items() if count >= _SHARED_BY and not row[0].startswith("`MODEL`")}
    parts = [_HEAD, *(_section(path, command, shared) for path, command in found)]
    parts.append("## Shared options\n\n" + _table(shared))
    parts.append(_EXIT_CODES)
    return "\n".join(parts)


_EXIT_CODES = """## Exit codes

| code | when |
|---|---|
| 0 | done |
| 1 | `verify` found a mismatch; `--strict` met a warning; a question has no answer |
| 2 | the command line is used wrongly; an unknown letter, key, option or convention |
| 3 | a configuration that can't be: a bad value, a missing key, not JSON, impossible sizes |
| 4 | an unknown preset, file or model family |
| 130 | interrupted |

Results go to standard output, warnings and errors to standard error, one line each.
"""


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command below this one with its full name, itself first."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{path} {name}")


def _params(command: Any) -> list[tuple[Any, Any, Any]]:
    """A command's parameters but `--help`, which all have: (type, typer's description, default) of each.

    They are read off the function, since click's own objects differ from version to version.
    """
    hints = get_type_hints(command.callback, include_extras=True)
    defaults = {name: param.default for name, param in inspect.signature(command.callback).parameters.items()}
    return [
        (*get_args(hint), defaults[name])
        for name, hint in hints.items()
        if name in defaults and get_origin(hint) is Annotated
    ]


def _section(path: str, command: Any, shared: dict[tuple[str, str], None]) -> str:
    own = [*(_row(param) for param in _params(command)), *_completion(command)]
    parts = [f"## {path}", _sentences(command.help)]
    example = (command.epilog or "").removeprefix("Example: ")
    if example:
        parts.append(f"Example: `{example}`")
    if any(row not in shared for row in own):
        parts.append(_table([row for row in own if row not in shared]))
    used = [f"{row[0].split()[0].strip('`,')}" for row in own if row in shared]
    if used:
        parts.append(f"[Shared](#shared-options): {', '.join(f'`{name}`' for name in used)}.")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _table(rows: Any) -> str:
    lines = ["| option | meaning |", "|---|---|", *(f"| {name} | {meaning} |" for name, meaning in rows)]
    return "\n".join(lines) + "\n"


def _row(param: tuple[Any, Any, Any]) -> tuple[str, str]:
    """An argument or option, and what it means."""
    kind, info, default = param
    if isinstance(info, ArgumentInfo):
        return f"`{info.metavar}`", _escaped(_sentences(info.help))
    value = "" if kind is bool else " " + ("\\|".join(_choices(kind)) or info.metavar)
    said = f" Default: `{default}`." if isinstance(default, str) and default else ""
    # typer keeps the first of an annotated option's forms where its default would stand.
    forms = [form for form in (info.default, *info.param_decls) if isinstance(form, str)]
    return f"`{', '.join(forms)}{value}`", _escaped(_sentences(info.help) + said)


def _completion(command: Any) -> list[tuple[str, str]]:
    """The options that typer adds to the whole for a shell's completion."""
    added = [param for param in command.params if "completion" in param.name]
    return [(f"`{param.opts[0]}`", _sentences(param.help)) for param in added]


def _choices(kind: Any) -> list[str]:
    """The words of a Literal, which may stand beside None."""
    if get_origin(kind) is Literal:
        return [str(word) for word in get_args(kind)]
    return [word for inner in get_args(kind) for word in _choices(inner)]


def _sentences(text: str | None) -> str:
    return " ".join((text or "").split())


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    typer.echo(reference(), nl=False)
