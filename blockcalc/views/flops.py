"""FLOPs of a forward pass, of training, and what each convention and rule of thumb makes of them."""

from __future__ import annotations

from collections.abc import Iterator

from blockcalc.engine import tally
from blockcalc.engine.context import Context
from blockcalc.engine.conventions import ATTENTION, BACKWARD_PER_FORWARD, CONVENTIONS, RULES, Convention, Counted, RuleN
from blockcalc.engine.derive import Derivation
from blockcalc.engine.quantity import NOTHING, Quantity
from blockcalc.engine.stage import Group, Stage
from blockcalc.notation import base
from blockcalc.views.cells import exact
from blockcalc.views.report import Report
from blockcalc.views.rows import Number, Row, number, ratio

_PARTS = ("linear", "attention", "head", "other")
_PART_NOTES = {
    "linear": "weight matrices of the blocks",
    "attention": "scores and weighted sum",
    "head": "the product with the vocabulary",
    "other": "what this convention counts besides",
}


def flops(derivation: Derivation, context: Context, convention: Convention, attention: str, rule: RuleN) -> Report:
    """FLOPs of one forward pass over B·T positions, stage by stage, and the totals of training.

    `context` holds the run's sizes; D is among them when a run over D tokens is asked for. `rule` says
    which N the rules of thumb mean.
    """
    counted = convention.count(derivation)
    rows = _stage_rows(derivation, context, convention) if convention.by_stage else _part_rows(counted, context)
    name, unit = derivation.architecture.name, convention.unit
    return Report(
        command="flops",
        model=name,
        title=f"{unit} of one forward pass of {name}, {_run_text(context)}",
        columns={"path": "stage", "kind": "kind", "value": unit, "short": "", "formula": "formula"},
        rows=tuple(rows),
        numbers=_totals(derivation, context, counted, rule),
        sizes=context.shown(),
        conventions={
            "convention": f"{convention.name}: {convention.definition}",
            "attention": f"{attention}: {ATTENTION[attention]}",
            "elementwise": "scalar operations, never part of the FLOPs above",
            "backward": f"{BACKWARD_PER_FORWARD} times the forward pass, nothing recomputed",
        },
        notes=_rule_notes(derivation, context, rule),
    )


def conventions_report(derivation: Derivation, contexts: dict[str, Context], rule: RuleN) -> Report:
    """One row a convention: FLOPs of a forward pass for each position, and the definition."""
    rows = []
    for convention in CONVENTIONS.values():
        context = contexts[convention.name]
        whole = _forward(convention.count(derivation))
        fields = {"forward": number(context, whole), "pairs": _pairs(context), "definition": convention.definition}
        rows.append(Row(convention.name, number(context, whole.divided(1, "B", "T")), fields))
    plain = contexts["exact"]
    pairs = {"pairs": "pairs"} if any(row.pairs for row in rows) else {}
    return Report(
        command="flops",
        model=derivation.architecture.name,
        title=f"Forward FLOPs of {derivation.architecture.name} per token by convention, {_run_text(plain)}",
        columns={
            "path": "convention",
            "value": "per token",
            "short": "",
            **pairs,
            "definition": "definition",
            "formula": "formula",
        },
        rows=tuple(rows),
        numbers=_totals(derivation, plain, CONVENTIONS["exact"].count(derivation), rule),
        sizes=plain.shown(),
        conventions={"totals": "those of exact"},
        notes=_rule_notes(derivation, plain, rule),
    )


def _pairs(context: Context) -> dict[str, object]:
    """The query-key pairs that stay letters in a formula, which each convention counts in its own way."""
    found = {letter: size for letter, size in context.sizes.items() if base(letter) == "A"}
    return {letter: size.value for letter, size in found.items() if size.definition and not size.definition.terms}


def _run_text(context: Context) -> str:
    """`B = 1, T = 1,024`, with S where positions are cached; free letters as they are."""
    letters = ["B", "T"] + (["S"] if context.sizes["S"].definition is None else [])
    return ", ".join(name if name in context.free else f"{name} = {exact(context.values[name])}" for name in letters)


def _forward(counted: Counted) -> Quantity:
    """Sum of a convention's parts; parts without stages take no part in how it is counted."""
    parts = [counted.linear, counted.attention, counted.head, counted.other]
    first, *rest = [part for part in parts if part.parts] or [NOTHING]
    return sum(rest, first)


def _totals(derivation: Derivation, context: Context, counted: Counted, rule: RuleN) -> dict[str, Number]:
    forward = _forward(counted)
    training = forward.times(1 + BACKWARD_PER_FORWARD)
    n, said = rule.count(derivation), f"N = {rule.name}"
    made = {name: number(context, getattr(counted, name), _PART_NOTES[name]) for name in _PARTS[:3]}
    if counted.other.parts:
        made["other"] = number(context, counted.other, _PART_NOTES["other"])
    made |= {
        "forward": number(context, forward, "for all B·T positions"),
        "forward_per_token": number(context, forward.divided(1, "B", "T")),
        "backward": number(context, forward.times(BACKWARD_PER_FORWARD)),
        "training": number(context, training, "forward and backward"),
        "training_per_token": number(context, training.divided(1, "B", "T")),
        "block_attention_share": attention_share(derivation, context, counted),
        "rule_2N": number(context, n.times(2), f"per token, {said}"),
        "rule_6N": number(context, n.times(6), f"per token, {said}"),
        "elementwise": number(context, tally.elementwise(derivation), "operations, apart from the FLOPs"),
    }
    if "D" in context.sizes:
        made["training_run"] = number(context, training.times(1, "D").divided(1, "B", "T"), "over D tokens")
        made["rule_6ND"] = number(context, n.times(6, "D"), said)
    return made


def attention_share(derivation: Derivation, context: Context, counted: Counted) -> Number:
    """Scores and weighted sum, where they are counted, as a share of the blocks' matrix FLOPs."""
    part = tally.attention(derivation) if counted.attention.parts else NOTHING
    return ratio(context, [part], part + tally.linear(derivation), "attention's part of the blocks' work")


def _part_rows(counted: Counted, context: Context) -> Iterator[Row]:
    for name in _PARTS:
        quantity = getattr(counted, name)
        if quantity.parts:
            yield Row(name, number(context, quantity), {"kind": "convention"})


def _stage_rows(derivation: Derivation, context: Context, convention: Convention) -> Iterator[Row]:
    """Matrix products first, in order; then elementwise work, in order."""
    for group in derivation.groups:
        for stage in group.stages:
            if stage.flops:
                quantity = Quantity(((group.count, stage.flops),), convention.over)
                yield Row(stage.path, number(context, quantity), {"kind": "matrix", "spec": _spec(stage, context)})
    for group in derivation.groups:
        for stage in group.stages:
            yield from _elementwise_rows(group, stage, context)


def _spec(stage: Stage, context: Context) -> str:
    """The contraction in index notation, with compound widths spelled out."""
    if stage.contraction is None:
        return ""
    sides = (stage.contraction.left, stage.contraction.right, stage.contraction.out)
    left, right, out = (" ".join(_bracketed(context.spelled(axis)) for axis in axes) for axes in sides)
    return f"{left}, {right} -> {out}"


def _bracketed(axis: str) -> str:
    return f"({axis})" if "·" in axis else axis


def _elementwise_rows(group: Group, stage: Stage, context: Context) -> Iterator[Row]:
    """One row for all that a pointwise stage does, one for what a matrix product does besides."""
    operations = tuple(product for _, product in stage.elementwise)
    if not operations:
        return
    names = [name for name, _ in stage.elementwise]
    path = stage.path if stage.kind == "pointwise" else f"{stage.path}.{'+'.join(names)}"
    yield Row(path, number(context, Quantity(((group.count, operations),))), {"kind": "elementwise"})


def _rule_notes(derivation: Derivation, context: Context, rule: RuleN) -> tuple[str, ...]:
    """The N that a rule of thumb may mean, each with its number."""
    said = [f"{n.name} {exact(context.number(n.count(derivation)))} ({n.definition})" for n in RULES.values()]
    return (f"N in 2N and 6N, by name: {'; '.join(said)}. The rules above use {rule.name}.",)
