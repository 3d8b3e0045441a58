"""Random architectures of the whole grammar: the derivation against the numpy pass that runs, and against itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import architectures

import blockcalc
from blockcalc.config.architecture import Architecture
from blockcalc.config.presets import load_preset, preset_names
from blockcalc.engine.context import Context
from blockcalc.engine.derive import Derivation, derive
from blockcalc.engine.evaluate import evaluate
from blockcalc.engine.run import Run, run_sizes
from blockcalc.engine.symbols import exact_expression, symbol
from blockcalc.errors import UsageError
from blockcalc.model import Model
from blockcalc.views.comparison import check
from blockcalc.views.report import Report

SOME = settings.default.max_examples  # 100, unless another profile is asked for
MANY, FEW = 5 * SOME, SOME // 3
NARROW = [name for name in preset_names() if load_preset(name).architecture.width <= 2_048]

modes = st.sampled_from(["full", "causal", "half"])


@settings(max_examples=MANY)
@given(architecture=architectures())
def test_the_pass_that_runs_agrees(architecture: Architecture) -> None:
    """Shapes of all stages, arrays of all weights, multiply-adds of all products; with positions cached, S > T."""
    checked = check(architecture)
    assert [row for row in checked.rows if not row.ok] == []
    assert checked.parameters[0] == checked.parameters[1]
    assert checked.flops[0] == checked.flops[1] > 0
    assert not checked.scaled


@settings(max_examples=SOME)
@given(architecture=architectures(), B=st.integers(1, 3), T=st.integers(1, 9))
def test_and_at_other_lengths(architecture: Architecture, B: int, T: int) -> None:
    checked = check(architecture, B, T)
    assert [row for row in checked.rows if not row.ok] == []
    assert checked.flops[0] == checked.flops[1]


@pytest.mark.parametrize("name", NARROW)
def test_narrow_presets_agree(name: str) -> None:
    """At their real width; the wide ones take `blockcalc verify --all`."""
    checked = check(load_preset(name).architecture)
    assert [row for row in checked.rows if not row.ok] == []
    assert checked.parameters[0] == checked.parameters[1]
    assert checked.flops[0] == checked.flops[1]


@settings(max_examples=SOME)
@given(architecture=architectures(), T=st.integers(1, 9), cached=st.integers(0, 5), mode=modes)
def test_columns_add_up(architecture: Architecture, T: int, cached: int, mode: str) -> None:
    model = Model(architecture)
    for by in ("component", "block", "tensor"):
        report = model.params(by)
        assert sum(row.value for row in report.rows) == report.totals.stored
        assert sum(row.active.value for row in report.rows) == report.totals.active
        assert sum(row.share.exact for row in report.rows) == 1
    work = model.flops(B=2, T=T, S=T + cached, attention=mode)
    assert kinds(work, "matrix") == work.totals.forward
    assert kinds(work, "elementwise") == work.totals.elementwise
    parts = work.totals.linear, work.totals.attention, work.totals.head
    assert sum(parts) == work.totals.forward


def kinds(report: Report, kind: str) -> Any:
    """Sum of the rows of one kind."""
    return sum(row.value for row in report.rows if row.kind == kind)


@settings(max_examples=SOME)
@given(architecture=architectures())
def test_totals_hang_together(architecture: Architecture) -> None:
    totals = Model(architecture).params().totals
    assert totals.non_embedding <= totals.stored <= totals.state_dict
    assert totals.active <= totals.stored
    rows = Model(architecture).params("tensor").rows
    assert sum(whole(row.shape) * row.count for row in rows) == totals.state_dict
    head = () if architecture.tied_head else ("head.weight", "head.bias")
    tables = ("embedding.tokens.weight", "embedding.positions.weight", *head)
    assert sum(row.value for row in rows if row.path not in tables) == totals.non_embedding


def whole(shape: tuple[int, ...]) -> int:
    """Numbers in a tensor of this shape."""
    product = 1
    for size in shape:
        product *= size
    return product


# One evaluator, three kinds of sizes


def costs(derivation: Derivation) -> Iterator[Any]:
    """Every cost that a stage has."""
    for stage in derivation.stages():
        yield from (cost for cost in (stage.flops, stage.params, stage.active, stage.state_dict) if cost)
        yield from ((product,) for _, product in stage.elementwise)


@settings(max_examples=SOME)
@given(architecture=architectures())
def test_numbers_symbols_and_arrays_agree(architecture: Architecture) -> None:
    derivation = derive(architecture)
    values = Context({**derivation.sizes, **run_sizes(derivation, Run(2, 5, 8))}).values
    symbols = {letter: symbol(letter) for letter in values}
    replaced = {symbol(letter): sympy.Integer(value) for letter, value in values.items()}
    small = {letter: np.array([value, 2 * value], dtype=np.int64) for letter, value in values.items()}
    large = {letter: np.array([value, value * 10**30], dtype=object) for letter, value in values.items()}
    for cost in costs(derivation):
        number = evaluate(cost, values)
        assert (sympy.Integer(0) + evaluate(cost, symbols)).xreplace(replaced) == number
        doubled = evaluate(cost, {letter: 2 * value for letter, value in values.items()})
        assert evaluate(cost, small).tolist() == [number, doubled]
        enormous = evaluate(cost, {letter: value * 10**30 for letter, value in values.items()})
        assert evaluate(cost, large).tolist() == [number, enormous]


@settings(max_examples=FEW)
@given(architecture=architectures(), mode=modes)
def test_formulas_give_their_numbers(architecture: Architecture, mode: str) -> None:
    model = Model(architecture)
    views = (model.params(), partial(model.flops, B=2, T=5, S=7, attention=mode, D=10**6)(), model.crossover())
    for report in views:
        replaced = {symbol(size.letter): rational(size.value) for size in report.sizes}
        numbers = [*report.numbers.items(), *((row.path, row.number) for row in report.rows)]
        for name, entry in numbers:
            if entry.value is not None:
                assert entry.formula.xreplace(replaced) == rational(entry.value), name


def rational(value: Any) -> sympy.Expr:
    """A whole number or fraction as sympy's."""
    return sympy.Rational(value.numerator, value.denominator)


@settings(max_examples=FEW)
@given(architecture=architectures(), data=st.data())
def test_free_letters_give_the_numbers_back(architecture: Architecture, data: st.DataObject) -> None:
    """Polynomials in any letters, with their values filled in; or a refusal that names what follows from what."""
    sizes = Model(architecture).sizes
    letters = [letter for letter, size in sizes.items() if not size.compound and (letter != "L" or not size.definition)]
    free = data.draw(st.sets(st.sampled_from(letters), min_size=1, max_size=3))
    replaced = {symbol(letter): sympy.Integer(sizes[letter].value) for letter in free}
    for view in ("params", "flops", "crossover"):
        options: dict[str, Any] = {"B": 2, "T": 6} if view == "flops" else {}
        bound = getattr(Model(architecture), view)(**options)
        try:
            report = getattr(Model(architecture, free=frozenset(free)), view)(**options)
        except UsageError as error:
            if "follows from" not in str(error):
                raise
            continue
        for name, entry in report.numbers.items():
            if entry.value is not None:
                found = exact_expression(entry.value)
                assert not found.atoms(sympy.Float)
                assert found.xreplace(replaced) == rational(bound.numbers[name].value), name


# What is printed


@settings(max_examples=SOME)
@given(architecture=architectures())
def test_printed_cells_are_the_numbers(architecture: Architecture) -> None:
    model = Model(architecture)
    for report in (model.params(), model.params("block"), model.params("tensor"), model.flops(B=2, T=6)):
        table = report.to_table(formulas=False)
        place = list(report.columns).index("value")
        printed = [read(cells[place]) for cells in table.rows]
        assert printed == [row.value for row in report.rows]
        totals = {cells[0]: cells[1] for cells in table.totals}
        for name, entry in report.numbers.items():
            assert read(totals[name]) == entry.value
    stored = [cells for cells in model.params().to_table(formulas=False).totals if cells[0] == "stored"]
    column = list(model.params().columns).index("value")
    assert sum(read(c[column]) for c in model.params().to_table(formulas=False).rows) == read(stored[0][1])


def read(cell: str) -> int | Fraction:
    """A printed number: 1,234 or 1,234.5 or 3/7."""
    assert re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+|/[0-9]{1,3}(,[0-9]{3})*)?", cell), cell
    return Fraction(cell.replace(",", ""))


@pytest.mark.parametrize("name", preset_names())
def test_printed_shares_add_up(name: str) -> None:
    """To 100 % but for the last digit of each row."""
    report = blockcalc.load(name).params()
    place = list(report.columns).index("share")
    shares = [Fraction(cells[place].removesuffix(" %")) for cells in report.to_table(formulas=False).rows]
    assert abs(sum(shares) - 100) <= Fraction(len(shares), 200)
