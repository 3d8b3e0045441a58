"""Random small architectures over the whole grammar, for property tests.

Sizes are drawn from sets that share no factor where the grammar allows, so that a wrong letter gives a wrong
number: d is never h·d_h unless the head width is left to follow from d.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from blockcalc.config.activations import ACTIVATIONS
from blockcalc.config.architecture import Architecture, Pattern, Run
from blockcalc.config.naming import LAYOUTS
from blockcalc.config.parts import Alibi, Attention, Block, Mlp, Moe, Norm, Rotary, RotaryScaling
from blockcalc.config.resolve import head_width
from blockcalc.config.widths import RoundedNearest, RoundedUp, Times

_HEADS = [(1, None), (1, 1), (2, 1), (2, 2), (3, None), (3, 1), (4, 2), (6, 1), (6, 2), (6, 3)]
_FRACTIONS = [0.25, 0.4, 0.5, 0.6, 0.75, 1.0]
flags = st.booleans()


def maybe(values: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """One of `values`, or None."""
    return st.none() | values


norms = st.builds(
    Norm,
    kind=st.sampled_from(["layernorm", "rmsnorm"]),
    bias=flags,
    epsilon=st.sampled_from([1e-6, 1e-5]),
    unit_offset=flags,
)

scalings = st.one_of(
    st.builds(RotaryScaling, kind=st.just("linear"), factor=st.sampled_from([2.0, 8.0])),
    st.builds(RotaryScaling, kind=st.just("llama3"), factor=st.just(8.0), original_context=st.sampled_from([4, 16])),
)


@st.composite
def rotaries(draw: DrawFn, d_h: int) -> Rotary:
    """Rotary positions of a whole number of pairs of a head of d_h numbers."""
    fractions = [fraction for fraction in _FRACTIONS if (w := Rotary(fraction=fraction).width(d_h)) and w % 2 == 0]
    return Rotary(
        theta=draw(st.sampled_from([100.0, 10_000.0])),
        fraction=draw(st.sampled_from(fractions)),
        interleaved=draw(flags),
        scaling=draw(maybe(scalings)),
    )


@st.composite
def attentions(draw: DrawFn, d: int) -> Attention:
    """Attention of a model d wide; the head width follows from d now and then, where h divides d."""
    heads, kv_heads = draw(st.sampled_from(_HEADS))
    free = d % heads != 0 or draw(flags)
    # With d prime, h·d_h = d leaves only one head, or heads of one number: never drawn here.
    given = draw(st.sampled_from([n for n in (4, 5, 7, 8, 10) if n * heads != d])) if free else None
    width = head_width(d, Attention(heads, head_width=given))
    fused = draw(flags)
    biases = [draw(flags)] * 3 if fused else [draw(flags), draw(flags), draw(flags)]
    positions = draw(st.none() | st.just(Alibi()) | (rotaries(width) if width > 3 else st.none()))
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_width=given,
        q_bias=biases[0],
        k_bias=biases[1],
        v_bias=biases[2],
        out_bias=draw(flags),
        projections="fused" if fused else "separate",
        qk_norm=draw(maybe(norms)),
        qk_norm_over=draw(st.sampled_from(["head", "width"])),
        positions=positions,
        window=draw(maybe(st.sampled_from([1, 2, 3, 5]))),
        scale=draw(maybe(st.sampled_from([0.1, 0.5]))),
        softcap=draw(maybe(st.sampled_from([5.0, 30.0]))),
    )


widths = st.one_of(
    st.sampled_from([29, 31, 37]),
    st.builds(Times, times=st.sampled_from([2, 4])),
    st.builds(RoundedUp, multiple=st.sampled_from([1, 4, 9]), multiplier=st.sampled_from([None, 0.7, 1.3])),
    st.builds(RoundedNearest, multiple=st.sampled_from([1, 4, 9])),
)


@st.composite
def mlps(draw: DrawFn) -> Mlp:
    """A plain or gated feed-forward part."""
    gated = draw(flags)
    return Mlp(
        width=draw(widths),
        gated=gated,
        activation=draw(st.sampled_from(sorted(ACTIVATIONS))),
        bias=draw(flags),
        storage="fused" if gated and draw(flags) else "separate",
    )


@st.composite
def mixtures(draw: DrawFn) -> Moe:
    """A mixture of experts, with shared ones or without."""
    gated, experts = draw(flags), draw(st.sampled_from([1, 3, 5]))
    return Moe(
        experts=experts,
        experts_per_token=draw(st.integers(1, min(experts, 3))),
        width=draw(widths),
        gated=gated,
        activation=draw(st.sampled_from(sorted(ACTIVATIONS))),
        bias=draw(flags),
        router_bias=draw(flags),
        shared_width=draw(maybe(st.sampled_from([13, 43]))),
        storage="fused" if gated and draw(flags) else "separate",
        normalised=draw(flags),
    )


@st.composite
def blocks(draw: DrawFn, d: int) -> Block:
    """One block of a model d wide: pre, post or both norms, or side by side."""
    placement = draw(st.sampled_from(["pre", "pre", "post", "both"]))
    return Block(
        attention=draw(attentions(d)),
        feedforward=draw(st.one_of(mlps(), mixtures())),
        norm=draw(norms),
        placement=placement,
        parallel=draw(st.sampled_from(["no", "one_norm", "two_norms"])) if placement == "pre" else "no",
    )


@st.composite
def patterns(draw: DrawFn, names: list[str]) -> tuple[Pattern | None, int]:
    """A pattern over the given kinds, and a number of layers that it can cover."""
    if len(names) == 1 and draw(flags):
        return None, draw(st.integers(1, 3))
    kinds = st.sampled_from(names)
    start = tuple(draw(st.lists(st.builds(Run, block=kinds, count=st.integers(1, 2)), max_size=2)))
    cycle = tuple(draw(st.lists(kinds, min_size=0 if start else 1, max_size=3)))
    rest = draw(st.integers(0 if start else 1, 3)) if cycle else 0
    return Pattern(cycle, start), sum(run.count for run in start) + rest


@st.composite
def architectures(draw: DrawFn) -> Architecture:
    """Any small architecture that the grammar can express, with a vocabulary or as a bare stack of blocks."""
    d = draw(st.sampled_from([11, 12, 17, 19, 24]))
    names = draw(st.sampled_from([["block"], ["local", "global_"], ["dense", "sparse", "late"]]))
    pattern, layers = draw(patterns(names))
    ends = draw(_ends()) if draw(st.integers(0, 4)) else {}
    return Architecture(
        name="random",
        width=d,
        layers=layers,
        blocks={name: draw(blocks(d)) for name in names},
        pattern=pattern,
        final_norm=draw(maybe(norms)),
        tensor_names=draw(st.sampled_from(sorted(LAYOUTS))),
        **ends,
    )


@st.composite
def _ends(draw: DrawFn) -> dict[str, Any]:
    """What belongs to a vocabulary."""
    return {
        "vocabulary": draw(st.sampled_from([41, 47, 53])),
        "vocabulary_multiple": draw(maybe(st.sampled_from([1, 8, 23]))),
        "learned_positions": draw(maybe(st.sampled_from([59, 61]))),
        "context": draw(maybe(st.just(64))),
        "tied_head": draw(flags),
        "head_bias": draw(flags),
        "embedding_scale": draw(st.sampled_from(["none", "sqrt_width"])),
        "embedding_norm": draw(maybe(norms)),
        "logit_softcap": draw(maybe(st.sampled_from([3.0, 30.0]))),
    }
