"""How long a command takes from start to exit, beside the bare imports of the libraries that it stands on.

Run it with the interpreter of an environment that blockcalc is installed in: `python benchmarks/startup.py`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pairs import paired, python

FLOOR = python("import pydantic, typer, tabulate")
SYMBOLIC = python("import sympy, pydantic, typer, tabulate")
LIGHT = python("import typer, pydantic")
TOTAL = "import blockcalc; print(blockcalc.load('llama-3-8b').params().totals.stored)"


def main() -> None:
    """Print a row for each command: ours, floor, ratio, and the ratio that it should stay below."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    runs = parser.parse_args().runs
    blockcalc = [str(Path(sys.executable).parent / "blockcalc")]
    print("| command | ours | floor | ratio | limit |\n|---|---|---|---|---|")
    for name, command, floor in (
        ("a script: preset to total", python(TOTAL), FLOOR),
        ("`params gpt2-small --no-formulas`", [*blockcalc, "params", "gpt2-small", "--no-formulas"], FLOOR),
        ("`params gpt2-small`", [*blockcalc, "params", "gpt2-small"], SYMBOLIC),
        ("`crossover --d 768`", [*blockcalc, "crossover", "--d", "768"], SYMBOLIC),
        ("`--help`", [*blockcalc, "--help"], LIGHT),
        ("`presets`", [*blockcalc, "presets"], LIGHT),
    ):
        print(paired(name, command, floor, 1.3, runs).row(), flush=True)


if __name__ == "__main__":
    main()
