"""The decoder: embedding, blocks, final norm, head. One forward pass, written out by hand.

It takes nothing but the configuration from the rest of the package, so that what it finds (shapes,
array sizes, multiply-adds) checks what was derived.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Block
from blockcalc.errors import ConfigError, UsageError
from blockcalc.reference.attention import KeysValues, attend
from blockcalc.reference.feedforward import feed_forward
from blockcalc.reference.layers import Weights, linear, normalise, softcap
from blockcalc.reference.positions import check_scaling
from blockcalc.reference.trace import Array, Shape, Trace
from blockcalc.reference.weights import read_ends, read_layer


class HasArchitecture(Protocol):
    """Anything that knows what model it is."""

    @property
    def architecture(self) -> Architecture:
        """What the model is."""


@dataclass(frozen=True, slots=True)
class Cache:
    """What a pass leaves for the next one: `length` positions seen, and each layer's keys and values.

    `layers` is empty when attention was switched off.
    """

    length: int
    layers: tuple[KeysValues, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What a forward pass gave and did.

    `logits` [B, T, V], None for a bare stack of blocks. `hidden` [B, T, d], the stream behind the final
    norm. `trace`: path -> shape, in execution order, each block kind once. `multiply_adds`: path ->
    multiply-adds of its matrix products, summed over the layers. `cache`: for the positions that follow.
    """

    logits: Array | None
    hidden: Array
    trace: Mapping[str, Shape]
    multiply_adds: Mapping[str, int]
    cache: Cache


def forward(
    model: Architecture | HasArchitecture,
    weights: Mapping[str, Array],
    input_ids: Array,
    *,
    attention: bool = True,
    cache: Cache | None = None,
) -> Result:
    """Run the model on token numbers [B, T], or a bare stack of blocks on a stream [B, T, d].

    `weights` are the framework's tensors by the framework's names, in its orientation; their float type
    is the result's. `attention=False` leaves attention's contribution out of every block. `cache` is
    the `.cache` of a pass over the positions before these.

    Raises ConfigError for a tensor that is missing or has another shape, for rotary scaling that isn't
    written here, and for more positions than a learned table has; UsageError for input that the model can't take.
    """
    architecture = model if isinstance(model, Architecture) else model.architecture
    check_scaling(architecture)
    past = _check_cache(cache, architecture, attention)
    ends, trace = read_ends(architecture, weights), Trace()
    x = embed(_check_input(input_ids, architecture, past), architecture, ends, trace, past.length)
    kept = []
    for layer in range(architecture.layers):
        name, own = architecture.layer_pattern.at(layer), read_layer(architecture, weights, layer)
        before = past.layers[layer] if past.layers else None
        # A bare stack's input takes the weights' float type; behind an embedding it has it already.
        x = x.astype(np.result_type(*own.values()), copy=False)
        x, seen = run_block(x, architecture.blocks[name], own, trace.inside(name), before, attention=attention)
        kept += [seen] if seen else []
    hidden, logits = unembed(x, architecture, ends, trace)
    done = Cache(past.length + x.shape[1], tuple(kept))
    return Result(logits, hidden, trace.shapes, trace.multiply_adds, done)


def embed(tokens: Array, architecture: Architecture, weights: Weights, trace: Trace, before: int = 0) -> Array:
    """Token numbers [B, T] -> the stream [B, T, d]; `before` positions came earlier. A bare stack has no table."""
    if architecture.vocabulary is None:
        return tokens
    x = trace.note("embedding.tokens", weights["embedding.tokens.weight"][tokens])
    if architecture.embedding_scale == "sqrt_width":
        x = trace.note("embedding.scaled", x * math.sqrt(architecture.width))
    if architecture.learned_positions is not None:
        rows = weights["embedding.positions.weight"][before : before + tokens.shape[1]]
        x = trace.note("embedding.sum", x + trace.note("embedding.positions", rows))
    if architecture.embedding_norm is not None:
        x = normalise(x, architecture.embedding_norm, weights, "embedding.norm", trace)
    return x


def run_block(
    x: Array, block: Block, weights: Weights, trace: Trace, past: KeysValues | None = None, *, attention: bool = True
) -> tuple[Array, KeysValues | None]:
    """One residual block: the stream x [B, T, d] -> [B, T, d], and what attention keeps of it."""
    if block.parallel != "no":
        return _side_by_side(x, block, weights, trace, past, attention=attention)
    seen = None
    if attention:
        y = _before(x, block, weights, trace, part="attention")
        y, seen = attend(y, block.attention, weights, trace, past)
        x = _join(x, y, block, weights, trace, part="attention")
    y = feed_forward(_before(x, block, weights, trace, part="feedforward"), block.feedforward, weights, trace)
    return _join(x, y, block, weights, trace, part="feedforward"), seen


def _before(x: Array, block: Block, weights: Weights, trace: Trace, *, part: str) -> Array:
    """What a part reads: the norm of x, or x itself when the norm comes last."""
    return x if block.placement == "post" else normalise(x, block.norm, weights, f"{part}.norm", trace)


def _join(x: Array, y: Array, block: Block, weights: Weights, trace: Trace, *, part: str) -> Array:
    """Add a part's output y to the stream x it came from, with the norms that come after the part."""
    if block.placement == "both":
        y = normalise(y, block.norm, weights, f"{part}.post_norm", trace)
    x = trace.note(f"{part}.residual", x + y)
    return normalise(x, block.norm, weights, f"{part}.norm", trace) if block.placement == "post" else x


def _side_by_side(
    x: Array, block: Block, weights: Weights, trace: Trace, past: KeysValues | None, *, attention: bool
) -> tuple[Array, KeysValues | None]:
    """Both parts read the same x and are added to it at once: through one norm (GPT-J) or two (GPT-NeoX)."""
    shared = normalise(x, block.norm, weights, "norm", trace) if block.parallel == "one_norm" else None
    y, seen = x, None
    if attention:
        read = _before(x, block, weights, trace, part="attention") if shared is None else shared
        attended, seen = attend(read, block.attention, weights, trace, past)
        y = y + attended
    read = _before(x, block, weights, trace, part="feedforward") if shared is None else shared
    y = y + feed_forward(read, block.feedforward, weights, trace)
    return trace.note("residual", y), seen


def unembed(x: Array, architecture: Architecture, weights: Weights, trace: Trace) -> tuple[Array, Array | None]:
    """The stream x [B, T, d] -> the stream behind the final norm [B, T, d], and the logits [B, T, V]."""
    if architecture.final_norm is not None:
        x = normalise(x, architecture.final_norm, weights, "final_norm", trace)
    if architecture.vocabulary is None:
        return x, None
    logits = linear(x, weights, "head", trace, "head.logits")
    if architecture.logit_softcap is not None:
        logits = trace.note("head.softcapped", softcap(logits, architecture.logit_softcap))
    return x, logits


def _check_cache(cache: Cache | None, architecture: Architecture, attention: bool) -> Cache:
    if cache is None:
        return Cache(0, ())
    expected = architecture.layers if attention else 0
    if len(cache.layers) != expected:
        raise UsageError(f"the cache holds keys of {len(cache.layers)} layers where {expected} are expected")
    return cache


def _check_input(given: Array, architecture: Architecture, past: Cache) -> Array:
    """The input as an array, refused when it isn't one that the model takes."""
    x = np.asarray(given)
    if architecture.vocabulary is None:
        if x.ndim != 3 or x.shape[2] != architecture.width or not np.issubdtype(x.dtype, np.floating):
            expected = f"the stream as floats [B, T, {architecture.width}]"
            raise UsageError(f"a bare stack of blocks reads {expected}; got {x.dtype} {list(x.shape)}")
    elif x.ndim != 2 or not np.issubdtype(x.dtype, np.integer):
        raise UsageError(f"input_ids are whole numbers [B, T]; got {x.dtype} {list(x.shape)}")
    elif x.size and not 0 <= x.min() <= x.max() < architecture.vocabulary_rows:
        raise UsageError(f"input_ids lie from 0 to {architecture.vocabulary_rows - 1}; got {x.min()} to {x.max()}")
    if not x.size:
        raise UsageError(f"at least one position is needed; got {list(x.shape)}")
    for layer in past.layers[:1]:
        if layer.keys.shape[0] != x.shape[0]:
            raise UsageError(f"the cache holds {layer.keys.shape[0]} sequences and the input {x.shape[0]}")
    check_length(architecture, past.length + x.shape[1])
    return x


def check_length(architecture: Architecture, length: int) -> None:
    """Refuse more positions than a learned table has rows. Raises ConfigError."""
    rows = architecture.learned_positions
    if rows is not None and length > rows:
        raise ConfigError(f"the table of learned positions has {rows} rows", key="positions", value=length)
