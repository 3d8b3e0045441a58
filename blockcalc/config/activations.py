"""Activation functions by name, as configurations spell them."""

from __future__ import annotations

from collections.abc import Mapping

ACTIVATIONS: Mapping[str, str] = {
    "relu": "relu",
    "relu2": "relu_squared",
    "relu_squared": "relu_squared",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_10": "gelu_10",
    "gelu_new": "gelu_tanh",
    "gelu_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "silu": "silu",
    "swish": "silu",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "mish": "mish",
    "leaky_relu": "leaky_relu",
    "relu6": "relu6",
    "hardswish": "hardswish",
    "laplace": "laplace",
    "identity": "identity",
    "linear": "identity",
}
"""Name -> the function it means. Spellings of one function share it."""
