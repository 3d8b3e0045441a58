"""Multi-head attention (1706.03762), with grouped key/value heads (2305.13245) and a cache.

B sequences, T new positions, S positions attended (cached and new), d wide; h query heads and g
key/value heads of d_h numbers each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blockcalc.config.parts import Alibi, Attention, Rotary
from blockcalc.config.resolve import head_width
from blockcalc.reference.layers import Weights, linear, normalise, softcap, softmax
from blockcalc.reference.positions import alibi, rotate, visible
from blockcalc.reference.trace import Array, Trace


@dataclass(frozen=True, slots=True)
class KeysValues:
    """What one layer keeps for later positions: keys and values [B, g, S, d_h]."""

    keys: Array
    values: Array


def attend(
    x: Array, config: Attention, weights: Weights, trace: Trace, past: KeysValues | None = None
) -> tuple[Array, KeysValues]:
    """Attention's output [B, T, d] for the stream x [B, T, d], and the keys and values of all S positions so far."""
    batch, length, width = x.shape
    q, k, v = _heads(x, config, head_width(width, config), weights, trace)

    # The new positions follow those in the cache.
    before = 0 if past is None else past.keys.shape[2]
    queries_at, keys_at = np.arange(before, before + length), np.arange(before + length)
    if isinstance(config.positions, Rotary):
        q = trace.note("attention.q_rotary", rotate(q, config.positions, queries_at))
        k = trace.note("attention.k_rotary", rotate(k, config.positions, queries_at))

    stored = KeysValues(k, v) if past is None else _append(past, k, v)
    keys = trace.note("attention.keys", stored.keys)
    values = trace.note("attention.values", stored.values)
    if config.grouped:
        # Query heads come in g groups of h/g; each group reads one key/value head.
        times = config.heads // config.kv_head_count
        keys = trace.note("attention.keys_repeated", np.repeat(keys, times, axis=1))
        values = trace.note("attention.values_repeated", np.repeat(values, times, axis=1))

    shares = _shares(q, keys, config, trace, at=(queries_at, keys_at))
    mixed = trace.note("attention.weighted_sum", trace.matmul("attention.weighted_sum", shares, values))
    merged = trace.note("attention.merged", mixed.transpose(0, 2, 1, 3).reshape(batch, length, -1))
    return linear(merged, weights, "attention.out", trace), stored


def _shares(q: Array, keys: Array, config: Attention, trace: Trace, *, at: tuple[Array, Array]) -> Array:
    """How much each query takes from each key, every row summing to one.

    q [B, h, T, d_h], keys [B, h, S, d_h] -> [B, h, T, S]. `at` gives the positions of the T queries and S keys.
    """
    scale = 1.0 / math.sqrt(q.shape[-1]) if config.scale is None else config.scale
    scores = trace.matmul("attention.scores", q, keys.transpose(0, 1, 3, 2)) * scale
    trace.note("attention.scores", scores)
    if config.softcap is not None:
        scores = trace.note("attention.softcapped", softcap(scores, config.softcap))
    if isinstance(config.positions, Alibi):
        bias = alibi(config.heads, *at).astype(scores.dtype)
        scores = trace.note("attention.alibi", scores + bias)
    seen = visible(*at, config.window)
    scores = trace.note("attention.masked", np.where(seen, scores, -np.inf))
    return trace.note("attention.softmax", softmax(scores))


def _heads(x: Array, config: Attention, width: int, weights: Weights, trace: Trace) -> tuple[Array, Array, Array]:
    """Queries [B, h, T, d_h], keys and values [B, g, T, d_h] of x [B, T, d], normalised when there is a qk_norm."""
    h, g, norm = config.heads, config.kv_head_count, config.qk_norm
    q, k, v = _projections(x, config, width, weights, trace)
    if norm is not None and config.qk_norm_over == "width":
        q = normalise(q, norm, weights, "attention.q_norm", trace)
        k = normalise(k, norm, weights, "attention.k_norm", trace)
    q = trace.note("attention.q", _split(q, h, width))
    k = trace.note("attention.k", _split(k, g, width))
    v = trace.note("attention.v", _split(v, g, width))
    if norm is not None and config.qk_norm_over == "head":
        q = normalise(q, norm, weights, "attention.q_norm", trace)
        k = normalise(k, norm, weights, "attention.k_norm", trace)
    return q, k, v


def _projections(x: Array, config: Attention, width: int, weights: Weights, trace: Trace) -> tuple[Array, Array, Array]:
    """Queries [B, T, h·d_h], keys and values [B, T, g·d_h] of x [B, T, d], from three matrices or a fused one."""
    if config.projections == "fused":
        # One matrix: first the rows of all queries, then of all keys, then of all values.
        fused = linear(x, weights, "attention.qkv", trace)
        q_end = config.heads * width
        k_end = q_end + config.kv_head_count * width
        return fused[..., :q_end], fused[..., q_end:k_end], fused[..., k_end:]
    return (
        linear(x, weights, "attention.q", trace, "attention.q_proj"),
        linear(x, weights, "attention.k", trace, "attention.k_proj"),
        linear(x, weights, "attention.v", trace, "attention.v_proj"),
    )


def _split(x: Array, heads: int, width: int) -> Array:
    """[B, T, heads·d_h] -> [B, heads, T, d_h]."""
    batch, length, _ = x.shape
    return x.reshape(batch, length, heads, width).transpose(0, 2, 1, 3)


def _append(past: KeysValues, k: Array, v: Array) -> KeysValues:
    return KeysValues(np.concatenate([past.keys, k], axis=2), np.concatenate([past.values, v], axis=2))
