"""The tensor shape at every stage."""

from __future__ import annotations

from blockcalc.engine.context import Context
from blockcalc.engine.derive import Derivation
from blockcalc.engine.quantity import letter
from blockcalc.engine.stage import Group, Stage
from blockcalc.views.report import Report
from blockcalc.views.rows import Number, Row


def shapes(derivation: Derivation, context: Context) -> Report:
    """One row a stage, each block kind once: the axes in letters and in numbers, and what it reads."""
    rows = [_row(group, stage, context) for group in derivation.groups for stage in group.stages]
    name = derivation.architecture.name
    return Report(
        command="shapes",
        model=name,
        title=f"Shapes of {name}",
        columns={"path": "stage", "symbols": "symbols", "shape": "shape", "times": "times", "reads": "reads"},
        rows=tuple(rows),
        numbers={"stages": Number(len(rows))},
        sizes=context.shown(),
        conventions={"shapes": "of one forward pass; a stage of a block stands for that stage in every such block"},
    )


def _row(group: Group, stage: Stage, context: Context) -> Row:
    return Row(
        stage.path,
        fields={
            "symbols": tuple(context.spelled(axis) for axis in stage.out),
            "shape": tuple(context.number(letter(axis)) for axis in stage.out),
            "times": context.number(letter(group.count)),
            "reads": stage.reads,
            "kind": stage.kind,
        },
    )
