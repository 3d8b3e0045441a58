"""A number step by step: formula, the same with the sizes filled in, value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from blockcalc.engine.context import Context
from blockcalc.engine.printing import substituted
from blockcalc.errors import chosen
from blockcalc.views.report import Report
from blockcalc.views.rows import Number, Row

_COLUMNS = {"path": "step", "formula": "formula", "substitution": "with the sizes", "value": "value", "text": ""}


def explain(quantity: str, views: Mapping[str, Callable[[], Report]], context: Context) -> Report:
    """The steps that lead to a quantity: `params`, `flops` or `crossover`.

    `views` makes the report of each. Raises UsageError for a quantity that none of them is.
    """
    report = views[chosen(quantity, views, "quantity")]()
    rows = [_step(row.path, row.number, context, _said(row)) for row in report.rows if row.number and _explained(row)]
    listed = {row.path for row in rows}
    totals = [_step(name, n, context, n.note) for name, n in report.numbers.items() if name not in listed]
    # The rows of a crossover are made of its totals, other totals are made of the rows.
    rows = totals + rows if quantity == "crossover" else rows + totals
    return replace(
        report,
        command="explain",
        title=f"{quantity} of {report.model}, step by step",
        columns=_COLUMNS,
        rows=tuple(rows),
    )


def _explained(row: Row) -> bool:
    return row.fields.get("kind") != "elementwise"


def _said(row: Row) -> str:
    """What a step is made of: its contraction in index notation, or the view's own words."""
    return str(row.fields.get("spec") or row.fields.get("text", ""))


def _step(path: str, number: Number, context: Context, text: str) -> Row:
    made = "" if number.formula is None or number.value is None else substituted(number.formula, context.values)
    return Row(path, number, {"substitution": made, "text": text})
