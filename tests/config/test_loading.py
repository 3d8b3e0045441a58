"""Whatever may name a model, and whatever may be wrong with it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from blockcalc.config import files
from blockcalc.errors import BlockcalcError, ConfigError, UnknownNameError
from blockcalc.loading import load_source

GPT2 = {"model_type": "gpt2", "n_layer": 3}
WORDS: dict[str, Any] = {
    "width": 64,
    "layers": 2,
    "blocks": {
        "block": {
            "norm": {"kind": "rmsnorm"},
            "attention": {"heads": 4},
            "feedforward": {"kind": "mlp", "width": 128},
        }
    },
}


def write(path: Path, content: str | bytes | dict[str, Any]) -> Path:
    data = json.dumps(content) if isinstance(content, dict) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_a_preset() -> None:
    loaded = load_source("gpt2")
    assert (loaded.architecture.name, loaded.origin, loaded.published) == ("gpt2-small", "preset", 124_439_808)
    assert "gpt-2" in loaded.source
    assert loaded.warnings == ()


def test_a_config_json_or_its_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "my-model" / "config.json", GPT2)
    for source in (str(path), path, path.parent, f"{path.parent}{os.sep}"):
        loaded = load_source(source)
        assert (loaded.architecture.name, loaded.architecture.layers) == ("my-model", 3)
        assert loaded.origin == "config.json"
        assert loaded.origins["L"] == "config.json: n_layer"
    other = write(tmp_path / "other.json", GPT2)
    assert load_source(other).architecture.name == "other"
    assert load_source(other).origins["L"] == "other.json: n_layer"


def test_a_byte_order_mark_is_no_harm(tmp_path: Path) -> None:
    assert load_source(write(tmp_path / "a.json", b"\xef\xbb\xbf" + json.dumps(GPT2).encode())).architecture.layers == 3


def test_a_preset_file(tmp_path: Path) -> None:
    text = 'published = 5\nsource = "me"\n[architecture]\nwidth = 64\nlayers = 2\n[architecture.blocks.block]\n'
    text += 'norm = {}\nattention = { heads = 4 }\nfeedforward = { kind = "mlp", width = 128 }\n'
    loaded = load_source(write(tmp_path / "mine.toml", text))
    assert (loaded.architecture.name, loaded.origin, loaded.published, loaded.source) == ("mine", "mine.toml", 5, "me")


def test_a_mapping() -> None:
    assert load_source(GPT2).origins["L"] == "config.json: n_layer"
    assert load_source(WORDS).architecture.layers == 2
    assert load_source({"name": "own", "architecture": WORDS}).architecture.name == "own"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(json.dumps(GPT2).encode())
    assert load_source("-").origins["L"] == "standard input: n_layer"
    given(b"")
    with pytest.raises(ConfigError, match=r"^standard input: is empty$"):
        load_source("-")
    given(json.dumps(WORDS).encode())
    assert load_source("-").architecture.width == 64


def test_a_preset_wins_over_a_file_unless_it_looks_like_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "gpt2", GPT2)
    write(tmp_path / "strange", GPT2)
    write(tmp_path / "folder" / "config.json", GPT2)
    monkeypatch.chdir(tmp_path)
    assert load_source("gpt2").architecture.layers == 12
    assert load_source(f".{os.sep}gpt2").architecture.layers == 3
    assert load_source(Path("gpt2")).architecture.layers == 3
    assert load_source("strange").architecture.layers == 3
    assert load_source("folder").architecture.name == "folder"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("{", "is not JSON: Expecting property name enclosed in double quotes (line 1, column 2)"),
        ("hello", "is not JSON: Expecting value (line 1, column 1)"),
        ('{"a": 1,}', "is not JSON: "),
        ("[]", "holds no JSON object ({...})"),
        ("3", "holds no JSON object ({...})"),
        ("null", "holds no JSON object ({...})"),
        ("{}", "model_type: is missing; it names the model family"),
        ('{"n_embd": 4}', "model_type: is missing; it names the model family"),
        ('{"model_type": null}', "model_type: is missing; it names the model family"),
        ("[" * 10_000 + "]" * 10_000, ""),  # one Python refuses the depth, another the list
        ('{"a":' * 10_000 + "1" + "}" * 10_000, ""),
        (
            '{"model_type": "gpt2", "n_embd": ' + "9" * 5000 + "}",
            "a whole number of 5,000 digits; at most 40 make sense",
        ),
        ('{"model_type": "gpt2", "n_embd": NaN}', "n_embd = nan: is a whole number from 1 to 10^36"),
        ('{"model_type": "gpt2", "n_embd": 1e400}', "n_embd = inf: is a whole number from 1 to 10^36"),
        ('{"model_type": "gpt2", "layer_norm_epsilon": 1e400}', "layer_norm_epsilon = inf: is a finite number from 0"),
        ('{"model_type": "gpt2", "n_embd": 8, "n_embd": 16}', "n_embd: is given twice"),
        ('{"model_type": "gpt2", "x": {"y": 1, "y": 1}}', "y: is given twice"),
        ('{"model_type": "gpt2", "\\ud800": 1}', "holds text that is not Unicode (half a surrogate pair)"),
        ('{"blocks": 3}', "width: is missing"),
        ('{"architecture": []}', "[architecture]: is missing; it describes the model"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8 text (byte 0)"),
        (b"\x80abc", "is not UTF-8 text (byte 0)"),
    ],
)
def test_bad_json(tmp_path: Path, content: str | bytes, told: str) -> None:
    path = write(tmp_path / "config.json", content)
    with pytest.raises(ConfigError) as caught:
        load_source(path)
    line = str(caught.value)
    assert line.startswith(f"{path}: {told}")
    assert "\n" not in line
    assert caught.value.exit_code == 3


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(10**9)  # sparse: takes no room
    with pytest.raises(ConfigError, match="is larger than 16 MiB, so it is no configuration"):
        load_source(path)
    with pytest.raises(ConfigError, match="is larger than 16 MiB"):
        files.decoded(b" " * (files.LIMIT + 1), "standard input")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device here")
def test_an_endless_file_is_refused() -> None:
    with pytest.raises(ConfigError, match="is larger than 16 MiB"):
        load_source("/dev/zero")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("no/such/config.json", "no/such/config.json: no such file"),
        ("absent.json", "absent.json: no such file"),
        ("absent.toml", "absent.toml: no such file"),
        ("gpt2-smal", '"gpt2-smal": no such preset, and no such file; did you mean gpt2-small'),
        ("", '"": no such preset'),
        ("a\0b", '"a'),
        ("a\0b.json", "a"),
        ("a" * 5000, '"aaa'),
        ("a" * 5000 + ".json", "aaa"),
    ],
)
def test_unknown(source: str, told: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        load_source(source)
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 4


def test_a_folder_without_a_config(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"the folder holds no config\.json$"):
        load_source(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    path = write(tmp_path / "config.json", GPT2)
    path.chmod(0)
    with pytest.raises(UnknownNameError, match=r"can't be read: Permission denied$"):
        load_source(path)


def test_mappings_that_are_no_plain_data() -> None:
    circle: dict[str, Any] = {"blocks": {}}
    circle["blocks"]["block"] = circle
    for source in (circle, {"blocks": {(1, 2): 3}}, {"blocks": {}, "width": 10**5000}):
        with pytest.raises(BlockcalcError) as caught:
            load_source(source)
        assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="a model is a name, a path or a mapping, not int"):
        load_source(3)  # type: ignore[arg-type]


def test_a_preset_loads_without_heavy_imports() -> None:
    """What a script pays that only asks for a shipped model."""
    heavy = "pydantic sympy numpy fractions decimal json pathlib blockcalc.huggingface blockcalc.config.schema"
    code = (
        "import sys; before = set(sys.modules); from blockcalc.loading import load_source;"
        "[load_source(name) for name in ('gpt2-small', 'llama-2-70b', 'pythia-12b', 'gemma-2-9b')];"
        f"print([name for name in {heavy.split()!r} if name in set(sys.modules) - before])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
