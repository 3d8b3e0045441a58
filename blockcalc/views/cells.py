"""Values as cells: exact numbers with separators, short forms, shares, shapes, formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import sympy

    from blockcalc.engine.sizes import Size
    from blockcalc.views.rows import Number, Row

_LEFT = {"path", "formula", "symbols", "reads", "name", "family", "source", "ok", "step", "text", "definition", "kind"}
_LEFT |= {"aliases", "pairs", "derived", "found", "tied_to", "substitution", "case", "reason", "spec"}
_SCALES = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k"))


def alignment(key: str) -> Literal["left", "right"]:
    """Text to the left, numbers to the right."""
    return "left" if key in _LEFT else "right"


def cell(row: Row, key: str, latex: bool) -> str:
    """One field of a row as text."""
    if key == "path":
        return row.path
    if key == "value":
        return "none" if row.number is not None and row.value is None else exact(row.value)
    if key == "short":
        return short(row.value)
    if key == "formula":
        return "" if row.formula is None else formula(row.formula, latex)
    value = row.fields.get(key)
    if key == "share":
        return "" if value is None else f"{_percent(value)} %"
    return exact(getattr(value, "value", value))


def total(name: str, entry: Number, latex: bool, formulas: bool) -> tuple[str, ...]:
    """A total as name, exact value, short form and formula."""
    value = exact(entry.value) if entry.value is not None else "none"
    said = formula(entry.formula, latex) if formulas and entry.formula is not None else ""
    return (name, value, short(entry.value), said, entry.note)


def exact(value: Any) -> str:
    """Any value in full: whole numbers with separators, fractions as decimals where those end, else a/b."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(exact(item) for item in value) + "]"
    if isinstance(value, str):
        return value
    if hasattr(value, "numerator") and hasattr(value, "limit_denominator"):
        return _fraction(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {exact(item)}" for key, item in value.items())
    return formula(value)


def _fraction(value: Any) -> str:
    """A Fraction: in full when its decimal ends within 6 places, else both whole numbers."""
    if _ends(value):
        whole, part = divmod(abs(int(value * 10**6)), 10**6)
        sign = "-" if value < 0 else ""
        return f"{sign}{whole:,}.{part:06d}".rstrip("0")
    return f"{value.numerator:,}/{value.denominator:,}"


def short(value: Any) -> str:
    """A count in powers of 1000 (124.4 M, 8.0 B, 1.2 T, then 2.188e20), a fraction as a decimal.

    Rounded, for reading; "" where the exact form is as short, and for what isn't a number.
    """
    if isinstance(value, bool) or not hasattr(value, "numerator"):
        return ""
    numerator, denominator = value.numerator, value.denominator
    if abs(numerator) >= 10**15 * denominator:
        return _scientific(abs(numerator) // denominator, "-" if numerator < 0 else "")
    for scale, letter in _SCALES:
        if abs(numerator) >= max(scale, 10**4) * denominator:
            return f"{_decimal(numerator, denominator * scale, 1)} {letter}"
    return "" if _ends(value) else _decimal(numerator, denominator, 4)


def _scientific(whole: int, sign: str) -> str:
    digits = str(whole)
    lead = _decimal(int(digits[:8]), 10 ** (len(digits[:8]) - 1), 3)
    return f"{sign}{lead}e{len(digits) - 1}" if lead != "10.000" else f"{sign}1.000e{len(digits)}"


def _ends(value: Any) -> bool:
    """Whether the decimal ends within 6 places."""
    return bool((value * 10**6).denominator == 1)


def _decimal(numerator: int, denominator: int, places: int) -> str:
    """Numerator / denominator, rounded half up at the last step."""
    scaled = (2 * abs(numerator) * 10**places + denominator) // (2 * denominator)
    whole, part = divmod(scaled, 10**places)
    return f"{'-' if numerator < 0 else ''}{whole:,}.{part:0{places}d}"


def _percent(value: Any) -> str:
    return _decimal(value.numerator * 100, value.denominator, 2)


def formula(expression: sympy.Expr, latex: bool = False) -> str:
    """A formula in reading order."""
    from blockcalc.engine.printing import formula_latex, formula_text

    return formula_latex(expression) if latex else formula_text(expression)


def size_text(size: Size) -> str:
    """`f = 4·d = 3,072`."""
    parts = [size.letter, *([size.definition.text] if size.definition else [])]
    parts += [exact(size.value)] if size.value is not None else []
    return " = ".join(parts) + (f" ({size.origin})" if size.origin else "")


def json_number(name: str, value: Any) -> dict[str, Any]:
    """A number for JSON: whole numbers exact; others as the nearest number with the fraction as text beside."""
    if value is None or isinstance(value, (int, str)):
        return {name: value}
    if hasattr(value, "limit_denominator"):
        return {name: _nearest(value), f"{name}_exact": f"{value.numerator}/{value.denominator}"}
    return {name: formula(value)}


def _nearest(value: Any) -> Any:
    """The nearest float, or the whole part where no float reaches."""
    try:
        return float(value)
    except OverflowError:
        return int(value)


def json_value(value: Any) -> Any:
    """Any field for JSON."""
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if hasattr(value, "free_symbols"):  # a polynomial in free letters, or a number that came out of one
        return int(value) if value.is_Integer else formula(value)
    return _nearest(value) if hasattr(value, "denominator") and not isinstance(value, int) else value
