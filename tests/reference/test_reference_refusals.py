"""What the reference pass refuses, in one line each; and the smaller models that stand in for large ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Attention, Block, Mlp, Norm, Rotary, RotaryScaling
from blockcalc.config.resolve import head_width
from blockcalc.config.widths import RoundedUp
from blockcalc.errors import ConfigError, UsageError
from blockcalc.reference import fits, forward, largest_part_bytes, probe, random_weights, scaled_down, weight_shapes
from tests.reference.models import TINY, stored
from tests.strategies import architectures

GPT2 = TINY["gpt2"]()
WEIGHTS = GPT2.weights(stored("gpt2"))
IDS = np.array([[1, 2, 3]])


def refusal(error: type[Exception], weights: object = WEIGHTS, ids: object = IDS, **more: object) -> str:
    with pytest.raises(error) as caught:
        forward(more.pop("model", GPT2.architecture), weights, ids, **more)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_missing_tensor() -> None:
    rest = {name: array for name, array in WEIGHTS.items() if name != "transformer.h.1.attn.c_attn.weight"}
    assert refusal(ConfigError, rest) == (
        "transformer.h.1.attn.c_attn.weight: is missing from the weights; a tensor of shape [32, 96] is expected"
    )


def test_a_tensor_of_another_shape() -> None:
    turned = {**WEIGHTS, "transformer.h.0.mlp.c_fc.weight": WEIGHTS["transformer.h.0.mlp.c_fc.weight"].T}
    assert refusal(ConfigError, turned) == (
        "transformer.h.0.mlp.c_fc.weight: has shape [128, 32] where [32, 128] is expected"
    )


def test_a_tensor_of_whole_numbers() -> None:
    whole = {**WEIGHTS, "transformer.ln_f.bias": np.zeros(32, dtype=int)}
    assert refusal(ConfigError, whole) == "transformer.ln_f.bias: holds int64 numbers where floats are expected"


def test_a_tied_head_may_be_written_twice() -> None:
    twice = {**WEIGHTS, "lm_head.weight": WEIGHTS["transformer.wte.weight"]}
    found, expected = (forward(GPT2.architecture, weights, IDS).logits for weights in (twice, WEIGHTS))
    np.testing.assert_array_equal(found, expected)


def test_input_that_the_model_cannot_take() -> None:
    assert refusal(UsageError, ids=np.array([1, 2])) == "input_ids are whole numbers [B, T]; got int64 [2]"
    assert "got float64" in refusal(UsageError, ids=np.ones((1, 2)))
    assert refusal(UsageError, ids=np.array([[50]])) == "input_ids lie from 0 to 49; got 50 to 50"
    assert refusal(UsageError, ids=np.array([[-1]])).endswith("got -1 to -1")
    assert "at least one position" in refusal(UsageError, ids=np.zeros((1, 0), dtype=int))
    long = refusal(ConfigError, ids=np.zeros((1, 17), dtype=int))
    assert long == "positions = 17: the table of learned positions has 16 rows"
    bare = Architecture("bare", 5, 1, {"block": Block(Attention(1), Mlp(3), Norm())})
    assert "[B, T, 5]" in refusal(UsageError, model=bare, weights=random_weights(bare), ids=np.ones((1, 2, 4)))


def test_a_cache_of_another_run() -> None:
    cache = forward(GPT2.architecture, WEIGHTS, IDS).cache
    assert "1 sequences and the input 2" in refusal(UsageError, ids=np.ones((2, 1), dtype=int), cache=cache)
    assert "3 layers where 0" in refusal(UsageError, cache=cache, attention=False)
    assert "positions = 17" in refusal(ConfigError, ids=np.zeros((1, 14), dtype=int), cache=cache)


def test_rotary_scaling_that_is_not_computed_still_has_shapes() -> None:
    positions = Rotary(scaling=RotaryScaling("yarn", 4.0))
    stretched = Architecture("y", 8, 1, {"block": Block(Attention(2, positions=positions), Mlp(3), Norm())})
    message = refusal(ConfigError, model=stretched, weights=random_weights(stretched), ids=np.ones((1, 2, 8)))
    assert message == (
        'blocks.block.attention.positions.scaling.kind = "yarn": '
        "isn't computed by the reference pass; linear or llama3 is"
    )
    assert probe(stretched, 1, 2).trace["block.attention.q_rotary"] == (1, 2, 2, 4)


def test_runs_that_cannot_be_probed() -> None:
    for sizes in ((0, 1, 1), (1, 0, 1), (1, 3, 2)):
        with pytest.raises(UsageError):
            probe(GPT2.architecture, *sizes)
    with pytest.raises(ConfigError, match="positions = 17"):
        probe(GPT2.architecture, 1, 1, 17)


def test_anything_with_an_architecture_is_a_model() -> None:
    assert forward(GPT2, WEIGHTS, IDS).hidden.shape == (1, 3, 32)


def large() -> Architecture:
    """Llama 3.1 405B's sizes."""
    attention = Attention(128, 8, positions=Rotary())
    feedforward = Mlp(RoundedUp(multiple=4096, multiplier=1.2), gated=True, activation="silu")
    block = Block(attention, feedforward, Norm("rmsnorm"))
    ends = {"vocabulary": 128_256, "tied_head": False, "final_norm": Norm("rmsnorm")}
    return Architecture("large", 16_384, 126, {"block": block}, tensor_names="llama", **ends)


def test_a_large_model_scaled_down() -> None:
    architecture = large()
    assert largest_part_bytes(architecture) == 4 * 3_187_703_808  # one block
    assert not fits(architecture, 2**30)
    smaller = scaled_down(architecture, 2**30)
    assert smaller is not None
    assert fits(smaller, 2**30)
    assert not fits(smaller, 2**26)
    assert (smaller.width, smaller.layers, smaller.blocks["block"].attention.heads) == (4096, 126, 128)
    assert smaller.blocks["block"].attention.kv_heads == 8
    assert scaled_down(architecture, 2**40) is architecture
    assert scaled_down(architecture, 100) is None
    tiny = scaled_down(architecture, 2**23)
    assert tiny is not None
    assert probe(tiny, 1, 2).parameters < probe(smaller, 1, 2).parameters


@settings(max_examples=60, deadline=None)
@given(architectures())
def test_scaled_down_keeps_the_structure(architecture: Architecture) -> None:
    budget = largest_part_bytes(architecture) - 1
    smaller = scaled_down(architecture, budget)
    if smaller is None:
        return
    assert fits(smaller, budget)
    assert set(probe(smaller, 2, 3).trace) == set(probe(architecture, 2, 3).trace)
    for name, block in smaller.blocks.items():
        assert list(weight_shapes(smaller, name)) == list(weight_shapes(architecture, name))
        assert head_width(smaller.width, block.attention) >= 1
        assert replace(block.attention, head_width=None, positions=None) == replace(
            architecture.blocks[name].attention, head_width=None, positions=None
        )
