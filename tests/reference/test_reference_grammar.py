"""Whatever the grammar can express, the reference pass runs, and what it finds hangs together."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blockcalc.config.architecture import Architecture
from blockcalc.config.naming import LAYOUTS
from blockcalc.config.resolve import head_width
from blockcalc.reference import Result, forward, make_weights, probe, random_weights, stored_shapes, weight_shapes
from tests.strategies import architectures

B, T = 2, 7
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
seeds = st.integers(0, 2**16)


def some_input(architecture: Architecture, seed: int) -> Any:
    generator = np.random.default_rng(seed + 1)
    if architecture.vocabulary is None:
        return generator.standard_normal((B, T, architecture.width))
    return generator.integers(0, architecture.vocabulary_rows, (B, T))


def outcome(result: Result) -> Any:
    return result.hidden if result.logits is None else result.logits


def assert_near(found: Any, expected: Any) -> None:
    """Within 1e-12 of the largest number there is: stacks without a final norm may grow large."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()))


@quick
@given(architectures(), seeds, st.integers(1, T - 1))
def test_a_token_changes_nothing_before_it(architecture: Architecture, seed: int, t: int) -> None:
    weights, x = random_weights(architecture, seed), some_input(architecture, seed)
    other = x.copy()
    other[:, t] = (x[:, t] + 1) % architecture.vocabulary_rows if architecture.vocabulary else -x[:, t] - 1.0
    first, second = (outcome(forward(architecture, weights, y)) for y in (x, other))
    assert np.isfinite(first).all()
    assert_near(second[:, :t], first[:, :t])


@quick
@given(architectures(), seeds, st.integers(1, T - 1))
def test_a_cache_stands_for_the_positions_before(architecture: Architecture, seed: int, t: int) -> None:
    weights, x = random_weights(architecture, seed), some_input(architecture, seed)
    whole = outcome(forward(architecture, weights, x))
    first = forward(architecture, weights, x[:, :t])
    rest = forward(architecture, weights, x[:, t:], cache=first.cache)
    pieces = np.concatenate([outcome(first), outcome(rest)], axis=1)
    np.testing.assert_allclose(pieces, whole, rtol=0, atol=1e-9 * max(1.0, np.abs(whole).max()))
    assert rest.cache.length == T
    scores = [shape for path, shape in rest.trace.items() if path.endswith("attention.scores")]
    assert all(shape[2:] == (T - t, T) for shape in scores)
    assert scores


@quick
@given(architectures(), seeds)
def test_parts_run_alone_are_the_whole(architecture: Architecture, seed: int) -> None:
    """The probe's trace, work and array sizes are those of the full pass on real arrays."""
    weights = random_weights(architecture, seed)
    result, found = forward(architecture, weights, some_input(architecture, seed)), probe(architecture, B, T)
    assert list(found.trace.items()) == sorted(result.trace.items(), key=lambda item: list(found.trace).index(item[0]))
    assert found.multiply_adds == result.multiply_adds
    assert found.parameters == sum(array.size for array in weights.values())
    assert sum(part.layers for part in found.parts if part.kind == "block") == architecture.layers


@quick
@given(architectures(), st.integers(1, 3), st.integers(0, 5))
def test_work_is_that_of_the_matrices(architecture: Architecture, length: int, cached: int) -> None:
    """Each token passes every matrix once (of the experts, k); scores and weighted sum take h·T·S·d_h each."""
    attended = length + cached
    found = probe(architecture, B, length, attended)
    for part in found.parts:
        if part.kind != "block":
            continue
        block = architecture.blocks[part.name]
        pairs = B * block.attention.heads * length * attended * head_width(architecture.width, block.attention)
        k = getattr(block.feedforward, "experts_per_token", 1)
        held = 0
        for name, shape in weight_shapes(architecture, part.name).items():
            if name.endswith(".weight") and len(shape) > 1:
                held += math.prod(shape[-2:]) * (k if len(shape) == 3 else 1)
        assert sum(part.multiply_adds.values()) == B * length * held + 2 * pairs


@quick
@given(architectures(), seeds, st.sampled_from(sorted(set(LAYOUTS) - {"gpt_neox"})))
def test_names_and_orientation_change_nothing(architecture: Architecture, seed: int, layout: str) -> None:
    """The same numbers under another framework's names, turned where it turns them, give the same."""
    first, second = replace(architecture, tensor_names="blockcalc"), replace(architecture, tensor_names=layout)
    weights = random_weights(first, seed)
    renamed = {}
    for (own, _), (name, shape) in zip(stored_shapes(first), stored_shapes(second), strict=True):
        is_matrix = own.startswith("blocks.") and own.endswith(".weight") and len(shape) == 2
        renamed[name] = weights[own].T if is_matrix and LAYOUTS[layout].matrices_in_out else weights[own]
    x = some_input(architecture, seed)
    assert_near(outcome(forward(second, renamed, x)), outcome(forward(first, weights, x)))


@quick
@given(architectures(), seeds)
def test_attention_switched_off_leaves_positions_apart(architecture: Architecture, seed: int) -> None:
    """Without attention no position reads another, so the last alone gives the same (tables of positions aside)."""
    flat = replace(architecture, learned_positions=None)
    weights, x = random_weights(flat, seed), some_input(flat, seed)
    whole, last = (outcome(forward(flat, weights, y, attention=False)) for y in (x, x[:, -1:]))
    np.testing.assert_allclose(last, whole[:, -1:], rtol=0, atol=1e-9 * max(1.0, np.abs(whole).max()))


@quick
@given(architectures())
def test_a_model_is_its_arrays_names(architecture: Architecture) -> None:
    names = [name for name, _ in stored_shapes(architecture)]
    assert len(set(names)) == len(names) == len(make_weights(architecture, np.empty))
