"""Sizes as people write them: exact, or refused in one line and at once."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockcalc.config.integers import SUFFIXES, parse_integer
from blockcalc.config.limits import LARGEST
from blockcalc.errors import UsageError

READ = {
    "1": 1,
    "8192": 8192,
    "8_192": 8192,
    " 007 ": 7,
    "8k": 8000,
    "8Ki": 8192,
    "2.5k": 2500,
    "1.5Ki": 1536,
    "1.50Mi": 1_572_864,
    "7B": 7_000_000_000,
    "1.5G": 1_500_000_000,
    "2T": 2 * 10**12,
    "3P": 3 * 10**15,
    "4E": 4 * 10**18,
    "5Ti": 5 * 2**40,
    "2^20": 1_048_576,
    "1^999999999999": 1,
    "1e6": 1_000_000,
    "1e+6": 1_000_000,
    "300e9": 300_000_000_000,
    "1.5e3": 1500,
    "0.5e1": 5,
    "1e36": LARGEST,
    "10^36": LARGEST,
}

REFUSED = {
    "": "empty",
    "abc": "no whole number",
    "8.5": "no whole number",
    "1.0005k": "no whole number",
    "1.1Ki": "no whole number",
    "1.55e1": "no whole number",
    "1e-3": "no whole number",
    "0": "from 1 to 10^36",
    "0e9": "from 1 to 10^36",
    "0^5": "from 1 to 10^36",
    "-5": "from 1 to 10^36",
    "1e37": "from 1 to 10^36",
    "1e999999999": "from 1 to 10^36",
    "9^9^9": "no whole number",
    "9^999999999": "from 1 to 10^36",
    "9" * 10_000: "too long",
    "2**20": "written with ^",
    "8,192": "write 8_192 or 8192",
    "8K": "8Ki",
    "nan": "no whole number",
    "inf": "no whole number",
    "True": "no whole number",
    "٣": "no whole number",
    "８": "no whole number",
    "1__0": "no whole number",
    "_1": "no whole number",
    "0x10": "no whole number",
    "8 k": "no whole number",
    "8ki": "no whole number",
    "1\n2": "no whole number",
}


@pytest.mark.parametrize(("text", "value"), READ.items())
def test_reads(text: str, value: int) -> None:
    assert parse_integer(text) == value


@pytest.mark.parametrize(("text", "reason"), REFUSED.items(), ids=lambda text: text[:12])
def test_refuses(text: str, reason: str) -> None:
    start = time.perf_counter()
    with pytest.raises(UsageError) as caught:
        parse_integer(text, "--T")
    message = str(caught.value)
    assert reason in message
    assert message.startswith("--T = ")
    assert "\n" not in message
    assert len(message) < 200
    assert time.perf_counter() - start < 0.1


@pytest.mark.parametrize("value", [True, None, 2.0, [1]])
def test_refuses_what_is_neither_text_nor_whole(value: object) -> None:
    with pytest.raises(UsageError, match="no whole number"):
        parse_integer(value)  # type: ignore[arg-type]


@given(st.integers(1, LARGEST))
def test_plain_digits_are_themselves(value: int) -> None:
    assert parse_integer(str(value)) == parse_integer(f"{value:_}") == parse_integer(value) == value


@given(st.integers(1, 999), st.integers(0, 999), st.sampled_from(sorted(set(SUFFIXES) - {""})))
def test_a_suffix_multiplies_exactly(whole: int, thousandths: int, suffix: str) -> None:
    exact, rest = divmod((1000 * whole + thousandths) * SUFFIXES[suffix], 1000)
    text = f"{whole}.{thousandths:03d}{suffix}"
    if rest:
        with pytest.raises(UsageError):
            parse_integer(text)
    else:
        assert parse_integer(text) == exact


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert 1 <= parse_integer(text) <= LARGEST
