"""Models in the grammar's words, as `blockcalc.load` takes them: for sizes that no preset has."""

from __future__ import annotations

from typing import Any

LAYERNORM = {"kind": "layernorm", "bias": True}
RMSNORM = {"kind": "rmsnorm", "epsilon": 1e-6}
BIASES = dict.fromkeys(("q_bias", "k_bias", "v_bias", "out_bias"), True)
ROTARY = {"kind": "rotary"}
ALIBI = {"kind": "alibi"}


def stack(
    d: int,
    L: int,
    *,
    attention: dict[str, Any],
    feedforward: dict[str, Any] | None = None,
    norm: dict[str, Any] = LAYERNORM,
    block: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """L equal blocks of a model d wide; `block` and `more` go into the block and the whole as they are."""
    part = {"kind": "mlp", "width": {"rule": "times", "times": 4}} if feedforward is None else feedforward
    kind = {"attention": attention, "feedforward": part, "norm": norm, **(block or {})}
    return {"name": "model", "width": d, "layers": L, "blocks": {"block": kind}, **more}


def gpt(d: int, L: int, h: int, *, biased: bool = True, **more: Any) -> dict[str, Any]:
    """GPT-2's block: LayerNorm, fused projections, a plain feed-forward part of 4d, biases everywhere or nowhere."""
    attention = {"heads": h, "projections": "fused", **(BIASES if biased else {})}
    feedforward = {"kind": "mlp", "width": {"rule": "times", "times": 4}, "bias": biased, "activation": "gelu_tanh"}
    norm = {"kind": "layernorm", "bias": biased}
    ends = {"final_norm": norm} if "vocabulary" in more else {}
    return stack(d, L, attention=attention, feedforward=feedforward, norm=norm, **ends, **more)


def llama(d: int, L: int, h: int, f: Any, *, h_kv: int | None = None, **more: Any) -> dict[str, Any]:
    """Llama's block: RMSNorm, rotary positions, a gated feed-forward part, no biases."""
    attention = {"heads": h, "positions": ROTARY, **({"kv_heads": h_kv} if h_kv else {})}
    feedforward = {"kind": "mlp", "width": f, "gated": True, "activation": "silu"}
    ends = {"final_norm": RMSNORM} if "vocabulary" in more else {}
    return stack(d, L, attention=attention, feedforward=feedforward, norm=RMSNORM, **ends, **more)
