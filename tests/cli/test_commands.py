"""The commands in one process: what they print where, their exit codes, how they refuse."""

import csv
import io
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from blockcalc.cli.app import application, run
from blockcalc.cli.registry import COMMANDS
from blockcalc.version import VERSION


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[[str], Ran]:
    def call(line: str) -> Ran:
        code = run(line.split())
        return Ran(code, *capsys.readouterr())

    return call


Cli = Callable[[str], Ran]

QUESTIONS = [
    "params gpt2-small",
    "params gpt2-small --by tensor",
    "flops gpt2-small --B 2 --T 512 --D 300e9",
    "shapes gpt2-small --T 8 --S 16",
    "crossover gpt2-small",
    "crossover --d 768 --h 12 --h_kv 4 --gated",
    "explain gpt2-small --quantity crossover",
    "presets",
    "presets show gpt2",
]


@pytest.mark.parametrize("line", QUESTIONS)
def test_every_command_in_every_format(cli: Cli, line: str) -> None:
    table = {name: cli(f"{line} --format {name}") for name in ("text", "markdown", "latex", "json", "csv")}
    for ran in table.values():
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.endswith("\n")
        assert "\x1b" not in ran.out
    data = json.loads(table["json"].out)
    assert data["blockcalc"] == VERSION
    assert data["command"] == line.split(maxsplit=1)[0]
    assert {"model", "sizes", "conventions", "rows", "totals", "warnings"} <= set(data)
    assert all("path" in row for row in data["rows"])
    rows = list(csv.DictReader(io.StringIO(table["csv"].out)))
    assert [row["path"] for row in rows] == [row["path"] for row in data["rows"]]
    assert "| :-- |" in table["markdown"].out
    assert r"\begin{tabular}" in table["latex"].out
    assert cli(f"{line} --format text") == table["text"]


def test_published_total(cli: Cli) -> None:
    assert json.loads(cli("params gpt2 --format json").out)["totals"]["stored"] == 124_439_808


def test_set_and_free(cli: Cli) -> None:
    ran = cli("params gpt2 --set tied_head=false --set V=50_304 --set L=1 --format json")
    data = json.loads(ran.out)
    assert (data["sizes"]["V"], data["sizes"]["L"]) == (50_304, 1)
    assert data["totals"]["stored"] == 2 * 50_304 * 768 + 1024 * 768 + (12 * 768**2 + 13 * 768) + 2 * 768
    assert "L" in json.loads(cli("params gpt2 --free L --format json").out)["totals"]["stored"]


def test_sizes_are_read_as_written(cli: Cli) -> None:
    data = json.loads(cli("flops llama-3-8b --B 2^3 --T 8Ki --D 300e9 --format json --no-formulas").out)
    assert [data["sizes"][letter] for letter in "BTD"] == [8, 8192, 300 * 10**9]
    assert not any("formula" in row for row in data["rows"])


def test_verify(cli: Cli) -> None:
    ran = cli("verify block-d64 --format json")
    assert ran.code == 0
    assert json.loads(ran.out)["totals"]["mismatches"] == 0


@pytest.mark.parametrize("strict", [False, True])
def test_a_warning_goes_to_standard_error(cli: Cli, strict: bool) -> None:
    ran = cli("shapes llama-3-8b --T 9000" + " --strict" * strict)
    assert ran.code == int(strict)
    assert ran.out.startswith("Shapes") or "block.attention.q" in ran.out
    assert ran.err.startswith("blockcalc: warning: ")
    assert ran.err.count("\n") == 1


REFUSALS = [
    ("params", 2, "Missing argument 'MODEL'"),
    ("parms gpt2", 2, "Did you mean 'params'?"),
    ("params gpt2 --fromat text", 2, "--format"),
    ("params gpt2 --format yaml", 2, "'yaml' is not one of"),
    ("params gpt2 --by row", 2, "'row' is not one of"),
    ("params gpt2 --set h", 2, "write NAME=VALUE, as in --set h_kv=4"),
    ("params gpt2 --set h=4 --set h=6", 2, "--set h is given twice"),
    ("params gpt2 --set T=4", 2, "--T 128"),
    ("params gpt2 --set self=4", 2, "no letter or field 'self'"),
    ("params gpt2 --set h=5", 3, "must divide the model width 768"),
    ("params gpt2 --set d=0", 3, "from 1 to 10^36"),
    ("params gpt2 --free d,", 2, "--free d,L"),
    ("params gpt2 --free q", 2, "'q'"),
    ("params gpt2smal", 4, "did you mean gpt2-small"),
    ("params nowhere/config.json", 4, "nowhere/config.json"),
    ("flops gpt2 --T 2000", 3, "1,024"),
    ("flops gpt2 --T 1e999999999", 2, "from 1 to 10^36"),
    ("flops gpt2 --T 0.5", 2, "no whole number"),
    ("flops gpt2 --B -1", 2, "from 1 to 10^36"),
    ("flops gpt2 --convention palmm", 2, "palm"),
    ("explain gpt2 --quantity parms", 2, "params"),
    ("crossover", 2, "blockcalc crossover --d 768"),
    ("crossover gpt2 --d 768", 2, "write --set d=768"),
    ("crossover --d 768 --set h=4", 2, "--set needs a MODEL"),
    ("verify", 2, "--all"),
    ("verify gpt2 --all", 2, "one of the two"),
    ("verify --all --T 5", 2, "--T belongs to one MODEL"),
    ("verify gpt2 --against transformers", 2, "not there yet"),
    ("presets show gpt22", 4, "gpt2"),
    ("presets shw", 2, "show"),
]


@pytest.mark.parametrize(("line", "code", "says"), REFUSALS)
def test_refusals_are_one_line(cli: Cli, line: str, code: int, says: str) -> None:
    ran = cli(line)
    assert (ran.code, ran.out) == (code, "")
    assert says in ran.err
    assert ran.err.startswith("blockcalc: ")
    assert ran.err.count("\n") == 1


def test_help_and_version(cli: Cli) -> None:
    assert cli("--version") == (0, f"blockcalc {VERSION}\n", "")
    assert cli("") == cli("--help") == cli("-h")
    assert cli("").code == 0
    for name, entry in COMMANDS.items():
        ran = cli(f"{name} --help")
        assert ran.code == 0
        assert f"Example: blockcalc {entry.example}" in " ".join(ran.out.split())
        assert "--format" in ran.out
        assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("entry", COMMANDS.values(), ids=COMMANDS)
def test_the_examples_of_the_help_run(cli: Cli, entry: object) -> None:
    examples = [entry.example, *(entry.subcommands or {}).values()]  # type: ignore[attr-defined]
    assert [cli(example).code for example in examples] == [0] * len(examples)


def test_the_whole_application_has_every_command() -> None:
    assert len(application().registered_commands) + len(application().registered_groups) == len(COMMANDS)


def test_to_a_file(cli: Cli, tmp_path: Path) -> None:
    printed = cli("crossover gpt2 --format csv").out
    file = tmp_path / "out.csv"
    file.write_text("old")
    file.chmod(0o640)
    assert cli(f"crossover gpt2 --format csv -o {file}") == (0, "", "")
    assert file.read_bytes() == printed.encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.csv"]
    assert cli("crossover gpt2 --format csv -o -").out == printed
    assert cli(f"crossover gpt2 -o {os.devnull}") == (0, "", "")
    assert not os.path.isfile(os.devnull)


def test_a_link_stays_a_link(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert cli(f"presets -o {tmp_path}/link").code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text().startswith("Presets")


@pytest.mark.parametrize("target", ["missing/out", "."])
def test_a_file_that_cannot_be_written(cli: Cli, tmp_path: Path, target: str) -> None:
    ran = cli(f"presets -o {tmp_path}/{target}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"blockcalc: -o {tmp_path}/{target}: ")
    assert os.listdir(tmp_path) == []


def test_nothing_is_left_when_writing_fails(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "out").write_text("old")
    monkeypatch.setattr(os, "replace", fails)
    assert cli(f"presets -o {tmp_path}/out").code == 2
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() == "old"


def test_escape_codes_of_a_file_never_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"model_type": "gpt2", "\\u001b[31mk": 1}', encoding="utf-8")
    assert run(["params", str(file)]) == 0
    assert run(["params", "gpt\x1b[31m2"]) == 4
    assert "\x1b" not in capsys.readouterr().err
