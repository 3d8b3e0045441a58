"""Each part of a model run alone and at its real width, on zeros, so that no more than one part is in memory.

A layer's shapes and work don't depend on what its weights hold, nor on the layers around it: one layer
of each kind stands for all of that kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from blockcalc.config.architecture import Architecture
from blockcalc.config.resolve import head_width
from blockcalc.errors import UsageError
from blockcalc.reference.attention import KeysValues
from blockcalc.reference.decoder import check_length, embed, run_block, unembed
from blockcalc.reference.trace import Array, Shape, Trace
from blockcalc.reference.weights import Shapes, block_shapes, embedding_shapes, head_shapes


@dataclass(frozen=True, slots=True)
class Part:
    """One part that was run: the embedding, one layer of a block kind, or final norm and head.

    `layers` layers of the model are like it (1 for the ends). `trace`: path -> shape. `multiply_adds`:
    path -> multiply-adds of one such layer. `weights`: own name -> shape of the arrays that it held, a
    tied matrix with the embedding only.
    """

    kind: Literal["embedding", "block", "head"]
    name: str
    layers: int
    trace: Mapping[str, Shape]
    multiply_adds: Mapping[str, int]
    weights: Mapping[str, Shape]

    @property
    def parameters(self) -> int:
        """Numbers in the arrays of one such layer."""
        return sum(math.prod(shape) for shape in self.weights.values())


@dataclass(frozen=True, slots=True)
class Probe:
    """All parts of a model, in execution order."""

    parts: tuple[Part, ...]

    @property
    def trace(self) -> dict[str, Shape]:
        """Path -> shape of the whole model."""
        return {path: shape for part in self.parts for path, shape in part.trace.items()}

    @property
    def multiply_adds(self) -> dict[str, int]:
        """Path -> multiply-adds of all layers together."""
        return {path: n * part.layers for part in self.parts for path, n in part.multiply_adds.items()}

    @property
    def parameters(self) -> int:
        """Numbers in all arrays of all layers, a tied matrix once."""
        return sum(part.parameters * part.layers for part in self.parts)


def probe(architecture: Architecture, B: int, T: int, S: int | None = None) -> Probe:
    """Run every part on B sequences of T positions that attend to S (S - T of them cached; T when not given).

    Raises UsageError when B, T or S can't be, ConfigError beyond a table of learned positions.
    """
    attended = T if S is None else S
    if min(B, T) < 1 or attended < T:
        raise UsageError(f"B and T are at least 1 and S at least T; got B = {B}, T = {T}, S = {attended}")
    check_length(architecture, attended)
    return Probe(tuple(_parts(architecture, B, T, attended)))


def _parts(architecture: Architecture, batch: int, length: int, attended: int) -> Iterator[Part]:
    before = attended - length
    if architecture.vocabulary is not None:
        tokens = np.zeros((batch, length), dtype=np.int64)
        shapes = embedding_shapes(architecture)
        yield _run("embedding", "embedding", 1, shapes, lambda w, t: embed(tokens, architecture, w, t, before))
    for name, layers in architecture.block_counts().items():
        yield _block(architecture, name, layers, (batch, length, before))
    if architecture.vocabulary is not None or architecture.final_norm is not None:
        yield _head(architecture, batch, length)


def _block(architecture: Architecture, name: str, layers: int, sizes: tuple[int, int, int]) -> Part:
    block, (batch, length, before) = architecture.blocks[name], sizes
    cached = batch, block.attention.kv_head_count, before, head_width(architecture.width, block.attention)
    past = KeysValues(_zeros(cached), _zeros(cached)) if before else None
    x = _zeros((batch, length, architecture.width))
    shapes = block_shapes(architecture, block)
    return _run("block", name, layers, shapes, lambda w, t: run_block(x, block, w, t.inside(name), past))


def _head(architecture: Architecture, batch: int, length: int) -> Part:
    x = _zeros((batch, length, architecture.width))
    tied = architecture.vocabulary is not None and architecture.tied_head
    tables = embedding_shapes(architecture) if tied else Shapes()
    shared = {"head.weight": _zeros(tables["embedding.tokens.weight"])} if tied else {}
    shapes = head_shapes(architecture)
    return _run("head", "head", 1, shapes, lambda w, t: unembed(x, architecture, {**w, **shared}, t))


def _run(
    kind: Literal["embedding", "block", "head"],
    name: str,
    layers: int,
    shapes: Shapes,
    run: Callable[[dict[str, Array], Trace], object],
) -> Part:
    """Make the arrays of one part, run it on them, and keep only what was noted."""
    weights, trace = {own: _zeros(shape) for own, shape in shapes.items()}, Trace()
    with np.errstate(invalid="ignore"):  # a norm with epsilon 0 divides 0 by 0 here; only shapes matter
        run(weights, trace)
    held = {own: array.shape for own, array in weights.items()}
    return Part(kind, name, layers, trace.shapes, trace.multiply_adds, held)


def _zeros(shape: Shape) -> Array:
    # The system maps zeros without memory behind them until something writes.
    return np.zeros(shape, dtype=np.float32)
