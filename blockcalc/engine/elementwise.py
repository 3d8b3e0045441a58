"""What an elementwise function costs, in scalar operations for each element.

Each add, multiply, divide, compare and each evaluation of a function (exp, tanh, rsqrt, GELU) is one.
These are never part of the matrix FLOPs; they are rows of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

OPERATIONS: Mapping[str, int] = {
    "add": 1,
    "bias": 1,
    "scale": 1,
    "mask": 1,
    "multiply": 1,
    "activation": 1,
    "alibi": 2,  # distance times slope, add
    "softcap": 3,  # divide, tanh, multiply
    "rotary": 3,  # two multiplies and an add for each rotated number
    "softmax": 5,  # max, subtract, exp, sum, divide
    "rmsnorm": 4,  # square, sum, times rsqrt, times gain
    "layernorm": 6,  # sum, subtract, square, sum, times rsqrt, times gain
    "norm bias": 1,
    "rescale": 2,  # sum, divide
    "combine": 2,  # times the router's weight, add
}
"""Function -> operations for each element."""


def operations(function: str) -> int:
    """Scalar operations of one elementwise function for each element."""
    return OPERATIONS[function]
