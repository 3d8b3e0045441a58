"""A derivation is a list of stages: frozen data written in letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from blockcalc.engine.contraction import Axes, Contraction, Cost, Product
from blockcalc.engine.elementwise import operations

FLOPS_PER_MULTIPLY_ADD = 2
"""A multiply and an add."""

Role = Literal["matrix", "table", "gain", "bias"]


@dataclass(frozen=True, slots=True)
class Weight:
    """One stored tensor. `shape` is as stored, in letters.

    `tied_to` names the weight whose storage this one shares: shown, counted once. `routed` is the
    letter k of the experts that a token meets, when the first axis is all of them.
    """

    name: str
    shape: Axes
    role: Role
    tied_to: str = ""
    routed: str = ""
    stored_as: str = ""
    """The framework's own name, with `*` for the layer."""

    @property
    def count(self) -> Product:
        """How many numbers the tensor holds, whoever owns them."""
        return Product(1, self.shape)

    @property
    def active(self) -> Product:
        """How many of them one token meets: k of the E experts'."""
        if not self.routed:
            return self.count
        return Product(1, (self.routed, *self.shape[1:]))


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the forward pass: what it reads, the shape it writes, the weights it owns.

    `pointwise` names the elementwise functions that it applies to its output, or to the axes `over`.
    `cached` says that its output stays for decoding.
    """

    path: str
    kind: Literal["contraction", "pointwise", "lookup", "view"]
    reads: tuple[str, ...]
    out: Axes
    contraction: Contraction | None = None
    pointwise: tuple[str, ...] = ()
    over: Axes = ()
    weights: tuple[Weight, ...] = ()
    cached: bool = False

    @property
    def flops(self) -> Cost:
        """Matrix FLOPs: two (a multiply and an add) for each combination of the contraction's axes."""
        return () if self.contraction is None else (self.contraction.multiply_adds.times(FLOPS_PER_MULTIPLY_ADD),)

    @property
    def elementwise(self) -> tuple[tuple[str, Product], ...]:
        """Function -> scalar operations that it takes over this stage's elements."""
        biases = tuple("bias" for weight in self.weights if weight.role == "bias" and self.kind == "contraction")
        elements = self.over or self.out
        made = [(name, Product(operations(name), elements)) for name in self.pointwise]
        return (*made, *((name, Product(operations(name), self.out)) for name in biases))

    @property
    def matrix(self) -> Weight | None:
        """The weight matrix that this stage multiplies by, if any."""
        return next((weight for weight in self.weights if weight.role == "matrix"), None)

    @property
    def params(self) -> Cost:
        """Numbers that this stage owns: tied weights belong to their owner."""
        return tuple(weight.count for weight in self.weights if not weight.tied_to)

    @property
    def active(self) -> Cost:
        """Numbers of this stage's own that one token meets."""
        return tuple(weight.active for weight in self.weights if not weight.tied_to)

    @property
    def state_dict(self) -> Cost:
        """Numbers that a file holds which writes tied weights twice."""
        return tuple(weight.count for weight in self.weights)


@dataclass(frozen=True, slots=True)
class Group:
    """Stages that run once (`count` is ""), or once in each of `count` like blocks (L, L_local)."""

    name: str
    count: str
    stages: tuple[Stage, ...]

    @property
    def is_block(self) -> bool:
        """Whether this is a block kind and not the embedding or the head."""
        return bool(self.count)
