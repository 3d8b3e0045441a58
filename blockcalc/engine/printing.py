"""Formulas in reading order: `2·B·T·d·f`, `12·d² + 13·d`, and the same as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy

from blockcalc.engine.evaluate import Exact
from blockcalc.engine.symbols import exact_expression
from blockcalc.notation import reading_order

_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True, slots=True)
class _Style:
    """How to write: as text or LaTeX, letters as themselves or as the values given for them."""

    latex: bool
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def times(self) -> str:
        return r" \, " if self.latex else "·"

    def letter(self, name: str) -> str:
        if name in self.values:
            return self.values[name]
        root, _, rest = name.partition("_")
        if not self.latex or not rest:
            return name
        return f"{root}_{{\\mathrm{{{rest.replace('_', ', ')}}}}}"

    def power(self, base: str, exponent: str) -> str:
        if self.latex:
            return f"{base}^{{{exponent}}}"
        return base + exponent.translate(_SUPERSCRIPTS) if exponent.lstrip("-").isdigit() else f"{base}^({exponent})"

    def fraction(self, top: str, bottom: str, *, simple: bool) -> str:
        if self.latex:
            return f"\\frac{{{top}}}{{{bottom}}}"
        return f"{top}/{bottom}" if simple else f"{top}/({bottom})"

    def number(self, value: int) -> str:
        return f"{value:,}".replace(",", "{,}") if self.latex else f"{value:,}"


def formula_text(expression: sympy.Expr) -> str:
    """A formula as text, in reading order."""
    return _sum(exact_expression(expression), _Style(latex=False))


def formula_latex(expression: sympy.Expr) -> str:
    """A formula as LaTeX, in reading order."""
    return _sum(exact_expression(expression), _Style(latex=True))


def substituted(expression: sympy.Expr, values: Mapping[str, Exact]) -> str:
    """A formula with each letter written as its value: `12·768² + 13·768`."""
    shown = {name: f"{v:,}" if isinstance(v, int) else f"({v})" for name, v in values.items()}
    return _sum(exact_expression(expression), _Style(latex=False, values=shown))


def _sum(expression: sympy.Expr, style: _Style) -> str:
    terms = sorted(sympy.Add.make_args(expression), key=_term_order)
    text = ""
    for term in terms:
        negative = term.could_extract_minus_sign()
        body = _product(-term if negative else term, style)
        if not text:
            text = f"−{body}" if negative else body
        else:
            text += f" {'−' if negative else '+'} {body}"
    return text


def _term_order(term: sympy.Expr) -> tuple[object, ...]:
    """Highest degree first, then highest power, then letters as the notation lists them."""
    powers = {base.name: exponent for base, exponent in term.as_powers_dict().items() if base.is_Symbol}
    names = sorted(powers, key=reading_order)
    highest = max(powers.values(), default=0)
    return -_degree(term), -highest, [(*reading_order(name), -powers[name]) for name in names]


def _degree(term: sympy.Expr) -> sympy.Expr:
    """The degree of a product in all letters together; a sum counts as its highest term."""
    if term.is_Add:
        return max(_degree(inner) for inner in term.args)
    powers = term.as_powers_dict().items()
    return sum(exponent * (1 if base.is_Symbol else _degree(base)) for base, exponent in powers if not base.is_number)


def _product(term: sympy.Expr, style: _Style) -> str:
    if term.is_Add:
        return _sum(term, style)
    top, bottom = sympy.fraction(term)
    if bottom == 1:
        return _factors(top, style)
    if style.latex:
        above, below = (_sum(part, style) if part.is_Add else _factors(part, style) for part in (top, bottom))
        return style.fraction(above, below, simple=True)
    simple = not bottom.is_Mul  # a sum brings its own brackets
    return style.fraction(_factors(top, style), _factors(bottom, style), simple=simple)


def _factors(expression: sympy.Expr, style: _Style) -> str:
    """A product without a denominator: number, letters in reading order, sums in brackets last."""
    if expression.is_Add:
        return f"({_sum(expression, style)})"
    number, rest = expression.as_coeff_Mul()
    factors = [] if rest == 1 else sorted(sympy.Mul.make_args(rest), key=_factor_order)
    shown = [_factor(factor, style) for factor in factors]
    if number != 1 or not shown:
        shown.insert(0, style.number(int(number)) if number.is_Integer else str(number))
    return style.times.join(shown)


def _factor_order(factor: sympy.Expr) -> tuple[object, ...]:
    base = factor.as_base_exp()[0]
    return (0, *reading_order(base.name)) if base.is_Symbol else (1, 0, str(factor))


def _factor(factor: sympy.Expr, style: _Style) -> str:
    base, exponent = factor.as_base_exp()
    if base.is_Symbol:
        shown = style.letter(base.name)
    elif base.is_Integer:
        shown = style.number(int(base))
    else:
        shown = f"({_sum(base, style)})"
    return shown if exponent == 1 else style.power(shown, str(exponent))
