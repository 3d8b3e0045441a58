"""The four first families against what the framework builds from the same config.json."""

# ruff: noqa: E501 (a refusal is one line, and stands here as it is told)

from __future__ import annotations

from typing import Any

import pytest
from counting import (
    FAMILIES,
    counted_by_hand,
    expected_tensors,
    forward_flops,
    measured,
    stored,
    tensors,
)

from blockcalc.config.architecture import Architecture, Pattern, Run
from blockcalc.config.parts import RotaryScaling
from blockcalc.errors import ConfigError, UnknownNameError
from blockcalc.huggingface import FAMILIES as REGISTERED
from blockcalc.huggingface import read_config

RECORDS = measured("configs")


def read(family: str, **keys: Any) -> Architecture:
    """A small model of a family with these keys."""
    sizes = {"hidden_size": 64, "num_hidden_layers": 6, "num_attention_heads": 4, "vocab_size": 100}
    return read_config({"model_type": family, **sizes, **keys}).architecture


def refusal(**config: Any) -> str:
    """The one line that a config.json is refused with."""
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", RECORDS)
def test_tensor_for_tensor(name: str) -> None:
    record = RECORDS[name]
    reading = read_config(record["config"])
    found, tied = tensors(reading.architecture)
    assert found == expected_tensors(record)
    assert tied == record["tied"]
    assert stored(reading.architecture) == record["total"] == counted_by_hand(record["config"])
    assert reading.warnings == ()
    for T, flops in record["flops"].items():
        assert forward_flops(reading.architecture, int(T)) == flops


@pytest.mark.parametrize("family", FAMILIES)
def test_absent_keys_take_the_class_defaults(family: str) -> None:
    """A file that holds nothing but its model_type is the framework's default model."""
    written = read_config(RECORDS[f"default-{family}"]["config"], name="x")
    assert read_config({"model_type": family}, name="x").architecture == written.architecture


def test_every_registered_family_has_measurements() -> None:
    assert {record["config"]["model_type"] for record in RECORDS.values()} >= {*FAMILIES}
    assert set(REGISTERED) >= {*FAMILIES}


def test_origins_name_the_key() -> None:
    reading = read_config(RECORDS["gpt2-large"]["config"])
    assert reading.origins["d"] == "config.json: n_embd"
    assert reading.origins["L"] == "config.json: n_layer"
    assert read_config({"model_type": "gpt2"}).origins["d"] == "default of gpt2"


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("keys", [{"head_dim": None}, {"num_key_value_heads": None}])
def test_null_means_what_follows(family: str, keys: dict[str, Any]) -> None:
    block = read(family, **{"num_key_value_heads": 4, **keys}).blocks["block"]
    assert block.attention.kv_head_count == 4
    if "head_dim" in keys:
        assert block.attention.head_width is None


def test_missing_key_value_heads() -> None:
    assert read("llama").blocks["block"].attention.kv_heads is None
    reading = read_config({"model_type": "qwen2", "hidden_size": 64, "num_attention_heads": 4})
    assert reading.architecture.blocks["block"].attention.kv_heads is None
    assert reading.warnings == (
        "config.json: num_key_value_heads is missing and the default of 32 doesn't fit 4 heads; 4 is taken",
    )
    big = read_config({"model_type": "qwen2", "num_attention_heads": 64})
    assert big.architecture.blocks["block"].attention.kv_heads == 32


def test_tying_defaults() -> None:
    assert [read(family, num_key_value_heads=4).tied_head for family in FAMILIES] == [True, False, False, False]


def test_biases() -> None:
    def biases(family: str, **keys: Any) -> tuple[bool, bool, bool]:
        block = read(family, num_key_value_heads=4, **keys).blocks["block"]
        return block.attention.q_bias and block.attention.v_bias, block.attention.out_bias, block.feedforward.bias

    assert biases("gpt2") == (True, True, True)
    assert biases("llama") == (False, False, False)
    assert biases("llama", attention_bias=True) == (True, True, False)
    assert biases("llama", mlp_bias=True) == (False, False, True)
    assert biases("qwen2") == (True, False, False)
    assert biases("qwen3", attention_bias=True) == (True, True, False)


@pytest.mark.parametrize(
    ("keys", "windows"),
    [
        ({"sliding_window": 8, "use_sliding_window": False}, [None] * 6),
        ({"sliding_window": 8}, [None] * 6),
        ({"sliding_window": 8, "use_sliding_window": True, "max_window_layers": 2}, [None] * 2 + [8] * 4),
        ({"sliding_window": 8, "use_sliding_window": True, "max_window_layers": 0}, [8] * 6),
        ({"sliding_window": 8, "use_sliding_window": True, "max_window_layers": 99}, [None] * 6),
        ({"sliding_window": None, "use_sliding_window": True, "max_window_layers": 0}, [None] * 6),
        ({"use_sliding_window": True, "max_window_layers": 5}, [None] * 5 + [4096]),
        ({"layer_types": ["sliding_attention", "full_attention"] * 3}, [None] * 6),
        (
            {
                "layer_types": ["sliding_attention", "full_attention"] * 3,
                "use_sliding_window": True,
                "sliding_window": 8,
            },
            [8, None] * 3,
        ),
    ],
)
@pytest.mark.parametrize("family", ["qwen2", "qwen3"])
def test_windows(family: str, keys: dict[str, Any], windows: list[int | None]) -> None:
    architecture = read(family, num_key_value_heads=2, **keys)
    found = [architecture.blocks[architecture.layer_pattern.at(layer)].attention.window for layer in range(6)]
    assert found == windows
    assert stored(architecture) == stored(read(family, num_key_value_heads=2))


def test_windows_are_a_pattern() -> None:
    keys: dict[str, Any] = {"use_sliding_window": True, "num_key_value_heads": 2, "max_window_layers": 2}
    assert read("qwen2", **keys).pattern == Pattern(start=(Run("global", 2),), cycle=("local",))
    keys["layer_types"] = ["sliding_attention", "sliding_attention", "full_attention"] * 2
    assert read("qwen3", **keys).pattern == Pattern(cycle=("local", "local", "global"))
    assert read("qwen2", **{**keys, "layer_types": None, "num_hidden_layers": 10**12}).layers == 10**12


@pytest.mark.parametrize(
    ("keys", "theta", "scaling"),
    [
        ({}, 10_000.0, None),
        ({"rope_theta": 5e5}, 5e5, None),
        ({"rope_theta": 500000}, 5e5, None),
        ({"rope_scaling": None, "rope_theta": 7.0}, 7.0, None),
        ({"rope_theta": 7.0, "rope_parameters": {"rope_theta": 5.0, "rope_type": "default"}}, 5.0, None),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, 10_000.0, RotaryScaling("linear", 2.0)),
        (
            {"rope_parameters": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1.0, "high_freq_factor": 4.0}},
            10_000.0,
            RotaryScaling("llama3", 8.0, 1.0, 4.0, 2048),
        ),
        (
            {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}},
            10_000.0,
            RotaryScaling("yarn", 4.0, original_context=512),
        ),
    ],
)
def test_rotary(keys: dict[str, Any], theta: float, scaling: RotaryScaling | None) -> None:
    positions = read("llama", **keys).blocks["block"].attention.positions
    assert positions is not None
    assert positions.kind == "rotary"
    assert (positions.theta, positions.scaling) == (theta, scaling)


def test_gpt2_variants() -> None:
    assert (
        read("gpt2", n_inner=None).blocks["block"].feedforward.width == read("gpt2").blocks["block"].feedforward.width
    )
    assert read("gpt2", n_inner=100).blocks["block"].feedforward.width == 100
    assert read("gpt2", scale_attn_weights=False).blocks["block"].attention.scale == 1.0
    assert read("gpt2", n_positions=77).learned_positions == 77
    inverse = read_config({"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": True})
    assert inverse.warnings == (
        "config.json: scale_attn_by_inverse_layer_idx divides the scores by the layer's number; no count changes by it",
    )


def test_unknown_keys_are_named() -> None:
    reading = read_config({"model_type": "llama", "num_hidden_layer": 3, "foo": {"bar": 1}})
    assert reading.architecture.layers == 32
    assert reading.warnings == (
        'config.json: key "num_hidden_layer" is not one that llama is known to have, and is left out; '
        "did you mean num_hidden_layers or hidden_act?",
        'config.json: key "foo" is not one that llama is known to have, and is left out',
    )
    inner = read_config({"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2, "odd": 1}})
    assert inner.warnings == (
        'config.json: key "rope_scaling.odd" is not one that llama is known to have, and is left out',
    )


def test_multimodal_files() -> None:
    text = RECORDS["qwen2-0.5b"]["config"]
    reading = read_config({"model_type": "some_vision", "vision_config": {"hidden_size": 3}, "text_config": text})
    assert reading.architecture == read_config(text).architecture
    assert reading.origins["d"] == "config.json: text_config.hidden_size"
    assert reading.warnings == (
        "config.json: a multimodal file: the decoder under text_config is counted, nothing else of it",
    )
    assert refusal(model_type="some_vision", text_config={**text, "hidden_size": "9"}) == (
        'config.json: text_config.hidden_size = "9": is a whole number from 1 to 10^36'
    )


def test_another_head_is_said() -> None:
    reading = read_config({"model_type": "gpt2", "architectures": ["GPT2ForSequenceClassification"], "num_labels": 3})
    assert reading.warnings == (
        'config.json: architectures names "GPT2ForSequenceClassification"; '
        "counted is the decoder with its language-model head",
    )


def test_unknown_family() -> None:
    with pytest.raises(UnknownNameError) as caught:
        read_config({"model_type": "llamma"})
    assert caught.value.exit_code == 4
    assert str(caught.value).startswith(
        'config.json: model_type = "llamma": no such model family; did you mean llama? known are '
    )
    assert refusal(hidden_size=3) == "config.json: model_type: is missing; it names the model family"
    assert refusal(model_type=3) == "config.json: model_type: is text; it names the model family"


SIZE = "is a whole number from 1 to 10^36"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("768", f'n_embd = "768": {SIZE}'),
        (True, f"n_embd = true: {SIZE}"),
        (None, f"n_embd: {SIZE}, not null"),
        (0, f"n_embd = 0: {SIZE}"),
        (-768, f"n_embd = -768: {SIZE}"),
        (768.5, f"n_embd = 768.5: {SIZE}"),
        (float("nan"), f"n_embd = nan: {SIZE}"),
        (float("inf"), f"n_embd = inf: {SIZE}"),
        (1e300, f"n_embd = 1e+300: {SIZE}"),
        (10**40, f"n_embd = a number of more than 40 digits: {SIZE}"),
        ([768], f"n_embd: {SIZE}, not a list"),
        ({}, f"n_embd: {SIZE}, not an object"),
    ],
)
def test_refused_sizes(value: object, told: str) -> None:
    assert refusal(model_type="gpt2", n_embd=value) == f"config.json: {told}"


def test_a_whole_float_is_a_whole_number() -> None:
    """JSON has one kind of number."""
    assert read("llama", hidden_size=64.0).width == 64


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"model_type": "gpt2", "n_head": 7}, "n_head = 7: must divide the width 768; 6 or 8"),
        ({"model_type": "gpt2", "add_cross_attention": True}, "add_cross_attention = true: a decoder that reads an encoder is not covered"),
        ({"model_type": "gpt2", "n_embd": 64, "hidden_size": 128}, "hidden_size = 128: contradicts n_embd, another name of it"),
        ({"model_type": "gpt2", "layer_norm_epsilon": "1e-5"}, 'layer_norm_epsilon = "1e-5": is a finite number from 0'),
        ({"model_type": "gpt2", "layer_norm_epsilon": float("nan")}, "layer_norm_epsilon = nan: is a finite number from 0"),
        ({"model_type": "gpt2", "tie_word_embeddings": None}, "tie_word_embeddings: is true or false, not null"),
        ({"model_type": "gpt2", "tie_word_embeddings": 1}, "tie_word_embeddings = 1: is true or false"),
        ({"model_type": "gpt2", "is_encoder_decoder": True}, "is_encoder_decoder = true: an encoder with a decoder is not covered"),
        ({"model_type": "llama", "hidden_act": "silly"}, 'hidden_act = "silly": no such activation; did you mean silu?'),
        ({"model_type": "llama", "hidden_act": None}, "hidden_act: is text, not null"),
        ({"model_type": "llama", "num_key_value_heads": 5}, "num_key_value_heads = 5: must divide the 32 query heads; 1, 2, 4, 8, 16 or 32 would do"),
        ({"model_type": "llama", "head_dim": 65}, "head_dim = 65: rotary positions turn pairs, and 65 of each head's 65 numbers would be turned; an even head width (or fraction of it) would do"),
        ({"model_type": "llama", "num_attention_heads": 5}, "num_attention_heads = 5: must divide the model width 4096 when no head_dim is given; num_attention_heads = 2 or 4, or give head_dim"),
        ({"model_type": "llama", "rope_theta": 0}, "rope_theta = 0: is a finite number above 0"),
        ({"model_type": "llama", "rope_scaling": []}, "rope_scaling: is an object ({...}), not a list"),
        ({"model_type": "llama", "rope_scaling": {"type": "zigzag"}}, 'rope_scaling.type = "zigzag": no such rotary scaling; linear, dynamic, llama3, yarn or longrope'),
        ({"model_type": "llama", "rope_scaling": {"type": "linear"}}, "rope_scaling.factor: is missing; a number above 0"),
        ({"model_type": "qwen2", "layer_types": ["full_attention"]}, "layer_types: names 1 layers, and the model has 32"),
        ({"model_type": "qwen2", "layer_types": ["mamba"]}, 'layer_types: qwen2 has no layer of kind "mamba"; full_attention, attention or sliding_attention'),
        ({"model_type": "qwen2", "layer_types": [1]}, "layer_types: is a list of texts, not a list"),
        ({"model_type": "qwen3", "use_sliding_window": True, "sliding_window": 0}, f"sliding_window = 0: {SIZE}"),
        ({"model_type": "qwen3", "max_window_layers": 2.5}, "max_window_layers = 2.5: is a whole number from 0"),
    ],
)  # fmt: skip
def test_refusals(config: dict[str, Any], told: str) -> None:
    assert refusal(**config) == f"config.json: {told}"
