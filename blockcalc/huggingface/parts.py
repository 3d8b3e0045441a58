"""What several families' config.json files say in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from blockcalc.config.architecture import Architecture, Pattern, Run
from blockcalc.config.parts import Block, Mlp, Norm, Rotary, RotaryScaling
from blockcalc.errors import one_of
from blockcalc.huggingface.keys import Keys

_SCALINGS = ("linear", "dynamic", "llama3", "yarn", "longrope")
_STRETCHED = ("llama3", "yarn", "longrope")
_DETAILS = (
    *("attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"),  # yarn
    *("short_factor", "long_factor"),  # longrope
    *("type", "finetuned"),
)


def rms_norm(keys: Keys, default: float = 1e-6) -> Norm:
    """RMSNorm with the epsilon of `rms_norm_eps`."""
    return Norm(kind="rmsnorm", epsilon=keys.number("rms_norm_eps", default=default))


def kv_heads(keys: Keys, heads: int, default: int | None = None) -> int | None:
    """h_kv, or None where it is h. Null means h; `default` is the class's value for an absent key."""
    if default is not None and "num_key_value_heads" not in keys.data and heads % default:
        keys.warn(
            f"num_key_value_heads is missing and the default of {default} doesn't fit {heads} heads; {heads} is taken"
        )
        default = None
    found = keys.optional_size("h_kv", "num_key_value_heads", default=default)
    return None if found == heads else found


def head_width(keys: Keys, width: int, heads: int, default: int | None = None) -> int | None:
    """d_h, or None where it is d/h: files write out the quotient, and then say nothing by it."""
    found = keys.optional_size("d_h", "head_dim", default=default)
    return None if found is not None and found * heads == width else found


def gated_mlp(keys: Keys, width: int, *, bias: bool = False) -> Mlp:
    """A gated feed-forward part; `width` is the class's f for an absent key."""
    return Mlp(
        width=keys.size("f", "intermediate_size", default=width),
        gated=True,
        activation=keys.activation("hidden_act", "silu"),
        bias=bias,
    )


def llama_decoder(
    keys: Keys, blocks: Mapping[str, Block], pattern: Pattern | None, *, layers: int, context: int, vocabulary: int
) -> Architecture:
    """The ends that Llama's successors share: a head of its own unless the file ties it, a final RMSNorm.

    `vocabulary` is the class's V for an absent key.
    """
    keys.ignore("attention_dropout")
    return Architecture(
        name=keys.name,
        width=keys.size("d", "hidden_size", default=4096),
        layers=layers,
        blocks=blocks,
        pattern=pattern,
        vocabulary=keys.size("V", "vocab_size", default=vocabulary),
        context=context,
        tied_head=keys.flag("tie_word_embeddings", False),
        final_norm=rms_norm(keys),
        tensor_names="llama",
    )


def rotary(keys: Keys, context: int, theta: float = 10_000.0) -> Rotary:
    """Rotary positions of the whole head: `rope_theta` and `rope_scaling`, or `rope_parameters` (transformers 5)."""
    outer = keys.number("rope_theta", default=theta, above_zero=True)
    parameters, scaling = keys.table("rope_parameters"), keys.table("rope_scaling")
    table = scaling if scaling and scaling.data else parameters
    if table is None:
        return Rotary(theta=outer)
    inner = table.number("rope_theta", default=outer, above_zero=True)
    return Rotary(theta=inner, scaling=_scaling(table, context))


def _scaling(table: Keys, context: int) -> RotaryScaling | None:
    table.ignore(*_DETAILS)
    named = "rope_type" if "rope_type" in table.data else "type"
    kind = table.text(named, "default")
    if kind == "default":
        return None
    if kind not in _SCALINGS:
        raise table.refused(named, "no such rotary scaling", kind, fix=one_of(_SCALINGS))
    if kind != "longrope" and "factor" not in table.data:
        raise table.unfit("factor", "is missing", fix="a number above 0")
    return RotaryScaling(
        kind=kind,
        factor=table.number("factor", default=1.0, above_zero=True),
        low_frequency_factor=table.number("low_freq_factor", default=1.0, above_zero=True),
        high_frequency_factor=table.number("high_freq_factor", default=4.0, above_zero=True),
        original_context=table.whole("original_max_position_embeddings", default=context, lowest=1)
        if kind in _STRETCHED or "original_max_position_embeddings" in table.data
        else None,
    )


def qwen_layers(keys: Keys, block: Block, layers: int) -> tuple[dict[str, Block], Pattern | None]:
    """The blocks of Qwen2 and Qwen3: all alike, or with a window in some layers.

    `layer_types` says which; without it every layer from `max_window_layers` on. A window counts only
    where `use_sliding_window` is true.
    """
    used = keys.flag("use_sliding_window", False)
    types = keys.texts("layer_types")
    start = keys.whole("max_window_layers", default=28)
    keys.ignore("sliding_window")
    window = keys.optional_size("W", "sliding_window", default=4096) if used else None
    local = replace(block, attention=replace(block.attention, window=window))
    kinds = {"global": block, "local": local}
    if types is None:
        pattern = _runs([("global", min(start, layers)), ("local", max(layers - start, 0))])
    else:
        pattern = pattern_of(_kinds(keys, types, layers))
    if window is None:
        if types is not None and "sliding_attention" in types:
            keys.warn(
                "layer_types names sliding_attention, and no window is in use: all layers are counted without one"
            )
        return {"block": block}, None
    names = pattern.names()
    return ({"block": kinds[names[0]]}, None) if len(names) == 1 else (kinds, pattern)


def _kinds(keys: Keys, types: list[str], layers: int) -> list[str]:
    words = {"full_attention": "global", "attention": "global", "sliding_attention": "local"}
    for entry in types:
        if entry not in words:
            raise keys.unfit("layer_types", f'{keys.model_type} has no layer of kind "{entry[:40]}"', fix=one_of(words))
    if len(types) != layers:
        raise keys.unfit("layer_types", f"names {len(types)} layers, and the model has {layers}")
    return [words[entry] for entry in types]


def pattern_of(names: list[str]) -> Pattern:
    """The shortest pattern that gives these layers: a cycle, or runs with the last one going on."""
    for period in range(1, min(len(names) // 2, 16) + 1):
        if all(name == names[place % period] for place, name in enumerate(names)):
            return Pattern(cycle=tuple(names[:period]))
    runs: list[tuple[str, int]] = []
    for name in names:
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + 1)
        else:
            runs.append((name, 1))
    return _runs(runs)


def _runs(runs: list[tuple[str, int]]) -> Pattern:
    """Runs in order; the last goes on however many layers there are."""
    present = [(name, count) for name, count in runs if count]
    return Pattern(start=tuple(Run(name, count) for name, count in present[:-1]), cycle=(present[-1][0],))
