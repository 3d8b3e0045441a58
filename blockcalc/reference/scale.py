"""Smaller models of the same structure, for machines on which one part of the real one wouldn't fit."""

from __future__ import annotations

import math
from dataclasses import replace

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Attention, Block, Moe, Rotary
from blockcalc.config.widths import RoundedNearest, RoundedUp, Times
from blockcalc.errors import ConfigError
from blockcalc.reference.weights import block_shapes, embedding_shapes, head_shapes

FLOAT32_BYTES = 4
_TRIES = 1_000


def largest_part_bytes(architecture: Architecture) -> int:
    """Bytes in float32 of the weights of the part that holds most, a tied head with its matrix."""
    head = head_shapes(architecture)
    if architecture.vocabulary is not None and architecture.tied_head:
        head["head.weight"] = embedding_shapes(architecture)["embedding.tokens.weight"]
    blocks = [block_shapes(architecture, architecture.blocks[name]) for name in architecture.block_counts()]
    parts = [embedding_shapes(architecture), *blocks, head]
    return FLOAT32_BYTES * max(sum(math.prod(shape) for shape in part.values()) for part in parts)


def fits(architecture: Architecture, budget_bytes: int) -> bool:
    """Whether each part's weights, one part at a time and in float32, stay within the budget."""
    return largest_part_bytes(architecture) <= budget_bytes


def scaled_down(architecture: Architecture, budget_bytes: int) -> Architecture | None:
    """The same structure with its widths and vocabulary divided by the smallest power of two that fits.

    Layers, heads, experts, names and position tables stay as they are; the model itself comes back when it fits,
    None when nothing does.
    """
    if fits(architecture, budget_bytes):
        return architecture
    for power in range(1, 121):  # 2^120 > 10^36, the largest size there is
        smaller = _divided(architecture, 2**power)
        if smaller is not None and fits(smaller, budget_bytes):
            return smaller
    return None


def _divided(architecture: Architecture, by: int) -> Architecture | None:
    """All widths divided by `by`, rounded so that heads and rotary pairs still come out whole."""
    width = _model_width(architecture, by)
    if width is None:
        return None
    vocabulary, multiple = architecture.vocabulary, architecture.vocabulary_multiple
    try:
        return replace(
            architecture,
            width=width,
            blocks={name: _block(block, by) for name, block in architecture.blocks.items()},
            vocabulary=None if vocabulary is None else max(1, vocabulary // by),
            vocabulary_multiple=None if multiple is None else max(1, multiple // by),
        )
    except ConfigError:
        return None  # a width rule left nothing, say: another divisor may do


def _model_width(architecture: Architecture, by: int) -> int | None:
    """The width d / by, or the next above it that splits into whole heads in every block whose d_h is d / h."""
    attentions = [block.attention for block in architecture.blocks.values() if block.attention.head_width is None]
    step = math.lcm(*(attention.heads for attention in attentions))
    first = step * max(1, -(-(architecture.width // by) // step))
    for width in range(first, first + _TRIES * step, step):
        if all(_turns(attention, width // attention.heads) for attention in attentions):
            return width
    return None


def _block(block: Block, by: int) -> Block:
    attention, feedforward = block.attention, block.feedforward
    if attention.head_width is not None:
        attention = replace(attention, head_width=_head_width(attention, attention.head_width, by))
    feedforward = replace(feedforward, width=_width(feedforward.width, by))
    if isinstance(feedforward, Moe) and feedforward.shared_width is not None:
        feedforward = replace(feedforward, shared_width=max(1, feedforward.shared_width // by))
    return replace(block, attention=attention, feedforward=feedforward)


def _head_width(attention: Attention, width: int, by: int) -> int:
    first = max(1, width // by)
    return next((n for n in range(first, min(width, first + _TRIES)) if _turns(attention, n)), width)


def _turns(attention: Attention, head_width: int) -> bool:
    """Whether rotary positions, when there are any, find whole pairs in a head of this width."""
    if not isinstance(attention.positions, Rotary):
        return True
    turned = attention.positions.width(head_width)
    return turned > 0 and turned % 2 == 0


def _width(width: int | Times | RoundedUp | RoundedNearest, by: int) -> int | Times | RoundedUp | RoundedNearest:
    if isinstance(width, int):
        return max(1, width // by)
    # A rule follows the model's width by itself; a multiple must shrink with it.
    return width if isinstance(width, Times) else replace(width, multiple=max(1, width.multiple // by))
