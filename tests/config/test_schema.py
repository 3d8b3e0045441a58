"""Every way to write a model down wrongly, and the line that it is refused with."""

# ruff: noqa: E501 (a refusal is one line, and stands here as it is told)

from __future__ import annotations

import copy
from typing import Any

import pytest

from blockcalc.config.build import build_architecture
from blockcalc.config.schema import read_architecture
from blockcalc.errors import ConfigError

GOOD: dict[str, Any] = {
    "name": "small",
    "width": 768,
    "layers": 12,
    "vocabulary": 50257,
    "learned_positions": 1024,
    "blocks": {
        "block": {
            "norm": {"kind": "layernorm", "bias": True},
            "attention": {"heads": 12},
            "feedforward": {"kind": "mlp", "width": {"rule": "times", "times": 4}},
        }
    },
}


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    """The good model with some dotted keys set."""
    data = copy.deepcopy(GOOD)
    for path, value in changes.items():
        *tables, last = path.split(".")
        table = data
        for name in tables:
            table = table.setdefault(name, {})
        if value is ...:
            del table[last]
        else:
            table[last] = value
    return data


def test_the_good_one_is_read_alike_by_both_readers() -> None:
    assert read_architecture(GOOD) == build_architecture(GOOD)


SIZE = "a size is a whole number from 1 to 10^36"
B = "blocks.block"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        # types
        ({"width": "768"}, 'width = "768": is a whole number'),
        ({"width": 768.0}, "width = 768.0: is a whole number"),
        ({"width": 1.5}, "width = 1.5: is a whole number"),
        ({"width": True}, "width = true: is a whole number"),
        ({"width": None}, "width: is a whole number"),
        ({"layers": float("nan")}, "layers = nan: is a whole number"),
        ({"name": 3}, "name = 3: is text"),
        ({"tied_head": 1}, "tied_head = 1: is true or false"),
        ({"tied_head": "yes"}, 'tied_head = "yes": is true or false'),
        ({"blocks": []}, "blocks: is a table"),
        ({f"{B}.norm.epsilon": float("inf")}, f"{B}.norm.epsilon = inf: is a finite number"),
        ({f"{B}.norm.epsilon": "1e-5"}, f'{B}.norm.epsilon = "1e-5": is a number'),
        ({f"{B}.attention": 3}, f"{B}.attention = 3: is a table"),
        ({"pattern": {"cycle": "block"}}, 'pattern.cycle = "block": is a list'),
        # values
        ({"width": 0}, f"width = 0: {SIZE}"),
        ({"width": -3}, f"width = -3: {SIZE}"),
        ({"width": 10**40}, f"width = a number of more than 40 digits: {SIZE}"),
        ({f"{B}.feedforward.width": -3}, f"{B}.feedforward.width = -3: {SIZE}"),
        ({f"{B}.attention.heads": 7}, f"{B}.attention.heads = 7: must divide the model width 768 when no head_width is given; heads = 6 or 8, or give head_width"),
        ({f"{B}.attention.kv_heads": 5}, f"{B}.attention.kv_heads = 5: must divide the 12 query heads; 1, 2, 3, 4, 6 or 12 would do"),
        ({f"{B}.attention.heads": 5, f"{B}.attention.kv_heads": 2}, f"{B}.attention.kv_heads = 2: must divide the 5 query heads; 1 or 5 would do"),
        ({f"{B}.placement": "middle"}, f"""{B}.placement = "middle": is 'pre', 'post' or 'both'"""),
        ({f"{B}.placement": "post", f"{B}.parallel": "one_norm"}, f'{B}.placement = "post": attention and feed-forward side by side read the norm of x; placement = "pre", or parallel = "no"'),
        ({f"{B}.feedforward.activation": "gelou"}, f'{B}.feedforward.activation = "gelou": no such activation; did you mean gelu or relu or gelu_10?'),
        ({f"{B}.feedforward.storage": "fused"}, f'{B}.feedforward.storage = "fused": gate and up are fused only where there is a gate; "separate" would do'),
        ({f"{B}.attention.projections": "fused", f"{B}.attention.q_bias": True}, f'{B}.attention.projections = "fused": one fused matrix has one bias: q_bias, k_bias and v_bias must agree, or projections be "separate"'),
        ({f"{B}.feedforward.width": {"rule": "rounded_nearest", "multiple": 9216}}, f'{B}.feedforward.width = "9216·round(8d/27648)": the rule gives 0 for d = 768; a width is at least 1'),
        ({"tensor_names": "gpt3"}, 'tensor_names = "gpt3": no such table of names; did you mean gpt2?'),
        # keys
        ({"widht": 3}, "widht: no such key; did you mean width?"),
        ({f"{B}.attention.nheads": 3}, f"{B}.attention.nheads: no such key; did you mean heads or kv_heads or head_bias?"),
        ({"width": ...}, "width: is missing"),
        ({f"{B}.attention.heads": ...}, f"{B}.attention.heads: is missing"),
        ({f"{B}.norm": ...}, f"{B}.norm: is missing"),
        ({f"{B}.feedforward": {"kind": "mpl", "width": 3}}, f"""{B}.feedforward = "mpl": its kind is 'mlp', 'moe'"""),
        ({f"{B}.feedforward": {"width": 3}}, f"{B}.feedforward.kind: is missing"),
        ({f"{B}.feedforward.width": {"rule": "thrice"}}, f"""{B}.feedforward.width = "thrice": its rule is 'times', 'rounded_up', 'rounded_nearest'"""),
        ({f"{B}.feedforward.width": {"rule": "times", "tims": 3}}, f"{B}.feedforward.width.tims: no such key; did you mean times?"),
        ({f"{B}.feedforward.width": {"rule": "times", "times": "3"}}, f'{B}.feedforward.width.times = "3": is a whole number'),
        ({f"{B}.feedforward.width": {"rule": "times", "times": 0}}, f"{B}.feedforward.width.times = 0: is a whole number from 1 to 10^36"),
        ({f"{B}.feedforward.width": "3"}, f'{B}.feedforward.width = "3": is a whole number'),
        ({"blocks": {"moe": {}}}, "blocks.moe.attention: is missing"),
        ({f"{B}.attention.positions": {"kind": "sinus"}}, f"""{B}.attention.positions = "sinus": its kind is 'rotary', 'alibi'"""),
        # rotary
        ({f"{B}.attention.positions": {"kind": "rotary", "fraction": 2.0}}, f"{B}.attention.positions.fraction = 2.0: lies above 0 and at most at 1"),
        ({f"{B}.attention.positions": {"kind": "rotary", "theta": 0.0}}, f"{B}.attention.positions.theta = 0.0: is a number above 0"),
        ({"width": 520, f"{B}.attention.heads": 8, f"{B}.attention.positions": {"kind": "rotary"}}, f"{B}.attention.head_width = 65: rotary positions turn pairs, and 65 of each head's 65 numbers would be turned; an even head width (or fraction of it) would do"),
        # experts
        ({f"{B}.feedforward": {"kind": "moe", "experts": 2, "experts_per_token": 3, "width": 8}}, f"{B}.feedforward.experts_per_token = 3: a token can't visit more experts than the 2 there are; at most 2"),
        # blocks and pattern
        ({"blocks": {}}, "blocks: a model has at least one block"),
        ({"pattern": {"cycle": ["blok"]}}, 'pattern = "blok": no block of that name; did you mean block?'),
        ({"pattern": {}}, 'pattern.cycle = "[]": names at least one block'),
        ({"pattern": {"start": [{"block": "block", "count": 13}]}}, "pattern.start: its runs cover 13 layers and the model has 12; give as many, or a cycle for the layers after them"),
        ({"blocks": {"a": GOOD["blocks"]["block"], "b": GOOD["blocks"]["block"]}}, "pattern: several blocks need a pattern that says which layer is which"),
        ({"blocks": {"head": GOOD["blocks"]["block"]}}, "blocks.head: that name stands in a path or a letter already; block would do"),
        ({"blocks": {"kv_dense": GOOD["blocks"]["block"]}}, "blocks.kv_dense: that name stands in a path or a letter already; block would do"),
        ({"blocks": {"a b": GOOD["blocks"]["block"]}}, 'blocks."a b": a block is named by letters, digits and _'),
        # no vocabulary
        ({"vocabulary": ...}, "learned_positions: belongs to a token table, and vocabulary is not given"),
        ({"vocabulary": ..., "learned_positions": ..., "head_bias": True}, "head_bias: belongs to a head, and vocabulary is not given"),
    ],
)  # fmt: skip
def test_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_architecture(changed(changes), "model.toml")
    assert str(caught.value) == f"model.toml: {told}"
    assert caught.value.exit_code == 3


def test_large_sizes_stay_exact() -> None:
    data = changed({"width": 10**30, f"{B}.attention.head_width": 64})
    assert read_architecture(data).width == 10**30
