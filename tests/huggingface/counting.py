"""What the engine makes of an architecture, and a second count that knows nothing of the engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from blockcalc.config.architecture import Architecture
from blockcalc.engine import tally
from blockcalc.engine.context import Context
from blockcalc.engine.derive import derive
from blockcalc.engine.run import Run, run_sizes
from blockcalc.views.params import params

DATA = Path(__file__).parent.parent / "data"
FAMILIES = ("gpt2", "llama", "qwen2", "qwen3")

Tensors = dict[str, list[tuple[list[int], int]]]


def measured(folder: str) -> dict[str, dict[str, Any]]:
    """Name -> what the framework reports (transformers 5.24.0, meta device)."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((DATA / folder).glob("*.json"))}


def tensors(architecture: Architecture) -> tuple[Tensors, list[str]]:
    """Framework name -> (shape, count) of each stored tensor, and the names of tied ones."""
    derivation = derive(architecture)
    found: Tensors = {}
    tied = []
    for row in params(derivation, Context(derivation.sizes), by="tensor").rows:
        if row.fields["tied_to"]:
            tied.append(row.fields["name"])
        else:
            found.setdefault(row.fields["name"], []).append((list(row.fields["shape"]), row.fields["count"]))
    return found, tied


def expected_tensors(record: dict[str, Any]) -> Tensors:
    """The same as the data files hold it."""
    return {name: [(shape, count) for shape, count in entries] for name, entries in record["tensors"].items()}


def stored(architecture: Architecture) -> int:
    """Parameters, a tied matrix once."""
    derivation = derive(architecture)
    return int(tally.stored(derivation).value(Context(derivation.sizes).values))


def active(architecture: Architecture) -> int:
    """Parameters that one token meets."""
    derivation = derive(architecture)
    return int(tally.active(derivation).value(Context(derivation.sizes).values))


def non_embedding(architecture: Architecture) -> int:
    """Parameters without tables and an untied head."""
    derivation = derive(architecture)
    return int(tally.non_embedding(derivation).value(Context(derivation.sizes).values))


def forward_flops(architecture: Architecture, T: int) -> int:
    """Matrix FLOPs of one forward pass over one sequence, full square."""
    derivation = derive(architecture)
    values = Context({**derivation.sizes, **run_sizes(derivation, Run(B=1, T=T))}).values
    parts = (tally.linear, tally.attention, tally.head)
    return sum(int(part(derivation).value(values)) for part in parts)


_DEFAULTS = {
    "gpt2": {"d": 768, "L": 12, "h": 12, "V": 50257, "P": 1024},
    "llama": {"d": 4096, "L": 32, "h": 32, "V": 32000, "f": 11008},
    "qwen2": {"d": 4096, "L": 32, "h": 32, "V": 151936, "f": 22016},
    "qwen3": {"d": 4096, "L": 32, "h": 32, "V": 151936, "f": 22016},
}
_NAMES = {
    "d": ("n_embd", "hidden_size"),
    "L": ("n_layer", "num_hidden_layers"),
    "h": ("n_head", "num_attention_heads"),
    "P": ("n_positions", "max_position_embeddings"),
    "V": ("vocab_size",),
    "f": ("intermediate_size",),
}


def counted_by_hand(config: dict[str, Any]) -> int:
    """Parameters of a config.json of one of the four families, counted in plain arithmetic."""
    family = config["model_type"]
    sizes = {}
    for letter, default in _DEFAULTS[family].items():
        names = _NAMES[letter] if family == "gpt2" else _NAMES[letter][-1:]
        sizes[letter] = int(next((config[name] for name in names if name in config), default))
    d, L, h, V = (sizes[letter] for letter in "dLhV")
    if family == "gpt2":
        f = int(config.get("n_inner") or 4 * d)
        block = 4 * d * d + 4 * d + 2 * d * f + f + d + 4 * d
        head = 0 if config.get("tie_word_embeddings", True) else V * d
        return V * d + sizes["P"] * d + L * block + 2 * d + head
    return _llama_like(config, family, d, L, h, V, sizes["f"])


def _llama_like(config: dict[str, Any], family: str, d: int, L: int, h: int, V: int, f: int) -> int:
    missing_kv = 32 if family != "llama" and h % 32 == 0 else h
    kv = config.get("num_key_value_heads", missing_kv)
    kv = h if kv is None else int(kv)
    d_h = config.get("head_dim", 128 if family == "qwen3" else None)
    d_h = d // h if d_h is None else int(d_h)
    attention_bias = family != "qwen2" and config.get("attention_bias", False)
    qkv_bias = (h + 2 * kv) * d_h if attention_bias or family == "qwen2" else 0
    out_bias = d if attention_bias else 0
    mlp_bias = 2 * f + d if family == "llama" and config.get("mlp_bias", False) else 0
    norms = 2 * d + (2 * d_h if family == "qwen3" else 0)
    block = 2 * d * h * d_h + 2 * d * kv * d_h + qkv_bias + out_bias + 3 * d * f + mlp_bias + norms
    head = 0 if config.get("tie_word_embeddings", False) else V * d
    return V * d + L * block + d + head
