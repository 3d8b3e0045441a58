"""A table's two grids, rows and totals, in one shape for every writer."""

from __future__ import annotations

from typing import NamedTuple

from blockcalc.render.table import Column, Table


class Grid(NamedTuple):
    """Columns over rows of text; `headed` grids show their titles."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    headed: bool = True

    @property
    def titles(self) -> list[str]:
        """The columns' titles; none where the grid shows none."""
        return [column.title if self.headed else "" for column in self.columns]

    @property
    def alignments(self) -> list[str]:
        """The columns' alignments: "left" or "right"."""
        return [column.align for column in self.columns]


TOTALS = (
    Column("total"),
    Column("value", "right"),
    Column("", "right"),
    Column("formula", formula=True),
    Column("note"),
)
"""The columns of the totals: name, value, short form, formula, remark."""


def of_rows(table: Table) -> Grid:
    """The rows under the table's own columns, without a column that has neither title nor text."""
    kept = [
        place for place, column in enumerate(table.columns) if column.title or any(row[place] for row in table.rows)
    ]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return Grid(tuple(table.columns[place] for place in kept), rows)


def of_totals(table: Table, headed: bool = False) -> Grid:
    """The totals, with the columns left out that no total fills."""
    filled = [place for place in range(len(TOTALS)) if any(any(total[place : place + 1]) for total in table.totals)]
    rows = tuple(tuple((*total, "", "", "")[place] for place in filled) for total in table.totals)
    return Grid(tuple(TOTALS[place] for place in filled), rows, headed)
