"""What a forward pass did: the shape of every stage, and the multiply-adds of every matrix product."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """Notes taken while arrays are computed. Nothing in it is worked out from a configuration.

    `shapes` maps a stage's path to the shape it wrote, in execution order; `multiply_adds` maps it to
    the multiplications (each with its addition) of the matrices that it multiplied.
    """

    shapes: dict[str, Shape] = field(default_factory=dict)
    multiply_adds: dict[str, int] = field(default_factory=dict)
    prefix: str = ""

    def inside(self, name: str) -> Trace:
        """The same notes, for stages whose paths begin with `name.`."""
        return replace(self, prefix=f"{self.prefix}{name}.")

    def note(self, stage: str, array: Array) -> Array:
        """Note the shape that a stage wrote, and hand the array on.

        Every layer of one kind writes the same path, so all of them must write the same shape.
        """
        path = self.prefix + stage
        first = self.shapes.setdefault(path, array.shape)
        assert first == array.shape, f"{path} was {first} in an earlier layer and is {array.shape} now"
        return array

    def matmul(self, stage: str, left: Array, right: Array) -> Array:
        """Multiply left [..., m, k] by right [..., k, n]: [..., m, n]. Every matrix product of the pass is made here.

        Each of the product's numbers took k multiplications, k read from the array that was multiplied.
        """
        product: Array = left @ right
        path = self.prefix + stage
        self.multiply_adds[path] = self.multiply_adds.get(path, 0) + product.size * left.shape[-1]
        return product
