"""Every fenced block of the documentation is run, and its output is what stands there."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from pages import PAGES, ROOT, Block, blocks, replayed, run_python

import blockcalc
from blockcalc.config.presets import read_preset

CONSOLE = [block for page in PAGES for block in blocks(page, "console")]
DATA = [block for page in PAGES for block in blocks(page, "toml", "json")]
KNOWN = {"console", "python", "toml", "json", "sh", "text"}


def place(block: Block) -> str:
    return block.place


@pytest.mark.parametrize("block", CONSOLE, ids=place)
def test_console_blocks_show_what_the_commands_print(block: Block) -> None:
    assert block.text == replayed(block.text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run(page: Path) -> None:
    assert run_python(page).failures == []


@pytest.mark.parametrize("block", DATA, ids=place)
def test_descriptions_are_read(block: Block) -> None:
    """A preset meets its total; a config.json loads."""
    if block.language == "json":
        blockcalc.load(json.loads(block.text))
    else:
        preset = read_preset(tomllib.loads(block.text), "example", block.place)
        assert blockcalc.load({"architecture": tomllib.loads(block.text)["architecture"]}).params().totals.stored == (
            preset.published
        )


def test_every_block_has_a_language_that_is_handled() -> None:
    """A block without one, or with a new one, would go unread."""
    assert {block.language for page in PAGES for block in blocks(page)} <= KNOWN
    assert CONSOLE
    assert DATA


def test_the_example_preset_stands_in_the_page() -> None:
    """docs/example.toml is the block that the page shows."""
    shown = [block.text for block in blocks(ROOT / "docs" / "configuration.md", "toml")]
    assert (ROOT / "docs" / "example.toml").read_text(encoding="utf-8") in shown


def test_a_changed_output_is_noticed() -> None:
    """The comparison can fail: a digit changed in a page is not what the command prints."""
    block = CONSOLE[0]
    changed = block.text.replace("124,439,808", "124,439,809")
    assert changed != block.text
    assert replayed(changed) == block.text
    assert replayed("$ blockcalc params gpt2-smal\n").startswith('$ blockcalc params gpt2-smal\nblockcalc: "gpt2-smal"')


def test_a_wrong_example_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pages

    monkeypatch.setattr(pages, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> one = 1\n>>> one + 1\n3\n>>> print()\n5\n\n```\n", encoding="utf-8")
    ran = run_python(page)
    assert len(ran.failures) == 2
    assert ran.texts[0][1] == ">>> one = 1\n>>> one + 1\n2\n>>> print()\n<BLANKLINE>\n\n"
