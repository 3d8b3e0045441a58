"""What the generators are built from: a scope for letters and names, and a maker for each kind of stage.

A generator reads the configuration's choices and never its sizes. `Scope` turns `h` into `h` or, where
a model's blocks differ in it, into `h_local`, and a weight's own name into the framework's.
"""

from __future__ import annotations

from dataclasses import dataclass

from blockcalc.config.architecture import Architecture
from blockcalc.config.naming import LAYOUTS, Layout
from blockcalc.config.parts import Norm
from blockcalc.engine.contraction import Axes, Contraction, contract
from blockcalc.engine.stage import Role, Stage, Weight

STREAM: Axes = ("B", "T", "d")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where stages are made: the block's name and the letters that are its own."""

    block: str
    own: frozenset[str]
    layout: Layout

    def letter(self, letter: str) -> str:
        """A letter as this block writes it."""
        return f"{letter}_{self.block}" if letter in self.own else letter

    def axes(self, spec: str) -> Axes:
        """Axes of a spec as this block writes them: `B T d_q`."""
        return tuple(self.letter(axis) for axis in spec.split())

    def contract(self, spec: str, pairs: str = "") -> Contraction:
        """A contraction in this block's letters."""
        words = (word if word in {"->", ","} else self.letter(word) for word in spec.replace(",", " , ").split())
        return contract(" ".join(words), self.letter(pairs) if pairs else "")

    def path(self, name: str) -> str:
        """A stage's full path."""
        return f"{self.block}.{name}" if self.block else name

    def weight(self, name: str, shape: str, role: Role, *, tied_to: str = "", routed: str = "") -> Weight:
        """A weight in this block's letters, under both of its names."""
        stored_as = self.layout.name(name, in_block=bool(self.block))
        return Weight(self.path(name), self.axes(shape), role, tied_to, routed, stored_as)


def scope(architecture: Architecture, block: str = "", own: frozenset[str] = frozenset()) -> Scope:
    """The scope of a block, or of what stands outside the blocks."""
    return Scope(block, own, LAYOUTS[architecture.tensor_names])


def norm_stage(at: Scope, name: str, norm: Norm, reads: str, out: str = "B T d", size: str = "d") -> Stage:
    """A LayerNorm or RMSNorm over the last `size` numbers of `reads`."""
    weights = [at.weight(f"{name}.weight", size, "gain")]
    if norm.bias:
        weights.append(at.weight(f"{name}.bias", size, "bias"))
    functions = (norm.kind, "norm bias") if norm.bias else (norm.kind,)
    return Stage(at.path(name), "pointwise", (reads,), at.axes(out), pointwise=functions, weights=tuple(weights))


def add_stage(at: Scope, name: str, *reads: str, out: str = "B T d") -> Stage:
    """A sum of tensors of one shape."""
    times = ("add",) * (len(reads) - 1)
    return Stage(at.path(name), "pointwise", reads, at.axes(out), pointwise=times)


def linear_stage(at: Scope, name: str, weight: str, spec: str, reads: str, *, bias: bool, tied_to: str = "") -> Stage:
    """A weight matrix, with or without bias. `spec` is `B T d, f d -> B T f`, the matrix as [out, in]."""
    operation = at.contract(spec)
    matrix = spec.partition(",")[2].partition("->")[0].split()
    if at.layout.matrices_in_out and at.block:
        matrix = matrix[::-1]
    weights = [at.weight(f"{weight}.weight", " ".join(matrix), "matrix", tied_to=tied_to)]
    if bias:
        weights.append(at.weight(f"{weight}.bias", spec.rsplit(maxsplit=1)[-1], "bias"))
    return Stage(at.path(name), "contraction", (reads,), operation.out, operation, weights=tuple(weights))


def view_stage(at: Scope, name: str, out: str, *reads: str, cached: bool = False) -> Stage:
    """The same numbers in another shape."""
    return Stage(at.path(name), "view", reads, at.axes(out), cached=cached)
