"""The installed wheel, away from the checkout: each preset answers with its published total, both ways."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import blockcalc
from blockcalc.config.presets import load_preset, preset_names


def command(*arguments: str) -> str:
    """What the installed command prints."""
    program = Path(sys.executable).parent / "blockcalc"
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Check, and say how many presets answered."""
    assert Path(blockcalc.__file__).is_relative_to(sys.prefix), blockcalc.__file__
    names = preset_names()
    assert len(names) >= 45, names
    for name in names:
        published = load_preset(name).published
        assert published is not None, name
        assert blockcalc.load(name).params().totals.stored == published, name
    assert json.loads(command("params", "gpt2", "--format", "json"))["totals"]["stored"] == 124_439_808
    assert json.loads(command("crossover", "--d", "768", "--format", "json"))["totals"]["T"] == 4_608
    assert json.loads(command("verify", "block-d64", "--format", "json"))["totals"]["mismatches"] == 0
    assert command("--version").strip() == f"blockcalc {blockcalc.__version__}"
    print(f"{len(names)} presets answer from the wheel")


if __name__ == "__main__":
    main()
