"""Single steps of the reference pass: activations, norms, positions, windows, experts, fused rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blockcalc.config.activations import ACTIVATIONS
from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Attention, Block, Mlp, Moe, Norm, Rotary, RotaryScaling
from blockcalc.reference import forward, random_weights
from blockcalc.reference.activations import FUNCTIONS, activate
from blockcalc.reference.layers import normalise, softmax
from blockcalc.reference.positions import alibi_slopes, frequencies, rotate, visible
from blockcalc.reference.trace import Trace
from blockcalc.reference.weights import ungroup

RMS = Norm("rmsnorm")


def test_every_activation_is_there() -> None:
    assert set(FUNCTIONS) == set(ACTIVATIONS.values())


@pytest.mark.parametrize(
    ("name", "at_two", "at_minus_one"),
    [
        # transformers.activations.ACT2FN (5.24.0), float64
        ("gelu", 1.9544997361036416, -0.15865525393145702),
        ("gelu_new", 1.954597694087775, -0.1588080093917233),
        ("silu", 1.7615941559557646, -0.2689414213699951),
        ("quick_gelu", 1.9356586231442083, -0.1542042340671787),
        ("mish", 1.9439589595339946, -0.30340146137410895),
        ("relu2", 4.0, 0.0),
        ("relu6", 2.0, 0.0),
        ("leaky_relu", 2.0, -0.01),
        ("identity", 2.0, -1.0),
    ],
)
def test_activation_values(name: str, at_two: float, at_minus_one: float) -> None:
    np.testing.assert_allclose(activate(np.array([2.0, -1.0]), name), [at_two, at_minus_one], rtol=1e-12)


def test_activations_neither_overflow_nor_change_the_type() -> None:
    x = np.array([-1e4, -50.0, 0.0, 50.0, 1e4], dtype=np.float32)
    with np.errstate(all="raise", under="ignore"):
        for name in ACTIVATIONS:
            y = activate(x, name)
            assert y.dtype == np.float32
            assert np.isfinite(y).all()


def test_norms() -> None:
    x = np.array([[1.0, 2.0, 6.0]])
    gain = {"n.weight": np.array([1.0, 2.0, 3.0]), "n.bias": np.array([0.0, 0.5, 0.0])}
    centred = normalise(x, Norm("layernorm", bias=True, epsilon=0.0), gain, "n", Trace())
    np.testing.assert_allclose(centred, [[-2 / 14**0.5 * 3**0.5, -2 / 14**0.5 * 3**0.5 + 0.5, 9 / 14**0.5 * 3**0.5]])
    plain = normalise(x, Norm("rmsnorm", epsilon=0.0), gain, "n", Trace())
    np.testing.assert_allclose(plain, [[1, 4, 18]] / np.sqrt(41 / 3))
    offset = normalise(x, Norm("rmsnorm", epsilon=0.0, unit_offset=True), gain, "n", Trace())
    np.testing.assert_allclose(offset, [[2, 6, 24]] / np.sqrt(41 / 3))


def test_softmax_sums_to_one_and_masks() -> None:
    shares = softmax(np.array([1e4, 1e4, -np.inf]))
    np.testing.assert_allclose(shares, [0.5, 0.5, 0.0])


def test_alibi_slopes() -> None:
    """Eight heads: 1/2 … 1/256, as in 2108.12409. Twelve: those of 8, then every second of 16."""
    np.testing.assert_allclose(alibi_slopes(8), [2.0**-n for n in range(1, 9)])
    np.testing.assert_allclose(alibi_slopes(12), [2.0**-n for n in range(1, 9)] + [2.0 ** -(n + 0.5) for n in range(4)])
    np.testing.assert_allclose(alibi_slopes(1), [2.0**-8])


def test_a_window_holds_the_position_itself_and_those_before() -> None:
    seen = visible(np.arange(4, 6), np.arange(6), window=3)
    np.testing.assert_array_equal(seen, [[0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1]])


def test_a_token_out_of_the_window_has_no_say() -> None:
    block = Block(Attention(2, head_width=3, window=3), Mlp(7), RMS)
    architecture = Architecture("window", 5, 1, {"block": block})
    weights, x = random_weights(architecture), np.random.default_rng(0).standard_normal((1, 6, 5))
    other = x.copy()
    other[:, 1] += 1.0
    first, second = (forward(architecture, weights, y).hidden for y in (x, other))
    changed = np.abs(first - second).max(axis=(0, 2)) > 1e-9
    np.testing.assert_array_equal(changed, [False, True, True, True, False, False])


@pytest.mark.parametrize("rotary", [Rotary(), Rotary(interleaved=True), Rotary(fraction=0.5)])
def test_rotary_keeps_lengths_and_depends_on_distance_alone(rotary: Rotary) -> None:
    q, k = np.random.default_rng(0).standard_normal((2, 1, 1, 1, 8))

    def score(query_at: int, key_at: int) -> float:
        turned = rotate(q, rotary, np.array([query_at])), rotate(k, rotary, np.array([key_at]))
        np.testing.assert_allclose(np.linalg.norm(turned[0]), np.linalg.norm(q))
        return float((turned[0] * turned[1]).sum())

    assert score(7, 3) == pytest.approx(score(104, 100))
    assert score(7, 3) != pytest.approx(score(7, 5))
    assert score(0, 0) == pytest.approx(float((q * k).sum()))


def test_rotary_scaling() -> None:
    plain = frequencies(Rotary(), 8)
    np.testing.assert_allclose(plain, [1.0, 0.1, 0.01, 0.001])
    linear = frequencies(Rotary(scaling=RotaryScaling("linear", 4.0)), 8)
    np.testing.assert_allclose(linear, plain / 4)
    # 100 positions turn the pairs 15.9, 1.59, 0.159, 0.0159 times: kept, blended, stretched, stretched.
    llama3 = frequencies(Rotary(scaling=RotaryScaling("llama3", 8.0, original_context=100)), 8)
    kept = (100 * 0.1 / (2 * np.pi) - 1.0) / 3.0
    np.testing.assert_allclose(llama3, [1.0, 0.1 * kept + 0.1 * (1 - kept) / 8, 0.01 / 8, 0.001 / 8])


def test_fused_rows_group_by_group() -> None:
    """h = 4, g = 2, d_h = 1: q0 q1 k0 v0 q2 q3 k1 v1 -> q0 q1 q2 q3 k0 k1 v0 v1."""
    rows = np.array(["q0", "q1", "k0", "v0", "q2", "q3", "k1", "v1"])
    assert list(ungroup(rows, Attention(4, 2))) == ["q0", "q1", "q2", "q3", "k0", "k1", "v0", "v1"]


def test_all_experts_alike_are_one_dense_part() -> None:
    """k equal experts with shares that sum to one give what the same matrices give as a plain part."""
    mixture = Block(Attention(1), Moe(5, 3, 7, bias=True), RMS)
    plain = replace(mixture, feedforward=Mlp(7, gated=True, activation="silu", bias=True))
    sparse, dense = (Architecture("m", 4, 1, {"block": block}) for block in (mixture, plain))
    weights = random_weights(dense)
    copies = {
        name.replace("feedforward.", "feedforward.experts."): np.stack([array] * 5)
        for name, array in weights.items()
        if ".feedforward." in name and ".norm." not in name
    }
    router = {"blocks.0.feedforward.router.weight": np.random.default_rng(1).standard_normal((5, 4))}
    x = np.random.default_rng(2).standard_normal((2, 3, 4))
    found = forward(sparse, {**weights, **copies, **router}, x)
    np.testing.assert_allclose(found.hidden, forward(dense, weights, x).hidden, rtol=1e-12)
    assert found.trace["block.feedforward.experts.hidden"] == (2, 3, 3, 7)
    assert found.multiply_adds["block.feedforward.experts.out"] == 2 * 3 * 3 * 7 * 4


def test_layers_of_one_kind_must_agree() -> None:
    trace = Trace().inside("block")
    trace.note("x", np.ones((2, 3)))
    with pytest.raises(AssertionError, match=r"block\.x was \(2, 3\)"):
        trace.note("x", np.ones((2, 4)))
