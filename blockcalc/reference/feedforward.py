"""The feed-forward part: plain (1706.03762), gated (2002.05202), or a mixture of experts (1701.06538).

B sequences, T positions, d wide; f numbers in between, f_e in an expert, f_s in the shared experts;
E experts, of which a token visits k.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blockcalc.config.parts import Mlp, Moe
from blockcalc.reference.activations import activate
from blockcalc.reference.layers import Weights, linear, softmax
from blockcalc.reference.trace import Array, Trace

Multiply = Callable[[Array, str], Array]
"""Multiply an array by the matrix of that name."""


def feed_forward(x: Array, config: Mlp | Moe, weights: Weights, trace: Trace) -> Array:
    """The part's output [B, T, d] for x [B, T, d], each position by itself."""
    if isinstance(config, Mlp):
        return _dense(x, config, weights, trace, "feedforward")
    return mixture(x, config, weights, trace)


def _dense(x: Array, config: Mlp | Moe, weights: Weights, trace: Trace, name: str) -> Array:
    """Every token through the same matrices: x [B, T, d] -> [B, T, d]."""
    return _through(x, config, trace, name, lambda y, matrix: linear(y, weights, matrix, trace))


def _through(x: Array, config: Mlp | Moe, trace: Trace, name: str, multiply: Multiply) -> Array:
    """Widen x [..., d], activate, and narrow to [..., d]; with a gate, the activated gate multiplies up."""
    gate = None
    if config.storage == "fused":
        # One matrix: first the gate's rows, then up's.
        gate, up = np.split(multiply(x, f"{name}.gate_up"), 2, axis=-1)
    else:
        if config.gated:
            gate = multiply(x, f"{name}.gate")
        up = multiply(x, f"{name}.up")
    hidden = activate(up, config.activation) if gate is None else activate(gate, config.activation) * up
    return multiply(trace.note(f"{name}.hidden", hidden), f"{name}.out")


def mixture(x: Array, config: Moe, weights: Weights, trace: Trace) -> Array:
    """Sum the k likeliest experts' outputs for x [B, T, d], weighted by how likely each is: [B, T, d].

    Shared experts, when there are any, are one dense part that every token visits; its output is added.
    """
    chosen, shares = _route(x, config, weights, trace)
    outputs = _experts(x, chosen, config, weights, trace)  # [B, T, k, d]
    y = trace.note("feedforward.combined", (shares[..., None] * outputs).sum(axis=2))
    if config.shared_width is not None:
        shared = _dense(x, config, weights, trace, "feedforward.shared")
        y = trace.note("feedforward.sum", y + shared)
    return y


def _route(x: Array, config: Moe, weights: Weights, trace: Trace) -> tuple[Array, Array]:
    """Choose k experts for each token of x [B, T, d]: which, and their shares, both [B, T, k].

    The softmax is over all E experts, as in transformers' Mixtral; `normalised` rescales the k.
    """
    logits = linear(x, weights, "feedforward.router", trace)
    likely = trace.note("feedforward.probabilities", softmax(logits))
    chosen = np.argsort(-likely, axis=-1, kind="stable")[..., : config.experts_per_token]
    shares = trace.note("feedforward.chosen", np.take_along_axis(likely, chosen, axis=-1))
    if config.normalised:
        shares = shares / shares.sum(axis=-1, keepdims=True)
    return chosen, shares


def _experts(x: Array, chosen: Array, config: Moe, weights: Weights, trace: Trace) -> Array:
    """Each token through each of its k experts: x [B, T, d], chosen [B, T, k] -> [B, T, k, d]."""
    copies = np.broadcast_to(x[:, :, None, :], (*chosen.shape, x.shape[-1]))  # [B, T, k, d]
    return _through(
        copies, config, trace, "feedforward.experts", lambda y, matrix: _each(y, chosen, weights, matrix, trace)
    )


def _each(x: Array, chosen: Array, weights: Weights, name: str, trace: Trace) -> Array:
    """One matrix of every expert: x [B, T, k, in], NAME.weight [E, out, in], NAME.bias [E, out] -> [B, T, k, out].

    Expert by expert, each multiplying only the tokens that chose it.
    """
    matrices, bias = weights[f"{name}.weight"], weights.get(f"{name}.bias")
    y = np.empty((*chosen.shape, matrices.shape[1]), np.result_type(x, matrices))
    for expert in np.unique(chosen):
        here = chosen == expert
        product = trace.matmul(name, x[here], matrices[expert].T)
        y[here] = product if bias is None else product + bias[expert]
    return trace.note(name, y)
