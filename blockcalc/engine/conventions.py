"""What counts as a FLOP: the named conventions, each made of the same stages and said in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from blockcalc.engine import tally
from blockcalc.engine.derive import Derivation
from blockcalc.engine.quantity import NOTHING, Quantity
from blockcalc.engine.run import AttentionMode
from blockcalc.engine.stage import FLOPS_PER_MULTIPLY_ADD
from blockcalc.errors import chosen

BACKWARD_PER_FORWARD = 2
"""A backward pass takes the gradient of both factors of each product: twice the forward FLOPs."""

ATTENTION: Mapping[str, str] = {
    "full": "all T·S query-key pairs, as an eager run executes them, windows included",
    "causal": "the pairs that the causal mask and the window leave: T(T + 1)/2 without a window",
    "half": "half the square, T²/2 without a window, as MFU formulas write it",
}
"""Name of an attention convention -> which query-key pairs it counts."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A forward pass as one convention counts it."""

    linear: Quantity = NOTHING
    attention: Quantity = NOTHING
    head: Quantity = NOTHING
    other: Quantity = NOTHING


@dataclass(frozen=True, slots=True)
class Convention:
    """A named way to count.

    `attention` fixes the query-key pairs, None leaves them to the caller. `by_stage` says that it counts
    stage by stage, the matrix products over `over`, so that each can stand in a row of its own.
    """

    name: str
    definition: str
    count: Callable[[Derivation], Counted]
    attention: AttentionMode | None = None
    by_stage: bool = False
    over: int = 1
    unit: str = "FLOPs"


def _exact(derivation: Derivation) -> Counted:
    return Counted(tally.linear(derivation), tally.attention(derivation), tally.head(derivation))


def _macs(derivation: Derivation) -> Counted:
    exact, over = _exact(derivation), FLOPS_PER_MULTIPLY_ADD
    return Counted(exact.linear.divided(over), exact.attention.divided(over), exact.head.divided(over))


def _two_n(derivation: Derivation) -> Counted:
    numbers = tally.active(derivation) + tally.learned_positions(derivation).times(-1)
    return Counted(numbers.times(2, "B", "T"), tally.attention(derivation))


def _torchtitan(derivation: Derivation) -> Counted:
    numbers = tally.active(derivation) + tally.untied_lookup(derivation).times(-1)
    return Counted(numbers.times(2, "B", "T"), tally.attention(derivation))


def _kaplan(derivation: Derivation) -> Counted:
    return Counted(tally.linear(derivation), tally.attention(derivation))


def _chinchilla(derivation: Derivation) -> Counted:
    exact = _exact(derivation)
    other = tally.lookup_as_matmul(derivation) + tally.softmax_numbers(derivation).times(3)
    return Counted(exact.linear, exact.attention, exact.head, other)


def _fused_cpu(derivation: Derivation) -> Counted:
    return Counted(tally.linear(derivation), NOTHING, tally.head(derivation))


_TWO_N = "2N + 4·L·h·d_h·T a token, N = all active parameters but learned positions (biases and norms included)"
_ALL = (
    Convention("exact", "two FLOPs for each multiply-add of each matrix product, head included", _exact, by_stage=True),
    Convention("nanogpt", f"{_TWO_N}; nanoGPT's estimate_mfu", _two_n, "full"),
    Convention("palm", f"{_TWO_N}; PaLM (2204.02311), appendix B", _two_n, "full"),
    Convention(
        "torchtitan",
        "2N + 4·L·h·d_h·T a token, N = all active parameters, less the token table unless it is tied; torchtitan",
        _torchtitan,
    ),
    Convention("megatron", "as exact, with half the causal square; Megatron-LM's training log", _exact, "half"),
    Convention(
        "kaplan",
        "2N + 2·L·h·d_h·T a token, N = the blocks' matrices (12·L·d² in GPT-2), head left out; 2001.08361, table 1",
        _kaplan,
        "half",
    ),
    Convention(
        "chinchilla",
        "as exact, plus the token lookup as a V×d product and 3 for each softmax number; 2203.15556, appendix F",
        _chinchilla,
        "full",
    ),
    Convention(
        "macs",
        "multiply-adds: half of exact; fvcore, ptflops, thop",
        _macs,
        by_stage=True,
        over=FLOPS_PER_MULTIPLY_ADD,
        unit="Multiply-adds",
    ),
    Convention(
        "fused-cpu",
        "as exact, with no attention: what torch's FlopCounterMode sees when attention runs fused on a CPU",
        _fused_cpu,
        "full",
    ),
)
CONVENTIONS: Mapping[str, Convention] = {convention.name: convention for convention in _ALL}
"""Name -> convention."""


def convention(name: str) -> Convention:
    """The convention of that name.

    Raises UsageError naming the nearest.
    """
    return CONVENTIONS[chosen(name, CONVENTIONS, "convention")]


@dataclass(frozen=True, slots=True)
class RuleN:
    """Which N a rule of thumb means."""

    name: str
    definition: str
    count: Callable[[Derivation], Quantity]


def _no_positions(derivation: Derivation) -> Quantity:
    return tally.stored(derivation) + tally.learned_positions(derivation).times(-1)


_RULES = (
    RuleN("matmul", "numbers in matrices that multiply, head once, lookup tables not", tally.matmul),
    RuleN("total", "all stored parameters", tally.stored),
    RuleN("active", "those that one token meets", tally.active),
    RuleN("non_embedding", "without token and position tables and an untied head", tally.non_embedding),
    RuleN("no_positions", "all but learned positions", _no_positions),
)
RULES: Mapping[str, RuleN] = {rule.name: rule for rule in _RULES}
"""Which N in 2N and 6N, by name. The first is the default."""


def rule_n(name: str) -> RuleN:
    """The N of that name.

    Raises UsageError naming the nearest.
    """
    return RULES[chosen(name, RULES, "N")]
