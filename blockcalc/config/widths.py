"""Width rules, in whole-number arithmetic from end to end.

A float between the integers rounds some widths up to the wrong multiple, so decimal factors are read
as the exact decimals that they are written as.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from blockcalc.config.limits import LARGEST
from blockcalc.errors import ConfigError


def whole_part(factor: float, size: int) -> int:
    """⌊factor · size⌋ with the factor taken as the decimal that it prints as (1.3 is 13/10)."""
    # Read from its digits: fractions would take longer to import than the rest of a count takes to run.
    digits, _, exponent = repr(float(factor)).partition("e")
    whole, _, part = digits.partition(".")
    places = len(part) - int(exponent or 0)
    product = int(whole + part) * size
    scale = int(10 ** abs(places))
    return product // scale if places > 0 else product * scale


@dataclass(frozen=True, slots=True)
class Times:
    """f = times · d, the GPT-2 rule."""

    rule: Literal["times"] = "times"
    times: int = 4

    def __post_init__(self) -> None:
        _positive("times", self.times)

    def width(self, d: int) -> int:
        """The feed-forward width for model width d."""
        return self.times * d

    def definition(self) -> str:
        """The rule in letters."""
        return f"{self.times}·d"


@dataclass(frozen=True, slots=True)
class RoundedUp:
    """⌊8d/3⌋, scaled by a multiplier, rounded up to a multiple: the rule in Llama's own code (model.py)."""

    rule: Literal["rounded_up"] = "rounded_up"
    multiple: int = 256
    multiplier: float | None = None

    def __post_init__(self) -> None:
        _positive("multiple", self.multiple)
        if self.multiplier is not None and not 0 < self.multiplier < float("inf"):
            raise ConfigError("is a number above 0", key="multiplier", value=self.multiplier)

    def width(self, d: int) -> int:
        """The feed-forward width for model width d."""
        width = 8 * d // 3
        if self.multiplier is not None:
            width = whole_part(self.multiplier, width)
        return self.multiple * -(-width // self.multiple)

    def definition(self) -> str:
        """The rule in letters."""
        inner = "⌊8d/3⌋" if self.multiplier is None else f"⌊{self.multiplier}·⌊8d/3⌋⌋"
        return inner if self.multiple == 1 else f"{self.multiple}·⌈{inner}/{self.multiple}⌉"


@dataclass(frozen=True, slots=True)
class RoundedNearest:
    """8d/3 rounded to the nearest multiple (halves upward): another rule than Llama's, with other results."""

    rule: Literal["rounded_nearest"] = "rounded_nearest"
    multiple: int = 256

    def __post_init__(self) -> None:
        _positive("multiple", self.multiple)

    def width(self, d: int) -> int:
        """The feed-forward width for model width d."""
        return self.multiple * ((16 * d + 3 * self.multiple) // (6 * self.multiple))

    def definition(self) -> str:
        """The rule in letters."""
        return f"{self.multiple}·round(8d/{3 * self.multiple})"


def _positive(key: str, value: int) -> None:
    if not 1 <= value <= LARGEST:
        raise ConfigError("is a whole number from 1 to 10^36", key=key, value=value)
