"""Format name -> writer of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from blockcalc.render.page import Page
    from blockcalc.render.table import Table


class Printable(Protocol):
    """What can be written: a report as data, and as a table with plain or LaTeX formulas, or none."""

    def to_dict(self, formulas: bool = True) -> dict[str, Any]:
        """The report as plain data, its rows under "rows"."""

    def to_table(self, latex: bool = False, formulas: bool = True) -> Table:
        """The report as text cells."""


Writer = Callable[[Printable, "Page", bool], str]

# Each writer is imported when it is asked for: a command writes in one format.


def _text(report: Printable, page: Page, formulas: bool) -> str:
    from blockcalc.render import text

    return text.write(report.to_table(formulas=formulas), page)


def _markdown(report: Printable, page: Page, formulas: bool) -> str:
    from blockcalc.render import markdown

    return markdown.write(report.to_table(formulas=formulas))


def _latex(report: Printable, page: Page, formulas: bool) -> str:
    from blockcalc.render import latex

    return latex.write(report.to_table(latex=True, formulas=formulas))


def _json(report: Printable, page: Page, formulas: bool) -> str:
    from blockcalc.render import jsonfile

    return jsonfile.write(report.to_dict(formulas=formulas))


def _csv(report: Printable, page: Page, formulas: bool) -> str:
    from blockcalc.render import csvfile

    return csvfile.write(report.to_dict(formulas=formulas)["rows"])


FORMATS: Mapping[str, Writer] = {"text": _text, "markdown": _markdown, "latex": _latex, "json": _json, "csv": _csv}
"""Name -> (report, page, with formulas) -> text. The command line's `--format`."""
