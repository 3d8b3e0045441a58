"""Llama (transformers.LlamaForCausalLM)."""

from __future__ import annotations

from blockcalc.config.architecture import Architecture, Attention, Block, Mlp
from blockcalc.huggingface.keys import Keys
from blockcalc.huggingface.parts import head_width, kv_heads, rms_norm, rotary


def llama(keys: Keys) -> Architecture:
    """The architecture of a model_type "llama" file. Absent keys take LlamaConfig's defaults.

    Raises ConfigError.
    """
    width = keys.size("d", "hidden_size", default=4096)
    heads = keys.size("h", "num_attention_heads", default=32)
    context = keys.whole("max_position_embeddings", default=2048, lowest=1)
    bias = keys.flag("attention_bias", False)
    norm = rms_norm(keys)
    block = Block(
        attention=Attention(
            heads=heads,
            kv_heads=kv_heads(keys, heads),
            head_width=head_width(keys, width, heads),
            q_bias=bias,
            k_bias=bias,
            v_bias=bias,
            out_bias=bias,
            positions=rotary(keys, context),
        ),
        feedforward=Mlp(
            width=keys.size("f", "intermediate_size", default=11008),
            gated=True,
            activation=keys.activation("hidden_act", "silu"),
            bias=keys.flag("mlp_bias", False),
        ),
        norm=norm,
    )
    keys.ignore("attention_dropout", "pretraining_tp")
    return Architecture(
        name=keys.name,
        width=width,
        layers=keys.size("L", "num_hidden_layers", default=32),
        blocks={"block": block},
        vocabulary=keys.size("V", "vocab_size", default=32000),
        context=context,
        tied_head=keys.flag("tie_word_embeddings", False),
        final_norm=norm,
        tensor_names="llama",
    )
