"""The command as a process of its own: pipes, terminals, encodings, signals, and what it imports."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
import typer

COMMAND = [sys.executable, "-m", "blockcalc"]
CONFIG = '{"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": 100, "n_positions": 16}'


def environment(**more: str) -> dict[str, str]:
    return {**{key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "COLUMNS"}}, **more}


def ran(*arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, env=environment(**more), check=False)


def test_standard_input() -> None:
    found = subprocess.run(
        [*COMMAND, "params", "-", "--format", "json"], input=CONFIG.encode(), capture_output=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, b"")
    assert json.loads(found.stdout)["totals"]["stored"] == 100 * 64 + 16 * 64 + 2 * (12 * 64**2 + 13 * 64) + 2 * 64


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("argument", ["presets", "--help"])
def test_a_closed_pipe_is_quiet(argument: str, unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    env = environment(PYTHONUNBUFFERED=unbuffered)
    found = subprocess.run([*COMMAND, argument], stdout=writing, stderr=subprocess.PIPE, env=env, check=False)
    os.close(writing)
    assert (found.returncode, found.stderr) == (0, b"")


def test_standard_output_closed_or_full() -> None:
    line = f"{sys.executable} -m blockcalc presets"
    closed = subprocess.run(f"{line} >&-", shell=True, stderr=subprocess.PIPE, check=False)
    assert (closed.returncode, closed.stderr) == (0, b"")
    if os.path.exists("/dev/full"):
        full = subprocess.run(f"{line} >/dev/full", shell=True, stderr=subprocess.PIPE, check=False)
        assert full.returncode == 3
        assert re.fullmatch(rb"blockcalc: [^\n]*No space left on device\n", full.stderr)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_hides_no_exit_code(unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    line = [*COMMAND, "flops", "llama-3-8b", "--T", "9000", "--strict", "--no-formulas"]
    env = environment(PYTHONUNBUFFERED=unbuffered)
    found = subprocess.run(line, stdout=writing, stderr=subprocess.PIPE, env=env, check=False)
    os.close(writing)
    assert found.returncode == 1
    assert found.stderr.startswith(b"blockcalc: warning: T = 9,000 is beyond the context of 8,192")


def test_standard_error_full_and_standard_input_closed() -> None:
    command = f"{sys.executable} -m blockcalc"
    if os.path.exists("/dev/full"):
        assert subprocess.run(f"{command} params nosuch 2>/dev/full", shell=True, check=False).returncode == 4
    shut = subprocess.run(f"{command} params - <&-", shell=True, capture_output=True, check=False)
    assert (shut.returncode, shut.stderr) == (3, b"blockcalc: standard input: is closed\n")


def on_terminal(columns: int, *arguments: str, **more: str) -> str:
    """What a command writes to a terminal of that width."""
    ours, theirs = pty.openpty()
    env = environment(COLUMNS=str(columns), TERM="xterm", **more)
    with subprocess.Popen([*COMMAND, *arguments], stdout=theirs, env=env) as process:
        os.close(theirs)
        parts: list[bytes] = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux tells the end of a terminal
                break
            if not part:
                break
            parts.append(part)
    os.close(ours)
    assert process.returncode == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_a_terminal_gets_a_bold_title_and_folded_lines() -> None:
    shown = on_terminal(80, "params", "gpt2")
    assert shown.startswith("\x1b[1mParameters of gpt2-small")
    plain = on_terminal(80, "params", "gpt2", NO_COLOR="1")
    assert plain == re.sub(r"\x1b\[\d*m", "", shown)
    assert "\x1b" not in plain
    totals = plain[plain.index("\nstored") :]
    assert max(map(len, totals.splitlines())) <= 80


def test_bytes_do_not_depend_on_the_locale() -> None:
    usual = ran("crossover", "--d", "768")
    odd = ran("crossover", "--d", "768", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0", COLUMNS="40")
    assert (odd.returncode, odd.stdout) == (0, usual.stdout)
    assert "6·d" in usual.stdout.decode()


def test_an_interrupt_exits_with_130() -> None:
    with subprocess.Popen([*COMMAND, "params", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said) == (130, b"")


def test_completion_of_models() -> None:
    found = ran(_BLOCKCALC_COMPLETE="complete_bash", COMP_WORDS="blockcalc params gpt2-", COMP_CWORD="2")
    assert found.stdout.split() == [b"gpt2-large", b"gpt2-medium", b"gpt2-small", b"gpt2-xl"]


HEAVY = {"numpy", "sympy", "pydantic", "pandas"}
TYPER = tuple(int(part) for part in typer.__version__.split(".")[:2])
NEVER_AT_START = HEAVY | {"tabulate", "fractions", "decimal", "blockcalc.model", "blockcalc.views.report"}


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--help"], NEVER_AT_START),
        (["params", "--help"], NEVER_AT_START),
        (["--version"], NEVER_AT_START),
        (["presets"], HEAVY),
        (["params", "gpt2", "--no-formulas"], HEAVY | {"fractions", "decimal"}),
        (["params", "gpt2", "--format", "json"], {"numpy", "pydantic", "tabulate"}),
    ],
)
@pytest.mark.skipif(TYPER >= (0, 27), reason="a typer beyond the pin loads pydantic for itself")
def test_what_is_not_imported(arguments: list[str], absent: set[str]) -> None:
    code = f"import sys; from blockcalc.cli.app import run; run({arguments!r}); sys.stderr.write(' '.join(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not absent & set(found.stderr.split())
