"""The quantities that views and conventions are made of: each a sum over the derivation's stages."""

from __future__ import annotations

from blockcalc.engine.contraction import Cost, Product
from blockcalc.engine.derive import Derivation
from blockcalc.engine.quantity import NOTHING, Quantity, summed
from blockcalc.engine.stage import Group, Stage


def stored(derivation: Derivation) -> Quantity:
    """Parameters, a tied matrix once."""
    return summed(derivation.groups, lambda stage: stage.params)


def active(derivation: Derivation) -> Quantity:
    """Parameters that one token meets: of routed experts, k of E."""
    return summed(derivation.groups, lambda stage: stage.active)


def state_dict(derivation: Derivation) -> Quantity:
    """Numbers in a file that writes a tied matrix twice."""
    return summed(derivation.groups, lambda stage: stage.state_dict)


def non_embedding(derivation: Derivation) -> Quantity:
    """Parameters without token and position tables and an untied head."""
    untied = not derivation.architecture.tied_head

    def cost(stage: Stage) -> Cost:
        return () if is_table(stage) or (untied and is_head(stage)) else stage.params

    return summed(derivation.groups, cost)


def matmul(derivation: Derivation) -> Quantity:
    """Numbers in matrices that multiply per token: the head once, tied or not; lookup tables not; k experts."""
    return summed(derivation.groups, _matrix_numbers)


def linear(derivation: Derivation) -> Quantity:
    """Matrix FLOPs of the blocks' weights."""
    return summed(blocks(derivation), lambda stage: stage.flops if stage.matrix else ())


def attention(derivation: Derivation) -> Quantity:
    """Matrix FLOPs of scores and weighted sum."""
    return summed(blocks(derivation), lambda stage: () if stage.matrix else stage.flops)


def attention_per_pair(derivation: Derivation) -> Quantity:
    """Matrix FLOPs of attention for each query-key pair of a sequence: 4·h·d_h in each block."""

    def cost(stage: Stage) -> Cost:
        return () if stage.matrix else tuple(product.without("B", _pairs(stage)) for product in stage.flops)

    return summed(blocks(derivation), cost)


def _pairs(stage: Stage) -> str:
    return stage.contraction.pairs if stage.contraction else ""


def head(derivation: Derivation) -> Quantity:
    """Matrix FLOPs of the head."""
    return summed(derivation.groups, lambda stage: stage.flops if is_head(stage) else ())


def elementwise(derivation: Derivation) -> Quantity:
    """Scalar operations outside the matrix products."""
    return summed(derivation.groups, lambda stage: tuple(product for _, product in stage.elementwise))


def learned_positions(derivation: Derivation) -> Quantity:
    """Numbers in a table of learned positions."""
    return summed(derivation.groups, lambda stage: stage.params if stage.path == "embedding.positions" else ())


def untied_lookup(derivation: Derivation) -> Quantity:
    """Numbers in a token table that no head shares."""
    if derivation.architecture.tied_head:
        return NOTHING
    return summed(derivation.groups, lambda stage: stage.params if stage.path == "embedding.tokens" else ())


def lookup_as_matmul(derivation: Derivation) -> Quantity:
    """FLOPs of the token lookup charged as a product with a one-hot vector: 2·V·d for each position."""

    def cost(stage: Stage) -> Cost:
        tokens = stage.path == "embedding.tokens"
        return tuple(w.count.times(2, "B", "T") for w in stage.weights) if tokens else ()

    return summed(derivation.groups, cost)


def softmax_numbers(derivation: Derivation) -> Quantity:
    """Numbers that the softmax of attention passes: B·h·T·S in each block."""

    def cost(stage: Stage) -> Cost:
        passed = stage.path.endswith("attention.softmax")
        return (Product(1, stage.out),) if passed else ()

    return summed(blocks(derivation), cost)


def blocks(derivation: Derivation) -> tuple[Group, ...]:
    """The groups that are block kinds."""
    return tuple(group for group in derivation.groups if group.is_block)


def is_table(stage: Stage) -> bool:
    """Whether the stage looks rows up."""
    return stage.kind == "lookup"


def is_head(stage: Stage) -> bool:
    """Whether the stage is the product with the vocabulary."""
    return stage.path == "head.logits"


def _matrix_numbers(stage: Stage) -> Cost:
    """The FLOPs of a stage with a weight matrix are twice these, for each of B·T positions."""
    if stage.matrix is None or stage.contraction is None:
        return ()
    return (stage.contraction.multiply_adds.without("B", "T"),)
