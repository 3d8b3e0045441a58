"""A table as GitHub's Markdown."""

from __future__ import annotations

from blockcalc.errors import printable
from blockcalc.render.grid import Grid, of_rows, of_totals
from blockcalc.render.table import Table

_SPECIAL = {ord(character): f"\\{character}" for character in "\\`*|<"}


def write(table: Table) -> str:
    """The table under a heading, then its totals as a second table, then the notes as a list."""
    parts = [f"## {_escaped(table.title)}"]
    parts += [_piped(grid) for grid in (of_rows(table), of_totals(table, headed=True)) if grid.columns]
    parts.append("\n".join(f"- {_escaped(note)}" for note in table.notes))
    return "\n\n".join(part for part in parts if part) + "\n"


def _piped(grid: Grid) -> str:
    rules = ["--:" if column.align == "right" else ":--" for column in grid.columns]
    codes = [column.formula for column in grid.columns]
    rows = [
        [_code(cell) if code else _escaped(cell) for cell, code in zip(row, codes, strict=True)] for row in grid.rows
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(map(_escaped, grid.titles)), rules, *rows])


def _code(cell: str) -> str:
    text = printable(cell).replace("|", "\\|").replace("`", "'")
    return f"`{text}`" if text else ""


def _escaped(text: str) -> str:
    return printable(text).translate(_SPECIAL)
