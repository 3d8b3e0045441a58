"""`--set` and `replace`: by letter, full name and dotted path, and what follows from a change."""

import pytest

from blockcalc.config.architecture import Architecture
from blockcalc.config.overrides import architecture_data, flat_data, override
from blockcalc.config.presets import load_preset, preset_names
from blockcalc.config.resolve import feedforward_width, head_width
from blockcalc.config.schema import read_architecture
from blockcalc.config.widths import RoundedUp
from blockcalc.errors import BlockcalcError, ConfigError, UsageError


def preset(name: str) -> Architecture:
    return load_preset(name).architecture


SPARSE = read_architecture(
    {
        "name": "sparse",
        "width": 64,
        "layers": 5,
        "pattern": {"start": [{"block": "dense", "count": 2}], "cycle": ["moe"]},
        "blocks": {
            "dense": {"attention": {"heads": 4}, "feedforward": {"kind": "mlp", "width": 256}, "norm": {}},
            "moe": {
                "attention": {"heads": 4},
                "feedforward": {"kind": "moe", "experts": 8, "experts_per_token": 2, "width": 32},
                "norm": {},
            },
        },
    }
)


@pytest.mark.parametrize("name", preset_names())
def test_data_round_trips(name: str) -> None:
    assert read_architecture(architecture_data(preset(name))) == preset(name)


def test_every_flat_path_sets_its_own_value() -> None:
    for architecture in (preset("gemma-2-2b"), SPARSE):
        for path, value in flat_data(architecture).items():
            if path not in ("width", "pattern.cycle"):  # the one is ambiguous alone, the other a list
                assert override(architecture, {path: value}) == architecture, path


def test_what_follows_is_derived_anew() -> None:
    changed = override(preset("gpt2-small"), {"d": "1Ki", "h": "16"})
    block = changed.blocks["block"]
    assert feedforward_width(changed.width, block.feedforward) == 4096
    assert head_width(changed.width, block.attention) == 64
    assert block.attention.kv_heads is None
    assert block.attention.kv_head_count == 16


@pytest.mark.parametrize(
    ("name", "value", "path", "found"),
    [
        ("L", "24", "layers", "24"),
        ("layers", 24, "layers", "24"),
        ("V", "50_304", "vocabulary", "50304"),
        ("h_kv", "4", "blocks.block.attention.kv_heads", "4"),
        ("kv_heads", "4", "blocks.block.attention.kv_heads", "4"),
        ("blocks.block.attention.kv_heads", "4", "blocks.block.attention.kv_heads", "4"),
        ("blocks.*.attention.kv_heads", "4", "blocks.block.attention.kv_heads", "4"),
        ("f", "3k", "blocks.block.feedforward.width", "3000"),
        ("f_block", "3k", "blocks.block.feedforward.width", "3000"),
        ("f", "rounded_up", "blocks.block.feedforward.width.rule", "rounded_up"),
        ("times", "3", "blocks.block.feedforward.width.times", "3"),
        ("W", "128", "blocks.block.attention.window", "128"),
        ("tied_head", "false", "tied_head", "false"),
        ("tied_head", False, "tied_head", "false"),
        ("gated", "true", "blocks.block.feedforward.gated", "true"),
        ("activation", "silu", "blocks.block.feedforward.activation", "silu"),
        ("positions", "alibi", "blocks.block.attention.positions.kind", "alibi"),
        ("qk_norm", "rmsnorm", "blocks.block.attention.qk_norm.kind", "rmsnorm"),
        ("scale", "0.5", "blocks.block.attention.scale", "0.5"),
        ("blocks.block.norm.epsilon", "1e-6", "blocks.block.norm.epsilon", "1e-06"),
    ],
)
def test_one_change(name: str, value: object, path: str, found: str) -> None:
    assert flat_data(override(preset("gpt2-small"), {name: value}))[path] == found


def test_none_takes_away() -> None:
    changed = override(preset("gemma-2-2b"), {"d_h": "none", "W": "null"})
    assert [block.attention.head_width for block in changed.blocks.values()] == [None, None]
    assert [block.attention.window for block in changed.blocks.values()] == [None, None]


def test_a_window_is_changed_where_there_is_one() -> None:
    for name in ("W", "window", "W_local"):
        blocks = override(preset("gemma-2-2b"), {name: "1k"}).blocks
        assert (blocks["local"].attention.window, blocks["global"].attention.window) == (1000, None)


def test_a_suffix_limits_a_letter_to_one_kind() -> None:
    changed = override(SPARSE, {"f_dense": "512", "h_moe": "8", "f_e": "16", "L": "9"})
    assert changed.blocks["dense"].feedforward.width == 512
    assert changed.blocks["moe"].feedforward.width == 16
    assert [block.attention.heads for block in changed.blocks.values()] == [4, 8]
    assert changed.block_counts() == {"dense": 2, "moe": 7}


def test_a_rule_given_whole() -> None:
    changed = override(preset("gpt2-small"), {"f": {"rule": "rounded_up", "multiple": 64}})
    assert changed.blocks["block"].feedforward.width == RoundedUp(multiple=64)


@pytest.mark.parametrize(
    ("overrides", "error", "says"),
    [
        ({"T": "128"}, UsageError, "--set: T is an option of its own: --T 128"),
        ({"D": "1"}, UsageError, "--D 300e9"),
        ({"N": "1"}, UsageError, "follows from other sizes"),
        ({"L_dense": "3"}, UsageError, "L or pattern.start.0.count can be"),
        ({"width": "3"}, UsageError, "write d or blocks.*.feedforward.width"),
        ({"bias": "true"}, UsageError, "blocks.*.feedforward.bias or blocks.*.norm.bias"),
        ({"h": "8", "heads": "8"}, UsageError, "h and heads both set blocks.dense.attention.heads"),
        ({"hkv": "2"}, UsageError, "did you mean h_kv"),
        ({"gatd": "true"}, UsageError, "did you mean gated"),
        ({"blocks.moe.attention.windw": "3"}, UsageError, "did you mean blocks.moe.attention.window"),
        ({"": "3"}, UsageError, "no letter or field"),
        ({"a..b": "3"}, UsageError, "no field"),
        ({"E_dense": "3"}, ConfigError, "E_dense: dense is no block that has a mixture of experts"),
        ({"blocks.moe.attention.qk_norm.epsilon": "1"}, ConfigError, "this model has none"),
        ({"d": "0"}, ConfigError, 'd = "0": a size is a whole number from 1 to 10^36'),
        ({"d": "many"}, ConfigError, "is no whole number"),
        ({"d": 2.5}, ConfigError, "is a whole number"),
        ({"d": True}, ConfigError, "is a whole number"),
        ({"d": "none"}, ConfigError, "is no whole number"),
        ({"d": "1e999999999"}, ConfigError, "from 1 to 10^36"),
        ({"tied_head": "perhaps"}, ConfigError, 'tied_head = "perhaps": is true or false'),
        ({"activation": "swiglu"}, ConfigError, "no such activation"),
        ({"h": "5"}, ConfigError, "must divide the model width 64"),
        ({"k": "9"}, ConfigError, "more experts than the 8"),
        ({"L": "1"}, ConfigError, "its runs cover 2 layers"),
    ],
)
def test_refusals(overrides: dict[str, object], error: type[BlockcalcError], says: str) -> None:
    with pytest.raises(error) as caught:
        override(SPARSE, overrides)
    assert says in str(caught.value)
    assert str(caught.value).startswith("--set: ")


def test_without_changes_it_is_the_same_object() -> None:
    assert override(SPARSE, {}) is SPARSE
