"""Letters filled in: one quantity in, its exact number or its formula out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from blockcalc.engine.evaluate import Exact
from blockcalc.engine.quantity import Quantity
from blockcalc.engine.sizes import Size
from blockcalc.errors import UsageError, one_of

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class Context:
    """The sizes that a view's letters stand for. Letters in `free` stay letters: numbers become polynomials."""

    sizes: Mapping[str, Size]
    free: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        for letter in sorted(self.free):
            self._check_free(letter)

    def _check_free(self, letter: str) -> None:
        letters = [size.letter for size in self.sizes.values() if not size.compound]
        own = [known for known in letters if known.startswith(f"{letter}_")]
        if letter == "L" and own:
            raise UsageError(f"L is the sum of its block kinds: free {one_of(own)}")
        if letter not in letters:
            hint = f"its blocks have {one_of(own)}" if own else f"there are {one_of(letters)}"
            raise UsageError(f"no letter {letter[:40]!r} to free in this model; {hint}")

    @cached_property
    def values(self) -> dict[str, Exact]:
        """Letter -> exact value."""
        return {letter: size.value for letter, size in self.sizes.items()}

    @cached_property
    def expressions(self) -> dict[str, sympy.Expr]:
        """Letter -> symbol, or definition where that is a sum of products."""
        from blockcalc.engine.algebra import expressions

        return expressions(self.sizes, keep=self.free)

    def formula(self, quantity: Quantity) -> sympy.Expr:
        """The quantity in letters."""
        from blockcalc.engine.algebra import closed_form

        counts = any(letter.startswith("L_") for letter in self.free)
        return closed_form(quantity, self.expressions, whole=not counts)

    def number(self, quantity: Quantity) -> Exact | sympy.Expr:
        """The exact value, or a polynomial in the free letters.

        Raises UsageError when a letter follows from a free one in a way that no polynomial says.
        """
        if not self.free:
            return quantity.value(self.values)
        from blockcalc.engine.algebra import bound
        from blockcalc.engine.symbols import plain

        formula = self.formula(quantity)
        names = {str(letter) for letter in formula.free_symbols}
        self._check_followers(names)
        return plain(bound(formula, {name: self.values[name] for name in names - self.free}))

    def shown(self) -> tuple[Size, ...]:
        """The sizes to list under an answer: not the free ones, and no value for what follows from those."""
        listed = [size for size in self.sizes.values() if not size.compound and size.letter not in self.free]
        moved = {size.letter for size in listed if self.free & self._ancestors(size.letter)}
        return tuple(replace(size, value=None) if size.letter in moved else size for size in listed)

    def _check_followers(self, names: set[str]) -> None:
        for name in sorted(names - self.free):
            definition = self.sizes[name].definition
            moved = sorted(self._ancestors(name) & self.free)
            if definition and moved:
                raise UsageError(
                    f"{name} = {definition.text} follows from {moved[0]}, and that is no polynomial: "
                    f"free {name} too (--free {','.join(sorted({*self.free, name}))}) or bind {moved[0]}"
                )

    def _ancestors(self, letter: str) -> set[str]:
        """All letters that this one is computed from."""
        definition = self.sizes[letter].definition if letter in self.sizes else None
        if definition is None:
            return set()
        near = set(definition.follows) | {factor for product in definition.terms for factor in product.letters}
        near |= {definition.divisor} if isinstance(definition.divisor, str) else set()
        return near.union(*(self._ancestors(other) for other in near)) if near else set()

    def spelled(self, letter: str) -> str:
        """A letter as a shape shows it: compound widths by their definition."""
        size = self.sizes.get(letter)
        return size.definition.text if size is not None and size.compound and size.definition else letter
