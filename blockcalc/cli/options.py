"""The options that commands share. Nothing here loads more than typer."""

from __future__ import annotations

from typing import Annotated, Literal

import typer


def _preset_names(incomplete: str) -> list[str]:
    """Names for a shell's completion, read off the files' names."""
    from blockcalc.config.presets import preset_names

    return [name for name in preset_names() if name.startswith(incomplete)]


_MODEL = "A preset's name, a .toml or config.json file, a folder that holds one, or - for JSON on standard input."
_INTEGER = "8k, 8Ki, 2^20 and 1e6 are understood"

Model = Annotated[str, typer.Argument(metavar="MODEL", help=_MODEL, autocompletion=_preset_names)]
OptionalModel = Annotated[
    str | None, typer.Argument(metavar="[MODEL]", help=_MODEL, autocompletion=_preset_names, show_default=False)
]
Preset = Annotated[str, typer.Argument(metavar="NAME", help="A preset's name or alias.", autocompletion=_preset_names)]

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Override a size or choice by letter, name or dotted path, as in h_kv=4 or tied_head=false. Repeatable.",
        rich_help_panel="Model",
        show_default=False,
    ),
]
Free = Annotated[
    list[str] | None,
    typer.Option(
        "--free",
        metavar="LETTERS",
        help="Leave letters unbound, as in d,L: numbers become polynomials in them. Repeatable.",
        rich_help_panel="Model",
        show_default=False,
    ),
]


def size(letter: str, meaning: str, panel: str = "Run") -> object:
    """The option of a letter that takes a whole number."""
    return typer.Option(f"--{letter}", metavar="N", help=meaning, rich_help_panel=panel, show_default=False)


Batch = Annotated[str | None, size("B", "Sequences in the batch. 1 when left out.")]
Positions = Annotated[str | None, size("T", f"Positions processed; {_INTEGER}. The model's context when left out.")]
Attended = Annotated[str | None, size("S", "Positions attended, those in a cache included. T when left out.")]
Tokens = Annotated[str | None, size("D", "Training tokens, as in 300e9.")]

Width = Annotated[str | None, size("d", "Model width.", "One block")]
Heads = Annotated[str | None, size("h", "Query heads. As many as fill the width when left out.", "One block")]
KvHeads = Annotated[str | None, size("h_kv", "Key/value heads. As many as query heads when left out.", "One block")]
HeadWidth = Annotated[str | None, size("d_h", "Width of one head. d/h when left out.", "One block")]
FeedforwardWidth = Annotated[str | None, size("f", "Feed-forward width. 4d when left out.", "One block")]
Gated = Annotated[
    bool, typer.Option("--gated", help="Three feed-forward matrices, not two.", rich_help_panel="One block")
]

Format = Annotated[
    Literal["text", "markdown", "latex", "json", "csv"],
    typer.Option("--format", help="How to write the table.", rich_help_panel="Output"),
]
File = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Write to a file.", rich_help_panel="Output", show_default=False
    ),
]
Formulas = Annotated[
    bool,
    typer.Option(
        "--formulas/--no-formulas", help="Show formulas; faster without.", rich_help_panel="Output", show_default=False
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 1 when there is a warning.", rich_help_panel="Output")
]
