"""Tables that repeat what the code says: letters, conventions, operations, the grammar, errors, commands."""

from __future__ import annotations

import re
from dataclasses import MISSING, Field, fields
from types import ModuleType
from typing import Any

import pytest
from commands import reference
from pages import ROOT, table

import blockcalc
from blockcalc import errors
from blockcalc.cli.app import application
from blockcalc.config import architecture, parts, presets, widths
from blockcalc.config.naming import LAYOUTS
from blockcalc.engine.conventions import ATTENTION, CONVENTIONS, RULES
from blockcalc.engine.elementwise import OPERATIONS
from blockcalc.notation import LETTERS

GPT2 = blockcalc.load("gpt2-small")


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_letters() -> None:
    assert table("notation.md", "Letters") == [[one.letter, one.meaning, one.field] for one in LETTERS]


def test_conventions_and_their_numbers() -> None:
    report = GPT2.flops(T=1024, convention="all")
    shown = {name: number(value) for name, value, _ in table("conventions.md", "Named conventions")}
    assert shown == {row.path: row.value for row in report.rows}
    assert list(shown) == list(CONVENTIONS)


def test_numbers_of_other_tools() -> None:
    """Where a tool is said to count as a convention does, the numbers are the same; the rest are measured."""
    exact = GPT2.flops(T=1024).totals.forward_per_token
    for tool, value, beside, counts in table("conventions.md", "What other tools give"):
        percent = re.sub("[ %]", "", beside.replace("−", "-"))
        assert 100 * (number(value) / exact - 1) == pytest.approx(float(percent), abs=0.06), tool
        if counts in CONVENTIONS:
            assert GPT2.flops(T=1024, convention=counts).totals.forward_per_token == number(value), tool


def test_attention() -> None:
    assert [name for name, *_ in table("conventions.md", "Attention")] == list(ATTENTION)


def test_parameter_totals() -> None:
    models = [GPT2.params().totals, blockcalc.load("llama-3-8b").params().totals]
    rows = table("conventions.md", "Parameters")
    assert [name for name, *_ in rows] == list(models[0])
    for name, _, *shown in rows:
        assert [number(value) for value in shown] == [totals[name] for totals in models]


def test_which_n() -> None:
    found = {name: GPT2.flops(N=name).totals.rule_2N // 2 for name in RULES}
    rows = table("conventions.md", "Which N")
    assert {row[0]: number(row[1]) for row in rows} == found
    assert [number(row[2]) for row in rows] == [2 * found[row[0]] for row in rows]
    for row in rows[1:]:
        percent = float(row[3].replace("−", "-").removesuffix(" %"))
        assert 100 * (found[row[0]] / found["matmul"] - 1) == pytest.approx(percent, abs=0.005)


def test_mixture_of_experts() -> None:
    model = blockcalc.load("qwen3-30b-a3b")
    runs = (("exact", "full"), ("torchtitan", "full"), ("torchtitan", "half"))
    found = [model.flops(T=8192, convention=name, attention=mode).totals.training_per_token for name, mode in runs]
    assert [number(value) for _, value in table("conventions.md", "Mixtures of experts")] == found


def test_crossover_rows() -> None:
    rows = [name for name, _ in table("conventions.md", "Crossover")]
    assert rows == [row.path for row in blockcalc.load("mistral-7b").crossover().rows]


def test_operations() -> None:
    shown = {name: int(cost.split()[0]) for name, cost in table("conventions.md", "Elementwise operations")}
    assert shown == OPERATIONS


def test_errors_and_their_codes() -> None:
    shown = {name: int(code) for name, code, _ in table("library.md", "Errors")}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert shown == {kind.__name__: kind.exit_code for kind in kinds}


GRAMMAR = {
    "The head of the file": "Head",
    "`[architecture]`": "Architecture",
    "`[architecture.blocks.NAME]`": "Block",
    "attention": "Attention",
    "positions": "Rotary",
    "`scaling`": "RotaryScaling",
    "feedforward: `mlp`": "Mlp",
    "feedforward: `moe`": "Moe",
    "`times`": "Times",
    "`rounded_up`": "RoundedUp",
    "`rounded_nearest`": "RoundedNearest",
    "Norms": "Norm",
    "`pattern`": "Pattern",
    "Runs": "Run",
}
TAGS = {"Rotary": "kind", "Mlp": "kind", "Moe": "kind"} | dict.fromkeys(
    ("Times", "RoundedUp", "RoundedNearest"), "rule"
)
MODULES: tuple[ModuleType, ...] = (architecture, parts, widths)


def part(name: str) -> Any:
    return next(getattr(module, name) for module in (presets, *MODULES) if hasattr(module, name))


def default(field: Field[Any], tag: str) -> str:
    """A default as the page writes it."""
    if field.default is MISSING or field.name == tag:
        return "required"
    if field.default == ():
        return "[]"
    words = {None: "none", True: "true", False: "false"}
    if field.default is None or isinstance(field.default, bool):
        return words[field.default]
    return f'"{field.default}"' if isinstance(field.default, str) else str(field.default)


@pytest.mark.parametrize(("heading", "name"), GRAMMAR.items())
def test_the_grammar(heading: str, name: str) -> None:
    """Every key with its default, in the order of the part's fields."""
    expected = [[field.name, default(field, TAGS.get(name, ""))] for field in fields(part(name))]
    if name == "Head":
        expected[0][1] = "the file's name"
    assert [[key, value] for key, value, _ in table("configuration.md", heading)] == expected


def test_every_part_of_the_grammar_is_described() -> None:
    found = {
        name
        for module in MODULES
        for name, kind in vars(module).items()
        if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__") and kind.__dataclass_fields__
    }
    assert found == set(GRAMMAR.values()) - {"Head"} | {"Alibi", "Tagged"}  # one has no keys, one is no part


def test_tables_of_names() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert [name for name in LAYOUTS if f"`{name}`" not in text] == []


def test_the_command_reference_is_current() -> None:
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == reference()


def test_every_command_and_option_is_described() -> None:
    """Held against the parser's own objects, which the reference isn't made from."""
    from typer.main import get_command

    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (blockcalc.*?)$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))

    def check(path: str, command: Any) -> None:
        section = sections.pop(path)
        assert command.help.split()[0] in section
        for param in command.params:
            form = max(param.opts, key=len) if param.param_type_name == "option" else param.metavar
            short = min(param.opts, key=len) if param.param_type_name == "option" else form
            assert form in section or f"`{short}`" in section, f"{path} {form}"
        for name, inner in getattr(command, "commands", {}).items():
            check(f"{path} {name}", inner)

    check("blockcalc", get_command(application()))
    assert sections == {}
