"""Write every output on the pages and the command reference anew: `python docs/update.py`.

With `--check` nothing is written, and the exit code is 1 when a page would change. An example that
raises what it shouldn't is left as it stands; the tests report it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from commands import reference
from pages import PAGES, ROOT, Block, blocks, replayed, run_python


def updated(page: Path) -> str:
    """A page with its console and Python blocks as they answer now."""
    text = page.read_text(encoding="utf-8")
    answered: list[tuple[Block, str]] = [(block, replayed(block.text)) for block in blocks(page, "console")]
    for block, answer in (*answered, *run_python(page).texts):
        text = text.replace(f"```{block.language}\n{block.text}```", f"```{block.language}\n{answer}```")
    return text


def main() -> int:
    """Update all pages, or say which would change."""
    texts = {ROOT / "docs" / "commands.md": reference()}
    texts |= {page: updated(page) for page in PAGES if page not in texts and page.exists()}
    changed = [page for page, text in texts.items() if not page.exists() or page.read_text(encoding="utf-8") != text]
    for page in changed:
        print(page.relative_to(ROOT))
        if "--check" not in sys.argv[1:]:
            page.write_text(texts[page], encoding="utf-8")
    return int(bool(changed) and "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
