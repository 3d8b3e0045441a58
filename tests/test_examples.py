"""Worked examples, every number of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from words import ALIBI, ROTARY, gpt, llama, stack

import blockcalc
from blockcalc.engine.printing import formula_text
from blockcalc.errors import BlockcalcError, ConfigError
from blockcalc.model import bare_block
from blockcalc.views.report import Report


def component(report: Report, name: str) -> Any:
    """The row of that path."""
    return next(row for row in report.rows if row.path == name)


def each(model: blockcalc.Model, name: str) -> int:
    """Parameters of a component in one layer."""
    value: int = component(model.params(), name).each.value
    return value


def shape(model: blockcalc.Model, path: str, B: int, T: int) -> list[int]:
    """A stage's output shape."""
    return list(component(model.shapes(B=B, T=T), path).shape)


# A GPT-2 block: 12d² + 13d, of which attention 4d² + 4d, feed-forward 8d² + 5d, two LayerNorms 4d.


@pytest.mark.parametrize("d", [4, 64, 100, 768, 12_288])
def test_gpt2_block_rule(d: int) -> None:
    model = blockcalc.load(gpt(d, 1, 4))
    assert model.params().totals.stored == 12 * d**2 + 13 * d
    assert each(model, "block.attention") == 4 * d**2 + 4 * d
    assert each(model, "block.feedforward") == 8 * d**2 + 5 * d
    assert each(model, "block.norms") == 4 * d
    assert model.params().totals.matmul == 12 * d**2


def test_gpt2_block_rule_in_letters() -> None:
    rows = blockcalc.load("gpt2-small").params().rows
    said = {row.path: formula_text(row.formula) for row in rows}
    assert said == {
        "embedding.tokens": "V·d",
        "embedding.positions": "P·d",
        "block.attention": "L·(4·d² + 4·d)",
        "block.feedforward": "L·(8·d² + 5·d)",
        "block.norms": "4·L·d",
        "final_norm": "2·d",
        "head": "0",
    }


@pytest.mark.parametrize(
    ("d", "attention", "feedforward"), [(4, 64, 128), (100, 40_000, 80_000), (768, 2_359_296, 4_718_592)]
)
def test_weights_alone(d: int, attention: int, feedforward: int) -> None:
    model = blockcalc.load(gpt(d, 1, 4, biased=False))
    assert (each(model, "block.attention"), each(model, "block.feedforward")) == (attention, feedforward)
    assert model.params().totals.matmul == attention + feedforward == 12 * d**2


def test_twelve_layers_of_weights_alone() -> None:
    assert blockcalc.load(gpt(768, 12, 12, biased=False)).params().totals.matmul == 84_934_656
    assert blockcalc.load(gpt(768, 12, 12)).params().totals.stored == 85_054_464


def test_block_d64() -> None:
    """d = 64, h = 4, biases everywhere: attention 33 %, feed-forward 66 %, norms 1 %; 12d² = 49,152 and 13d = 832."""
    model = blockcalc.load("block-d64")
    report = model.params()
    found = {row.path: (row.value, round(float(row.share) * 100)) for row in report.rows}
    assert found == {"block.attention": (16_640, 33), "block.feedforward": (33_088, 66), "block.norms": (256, 1)}
    assert (report.totals.stored, report.totals.matmul) == (49_984, 49_152)
    rows = model.shapes(B=2, T=10).rows
    assert list(rows[0].shape) == list(rows[-1].shape) == [2, 10, 64]


def test_gpt2_small_parts() -> None:
    model = blockcalc.load("gpt2-small")
    report = model.params()
    assert each(model, "block.attention") == 2_362_368
    assert each(model, "block.feedforward") == 4_722_432
    assert each(model, "block.norms") == 3_072
    assert component(model.params(by="block"), "block").each.value == 7_087_872
    tokens = component(report, "embedding.tokens")
    assert tokens.value == 38_597_376
    assert round(float(tokens.share), 2) == 0.31
    tensors = model.params(by="tensor")
    assert next(row for row in tensors.rows if row.name == "lm_head.weight").tied_to == "transformer.wte.weight"
    assert round(float(component(blockcalc.load("gpt2-xl").params(), "embedding.tokens").share), 3) == 0.052


def test_gpt2_small_stages_in_order() -> None:
    B, T = 3, 7
    rows = blockcalc.load("gpt2-small").shapes(B=B, T=T).rows
    assert [(row.path, list(row.shape)) for row in rows] == [
        ("embedding.tokens", [B, T, 768]),
        ("embedding.positions", [T, 768]),
        ("embedding.sum", [B, T, 768]),
        ("block.attention.norm", [B, T, 768]),
        ("block.attention.qkv", [B, T, 2304]),
        ("block.attention.q", [B, 12, T, 64]),
        ("block.attention.k", [B, 12, T, 64]),
        ("block.attention.v", [B, 12, T, 64]),
        ("block.attention.keys", [B, 12, T, 64]),
        ("block.attention.values", [B, 12, T, 64]),
        ("block.attention.scores", [B, 12, T, T]),
        ("block.attention.masked", [B, 12, T, T]),
        ("block.attention.softmax", [B, 12, T, T]),
        ("block.attention.weighted_sum", [B, 12, T, 64]),
        ("block.attention.merged", [B, T, 768]),
        ("block.attention.out", [B, T, 768]),
        ("block.attention.residual", [B, T, 768]),
        ("block.feedforward.norm", [B, T, 768]),
        ("block.feedforward.up", [B, T, 3072]),
        ("block.feedforward.hidden", [B, T, 3072]),
        ("block.feedforward.out", [B, T, 768]),
        ("block.feedforward.residual", [B, T, 768]),
        ("final_norm", [B, T, 768]),
        ("head.logits", [B, T, 50_257]),
    ]


def test_parameters_do_not_depend_on_the_length() -> None:
    """Scores and weighted sum hold none; FLOPs do depend on it."""
    model = blockcalc.load("gpt2-small")
    owners = {row.path for row in model.params(by="tensor").rows}
    assert not any("scores" in path or "weighted_sum" in path for path in owners)
    assert not {"B", "T", "S"} & {str(letter) for letter in model.params().formulas.stored.free_symbols}
    assert model.flops(T=1024).totals.attention == 4 * model.flops(T=512).totals.attention


def test_gpt2_small_flops() -> None:
    """Per token at T = 1024: 2·123,532,032 in matrices and 4·L·T·d in attention."""
    totals = blockcalc.load("gpt2-small").flops(B=1, T=1024).totals
    assert totals.rule_2N == 2 * 123_532_032 == 247_064_064
    assert totals.linear + totals.head == 247_064_064 * 1024
    assert totals.attention == 37_748_736 * 1024
    assert totals.forward == 284_812_800 * 1024
    assert totals.forward_per_token == 284_812_800
    assert (totals.backward, totals.training) == (2 * totals.forward, 3 * totals.forward)
    assert totals.training_per_token == 3 * 284_812_800
    assert totals.block_attention_share == Fraction(2, 11)
    assert f"{float(totals.block_attention_share):.2%}" == "18.18%"


def test_gpt2_small_crossing() -> None:
    report = blockcalc.load("gpt2-small").crossover()
    assert (report.totals.T, report.totals.T_over_d) == (4_608, 6)
    assert formula_text(report.formulas.T) == "6·d"
    model = blockcalc.load("gpt2-small", P=4_608, context=4_608)
    assert model.flops(T=4_608).totals.block_attention_share == Fraction(1, 2)


def test_gpt2_small_training() -> None:
    """nanoGPT's run: 600,000 steps of 491,520 tokens; the hours are of one A100 at its bf16 peak of 312e12."""
    D = 491_520 * 600_000
    assert D == 294_912_000_000
    totals = blockcalc.load("gpt2-small").flops(B=1, T=1024, convention="nanogpt", D=D).totals
    parameters = 3 * totals.linear * D // 1024
    assert parameters == 6 * 123_653_376 * D
    assert f"{parameters:.3e}" == "2.188e+20"
    assert round(parameters / 312e12 / 3600, 1) == 194.8
    assert f"{totals.attention / totals.linear:.2%}" == "15.26%"
    assert totals.training_run == (6 * 123_653_376 + 12 * 12 * 768 * 1024) * D


def test_block_d8() -> None:
    """n = 5, d = 8, h = 2, h_kv = 1, f = 21."""
    found = blockcalc.load("block-d8").shapes(B=1, T=5)
    rows = {row.path.removeprefix("block."): list(row.shape) for row in found.rows}
    assert rows["attention.q"] == rows["attention.q_rotary"] == [1, 2, 5, 4]
    assert rows["attention.k"] == rows["attention.v"] == [1, 1, 5, 4]
    assert rows["attention.keys_repeated"] == rows["attention.values_repeated"] == [1, 2, 5, 4]
    assert rows["attention.softmax"] == [1, 2, 5, 5]
    assert rows["feedforward.gate"] == rows["feedforward.up"] == rows["feedforward.hidden"] == [1, 5, 21]
    assert rows["attention.out"] == rows["feedforward.out"] == [1, 5, 8]


def test_block_d4096() -> None:
    """h = 32, h_kv = 8, f = 11,008."""
    model = blockcalc.load("block-d4096")
    assert each(model, "block.attention") == 41_943_040
    assert each(model, "block.feedforward") == 135_266_304
    assert each(model, "block.norms") == 8_192
    assert component(model.params(by="block"), "block").each.value == 177_217_536
    assert [round(float(row.share) * 100) for row in model.params().rows] == [24, 76, 0]
    assert model.params().totals.stored == 5_670_961_152


def test_llama_3_8b_is_mostly_feedforward() -> None:
    model = blockcalc.load("llama-3-8b")
    block = component(model.params(by="block"), "block").each.value
    assert round(100 * each(model, "block.feedforward") / block) == 81


# 12·L·d² near 85 M.
@pytest.mark.parametrize(
    ("L", "d", "weights"), [(6, 1088, 85_229_568), (12, 768, 84_934_656), (24, 544, 85_229_568), (48, 384, 84_934_656)]
)
def test_one_budget_four_shapes(L: int, d: int, weights: int) -> None:
    assert blockcalc.load(gpt(d, L, 16)).params().totals.matmul == weights


# Qwen3-30B-A3B, T = 8192, training FLOPs per token. torchtitan counts 6N and N holds 210,944 norm gains:
# 48 layers of 2·2048 + 2·128, and 2048 at the end.
@pytest.mark.parametrize(
    ("attention", "titan", "matrices"),
    [("full", 37_578_559_488, 37_577_293_824), ("half", 27_914_883_072, 27_913_617_408)],
)
def test_mixture_of_experts_flops(attention: str, titan: int, matrices: int) -> None:
    model = blockcalc.load("qwen3-30b-a3b")
    gains = 48 * (2 * 2048 + 2 * 128) + 2048
    assert gains == 210_944
    assert model.flops(T=8192, attention=attention, convention="torchtitan").totals.training_per_token == titan
    assert model.flops(T=8192, attention=attention).totals.training_per_token == matrices
    assert titan - matrices == 6 * gains


@pytest.mark.parametrize(
    ("preset", "T", "over_d"),
    [
        ("gpt2-small", 4_608, 6),
        ("gpt2-xl", 9_600, 6),
        ("llama-2-7b", 24_704, Fraction(193, 32)),
        ("llama-3-8b", 26_624, Fraction(13, 2)),
        ("mistral-7b", 26_624, Fraction(13, 2)),
        ("llama-3-70b", 52_224, Fraction(51, 8)),
        ("llama-3.1-405b", 97_280, Fraction(95, 16)),
        ("qwen3-0.6b", 3_840, Fraction(15, 4)),
        ("gemma-2b", 26_880, Fraction(105, 8)),
    ],
)
def test_crossover(preset: str, T: int, over_d: Fraction) -> None:
    """T* = weights of a block's linear layers / (2·h·d_h)."""
    totals = blockcalc.load(preset).crossover().totals
    assert (totals.T, totals.T_over_d, totals.T_causal) == (T, over_d, 2 * T)


def test_crossover_is_where_the_flops_meet() -> None:
    for preset in ("llama-2-7b", "qwen3-0.6b", "gemma-2b"):
        model = blockcalc.load(preset, context=200_000)
        T = model.crossover().totals.T
        at, before = model.flops(T=T).totals, model.flops(T=T - 1).totals
        assert at.attention == at.linear
        assert before.attention < before.linear
        half = model.flops(T=2 * T, attention="half").totals
        assert half.attention == half.linear


@pytest.mark.parametrize(
    ("sizes", "T", "said"),
    [
        ({}, 6 * 768, "6·d"),
        ({"gated": True}, 8 * 768, "8·d"),
        ({"h": 12}, 6 * 768, "6·d"),
        ({"h": 12, "h_kv": 12}, 6 * 768, "5·d + d·h_kv/h"),
        ({"h": 12, "h_kv": 4}, 4_096, "5·d + d·h_kv/h"),
        ({"h": 12, "d_h": 128, "f": 3072}, 3 * 768 + 768, None),
        ({"h": 12, "h_kv": 1, "gated": True, "f": 2048}, 3_904, None),
    ],
)
def test_crossover_of_bare_sizes(sizes: dict[str, Any], T: int, said: str | None) -> None:
    """The last two: (4·768·1536 + 2·768·3072)/(2·1536) and (768·64·(2·12 + 2·1) + 3·768·2048)/(2·768)."""
    report = bare_block(768, **sizes).crossover()
    assert (report.totals.T, report.totals.T_causal) == (T, 2 * T)
    assert report.totals.T_with_head is None
    if said is not None:
        assert formula_text(report.formulas.T) == said


def test_projections_alone_cross_at_2d() -> None:
    """4d² of projections against 2·d numbers of work a key: 2d of the 6d; the feed-forward part brings the other 4d."""
    d = 768
    totals = bare_block(d).flops(B=1, T=2 * d).totals
    rows = {row.path: row.value for row in bare_block(d).flops(B=1, T=2 * d).rows if row.kind == "matrix"}
    projections = sum(rows[f"block.attention.{name}"] for name in ("q_proj", "k_proj", "v_proj", "out"))
    assert projections == 2 * 4 * d**2 * (2 * d) == totals.attention


def test_crossover_with_head() -> None:
    """GPT-2 small's head adds V/(2·L) to 6d."""
    assert blockcalc.load("gpt2-small").crossover().totals.T_with_head == 4_608 + Fraction(50_257, 24)


def test_crossover_under_windows() -> None:
    """Gemma 2 9B: 21 layers see at most 4,096 keys, 21 all of them.

    Linear work is attention's where 42·2·198,180,864 = 16,384·(21·4,096 + 21·T), all per token.
    """
    block = 3584 * (2 * 16 + 2 * 8) * 256 + 3 * 3584 * 14_336
    assert block == 198_180_864
    totals = blockcalc.load("gemma-2-9b").crossover().totals
    assert Fraction(2 * block, 4 * 16 * 256) == totals.T
    assert totals.T_window == Fraction(42 * 2 * block, 21 * 4 * 16 * 256) - 4_096


def test_mistrals_window_never_lets_attention_overtake() -> None:
    report = blockcalc.load("mistral-7b").crossover()
    row = component(report, "T_window")
    assert row.value is None
    assert "a query meets at most 4,096 keys" in row.text
    assert "T_window" not in report.totals or report.totals.T_window is None


# Odd but valid


def test_width_divides_into_five_groups() -> None:
    model = blockcalc.load(llama(5120, 1, 40, 13_824, h_kv=8))
    assert shape(model, "block.attention.k_proj", 1, 2) == shape(model, "block.attention.v_proj", 1, 2) == [1, 2, 1_024]
    assert shape(model, "block.attention.q_proj", 1, 2) == [1, 2, 5_120]


def test_attention_wider_than_the_model() -> None:
    model = blockcalc.load(stack(3072, 1, attention={"heads": 34, "head_width": 120}))
    assert shape(model, "block.attention.merged", 1, 2) == [1, 2, 4_080]
    assert each(model, "block.attention") == 4 * 3072 * 4_080


def test_a_head_wider_than_the_model() -> None:
    model = blockcalc.load(stack(3, 1, attention={"heads": 2, "head_width": 8, "positions": ALIBI}))
    assert each(model, "block.attention") == 4 * 3 * 16


# Impossible

EXPERTS = {"kind": "moe", "experts": 4, "width": 8}
IMPOSSIBLE = [
    (
        stack(640, 1, attention={"heads": 5, "kv_heads": 2}),
        "blocks.block.attention.kv_heads = 2: must divide the 5 query heads; 1 or 5 would do",
    ),
    (
        stack(128, 1, attention={"heads": 12}),
        "blocks.block.attention.heads = 12: must divide the model width 128 when no head_width is given; "
        "heads = 8 or 16, or give head_width",
    ),
    (
        stack(520, 1, attention={"heads": 8, "positions": ROTARY}),
        "blocks.block.attention.head_width = 65: rotary positions turn pairs, and 65 of each head's 65 numbers "
        "would be turned; an even head width (or fraction of it) would do",
    ),
    (
        stack(64, 1, attention={"heads": 4}, feedforward={**EXPERTS, "experts_per_token": 5}),
        "blocks.block.feedforward.experts_per_token = 5: a token can't visit more experts than the 4 there are; "
        "at most 4",
    ),
    (stack(0, 1, attention={"heads": 1}), "width = 0: a size is a whole number from 1 to 10^36"),
    (stack(64, 1, attention={"heads": 4}, vocabulary=True), "vocabulary = true: is a whole number"),
    (stack(64, 1, attention={"heads": 4}, widht=3), "widht: no such key; did you mean width?"),
]


@pytest.mark.parametrize(("words", "told"), IMPOSSIBLE, ids=[told[:40] for _, told in IMPOSSIBLE])
def test_impossible(words: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        blockcalc.load(words)
    assert str(caught.value) == f"the given mapping: {told}"
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("sizes", "code", "told"),
    [
        (
            {"h_kv": 5},
            3,
            "replace: blocks.block.attention.kv_heads = 5: must divide the 32 query heads; "
            "1, 2, 4, 8, 16 or 32 would do",
        ),
        (
            {"h": 24, "h_kv": 8},
            3,
            "replace: blocks.block.attention.heads = 24: must divide the model width 4096 when no head_width is given; "
            "heads = 16 or 32, or give head_width",
        ),
        ({"hkv": 4}, 2, "replace: no letter or field 'hkv' in this model; did you mean h_kv?"),
        ({"T": 4}, 2, "replace: T is an option of its own: --T 128"),
    ],
)
def test_impossible_overrides(sizes: dict[str, Any], code: int, told: str) -> None:
    with pytest.raises(BlockcalcError) as caught:
        blockcalc.load("llama-3-8b", **sizes)
    assert (caught.value.exit_code, str(caught.value)) == (code, told)


# Variants that must be expressible


@pytest.mark.parametrize("norm", ["layernorm", "rmsnorm"])
@pytest.mark.parametrize("placement", ["pre", "post", "both"])
@pytest.mark.parametrize("heads", [(4, 4), (4, 2), (4, 1)])
@pytest.mark.parametrize("kind", ["plain", "gated", "experts"])
def test_variants(norm: str, placement: str, heads: tuple[int, int], kind: str) -> None:
    d, f, E, k = 32, 48, 6, 2
    h, g = heads
    parts: dict[str, dict[str, Any]] = {
        "plain": {"kind": "mlp", "width": f},
        "gated": {"kind": "mlp", "width": f, "gated": True},
        "experts": {"kind": "moe", "experts": E, "experts_per_token": k, "width": f},
    }
    words = stack(
        d,
        2,
        attention={"heads": h, "kv_heads": g},
        feedforward=parts[kind],
        norm={"kind": norm},
        block={"placement": placement},
    )
    attention = 2 * d * d + 2 * d * d * g // h
    stored = {"plain": 2 * d * f, "gated": 3 * d * f, "experts": E * d + E * 3 * d * f}[kind]
    active = {"plain": 2 * d * f, "gated": 3 * d * f, "experts": E * d + k * 3 * d * f}[kind]
    norms = d * (4 if placement == "both" else 2)
    totals = blockcalc.load(words).params().totals
    assert totals.stored == 2 * (attention + stored + norms)
    assert totals.active == 2 * (attention + active + norms)
    assert totals.matmul == 2 * (attention + active)
