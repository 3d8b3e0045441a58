"""Qwen2, Qwen2.5 and Qwen1.5 (transformers.Qwen2ForCausalLM)."""

from __future__ import annotations

from blockcalc.config.architecture import Architecture, Attention, Block, Mlp
from blockcalc.huggingface.keys import Keys
from blockcalc.huggingface.parts import head_width, kv_heads, qwen_layers, rms_norm, rotary


def qwen2(keys: Keys) -> Architecture:
    """The architecture of a model_type "qwen2" file: q, k and v have a bias that no key names, the output has none.

    Absent keys take Qwen2Config's defaults. Raises ConfigError.
    """
    width = keys.size("d", "hidden_size", default=4096)
    heads = keys.size("h", "num_attention_heads", default=32)
    layers = keys.size("L", "num_hidden_layers", default=32)
    context = keys.whole("max_position_embeddings", default=32768, lowest=1)
    norm = rms_norm(keys)
    block = Block(
        attention=Attention(
            heads=heads,
            kv_heads=kv_heads(keys, heads, default=32),
            head_width=head_width(keys, width, heads),
            q_bias=True,
            k_bias=True,
            v_bias=True,
            positions=rotary(keys, context),
        ),
        feedforward=Mlp(
            width=keys.size("f", "intermediate_size", default=22016),
            gated=True,
            activation=keys.activation("hidden_act", "silu"),
        ),
        norm=norm,
    )
    blocks, pattern = qwen_layers(keys, block, layers)
    keys.ignore("attention_dropout")
    return Architecture(
        name=keys.name,
        width=width,
        layers=layers,
        blocks=blocks,
        pattern=pattern,
        vocabulary=keys.size("V", "vocab_size", default=151936),
        context=context,
        tied_head=keys.flag("tie_word_embeddings", False),
        final_norm=norm,
        tensor_names="llama",
    )
