"""Contractions: what a matrix product reads and writes, and what it therefore costs."""

from __future__ import annotations

from dataclasses import dataclass

Axes = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """A whole number times letters: `2·B·T·d·f`. Every cost is a sum of these."""

    coefficient: int
    letters: Axes

    def times(self, factor: int = 1, *letters: str) -> Product:
        """This product, multiplied further."""
        return Product(self.coefficient * factor, self.letters + letters)

    def without(self, *letters: str) -> Product:
        """This product with one occurrence of each letter divided out.

        Raises ValueError when a letter is not a factor.
        """
        left = list(self.letters)
        for letter in letters:
            left.remove(letter)
        return Product(self.coefficient, tuple(left))


Cost = tuple[Product, ...]
"""A sum of products."""


@dataclass(frozen=True, slots=True)
class Contraction:
    """A product of two tensors, written by its axes: `B T d, f d -> B T f`.

    An axis that is missing on the right is summed over; one that stands on both sides and in the
    output runs along. The cost is a multiply and an add for each combination of all axes. `pairs`
    is the letter that counts query-key pairs where a mask leaves fewer than T·S of them.
    """

    left: Axes
    right: Axes
    out: Axes
    pairs: str = ""

    @property
    def axes(self) -> Axes:
        """All axes, each once, in order of appearance."""
        return tuple(dict.fromkeys(self.left + self.right))

    @property
    def multiply_adds(self) -> Product:
        """One for each combination of all axes; T and S together are the pairs, where those are counted."""
        every = Product(1, self.axes)
        return every.without("T", "S").times(1, self.pairs) if self.pairs else every

    @property
    def spec(self) -> str:
        """The contraction in index notation."""
        return f"{' '.join(self.left)}, {' '.join(self.right)} -> {' '.join(self.out)}"


def contract(spec: str, pairs: str = "") -> Contraction:
    """A contraction from its spec.

    Raises ValueError when an output axis comes from nowhere, or an axis on one side alone vanishes.
    """
    inputs, _, out = spec.partition("->")
    left, _, right = inputs.partition(",")
    made = Contraction(tuple(left.split()), tuple(right.split()), tuple(out.split()), pairs)
    unknown = set(made.out) - set(made.axes)
    lost = (set(made.left) ^ set(made.right)) - set(made.out)
    if unknown or lost:
        raise ValueError(f"not a contraction: {spec}")
    return made
