"""The sizes of a run: batch, positions, and the query-key pairs that its attention convention counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from blockcalc.engine.contraction import Product
from blockcalc.engine.derive import Derivation
from blockcalc.engine.evaluate import Exact
from blockcalc.engine.quantity import exact_quotient
from blockcalc.engine.sizes import Definition, Size, defined
from blockcalc.errors import ConfigError, UsageError

AttentionMode = Literal["full", "causal", "half"]

_PAIRS = "g(S, W) − g(S − T, W)"
_UNWINDOWED: Mapping[str, str] = {"causal": "T·S − T·(T − 1)/2", "half": "T·S − T²/2"}
_WINDOWED: Mapping[str, str] = {
    "causal": f"{_PAIRS}, g(n, W) = m·(m + 1)/2 + (n − m)·W, m = min(n, W)",
    "half": f"{_PAIRS}, g(n, W) = m²/2 + (n − m)·W, m = min(n, W)",
}


@dataclass(frozen=True, slots=True)
class Run:
    """What is run: B sequences of T positions each, which attend S positions (S ≥ T; None means S = T)."""

    B: int
    T: int
    S: int | None = None
    attention: AttentionMode = "full"
    origins: tuple[tuple[str, str], ...] = ()


def default_positions(derivation: Derivation) -> int:
    """T when none is given: all the positions that the model states for itself.

    Raises UsageError when it states none.
    """
    architecture = derivation.architecture
    length = architecture.learned_positions or architecture.context
    if length is None:
        raise UsageError(f"{architecture.name} states no context length: give one, as in --T 1024")
    return length


def check_run(derivation: Derivation, run: Run) -> list[str]:
    """Warnings about a run that goes beyond what the model states.

    Raises UsageError for S below T, ConfigError for a run that this model can't make.
    """
    length = run.T if run.S is None else run.S
    letter = "T" if run.S is None else "S"
    if length < run.T:
        raise UsageError(f"--S = {length}: the positions attended include the {run.T} processed; at least --S {run.T}")
    table, context = derivation.architecture.learned_positions, derivation.architecture.context
    if table is not None and length > table:
        problem = f"{derivation.architecture.name} has a table of {table:,} learned positions"
        raise ConfigError(problem, key=letter, value=length, fix=f"at most {letter} = {table}")
    if table is None and context is not None and length > context:
        name = derivation.architecture.name
        return [f"{letter} = {length:,} is beyond the context of {context:,} that {name} states"]
    return []


def run_sizes(derivation: Derivation, run: Run) -> dict[str, Size]:
    """B, T, S and the pairs A (one for each kind of window) by letter."""
    origins = dict(run.origins)
    attended = run.T if run.S is None else run.S
    same = defined(Product(1, ("T",))) if run.S is None else None
    sizes = [
        Size("B", run.B, origin=origins.get("B", "")),
        Size("T", run.T, origin=origins.get("T", "")),
        Size("S", attended, same, origins.get("S", "")),
    ]
    for group in derivation.groups:
        letter = next((s.contraction.pairs for s in group.stages if s.contraction and s.contraction.pairs), "")
        if letter:
            window = derivation.architecture.blocks[group.name].attention.window
            sizes.append(_pairs_size(letter, run, attended, window))
    return {size.letter: size for size in sizes}


def _pairs_size(letter: str, run: Run, attended: int, window: int | None) -> Size:
    if run.attention == "full":
        return Size(letter, run.T * attended, defined(Product(1, ("T", "S"))))
    value = pairs(run.T, attended, window, halved=run.attention == "half")
    if window is None:
        diagonal = (Product(1, ("T",)),) if run.attention == "causal" else ()
        terms = (Product(2, ("T", "S")), Product(-1, ("T", "T")), *diagonal)
        return Size(letter, value, Definition(_UNWINDOWED[run.attention], terms, 2))
    return Size(letter, value, Definition(_WINDOWED[run.attention], follows=("T", "S", "W")))


def pairs(processed: int, attended: int, window: int | None, *, halved: bool = False) -> Exact:
    """Query-key pairs that a causal mask leaves: g(S, W) − g(S − T, W).

    `halved` counts half the square (T²/2) where the mask leaves T(T + 1)/2, as MFU formulas do.
    """
    twice = _twice_triangle(attended, window, halved) - _twice_triangle(attended - processed, window, halved)
    return exact_quotient(twice, 2)


def _twice_triangle(length: int, window: int | None, halved: bool) -> int:
    seen = length if window is None else min(length, window)
    return seen * (seen if halved else seen + 1) + 2 * (length - seen) * (window or 0)
