"""A model: one architecture, and every question that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any, SupportsIndex, get_args

from blockcalc.config.architecture import Architecture
from blockcalc.config.limits import LARGEST
from blockcalc.engine.context import Context
from blockcalc.engine.derive import Derivation, derive
from blockcalc.engine.run import AttentionMode, Run, check_run, default_positions, run_sizes
from blockcalc.engine.sizes import Size
from blockcalc.errors import ConfigError, UsageError, chosen, shown
from blockcalc.loading import load_source

if TYPE_CHECKING:
    from blockcalc.views.report import Report


@dataclass(frozen=True)
class Model:
    """An architecture with where its sizes came from. Views return reports; nothing here changes.

    `free` letters stay letters in every answer: numbers become polynomials in them.
    """

    architecture: Architecture
    origin: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    published: int | None = None
    free: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def load(
        cls,
        source: str | Mapping[str, Any] | PathLike[str],
        *,
        overrides: Mapping[str, object] | None = None,
        free: Collection[str] = (),
        where: str = "replace",
    ) -> Model:
        """The model that a source names (preset, file, folder, mapping), with sizes or choices overridden.

        `where` is what a refused override is said to come from.

        Raises ConfigError for a configuration that can't be, UnknownNameError for an unknown preset, file or
        family, UsageError for an unknown letter.
        """
        found = load_source(source)
        model = cls(found.architecture, found.origin, found.origins, found.warnings, found.published, frozenset(free))
        return model._replaced(overrides, where) if overrides else model

    def replace(self, /, **overrides: object) -> Model:
        """The model with sizes or choices replaced, by letter or full name; what follows from them is derived anew.

        Raises ConfigError, and UsageError for an unknown name.
        """
        return self._replaced(overrides, "replace")

    def _replaced(self, overrides: Mapping[str, object], where: str) -> Model:
        from blockcalc.config.overrides import override

        changed = override(self.architecture, overrides, where)
        before, after = self.derivation.sizes, derive(changed).sizes
        moved = {letter for letter, size in after.items() if letter not in before or size.value != before[letter].value}
        origins = {**self.origins, **dict.fromkeys({*overrides, *moved}, "set")}
        return replace(self, architecture=changed, origins=origins, published=None)

    @property
    def name(self) -> str:
        """The architecture's name."""
        return self.architecture.name

    @cached_property
    def derivation(self) -> Derivation:
        """Stages and sizes."""
        return derive(self.architecture)

    @cached_property
    def sizes(self) -> dict[str, Size]:
        """Letter -> size, with its origin."""
        return {letter: self._with_origin(size) for letter, size in self.derivation.sizes.items()}

    def _with_origin(self, size: Size) -> Size:
        if size.definition is not None or size.compound:
            return size
        return replace(size, origin=self.origins.get(size.letter, self.origin))

    def params(self, by: str = "component") -> Report:
        """Parameters by `component`, `block` or `tensor`."""
        from blockcalc.views.params import params

        return self._said(params(self.derivation, self._context(), by))

    def flops(
        self,
        B: int = 1,
        T: int | None = None,
        S: int | None = None,
        attention: str | None = None,
        convention: str = "exact",
        D: int | None = None,
        N: str = "matmul",
    ) -> Report:
        """FLOPs of a forward pass over B sequences of T positions, and of training.

        `attention` is `full` (the default), `causal` or `half`; `convention` a name of
        `engine.conventions.CONVENTIONS`, or `all` for a row each; `D` training tokens; `N` the name of the
        N in the rules 2N and 6N, one of `engine.conventions.RULES`.
        """
        from blockcalc.engine.conventions import CONVENTIONS, rule_n
        from blockcalc.engine.conventions import convention as find
        from blockcalc.views.flops import conventions_report, flops

        if convention == "all":
            asked = _mode(attention, None, convention)
            runs = {name: self._run(B, T, S, known.attention or asked) for name, known in CONVENTIONS.items()}
            contexts = {name: self._context(run, D) for name, run in runs.items()}
            return self._said(conventions_report(self.derivation, contexts, rule_n(N)), runs["exact"])
        found = find(convention)
        run = self._run(B, T, S, _mode(attention, found.attention, convention))
        return self._said(flops(self.derivation, self._context(run, D), found, run.attention, rule_n(N)), run)

    def shapes(self, B: int = 1, T: int | None = None, S: int | None = None) -> Report:
        """The tensor shape at every stage of a forward pass."""
        from blockcalc.views.shapes import shapes

        run = self._run(B, T, S, "full")
        return self._said(shapes(self.derivation, self._context(run)), run)

    def crossover(self) -> Report:
        """The sequence length at which attention costs as much as the linear layers."""
        from blockcalc.views.crossover import crossover

        return self._said(crossover(self.derivation, self._context()))

    def explain(self, quantity: str = "params", B: int | None = None, T: int | None = None) -> Report:
        """`params`, `flops` (of B sequences of T positions) or `crossover` step by step.

        Raises UsageError.
        """
        from blockcalc.views.explain import explain

        if quantity != "flops" and (B is not None or T is not None):
            raise UsageError(f"{quantity} depend on no run: B and T belong to quantity = flops")
        B = 1 if B is None else B
        views: dict[str, Callable[[], Report]] = {
            "params": self.params,
            "flops": partial(self.flops, B, T),
            "crossover": self.crossover,
        }
        run = self._run(B, T, None, "full") if quantity == "flops" else None
        return explain(quantity, views, self._context(run))

    def verify(self, B: int | None = None, T: int | None = None) -> Report:
        """The derivation against the numpy reference, stage by stage."""
        from blockcalc.views.verify import verify

        given = {letter: _size(letter, value) for letter, value in (("B", B), ("T", T)) if value is not None}
        check_run(self.derivation, Run(given.get("B", 1), given.get("T", 1)))
        return self._said(verify(self.architecture, self.published, **given))

    def _run(self, B: int, T: int | None, S: int | None, attention: AttentionMode) -> Run:
        origin = "the model's context" if T is None else "given"
        length = default_positions(self.derivation) if T is None else _size("T", T)
        attended = None if S is None else _size("S", S)
        return Run(_size("B", B), length, attended, attention, (("T", origin),))

    def _context(self, run: Run | None = None, D: int | None = None) -> Context:
        sizes = dict(self.sizes)
        if run is not None:
            check_run(self.derivation, run)
            sizes.update(run_sizes(self.derivation, run))
        if D is not None:
            sizes["D"] = Size("D", _size("D", D), origin="given")
        return Context(sizes, self.free)

    def _said(self, report: Report, run: Run | None = None) -> Report:
        """The report with the model's warnings and the run's."""
        warned = check_run(self.derivation, run) if run is not None else []
        free = {"free": f"numbers are polynomials in {', '.join(sorted(self.free))}"} if self.free else {}
        return replace(
            report,
            conventions={**report.conventions, **free},
            warnings=(*self.warnings, *warned, *report.warnings),
        )

    def __str__(self) -> str:
        return str(self.params())

    def _repr_html_(self) -> str:
        return self.params()._repr_html_()

    def _repr_latex_(self) -> str:
        return self.params()._repr_latex_()


def _mode(asked: str | None, fixed: AttentionMode | None, convention: str) -> AttentionMode:
    """The attention convention: what the FLOP convention fixes, else what is asked for, else the full square."""
    modes: tuple[AttentionMode, ...] = get_args(AttentionMode)
    if asked is not None:
        chosen(asked, modes, "attention")
    if asked is not None and fixed is not None and asked != fixed:
        raise UsageError(f"the convention {convention} counts attention as {fixed}; leave attention = {asked} out")
    if fixed is not None:
        return fixed
    return next((mode for mode in modes if mode == asked), modes[0])


def _size(letter: str, value: object) -> int:
    """A size of the run: a whole number, or text as the command line takes it (8Ki).

    Raises UsageError.
    """
    if isinstance(value, str):
        from blockcalc.config.integers import parse_integer

        return parse_integer(value, letter)
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        found = index(value)
        if 1 <= found <= LARGEST:
            return found
    raise UsageError(f"{letter} = {shown(value)}: is a whole number from 1 to 10^36")


def bare_block(
    d: int,
    h: int | None = None,
    h_kv: int | None = None,
    d_h: int | None = None,
    f: int | None = None,
    gated: bool = False,
) -> Model:
    """A stack of one block of the given sizes, for questions that need no vocabulary.

    Without h the heads together are d wide; without f it is 4d. Raises ConfigError, UsageError.
    """
    if h is None and h_kv is not None:
        raise UsageError(f"h_kv = {h_kv}: heads share key/value heads; give h too")
    if h is None and d_h is not None and d % d_h:
        raise ConfigError(f"heads of {d_h} don't fill a width of {d}", key="d_h", value=d_h, fix="give h too")
    from blockcalc.config.parts import Attention, Block, Mlp, Norm
    from blockcalc.config.widths import Times

    heads = 1 if d_h is None else d // d_h
    block = Block(
        attention=Attention(heads=heads if h is None else h, kv_heads=h_kv, head_width=d_h),
        feedforward=Mlp(width=Times() if f is None else f, gated=gated),
        norm=Norm(),
    )
    given = {"d": d, "h": h, "h_kv": h_kv, "d_h": d_h, "f": f}
    origins = {letter: "given" for letter, value in given.items() if value is not None}
    return Model(Architecture(name="block", width=d, layers=1, blocks={"block": block}), origins=origins)


def verify_all() -> Report:
    """Every preset against the numpy reference and its published total."""
    from blockcalc.config.presets import load_preset, preset_names
    from blockcalc.views.verify import verify_each

    found = (load_preset(name) for name in preset_names())
    return verify_each((preset.architecture, preset.published) for preset in found)
