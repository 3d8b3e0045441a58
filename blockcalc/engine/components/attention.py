"""Attention: projections, positions, scores, weighted sum (1706.03762, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator

from blockcalc.config.parts import Alibi, Attention, Rotary
from blockcalc.engine.components.scope import Scope, linear_stage, norm_stage, view_stage
from blockcalc.engine.stage import Stage


def projection_stages(at: Scope, part: Attention, reads: str) -> Iterator[Stage]:
    """Queries, keys and values, fused or apart, then as heads [B, heads, T, d_h]."""
    if part.projections == "fused":
        yield linear_stage(at, "attention.qkv", "attention.qkv", "B T d, d_qkv d -> B T d_qkv", reads, bias=part.q_bias)
        sources = dict.fromkeys("qkv", "attention.qkv")
    else:
        biases = {"q": part.q_bias, "k": part.k_bias, "v": part.v_bias}
        for name, width in (("q", "d_q"), ("k", "d_kv"), ("v", "d_kv")):
            spec = f"B T d, {width} d -> B T {width}"
            yield linear_stage(at, f"attention.{name}_proj", f"attention.{name}", spec, reads, bias=biases[name])
        sources = {name: f"attention.{name}_proj" for name in "qkv"}
    if part.qk_norm is not None and part.qk_norm_over == "width":
        for name, width in (("q", "d_q"), ("k", "d_kv")):
            yield norm_stage(at, f"attention.{name}_norm", part.qk_norm, at.path(sources[name]), f"B T {width}", width)
            sources[name] = f"attention.{name}_norm"
    for name, heads in (("q", "h"), ("k", "h_kv"), ("v", "h_kv")):
        yield view_stage(at, f"attention.{name}", f"B {heads} T d_h", at.path(sources[name]))


def position_stages(at: Scope, part: Attention) -> Iterator[Stage]:
    """What is done to queries and keys before they meet, and the keys and values with those cached."""
    last = {name: f"attention.{name}" for name in "qkv"}
    heads = {"q": "h", "k": "h_kv"}
    if part.qk_norm is not None and part.qk_norm_over == "head":
        for name in "qk":
            shape = f"B {heads[name]} T d_h"
            yield norm_stage(at, f"attention.{name}_norm", part.qk_norm, at.path(last[name]), shape, "d_h")
            last[name] = f"attention.{name}_norm"
    if isinstance(part.positions, Rotary):
        for name in "qk":
            path = f"attention.{name}_rotary"
            out, over = at.axes(f"B {heads[name]} T d_h"), at.axes(f"B {heads[name]} T d_rope")
            yield Stage(at.path(path), "pointwise", (at.path(last[name]),), out, pointwise=("rotary",), over=over)
            last[name] = path
    yield view_stage(at, "attention.keys", "B h_kv S d_h", at.path(last["k"]), cached=True)
    yield view_stage(at, "attention.values", "B h_kv S d_h", at.path(last["v"]), cached=True)
    if part.grouped:
        for name in ("keys", "values"):
            yield view_stage(at, f"attention.{name}_repeated", "B h S d_h", at.path(f"attention.{name}"))


def score_stages(at: Scope, part: Attention) -> Iterator[Stage]:
    """Scores, what is added to them, softmax, and the weighted sum of the values."""
    positions = "q_rotary" if isinstance(part.positions, Rotary) else ""
    normed = "q_norm" if part.qk_norm is not None and part.qk_norm_over == "head" else "q"
    suffix = "_repeated" if part.grouped else ""
    operation = at.contract("B h T d_h, B h S d_h -> B h T S", pairs="A")
    reads = (at.path(f"attention.{positions or normed}"), at.path(f"attention.keys{suffix}"))
    last = at.path("attention.scores")
    yield Stage(last, "contraction", reads, operation.out, operation, pointwise=("scale",))
    capped, sloped = part.softcap is not None, isinstance(part.positions, Alibi)
    steps = [("softcapped", "softcap", capped), ("alibi", "alibi", sloped), ("masked", "mask", True)]
    steps.append(("softmax", "softmax", True))
    for name, function, present in steps:
        if present:
            path = at.path(f"attention.{name}")
            yield Stage(path, "pointwise", (last,), operation.out, pointwise=(function,))
            last = path
    mix = at.contract("B h T S, B h S d_h -> B h T d_h", pairs="A")
    reads = (last, at.path(f"attention.values{suffix}"))
    yield Stage(at.path("attention.weighted_sum"), "contraction", reads, mix.out, mix)


def attention_stages(at: Scope, part: Attention, reads: str) -> Iterator[Stage]:
    """Multi-head attention from the (normed) stream [B, T, d] to its output [B, T, d]."""
    yield from projection_stages(at, part, reads)
    yield from position_stages(at, part)
    yield from score_stages(at, part)
    merged = view_stage(at, "attention.merged", "B T d_q", at.path("attention.weighted_sum"))
    yield merged
    spec = "B T d_q, d d_q -> B T d"
    yield linear_stage(at, "attention.out", "attention.out", spec, merged.path, bias=part.out_bias)
