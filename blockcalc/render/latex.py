"""A table as plain LaTeX: tabular and \\hline, without packages."""

from __future__ import annotations

from blockcalc.errors import printable
from blockcalc.render.grid import Grid, of_rows, of_totals
from blockcalc.render.table import Table

_SPECIAL = {
    **{character: f"\\{character}" for character in "#$%&_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    **{digit: f"$^{{{place}}}$" for place, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "·": r"$\cdot$",
    "×": r"$\times$",
    "−": "$-$",
    "→": r"$\to$",
    "√": r"$\surd$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "⌊": r"$\lfloor$",
    "⌋": r"$\rfloor$",
    "⌈": r"$\lceil$",
    "⌉": r"$\rceil$",
}
_ESCAPES = str.maketrans(_SPECIAL)


def write(table: Table) -> str:
    """The title, the rows, the totals as a second tabular, then the notes, a paragraph each.

    The table's formula cells are LaTeX already; every other cell is text and is escaped.
    """
    parts = [f"\\textbf{{{_escaped(table.title)}}}"]
    parts += [_tabular(grid) for grid in (of_rows(table), of_totals(table, headed=True)) if grid.columns]
    return "\n\n".join([*parts, *map(_escaped, table.notes)]) + "\n"


def _tabular(grid: Grid) -> str:
    places = "".join("r" if column.align == "right" else "l" for column in grid.columns)
    lines = [_line([_escaped(title) for title in grid.titles]), r"\hline"]
    lines += [_line(_cells(grid, row)) for row in grid.rows]
    return "\n".join([f"\\begin{{tabular}}{{{places}}}", *lines, r"\end{tabular}"])


def _cells(grid: Grid, row: tuple[str, ...]) -> list[str]:
    pairs = zip(row, grid.columns, strict=True)
    return [(f"${printable(cell)}$" if cell else "") if column.formula else _escaped(cell) for cell, column in pairs]


def _line(cells: list[str]) -> str:
    # A row that begins with [ would be read as an optional argument of the \\ before it.
    first = f"{{}}{cells[0]}" if cells[0].startswith("[") else cells[0]
    return " & ".join([first, *cells[1:]]) + r" \\"


def _escaped(text: str) -> str:
    return printable(text).translate(_ESCAPES)
