"""What the parts of an architecture must agree on. Each refusal names the key and what would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blockcalc.config.naming import LAYOUTS
from blockcalc.config.parts import Block
from blockcalc.config.resolve import feedforward_width, head_width
from blockcalc.errors import ConfigError, did_you_mean, one_of
from blockcalc.notation import LETTERS

RESERVED = frozenset({"embedding", "head", "final_norm", "stream", "input", "positions"})
"""Names that stage paths use outside the blocks."""

SUBSCRIPTS = frozenset(entry.letter.partition("_")[2] for entry in LETTERS if "_" in entry.letter)
"""Subscripts of the notation: a block called kv would make its own h read h_kv."""


def check_names(blocks: Mapping[str, Block], used: Sequence[str]) -> None:
    """Refuse block names that no path could hold, and a pattern that names a block there isn't.

    Raises ConfigError.
    """
    for name in blocks:
        if not name.isidentifier() or not name.isascii() or len(name) > 40:
            raise ConfigError("a block is named by letters, digits and _", key=f'blocks."{name}"')
        if name in RESERVED or name.partition("_")[0] in SUBSCRIPTS:
            problem = "that name stands in a path or a letter already"
            raise ConfigError(problem, key=f"blocks.{name}", fix="block would do")
    for name in used:
        if name not in blocks:
            hint = did_you_mean(name, blocks) or one_of(blocks)
            raise ConfigError("no block of that name", key="pattern", value=name, fix=hint)


def check_layout(name: str) -> None:
    """Refuse a table of tensor names that isn't known.

    Raises ConfigError.
    """
    if name not in LAYOUTS:
        hint = did_you_mean(name, LAYOUTS) or one_of(LAYOUTS)
        raise ConfigError("no such table of names", key="tensor_names", value=name, fix=hint)


def check_blocks(blocks: Mapping[str, Block], width: int) -> None:
    """Refuse heads and rules that don't fit the model's width.

    Raises ConfigError.
    """
    for name, block in blocks.items():
        _check_block(name, block, width)


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
