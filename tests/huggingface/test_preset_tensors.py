"""Shipped presets against the tensors of the framework's class, and against the published totals."""

from __future__ import annotations

import pytest
from counting import active, expected_tensors, measured, non_embedding, stored, tensors

from blockcalc.config.presets import load_preset, preset_names

RECORDS = measured("tensors")


@pytest.mark.parametrize("name", RECORDS)
def test_tensor_for_tensor(name: str) -> None:
    """Names, shapes as stored, counts and tying, as transformers 5.24.0 builds the model."""
    preset, record = load_preset(name), RECORDS[name]
    found, tied = tensors(preset.architecture)
    assert found == expected_tensors(record)
    assert tied == record["tied"]
    assert preset.published == record["total"]


@pytest.mark.parametrize("name", preset_names())
def test_published(name: str) -> None:
    preset = load_preset(name)
    assert stored(preset.architecture) == preset.published
    assert preset.published_active in {None, active(preset.architecture)}
    assert preset.published_non_embedding in {None, non_embedding(preset.architecture)}


def test_every_preset_of_a_framework_is_measured() -> None:
    named = {
        name for name in preset_names() if load_preset(name).architecture.tensor_names not in {"blockcalc", "nanogpt"}
    }
    assert named == set(RECORDS)
