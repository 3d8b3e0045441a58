"""Numbers stay exact however large, free letters give polynomials, and one structure is derived once."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from words import gpt, llama, stack

import blockcalc
from blockcalc.engine import derive as deriving
from blockcalc.engine.derive import derive
from blockcalc.engine.printing import formula_text
from blockcalc.errors import ConfigError, UsageError
from blockcalc.model import Model

HUGE = 10**30
MANY = 10**12


def quickly(run: Callable[[], Any]) -> Any:
    """What it gives, if within two seconds and 20 MB."""
    run()
    tracemalloc.start()
    start = time.perf_counter()
    try:
        return run()
    finally:
        assert time.perf_counter() - start < 2
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
        tracemalloc.stop()


def test_width_of_ten_to_the_thirty() -> None:
    totals = quickly(lambda: blockcalc.load(gpt(HUGE, 2, 8)).params().totals)
    assert totals.stored == 2 * (12 * HUGE**2 + 13 * HUGE)
    assert totals.matmul == 24 * HUGE**2


@pytest.mark.parametrize("d", [HUGE + 2, 3 * 2**60, 10**36])
def test_rounded_widths_of_huge_models(d: int) -> None:
    f = 256 * -(-(8 * d // 3) // 256)
    totals = blockcalc.load(llama(d, 1, 1, {"rule": "rounded_up", "multiple": 256})).params().totals
    assert totals.matmul == 4 * d * d + 3 * d * f


def test_vocabulary_of_ten_to_the_thirty() -> None:
    model = blockcalc.load(gpt(64, 1, 4, vocabulary=HUGE, learned_positions=HUGE, vocabulary_multiple=7))
    rows = 7 * -(-HUGE // 7)
    assert model.params().totals.stored == 12 * 64**2 + 13 * 64 + (rows + HUGE) * 64 + 2 * 64


def test_lengths_of_ten_to_the_thirty() -> None:
    """int64 overflows in silence: 4·B·T²·h·d_h at T = 2^24 gave 0."""
    for T in (2**24, HUGE):
        model = blockcalc.load("llama-2-7b", context=HUGE)
        totals = quickly(lambda model=model, T=T: model.flops(B=2**10, T=T).totals)
        assert totals.attention == 32 * 4 * 2**10 * T**2 * 4096
        causal = model.flops(B=2**10, T=T, attention="causal").totals
        assert causal.attention == 32 * 4 * 2**10 * (T * (T + 1) // 2) * 4096
    windowed = blockcalc.load("mistral-7b").flops(T=HUGE, attention="causal").totals
    assert windowed.attention == 32 * 4 * 4096 * (4096 * 4097 // 2 + (HUGE - 4096) * 4096)


def test_halves_stay_fractions() -> None:
    totals = blockcalc.load("gpt2-small").flops(T=7, attention="half", convention="macs").totals
    assert totals.attention == 12 * 2 * 768 * 49 // 2
    assert totals.forward_per_token == Fraction(totals.forward, 7)
    share = totals.block_attention_share
    assert share == Fraction(totals.attention, totals.attention + totals.linear)
    assert isinstance(share, Fraction)


PATTERNS = {
    "one kind": None,
    "two kinds in turn": {"cycle": ["local", "global"]},
    "a first layer apart": {"start": [{"block": "global", "count": 1}], "cycle": ["local"]},
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_a_million_million_layers(pattern: dict[str, Any] | None) -> None:
    words = gpt(64, MANY, 4, vocabulary=100)
    if pattern is not None:
        kind = words["blocks"]["block"]
        local = {**kind, "attention": {**kind["attention"], "window": 8}}
        words |= {"blocks": {"global": kind, "local": local}, "pattern": pattern}
    model = quickly(lambda: blockcalc.load(words))
    assert quickly(lambda: model.params().totals.stored) == MANY * (12 * 64**2 + 13 * 64) + 100 * 64 + 2 * 64
    assert quickly(lambda: model.flops(T=16).totals.attention) == MANY * 4 * 16**2 * 64
    assert quickly(lambda: len(model.shapes(T=16).rows)) < 60
    assert quickly(lambda: str(model.params())).count("\n") < 60


def test_layers_of_a_preset_with_a_pattern() -> None:
    model = blockcalc.load("gemma-2-9b", L=MANY)
    assert model.params(by="block").rows[1].count == MANY // 2
    odd = blockcalc.load("gemma-2-9b", L=MANY + 1)
    assert [row.count for row in odd.params(by="block").rows[1:3]] == [MANY // 2 + 1, MANY // 2]


@pytest.mark.parametrize("value", [0, -1, 10**37, 1.5, "12x"])
def test_sizes_that_cannot_be(value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        blockcalc.load("gpt2-small", L=value)
    assert caught.value.exit_code == 3


# Free letters


def test_free_width_and_layers() -> None:
    model = blockcalc.load("gpt2-small", free=("d", "L"))
    assert formula_text(model.params().totals.stored) == "12·L·d² + 13·L·d + 51,283·d"
    assert formula_text(model.flops(T=1024).totals.forward_per_token) == "24·L·d² + 4,096·L·d + 100,514·d"
    assert formula_text(model.crossover().totals.T) == "6·d"
    assert model.params().to_dict()["totals"]["stored"] == "12·L·d² + 13·L·d + 51,283·d"


def test_free_letters_give_the_numbers_back() -> None:
    import sympy

    for preset, letters in {
        "gpt2-small": ("d", "L", "V"),
        "llama-3-8b": ("h_kv", "f", "L"),
        "mixtral-8x7b": ("E", "k", "f_e"),
        "qwen3-0.6b": ("d_h", "h", "V"),
        "gemma-2-9b": ("L_local", "L_global"),
    }.items():
        bound, free = blockcalc.load(preset), blockcalc.load(preset, free=letters)
        values = {letter: bound.sizes[letter].value for letter in letters}
        for report, other in (
            (bound.params(), free.params()),
            (bound.flops(B=2, T=64), free.flops(B=2, T=64)),
            (bound.crossover(), free.crossover()),
        ):
            for name, entry in other.numbers.items():
                found = sympy.sympify(entry.value)
                if entry.value is None or not isinstance(entry.value, sympy.Basic):
                    continue
                exact = found.subs({symbol: values[str(symbol)] for symbol in found.free_symbols})
                expected = report.numbers[name].value
                assert exact == sympy.Rational(expected.numerator, expected.denominator), (preset, name)


def test_numbers_that_no_free_letter_moves_stay_numbers() -> None:
    report = blockcalc.load("gpt2-small", free=("V",)).crossover()
    assert (report.totals.T, type(report.totals.T)) == (4_608, int)
    assert formula_text(report.totals.T_with_head) == "V/24 + 4,608"
    assert blockcalc.load("llama-2-7b", free=("V",)).crossover().totals.T_over_d == Fraction(193, 32)


def test_free_run_sizes() -> None:
    model = blockcalc.load("gpt2-small", free=("T",))
    assert formula_text(model.flops(T=8).totals.attention) == "36,864·T²"
    assert formula_text(model.flops(T=8, attention="causal").totals.attention) == "18,432·T² + 18,432·T"


@pytest.mark.parametrize(
    ("preset", "letters", "told"),
    [
        (
            "llama-7b",
            ("d",),
            "f = 256·⌈⌊8d/3⌋/256⌉ follows from d, and that is no polynomial: free f too (--free d,f) or bind d",
        ),
        ("gpt2-small", ("W",), "no letter 'W' to free in this model; there are "),
        ("gpt2-small", ("x",), "no letter 'x' to free in this model; there are "),
        ("gemma-2-9b", ("L",), "L is the sum of its block kinds: free L_local or L_global"),
    ],
)
def test_letters_that_cannot_be_free(preset: str, letters: tuple[str, ...], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        blockcalc.load(preset, free=letters).params()
    assert str(caught.value).startswith(told)


def test_a_rounded_width_may_be_free_itself() -> None:
    model = blockcalc.load("llama-7b", free=("d", "f"))
    assert formula_text(model.params().totals.matmul) == "128·d² + 96·d·f + 32,000·d"


def test_windows_make_no_polynomial() -> None:
    model = blockcalc.load("mistral-7b", free=("T",))
    with pytest.raises(UsageError, match="follows from T, and that is no polynomial"):
        model.flops(T=8, attention="causal")
    assert formula_text(model.flops(T=8).totals.attention) == "524,288·T²"


# One structure is derived once


def groups(model: Model) -> object:
    return derive(model.architecture).groups


def test_sizes_do_not_make_a_structure() -> None:
    small, extra_large = blockcalc.load("gpt2-small"), blockcalc.load("gpt2-xl")
    assert groups(small) is groups(extra_large)
    assert groups(blockcalc.load("llama-7b")) is groups(blockcalc.load("llama-65b"))
    assert groups(small) is groups(small.replace(L=24, d=1024, h=16))


def test_choices_do() -> None:
    mha = blockcalc.load(stack(64, 1, attention={"heads": 4, "kv_heads": 4}))
    gqa = blockcalc.load(stack(64, 1, attention={"heads": 4, "kv_heads": 2}))
    assert groups(mha) is not groups(gqa)
    paths = [[row.path for row in model.shapes(T=2).rows] for model in (mha, gqa)]
    assert "block.attention.keys_repeated" not in paths[0]
    assert "block.attention.keys_repeated" in paths[1]
    for choice in ({"tied_head": False}, {"head_bias": True}, {"out_bias": False}, {"gated": True}):
        assert groups(blockcalc.load("gpt2-small")) is not groups(blockcalc.load("gpt2-small", **choice))


def test_blocks_that_differ_in_a_size_have_letters_of_their_own() -> None:
    wide = blockcalc.load("gemma-2-9b", f_global=1024)
    assert groups(wide) is not groups(blockcalc.load("gemma-2-9b"))
    assert {"f_local", "f_global"} <= set(wide.sizes)
    assert "f" not in wide.sizes


def test_the_cache_is_small() -> None:
    assert deriving._groups.cache_info().maxsize == 256


# Runs that a model can't make


def test_beyond_learned_positions() -> None:
    model = blockcalc.load("gpt2-small")
    for run in ({"T": 1025}, {"T": 1, "S": 1025}):
        for view in (model.flops, model.shapes):
            with pytest.raises(ConfigError) as caught:
                view(**run)
            letter = "S" if "S" in run else "T"
            assert caught.value.exit_code == 3
            assert str(caught.value) == (
                f"{letter} = 1025: gpt2-small has a table of 1,024 learned positions; at most {letter} = 1024"
            )
    assert model.flops(T=1024).warnings == ()


def test_beyond_a_rotary_context() -> None:
    model = blockcalc.load("llama-2-7b")
    assert model.flops(T=4096).warnings == ()
    assert model.flops(T=4097).warnings == ("T = 4,097 is beyond the context of 4,096 that llama-2-7b states",)
    assert model.shapes(T=1, S=5000).warnings == ("S = 5,000 is beyond the context of 4,096 that llama-2-7b states",)


def test_the_default_length_is_the_models_own() -> None:
    assert blockcalc.load("gpt2-small").flops().totals.forward == 284_812_800 * 1024
    report = blockcalc.load("llama-2-7b").shapes()
    assert list(report.rows[0].shape) == [1, 4096, 4096]


def test_many_block_kinds_take_no_minutes() -> None:
    """28 kinds, each with sizes of its own, as OpenELM has them: a full cancelling of 100 letters would never end."""
    kinds = {
        f"b{place}": {
            "norm": {"kind": "rmsnorm"},
            "attention": {"heads": 2 + 2 * place, "kv_heads": 1, "head_width": 16 + 2 * place, "window": 100 + place},
            "feedforward": {"kind": "mlp", "width": 100 + 7 * place, "gated": True, "activation": "silu"},
        }
        for place in range(28)
    }
    words = {"name": "m", "width": 512, "layers": 28, "blocks": kinds, "pattern": {"cycle": list(kinds)}}
    report = blockcalc.load(words).crossover()
    values = {size.letter: size.value for size in report.sizes}
    formula = report.formulas.T
    exact = formula.xreplace({symbol: values[str(symbol)] for symbol in formula.free_symbols})
    assert exact == report.totals.T
