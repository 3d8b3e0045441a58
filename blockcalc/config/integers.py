"""Whole numbers as people write sizes: `8k`, `8Ki`, `2^20`, `300e9`, `8_192`; exact, or refused."""

from __future__ import annotations

import re

from blockcalc.config.limits import LARGEST
from blockcalc.errors import UsageError, shown

EXAMPLES = "write it as 8192, 8_192, 8k (8,000), 8Ki (8,192), 2^13 or 1e6"
"""What would do, for messages."""

SUFFIXES = {
    "": 1,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "B": 10**9,
    "T": 10**12,
    "P": 10**15,
    "E": 10**18,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
}
"""Suffix -> its factor: powers of 1000, and powers of 1024 with an i. B is the billion of model names."""

_DIGITS = "[0-9]+(?:_[0-9]+)*"
_POWER = re.compile(rf"({_DIGITS})\^({_DIGITS})")
_NUMBER = re.compile(rf"({_DIGITS})(?:\.({_DIGITS}))?(?:e\+?({_DIGITS})|([kMGBTPE]|[KMGT]i))?")
_LONGEST_TEXT = 60
# The smallest base that grows passes LARGEST below this power, and so does any mantissa that fits the text.
_TOP_POWER = 130


def parse_integer(text: str | int, key: str = "") -> int:
    """The whole number from 1 to 10^36 that `text` stands for.

    Digits, with `_` between them; a decimal with a suffix of `SUFFIXES` or an exponent (`2.5k`, `1.5e3`),
    where that is whole; a power (`2^20`). `key` is the option or the name that messages speak of.
    Raises UsageError for anything else. Nothing is computed that could be large.
    """
    if isinstance(text, str):
        value = _value(text.strip(), key)
    elif type(text) is int:
        value = text
    else:
        raise _refusal(text, key, f"is no whole number; {EXAMPLES}")
    if not 1 <= value <= LARGEST:
        raise _refusal(text, key, "a size is a whole number from 1 to 10^36")
    return value


def _value(text: str, key: str) -> int:
    if not text:
        raise _refusal(text, key, f"is empty; {EXAMPLES}")
    if len(text) > _LONGEST_TEXT:
        raise _refusal(text, key, "is too long; a size is a whole number from 1 to 10^36")
    if power := _POWER.fullmatch(text):
        return int(int(power[1]) ** min(int(power[2]), _TOP_POWER))
    number = _NUMBER.fullmatch(text)
    if number is None:
        raise _refusal(text, key, _why(text))
    return _scaled(text, key, *number.groups(default=""))


def _scaled(text: str, key: str, whole: str, part: str, exponent: str, suffix: str) -> int:
    """whole.part · 10^exponent · suffix, where it is whole."""
    decimals = part.replace("_", "").rstrip("0")
    mantissa = int(whole.replace("_", "") + decimals)
    scale: int = 10 ** min(int(exponent or 0), _TOP_POWER) * SUFFIXES[suffix]
    value, rest = divmod(mantissa * scale, int(10 ** len(decimals)))
    if rest:
        raise _refusal(text, key, f"is no whole number; {EXAMPLES}")
    return value


def _why(text: str) -> str:
    """The rule that a text breaks, for the slips that are easily made."""
    if text[0] in "-−" and text[1:].isdigit():
        return "a size is a whole number from 1 to 10^36"
    if re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", text):
        return f"no commas inside a number; write {text.replace(',', '_')} or {text.replace(',', '')}"
    if "**" in text:
        return f"powers are written with ^; {EXAMPLES}"
    if re.fullmatch(r"[0-9.]+K", text):
        return f"K is ambiguous; write {text[:-1]}k (powers of 1000) or {text[:-1]}Ki (powers of 1024)"
    return f"is no whole number; {EXAMPLES}"


def _refusal(text: object, key: str, problem: str) -> UsageError:
    return UsageError(f"{key} = {shown(text)}: {problem}" if key else f"{shown(text)}: {problem}")
