"""The table of commands: name -> where its function is, under which heading it stands, an example."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

import typer

from blockcalc.cli.sections import SectionedCommand, SectionedGroup

SETTINGS = {"help_option_names": ["-h", "--help"]}

_COST = "What a model costs"
_WHY = "Where the numbers come from"


class Entry(NamedTuple):
    """One command. Its function has the command's name and stands in `cli.commands.NAME`."""

    panel: str
    example: str
    subcommands: Mapping[str, str] | None = None


COMMANDS: Mapping[str, Entry] = {
    "params": Entry(_COST, "params gpt2-small --by tensor"),
    "flops": Entry(_COST, "flops llama-3-8b --T 8Ki --attention causal"),
    "shapes": Entry(_COST, "shapes gpt2-small --T 1024"),
    "crossover": Entry(_COST, "crossover --d 4096 --h 32 --h_kv 8 --f 14336 --gated"),
    "explain": Entry(_WHY, "explain gpt2-small --quantity crossover"),
    "verify": Entry(_WHY, "verify gpt2-small"),
    "presets": Entry(_WHY, "presets --format csv", {"show": "presets show gpt2-small"}),
}


def add(app: typer.Typer, name: str) -> None:
    """Load a command and add it to the application."""
    entry, module = COMMANDS[name], import_module(f"blockcalc.cli.commands.{name}")
    function, epilog = getattr(module, name), _example(entry.example)
    if entry.subcommands is None:
        app.command(name, cls=SectionedCommand, rich_help_panel=entry.panel, epilog=epilog, context_settings=SETTINGS)(
            function
        )
        return
    group = typer.Typer(cls=SectionedGroup, invoke_without_command=True, rich_markup_mode=None)
    group.callback(epilog=epilog)(function)
    for below, example in entry.subcommands.items():
        group.command(below, cls=SectionedCommand, epilog=_example(example))(getattr(module, below))
    app.add_typer(group, name=name, rich_help_panel=entry.panel, context_settings=SETTINGS)


def _example(command: str) -> str:
    return f"Example: blockcalc {command}"
