"""Write the output of every console block and the command reference anew: `python docs/update.py`.

With `--check` nothing is written, and the exit code is 1 when a page would change.
"""

from __future__ import annotations

import sys
from pathlib import Path

from commands import reference
from pages import PAGES, ROOT, blocks, replayed


def updated(page: Path) -> str:
    """A page with its console blocks as the commands answer now."""
    text = page.read_text(encoding="utf-8")
    for block in blocks(page, "console"):
        text = text.replace(f"```console\n{block.text}```", f"```console\n{replayed(block.text)}```")
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
