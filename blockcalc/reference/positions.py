"""How positions enter attention: rotary turning of queries and keys, ALiBi, and the causal mask."""

from __future__ import annotations

import math

import numpy as np

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Rotary, RotaryScaling
from blockcalc.errors import ConfigError, one_of
from blockcalc.reference.trace import Array

_STRETCHED = ("linear", "llama3")


def rotate(x: Array, rotary: Rotary, positions: Array) -> Array:
    """Turn the first numbers of each head, pair by pair, by an angle that grows with the position (2104.09864).

    x [B, heads, T, d_h], positions [T] -> [B, heads, T, d_h]. A pair is two numbers half the turned
    width apart, or two neighbours when `interleaved`.
    """
    width = rotary.width(x.shape[-1])
    turned, kept = x[..., :width], x[..., width:]
    angles = positions[:, None] * frequencies(rotary, width)  # [T, width/2]
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    if rotary.interleaved:
        first, second = turned[..., 0::2], turned[..., 1::2]
    else:
        first, second = turned[..., : width // 2], turned[..., width // 2 :]
    pair = [first * cos - second * sin, first * sin + second * cos]
    turned = np.stack(pair, axis=-1).reshape(turned.shape) if rotary.interleaved else np.concatenate(pair, axis=-1)
    return np.concatenate([turned, kept], axis=-1)


def frequencies(rotary: Rotary, width: int) -> Array:
    """Angle per position of each pair, θ^(-2i/width) for pair i, stretched when there is a scaling: [width/2]."""
    plain: Array = rotary.theta ** (-np.arange(0, width, 2) / width)
    scaling = rotary.scaling
    if scaling is None or scaling.kind not in _STRETCHED:
        return plain
    if scaling.kind == "linear":
        return plain / scaling.factor
    return _llama3(plain, scaling)


def _llama3(plain: Array, scaling: RotaryScaling) -> Array:
    """Llama 3.1's: slow pairs are stretched by the factor, fast ones kept, those between blended.

    A pair is slow or fast by how often it turns within the context that the model was first trained on.
    """
    assert scaling.original_context is not None
    turns = scaling.original_context * plain / (2.0 * math.pi)
    low, high = scaling.low_frequency_factor, scaling.high_frequency_factor
    kept = np.clip((turns - low) / (high - low), 0.0, 1.0)
    result: Array = kept * plain + (1.0 - kept) * plain / scaling.factor
    return result


def check_scaling(architecture: Architecture) -> None:
    """Refuse a stretching of the rotary angles that isn't written here: shapes would be right, numbers not.

    Raises ConfigError naming the block.
    """
    for name, block in architecture.blocks.items():
        scaling = getattr(block.attention.positions, "scaling", None)
        if scaling is None:
            continue
        key = f"blocks.{name}.attention.positions.scaling"
        if scaling.kind not in _STRETCHED:
            fix = f"{one_of(_STRETCHED)} is"
            raise ConfigError("isn't computed by the reference pass", key=f"{key}.kind", value=scaling.kind, fix=fix)
        if scaling.kind == "llama3" and scaling.original_context is None:
            raise ConfigError("llama3 needs the context that it stretches", key=f"{key}.original_context")


def alibi_slopes(heads: int) -> Array:
    """The slope of each head's bias, 2^(-8i/h) for head i of h = 1, 2, 4, 8 … (2108.12409): [h].

    For other h the authors' code takes the slopes of the power of two below, then every second slope
    of the one above.
    """
    below: int = 2 ** (heads.bit_length() - 1)
    slopes = _geometric(below)
    return np.concatenate([slopes, _geometric(2 * below)[::2][: heads - below]])


def _geometric(heads: int) -> Array:
    result: Array = 2.0 ** (-8.0 * np.arange(1, heads + 1) / heads)
    return result


def alibi(heads: int, queries: Array, keys: Array) -> Array:
    """The bias on the scores: minus slope times distance. queries [T], keys [S] (positions) -> [h, T, S]."""
    distance = queries[:, None] - keys[None, :]
    result: Array = -alibi_slopes(heads)[:, None, None] * distance
    return result


def visible(queries: Array, keys: Array, window: int | None) -> Array:
    """Which key each query may see: itself and those before it, at most `window` in all.

    queries [T], keys [S] (positions) -> true or false [T, S].
    """
    distance = queries[:, None] - keys[None, :]
    seen: Array = distance >= 0
    return seen if window is None else seen & (distance < window)
