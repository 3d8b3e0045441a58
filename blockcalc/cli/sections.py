"""Help in sections: options by the panel that they name, commands likewise, in plain text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup

_Record = tuple[str, str]


class SectionedCommand(TyperCommand):
    """A command whose help groups its options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections, in order of first appearance."""
        _write(_option_records(self, ctx), formatter)


class SectionedGroup(TyperGroup):
    """A group of commands whose help groups them."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of commands, then those of options."""
        self.format_commands(ctx, formatter)
        _write(_option_records(self, ctx), formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of commands."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        room = formatter.width - 6 - max(len(name) for name, _ in found)
        _write(
            (
                (getattr(command, "rich_help_panel", None) or "Commands", (name, command.get_short_help_str(room)))
                for name, command in found
                if command is not None
            ),
            formatter,
        )

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order in which they were added."""
        return list(self.commands)


def _option_records(command: Any, ctx: Any) -> Iterable[tuple[str, _Record]]:
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None:
            kind = "Arguments" if param.param_type_name == "argument" else "Options"
            yield getattr(param, "rich_help_panel", None) or kind, record


def _write(records: Iterable[tuple[str, _Record]], formatter: Any) -> None:
    sections: dict[str, list[_Record]] = {}
    for title, record in records:
        sections.setdefault(title, []).append(record)
    for title, lines in sections.items():
        with formatter.section(title):
            formatter.write_dl(lines)
