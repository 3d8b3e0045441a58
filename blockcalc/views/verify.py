"""The derivation beside a forward pass that runs: shapes, array sizes and multiply-adds, stage by stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blockcalc.config.architecture import Architecture
from blockcalc.engine import tally
from blockcalc.engine.context import Context
from blockcalc.engine.derive import derive
from blockcalc.views.comparison import Checked, check
from blockcalc.views.report import Report
from blockcalc.views.rows import Number, Row

_COLUMNS = {"path": "stage", "derived": "derived", "found": "found", "ok": "ok"}
_CONVENTIONS = {
    "verify": "shapes, weights and multiply-adds of one layer of each kind, derived beside what the numpy pass made"
}


def verify(
    architecture: Architecture, published: int | None = None, B: int | None = None, T: int | None = None
) -> Report:
    """One model against the numpy reference: one row a stage, and the published total where there is one.

    The report's exit code is 1 when anything differs.
    """
    checked = check(architecture, B, T)
    rows = _compared(architecture, published, checked)
    numbers = _numbers([checked], rows, published)
    return _report(architecture.name, rows, numbers, (checked.note,))


def verify_each(models: Iterable[tuple[Architecture, int | None]]) -> Report:
    """All models: a row each, and each row of theirs that doesn't agree."""
    shown: list[Row] = []
    compared: list[Row] = []
    found: list[Checked] = []
    stated = 0
    for architecture, published in models:
        checked = check(architecture)
        rows = _compared(architecture, published, checked)
        found.append(checked)
        compared += rows
        stated += published or 0
        shown.append(_model_row(architecture.name, checked, rows))
        shown += [Row(f"{architecture.name}: {row.path}", fields=row.fields) for row in rows if not row.ok]
    numbers = {"models": Number(len(found)), **_numbers(found, compared, stated)}
    return _report("all presets", shown, numbers, tuple(checked.note for checked in found if checked.scaled))


def _compared(architecture: Architecture, published: int | None, checked: Checked) -> list[Row]:
    """The rows of one model: its stages, and its published total where there is one."""
    stated = [] if published is None else [_published_row("published total", architecture, published)]
    return [*checked.rows, *stated]


def _numbers(found: Sequence[Checked], rows: Sequence[Row], published: int | None) -> dict[str, Number]:
    return {
        "stages": Number(sum(len(checked.rows) for checked in found)),
        "mismatches": Number(sum(not row.ok for row in rows)),
        "parameters_derived": Number(sum(checked.parameters[0] for checked in found)),
        "parameters_found": Number(sum(checked.parameters[1] for checked in found)),
        "flops_derived": Number(sum(checked.flops[0] for checked in found)),
        "flops_found": Number(sum(checked.flops[1] for checked in found)),
        "published": Number(published),
    }


def _published_row(path: str, architecture: Architecture, published: int) -> Row:
    """The stored total at real width beside the published one."""
    derivation = derive(architecture)
    stored = Context(derivation.sizes).number(tally.stored(derivation))
    return Row(path, fields={"derived": stored, "found": published, "ok": stored == published})


def _model_row(name: str, checked: Checked, rows: list[Row]) -> Row:
    """A model's sums on both sides."""
    sides = zip(checked.parameters, checked.flops, strict=True)
    derived, found = ({"parameters": parameters, "flops": flops} for parameters, flops in sides)
    return Row(name, fields={"derived": derived, "found": found, "ok": all(row.ok for row in rows)})


def _report(name: str, rows: list[Row], numbers: dict[str, Number], notes: tuple[str, ...]) -> Report:
    sums = numbers["parameters_derived"].value, numbers["flops_derived"].value
    agree = sums == (numbers["parameters_found"].value, numbers["flops_found"].value)
    return Report(
        command="verify",
        model=name,
        title=f"Derivation and numpy pass of {name}",
        columns=_COLUMNS,
        rows=tuple(rows),
        numbers=numbers,
        conventions=_CONVENTIONS,
        notes=notes,
        exit_code=0 if agree and not numbers["mismatches"].value else 1,
    )
