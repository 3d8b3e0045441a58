"""Real config.json files, damaged at random: the right number or a one-line refusal, never a crash."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from counting import FAMILIES, counted_by_hand, measured, stored
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blockcalc.errors import BlockcalcError
from blockcalc.huggingface import Reading, read_config

REAL = {
    family: [r["config"] for r in measured("configs").values() if r["config"]["model_type"] == family]
    for family in FAMILIES
}
_KEYS = [
    *("n_embd", "n_layer", "n_head", "n_positions", "n_inner", "hidden_size", "num_hidden_layers", "vocab_size"),
    *("num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size", "max_position_embeddings"),
    *("tie_word_embeddings", "attention_bias", "mlp_bias", "use_sliding_window", "sliding_window", "layer_types"),
    *("max_window_layers", "rope_theta", "rope_scaling", "rope_parameters", "hidden_act", "rms_norm_eps", "model_typo"),
    *("add_cross_attention", "architectures", "text_config", "is_encoder_decoder"),
]

sizes = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 96, 128, 256, 1024, 10**9, 10**30])
sane = st.one_of(sizes, st.booleans(), st.none())
wild = st.one_of(
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        [0, -1, 1e400, 10**50, "768", "", [], {}, [1], {"type": "linear", "factor": 2}, {"rope_type": None}]
    ),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3), max_leaves=5
    ),
    st.lists(st.sampled_from(["full_attention", "sliding_attention"]), max_size=40),
)


@st.composite
def damaged(draw: st.DrawFn, family: str) -> dict[str, Any]:
    config = copy.deepcopy(draw(st.sampled_from(REAL[family])))
    for _ in range(draw(st.integers(1, 4))):
        key = draw(st.sampled_from(_KEYS) | st.sampled_from(sorted(set(config) - {"model_type"})))
        if draw(st.integers(0, 4)) == 0:
            config.pop(key, None)
        else:
            config[key] = draw(wild if draw(st.integers(0, 2)) == 0 else sane)
    return config


def outcome(config: dict[str, Any]) -> Reading | BlockcalcError:
    """What a config.json gives: a reading, or the refusal, which is one line."""
    try:
        return read_config(config)
    except BlockcalcError as error:
        return error


@pytest.mark.parametrize("family", FAMILIES)
def test_right_or_refused(family: str) -> None:
    right, refused = [], []

    @settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(damaged(family))
    def check(config: dict[str, Any]) -> None:
        before = repr(config)
        found = outcome(config)
        if isinstance(found, Reading):
            assert stored(found.architecture) == counted_by_hand(config)
            assert all("\n" not in warning for warning in found.warnings)
            right.append(config)
        else:
            assert found.exit_code == 3
            assert str(found).startswith("config.json: ")
            refused.append(config)
        assert repr(config) == before

    check()
    assert min(len(right), len(refused)) > 10


@settings(max_examples=150, deadline=None, database=None)
@given(st.dictionaries(st.sampled_from([*_KEYS, "model_type"]) | st.text(max_size=5), wild | sane))
def test_no_mapping_crashes(config: dict[str, Any]) -> None:
    for found in [outcome(config), *(outcome({**config, "model_type": family}) for family in FAMILIES)]:
        assert isinstance(found, Reading) or str(found).startswith("config.json: ")
