"""The floors of the package, read from its source: who imports whom, and what stands nowhere."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import blockcalc
from blockcalc.config.presets import preset_names

PACKAGE = Path(blockcalc.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text("utf-8")) for path in FILES}
PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def module(path: Path) -> str:
    """A file's dotted name."""
    parts = ["blockcalc", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST) -> Iterator[str]:
    """All that a file imports, also inside functions, but not for type checkers alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def floors() -> list[set[str]]:
    """Top to bottom, as pyproject.toml gives them to import-linter."""
    contracts = tomllib.loads(PROJECT.read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [{name.strip() for name in layer.replace("|", ":").split(":")} for layer in layers]


def floor_of(name: str) -> int | None:
    """The floor that a module lies on, None for what lies on none."""
    for number, names in enumerate(floors()):
        if any(name == floor or name.startswith(f"{floor}.") for floor in names):
            return number
    return None


@pytest.mark.parametrize("path", FILES, ids=module)
def test_imports_run_downward(path: Path) -> None:
    own = floor_of(module(path))
    for name in imported(TREES[path]):
        other = floor_of(name)
        if own is not None and other is not None:
            assert other >= own, f"{module(path)} imports {name} from a floor above"


def test_every_module_lies_on_a_floor() -> None:
    assert [module(path) for path in FILES if floor_of(module(path)) is None] == ["blockcalc", "blockcalc.__main__"]


def test_engine_and_reference_do_not_know_each_other() -> None:
    for path, tree in TREES.items():
        for name in imported(tree):
            if module(path).startswith("blockcalc.engine"):
                assert not name.startswith(("blockcalc.reference", "numpy")), path
            if module(path).startswith("blockcalc.reference"):
                assert not name.startswith(("blockcalc.engine", "sympy")), path
            if module(path).startswith("blockcalc.config"):
                assert not name.startswith(("sympy", "numpy")), path
            if module(path).startswith("blockcalc.cli"):
                assert not name.startswith(("blockcalc.reference", "sympy", "numpy")), path


def test_only_the_comparison_sees_both() -> None:
    both = [
        module(path)
        for path, tree in TREES.items()
        if {"blockcalc.engine", "blockcalc.reference"} <= {".".join(name.split(".")[:2]) for name in imported(tree)}
    ]
    assert both == ["blockcalc.views.comparison"]


def called(tree: ast.AST) -> set[str]:
    """What a file calls, as it is written there, and the last name of each."""
    names = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return names | {name.rpartition(".")[2] for name in names}


def test_symbols_are_made_in_one_place() -> None:
    makers = {"Symbol", "symbols", "Dummy", "Wild"}
    where = {module(path) for path, tree in TREES.items() if makers & called(tree)}
    assert where == {"blockcalc.engine.symbols"}


def test_no_text_is_ever_run() -> None:
    """Nor parsed by sympy, which evaluates it; sizes are filled in by xreplace."""
    for path, tree in TREES.items():
        forbidden = {"eval", "exec", "__import__", "sympify", "parse_expr", "sympy.S", "lambdify", "subs", "format_map"}
        assert not forbidden & called(tree), path
        assert not {"pickle", "subprocess", "yaml", "ctypes"} & {name.split(".")[0] for name in imported(tree)}, path
        bare = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert "compile" not in bare, path


def test_sympy_functions_get_no_text() -> None:
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("sympy.") and node.args:
                text = any(is_text(argument) for argument in node.args)
                assert not text or "Symbol" in ast.unparse(node.func), f"{path}: {ast.unparse(node)}"


def is_text(node: ast.AST) -> bool:
    """Whether this is a string or an f-string."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_sizes_are_never_divided_with_rounding() -> None:
    """Widths and costs know no `/`: a float between the integers rounds some of them wrongly."""
    for path, tree in TREES.items():
        if module(path).endswith((".widths", ".evaluate", ".contraction", ".run", ".tally", ".stage")):
            assert not any(isinstance(node, ast.Div) for node in ast.walk(tree)), path


@pytest.mark.parametrize("path", FILES, ids=module)
def test_files_are_small(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 300


def test_no_models_name_in_code() -> None:
    """No preset is a special case: a name of one stands in no code outside docstrings and messages."""
    presets = set(preset_names())
    for path, tree in TREES.items():
        if not module(path).startswith("blockcalc.cli"):
            constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            assert not constants & presets, f"{path}: {constants & presets}"
