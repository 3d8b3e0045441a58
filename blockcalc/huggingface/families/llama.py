"""Llama (transformers.LlamaForCausalLM)."""

from __future__ import annotations

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Attention, Block
from blockcalc.huggingface.keys import Keys
from blockcalc.huggingface.parts import gated_mlp, head_width, kv_heads, llama_decoder, rms_norm, rotary


def llama(keys: Keys) -> Architecture:
    """The architecture of a model_type "llama" file. Absent keys take LlamaConfig's defaults.

    Raises ConfigError.
    """
    width = keys.size("d", "hidden_size", default=4096)
    heads = keys.size("h", "num_attention_heads", default=32)
    layers = keys.size("L", "num_hidden_layers", default=32)
    context = keys.whole("max_position_embeddings", default=2048, lowest=1)
    bias = keys.flag("attention_bias", False)
    attention = Attention(
        heads=heads,
        kv_heads=kv_heads(keys, heads),
        head_width=head_width(keys, width, heads),
        q_bias=bias,
        k_bias=bias,
        v_bias=bias,
        out_bias=bias,
        positions=rotary(keys, context),
    )
    feedforward = gated_mlp(keys, 11008, bias=keys.flag("mlp_bias", False))
    block = Block(attention=attention, feedforward=feedforward, norm=rms_norm(keys))
    keys.ignore("pretraining_tp")
    return llama_decoder(keys, {"block": block}, None, layers=layers, context=context, vocabulary=32000)
