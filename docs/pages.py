"""The documentation's pages and what stands fenced in them: found, run, and written anew."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")))
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: its page, the line of its first word, its language tag and its text."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path, *languages: str) -> list[Block]:
    """The fenced blocks of a page in these languages, in order; all of them when none is named."""
    text = page.read_text(encoding="utf-8")
    found = [Block(page, text.count("\n", 0, m.start()) + 2, m[1], m[2]) for m in _FENCE.finditer(text)]
    return [block for block in found if not languages or block.language in languages]


def session(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the output that stands below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.rstrip("\n")


def replayed(text: str) -> str:
    """A console block with the output that its commands give now."""
    status, parts = 0, []
    for command, _ in session(text):
        output, status = (str(status), 0) if command == "echo $?" else run(command)
        parts.append(f"$ {command}\n{output}\n" if output else f"$ {command}\n")
    return "\n".join(parts)


def run(command: str) -> tuple[str, int]:
    """What `blockcalc …` prints on both streams, without the last line's end, and its exit code.

    It runs in this process and from the project's folder. `< FILE` before the end and `| head -N` at the
    end are understood, nothing else of a shell.
    """
    from blockcalc.cli.app import run as run_command

    command, _, head = command.partition(" | head -")
    command, _, file = command.partition(" < ")
    name, *arguments = shlex.split(command)
    if name != "blockcalc":
        raise ValueError(f"not a command of blockcalc: {command}")
    out = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), _input(file):
        status = run_command(arguments)
    lines = out.getvalue().splitlines()
    return "\n".join(lines[: int(head)] if head else lines).rstrip("\n"), status


@contextlib.contextmanager
def _input(file: str) -> Iterator[None]:
    before = sys.stdin
    if file:
        sys.stdin = io.TextIOWrapper(io.BytesIO((ROOT / file.strip()).read_bytes()))
    try:
        yield
    finally:
        sys.stdin = before


class _Runner(doctest.DocTestRunner):
    """Runs examples and keeps those that print something else: line in the block, lines that stand there, output."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=doctest.ELLIPSIS)
        self.changed: list[tuple[int, int, str]] = []

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        line = example.lineno + example.source.count("\n")
        self.changed.append((line, example.want.count("\n"), _without_frames(got)))
        super().report_failure(out, test, example, got)


@dataclass(frozen=True)
class Session:
    """What the Python blocks of a page gave: a report for each example that fails, and each block with its outputs."""

    failures: list[str]
    texts: list[tuple[Block, str]]


def run_python(page: Path) -> Session:
    """Run the Python blocks of a page as doctests, one after the other, with names kept from block to block."""
    names: dict[str, Any] = {"__name__": page.stem}
    done = Session([], [])
    with contextlib.chdir(ROOT):
        for block in blocks(page, "python"):
            test = doctest.DocTestParser().get_doctest(block.text, names, block.place, str(page), block.line - 1)
            runner = _Runner()
            runner.run(test, out=done.failures.append, clear_globs=False)
            names.update(test.globs)
            done.texts.append((block, _written(block.text, runner.changed)))
    return done


def _without_frames(output: str) -> str:
    """A traceback with its frames left out, as a page shows one; anything else as it is."""
    if not output.startswith("Traceback"):
        return output
    first, *rest = output.splitlines()
    return "\n".join([first, "    ...", *(line for line in rest if not line.startswith(" "))]) + "\n"


def _written(text: str, changed: list[tuple[int, int, str]]) -> str:
    """A block with the outputs that changed put in the place of those that stand there."""
    lines = text.splitlines()
    for line, count, got in reversed(changed):
        lines[line : line + count] = [shown or "<BLANKLINE>" for shown in got.splitlines()]
    return "\n".join(lines) + "\n"


def table(page: str, heading: str) -> list[list[str]]:
    """The first table below a heading of a page in docs/, its cells without code marks, header and rule left out."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    below = re.split(rf"^#+ {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    lines = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    if lines is None:
        raise LookupError(f"{page}: no table below {heading!r}")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[0].splitlines()[2:]]
    return [[cell.strip().replace("`", "").replace("\\|", "|") for cell in row] for row in rows]
