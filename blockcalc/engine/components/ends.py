"""What stands before the first block and after the last."""

from __future__ import annotations

from collections.abc import Iterator

from blockcalc.config.architecture import Architecture
from blockcalc.engine.components.scope import STREAM, add_stage, linear_stage, norm_stage, scope
from blockcalc.engine.stage import Stage


def embedding_stages(architecture: Architecture) -> Iterator[Stage]:
    """Token table, learned positions, their sum, and what is done to it."""
    at = scope(architecture)
    last = "embedding.tokens"
    table = at.weight("embedding.tokens.weight", "V d", "table")
    yield Stage(last, "lookup", ("input",), STREAM, weights=(table,))
    if architecture.embedding_scale != "none":
        yield Stage("embedding.scaled", "pointwise", (last,), STREAM, pointwise=("scale",))
        last = "embedding.scaled"
    if architecture.learned_positions is not None:
        rows = at.weight("embedding.positions.weight", "P d", "table")
        yield Stage("embedding.positions", "lookup", ("positions",), ("T", "d"), weights=(rows,))
        yield add_stage(at, "embedding.sum", last, "embedding.positions")
        last = "embedding.sum"
    if architecture.embedding_norm is not None:
        yield norm_stage(at, "embedding.norm", architecture.embedding_norm, last)


def head_stages(architecture: Architecture, reads: str) -> Iterator[Stage]:
    """Final norm and the product with the vocabulary."""
    at = scope(architecture)
    if architecture.final_norm is not None:
        yield norm_stage(at, "final_norm", architecture.final_norm, reads)
        reads = "final_norm"
    if architecture.vocabulary is None:
        return
    tied = "embedding.tokens.weight" if architecture.tied_head else ""
    yield linear_stage(
        at, "head.logits", "head", "B T d, V d -> B T V", reads, bias=architecture.head_bias, tied_to=tied
    )
    if architecture.logit_softcap is not None:
        yield Stage("head.softcapped", "pointwise", ("head.logits",), ("B", "T", "V"), pointwise=("softcap",))
