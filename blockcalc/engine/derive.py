"""Architecture -> derivation: the stages of each block kind, once, cached by structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any

from blockcalc.config.architecture import Architecture
from blockcalc.engine.components.block import block_stages
from blockcalc.engine.components.ends import embedding_stages, head_stages
from blockcalc.engine.components.scope import scope
from blockcalc.engine.sizes import Size, structure_sizes
from blockcalc.engine.stage import Group, Stage


@dataclass(frozen=True, slots=True)
class Derivation:
    """What a model costs, in letters: groups of stages, and the sizes that fill the letters in."""

    architecture: Architecture
    groups: tuple[Group, ...]
    sizes: Mapping[str, Size]

    def stages(self) -> list[Stage]:
        """All stages in order, each block kind once."""
        return [stage for group in self.groups for stage in group.stages]


class _Structure:
    """An architecture and its blocks' own letters, compared by structure alone: two of one structure are equal."""

    __slots__ = ("architecture", "key", "own")

    def __init__(self, architecture: Architecture, own: Mapping[str, frozenset[str]]) -> None:
        self.architecture, self.own = architecture, own
        blocks = ((name, architecture.blocks[name], letters) for name, letters in own.items())
        kinds = tuple((name, letters, block.attention.grouped, _choices(block)) for name, block, letters in blocks)
        outside = tuple(
            (field.name, _choices(getattr(architecture, field.name)))
            for field in fields(architecture)
            if field.name not in {"name", "blocks", "pattern"}
        )
        self.key = (kinds, outside)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Structure) and self.key == other.key


def derive(architecture: Architecture) -> Derivation:
    """The derivation of an architecture. Its cost doesn't grow with the number of layers."""
    sizes, own = structure_sizes(architecture)
    return Derivation(architecture, _groups(_Structure(architecture, own)), sizes)


@lru_cache(maxsize=256)
def _groups(structure: _Structure) -> tuple[Group, ...]:
    architecture, own = structure.architecture, structure.own
    groups = []
    if architecture.vocabulary is not None:
        groups.append(Group("embedding", "", tuple(embedding_stages(architecture))))
    for name, letters in own.items():
        stages = block_stages(scope(architecture, name, letters), architecture.blocks[name], "stream")
        groups.append(Group(name, "L" if len(own) == 1 else f"L_{name}", tuple(stages)))
    head = tuple(head_stages(architecture, "stream"))
    return (*groups, Group("head", "", head)) if head else tuple(groups)


def _choices(value: Any) -> Any:
    """A configuration with its sizes and numeric details taken out: whole numbers and floats leave a mark."""
    if is_dataclass(value):
        return tuple(_choices(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return "#"
