"""A decoder as a whole: its parts, which layer is which, and what stands around the blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from blockcalc.config.checks import check_blocks, check_layout, check_names
from blockcalc.config.parts import Block, Norm, Part
from blockcalc.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Run(Part):
    """`count` layers of one block kind in a row."""

    block: str
    count: int


@dataclass(frozen=True, slots=True)
class Pattern(Part):
    """Which block kind each layer is: `start` once, then `cycle` over and over until the last layer."""

    cycle: tuple[str, ...] = ()
    start: tuple[Run, ...] = ()

    def _check(self) -> None:
        if not self.cycle and not self.start:
            raise ConfigError("names at least one block", key="cycle", value="[]")

    def names(self) -> list[str]:
        """The block kinds that the pattern names, each once, in order of appearance."""
        return list(dict.fromkeys([run.block for run in self.start] + list(self.cycle)))

    def counts(self, layers: int) -> dict[str, int]:
        """How many of `layers` layers each kind gets, by arithmetic: 10^12 layers cost no more than 12."""
        counts = dict.fromkeys(self.names(), 0)
        for run in self.start:
            counts[run.block] += run.count
        rest = layers - sum(run.count for run in self.start)
        if rest < 0 or (rest and not self.cycle):
            raise ConfigError(
                f"its runs cover {layers - rest} layers and the model has {layers}",
                key="pattern.start",
                fix="give as many, or a cycle for the layers after them",
            )
        if self.cycle:
            rounds, left = divmod(rest, len(self.cycle))
            for place, name in enumerate(self.cycle):
                counts[name] += rounds + (place < left)
        return {name: count for name, count in counts.items() if count}

    def at(self, layer: int) -> str:
        """The kind of one layer, counted from 0."""
        for run in self.start:
            if layer < run.count:
                return run.block
            layer -= run.count
        return self.cycle[layer % len(self.cycle)]


@dataclass(frozen=True, slots=True)
class Architecture(Part):
    """A decoder: token table, positions, blocks, final norm, head.

    `vocabulary` None is a bare stack of blocks: it reads and writes the stream [B, T, d].
    `vocabulary_multiple` pads the table's rows upward. `context` is the length that the model states
    for itself; `learned_positions` the rows of a position table, which can't be exceeded.
    `tensor_names` names the table of `naming` that gives each weight the framework's name.
    """

    name: str
    width: int
    layers: int
    blocks: Mapping[str, Block]
    pattern: Pattern | None = None
    vocabulary: int | None = None
    vocabulary_multiple: int | None = None
    learned_positions: int | None = None
    context: int | None = None
    tied_head: bool = True
    head_bias: bool = False
    embedding_scale: Literal["none", "sqrt_width"] = "none"
    embedding_norm: Norm | None = None
    final_norm: Norm | None = None
    logit_softcap: float | None = None
    tensor_names: str = "blockcalc"

    _EMBEDDING: ClassVar[dict[str, object]] = {
        "vocabulary_multiple": None,
        "learned_positions": None,
        "embedding_norm": None,
        "embedding_scale": "none",
    }
    _HEAD: ClassVar[dict[str, object]] = {"tied_head": True, "head_bias": False, "logit_softcap": None}

    def _check(self) -> None:
        if not self.blocks:
            raise ConfigError("a model has at least one block", key="blocks")
        check_names(self.blocks, self.layer_pattern.names() if self.pattern else [])
        if len(self.blocks) > 1 and self.pattern is None:
            raise ConfigError("several blocks need a pattern that says which layer is which", key="pattern")
        self.block_counts()
        self._check_vocabulary()
        check_blocks(self.blocks, self.width)
        check_layout(self.tensor_names)

    def _check_vocabulary(self) -> None:
        if self.vocabulary is not None:
            return
        for part, keys in (("token table", self._EMBEDDING), ("head", self._HEAD)):
            for key, absent in keys.items():
                if getattr(self, key) != absent:
                    raise ConfigError(f"belongs to a {part}, and vocabulary is not given", key=key)

    @property
    def layer_pattern(self) -> Pattern:
        """The pattern, or the only block over and over."""
        return self.pattern or Pattern(cycle=tuple(self.blocks))

    def block_counts(self) -> dict[str, int]:
        """Layers of each block kind in use, in order of appearance."""
        return self.layer_pattern.counts(self.layers)

    @property
    def vocabulary_rows(self) -> int:
        """V: the rows of the token table, padded upward to the multiple when there is one; 0 without a table."""
        rows, multiple = self.vocabulary or 0, self.vocabulary_multiple
        return rows if multiple is None else multiple * -(-rows // multiple)
