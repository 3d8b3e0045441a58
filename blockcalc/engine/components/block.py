"""A block: its two parts, where they are normed, and how they are added to the stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from blockcalc.config.parts import Block
from blockcalc.engine.components.attention import attention_stages
from blockcalc.engine.components.feedforward import feedforward_stages
from blockcalc.engine.components.scope import Scope, add_stage, norm_stage
from blockcalc.engine.stage import Stage

Part = Callable[[str], Iterator[Stage]]


def block_stages(at: Scope, block: Block, reads: str) -> Iterator[Stage]:
    """One block from the stream [B, T, d] to the stream [B, T, d]."""
    parts: dict[str, Part] = {
        "attention": lambda source: attention_stages(at, block.attention, source),
        "feedforward": lambda source: feedforward_stages(at, block.feedforward, source),
    }
    if block.parallel == "no":
        for name, part in parts.items():
            made = list(_sublayer(at, block, name, part, reads))
            yield from made
            reads = made[-1].path
    else:
        yield from _side_by_side(at, block, parts, reads)


def _sublayer(at: Scope, block: Block, name: str, part: Part, stream: str) -> Iterator[Stage]:
    """One part with its norms and its residual: pre, post, or both sides."""
    source = stream
    if block.placement != "post":
        yield norm_stage(at, f"{name}.norm", block.norm, stream)
        source = at.path(f"{name}.norm")
    made = list(part(source))
    yield from made
    last = made[-1].path
    if block.placement == "both":
        yield norm_stage(at, f"{name}.post_norm", block.norm, last)
        last = at.path(f"{name}.post_norm")
    yield add_stage(at, f"{name}.residual", stream, last)
    if block.placement == "post":
        yield norm_stage(at, f"{name}.norm", block.norm, at.path(f"{name}.residual"))


def _side_by_side(at: Scope, block: Block, parts: dict[str, Part], stream: str) -> Iterator[Stage]:
    """Both parts of the same stream, through one norm (PaLM) or two (GPT-NeoX), added at once."""
    outputs = []
    if block.parallel == "one_norm":
        yield norm_stage(at, "norm", block.norm, stream)
    for name, part in parts.items():
        source = at.path("norm")
        if block.parallel == "two_norms":
            yield norm_stage(at, f"{name}.norm", block.norm, stream)
            source = at.path(f"{name}.norm")
        made = list(part(source))
        yield from made
        outputs.append(made[-1].path)
    yield add_stage(at, "residual", stream, *outputs)
