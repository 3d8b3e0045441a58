# ruff: noqa: E501  (a fault is a line of source beside what takes its place)
"""Wrong formulas, planted one at a time into the code that runs, to see whether anything notices.

A fault is a piece of the package's source and what stands there instead. `planted` compiles the changed
source and lets the module's own functions run the changed code, so every caller meets the fault, however
it imported the function. Afterwards everything is as it was.
"""

from __future__ import annotations

import ast
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import blockcalc
from blockcalc.engine import derive

PACKAGE = Path(blockcalc.__file__).parent
FLOORS = ("config", "engine", "views")
"""Where faults are planted: the reference pass stays right, since it is what they are compared with."""


@dataclass(frozen=True)
class Fault:
    """`right` stands exactly once in the package; `wrong` takes its place."""

    name: str
    right: str
    wrong: str


FAULTS = (
    # attention
    Fault("queries as wide as the keys", '(("q", "d_q"), ("k", "d_kv"), ("v", "d_kv")):\n            spec', '(("q", "d_kv"), ("k", "d_kv"), ("v", "d_kv")):\n            spec'),
    Fault("keys as wide as the queries", '(("q", "d_q"), ("k", "d_kv"), ("v", "d_kv")):\n            spec', '(("q", "d_q"), ("k", "d_q"), ("v", "d_kv")):\n            spec'),
    Fault("fused width h + h_kv", '"d_qkv": (Product(1, ("h", "d_h")), Product(2, ("h_kv", "d_h")))', '"d_qkv": (Product(1, ("h", "d_h")), Product(1, ("h_kv", "d_h")))'),
    Fault("fused width 3h", '"d_qkv": (Product(1, ("h", "d_h")), Product(2, ("h_kv", "d_h")))', '"d_qkv": (Product(3, ("h", "d_h")),)'),
    Fault("key/value width by query heads", '"d_kv": (Product(1, ("h_kv", "d_h")),)', '"d_kv": (Product(1, ("h", "d_h")),)'),
    Fault("attention merges to d", '"d_q": (Product(1, ("h", "d_h")),)', '"d_q": (Product(1, ("d",)),)'),
    Fault("head width d / h whatever is given", "    if attention.head_width is not None:\n        return attention.head_width\n", ""),
    Fault("query bias lost", '{"q": part.q_bias,', '{"q": False,'),
    Fault("key bias lost", '"k": part.k_bias,', '"k": False,'),
    Fault("value bias lost", '"v": part.v_bias}', '"v": False}'),
    Fault("fused bias lost", "reads, bias=part.q_bias", "reads, bias=False"),
    Fault("output bias lost", "bias=part.out_bias", "bias=False"),
    Fault("output bias with the query bias", "bias=part.out_bias", "bias=part.q_bias"),
    Fault("scores over the width, not the positions", '"B h T d_h, B h S d_h -> B h T S"', '"B h T d_h, B h T d_h -> B h T d_h"'),
    Fault("scores T × T when keys are cached", '"B h T d_h, B h S d_h -> B h T S", pairs="A"', '"B h T d_h, B h T d_h -> B h T T", pairs=""'),
    Fault("scores by key/value heads", '"B h T d_h, B h S d_h -> B h T S"', '"B h_kv T d_h, B h_kv S d_h -> B h_kv T S"'),
    Fault("masked pairs in the scores alone", '"B h T S, B h S d_h -> B h T d_h", pairs="A"', '"B h T S, B h S d_h -> B h T d_h"'),
    Fault("keys not repeated", "    if part.grouped:\n", "    if False:\n"),
    Fault("norm of queries and keys lost", 'part.qk_norm is not None and part.qk_norm_over == "head":\n        for', "False:\n        for"),
    Fault("norm of queries and keys over all heads lost", 'part.qk_norm is not None and part.qk_norm_over == "width"', "False"),
    Fault("norm of queries and keys as wide as the model", 'part.qk_norm, at.path(last[name]), shape, "d_h")', 'part.qk_norm, at.path(last[name]), shape, "d")'),
    Fault("whole heads rotated", '{heads[name]} T d_rope")', '{heads[name]} T d_h")'),
    # feed-forward
    Fault("two matrices for three", 'return ("gate_up",) if part.storage == "fused" else ("gate", "up")', 'return ("gate_up",) if part.storage == "fused" else ("up",)'),
    Fault("fused gate of width f", '"2f": (Product(2, ("f",)),)', '"2f": (Product(1, ("f",)),)'),
    Fault("fused experts of width f_e", '"2f_e": (Product(2, ("f_e",)),)', '"2f_e": (Product(1, ("f_e",)),)'),
    Fault("inner bias lost", 'f"B T d, {axis} d -> B T {axis}", reads, bias=part.bias', 'f"B T d, {axis} d -> B T {axis}", reads, bias=False'),
    Fault("down bias lost", "hidden, bias=part.bias)\n\n\ndef _moe", "hidden, bias=False)\n\n\ndef _moe"),
    Fault("router lost", "    yield from _router_stages(at, part, reads)\n", ""),
    Fault("router bias lost", "reads, bias=part.router_bias", "reads, bias=False"),
    Fault("shared expert lost", "    if part.shared_width is not None:\n        yield from", "    if False:\n        yield from"),
    Fault("all experts at work", 'spec = f"B T d, k {axis} d -> B T k {axis}"', 'spec = f"B T d, E {axis} d -> B T E {axis}"'),
    Fault("k experts stored", "f\"E {' '.join(stored)}\"", "f\"k {' '.join(stored)}\""),
    Fault("one bias for all experts", 'f"E {stored[0]}"', "stored[0]"),
    # norms and the ends
    Fault("norm bias lost", '    if norm.bias:\n        weights.append(at.weight(f"{name}.bias", size, "bias"))\n', ""),
    Fault("norm before attention lost", '    if block.placement != "post":\n        yield norm_stage', '    if block.placement != "post" and name != "attention":\n        yield norm_stage'),
    Fault("norm after each part lost", '    if block.placement == "both":\n', "    if False:\n"),
    Fault("norm after the residual lost", '    if block.placement == "post":\n', "    if False:\n"),
    Fault("two norms side by side as one", '        if block.parallel == "two_norms":\n', '        if block.parallel == "two_norms" and name == "attention":\n'),
    Fault("one norm side by side as two", '        if block.parallel == "two_norms":\n', "        if True:\n"),
    Fault("final norm lost", "    if architecture.final_norm is not None:\n        yield norm_stage", "    if False:\n        yield norm_stage"),
    Fault("embedding norm lost", "    if architecture.embedding_norm is not None:\n        yield", "    if False:\n        yield"),
    Fault("learned positions counted with T", '"P d", "table"', '"T d", "table"'),
    Fault("learned positions lost", "    if architecture.learned_positions is not None:\n        rows", "    if False:\n        rows"),
    Fault("head bias lost", "bias=architecture.head_bias", "bias=False"),
    Fault("tied head counted twice", '"embedding.tokens.weight" if architecture.tied_head else ""', '""'),
    Fault("untied head counted as tied", '"embedding.tokens.weight" if architecture.tied_head else ""', '"embedding.tokens.weight"'),
    Fault("vocabulary unpadded", "return rows if multiple is None else multiple * -(-rows // multiple)", "return rows"),
    Fault("vocabulary rounded down", "multiple * -(-rows // multiple)", "multiple * (rows // multiple)"),
    Fault("matrices in the other orientation", "if at.layout.matrices_in_out and at.block:", "if at.layout.matrices_in_out and not at.block:"),
    # how layers, widths and pairs are counted
    Fault("one layer too many of a kind", "counts[name] += rounds + (place < left)", "counts[name] += rounds + (place <= left)"),
    Fault("all layers of the first kind", "counts[name] += rounds + (place < left)", "counts[name] += rest * (place == 0)"),
    Fault("group's count forgotten", "parts.append((group.count, products))", 'parts.append(("", products))'),
    Fault("width rounded down", "return self.multiple * -(-width // self.multiple)", "return self.multiple * (width // self.multiple)"),
    Fault("width rounded to the nearest", "return self.multiple * -(-width // self.multiple)", "return self.multiple * ((2 * width + self.multiple) // (2 * self.multiple))"),
    Fault("nearest width rounded up", "return self.multiple * ((16 * d + 3 * self.multiple) // (6 * self.multiple))", "return self.multiple * -(-8 * d // (3 * self.multiple))"),
    Fault("width in floating point", "width = 8 * d // 3", "width = int(8 * d / 3)"),
    Fault("multiplier after rounding", "        if self.multiplier is not None:\n            width = whole_part(self.multiplier, width)\n        return self.multiple * -(-width // self.multiple)", "        rounded = self.multiple * -(-width // self.multiple)\n        return rounded if self.multiplier is None else whole_part(self.multiplier, rounded)"),
    Fault("causal pairs T²", "seen * (seen if halved else seen + 1)", "seen * (seen if halved else 2 * seen)"),
    Fault("half counts the diagonal", "seen * (seen if halved else seen + 1)", "seen * (seen + 1)"),
    Fault("pairs T·T with cached positions", "Size(letter, run.T * attended,", "Size(letter, run.T * run.T,"),
    Fault("window ignored", "seen = length if window is None else min(length, window)", "seen = length"),
    Fault("window one too wide", "seen = length if window is None else min(length, window)", "seen = length if window is None else min(length, window + 1)"),
    Fault("cached queries counted again", "_twice_triangle(attended - processed, window, halved)", "0"),
    # what is added up
    Fault("multiply and add as one", "self.contraction.multiply_adds.times(FLOPS_PER_MULTIPLY_ADD)", "self.contraction.multiply_adds"),
    Fault("active is stored", "        if not self.routed:\n            return self.count\n        return Product(1, (self.routed, *self.shape[1:]))", "        return self.count"),
    Fault("tied weights owned by all", "weight.count for weight in self.weights if not weight.tied_to", "weight.count for weight in self.weights"),
    Fault("file without the tied head", "return tuple(weight.count for weight in self.weights)", "return self.params"),
    Fault("non-embedding keeps the head", "() if is_table(stage) or (untied and is_head(stage)) else stage.params", "() if is_table(stage) else stage.params"),
    Fault("non-embedding drops a tied head's bias", "(untied and is_head(stage))", "is_head(stage)"),
    Fault("non-embedding keeps the tables", "() if is_table(stage) or (untied and is_head(stage)) else stage.params", "() if untied and is_head(stage) else stage.params"),
    Fault("head forgotten in matmul", "if stage.matrix is None or stage.contraction is None:", "if stage.matrix is None or stage.contraction is None or stage.matrix.tied_to:"),
    Fault("head counted as linear work", "summed(blocks(derivation), lambda stage: stage.flops if stage.matrix else ())", "summed(derivation.groups, lambda stage: stage.flops if stage.matrix else ())"),
    Fault("backward as much as forward", "BACKWARD_PER_FORWARD = 2", "BACKWARD_PER_FORWARD = 1"),
    Fault("crossover without the factor 2", '"T": ratio(context, [linear], per_pair)', '"T": ratio(context, [linear.divided(2)], per_pair)'),
    Fault("causal crossover at the same place", "[linear.times(2)]", "[linear]"),
    Fault("crossover with the head left out twice", "[linear, head]", "[linear]"),
    Fault("window never full", "kind.width is not None and kind.width <= lower", "False"),
    # conventions
    Fault("kaplan with the head", "return Counted(tally.linear(derivation), tally.attention(derivation))", "return Counted(tally.linear(derivation), tally.attention(derivation), tally.head(derivation))"),
    Fault("chinchilla without the lookup", "other = tally.lookup_as_matmul(derivation) + tally", "other = tally"),
    Fault("chinchilla without the softmax", " + tally.softmax_numbers(derivation).times(3)", ""),
    Fault("palm with learned positions", "numbers = tally.active(derivation) + tally.learned_positions(derivation).times(-1)", "numbers = tally.active(derivation)"),
    Fault("torchtitan with the untied lookup", "numbers = tally.active(derivation) + tally.untied_lookup(derivation).times(-1)", "numbers = tally.active(derivation)"),
    Fault("fused-cpu with attention", "return Counted(tally.linear(derivation), NOTHING, tally.head(derivation))", "return _exact(derivation)"),
    Fault("macs as FLOPs", "exact.linear.divided(over)", "exact.linear"),
    Fault("megatron with the full square", '_exact, "half")', '_exact, "full")'),
)  # fmt: skip


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """The package with one wrong formula in it, for as long as this lasts."""
    path = _home(fault)
    name = ".".join(("blockcalc", *path.relative_to(PACKAGE).with_suffix("").parts))
    undo: list[Callable[[], None]] = []
    try:
        _replace(importlib.import_module(name), path, fault, undo)
        derive._groups.cache_clear()
        yield
    finally:
        for restore in reversed(undo):
            restore()
        derive._groups.cache_clear()


@cache
def _sources() -> Mapping[Path, str]:
    return {path: path.read_text("utf-8") for floor in FLOORS for path in sorted((PACKAGE / floor).rglob("*.py"))}


def _home(fault: Fault) -> Path:
    """The one file that holds the right formula, where it stands once."""
    found = [path for path, text in _sources().items() if fault.right in text]
    assert len(found) == 1, f"{fault.name}: the right formula stands in {len(found)} files: {fault.right!r}"
    assert _sources()[found[0]].count(fault.right) == 1, f"{fault.name}: the right formula stands there more than once"
    return found[0]


def _replace(module: types.ModuleType, path: Path, fault: Fault, undo: list[Callable[[], None]]) -> None:
    """Give the module's functions, methods and tables the changed source's."""
    source = _sources()[path].replace(fault.right, fault.wrong)
    changed = types.ModuleType(module.__name__)
    changed.__dict__.update({"__file__": str(path), "__package__": module.__package__})
    exec(compile(ast.parse(source), str(path), "exec"), changed.__dict__)
    for name, new in list(vars(changed).items()):
        old = vars(module).get(name)
        if getattr(new, "__module__", None) == module.__name__ and isinstance(new, type) and isinstance(old, type):
            for attribute, value in list(vars(new).items()):
                _function(vars(old).get(attribute), value, undo)
        elif isinstance(new, dict) and isinstance(old, dict) and not name.startswith("__"):
            _table(old, new, undo)
        elif isinstance(new, int) and old != new:
            _number(old, new, name, undo)
        else:
            _function(old, new, undo, module.__name__)


def _plain(value: Any) -> Any:
    """The function inside a property, a cached function or a method."""
    for inside in ("fget", "func", "__wrapped__", "__func__"):
        value = getattr(value, inside, None) or value
    return value if isinstance(value, types.FunctionType) else None


def _function(old: Any, new: Any, undo: list[Callable[[], None]], home: str | None = None) -> None:
    old, new = _plain(old), _plain(new)
    if old is None or new is None or old.__code__ == new.__code__ or (home and new.__module__ != home):
        return
    undo.append(partial(setattr, old, "__code__", old.__code__))
    old.__code__ = new.__code__


def _table(old: dict[Any, Any], new: dict[Any, Any], undo: list[Callable[[], None]]) -> None:
    right = dict(old)

    def restore() -> None:
        old.clear()
        old.update(right)

    undo.append(restore)
    old.update(new)


def _number(old: Any, new: int, name: str, undo: list[Callable[[], None]]) -> None:
    """A constant, wherever it was imported to."""
    for module in [module for place, module in sys.modules.items() if place.startswith("blockcalc.")]:
        if vars(module).get(name) == old and name.isupper():
            undo.append(partial(setattr, module, name, old))
            setattr(module, name, new)
