"""Letters and what they stand for in one model: the value, where it came from, how it is defined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from blockcalc.config.architecture import Architecture
from blockcalc.config.parts import Block, Mlp, Rotary
from blockcalc.config.resolve import feedforward_width, head_width
from blockcalc.config.widths import Times
from blockcalc.engine.contraction import Cost, Product
from blockcalc.engine.evaluate import Exact, evaluate


@dataclass(frozen=True, slots=True)
class Definition:
    """How a size follows from others: in words, and as a sum of products over a divisor where it is one.

    A definition without `terms` (a rounding, a minimum) never stands inside a formula; `follows` are
    the letters that it is computed from.
    """

    text: str
    terms: Cost = ()
    divisor: str | int = 1
    follows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Size:
    """One letter's value. `compound` sizes are widths that formulas always spell out: (h + 2·h_kv)·d_h.

    A listing leaves `value` None where it follows from a letter that is free.
    """

    letter: str
    value: Any
    definition: Definition | None = None
    origin: str = ""
    compound: bool = False


def structure_sizes(architecture: Architecture) -> tuple[dict[str, Size], dict[str, frozenset[str]]]:
    """All sizes of an architecture by letter, and for each block kind the letters that are its own.

    Blocks that agree on a size share its letter; where they differ each has its own, `f_dense`.
    """
    counts = architecture.block_counts()
    found = {name: _block_sizes(architecture, architecture.blocks[name]) for name in counts}
    own = own_letters(found)
    sizes = {size.letter: size for size in _outer_sizes(architecture, counts)}
    for name, block in found.items():
        sizes.update((size.letter, size) for size in _renamed(block, name, own[name]))
    return sizes, own


def own_letters(blocks: Mapping[str, list[Size]]) -> dict[str, frozenset[str]]:
    """For each block kind the letters whose size or definition isn't the same in all kinds that have them."""
    seen: dict[str, set[tuple[Exact, str]]] = {}
    for sizes in blocks.values():
        for size in sizes:
            seen.setdefault(size.letter, set()).add((size.value, size.definition.text if size.definition else ""))
    differ = {letter for letter, values in seen.items() if len(values) > 1}
    windows = {any(size.letter == "W" for size in sizes) for sizes in blocks.values()}
    if "W" in differ or len(windows) > 1:
        differ |= {"A", "W"} if "W" in differ else {"A"}
    own = _with_what_follows(differ, [size for sizes in blocks.values() for size in sizes])
    return dict.fromkeys(blocks, own)


def _with_what_follows(letters: set[str], sizes: list[Size]) -> frozenset[str]:
    """The letters and every letter that is defined by one of them."""
    while True:
        more = {s.letter for s in sizes if s.definition and letters & _letters(s.definition)} - letters
        if not more:
            return frozenset(letters)
        letters = letters | more


def _letters(definition: Definition) -> set[str]:
    letters = {letter for product in definition.terms for letter in product.letters}
    return letters | ({definition.divisor} if isinstance(definition.divisor, str) else set())


def _renamed(sizes: list[Size], block: str, own: frozenset[str]) -> Iterator[Size]:
    """The sizes of one block in its own letters."""
    for size in sizes:
        letter = f"{size.letter}_{block}" if size.letter in own else size.letter
        definition = size.definition and _renamed_definition(size.definition, block, own)
        yield replace(size, letter=letter, definition=definition)


def _renamed_definition(definition: Definition, block: str, own: frozenset[str]) -> Definition:
    names = {letter: f"{letter}_{block}" for letter in own}
    if not definition.terms:
        follows = tuple(names.get(letter, letter) for letter in definition.follows)
        return replace(definition, text=definition.text.replace("d_h", names.get("d_h", "d_h")), follows=follows)
    terms = tuple(
        Product(p.coefficient, tuple(names.get(letter, letter) for letter in p.letters)) for p in definition.terms
    )
    divisor = names.get(str(definition.divisor), definition.divisor)
    return Definition(definition_text(terms, divisor), terms, divisor)


def _outer_sizes(architecture: Architecture, counts: Mapping[str, int]) -> Iterator[Size]:
    if len(counts) == 1:
        yield Size("L", architecture.layers)
    else:
        parts = tuple(Product(1, (f"L_{name}",)) for name in counts)
        yield Size("L", architecture.layers, defined(*parts))
        for name, count in counts.items():
            yield Size(f"L_{name}", count)
    yield Size("d", architecture.width)
    if architecture.vocabulary is not None:
        yield Size("V", architecture.vocabulary_rows, _vocabulary_definition(architecture))
    if architecture.learned_positions is not None:
        yield Size("P", architecture.learned_positions)


def _vocabulary_definition(architecture: Architecture) -> Definition | None:
    multiple = architecture.vocabulary_multiple
    if multiple is None:
        return None
    return Definition(f"{multiple}·⌈{architecture.vocabulary}/{multiple}⌉")


def _block_sizes(architecture: Architecture, block: Block) -> list[Size]:
    """The sizes of one block, in letters that aren't yet its own."""
    part, d = block.attention, architecture.width
    width = head_width(d, part)
    shared = defined(Product(1, ("h",))) if part.kv_heads is None else None
    by_rule = defined(Product(1, ("d",)), divisor="h") if part.head_width is None else None
    sizes = [Size("h", part.heads), Size("h_kv", part.kv_head_count, shared), Size("d_h", width, by_rule)]
    if isinstance(part.positions, Rotary):
        sizes.append(Size("d_rope", part.positions.width(width), _rotary_definition(part.positions)))
    if part.window is not None:
        sizes.append(Size("W", part.window))
    sizes += _feedforward_sizes(block, d)
    values = {size.letter: size.value for size in sizes}
    return sizes + list(_compounds(values))


def _rotary_definition(positions: Rotary) -> Definition:
    if positions.fraction == 1:
        return defined(Product(1, ("d_h",)))
    return Definition(f"⌊{positions.fraction}·d_h⌋", follows=("d_h",))


def _feedforward_sizes(block: Block, d: int) -> list[Size]:
    part = block.feedforward
    letter = "f" if isinstance(part, Mlp) else "f_e"
    definition = None
    if not isinstance(part.width, int):
        rule = part.width
        definition = Definition(rule.definition(), follows=("d",))
        if isinstance(rule, Times):
            definition = defined(Product(rule.times, ("d",)))
    sizes = [Size(letter, feedforward_width(d, part), definition)]
    if isinstance(part, Mlp):
        return sizes
    shared = [Size("f_s", part.shared_width)] if part.shared_width is not None else []
    return [Size("E", part.experts), Size("k", part.experts_per_token), *sizes, *shared]


_COMPOUNDS: dict[str, Cost] = {
    "d_q": (Product(1, ("h", "d_h")),),
    "d_kv": (Product(1, ("h_kv", "d_h")),),
    "d_qkv": (Product(1, ("h", "d_h")), Product(2, ("h_kv", "d_h"))),
    "2f": (Product(2, ("f",)),),
    "2f_e": (Product(2, ("f_e",)),),
    "2f_s": (Product(2, ("f_s",)),),
}


def _compounds(values: Mapping[str, Exact]) -> Iterator[Size]:
    """Widths that are sums of products of the block's letters."""
    for letter, terms in _COMPOUNDS.items():
        if all(factor in values for product in terms for factor in product.letters):
            yield Size(letter, evaluate(terms, values), defined(*terms), compound=True)


def defined(*terms: Product, divisor: str | int = 1) -> Definition:
    """A definition that formulas spell out: a sum of products over a divisor."""
    return Definition(definition_text(terms, divisor), terms, divisor)


def definition_text(terms: Cost, divisor: str | int = 1) -> str:
    """A definition in letters: `h·d_h + 2·h_kv·d_h`, `d/h`."""
    products = []
    for product in terms:
        factors = ([str(product.coefficient)] if product.coefficient != 1 else []) + list(product.letters)
        products.append("·".join(factors))
    joined = " + ".join(products)
    if divisor == 1:
        return joined
    return f"({joined})/{divisor}" if len(products) > 1 else f"{joined}/{divisor}"
