"""The activation functions of the feed-forward part, number by number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from blockcalc.config.activations import ACTIVATIONS
from blockcalc.reference.trace import Array


def activate(x: Array, activation: str) -> Array:
    """The function that a configuration calls `activation`, of each number of x. Same shape, same float type."""
    return FUNCTIONS[ACTIVATIONS[activation]](x)


def sigmoid(x: Array) -> Array:
    """1 / (1 + e^-x), as e^-log(1 + e^-x) so that no exponential overflows."""
    result: Array = np.exp(-np.logaddexp(0.0, -x))
    return result


def gelu(x: Array) -> Array:
    """x·Φ(x), Φ the standard normal distribution (1606.08415)."""
    return 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0)))


def gelu_tanh(x: Array) -> Array:
    """The tanh approximation of GELU, section 2 of 1606.08415; GPT-2's."""
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1.0 + np.tanh(inner))


def _erf(x: Array) -> Array:
    # numpy has no error function; Python's own is exact to the last digit.
    return np.fromiter(map(math.erf, x.flat), x.dtype, count=x.size).reshape(x.shape)


FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0.0),
    "relu_squared": lambda x: np.maximum(x, 0.0) ** 2,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "quick_gelu": lambda x: x * sigmoid(1.702 * x),
    "silu": lambda x: x * sigmoid(x),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "mish": lambda x: x * np.tanh(np.logaddexp(0.0, x)),
    "leaky_relu": lambda x: np.where(x > 0.0, x, 0.01 * x),
    "relu6": lambda x: np.clip(x, 0.0, 6.0),
    "gelu_10": lambda x: np.clip(gelu(x), -10.0, 10.0),
    "hardswish": lambda x: x * np.clip(x + 3.0, 0.0, 6.0) / 6.0,
    "laplace": lambda x: 0.5 * (1.0 + _erf((x - 0.707107) / (0.282095 * math.sqrt(2.0)))),
    "identity": lambda x: x,
}
"""Name of a function, as the values of `config.activations.ACTIVATIONS` give it -> the function."""
