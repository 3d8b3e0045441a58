"""One model, many conventions: each by its number, and the query-key pairs against a mask that is counted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from words import ROTARY, gpt, stack

import blockcalc
from blockcalc.engine.conventions import BACKWARD_PER_FORWARD, CONVENTIONS
from blockcalc.engine.run import pairs
from blockcalc.errors import UsageError

# GPT-2 small, T = 1024, forward, per token. N = 123,653,376 is all but learned positions.
L, T, D, H, V = 12, 1024, 768, 12, 50_257
NUMBERS = [
    # FlopCounterMode of torch 2.13 on transformers' GPT2LMHeadModel, eager attention
    ("exact", 284_812_800, 2 * 123_532_032 + 4 * L * T * D),
    # karpathy/nanoGPT, model.py, estimate_mfu
    ("nanogpt", 285_055_488, 2 * 123_653_376 + 4 * L * T * D),
    # arXiv 2204.02311, appendix B
    ("palm", 285_055_488, 2 * 123_653_376 + 4 * L * T * D),
    # pytorch/torchtitan: every parameter but an untied lookup table
    ("torchtitan", 286_628_352, 2 * 124_439_808 + 4 * L * T * D),
    # NVIDIA/Megatron-LM, num_floating_point_operations: causal square halved, no biases
    ("megatron", 265_938_432, 2 * 123_532_032 + 2 * L * T * D),
    # arXiv 2001.08361, table 1
    ("kaplan", 188_743_680, 2 * 12 * L * D**2 + 2 * L * T * D),
    # arXiv 2203.15556, appendix F
    ("chinchilla", 362_449_920, 284_812_800 + 2 * V * D + 3 * L * H * T),
    # fvcore, ptflops and thop report multiply-adds
    ("macs", 142_406_400, 284_812_800 // 2),
    # FlopCounterMode and calflops on a CPU, where attention runs in one fused kernel without an entry
    ("fused-cpu", 247_064_064, 2 * 123_532_032),
]


@pytest.mark.parametrize(("name", "printed", "by_definition"), NUMBERS, ids=[name for name, *_ in NUMBERS])
def test_gpt2_small_by_convention(name: str, printed: int, by_definition: int) -> None:
    assert printed == by_definition
    report = blockcalc.load("gpt2-small").flops(B=1, T=T, convention=name)
    assert report.totals.forward_per_token == printed
    assert report.totals.forward == printed * T
    assert report.conventions["convention"].startswith(f"{name}: ")
    assert CONVENTIONS[name].definition in report.conventions["convention"]


def test_all_conventions_side_by_side() -> None:
    report = blockcalc.load("gpt2-small").flops(B=1, T=T, convention="all")
    assert {row.path: row.value for row in report.rows} == {name: printed for name, printed, _ in NUMBERS}
    assert set(CONVENTIONS) == {name for name, *_ in NUMBERS}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_parts_add_up(name: str) -> None:
    for model in ("gpt2-small", "qwen3-30b-a3b", "gemma-2-2b"):
        totals = blockcalc.load(model).flops(B=2, T=64, convention=name).totals
        parts = totals.linear + totals.attention + totals.head
        if "other" in totals:
            parts += totals.other
        assert totals.forward == parts
        assert totals.forward_per_token == Fraction(totals.forward, 2 * 64)


# What the numbers above don't tell apart: an untied head, experts, a window, decoding.


def test_torchtitan_leaves_an_untied_lookup_out() -> None:
    tied, apart = (blockcalc.load(gpt(64, 2, 4, vocabulary=100, tied_head=t)) for t in (True, False))
    work = [model.flops(T=8, convention="torchtitan").totals.forward for model in (tied, apart)]
    assert work[0] == work[1]
    palm = [model.flops(T=8, convention="palm").totals.forward for model in (tied, apart)]
    assert palm[1] - palm[0] == 2 * 8 * 100 * 64


def test_rules_of_thumb_count_what_multiplies() -> None:
    """Mixtral 8x7B: N in 2N is the active matrices without the lookup table."""
    d, layers, f, vocabulary = 4096, 32, 14_336, 32_000
    block = 2 * d * d + 2 * d * 1024 + 8 * d + 2 * 3 * d * f
    N = layers * block + vocabulary * d
    totals = blockcalc.load("mixtral-8x7b").flops(T=16, D=10**9).totals
    assert (totals.rule_2N, totals.rule_6N, totals.rule_6ND) == (2 * N, 6 * N, 6 * N * 10**9)
    assert totals.linear + totals.head == 2 * N * 16


def test_which_n_is_told_by_name() -> None:
    (note,) = blockcalc.load("gpt2-small").flops(T=8).notes
    for number in ("matmul 123,532,032", "total 124,439,808", "non_embedding 85,056,000", "no_positions 123,653,376"):
        assert number in note


def test_backward_is_twice_the_forward() -> None:
    """2001.08361, section 2.1; 2203.15556, appendix F."""
    assert BACKWARD_PER_FORWARD == 2
    for name in CONVENTIONS:
        totals = blockcalc.load("llama-3.2-1b").flops(B=3, T=32, convention=name, D=96 * 1000).totals
        assert totals.backward == 2 * totals.forward
        assert totals.training == 3 * totals.forward
        assert totals.training_run == 3 * totals.forward * 1000
        assert totals.training_per_token == Fraction(3 * totals.forward, 96)


def test_fixed_and_free_attention() -> None:
    model = blockcalc.load("gpt2-small")
    full, half, causal = (model.flops(T=8, attention=mode).totals.attention for mode in ("full", "half", "causal"))
    pair = 4 * 12 * 64 * 12
    assert (full, half, causal) == (64 * pair, 32 * pair, 36 * pair)
    assert model.flops(T=8).totals.attention == full
    assert model.flops(T=8, convention="megatron").totals.attention == half
    with pytest.raises(UsageError, match="the convention kaplan counts attention as half; leave attention = full out"):
        model.flops(T=8, attention="full", convention="kaplan")
    with pytest.raises(UsageError, match="did you mean causal"):
        model.flops(T=8, attention="casual")
    with pytest.raises(UsageError, match="did you mean chinchilla"):
        model.flops(T=8, convention="chinchila")


# Query-key pairs


def mask(processed: int, attended: int, window: int | None) -> Any:
    """True where a query may see a key: itself and before, at most `window` of them."""
    query = np.arange(attended - processed, attended)[:, None]
    key = np.arange(attended)[None, :]
    return (key <= query) & (key > query - (window or attended))


lengths = st.integers(1, 40)
windows = st.none() | st.integers(1, 50)


@given(processed=lengths, cached=st.integers(0, 40), window=windows)
def test_causal_pairs_are_what_the_mask_leaves(processed: int, cached: int, window: int | None) -> None:
    attended = processed + cached
    assert pairs(processed, attended, window) == int(mask(processed, attended, window).sum())


@given(processed=lengths, cached=st.integers(0, 40), window=windows)
def test_half_counts_each_growing_row_half_a_pair_less(processed: int, cached: int, window: int | None) -> None:
    """T²/2 for T(T + 1)/2: half the diagonal, in the rows that the window doesn't cut."""
    attended = processed + cached
    rows = mask(processed, attended, window).sum(axis=1)
    growing = sum(place < (window or attended) for place in range(cached, attended))
    assert pairs(processed, attended, window, halved=True) == int(rows.sum()) - Fraction(growing, 2)


def test_half_of_a_square_is_half() -> None:
    assert pairs(7, 7, None, halved=True) == Fraction(49, 2)
    assert pairs(8, 8, None, halved=True) == 32
    assert pairs(1, 9, None, halved=True) == Fraction(17, 2)


@given(processed=lengths, cached=st.integers(0, 40), window=windows, B=st.integers(1, 3))
def test_attention_follows_the_pairs(processed: int, cached: int, window: int | None, B: int) -> None:
    """Scores and weighted sum: 2·2·h·d_h for each pair; full counts the square, windows included."""
    attended = processed + cached
    attention = {"heads": 3, "head_width": 4, **({"window": window} if window else {})}
    model = blockcalc.load(stack(6, 2, attention=attention))
    allowed = int(mask(processed, attended, window).sum())
    growing = sum(place < (window or attended) for place in range(cached, attended))
    expected = {"full": processed * attended, "causal": allowed, "half": allowed - Fraction(growing, 2)}
    for mode, seen in expected.items():
        work = model.flops(B=B, T=processed, S=attended, attention=mode)
        assert work.totals.attention == B * 2 * 2 * 2 * 3 * 4 * seen
        scores, mixed = (row.value for row in work.rows if row.path.endswith(("scores", "weighted_sum")))
        assert scores == mixed == work.totals.attention / 2


def test_windows_of_two_kinds_of_blocks() -> None:
    """Gemma 2 2B, T = 6,000 with a window of 4,096 in every second of 26 layers."""
    model = blockcalc.load("gemma-2-2b")
    per_pair = 4 * 8 * 256
    whole = 6_000 * 6_001 // 2
    cut = 4_096 * 4_097 // 2 + (6_000 - 4_096) * 4_096
    assert model.flops(T=6_000, attention="causal").totals.attention == 13 * per_pair * (whole + cut)
    assert model.flops(T=6_000).totals.attention == 26 * per_pair * 6_000**2


def test_decoding_one_token() -> None:
    """T = 1 after a cache: S pairs, all of them allowed."""
    model = blockcalc.load("llama-3-8b")
    for mode in ("full", "causal"):
        totals = model.flops(B=1, T=1, S=5_000, attention=mode).totals
        assert totals.attention == 32 * 4 * 4_096 * 5_000
        assert totals.linear + totals.head == totals.rule_2N


def test_run_lengths_are_checked() -> None:
    model = blockcalc.load(stack(8, 1, attention={"heads": 2, "positions": ROTARY}))
    with pytest.raises(UsageError, match="at least --S 5"):
        model.flops(T=5, S=4)
    with pytest.raises(UsageError, match="states no context length"):
        model.flops()
    for bad in (0, -1, 10**37):
        with pytest.raises(UsageError, match="a whole number from 1 to"):
            model.flops(T=bad)


def test_all_conventions_take_the_attention_asked_for_and_list_their_own_pairs() -> None:
    model = blockcalc.load("gemma-2-9b")
    rows = {row.path: row for row in model.flops(T=6000, convention="all").rows}
    for name, row in rows.items():
        assert row.value == model.flops(T=6000, convention=name).totals.forward_per_token
    # Half the band of 4,096 in 6,000 positions: 4096²/2 + 1904·4096.
    assert rows["kaplan"].pairs == {"A_local": 4096**2 // 2 + 1904 * 4096}
    assert rows["exact"].pairs == {}
    causal = {row.path: row.value for row in model.flops(T=6000, convention="all", attention="causal").rows}
    assert causal["exact"] == model.flops(T=6000, attention="causal").totals.forward_per_token
    assert causal["kaplan"] == rows["kaplan"].value
