"""Tables of names: what a framework calls each weight, and which way round it stores a matrix.

A weight's own name is its stage's path and its role, with the block's name left out:
`attention.q.weight`, `feedforward.gate.bias`, `embedding.tokens.weight`, `head.weight`. In a
framework's name `*` stands for the layer's index.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Layout(NamedTuple):
    """One framework's names. `layers` is the prefix of a block's weights, with its `*`.

    `stems` maps a weight's own stem (its name less the role) to the framework's. `bare` are stems
    whose framework name takes no ".weight". `matrices_in_out` says that the blocks' matrices lie as
    [in, out] (GPT-2's Conv1D) where torch's Linear keeps [out, in]. `qkv_by_head` says that a fused
    matrix keeps, for each key/value head, its queries, its key and its value (GPT-NeoX), where others
    keep all queries, then all keys, then all values.
    """

    layers: str
    stems: Mapping[str, str]
    bare: frozenset[str] = frozenset()
    matrices_in_out: bool = False
    qkv_by_head: bool = False

    def name(self, weight: str, in_block: bool) -> str:
        """The framework's name of a weight given by its own name."""
        stem, _, role = weight.rpartition(".")
        found = self.stems.get(stem, stem)
        prefix = f"{self.layers}." if in_block else ""
        suffix = "" if stem in self.bare and role == "weight" else f".{role}"
        return f"{prefix}{found}{suffix}"


_GPT2_BLOCK = {
    "attention.norm": "ln_1",
    "attention.qkv": "attn.c_attn",
    "attention.out": "attn.c_proj",
    "feedforward.norm": "ln_2",
    "feedforward.up": "mlp.c_fc",
    "feedforward.out": "mlp.c_proj",
}
_LLAMA_BLOCK = {
    "attention.norm": "input_layernorm",
    "attention.q": "self_attn.q_proj",
    "attention.k": "self_attn.k_proj",
    "attention.v": "self_attn.v_proj",
    "attention.q_norm": "self_attn.q_norm",
    "attention.k_norm": "self_attn.k_norm",
    "attention.out": "self_attn.o_proj",
    "feedforward.norm": "post_attention_layernorm",
    "feedforward.gate": "mlp.gate_proj",
    "feedforward.up": "mlp.up_proj",
    "feedforward.out": "mlp.down_proj",
    "feedforward.router": "mlp.gate",
    "feedforward.experts.gate_up": "mlp.experts.gate_up_proj",
    "feedforward.experts.out": "mlp.experts.down_proj",
}
_LLAMA_ENDS = {
    "embedding.tokens": "model.embed_tokens",
    "final_norm": "model.norm",
    "head": "lm_head",
}
_EXPERTS = frozenset({"feedforward.experts.gate_up", "feedforward.experts.out"})

LAYOUTS: Mapping[str, Layout] = {
    "blockcalc": Layout("blocks.*", {}),
    # transformers.GPT2LMHeadModel
    "gpt2": Layout(
        "transformer.h.*",
        {
            "embedding.tokens": "transformer.wte",
            "embedding.positions": "transformer.wpe",
            "final_norm": "transformer.ln_f",
            "head": "lm_head",
            **_GPT2_BLOCK,
        },
        matrices_in_out=True,
    ),
    # transformers.OpenAIGPTLMHeadModel
    "openai-gpt": Layout(
        "transformer.h.*",
        {
            "embedding.tokens": "transformer.tokens_embed",
            "embedding.positions": "transformer.positions_embed",
            "head": "lm_head",
            **_GPT2_BLOCK,
        },
        matrices_in_out=True,
    ),
    # transformers.LlamaForCausalLM; Mistral, Mixtral, Qwen and Gemma keep the same names
    "llama": Layout("model.layers.*", {**_LLAMA_ENDS, **_LLAMA_BLOCK}, bare=_EXPERTS),
    # transformers.Gemma2ForCausalLM: a norm on each side of both parts
    "gemma2": Layout(
        "model.layers.*",
        {
            **_LLAMA_ENDS,
            **_LLAMA_BLOCK,
            "attention.post_norm": "post_attention_layernorm",
            "feedforward.norm": "pre_feedforward_layernorm",
            "feedforward.post_norm": "post_feedforward_layernorm",
        },
    ),
    # transformers.GPTNeoXForCausalLM
    "gpt_neox": Layout(
        "gpt_neox.layers.*",
        {
            "embedding.tokens": "gpt_neox.embed_in",
            "final_norm": "gpt_neox.final_layer_norm",
            "head": "lm_head",
            "attention.norm": "input_layernorm",
            "attention.qkv": "attention.query_key_value",
            "attention.out": "attention.dense",
            "feedforward.norm": "post_attention_layernorm",
            "feedforward.up": "mlp.dense_h_to_4h",
            "feedforward.out": "mlp.dense_4h_to_h",
        },
        qkv_by_head=True,
    ),
    # nanoGPT's GPT: names of GPT-2, matrices as torch's Linear keeps them
    "nanogpt": Layout(
        "transformer.h.*",
        {
            "embedding.tokens": "transformer.wte",
            "embedding.positions": "transformer.wpe",
            "final_norm": "transformer.ln_f",
            "head": "lm_head",
            **_GPT2_BLOCK,
        },
    ),
}
"""Name of a table -> the table."""
