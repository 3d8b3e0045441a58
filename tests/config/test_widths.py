"""Width rules, in whole numbers from end to end."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockcalc.config.parts import Attention, Mlp
from blockcalc.config.resolve import feedforward_width, head_width
from blockcalc.config.widths import RoundedNearest, RoundedUp, Times, whole_part
from blockcalc.errors import ConfigError


@pytest.mark.parametrize(
    ("d", "multiple", "multiplier", "f"),
    [
        (4096, 256, None, 11_008),  # Llama 7B
        (5120, 256, None, 13_824),  # 13B
        (6656, 256, None, 17_920),  # 33B
        (8192, 256, None, 22_016),  # 65B
        (8192, 4096, 1.3, 28_672),  # Llama 2 and 3 70B
        (4096, 1024, 1.3, 14_336),  # Llama 3 8B
        (16384, 4096, 1.2, 53_248),  # Llama 3.1 405B
        (2048, 256, 1.5, 8_192),  # Llama 3.2 1B
        (3072, 256, 1.0, 8_192),  # Llama 3.2 3B
        (512, 32, None, 1_376),  # llama2.c
        (8, 1, None, 21),
    ],
)
def test_rounded_up_as_llama_does(d: int, multiple: int, multiplier: float | None, f: int) -> None:
    assert RoundedUp(multiple=multiple, multiplier=multiplier).width(d) == f


@pytest.mark.parametrize(("d", "f"), [(5120, 13_568), (6656, 17_664), (8192, 21_760), (4096, 11_008)])
def test_rounded_to_the_nearest_is_another_rule(d: int, f: int) -> None:
    assert RoundedNearest(multiple=256).width(d) == f


def test_times() -> None:
    assert Times(times=4).width(768) == 3072
    assert Times().definition() == "4·d"


def test_definitions_are_told_in_letters() -> None:
    assert RoundedUp(multiple=256).definition() == "256·⌈⌊8d/3⌋/256⌉"
    assert RoundedUp(multiple=4096, multiplier=1.3).definition() == "4096·⌈⌊1.3·⌊8d/3⌋⌋/4096⌉"
    assert RoundedUp(multiple=1).definition() == "⌊8d/3⌋"
    assert RoundedNearest(multiple=256).definition() == "256·round(8d/768)"


big = st.integers(1, 10**30)
multiples = st.integers(1, 10**6)


@given(d=big, multiple=multiples)
def test_rounded_up_is_the_smallest_multiple_that_holds_it(d: int, multiple: int) -> None:
    f = RoundedUp(multiple=multiple).width(d)
    assert f % multiple == 0
    assert f - multiple < 8 * d // 3 <= f


@given(d=big, multiple=multiples)
def test_rounded_nearest_is_at_most_half_a_multiple_away(d: int, multiple: int) -> None:
    f = RoundedNearest(multiple=multiple).width(d)
    distance = Fraction(8 * d, 3) - f
    assert f % multiple == 0
    assert Fraction(-multiple, 2) <= distance < Fraction(multiple, 2) or distance == Fraction(-multiple, 2)


@given(size=big, tenths=st.integers(1, 10**6))
def test_decimal_factors_are_the_decimals_they_are_written_as(size: int, tenths: int) -> None:
    factor = float(f"{tenths // 10}.{tenths % 10}")
    assert whole_part(factor, size) == tenths * size // 10


@given(factor=st.floats(min_value=1e-300, max_value=1e30), size=big)
def test_whole_part_is_exact(factor: float, size: int) -> None:
    assert whole_part(factor, size) == int(Fraction(repr(factor)) * size)


def test_a_float_would_have_been_wrong() -> None:
    """8d/3 in floating point misses by whole multiples for wide d; 1.1 · 30 is 33 and not 33.000000000000004."""
    d = 3 * 2**60
    assert RoundedUp(multiple=1).width(d) == 2**63
    assert whole_part(1.1, 30) == 33
    assert whole_part(0.1, 10**18 + 10) == 10**17 + 1


def test_a_rule_that_leaves_nothing() -> None:
    with pytest.raises(ConfigError) as caught:
        feedforward_width(8, Mlp(width=RoundedNearest(multiple=256)))
    assert str(caught.value) == 'width = "256·round(8d/768)": the rule gives 0 for d = 8; a width is at least 1'


@pytest.mark.parametrize(
    ("d", "heads", "given_width", "d_h"),
    [(768, 12, None, 64), (5120, 32, 128, 128), (3072, 34, 120, 120), (5120, 40, None, 128)],
)
def test_head_width(d: int, heads: int, given_width: int | None, d_h: int) -> None:
    assert head_width(d, Attention(heads=heads, head_width=given_width)) == d_h


def test_heads_that_do_not_divide_the_width() -> None:
    with pytest.raises(ConfigError) as caught:
        head_width(128, Attention(heads=12))
    assert str(caught.value) == (
        "heads = 12: must divide the model width 128 when no head_width is given; heads = 8 or 16, or give head_width"
    )
