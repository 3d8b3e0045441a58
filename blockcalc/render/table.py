"""A table as the writers take it: text only, nothing of models."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Column(NamedTuple):
    """One column. A `formula` column may be folded where the page is narrow."""

    title: str
    align: Literal["left", "right"] = "left"
    formula: bool = False


class Table(NamedTuple):
    """Rows of text under titles; below them totals (name, value, short form, formula), then notes.

    Formula cells are in the notation of the writer that the table is made for: plain or LaTeX.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    totals: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
