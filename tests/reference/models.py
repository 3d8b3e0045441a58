"""The tiny models of tests/data/numeric, written in the grammar's words, and their tensors' names.

Each is what transformers' class of that name makes of the config.json beside the arrays. Names are
mapped here by hand for the classes that `config.naming` has no table of.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from blockcalc.config.architecture import Architecture, Pattern
from blockcalc.config.parts import Alibi, Attention, Block, Mlp, Moe, Norm, Rotary, RotaryScaling
from blockcalc.reference.weights import ungroup

DATA = Path(__file__).parents[1] / "data" / "numeric"
LN, RMS = Norm("layernorm", bias=True), Norm("rmsnorm", epsilon=1e-6)
GEMMA_NORM = Norm("rmsnorm", epsilon=1e-6, unit_offset=True)


@dataclass(frozen=True)
class Tiny:
    """One stored model: the architecture, and what its tensors need before the layout's names fit."""

    architecture: Architecture
    names: Mapping[str, str] = field(default_factory=dict)  # framework's name (part of it) -> ours
    change: Callable[[str, Any], Any] = lambda name, array: array

    def weights(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        weights = {}
        for key in stored:
            if key.startswith("w/"):
                name = key[2:]
                for theirs, ours in self.names.items():
                    name = name.replace(theirs, ours)
                weights[name] = self.change(name, stored[key])
        return weights


def stored(name: str) -> Any:
    return np.load(DATA / f"{name}.npz")


def config(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return data


def gpt2() -> Tiny:
    attention = Attention(4, q_bias=True, k_bias=True, v_bias=True, out_bias=True, projections="fused")
    block = Block(attention, Mlp(128, activation="gelu_new", bias=True), LN)
    return Tiny(model("gpt2", 3, block, learned_positions=16, final_norm=LN))


def llama(name: str = "llama", layers: int = 3, window: int | None = None, **scaling: Any) -> Tiny:
    rotary = Rotary(scaling=RotaryScaling(**scaling) if scaling else None)
    block = Block(Attention(4, 2, positions=rotary, window=window), gated(), RMS)
    return Tiny(model("llama", layers, block, tied_head=False, final_norm=RMS))


def llama_rope_scaled() -> Tiny:
    factors = {"factor": 8.0, "low_frequency_factor": 1.0, "high_frequency_factor": 4.0, "original_context": 8}
    return llama(layers=2, kind="llama3", **factors)


def mistral() -> Tiny:
    return llama(window=4)


def qwen2() -> Tiny:
    attention = Attention(4, 2, q_bias=True, k_bias=True, v_bias=True, positions=Rotary())
    return Tiny(model("llama", 2, Block(attention, gated(), RMS), final_norm=RMS))


def qwen3() -> Tiny:
    attention = Attention(4, 2, head_width=16, qk_norm=RMS, positions=Rotary())
    return Tiny(model("llama", 2, Block(attention, gated(), RMS), tied_head=False, final_norm=RMS))


def qwen3_moe() -> Tiny:
    attention = Attention(4, 2, head_width=16, qk_norm=RMS, positions=Rotary())
    block = Block(attention, Moe(4, 2, 24, storage="fused"), RMS)
    return Tiny(model("llama", 2, block, tied_head=False, final_norm=RMS))


def mixtral() -> Tiny:
    norm = Norm("rmsnorm", epsilon=1e-5)
    block = Block(Attention(4, 2, positions=Rotary(theta=1e6)), Moe(4, 2, 64, storage="fused"), norm)
    return Tiny(model("llama", 2, block, tied_head=False, final_norm=norm))


def gemma() -> Tiny:
    block = Block(Attention(4, 1, head_width=16, positions=Rotary()), gated("gelu_pytorch_tanh"), GEMMA_NORM)
    return Tiny(model("llama", 2, block, embedding_scale="sqrt_width", final_norm=GEMMA_NORM))


def gemma2() -> Tiny:
    def block(window: int | None) -> Block:
        attention = Attention(4, 2, head_width=16, positions=Rotary(), window=window, scale=10**-0.5, softcap=5.0)
        return Block(attention, gated("gelu_pytorch_tanh"), GEMMA_NORM, placement="both")

    kinds = {"local": block(4), "global": block(None)}
    ends = {"embedding_scale": "sqrt_width", "final_norm": GEMMA_NORM, "logit_softcap": 3.0}
    return Tiny(model("gemma2", 3, kinds, pattern=Pattern(("local", "global")), **ends))


def gpt_neox(fraction: float = 0.5, parallel: Any = "two_norms") -> Tiny:
    biases = dict.fromkeys(("q_bias", "k_bias", "v_bias", "out_bias"), True)
    attention = Attention(4, projections="fused", positions=Rotary(fraction=fraction), **biases)
    block = Block(attention, Mlp(64, bias=True), LN, parallel=parallel)
    return Tiny(model("gpt_neox", 2, block, tied_head=False, final_norm=LN))


def gpt_neox_sequential() -> Tiny:
    return gpt_neox(1.0, "no")


def bloom() -> Tiny:
    """Fused rows lie head by head, as in GPT-NeoX."""
    biases = dict.fromkeys(("q_bias", "k_bias", "v_bias", "out_bias"), True)
    attention = Attention(4, projections="fused", positions=Alibi(), **biases)
    block = Block(attention, Mlp(128, activation="gelu_tanh", bias=True), LN)
    names = BLOOM_NAMES | {
        "transformer.word_embeddings_layernorm": "embedding.norm",
        "transformer.word_embeddings": "embedding.tokens",
    }

    def change(name: str, array: Any) -> Any:
        return ungroup(array, attention) if ".qkv." in name else array

    return Tiny(model("blockcalc", 2, block, embedding_norm=LN, final_norm=LN), names, change)


def falcon() -> Tiny:
    attention = Attention(4, 1, projections="fused", positions=Rotary())
    block = Block(attention, Mlp(128), LN, parallel="one_norm")
    names = BLOOM_NAMES | {"transformer.word_embeddings": "embedding.tokens", "attention.norm": "norm"}
    return Tiny(model("blockcalc", 2, block, final_norm=LN), names)


def gptj() -> Tiny:
    attention = Attention(4, positions=Rotary(fraction=0.5, interleaved=True))
    block = Block(attention, Mlp(128, activation="gelu_new", bias=True), LN, parallel="one_norm")
    names = {
        "transformer.h": "blocks", "transformer.wte": "embedding.tokens", "transformer.ln_f": "final_norm",
        "lm_head": "head", "ln_1": "norm", "attn.out_proj": "attention.out", "attn.q_proj": "attention.q",
        "attn.k_proj": "attention.k", "attn.v_proj": "attention.v", "mlp.fc_in": "feedforward.up",
        "mlp.fc_out": "feedforward.out",
    }  # fmt: skip
    return Tiny(model("blockcalc", 2, block, tied_head=False, head_bias=True, final_norm=LN), names)


def mpt() -> Tiny:
    norm = Norm("layernorm")
    block = Block(Attention(4, projections="fused", positions=Alibi()), Mlp(128), norm)
    names = {
        "transformer.blocks": "blocks", "transformer.wte": "embedding.tokens", "transformer.norm_f": "final_norm",
        "norm_1": "attention.norm", "norm_2": "feedforward.norm", "attn.Wqkv": "attention.qkv",
        "attn.out_proj": "attention.out", "ffn.up_proj": "feedforward.up", "ffn.down_proj": "feedforward.out",
    }  # fmt: skip
    return Tiny(model("blockcalc", 2, block, final_norm=norm), names)


def opt() -> Tiny:
    """OPT's table begins with two rows that a text without padding never reads."""
    biases = dict.fromkeys(("q_bias", "k_bias", "v_bias", "out_bias"), True)
    block = Block(Attention(4, **biases), Mlp(64, activation="relu", bias=True), LN)
    names = {
        "model.decoder.layers": "blocks", "model.decoder.embed_tokens": "embedding.tokens",
        "model.decoder.embed_positions": "embedding.positions", "model.decoder.final_layer_norm": "final_norm",
        "self_attn_layer_norm": "attention.norm", "final_layer_norm": "feedforward.norm",
        "self_attn.out_proj": "attention.out", "self_attn.q_proj": "attention.q", "self_attn.k_proj": "attention.k",
        "self_attn.v_proj": "attention.v", "fc1": "feedforward.up", "fc2": "feedforward.out",
    }  # fmt: skip

    def change(name: str, array: Any) -> Any:
        return array[2:] if "positions" in name else array

    return Tiny(model("blockcalc", 2, block, learned_positions=16, final_norm=LN), names, change)


def phi3() -> Tiny:
    norm = Norm("rmsnorm", epsilon=1e-5)
    feedforward = Mlp(64, gated=True, activation="silu", storage="fused")
    block = Block(Attention(4, 2, projections="fused", positions=Rotary()), feedforward, norm)
    names = {"self_attn.qkv_proj": "attention.qkv", "mlp.gate_up_proj": "feedforward.gate_up"}
    return Tiny(model("llama", 2, block, tied_head=False, final_norm=norm), names)


def gated(activation: str = "silu") -> Mlp:
    return Mlp(64, gated=True, activation=activation)


def model(layout: str, layers: int, blocks: Block | Mapping[str, Block], **more: Any) -> Architecture:
    kinds = {"block": blocks} if isinstance(blocks, Block) else blocks
    return Architecture("tiny", 32, layers, kinds, vocabulary=50, tensor_names=layout, **more)


BLOOM_NAMES = {
    "transformer.h": "blocks",
    "transformer.ln_f": "final_norm",
    "self_attention.query_key_value": "attention.qkv",
    "self_attention.dense": "attention.out",
    "input_layernorm": "attention.norm",
    "post_attention_layernorm": "feedforward.norm",
    "mlp.dense_h_to_4h": "feedforward.up",
    "mlp.dense_4h_to_h": "feedforward.out",
}

TINY: Mapping[str, Callable[[], Tiny]] = {
    make.__name__: make
    for make in (
        gpt2, llama, llama_rope_scaled, mistral, qwen2, qwen3, qwen3_moe, mixtral, gemma, gemma2, gpt_neox,
        gpt_neox_sequential, bloom, falcon, gptj, mpt, opt, phi3,
    )
}  # fmt: skip
"""Name of a file in tests/data/numeric -> its model."""
