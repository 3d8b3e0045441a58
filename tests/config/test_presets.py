"""The shipped presets: held to the schema, found by name and alias, total as published."""

# ruff: noqa: E501 (a refusal is one line, and stands here as it is told)

from __future__ import annotations

import re
import time
import tomllib
from pathlib import Path

import pytest

from blockcalc.config import presets
from blockcalc.config.presets import load_preset, preset_heads, preset_names, read_preset_file, resolve_name
from blockcalc.errors import ConfigError, UnknownNameError

NAMES = preset_names()
GOOD = """
[architecture]
width = 64
layers = 2
[architecture.blocks.block]
norm = { kind = "rmsnorm" }
attention = { heads = 4 }
feedforward = { kind = "mlp", width = 128 }
"""


@pytest.mark.parametrize("name", NAMES)
def test_shipped_files_hold_to_the_schema(name: str) -> None:
    """What is built without checking is what the checking reader makes of it."""
    checked = read_preset_file(resolve_name(name))
    assert load_preset(name) == checked
    assert checked.name == checked.architecture.name == name
    assert checked.context == checked.architecture.context
    assert checked.family
    assert checked.published
    assert checked.source


def test_heads_are_what_the_files_say() -> None:
    heads = {head.name: head for head in preset_heads()}
    assert list(heads) == NAMES
    for name in NAMES:
        data = tomllib.loads(Path(resolve_name(name)).read_text("utf-8"))
        assert heads[name].published == data["published"]
        assert heads[name].aliases == tuple(data["aliases"])


def test_names_and_aliases_are_all_different() -> None:
    known = [entry.lower() for head in preset_heads() for entry in (head.name, *head.aliases)]
    assert len(known) == len(set(known))
    assert all(re.fullmatch(r"[a-z0-9.-]+", entry) for entry in known)


def test_listing_is_quick() -> None:
    preset_heads()
    quickest = min(_seconds() for _ in range(5))
    assert quickest < 0.03, "heads alone are read: 10 ms on a machine at rest"


def _seconds() -> float:
    preset_heads.cache_clear()
    start = time.perf_counter()
    preset_heads()
    return time.perf_counter() - start


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("gpt2", "gpt2-small"),
        ("GPT2", "gpt2-small"),
        ("gpt2-small", "gpt2-small"),
        ("GPT2-XL", "gpt2-xl"),
        ("llama-30b", "llama-33b"),
        ("gpt3-small", "gpt3-125m"),
        ("llama-1-7b", "llama-7b"),
    ],
)
def test_found_by_name_or_alias(asked: str, name: str) -> None:
    assert load_preset(asked).name == name


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("gpt2-smal", '"gpt2-smal": no such preset, and no such file; did you mean gpt2-small'),
        ("lama-7b", '"lama-7b": no such preset, and no such file; did you mean llama-7b'),
        ("zzzzzz", '"zzzzzz": no such preset, and no such file; `blockcalc presets` lists the known ones'),
        ("", '"": no such preset'),
        ("../models/gpt2-small", '"../models/gpt2-small": no such preset'),
        ("gpt2\0", '"gpt2'),
        ("x" * 5000, '"' + "x" * 80 + '": no such preset'),
    ],
)
def test_unknown_names(asked: str, told: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        resolve_name(asked)
    assert str(caught.value).startswith(told)
    assert caught.value.exit_code == 4


def test_a_users_file_needs_no_head(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD, "utf-8")
    preset = read_preset_file(str(path))
    assert (preset.name, preset.architecture.name, preset.published, preset.family) == ("mine", "mine", None, "")
    path.write_text('name = "own"\ncontext = 77\n' + GOOD, "utf-8")
    assert read_preset_file(str(path)).architecture.name == "own"
    assert read_preset_file(str(path)).architecture.context == 77


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = 1\nb = = 2", "is not TOML: Invalid value (at line 2, column 5)"),
        ("", "is empty"),
        ("# nothing", "[architecture]: is missing; it describes the model"),
        ("architecture = 3", "[architecture]: is missing; it describes the model"),
        ("width = 3" + GOOD, "width: no such key in the head of a preset; the model's sizes belong under [architecture]"),
        ("publishd = 3" + GOOD, "publishd: no such key in the head of a preset; did you mean published or published_active?"),
        ('published = "3"' + GOOD, 'published = "3": is a whole number from 1'),
        ("published = 0" + GOOD, "published = 0: is a whole number from 1"),
        ("context = true" + GOOD, "context = true: is a whole number from 1"),
        ("aliases = [1]" + GOOD, "aliases: is a list of names"),
        ('aliases = "a"' + GOOD, 'aliases = "a": is a list of names'),
        ("family = 2020-01-01" + GOOD, "family: is text"),
        (GOOD.replace("heads = 4", "heads = 5"), "blocks.block.attention.heads = 5: must divide the model width 64 when no head_width is given; heads = 2 or 4, or give head_width"),
        (GOOD.replace("width = 64", "width = 1979-05-27"), 'width: is a whole number'),
        (GOOD.replace("width = 64", "width = nan"), "width = nan: is a whole number"),
        ("context = 3" + GOOD.replace("layers = 2", "layers = 2\ncontext = 4"), "architecture.context = 4: the head of the file gives 3"),
        (f"published = {'9' * 5000}" + GOOD, "holds a number of more digits than make sense"),
    ],
)  # fmt: skip
def test_refused_files(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_preset_file(str(path))
    assert str(caught.value) == f"{path}: {told}"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["width = ", "a = 1\na = 2", "a = " + "[" * 5000, "\0", "a = 1" * 3])
def test_files_that_are_no_toml(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_preset_file(str(path))
    assert re.fullmatch(
        rf"{re.escape(str(path))}: (is not TOML: .+|is not a preset: nested too deeply)", str(caught.value)
    )


def test_folders_are_looked_up_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed, the presets lie inside the package; in a checkout beside it."""
    inside, beside = presets.PRESET_DIRS
    assert inside.endswith(str(Path("blockcalc", "presets", "models")))
    assert Path(beside).parts[-2:] == ("presets", "models")
    (tmp_path / "only.toml").write_text("published = 5" + GOOD, "utf-8")
    monkeypatch.setattr(presets, "PRESET_DIRS", (str(tmp_path / "absent"), str(tmp_path)))
    for cached in (presets._folder, presets.preset_heads):
        cached.cache_clear()
    try:
        assert preset_names() == ["only"]
        assert load_preset("only").published == 5
    finally:
        monkeypatch.undo()
        for cached in (presets._folder, presets.preset_heads):
            cached.cache_clear()
