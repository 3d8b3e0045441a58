"""What the parts of an architecture must agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blockcalc.config.naming import LAYOUTS
from blockcalc.config.widths import feedforward_width, head_width
from blockcalc.errors import ConfigError, did_you_mean, one_of

if TYPE_CHECKING:
    from blockcalc.config.architecture import Architecture, Block


RESERVED = frozenset({"embedding", "head", "final_norm", "stream", "input", "positions"})
"""Names that stage paths use outside the blocks."""


def check_architecture(architecture: Architecture) -> None:
    """Refuse parts that don't fit one another, with the key and what would do.

    Raises ConfigError.
    """
    _check_pattern(architecture)
    _check_vocabulary(architecture)
    for name, block in architecture.blocks.items():
        _check_block(name, block, architecture.width)
    if architecture.tensor_names not in LAYOUTS:
        hint = did_you_mean(architecture.tensor_names, LAYOUTS) or one_of(LAYOUTS)
        raise ConfigError("no such table of names", key="tensor_names", value=architecture.tensor_names, fix=hint)


def _check_pattern(architecture: Architecture) -> None:
    if not architecture.blocks:
        raise ConfigError("a model has at least one block", key="blocks")
    for name in architecture.blocks:
        if not name.isidentifier() or not name.isascii() or len(name) > 40:
            raise ConfigError("a block is named by letters, digits and _", key=f'blocks."{name}"')
        if name in RESERVED:
            raise ConfigError("that name is a part's own", key=f"blocks.{name}", fix="block would do")
    if len(architecture.blocks) > 1 and architecture.pattern is None:
        raise ConfigError("several blocks need a pattern that says which layer is which", key="pattern")
    for name in architecture.layer_pattern.names():
        if name not in architecture.blocks:
            hint = did_you_mean(name, architecture.blocks) or one_of(architecture.blocks)
            raise ConfigError("no block of that name", key="pattern", value=name, fix=hint)
    architecture.block_counts()


def _check_vocabulary(architecture: Architecture) -> None:
    if architecture.vocabulary is not None:
        return
    for key in architecture._NEEDS_VOCABULARY:
        if getattr(architecture, key) is not None:
            raise ConfigError("belongs to a token table, and vocabulary is not given", key=key)
    if architecture.head_bias:
        raise ConfigError("belongs to a head, and vocabulary is not given", key="head_bias", value=True)


def _check_block(name: str, block: Block, width: int) -> None:
    part = "attention"
    try:
        _check_rotary(block, head_width(width, block.attention))
        part = "feedforward"
        feedforward_width(width, block.feedforward)
    except ConfigError as error:
        raise error.at(prefix=f"blocks.{name}.{part}") from None


def _check_rotary(block: Block, width: int) -> None:
    positions = block.attention.positions
    if positions is None or positions.kind != "rotary":
        return
    rotated = positions.width(width)
    if rotated % 2 or rotated == 0:
        raise ConfigError(
            f"rotary positions turn pairs, and {rotated} of each head's {width} numbers would be turned",
            key="head_width",
            value=width,
            fix="an even head width (or fraction of it) would do",
        )
