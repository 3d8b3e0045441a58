"""Links lead somewhere, and the commands that the README gives for a fresh machine are those that CI runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import PAGES, ROOT, blocks

LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.is_file(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}"


def test_every_page_is_linked_from_the_readme() -> None:
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in LINK.findall((ROOT / "README.md").read_text())}
    assert set(PAGES) - {ROOT / "README.md"} <= linked


def test_two_commands_for_a_fresh_machine() -> None:
    """One runs the main job, one the tests; each makes its own environment."""
    main, tests = (block.text for block in blocks(ROOT / "README.md", "sh"))
    assert main.startswith("python3 -m venv .venv && ")
    assert main.count("\n") == tests.count("\n") == 1
    run = ROOT / ".ci" / "run"
    if not run.exists():
        pytest.skip("not a checkout: CI's script is not part of a source distribution")
    assert tests in run.read_text(encoding="utf-8")


def test_contributing_gives_the_same_test_command() -> None:
    tests = blocks(ROOT / "README.md", "sh")[1].text
    assert tests in [block.text for block in blocks(ROOT / "CONTRIBUTING.md", "sh")]
