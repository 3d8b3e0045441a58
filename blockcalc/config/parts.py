"""The parts of a decoder's grammar: norms, positions, attention, feed-forward, block.

Frozen, plain data. Every whole number in it is a size; every other field is a choice or a detail of
the arithmetic (an epsilon, a rotary base) that changes no count. Impossible combinations are refused
by the part that would hold them, whichever way it is made.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from blockcalc.config.activations import ACTIVATIONS
from blockcalc.config.limits import LARGEST
from blockcalc.config.tagged import Tagged
from blockcalc.config.widths import RoundedNearest, RoundedUp, Times, whole_part
from blockcalc.errors import ConfigError, did_you_mean, one_of

NormKind = Literal["layernorm", "rmsnorm"]
Placement = Literal["pre", "post", "both"]
Parallel = Literal["no", "one_norm", "two_norms"]
Storage = Literal["separate", "fused"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the grammar: its whole numbers are sizes, from 1 to 10^36."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is int and not 1 <= value <= LARGEST:
                raise ConfigError("a size is a whole number from 1 to 10^36", key=field.name, value=value)
        self._check()

    def _check(self) -> None:
        """Refuse what this part alone can't be."""


@dataclass(frozen=True, slots=True)
class Norm(Part):
    """Normalisation over the last axis: LayerNorm (1607.06450) or RMSNorm (1910.07467).

    `unit_offset` says that the stored gain w is applied as 1 + w (Gemma).
    """

    kind: NormKind = "layernorm"
    bias: bool = False
    epsilon: float = 1e-5
    unit_offset: bool = False


@dataclass(frozen=True, slots=True)
class RotaryScaling(Part):
    """How rotary frequencies are stretched beyond the trained context. Changes no count.

    `kind` as the frameworks name it: linear, llama3, dynamic, yarn, longrope.
    """

    kind: str
    factor: float = 1.0
    low_frequency_factor: float = 1.0
    high_frequency_factor: float = 4.0
    original_context: int | None = None


@dataclass(frozen=True, slots=True)
class Rotary(Part):
    """Rotary position embedding (2104.09864) of the first `fraction` of each head.

    `interleaved` pairs neighbours (x0, x1) as GPT-J does, otherwise halves as GPT-NeoX and Llama do.
    """

    kind: Literal["rotary"] = "rotary"
    theta: float = 10_000.0
    fraction: float = 1.0
    interleaved: bool = False
    scaling: RotaryScaling | None = None

    def _check(self) -> None:
        if not 0 < self.fraction <= 1:
            raise ConfigError("lies above 0 and at most at 1", key="fraction", value=self.fraction)
        if not self.theta > 0:
            raise ConfigError("is a number above 0", key="theta", value=self.theta)

    def width(self, head_width: int) -> int:
        """How many of a head's `head_width` numbers are rotated (an even number)."""
        return whole_part(self.fraction, head_width)


@dataclass(frozen=True, slots=True)
class Alibi(Part):
    """A bias on the scores that grows with distance, without parameters (2108.12409)."""

    kind: Literal["alibi"] = "alibi"


@dataclass(frozen=True, slots=True)
class Attention(Part):
    """Multi-head attention (1706.03762), grouped (2305.13245) when `kv_heads` is smaller than `heads`.

    `kv_heads` None means as many as query heads, `head_width` None means width / heads, `scale` None
    means 1/√d_h. `qk_norm` normalises queries and keys, over each head or over all heads at once.
    A `window` of W lets a position see itself and the W - 1 before it.
    """

    heads: int
    kv_heads: int | None = None
    head_width: int | None = None
    q_bias: bool = False
    k_bias: bool = False
    v_bias: bool = False
    out_bias: bool = False
    projections: Storage = "separate"
    qk_norm: Norm | None = None
    qk_norm_over: Literal["head", "width"] = "head"
    positions: Annotated[Rotary | Alibi, Tagged("kind")] | None = None
    window: int | None = None
    scale: float | None = None
    softcap: float | None = None

    def _check(self) -> None:
        if self.heads % self.kv_head_count:
            raise ConfigError(
                f"must divide the {self.heads} query heads",
                key="kv_heads",
                value=self.kv_heads,
                fix=f"{one_of(_divisors(self.heads))} would do",
            )
        if self.projections == "fused" and len({self.q_bias, self.k_bias, self.v_bias}) > 1:
            raise ConfigError(
                'one fused matrix has one bias: q_bias, k_bias and v_bias must agree, or projections be "separate"',
                key="projections",
                value=self.projections,
            )

    @property
    def kv_head_count(self) -> int:
        """Key/value heads h_kv."""
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def grouped(self) -> bool:
        """Whether several query heads share one key/value head (GQA, MQA)."""
        return self.kv_head_count != self.heads


@dataclass(frozen=True, slots=True)
class Mlp(Part):
    """The feed-forward part: two matrices, or three when `gated` (2002.05202).

    `storage` "fused" keeps gate and up in one matrix.
    """

    width: int | Annotated[Times | RoundedUp | RoundedNearest, Tagged("rule")]
    kind: Literal["mlp"] = "mlp"
    gated: bool = False
    activation: str = "gelu"
    bias: bool = False
    storage: Storage = "separate"

    def _check(self) -> None:
        _check_feedforward(self)


@dataclass(frozen=True, slots=True)
class Moe(Part):
    """A mixture of experts (1701.06538): a router sends each token to k of E experts of equal width.

    `shared_width` is the summed width of the experts that every token visits. `storage` "fused" keeps
    each expert's gate and up in one matrix. `normalised` rescales the k chosen weights to sum to one.
    """

    experts: int
    experts_per_token: int
    width: int | Annotated[Times | RoundedUp | RoundedNearest, Tagged("rule")]
    kind: Literal["moe"] = "moe"
    gated: bool = True
    activation: str = "silu"
    bias: bool = False
    router_bias: bool = False
    shared_width: int | None = None
    storage: Storage = "separate"
    normalised: bool = True

    def _check(self) -> None:
        if self.experts_per_token > self.experts:
            raise ConfigError(
                f"a token can't visit more experts than the {self.experts} there are",
                key="experts_per_token",
                value=self.experts_per_token,
                fix=f"at most {self.experts}",
            )
        _check_feedforward(self)


@dataclass(frozen=True, slots=True)
class Block(Part):
    """One residual block: attention and feed-forward, one after the other or side by side.

    `placement`: "pre" x + f(norm(x)); "post" norm(x + f(x)) (1706.03762, GPT-1); "both"
    x + norm(f(norm(x))) (Gemma 2). `parallel`: both parts read the same x, through one norm
    (GPT-J, PaLM) or each through its own (GPT-NeoX).
    """

    attention: Attention
    feedforward: Annotated[Mlp | Moe, Tagged("kind")]
    norm: Norm
    placement: Placement = "pre"
    parallel: Parallel = "no"

    def _check(self) -> None:
        if self.parallel != "no" and self.placement != "pre":
            raise ConfigError(
                "attention and feed-forward side by side read the norm of x",
                key="placement",
                value=self.placement,
                fix='placement = "pre", or parallel = "no"',
            )


def _check_feedforward(part: Mlp | Moe) -> None:
    if part.activation not in ACTIVATIONS:
        hint = did_you_mean(part.activation, ACTIVATIONS) or one_of(ACTIVATIONS)
        raise ConfigError("no such activation", key="activation", value=part.activation, fix=hint)
    if part.storage == "fused" and not part.gated:
        problem = "gate and up are fused only where there is a gate"
        raise ConfigError(problem, key="storage", value="fused", fix='"separate" would do')


def _divisors(number: int) -> list[str]:
    """Divisors to suggest: the largest few for a number small enough to try, else just 1."""
    if number > 10_000:
        return ["1", str(number)]
    found = [str(n) for n in range(1, number + 1) if number % n == 0]
    return found if len(found) <= 6 else [*found[:2], *found[-4:]]
