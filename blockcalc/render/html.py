"""A table as HTML, for notebooks."""

from __future__ import annotations

from html import escape

from tabulate import tabulate

from blockcalc.render.table import Table


def write(table: Table) -> str:
    """The table with its title, totals and notes as one HTML fragment, all text escaped."""
    titles = [column.title for column in table.columns]
    aligned = tuple(column.align for column in table.columns)
    rows = [list(row) for row in table.rows]
    body = tabulate(rows, titles, tablefmt="html", disable_numparse=True, colalign=aligned if rows else None)
    parts = [f"<p><strong>{escape(table.title)}</strong></p>", str(body)]
    if table.totals:
        parts.append(str(tabulate([list(total) for total in table.totals], tablefmt="html", disable_numparse=True)))
    parts += [f"<p><small>{escape(note)}</small></p>" for note in table.notes]
    return "\n".join(parts)
