"""A fixed battery of checks, quick enough to be run once for every planted fault.

Each check is a function without arguments that raises when something is wrong. Expected values are data:
published totals, frameworks' measurements, counts by hand, and the reference pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from words import ALIBI, BIASES, LAYERNORM, RMSNORM, ROTARY, gpt, llama, stack

from blockcalc.config.widths import RoundedNearest, RoundedUp
from blockcalc.engine.run import pairs
from blockcalc.loading import load_source
from blockcalc.model import Model, bare_block
from blockcalc.views.comparison import check

DATA = Path(__file__).parent / "data"

TOTALS: Mapping[str, Mapping[str, int]] = {
    "gpt1": {"stored": 116_534_784},
    "gpt2-small": {"stored": 124_439_808, "active": 124_439_808, "matmul": 123_532_032, "state_dict": 163_037_184},
    "nanogpt-124m": {"stored": 124_337_664},
    "llama-2-7b": {"stored": 6_738_415_616, "state_dict": 6_738_415_616},
    "llama-3.2-1b": {"stored": 1_235_814_400, "state_dict": 1_498_482_688},
    "llama-3.1-405b": {"stored": 405_853_388_800},
    "mistral-nemo-12b": {"stored": 12_247_782_400},
    "mixtral-8x7b": {"stored": 46_702_792_704, "active": 12_879_925_248},
    "pythia-70m": {"stored": 70_426_624, "non_embedding": 18_915_328},
    "qwen2-0.5b": {"stored": 494_032_768},
    "qwen3-0.6b": {"stored": 596_049_920},
    "qwen3-30b-a3b": {"stored": 30_532_122_624, "active": 3_353_032_704},
    "gemma-2-9b": {"stored": 9_241_705_984},
    "palm-540b": {"stored": 540_356_474_880},
    "block-d64": {"stored": 49_984, "matmul": 49_152},
}
"""Published, with sources in test_published.py."""

CONVENTIONS = {
    "exact": 284_812_800,
    "nanogpt": 285_055_488,
    "palm": 285_055_488,
    "torchtitan": 286_628_352,
    "megatron": 265_938_432,
    "kaplan": 188_743_680,
    "chinchilla": 362_449_920,
    "macs": 142_406_400,
    "fused-cpu": 247_064_064,
}
"""GPT-2 small, T = 1024, forward FLOPs per token; sources in test_conventions.py."""

RMS_QK = {"qk_norm": RMSNORM}
MOE = {"kind": "moe", "experts": 5, "experts_per_token": 2, "width": 13}
MODELS: Mapping[str, Mapping[str, Any]] = {
    "gpt": gpt(12, 2, 3, vocabulary=41, learned_positions=9),
    "llama": llama(20, 2, 5, 37, vocabulary=41, tied_head=False, head_bias=True, vocabulary_multiple=8),
    "grouped": stack(11, 2, attention={"heads": 6, "kv_heads": 2, "head_width": 5, "q_bias": True, "window": 3}),
    "fused": stack(
        11,
        1,
        attention={"heads": 4, "kv_heads": 2, "head_width": 7, "projections": "fused", "positions": ALIBI, **BIASES},
        feedforward={"kind": "mlp", "width": 29, "gated": True, "storage": "fused", "bias": True},
        vocabulary=43,
        embedding_norm=LAYERNORM,
        tied_head=True,
        head_bias=True,
    ),
    "normed": stack(
        12,
        2,
        attention={"heads": 2, "kv_heads": 1, "head_width": 8, "positions": {**ROTARY, "fraction": 0.5}, **RMS_QK},
        block={"placement": "both"},
        norm=RMSNORM,
    ),
    "normed over all heads": stack(
        12, 2, attention={"heads": 4, "kv_heads": 2, "head_width": 5, "qk_norm_over": "width", **RMS_QK}
    ),
    "post": stack(12, 2, attention={"heads": 3, "out_bias": True}, block={"placement": "post"}),
    "side by side": stack(12, 2, attention={"heads": 3, "k_bias": True}, block={"parallel": "two_norms"}),
    "one norm": stack(12, 2, attention={"heads": 3, "v_bias": True}, block={"parallel": "one_norm"}),
    "experts": stack(
        12,
        2,
        attention={"heads": 3},
        feedforward={**MOE, "router_bias": True, "shared_width": 17, "bias": True, "storage": "fused"},
    ),
    "plain experts": stack(12, 2, attention={"heads": 3}, feedforward={**MOE, "gated": False, "bias": True}),
}
"""Small models that between them use every part of the grammar."""


def model(source: str | Mapping[str, Any]) -> Model:
    """A model, read anew."""
    return Model(load_source(source).architecture)


def published_totals() -> None:
    for name, expected in TOTALS.items():
        totals = model(name).params().totals
        assert {key: totals[key] for key in expected} == expected, name


def tensors() -> None:
    """Name, stored shape and number of each tensor, as transformers 5.24 builds the model."""
    for name in ("gpt2-small", "pythia-70m", "qwen2-0.5b", "qwen3-30b-a3b", "gemma-2-2b"):
        expected = json.loads((DATA / "tensors" / f"{name}.json").read_text("utf-8"))["tensors"]
        found: dict[str, list[Any]] = {}
        for row in model(name).params(by="tensor").rows:
            if row.tied_to is None:
                found.setdefault(row.name, []).append([list(row.shape), row.count])
        assert found == expected, name


def embeddings() -> None:
    """The bias on the logits of a tied head is no embedding: 10 rows of 8 are left out, 10 biases stay."""
    totals = model(stack(8, 1, attention={"heads": 2}, vocabulary=10, head_bias=True)).params().totals
    assert totals.non_embedding == totals.stored - 10 * 8


def conventions() -> None:
    for name, expected in CONVENTIONS.items():
        assert model("gpt2-small").flops(T=1024, convention=name).totals.forward_per_token == expected, name


def measured_flops() -> None:
    """torch's FlopCounterMode on the model of transformers 5.24."""
    for name in ("llama-3.2-1b", "qwen3-30b-a3b", "gemma-2-2b", "pythia-70m"):
        measured = json.loads((DATA / "oracle" / f"{name}.json").read_text("utf-8"))["flops"]["128"]
        totals = model(name).flops(T=128).totals
        assert totals.forward == measured["total"], name
        assert totals.head == measured["modules"]["lm_head"], name


def training() -> None:
    """Qwen3-30B-A3B at T = 8192, per token; as torchtitan counts it and matrices alone."""
    for attention, titan, matrices in (
        ("full", 37_578_559_488, 37_577_293_824),
        ("half", 27_914_883_072, 27_913_617_408),
    ):
        mixture = model("qwen3-30b-a3b")
        assert mixture.flops(T=8192, attention=attention).totals.training_per_token == matrices
        counted = mixture.flops(T=8192, attention=attention, convention="torchtitan")
        assert counted.totals.training_per_token == titan


def crossover() -> None:
    for name, T in {"gpt2-small": 4_608, "llama-3-8b": 26_624, "qwen3-0.6b": 3_840, "gemma-2b": 26_880}.items():
        totals = model(name).crossover().totals
        assert (totals.T, totals.T_causal) == (T, 2 * T), name
    assert bare_block(768, gated=True).crossover().totals.T == 8 * 768
    assert model("gpt2-small").crossover().totals.T_with_head == 4_608 + Fraction(50_257, 24)
    # Solved by hand: 42 layers of 198,180,864 numbers, half of the layers with a window of 4,096.
    assert model("gemma-2-9b").crossover().totals.T_window == Fraction(4 * 198_180_864, 4 * 16 * 256) - 4_096


def reference_pass() -> None:
    for name, words in MODELS.items():
        checked = check(model(words).architecture)
        wrong = [row for row in checked.rows if not row.ok]
        assert not wrong, f"{name}: {wrong}"
        assert checked.parameters[0] == checked.parameters[1], name
        assert checked.flops[0] == checked.flops[1], name


def query_key_pairs() -> None:
    """Against a mask that is counted, alone and in the FLOPs of attention."""
    for processed, attended, window in [(5, 5, None), (4, 9, None), (6, 6, 4), (3, 8, 4), (1, 7, 2), (7, 9, 8)]:
        query, key = np.arange(attended - processed, attended)[:, None], np.arange(attended)[None, :]
        seen = (key <= query) & (key > query - (window or attended))
        growing = int((query < (window or attended)).sum())
        expected = {
            "full": processed * attended,
            "causal": int(seen.sum()),
            "half": int(seen.sum()) - Fraction(growing, 2),
        }
        assert pairs(processed, attended, window) == expected["causal"]
        assert pairs(processed, attended, window, halved=True) == expected["half"]
        attention = {"heads": 4, "kv_heads": 2, "head_width": 3, **({"window": window} if window else {})}
        small = model(stack(8, 3, attention=attention))
        for mode, count in expected.items():
            work = small.flops(B=2, T=processed, S=attended, attention=mode).totals
            assert work.attention == 3 * 2 * 2 * 2 * 4 * 3 * count, mode


def widths() -> None:
    """Llama's rule, and rounding to the nearest multiple, which is another."""
    up = [
        (4096, 256, None, 11_008), (5120, 256, None, 13_824), (8192, 4096, 1.3, 28_672), (4096, 1024, 1.3, 14_336),
        (16384, 4096, 1.2, 53_248), (2048, 256, 1.5, 8_192), (8, 1, None, 21),
        (3 * 10**20 + 3, 1, None, 8 * 10**20 + 8),
    ]  # fmt: skip
    for d, multiple, multiplier, f in up:
        assert RoundedUp(multiple=multiple, multiplier=multiplier).width(d) == f, d
    for d, f in [(5120, 13_568), (6656, 17_664), (8192, 21_760), (4096, 11_008)]:
        assert RoundedNearest(multiple=256).width(d) == f, d


def rotated_numbers() -> None:
    """Pythia turns a quarter of each head of 64: 3 operations for 16 numbers of 8 heads at 10 positions in 6 layers."""
    rows = {row.path: row.value for row in model("pythia-70m").flops(T=10).rows if row.kind == "elementwise"}
    assert rows["block.attention.q_rotary"] == rows["block.attention.k_rotary"] == 3 * 16 * 8 * 10 * 6


def sums() -> None:
    for words in MODELS.values():
        for by in ("component", "tensor"):
            report = model(words).params(by)
            assert sum(row.value for row in report.rows) == report.totals.stored
        report = model(words).flops(B=2, T=5)
        assert sum(row.value for row in report.rows if row.kind == "matrix") == report.totals.forward
        assert report.totals.linear + report.totals.attention + report.totals.head == report.totals.forward


CHECKS: tuple[Callable[[], None], ...] = (
    widths, rotated_numbers, embeddings, training, crossover, conventions, measured_flops, query_key_pairs, tensors,
    published_totals, sums, reference_pass,
)  # fmt: skip


def failures() -> Iterator[tuple[str, str]]:
    """The checks that fail, one after the other, and why."""
    for run in CHECKS:
        try:
            run()
        except Exception as error:
            yield run.__name__, f"{type(error).__name__}: {error}"[:300]


def fingerprint() -> Iterator[object]:
    """All that the package says of a few models, one after the other: what a fault must change to be one."""
    rules = [RoundedUp(), RoundedUp(multiple=1), RoundedUp(multiplier=1.3), RoundedNearest(multiple=32)]
    yield [rule.width(d) for rule in rules for d in (100, 8192, 3 * 10**20 + 3)]
    yield [pairs(3, 8, window, halved=half) for window in (None, 4) for half in (False, True)]
    for source in (*MODELS.values(), *TOTALS):
        try:
            said = _all_numbers(model(source))
        except Exception as error:
            said = [repr(error)]
        yield said


def _all_numbers(small: Model) -> list[object]:
    views = [small.params("tensor"), small.crossover(), small.flops(B=2, T=5, convention="all")]
    views += [small.flops(B=2, T=5, S=9, attention=mode) for mode in ("full", "causal", "half")]
    numbers: list[object] = [[(row.path, row.value) for row in view.rows] for view in views]
    numbers += [{name: entry.value for name, entry in view.numbers.items()} for view in views]
    shapes = [(row.path, row.shape) for view in (views[0], small.shapes(B=2, T=5, S=9)) for row in view.rows]
    return [*numbers, shapes]
