"""A table as text for a terminal or a file."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from blockcalc.errors import printable
from blockcalc.render.grid import Grid, of_rows, of_totals
from blockcalc.render.page import FILE, Page
from blockcalc.render.table import Table

_GAP = 2
_NARROWEST = 16
_SHORT_LIST = 20
_GLUE = "\u00a0"


def write(table: Table, page: Page = FILE) -> str:
    """The table with its title above, totals and notes below.

    On a page with a width, formulas and other text to the right of the first column are folded so that
    lines fit where they can. Numbers and single words are never cut.
    """
    title = printable(table.title)
    parts = [f"\x1b[1m{title}\x1b[0m" if page.bold else title]
    parts += [_aligned(grid, page) for grid in (of_rows(table), of_totals(table)) if grid.columns]
    notes = "\n".join(line for note in table.notes for line in _note(printable(note), page))
    return "\n\n".join(part for part in [*parts, notes] if part) + "\n"


def _aligned(grid: Grid, page: Page) -> str:
    # Imported here: JSON and CSV do without it.
    from tabulate import tabulate

    rows = [[printable(cell) for cell in row] for row in grid.rows]
    limits = _limits(grid, rows, page)
    folded = [[_folded(cell, limit) for cell, limit in zip(row, limits, strict=True)] for row in rows]
    text = tabulate(
        folded,
        headers=grid.titles if grid.headed else (),
        tablefmt="simple" if grid.headed else "plain",
        disable_numparse=True,
        colalign=grid.alignments if folded else None,
        headersalign=grid.alignments if folded and grid.headed else None,
    )
    return "\n".join(line.rstrip() for line in text.splitlines())


def _limits(grid: Grid, rows: Sequence[Sequence[str]], page: Page) -> list[int | None]:
    """The width to fold each column to, None where it keeps its own."""
    widths = [
        max(map(len, (title, *(row[place] for row in rows))), default=0) for place, title in enumerate(grid.titles)
    ]
    foldable = [place for place, column in enumerate(grid.columns) if place and column.align == "left"]
    spare = (page.width or 0) - sum(widths) - _GAP * (len(widths) - 1)
    limits: list[int | None] = [None] * len(widths)
    if page.width is None or spare >= 0 or not foldable:
        return limits
    room = spare + sum(widths[place] for place in foldable)
    # Narrow columns keep their width; what they leave is shared among the wider ones.
    for left, place in zip(range(len(foldable), 0, -1), sorted(foldable, key=lambda place: widths[place]), strict=True):
        limits[place] = max(_NARROWEST, room // left)
        room -= min(widths[place], limits[place] or 0)
    return limits


def _folded(cell: str, limit: int | None) -> str:
    """A cell in lines of at most `limit` columns, broken between terms and words only; a short list stays whole."""
    short_list = cell.startswith("[") and len(cell) <= _SHORT_LIST
    if limit is None or len(cell) <= limit or short_list:
        return cell
    for sign in "+−=":
        cell = cell.replace(f" {sign} ", f" {sign}{_GLUE}")
    return "\n".join(wrap(cell, limit, break_long_words=False, break_on_hyphens=False)).replace(_GLUE, " ")


def _note(note: str, page: Page) -> list[str]:
    if page.width is None:
        return [note]
    return wrap(note, max(20, page.width), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
