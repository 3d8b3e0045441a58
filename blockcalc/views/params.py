"""How many parameters sit in which component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blockcalc.engine import tally
from blockcalc.engine.context import Context
from blockcalc.engine.contraction import Product
from blockcalc.engine.derive import Derivation
from blockcalc.engine.quantity import Quantity, letter, summed
from blockcalc.engine.stage import Group, Stage, Weight
from blockcalc.errors import chosen
from blockcalc.views.report import Report
from blockcalc.views.rows import Number, Row, Share, number

_CONVENTIONS = {"parameters": "a tied matrix is counted once; buffers are not parameters"}


def params(derivation: Derivation, context: Context, by: str = "component") -> Report:
    """Parameters by component, block or tensor.

    Raises UsageError for another `by`.
    """
    views = {"component": _component_rows, "block": _block_rows, "tensor": _tensor_rows}
    rows = views[chosen(by, views, "by")](derivation, context)
    architecture = derivation.architecture
    return Report(
        command="params",
        model=architecture.name,
        title=f"Parameters of {architecture.name} by {by}",
        columns=_columns(by, _routed(derivation)),
        rows=tuple(rows),
        numbers=_totals(derivation, context),
        sizes=context.shown(),
        conventions=_CONVENTIONS,
        notes=_notes(derivation),
    )


def _columns(by: str, routed: bool) -> dict[str, str]:
    active = {"active": "active"} if routed else {}
    if by == "tensor":
        start = {"name": "tensor", "shape": "shape", "count": "count"}
        return {**start, "value": "parameters", **active, "share": "share", "tied_to": "tied to", "formula": "formula"}
    start = {"path": by, "count": "count", "each": "each", "value": "parameters"}
    return {**start, "short": "", **active, "share": "share", "formula": "formula"}


def _totals(derivation: Derivation, context: Context) -> dict[str, Number]:
    shared = any(weight.tied_to for stage in derivation.stages() for weight in stage.weights)
    tied = "the head is the token table, counted once" if shared else ""
    routed = "that one token meets: k of E routed experts" if _routed(derivation) else "that one token meets"
    return {
        "stored": number(context, tally.stored(derivation), tied),
        "active": number(context, tally.active(derivation), routed),
        "non_embedding": number(context, tally.non_embedding(derivation), "without tables and an untied head"),
        "matmul": number(context, tally.matmul(derivation), "in matrices that multiply per token, head included"),
        "state_dict": number(context, tally.state_dict(derivation), "tied matrices written twice"),
    }


def _routed(derivation: Derivation) -> bool:
    return any(weight.routed for stage in derivation.stages() for weight in stage.weights)


def _notes(derivation: Derivation) -> tuple[str, ...]:
    bare = derivation.architecture.vocabulary is None
    return ("a bare stack of blocks: no token table, no head",) if bare else ()


def _component_rows(derivation: Derivation, context: Context) -> list[Row]:
    whole, rows = tally.stored(derivation), []
    for group in derivation.groups:
        parts: dict[str, list[Stage]] = {}
        for stage in group.stages:
            if stage.weights:
                parts.setdefault(component(stage, group), []).append(stage)
        rows += [_row(context, path, group, stages, whole) for path, stages in sorted(parts.items(), key=_norms_last)]
    return rows


def _norms_last(part: tuple[str, list[Stage]]) -> bool:
    return part[0].endswith(".norms")


def _block_rows(derivation: Derivation, context: Context) -> list[Row]:
    whole = tally.stored(derivation)
    return [_row(context, group.name, group, group.stages, whole) for group in derivation.groups]


def _row(context: Context, path: str, group: Group, stages: Sequence[Stage], whole: Quantity) -> Row:
    """A row for some stages of one group: in all layers, in one, met by a token, share of the whole."""
    part = Group(group.name, group.count, tuple(stages))
    value = number(context, summed([part], lambda stage: stage.params))
    fields = {
        "count": context.number(letter(group.count)),
        "each": number(context, summed([Group(group.name, "", part.stages)], lambda stage: stage.params)),
        "active": number(context, summed([part], lambda stage: stage.active)),
        "share": _share(value, context, whole),
    }
    return Row(path, value, fields)


def _share(value: Number, context: Context, whole: Quantity) -> Share | None:
    return None if context.free else Share(value.value, whole.value(context.values))  # type: ignore[arg-type]


def _tensor_rows(derivation: Derivation, context: Context) -> list[Row]:
    """One row for each stored tensor of one shape. Block kinds that hold the same tensor share a row."""
    whole = tally.stored(derivation)
    found: dict[tuple[str, tuple[object, ...], str], list[tuple[Group, Weight]]] = {}
    for group in derivation.groups:
        for weight in (weight for stage in group.stages for weight in stage.weights):
            shape = tuple(context.number(letter(axis)) for axis in weight.shape)
            found.setdefault((weight.stored_as, shape, weight.tied_to), []).append((group, weight))
    names = {weight.name: weight.stored_as for stage in derivation.stages() for weight in stage.weights}
    return [_tensor_row(context, key, places, whole, names) for key, places in found.items()]


def _tensor_row(
    context: Context,
    key: tuple[str, tuple[object, ...], str],
    places: list[tuple[Group, Weight]],
    whole: Quantity,
    names: Mapping[str, str],
) -> Row:
    name, shape, tied_to = key
    owned = [(group, weight) for group, weight in places if not weight.tied_to]
    value = number(context, Quantity(tuple((group.count, (weight.count,)) for group, weight in owned)))
    counts = [Product(1, (group.count,) if group.count else ()) for group, _ in places]
    fields = {
        "name": name,
        "shape": shape,
        "symbols": tuple(context.spelled(axis) for axis in places[0][1].shape),
        "count": context.number(Quantity((("", tuple(counts)),))),
        "active": number(context, Quantity(tuple((group.count, (weight.active,)) for group, weight in owned))),
        "share": _share(value, context, whole),
        "tied_to": names.get(tied_to),
    }
    return Row(places[0][1].name, value, fields)


def component(stage: Stage, group: Group) -> str:
    """The component that a stage belongs to: `block.attention`, `block.norms`, `embedding.tokens`."""
    if not group.is_block:
        return "head" if tally.is_head(stage) else stage.path
    _, part, *rest = stage.path.split(".")
    if part == "norm" or (rest and rest[-1] in {"norm", "post_norm"}):
        return f"{group.name}.norms"
    if part == "feedforward" and rest[0] in {"router", "experts", "shared"}:
        return f"{group.name}.feedforward.{rest[0]}"
    return f"{group.name}.{part}"
