"""Qwen2, Qwen2.5 and Qwen1.5 (transformers.Qwen2ForCausalLM)."""

from __future__ import annotations

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Attention, Block
from blockcalc.huggingface.keys import Keys
from blockcalc.huggingface.parts import gated_mlp, head_width, kv_heads, llama_decoder, qwen_layers, rms_norm, rotary


def qwen2(keys: Keys) -> Architecture:
    """The architecture of a model_type "qwen2" file: q, k and v have a bias that no key names, the output has none.

    Absent keys take Qwen2Config's defaults. Raises ConfigError.
    """
    width = keys.size("d", "hidden_size", default=4096)
    heads = keys.size("h", "num_attention_heads", default=32)
    layers = keys.size("L", "num_hidden_layers", default=32)
    context = keys.whole("max_position_embeddings", default=32768, lowest=1)
    attention = Attention(
        heads=heads,
        kv_heads=kv_heads(keys, heads, default=32),
        head_width=head_width(keys, width, heads),
        q_bias=True,
        k_bias=True,
        v_bias=True,
        positions=rotary(keys, context),
    )
    block = Block(attention=attention, feedforward=gated_mlp(keys, 22016), norm=rms_norm(keys))
    blocks, pattern = qwen_layers(keys, block, layers)
    return llama_decoder(keys, blocks, pattern, layers=layers, context=context, vocabulary=151936)
