"""Qwen3 (transformers.Qwen3ForCausalLM)."""

from __future__ import annotations

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Attention, Block
from blockcalc.huggingface.keys import Keys
from blockcalc.huggingface.parts import gated_mlp, head_width, kv_heads, llama_decoder, qwen_layers, rms_norm, rotary


def qwen3(keys: Keys) -> Architecture:
    """The architecture of a model_type "qwen3" file: queries and keys are normalised over each head.

    Absent keys take Qwen3Config's defaults; the head width's is 128 whatever d and h are.
    Raises ConfigError.
    """
    width = keys.size("d", "hidden_size", default=4096)
    heads = keys.size("h", "num_attention_heads", default=32)
    layers = keys.size("L", "num_hidden_layers", default=32)
    context = keys.whole("max_position_embeddings", default=32768, lowest=1)
    bias = keys.flag("attention_bias", False)
    attention = Attention(
        heads=heads,
        kv_heads=kv_heads(keys, heads, default=32),
        head_width=head_width(keys, width, heads, default=128),
        q_bias=bias,
        k_bias=bias,
        v_bias=bias,
        out_bias=bias,
        qk_norm=rms_norm(keys),
        positions=rotary(keys, context),
    )
    block = Block(attention=attention, feedforward=gated_mlp(keys, 22016), norm=rms_norm(keys))
    blocks, pattern = qwen_layers(keys, block, layers)
    return llama_decoder(keys, blocks, pattern, layers=layers, context=context, vocabulary=151936)
