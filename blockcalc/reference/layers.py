"""The small steps that the parts of a block share."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from blockcalc.config.parts import Norm
from blockcalc.reference.trace import Array, Trace

Weights = Mapping[str, Array]
"""A weight's own name -> its array, matrices as [out, in]. A bias that the configuration leaves out is absent."""


def linear(x: Array, weights: Weights, name: str, trace: Trace, stage: str = "") -> Array:
    """Give x·Wᵀ + b [..., out] for x [..., in]: W is NAME.weight [out, in]; b, when there is one, NAME.bias [out]."""
    stage = stage or name
    y = trace.matmul(stage, x, weights[f"{name}.weight"].T)
    if f"{name}.bias" in weights:
        y = y + weights[f"{name}.bias"]
    return trace.note(stage, y)


def normalise(x: Array, norm: Norm, weights: Weights, name: str, trace: Trace) -> Array:
    """Normalise the last axis of x; NAME.weight is the gain, NAME.bias (when there is one) the shift.

    RMSNorm (1910.07467) divides by the root of the mean square. LayerNorm (1607.06450) first takes the
    mean off, which makes the mean square the variance.
    """
    if norm.kind == "layernorm":
        x = x - x.mean(axis=-1, keepdims=True)
    mean_square = (x * x).mean(axis=-1, keepdims=True)
    gain = weights[f"{name}.weight"]
    y = x / np.sqrt(mean_square + norm.epsilon) * (1.0 + gain if norm.unit_offset else gain)
    if norm.bias:
        y = y + weights[f"{name}.bias"]
    return trace.note(name, y)


def softmax(x: Array) -> Array:
    """e^x over its sum along the last axis; the maximum is taken off first, so that nothing overflows."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    result: Array = powers / powers.sum(axis=-1, keepdims=True)
    return result


def softcap(x: Array, cap: float) -> Array:
    """cap·tanh(x / cap): nearly x while small, never beyond ±cap (Gemma 2, 2408.00118)."""
    result: Array = cap * np.tanh(x / cap)
    return result
