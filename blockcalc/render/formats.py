"""Format name -> writer of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from blockcalc.render import csvfile, jsonfile, latex, markdown, text
from blockcalc.render.page import Page
from blockcalc.render.table import Table


class Printable(Protocol):
    """What can be written: a report as data, and as a table with plain or LaTeX formulas, or none."""

    def to_dict(self, formulas: bool = True) -> dict[str, Any]: ...

    def to_table(self, latex: bool = False, formulas: bool = True) -> Table: ...


Writer = Callable[[Printable, Page, bool], str]

FORMATS: Mapping[str, Writer] = {
    "text": lambda report, page, formulas: text.write(report.to_table(formulas=formulas), page),
    "markdown": lambda report, page, formulas: markdown.write(report.to_table(formulas=formulas)),
    "latex": lambda report, page, formulas: latex.write(report.to_table(latex=True, formulas=formulas)),
    "json": lambda report, page, formulas: jsonfile.write(report.to_dict(formulas=formulas)),
    "csv": lambda report, page, formulas: csvfile.write(report.to_dict(formulas=formulas)["rows"]),
}
"""Name -> (report, page, with formulas) -> text. The command line's `--format`."""
