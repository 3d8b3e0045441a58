"""The weights of each part: own name -> shape, and how to find them in a framework's checkpoint.

Own names are those of `config.naming`: a stage's path without the block, and a role. Matrices are
[out, in] here whichever way round a framework keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from blockcalc.config.architecture import Architecture
from blockcalc.config.naming import LAYOUTS
from blockcalc.config.parts import Attention, Block, Mlp, Moe, Norm
from blockcalc.config.resolve import feedforward_width, head_width
from blockcalc.errors import ConfigError
from blockcalc.reference.trace import Array, Shape

Shapes = dict[str, Shape]


def weight_shapes(architecture: Architecture, part: str) -> Shapes:
    """Own name -> shape of one part: "embedding", "head" (with the final norm), or a block's name.

    A tied head's matrix is the embedding's and isn't named again.
    """
    if part == "embedding":
        return embedding_shapes(architecture)
    if part == "head":
        return head_shapes(architecture)
    return block_shapes(architecture, architecture.blocks[part])


def embedding_shapes(architecture: Architecture) -> Shapes:
    """The tables that are looked up, and the norm after them."""
    d, shapes = architecture.width, Shapes()
    if architecture.vocabulary is None:
        return shapes
    shapes["embedding.tokens.weight"] = (architecture.vocabulary_rows, d)
    if architecture.learned_positions is not None:
        shapes["embedding.positions.weight"] = (architecture.learned_positions, d)
    if architecture.embedding_norm is not None:
        shapes |= _norm("embedding.norm", architecture.embedding_norm, d)
    return shapes


def head_shapes(architecture: Architecture) -> Shapes:
    """The final norm, and the matrix that turns the stream into logits."""
    d, rows, shapes = architecture.width, architecture.vocabulary_rows, Shapes()
    if architecture.final_norm is not None:
        shapes |= _norm("final_norm", architecture.final_norm, d)
    if architecture.vocabulary is not None and not architecture.tied_head:
        shapes["head.weight"] = (rows, d)
    if architecture.head_bias:
        shapes["head.bias"] = (rows,)
    return shapes


def block_shapes(architecture: Architecture, block: Block) -> Shapes:
    """One block: its norms, attention and feed-forward part."""
    d = architecture.width
    shapes = _block_norms(block, d) | _attention(block.attention, d)
    if isinstance(block.feedforward, Mlp):
        width = feedforward_width(d, block.feedforward)
        return shapes | _dense("feedforward", block.feedforward, d, width, ())
    return shapes | _mixture(block.feedforward, d)


def _block_norms(block: Block, d: int) -> Shapes:
    if block.parallel == "one_norm":
        return _norm("norm", block.norm, d)
    shapes = _norm("attention.norm", block.norm, d) | _norm("feedforward.norm", block.norm, d)
    if block.placement == "both":
        shapes |= _norm("attention.post_norm", block.norm, d) | _norm("feedforward.post_norm", block.norm, d)
    return shapes


def _attention(attention: Attention, d: int) -> Shapes:
    d_h = head_width(d, attention)
    q, kv = attention.heads * d_h, attention.kv_head_count * d_h
    if attention.projections == "fused":
        shapes = _matrix("attention.qkv", q + 2 * kv, d, attention.q_bias)
    else:
        shapes = _matrix("attention.q", q, d, attention.q_bias)
        shapes |= _matrix("attention.k", kv, d, attention.k_bias)
        shapes |= _matrix("attention.v", kv, d, attention.v_bias)
    if attention.qk_norm is not None:
        over_head = attention.qk_norm_over == "head"
        shapes |= _norm("attention.q_norm", attention.qk_norm, d_h if over_head else q)
        shapes |= _norm("attention.k_norm", attention.qk_norm, d_h if over_head else kv)
    return shapes | _matrix("attention.out", d, q, attention.out_bias)


def _mixture(moe: Moe, d: int) -> Shapes:
    shapes = _matrix("feedforward.router", moe.experts, d, moe.router_bias)
    shapes |= _dense("feedforward.experts", moe, d, feedforward_width(d, moe), (moe.experts,))
    if moe.shared_width is not None:
        shapes |= _dense("feedforward.shared", moe, d, moe.shared_width, ())
    return shapes


def _dense(name: str, part: Mlp | Moe, d: int, width: int, experts: Shape) -> Shapes:
    """Up (and gate) to `width` and back, one matrix of each for every expert when there are experts."""
    if part.storage == "fused":
        shapes = _matrix(f"{name}.gate_up", 2 * width, d, part.bias, experts)
    else:
        shapes = _matrix(f"{name}.gate", width, d, part.bias, experts) if part.gated else Shapes()
        shapes |= _matrix(f"{name}.up", width, d, part.bias, experts)
    return shapes | _matrix(f"{name}.out", d, width, part.bias, experts)


def _matrix(name: str, out: int, into: int, bias: bool, experts: Shape = ()) -> Shapes:
    shapes = {f"{name}.weight": (*experts, out, into)}
    return shapes | {f"{name}.bias": (*experts, out)} if bias else shapes


def _norm(name: str, norm: Norm, size: int) -> Shapes:
    shapes: Shapes = {f"{name}.weight": (size,)}
    return shapes | {f"{name}.bias": (size,)} if norm.bias else shapes


def read_ends(architecture: Architecture, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Embedding, final norm and head out of a framework's arrays, under their own names.

    A tied head reads the token table, whether or not the arrays hold a copy under the head's name.
    Raises ConfigError naming a tensor that is missing or has another shape.
    """
    shapes = embedding_shapes(architecture) | head_shapes(architecture)
    layout = LAYOUTS[architecture.tensor_names]
    weights = {own: _find(arrays, layout.name(own, in_block=False), shape) for own, shape in shapes.items()}
    if architecture.vocabulary is not None and architecture.tied_head:
        weights["head.weight"] = weights["embedding.tokens.weight"]
    return weights


def read_layer(architecture: Architecture, arrays: Mapping[str, Array], layer: int) -> dict[str, Array]:
    """One layer's weights out of a framework's arrays, under their own names and as [out, in].

    Raises ConfigError naming a tensor that is missing or has another shape.
    """
    block = architecture.blocks[architecture.layer_pattern.at(layer)]
    weights = {}
    for own, shape in block_shapes(architecture, block).items():
        name, turned = _stored(architecture, own, layer), _turned(architecture, own, shape)
        array = _find(arrays, name, shape[::-1] if turned else shape)
        weights[own] = array.T if turned else array
        if own.startswith("attention.qkv.") and LAYOUTS[architecture.tensor_names].qkv_by_head:
            weights[own] = ungroup(weights[own], block.attention)
    return weights


def ungroup(rows: Array, attention: Attention) -> Array:
    """Fused rows kept group by group -> the rows of all queries, then of all keys, then of all values.

    rows [(h + 2g)·d_h, ...], laid out as [g, h/g queries + key + value, d_h]; the same shape comes back.
    """
    g, rest = attention.kv_head_count, rows.shape[1:]
    groups = rows.reshape(g, attention.heads // g + 2, -1, *rest)
    parts = groups[:, :-2], groups[:, -2], groups[:, -1]
    return np.concatenate([part.reshape(-1, *rest) for part in parts])


def make_weights(architecture: Architecture, make: Callable[[Shape], Array]) -> dict[str, Array]:
    """Arrays for the whole model by the framework's names, in its orientation, each made by `make(shape)`."""
    return {name: make(shape) for name, shape in stored_shapes(architecture)}


def random_weights(architecture: Architecture, seed: int = 0) -> dict[str, Array]:
    """Normal random float64 arrays for the whole model, small enough that nothing saturates."""
    generator = np.random.default_rng(seed)
    return make_weights(architecture, lambda shape: 0.3 * generator.standard_normal(shape))


def stored_shapes(architecture: Architecture) -> Iterator[tuple[str, Shape]]:
    """The framework's name and stored shape of every tensor, layer by layer; a tied head's isn't repeated."""
    layout = LAYOUTS[architecture.tensor_names]
    for own, shape in (embedding_shapes(architecture) | head_shapes(architecture)).items():
        yield layout.name(own, in_block=False), shape
    for layer in range(architecture.layers):
        block = architecture.blocks[architecture.layer_pattern.at(layer)]
        for own, shape in block_shapes(architecture, block).items():
            yield _stored(architecture, own, layer), shape[::-1] if _turned(architecture, own, shape) else shape


def _stored(architecture: Architecture, own: str, layer: int) -> str:
    return LAYOUTS[architecture.tensor_names].name(own, in_block=True).replace("*", str(layer))


def _turned(architecture: Architecture, own: str, shape: Shape) -> bool:
    # An expert's bias [E, out] has two axes as well, and is no matrix.
    is_matrix = own.endswith(".weight") and len(shape) == 2
    return is_matrix and LAYOUTS[architecture.tensor_names].matrices_in_out


def _find(arrays: Mapping[str, Array], name: str, shape: Shape) -> Array:
    if name not in arrays:
        raise ConfigError("is missing from the weights", key=name, fix=f"a tensor of shape {list(shape)} is expected")
    array = np.asarray(arrays[name])
    if array.shape != shape:
        raise ConfigError(f"has shape {list(array.shape)} where {list(shape)} is expected", key=name)
    if not np.issubdtype(array.dtype, np.floating):
        raise ConfigError(f"holds {array.dtype} numbers where floats are expected", key=name)
    return array
