"""Published totals, to the last digit."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from words import gpt, llama

import blockcalc
from blockcalc.cli.app import run
from blockcalc.config.presets import preset_names

GPT2 = "checkpoint of openai/gpt-2 (the paper's 117M, 345M, 762M and 1542M are slips)"
NANOGPT = "karpathy/nanoGPT, model.py with bias=False"
LLAMA = "arXiv 2302.13971, Table 2; checkpoint"
LLAMA2 = "arXiv 2307.09288; checkpoint of meta-llama"
LLAMA3 = "arXiv 2407.21783, Table 3; checkpoint of meta-llama"
PYTHIA = "arXiv 2304.01373, Table 1 and the README of EleutherAI/pythia"
GPT3 = "arXiv 2005.14165, Table 2.1 and D.1; sizes with V = 50,257, P = 2048, tied, biases"
QWEN = "safetensors of Qwen on the Hugging Face hub"
GEMMA = "arXiv 2403.08295 and 2408.00118; checkpoint of google"
MISTRAL = "safetensors of mistralai on the Hugging Face hub"
PALM = "arXiv 2204.02311, section 2 and Table 1; printed as 540.35B"
LLAMA2C = "karpathy/llama2.c: V = 32,000, multiple_of = 32"
EXAMPLE = "worked example, counted by hand"


class Case(NamedTuple):
    model: str
    key: str
    value: int
    source: str
    sizes: tuple[tuple[str, Any], ...] = ()


TOTALS = [
    Case("gpt1", "stored", 116_534_784, "openai-gpt checkpoint, transformers.OpenAIGPTLMHeadModel"),
    Case("gpt2-small", "stored", 124_439_808, GPT2),
    Case("gpt2-medium", "stored", 354_823_168, GPT2),
    Case("gpt2-large", "stored", 774_030_080, GPT2),
    Case("gpt2-xl", "stored", 1_557_611_200, GPT2),
    Case("gpt2-small", "active", 124_439_808, GPT2),
    Case("gpt2-small", "matmul", 123_532_032, "124,439,808 less P·d, biases and norms; GPT-2's FLOPs are 2 × this"),
    Case("gpt2-small", "state_dict", 124_439_808 + 50_257 * 768, "a file that writes the tied head twice"),
    Case("nanogpt-124m", "stored", 124_337_664, NANOGPT),
    Case("llama-7b", "stored", 6_738_415_616, LLAMA),
    Case("llama-13b", "stored", 13_015_864_320, LLAMA),
    Case("llama-33b", "stored", 32_528_943_616, LLAMA),
    Case("llama-65b", "stored", 65_285_660_672, LLAMA),
    Case("llama-2-7b", "stored", 6_738_415_616, LLAMA2),
    Case("llama-2-13b", "stored", 13_015_864_320, LLAMA2),
    Case("llama-2-70b", "stored", 68_976_648_192, LLAMA2),
    Case("llama-3-8b", "stored", 8_030_261_248, LLAMA3),
    Case("llama-3-70b", "stored", 70_553_706_496, LLAMA3),
    Case("llama-3.1-8b", "stored", 8_030_261_248, LLAMA3),
    Case("llama-3.1-70b", "stored", 70_553_706_496, LLAMA3),
    Case("llama-3.1-405b", "stored", 405_853_388_800, LLAMA3),
    Case("llama-3.2-1b", "stored", 1_235_814_400, LLAMA3),
    Case("llama-3.2-1b", "stored", 1_498_482_688, "the same, its head written apart", (("tied_head", False),)),
    Case("llama-3.2-1b", "state_dict", 1_498_482_688, "the same, its tied head written twice"),
    Case("llama-3.2-3b", "stored", 3_212_749_824, LLAMA3),
    Case("tinyllama-1.1b", "stored", 1_100_048_384, "arXiv 2401.02385; checkpoint"),
    Case("mistral-7b", "stored", 7_241_732_096, MISTRAL),
    Case("mistral-nemo-12b", "stored", 12_247_782_400, f"{MISTRAL}; d_h = 128, not d/h = 160"),
    Case("mixtral-8x7b", "stored", 46_702_792_704, MISTRAL),
    Case("mixtral-8x7b", "active", 12_879_925_248, "arXiv 2401.04088: 47B, of which 13B are active"),
    Case("pythia-70m", "stored", 70_426_624, PYTHIA),
    Case("pythia-70m", "non_embedding", 18_915_328, PYTHIA),
    Case("pythia-6.9b", "stored", 6_857_302_016, PYTHIA),
    Case("pythia-6.9b", "non_embedding", 6_444_163_072, PYTHIA),
    Case("pythia-12b", "stored", 11_846_072_320, PYTHIA),
    Case("pythia-12b", "non_embedding", 11_327_027_200, PYTHIA),
    Case("qwen2-0.5b", "stored", 494_032_768, QWEN),
    Case("qwen2.5-7b", "stored", 7_615_616_512, QWEN),
    Case("qwen1.5-72b", "stored", 72_287_920_128, QWEN),
    Case("qwen3-0.6b", "stored", 596_049_920, QWEN),
    Case("qwen3-8b", "stored", 8_190_735_360, QWEN),
    Case("qwen3-30b-a3b", "stored", 30_532_122_624, QWEN),
    Case("qwen3-30b-a3b", "active", 3_353_032_704, QWEN),
    Case("gemma-2b", "stored", 2_506_172_416, GEMMA),
    Case("gemma-7b", "stored", 8_537_680_896, GEMMA),
    Case("gemma-2-2b", "stored", 2_614_341_888, GEMMA),
    Case("gemma-2-9b", "stored", 9_241_705_984, GEMMA),
    Case("gpt3-125m", "stored", 125_226_240, GPT3),
    Case("gpt3-xl", "stored", 1_315_723_264, f"{GPT3}; 24 heads of 128 is a slip for h·d_h = 2048"),
    Case("gpt3-13b", "stored", 12_853_386_240, f"{GPT3}; d = 5120, printed 5140"),
    Case("gpt3-175b", "stored", 174_604_259_328, GPT3),
    Case("palm-540b", "stored", 540_356_474_880, PALM),
    Case("block-d4", "stored", 12 * 4**2 + 2 * 2 * 4, f"{EXAMPLE}: 12·d² and two norms"),
    Case("block-d4-by-hand", "stored", 8 * 4**2 + 2 * 2 * 4, f"{EXAMPLE}: f = 2·d"),
    Case("block-d64", "stored", 49_984, EXAMPLE),
    Case("block-d8", "stored", (64 + 32 + 32 + 64) + 3 * 8 * 21 + 2 * 8, f"{EXAMPLE}: 4 + 3 matrices, 2 norms"),
    Case("block-d4096", "stored", 5_670_961_152, f"{EXAMPLE}: 32 blocks of 177,217,536"),
]


@pytest.mark.parametrize("case", TOTALS, ids=lambda case: "-".join([case.model, case.key, *dict(case.sizes)]))
def test_total(case: Case) -> None:
    totals = blockcalc.load(case.model, **dict(case.sizes)).params().totals
    assert totals[case.key] == case.value, case.source


def test_every_preset_has_its_published_total_here() -> None:
    assert {case.model for case in TOTALS if case.key == "stored"} == set(preset_names())


def test_presets_state_the_totals_that_are_published() -> None:
    for row in blockcalc.presets().rows:
        assert row.stored == next(c.value for c in TOTALS if (c.model, c.key) == (row.path, "stored"))


# GPT-3, table D.1: parameters in millions as printed, and FLOPs as 6 times those times 300e9 tokens.
@pytest.mark.parametrize(
    ("model", "millions", "printed"),
    [
        ("gpt3-125m", 125, "2.25e+20"),
        ("gpt3-xl", 1_320, "2.38e+21"),
        ("gpt3-13b", 12_850, "2.31e+22"),
        ("gpt3-175b", 174_600, "3.14e+23"),
    ],
)
def test_gpt3_training_compute(model: str, millions: int, printed: str) -> None:
    stored = blockcalc.load(model).params().totals.stored
    assert f"{6 * millions * 10**6 * 300 * 10**9:.2e}" == printed
    assert abs(stored - millions * 10**6) <= 5 * 10**6
    assert abs(6 * stored * 300 * 10**9 / float(printed) - 1) < 0.006


# arXiv 2104.04473, Table 1: V = 51,200, T = 2048, f = 4d, tied, biases, learned positions.
MEGATRON = [
    (24, 2304, 24, 1_652_230_656, 512),
    (40, 6144, 48, 18_449_756_160, 1024),
    (80, 12_288, 96, 145_622_261_760, 2304),
    (128, 25_600, 160, 1_008_038_758_400, 3072),
]


@pytest.mark.parametrize(("L", "d", "h", "total", "B"), MEGATRON)
def test_megatron(L: int, d: int, h: int, total: int, B: int) -> None:
    """The paper's formula 96·B·T·L·d²·(1 + T/(6d) + V/(16·L·d)): blocks run forward twice, the head once."""
    V, T = 51_200, 2048
    model = blockcalc.load(gpt(d, L, h, vocabulary=V, learned_positions=T))
    # The paper's 12·L·d²·(1 + 13/(12d) + (V + T)/(12·L·d)) leaves the final norm out.
    assert model.params().totals.stored == total
    assert model.params().totals.stored - 2 * d == 12 * L * d**2 + 13 * L * d + (V + T) * d
    work = model.flops(B=B, T=T).totals
    iteration = 4 * (work.linear + work.attention) + 3 * work.head
    assert iteration == 96 * B * T * L * d**2 * (1 + Fraction(T, 6 * d) + Fraction(V, 16 * L * d))


def test_megatron_printed_iteration() -> None:
    L, d, h, _, B = MEGATRON[0]
    work = blockcalc.load(gpt(d, L, h, vocabulary=51_200, learned_positions=2048)).flops(B=B, T=2048).totals
    assert f"{4 * (work.linear + work.attention) + 3 * work.head:.4e}" == "1.5467e+16"


def test_megatron_from_gpt2() -> None:
    """The same model as GPT-2 with other sizes."""
    model = blockcalc.load("gpt2-small", L=24, d=2304, h=24, V=51_200, P=2048, context=2048)
    assert model.params().totals.stored == 1_652_230_656


def test_palm_utilisation() -> None:
    """238.3K tokens a second on 6144 chips of 275e12 FLOP/s (2204.02311, section 4.1).

    That is 46.2 %, and without attention 45.7 %.
    """
    work = blockcalc.load("palm-540b").flops(B=1, T=2048, convention="palm").totals
    tokens, peak = 238_300, 6144 * 275 * 10**12
    assert round(float(work.training_per_token * tokens / Fraction(peak)), 3) == 0.462
    without = Fraction(3 * work.linear, 2048)
    assert round(float(without * tokens / peak), 3) == 0.457


# V = 32,000 tied, RMSNorm, MHA, no bias, f by Llama's rule to a multiple of 32.
@pytest.mark.parametrize(
    ("d", "L", "h", "tied", "twice"),
    [(288, 6, 6, 15_191_712, 24_407_712), (512, 8, 8, 41_689_600, 58_073_600), (768, 12, 12, 109_529_856, 134_105_856)],
)
def test_tied_and_rounded(d: int, L: int, h: int, tied: int, twice: int) -> None:
    totals = blockcalc.load(llama(d, L, h, {"rule": "rounded_up", "multiple": 32}, vocabulary=32_000)).params().totals
    assert (totals.stored, totals.state_dict) == (tied, twice), LLAMA2C


def test_three_mlp_matrices() -> None:
    """Qwen1.5-72B: a count of two matrices gives 56.19 B."""
    model = blockcalc.load("qwen1.5-72b")
    assert model.params().totals.stored == 72_287_920_128
    plain = model.replace(gated=False).params().totals.stored
    assert plain == 72_287_920_128 - 80 * 8192 * 24_576
    assert 56.18e9 < plain < 56.19e9


@pytest.mark.parametrize("model", ["gpt2", "llama-3-8b", "mixtral-8x7b", "gemma-2-9b", "palm-540b"])
def test_on_the_command_line(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["params", model, "--format", "json", "--no-formulas"]) == 0
    shown = json.loads(capsys.readouterr().out)
    for case in TOTALS:
        if case.model == blockcalc.load(model).name and not case.sizes:
            assert shown["totals"][case.key] == case.value


def test_sizes_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["params", "llama-3.2-1b", "--set", "tied_head=false"]) == 0
    assert "1,498,482,688" in capsys.readouterr().out


def test_the_bias_of_a_tied_head_is_no_embedding() -> None:
    # V = 10, d = 8: the table of 80 is left out, the bias of 10 on the logits stays.
    tied = blockcalc.load("block-d8", vocabulary=10, head_bias=True)
    totals = tied.params().totals
    assert totals.non_embedding == totals.stored - 10 * 8
    untied = tied.replace(tied_head=False).params().totals
    assert untied.non_embedding == untied.stored - 2 * 10 * 8 - 10
