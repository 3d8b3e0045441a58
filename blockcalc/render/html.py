"""A table as HTML, for notebooks."""

from __future__ import annotations

from html import escape

from tabulate import tabulate

from blockcalc.errors import printable
from blockcalc.render.grid import Grid, of_rows, of_totals
from blockcalc.render.table import Table


def write(table: Table) -> str:
    """The table with its title, totals and notes as one HTML fragment, all text escaped."""
    parts = [f"<p><strong>{escape(printable(table.title))}</strong></p>"]
    parts += [_table(grid) for grid in (of_rows(table), of_totals(table)) if grid.columns]
    parts += [f"<p><small>{escape(printable(note))}</small></p>" for note in table.notes]
    return "\n".join(parts)


def _table(grid: Grid) -> str:
    rows = [[printable(cell) for cell in row] for row in grid.rows]
    made = tabulate(
        rows,
        headers=grid.titles if grid.headed else (),
        tablefmt="html",
        disable_numparse=True,
        colalign=grid.alignments if rows else None,
    )
    return str(made)
