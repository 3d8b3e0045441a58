"""The library from outside: what it imports, what its reports hold, and that nothing can be changed by accident."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from words import gpt

import blockcalc
from blockcalc.config.presets import preset_names, resolve_name
from blockcalc.errors import NoAnswerError, UsageError
from blockcalc.views.report import Report
from blockcalc.views.verify import verify_each

PACKAGE = Path(blockcalc.__file__).parent
HEAVY = ("sympy", "numpy", "pydantic", "pandas", "typer", "tabulate", "fractions", "decimal")


def loaded_after(code: str) -> set[str]:
    """The heavy modules that a fresh interpreter has loaded after this code."""
    script = f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    environment = {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import blockcalc",
        'import blockcalc; assert blockcalc.load("gpt2-small").params().totals.stored == 124_439_808',
        'import blockcalc; assert blockcalc.load("llama-3-8b").params(by="tensor").totals.stored == 8_030_261_248',
        'import blockcalc; assert blockcalc.load("gpt2-small").flops(T=1024).totals.forward == 284_812_800 * 1024',
        'import blockcalc; assert blockcalc.load("gemma-2-9b").shapes(T=8).totals.stages > 40',
    ],
)
def test_numbers_need_no_heavy_imports(code: str) -> None:
    """A script that asks for a total pays for no algebra, no arrays, no schema."""
    assert not loaded_after(code) - {"fractions", "decimal"}
    if "params" in code or "blockcalc;" not in code:
        assert not loaded_after(code)


def test_heavy_imports_come_with_what_needs_them() -> None:
    start = 'import blockcalc; m = blockcalc.load("gpt2-small"); '
    assert "sympy" in loaded_after(start + "m.params().formulas.stored")
    assert "pydantic" in loaded_after(start + "m.replace(L=24)")
    assert "numpy" in loaded_after(start + "m.verify()")


def test_public_names() -> None:
    assert set(blockcalc.__all__) == set(dir(blockcalc))
    for name in blockcalc.__all__:
        assert getattr(blockcalc, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        blockcalc.nonsense  # noqa: B018
    assert blockcalc.__version__


def test_replace() -> None:
    model = blockcalc.load("gpt2-small")
    deeper = model.replace(L=24, h_kv=4)
    assert deeper.params().totals.stored == 124_439_808 + 12 * 7_087_872 - 24 * 2 * (768 + 1) * 8 * 64
    assert deeper.sizes["h_kv"].value == 4
    assert model.params().totals.stored == 124_439_808
    assert blockcalc.load("gpt2-small", L=24, h_kv=4).params().totals.stored == deeper.params().totals.stored
    wider = model.replace(d=1536)
    assert (wider.sizes["f"].value, wider.sizes["d_h"].value) == (6144, 128)
    assert deeper.sizes["L"].origin == "set"
    assert model.sizes["L"].origin == "preset"


def test_sources(tmp_path: Path) -> None:
    """A name, an alias, a file, a folder, a config.json's content: one model."""
    sizes = {"n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50_257, "n_positions": 1024}
    config = {"model_type": "gpt2", **sizes}
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    preset = Path(resolve_name("gpt2-small"))
    for source in ("gpt2-small", "gpt2", config, tmp_path, str(tmp_path / "config.json"), preset):
        assert blockcalc.load(source).params().totals.stored == 124_439_808
    words = gpt(768, 12, 12, vocabulary=50_257, learned_positions=1024)
    assert blockcalc.load(words).params().totals.stored == 124_439_808


def reports() -> dict[str, Report]:
    """One report of each kind, of a mixture of experts with halves and shares."""
    model, mixture = blockcalc.load("gpt2-small"), blockcalc.load("mixtral-8x7b")
    return {
        "params": mixture.params(),
        "params by tensor": model.params(by="tensor"),
        "flops": model.flops(T=7, attention="half", D=10**9),
        "conventions": model.flops(T=7, convention="all"),
        "shapes": model.shapes(B=2, T=7, S=9),
        "crossover": blockcalc.load("qwen1.5-72b").crossover(),
        "explain": model.explain("flops", T=7),
        "verify": blockcalc.load("block-d64").verify(),
        "presets": blockcalc.presets(),
    }


REPORTS = reports()
TOTALS = {
    "params": {"stored", "active", "non_embedding", "matmul", "state_dict"},
    "flops": {
        "forward", "linear", "attention", "head", "forward_per_token", "backward", "training", "training_per_token",
        "block_attention_share", "rule_2N", "rule_6N", "training_run", "rule_6ND",
    },
    "shapes": {"stages"},
    "crossover": {"T", "T_causal", "T_with_head", "T_over_d"},
    "verify": {
        "stages", "mismatches", "parameters_derived", "parameters_found", "flops_derived", "flops_found", "published",
    },
}  # fmt: skip
ROWS = {
    "params": {"path", "formula", "value", "share"},
    "params by tensor": {"path", "name", "shape", "count", "value", "tied_to"},
    "flops": {"path", "formula", "value"},
    "shapes": {"path", "symbols", "shape", "reads"},
    "crossover": {"path", "formula", "value"},
    "verify": {"path", "derived", "found", "ok"},
}


@pytest.mark.parametrize("name", REPORTS)
def test_reports_as_plain_data(name: str) -> None:
    report = REPORTS[name]
    data = json.loads(json.dumps(report.to_dict()))
    assert set(data) >= {"blockcalc", "command", "model", "sizes", "conventions", "rows", "totals", "warnings"}
    assert data["blockcalc"] == blockcalc.__version__
    assert set(data["totals"]) >= TOTALS.get(name, set())
    for row in data["rows"]:
        assert "path" in row
        assert ("value" in row) == ("formula" in row)
        assert set(row) >= ROWS.get(name, set())
    assert [row["path"] for row in data["rows"]] == [row.path for row in report.rows]


@pytest.mark.parametrize("name", REPORTS)
def test_fractions_stand_beside_their_nearest_number(name: str) -> None:
    """Whole numbers are exact; for others the exact fraction stands as text under NAME_exact."""
    report = REPORTS[name]
    data = report.to_dict()
    for key, entry in report.numbers.items():
        if isinstance(entry.value, Fraction):
            assert data["totals"][key] == float(entry.value)
            assert Fraction(data["totals"][f"{key}_exact"]) == entry.value
        else:
            assert data["totals"][key] == entry.value
            assert f"{key}_exact" not in data["totals"]


def test_a_fraction_written_out() -> None:
    totals = REPORTS["flops"].to_dict()["totals"]
    share = totals["block_attention_share_exact"]
    assert share == f"{Fraction(2 * 7, 24 * 768 + 2 * 7)}"
    mixed = blockcalc.load("gpt2-small").crossover().to_dict()["totals"]
    assert (mixed["T_with_head"], mixed["T_with_head_exact"]) == (160_849 / 24, "160849/24")
    assert mixed["T"] == 4608


def test_sizes_and_conventions_in_plain_data() -> None:
    data = blockcalc.load("gpt2-small").flops(B=2, T=1024).to_dict()
    sizes = {"L": 12, "d": 768, "V": 50_257, "P": 1024, "h": 12, "h_kv": 12, "d_h": 64, "f": 3072}
    assert {**sizes, "B": 2, "T": 1024, "S": 1024}.items() <= data["sizes"].items()
    assert set(data["conventions"]) >= {"convention", "attention", "backward"}
    assert data["definitions"]["f"] == "4·d"
    assert blockcalc.load("llama-7b").params().to_dict()["definitions"]["f"] == "256·⌈⌊8d/3⌋/256⌉"


def test_formulas_may_be_left_out() -> None:
    data = blockcalc.load("gpt2-small").params().to_dict(formulas=False)
    assert not any("formula" in row for row in data["rows"])
    assert not data["formulas"]


@pytest.mark.parametrize("name", REPORTS)
def test_reports_print_themselves(name: str) -> None:
    report = REPORTS[name]
    text, page, latex = str(report), report._repr_html_(), report._repr_latex_()
    assert report.title in text
    assert "<table" in page
    assert "\\begin{" in latex
    for row in list(report.rows)[:3]:
        assert row.path in text or str(row.name) in text
    assert str(report) == text


def test_models_print_themselves() -> None:
    model = blockcalc.load("gpt2-small")
    assert "124,439,808" in str(model)
    assert "124,439,808" in model._repr_html_()
    assert "124{,}439{,}808" in model._repr_latex_() or "124,439,808" in model._repr_latex_()


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is an extra")
    frame = blockcalc.load("gpt2-small").params(by="tensor").to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert int(frame["value"].sum()) == 124_439_808


def test_rows_and_totals_by_name() -> None:
    report = blockcalc.load("gpt2-small").params()
    assert report.totals.stored == report.totals["stored"] == 124_439_808
    assert list(report.totals) == ["stored", "active", "non_embedding", "matmul", "state_dict"]
    assert "stored=124439808" in repr(report.totals)
    assert "stored" in dir(report.totals)
    with pytest.raises(AttributeError, match="no total 'sotred'; there are stored, active"):
        report.totals.sotred  # noqa: B018
    row = report.rows[0]
    assert (row.path, row.value, str(row.formula)) == ("embedding.tokens", 38_597_376, "V*d")
    with pytest.raises(AttributeError):
        row.nonsense  # noqa: B018


def test_nothing_changes_by_accident() -> None:
    model = blockcalc.load("gpt2-small")
    report = model.params()
    for thing, field in [
        (model, "architecture"),
        (model.architecture, "layers"),
        (model.architecture.blocks["block"].attention, "heads"),
        (report, "rows"),
        (report.rows[0], "path"),
        (model.derivation, "groups"),
        (model.derivation.stages()[0], "out"),
        (model.sizes["d"], "value"),
    ]:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, field, None)


def test_same_question_same_answer() -> None:
    for name in ("gpt2-small", "gemma-2-9b"):
        first, second = (json.dumps(blockcalc.load(name).flops(T=9).to_dict()) for _ in range(2))
        assert first == second


def test_every_preset_answers_every_question() -> None:
    for name in preset_names():
        model = blockcalc.load(name)
        assert model.flops(T=8).totals.forward > 0
        assert model.shapes(T=8).totals.stages == len(model.shapes(T=8).rows)
        assert model.crossover().totals.T > 0


def test_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


# What the code says of itself


def modules() -> list[str]:
    """Every module of the package."""
    return [info.name for info in pkgutil.walk_packages([str(PACKAGE)], "blockcalc.")]


@pytest.mark.parametrize("name", modules())
def test_documented(name: str) -> None:
    """Each module, public class, function and method says what it is."""
    module = importlib.import_module(name)
    assert module.__doc__, name
    for label, thing in vars(module).items():
        if not label.startswith("_") and getattr(thing, "__module__", None) == name and callable(thing):
            assert inspect.getdoc(thing), f"{name}.{label}"
            assert not isinstance(thing, type) or not undocumented(thing), f"{name}.{label}: {undocumented(thing)}"


def undocumented(kind: type[Any]) -> list[str]:
    """Public methods and properties of a class without a docstring of their own."""
    members = [(label, getattr(m, "fget", None) or getattr(m, "func", None) or m) for label, m in vars(kind).items()]
    own = [(label, m) for label, m in members if inspect.isfunction(inspect.unwrap(m)) and not label.startswith("_")]
    return [label for label, member in own if not member.__doc__]


def test_docstring_of_the_package_is_true() -> None:
    """The example in it gives what it says."""
    lines = [line.strip() for line in (blockcalc.__doc__ or "").splitlines()]
    asked = lines.index('>>> blockcalc.load("gpt2-small").params().totals.stored')
    assert str(blockcalc.load("gpt2-small").params().totals.stored) == lines[asked + 1]


@pytest.mark.parametrize(
    "sizes",
    [{"D": -5}, {"D": 0}, {"D": 1.5}, {"D": 10**40}, {"B": True}, {"B": None}, {"B": 1.5}, {"T": 5.0}, {"S": "0"}],
)
def test_a_run_size_that_is_no_size_is_refused(sizes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"whole number|10\^36"):
        blockcalc.load("gpt2-small").flops(**{"T": 8, **sizes})


def test_run_sizes_are_taken_as_the_command_line_takes_them() -> None:
    model = blockcalc.load("llama-2-7b")
    asked = model.flops(B=numpy.int64(2), T="4Ki", D="300e9").to_dict()
    assert asked == model.flops(B=2, T=4096, D=300_000_000_000).to_dict()
    assert model.replace(h=numpy.int64(16)).params().to_dict() == model.replace(h=16).params().to_dict()


@pytest.mark.parametrize(
    ("view", "asked"),
    [
        ("flops", {"attention": 5}),
        ("flops", {"attention": ["full"]}),
        ("flops", {"convention": None}),
        ("flops", {"N": 5}),
        ("params", {"by": 5}),
        ("explain", {"quantity": 5}),
    ],
)
def test_a_choice_that_is_no_name_is_refused(view: str, asked: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=rf"^{next(iter(asked))} = .* is "):
        getattr(blockcalc.load("gpt2-small"), view)(**asked)


@pytest.mark.parametrize(
    ("model", "sizes", "moved"),
    [
        ("gpt2-small", {"blocks.block.attention.heads": "8"}, {"h"}),
        ("gpt2-small", {"h_block": 6}, {"h"}),
        ("gemma-2-9b", {"W_local": 7}, {"W"}),
        ("gemma-2-9b", {"L": 5}, {"L_local", "L_global"}),
    ],
)
def test_a_size_that_was_set_says_so(model: str, sizes: dict[str, object], moved: set[str]) -> None:
    origins = blockcalc.load(model).replace(**sizes).params().to_dict()["origins"]
    assert {letter for letter, origin in origins.items() if origin == "set"} == moved


def test_fractions_among_the_sizes_are_exact() -> None:
    model = blockcalc.load("mistral-7b", W=10**18)
    sizes = model.flops(T=10**17 + 1, attention="half").to_dict()["sizes"]
    assert sizes["A_exact"] == f"{(10**17 + 1) ** 2}/2"


@pytest.mark.parametrize(
    ("model", "sizes", "run", "told"),
    [
        ("block-d8", {}, {"T": 20_000}, "B = 2, T = 20,000: the tensors of one part take"),
        ("gpt2-small", {}, {"B": 10**30}, "are allowed; smaller B and T would do"),
        ("mixtral-8x7b", {"E": 10**9}, {}, "mixtral-8x7b can't be run within 8 GiB"),
    ],
)
def test_a_pass_that_does_not_fit_is_refused(
    model: str, sizes: dict[str, object], run: dict[str, int], told: str
) -> None:
    with pytest.raises(NoAnswerError, match=told):
        blockcalc.load(model).replace(**sizes).verify(**run)


def test_a_mismatch_of_one_model_among_all_is_counted_once() -> None:
    models = [
        (blockcalc.load(name).architecture, published) for name, published in (("block-d8", 712), ("block-d4", 7))
    ]
    report = verify_each(models)
    assert (report.totals.models, report.totals.mismatches, report.exit_code) == (2, 1, 1)
    assert [row.path for row in report.rows if not row.ok] == ["block-d4", "block-d4: published total"]
    assert report.totals.published == 712 + 7
