"""What a derivation costs as the model grows: layers should cost nothing, a second block kind at most as much again.

Run it with `python benchmarks/derivation.py`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import blockcalc
from blockcalc.config.architecture import Architecture
from blockcalc.engine.derive import _groups, derive
from blockcalc.model import Model


def derived(architecture: Architecture) -> None:
    """A derivation from nothing, with its total and the formula of the total."""
    _groups.cache_clear()
    report = Model(architecture).params()
    assert report.totals.stored > 0
    assert report.formulas.stored is not None


def once(run: Callable[[], None]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def ratio(ours: Architecture, base: Architecture, runs: int) -> tuple[float, float]:
    """Median seconds of the first, and the median of the ratios, run in turn."""
    pairs = [(once(lambda: derived(ours)), once(lambda: derived(base))) for _ in range(runs + 1)][1:]
    return statistics.median(a for a, _ in pairs), statistics.median(a / b for a, b in pairs)


def main() -> None:
    """Print a row for each comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=51)
    runs = parser.parse_args().runs
    llama = blockcalc.load("llama-3-8b").architecture
    rows = [
        (
            "126 layers beside 12",
            Model(llama).replace(L=126).architecture,
            Model(llama).replace(L=12).architecture,
            1.2,
        ),
        ("two block kinds beside one", blockcalc.load("gemma-2-9b").architecture, _one_kind("gemma-2-9b"), 2.5),
    ]
    print("| derivation | ours | ratio | limit |\n|---|---|---|---|")
    for name, ours, base, limit in rows:
        seconds, times = ratio(ours, base, runs)
        print(f"| {name} | {seconds * 1e3:.2f} ms | {times:.2f} | {limit:.2f} |")
    cached = statistics.median(once(lambda: _touch(llama)) for _ in range(runs))
    print(f"\nA derivation whose structure is known already takes {cached * 1e6:.0f} µs.")


def _one_kind(name: str) -> Architecture:
    """The same model with its first block kind only."""
    from dataclasses import replace

    architecture = blockcalc.load(name).architecture
    first = next(iter(architecture.blocks))
    return replace(architecture, blocks={first: architecture.blocks[first]}, pattern=None)


def _touch(architecture: Architecture) -> None:
    derive(architecture)


if __name__ == "__main__":
    main()
