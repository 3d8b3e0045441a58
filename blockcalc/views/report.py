"""What a view returns: rows and totals that hold exact numbers and their formulas, and print themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from blockcalc.render.table import Column, Table
from blockcalc.version import VERSION
from blockcalc.views import cells
from blockcalc.views.rows import Named, Number, Row

if TYPE_CHECKING:
    import pandas

    from blockcalc.engine.sizes import Size


@dataclass(frozen=True)
class Report:
    """A view's answer. `columns` names the row fields to print: field -> title."""

    command: str
    model: str
    title: str
    columns: Mapping[str, str]
    rows: tuple[Row, ...]
    numbers: Mapping[str, Number]
    sizes: tuple[Size, ...] = ()
    conventions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    exit_code: int = 0

    @property
    def totals(self) -> Named:
        """Exact totals by name: int, Fraction, or None where there is no answer."""
        return Named({name: entry.value for name, entry in self.numbers.items()})

    @property
    def formulas(self) -> Named:
        """The sympy formulas of the totals by name."""
        return Named({name: (lambda entry=entry: entry.formula) for name, entry in self.numbers.items()})

    def to_dict(self, formulas: bool = True) -> dict[str, Any]:
        """The report as plain data: what `--format json` writes."""
        totals: dict[str, Any] = {}
        for name, entry in self.numbers.items():
            totals.update(cells.json_number(name, entry.value))
        shown = [size for size in self.sizes if size.value is not None]
        sizes: dict[str, Any] = {}
        for size in shown:
            sizes.update(cells.json_number(size.letter, size.value))
        return {
            "blockcalc": VERSION,
            "command": self.command,
            "model": self.model,
            "sizes": sizes,
            "definitions": {size.letter: size.definition.text for size in self.sizes if size.definition},
            "origins": {size.letter: size.origin for size in shown if size.origin},
            "conventions": dict(self.conventions),
            "rows": [_row_dict(row, formulas) for row in self.rows],
            "totals": totals,
            "formulas": _formula_dict(self.numbers) if formulas else {},
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def to_table(self, latex: bool = False, formulas: bool = True) -> Table:
        """The report as text cells, for a writer. A total that is a row already isn't written twice."""
        keys = [key for key in self.columns if formulas or key != "formula"]
        columns = tuple(Column(self.columns[key], cells.alignment(key), key == "formula") for key in keys)
        rows = tuple(tuple(cells.cell(row, key, latex) for key in keys) for row in self.rows)
        listed = {row.path for row in self.rows}
        apart = {name: entry for name, entry in self.numbers.items() if name not in listed}
        totals = tuple(cells.total(name, entry, latex, formulas) for name, entry in apart.items())
        return Table(self.title, columns, rows, totals, self._notes())

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas table (extra `pandas`)."""
        import pandas

        return pandas.DataFrame([_row_dict(row, formulas=True) for row in self.rows])

    def __str__(self) -> str:
        from blockcalc.render import text

        return text.write(self.to_table())

    def _repr_html_(self) -> str:
        from blockcalc.render import html

        return html.write(self.to_table())

    def _repr_latex_(self) -> str:
        from blockcalc.render import latex

        return latex.write(self.to_table(latex=True))

    def _notes(self) -> tuple[str, ...]:
        sizes = "; ".join(cells.size_text(size) for size in self.sizes)
        said = [f"{name}: {text}" for name, text in self.conventions.items()]
        return tuple(([f"sizes: {sizes}"] if sizes else []) + said + list(self.notes))


def _row_dict(row: Row, formulas: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"path": row.path}
    if row.number is not None:
        made.update(cells.json_number("value", row.number.value))
        if formulas:
            made["formula"] = None if row.formula is None else cells.formula(row.formula)
    for name, value in row.fields.items():
        if isinstance(value, Number):
            made.update(cells.json_number(name, value.value))
        else:
            made[name] = cells.json_value(value)
    return made


def _formula_dict(numbers: Mapping[str, Number]) -> dict[str, str]:
    return {name: cells.formula(n.formula) for name, n in numbers.items() if n.formula is not None}
