"""Two commands timed in turn, A B A B …, as whole processes: what counts is the ratio pair by pair."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Paired:
    """Seconds of both commands (medians) and the median of their ratios."""

    name: str
    ours: float
    floor: float
    ratio: float
    limit: float

    def row(self) -> str:
        """One row of a Markdown table."""
        return f"| {self.name} | {self.ours:.3f} s | {self.floor:.3f} s | {self.ratio:.2f} | {self.limit:.2f} |"


def seconds(command: Sequence[str]) -> float:
    """The wall time of one run of a command.

    Raises CalledProcessError when it fails.
    """
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def paired(name: str, ours: Sequence[str], floor: Sequence[str], limit: float, runs: int) -> Paired:
    """Time both commands `runs` times in turn, after one run of each that isn't counted."""
    seconds(ours), seconds(floor)
    times = [(seconds(ours), seconds(floor)) for _ in range(runs)]
    ratio = statistics.median(a / b for a, b in times)
    return Paired(name, statistics.median(a for a, _ in times), statistics.median(b for _, b in times), ratio, limit)


def python(code: str) -> list[str]:
    """A command that runs a line of Python with this interpreter."""
    return [sys.executable, "-c", code]
