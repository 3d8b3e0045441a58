"""The reference pass against logits that transformers 5.24.0 computed in float64 (tests/data/numeric)."""

from __future__ import annotations

import numpy as np
import pytest

from blockcalc.reference import forward
from tests.reference.models import TINY, config, stored

# BloomGelu writes √(2/π) with eight digits.
RELATIVE = {"bloom": 1e-6}


@pytest.mark.parametrize("name", TINY)
def test_logits_are_those_of_transformers(name: str) -> None:
    tiny, data = TINY[name](), stored(name)
    result = forward(tiny.architecture, tiny.weights(data), data["input_ids"])
    near = RELATIVE.get(name, 1e-9)
    np.testing.assert_allclose(result.logits, data["logits"], rtol=near, atol=near / 100)
    assert result.logits is not None
    assert result.logits.dtype == np.float64
    hidden = data[f"hidden/{tiny.architecture.layers}"]
    np.testing.assert_allclose(result.hidden, hidden, rtol=near, atol=near / 100)


@pytest.mark.parametrize("name", ["gpt2", "mistral", "gemma2", "bloom", "gptj", "mixtral"])
def test_a_cache_gives_the_same_logits(name: str) -> None:
    """Four tokens, then the other three one by one: what transformers gave for all seven at once."""
    tiny, data = TINY[name](), stored(name)
    ids, weights = data["input_ids"], tiny.weights(data)
    result = forward(tiny.architecture, weights, ids[:, :4])
    logits = [result.logits]
    for t in range(4, 7):
        result = forward(tiny.architecture, weights, ids[:, t : t + 1], cache=result.cache)
        logits.append(result.logits)
    together = np.concatenate([part for part in logits if part is not None], axis=1)
    np.testing.assert_allclose(together, data["logits"], rtol=RELATIVE.get(name, 1e-9), atol=1e-8)
    softmax = next(shape for path, shape in result.trace.items() if path.endswith("attention.softmax"))
    assert softmax == (1, 4, 1, 7)


def test_float32_weights_give_float32_logits() -> None:
    for name, make in TINY.items():
        tiny, data = make(), stored(name)
        weights = {key: array.astype(np.float32) for key, array in tiny.weights(data).items()}
        logits = forward(tiny.architecture, weights, data["input_ids"]).logits
        assert logits is not None
        assert logits.dtype == np.float32
        np.testing.assert_allclose(logits, data["logits"], atol=2e-4)


@pytest.mark.parametrize("name", TINY)
def test_the_table_says_what_the_config_says(name: str) -> None:
    given, architecture = config(name), TINY[name]().architecture
    layers = [given[key] for key in ("num_hidden_layers", "n_layer", "n_layers") if key in given]
    assert layers == [architecture.layers]
    assert given["vocab_size"] == architecture.vocabulary
