"""Worked examples: a block computed by hand, and shapes and counts of published ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Attention, Block, Mlp, Norm, Rotary
from blockcalc.config.widths import Times
from blockcalc.reference import forward, probe, random_weights

X = np.array([-0.5, -0.5, -0.5, 1.5])
A = np.array([-0.739, 1.411, -0.521, -0.520])
I4 = np.eye(4)


def by_hand() -> tuple[Architecture, dict[str, np.ndarray]]:
    """One block, d = 4, one head, whose attention gives A for the single row X.

    At T = 1 softmax over one key is 1, so attention gives O·V·LN(x). With V = I and O = a·nᵀ/(nᵀn),
    n = LN(x), that is a.
    """
    norm = Norm("layernorm", bias=True, epsilon=1e-5)
    block = Block(Attention(1), Mlp(8, activation="gelu_tanh"), norm)
    n = (X - X.mean()) / math.sqrt(X.var() + 1e-5)
    weights = {
        "attention.q.weight": I4,
        "attention.k.weight": I4,
        "attention.v.weight": I4,
        "attention.out.weight": np.outer(A, n) / (n @ n),
        "feedforward.up.weight": np.concatenate([I4, -I4]),  # W₁ = [I | -I] as [out, in]
        "feedforward.out.weight": np.concatenate([I4, I4], axis=1),  # W₂ = [I ; I] as [out, in]
    }
    for name in ("attention.norm", "feedforward.norm"):
        weights |= {f"{name}.weight": np.ones(4), f"{name}.bias": np.zeros(4)}
    own = {f"blocks.0.{name}": array for name, array in weights.items()}
    return Architecture("by hand", 4, 1, {"block": block}), own


def test_block_by_hand() -> None:
    """Numbers printed to three digits; the feed-forward part alone is y - h."""
    architecture, weights = by_hand()
    y = forward(architecture, weights, X.reshape(1, 1, 4)).hidden[0, 0]
    np.testing.assert_allclose(y, [-0.436, 1.552, -0.461, 1.698], atol=6e-4)
    h = X + A
    np.testing.assert_allclose(h, [-1.239, 0.911, -1.021, 0.980], atol=1e-9)
    assert h.mean() == pytest.approx(-0.092, abs=6e-4)
    assert h.std() == pytest.approx(1.041, abs=6e-4)
    np.testing.assert_allclose((h - h.mean()) / h.std(), [-1.102, 0.964, -0.892, 1.030], atol=6e-4)
    np.testing.assert_allclose(y - h, [0.803, 0.641, 0.560, 0.718], atol=6e-4)


def test_block_by_hand_without_attention() -> None:
    architecture, weights = by_hand()
    result = forward(architecture, weights, X.reshape(1, 1, 4), attention=False)
    np.testing.assert_allclose(result.hidden[0, 0], [-0.248, -0.248, -0.248, 3.088], atol=6e-4)
    assert not [path for path in result.trace if ".attention." in path]
    assert result.cache.layers == ()
    assert result.cache.length == 1


def test_modern_block_shapes() -> None:
    """n = 5, d = 8, h = 2, h_kv = 1, f = 21: the keys of one head serve two query heads."""
    block = Block(Attention(2, 1, positions=Rotary()), Mlp(21, gated=True, activation="silu"), Norm("rmsnorm"))
    architecture = Architecture("modern", 8, 1, {"block": block})
    trace = forward(architecture, random_weights(architecture), np.ones((1, 5, 8))).trace
    expected = {
        "attention.q": (1, 2, 5, 4),
        "attention.keys": (1, 1, 5, 4),
        "attention.keys_repeated": (1, 2, 5, 4),
        "attention.values_repeated": (1, 2, 5, 4),
        "attention.softmax": (1, 2, 5, 5),
        "feedforward.hidden": (1, 5, 21),
        "feedforward.out": (1, 5, 8),
    }
    assert {path: trace[f"block.{path}"] for path in expected} == expected


def gpt2_block(d: int, heads: int) -> Block:
    biases = dict.fromkeys(("q_bias", "k_bias", "v_bias", "out_bias"), True)
    attention = Attention(heads, projections="fused", **biases)
    return Block(attention, Mlp(Times(times=4), bias=True), Norm("layernorm", bias=True))


def test_a_stack_reads_and_writes_the_stream() -> None:
    """(2, 10, 64) in and out; 49,984 = 12d² + 13d numbers a block."""
    architecture = Architecture("stack", 64, 2, {"block": gpt2_block(64, 4)})
    weights = random_weights(architecture)
    result = forward(architecture, weights, np.ones((2, 10, 64)))
    assert result.logits is None
    assert result.hidden.shape == (2, 10, 64)
    assert sum(array.size for array in weights.values()) == 2 * 49_984
    parts = {"attention.norm": 128, "feedforward.norm": 128, "attention": 16_640, "feedforward": 33_088}
    found = dict.fromkeys(parts, 0)
    for name, array in weights.items():
        if name.startswith("blocks.0."):
            found[next(part for part in parts if name.startswith(f"blocks.0.{part}."))] += array.size
    assert found == parts


def gpt2_small() -> Architecture:
    ends = {"vocabulary": 50_257, "learned_positions": 1024, "final_norm": Norm("layernorm", bias=True)}
    return Architecture("gpt2", 768, 12, {"block": gpt2_block(768, 12)}, tensor_names="gpt2", **ends)


def test_gpt2_small_at_its_real_width() -> None:
    """124,439,808 numbers (openai/gpt-2) and the multiply-adds of T = 16, counted from arrays."""
    found = probe(gpt2_small(), B=1, T=16)
    embedding, block, head = found.parts
    assert found.parameters == 124_439_808
    assert block.parameters == 7_087_872
    assert block.layers == 12
    assert embedding.weights["embedding.tokens.weight"] == (50_257, 768)
    assert "head.weight" not in head.weights
    assert 2 * sum(found.multiply_adds.values()) == 16 * (247_064_064 + 4 * 12 * 16 * 768)
    trace = found.trace
    assert trace["block.attention.qkv"] == (1, 16, 2304)
    assert trace["block.attention.q"] == (1, 12, 16, 64)
    assert trace["block.attention.scores"] == (1, 12, 16, 16)
    assert trace["block.attention.out"] == (1, 16, 768)
    assert trace["block.feedforward.hidden"] == (1, 16, 3072)
    assert trace["block.feedforward.residual"] == (1, 16, 768)
    assert trace["head.logits"] == (1, 16, 50_257)


def test_stages_come_in_execution_order() -> None:
    paths = list(probe(gpt2_small(), B=1, T=1, S=3).trace)
    attention = ["norm", "qkv", "q", "k", "v", "keys", "values", "scores", "masked", "softmax"]
    attention += ["weighted_sum", "merged", "out", "residual"]
    feedforward = ["norm", "up", "hidden", "out", "residual"]
    assert paths == [
        *(f"embedding.{name}" for name in ("tokens", "positions", "sum")),
        *(f"block.attention.{name}" for name in attention),
        *(f"block.feedforward.{name}" for name in feedforward),
        "final_norm",
        "head.logits",
    ]
