"""GPT-2 (transformers.GPT2LMHeadModel)."""

from __future__ import annotations

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Attention, Block, Mlp, Norm
from blockcalc.config.resolve import near_divisors
from blockcalc.config.widths import Times
from blockcalc.huggingface.keys import Keys


def gpt2(keys: Keys) -> Architecture:
    """The architecture of a model_type "gpt2" file. Absent keys take GPT2Config's defaults.

    Raises ConfigError.
    """
    width = keys.size("d", "n_embd", "hidden_size", default=768)
    heads = keys.size("h", "n_head", "num_attention_heads", default=12)
    positions = keys.size("P", "n_positions", "max_position_embeddings", default=1024)
    inner = keys.optional_size("f", "n_inner")
    norm = Norm(kind="layernorm", bias=True, epsilon=keys.number("layer_norm_epsilon", default=1e-5))
    if width % heads:
        raise keys.refused("n_head", f"must divide the width {width}", heads, fix=near_divisors(width, heads))
    block = Block(
        attention=Attention(
            heads=heads,
            q_bias=True,
            k_bias=True,
            v_bias=True,
            out_bias=True,
            projections="fused",
            scale=None if keys.flag("scale_attn_weights", True) else 1.0,
        ),
        feedforward=Mlp(
            width=Times(times=4) if inner is None else inner,
            activation=keys.activation("activation_function", "gelu_new"),
            bias=True,
        ),
        norm=norm,
    )
    _check_variants(keys)
    return Architecture(
        name=keys.name,
        width=width,
        layers=keys.size("L", "n_layer", "num_hidden_layers", default=12),
        blocks={"block": block},
        vocabulary=keys.size("V", "vocab_size", default=50257),
        learned_positions=positions,
        context=positions,
        tied_head=keys.flag("tie_word_embeddings", True),
        final_norm=norm,
        tensor_names="gpt2",
    )


def _check_variants(keys: Keys) -> None:
    if keys.flag("add_cross_attention", False):
        raise keys.refused("add_cross_attention", "a decoder that reads an encoder is not covered", True)
    if keys.flag("scale_attn_by_inverse_layer_idx", False):
        keys.warn("scale_attn_by_inverse_layer_idx divides the scores by the layer's number; no count changes by it")
    keys.ignore("n_ctx", "resid_pdrop", "embd_pdrop", "attn_pdrop", "reorder_and_upcast_attn", "gradient_checkpointing")
    keys.ignore(
        "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels", "summary_first_dropout"
    )
