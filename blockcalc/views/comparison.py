"""One model's derivation beside its reference pass, stage by stage."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from blockcalc.config.architecture import Architecture
from blockcalc.engine import tally
from blockcalc.engine.context import Context
from blockcalc.engine.derive import Derivation, derive
from blockcalc.engine.evaluate import evaluate
from blockcalc.engine.quantity import Quantity, summed
from blockcalc.engine.run import Run, run_sizes
from blockcalc.engine.stage import Group, Stage, Weight
from blockcalc.errors import NoAnswerError
from blockcalc.reference.probe import Part, Probe, probe
from blockcalc.reference.scale import FLOAT32_BYTES, scaled_down
from blockcalc.views.rows import Row

BUDGET_BYTES = 8 * 2**30
"""The most that the weights of one part may take in float32 before a smaller model stands in."""

_BATCH, _POSITIONS, _CACHED = 2, 5, 3


@dataclass(frozen=True, slots=True)
class Checked:
    """What was compared: a row a stage, and the sums as (derived, found)."""

    rows: tuple[Row, ...]
    parameters: tuple[int, int]
    flops: tuple[int, int]
    scaled: bool
    note: str


def check(architecture: Architecture, B: int | None = None, T: int | None = None) -> Checked:
    """Compare shapes, array sizes and multiply-adds, at the model's real width where that fits the budget.

    Without B and T the run is a small one with cached positions, so that T and S differ.

    Raises NoAnswerError for a model or a run that doesn't fit.
    """
    model = scaled_down(architecture, BUDGET_BYTES)
    if model is None:
        kept = "its heads, experts and positions, which a smaller model keeps, are too many"
        raise NoAnswerError(f"{architecture.name} can't be run within {_gib(BUDGET_BYTES)}: {kept}")
    run = _run(model, B, T)
    derivation = derive(model)
    context = Context({**derivation.sizes, **run_sizes(derivation, run)})
    _check_room(derivation, context, run)
    found = _probed(model, run)
    derived = {stage.path: _derived(stage, group, context) for group, stage in _staged(derivation)}
    seen = {path: value for part in found.parts for path, value in _found(part).items()}
    rows = [_row(path, derived.get(path), seen.get(path)) for path in {**derived, **seen}]
    return Checked(
        tuple(rows),
        (_whole(context, tally.stored(derivation)), found.parameters),
        (_whole(context, _matrix_flops(derivation)), 2 * sum(found.multiply_adds.values())),
        model is not architecture,
        _said(architecture, model, run),
    )


def _run(model: Architecture, B: int | None, T: int | None) -> Run:
    if B is not None or T is not None:
        return Run(B or _BATCH, T or _POSITIONS)
    room = model.learned_positions or _POSITIONS + _CACHED
    cached = min(_CACHED, room - 1)
    positions = min(_POSITIONS, room - cached)
    return Run(_BATCH, positions, positions + cached)


def _check_room(derivation: Derivation, context: Context, run: Run) -> None:
    """Refuse a run whose tensors, all those of one part together, exceed the budget in float32."""
    outputs = (sum(math.prod(_shape(stage.out, context)) for stage in group.stages) for group in derivation.groups)
    needed = FLOAT32_BYTES * max(outputs, default=0)
    if needed > BUDGET_BYTES:
        problem = f"the tensors of one part take {_gib(needed)}, and {_gib(BUDGET_BYTES)} are allowed"
        raise NoAnswerError(f"B = {run.B:,}, T = {run.T:,}: {problem}; smaller B and T would do")


def _probed(model: Architecture, run: Run) -> Probe:
    try:
        return probe(model, run.B, run.T, run.S)
    except MemoryError:
        raise NoAnswerError(f"{model.name} can't be run here: memory is too small") from None


def _gib(size: int) -> str:
    return f"{-(-size // 2**30):,} GiB"


def _said(architecture: Architecture, model: Architecture, run: Run) -> str:
    sizes = f"B = {run.B}, T = {run.T}" + ("" if run.S is None else f", S = {run.S}")
    if model is architecture:
        return f"{architecture.name}: run at its real width, {sizes}"
    return (
        f"{architecture.name}: run as a smaller model of the same structure (d = {model.width:,} for "
        f"{architecture.width:,}), since one part's weights at real width exceed {_gib(BUDGET_BYTES)}; {sizes}"
    )


def _staged(derivation: Derivation) -> Iterator[tuple[Group, Stage]]:
    return ((group, stage) for group in derivation.groups for stage in group.stages)


def _matrix_flops(derivation: Derivation) -> Quantity:
    return summed(derivation.groups, lambda stage: stage.flops)


def _whole(context: Context, quantity: Quantity) -> int:
    return int(quantity.value(context.values))


def _derived(stage: Stage, group: Group, context: Context) -> dict[str, Any]:
    """What the derivation says of a stage in one layer: shape, numbers owned by tensor, multiply-adds."""
    values = context.values
    prefix = f"{group.name}." if group.is_block else ""
    weights = {w.name.removeprefix(prefix): _shape(_axes(w, stage), context) for w in stage.weights if not w.tied_to}
    made: dict[str, Any] = {"shape": _shape(stage.out, context)}
    if weights:
        made["weights"] = weights
    if stage.contraction is not None:
        made["multiply_adds"] = int(evaluate((stage.contraction.multiply_adds,), values))
    return made


def _axes(weight: Weight, stage: Stage) -> tuple[str, ...]:
    """A weight's axes as the product reads it, [out, in], whichever way round the framework stores it."""
    plain = weight.role == "matrix" and not weight.routed and stage.contraction is not None
    return stage.contraction.right if plain and stage.contraction else weight.shape


def _shape(axes: tuple[str, ...], context: Context) -> list[int]:
    return [int(context.values[axis]) for axis in axes]


def _found(part: Part) -> dict[str, dict[str, Any]]:
    """What the pass recorded, by stage path: shape, arrays held, multiply-adds of one layer."""
    prefix = f"{part.name}." if part.kind == "block" else ""
    made: dict[str, dict[str, Any]] = {path: {"shape": list(shape)} for path, shape in part.trace.items()}
    for own, shape in part.weights.items():
        path = prefix + _stage_of(own, made, prefix)
        made.setdefault(path, {}).setdefault("weights", {})[own] = list(shape)
    for path, count in part.multiply_adds.items():
        made.setdefault(path, {})["multiply_adds"] = count
    return made


def _stage_of(weight: str, stages: Mapping[str, object], prefix: str) -> str:
    """The stage that a weight's own name belongs to: attention.q.weight is attention.q_proj's."""
    stem = weight.rpartition(".")[0]
    if stem == "head":
        return "head.logits"
    projection = f"{stem}_proj"
    return projection if f"{prefix}{projection}" in stages else stem


def _row(path: str, derived: object, found: object) -> Row:
    return Row(path, fields={"derived": derived, "found": found, "ok": derived == found})
