"""Checked data -> the grammar's parts, without pydantic.

The presets that ship with the package are held to the schema by the tests, so a command that reads
one needn't pay pydantic's 50 ms. Everything from outside goes through `schema` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from blockcalc.config.architecture import Architecture, Pattern, Run
from blockcalc.config.parts import Alibi, Attention, Block, Mlp, Moe, Norm, Rotary, RotaryScaling
from blockcalc.config.widths import RoundedNearest, RoundedUp, Times

_KINDS: dict[str, type[Any]] = {
    "rotary": Rotary,
    "alibi": Alibi,
    "mlp": Mlp,
    "moe": Moe,
    "times": Times,
    "rounded_up": RoundedUp,
    "rounded_nearest": RoundedNearest,
}


def build_architecture(data: Mapping[str, Any]) -> Architecture:
    """The architecture that checked data in the grammar's own words describes."""
    architecture: Architecture = _part(Architecture, data)
    return architecture


def _part(kind: type[Any], data: Mapping[str, Any]) -> Any:
    return kind(**{key: _BUILDERS[key](value) if key in _BUILDERS else value for key, value in data.items()})


def _of(kind: type[Any]) -> Callable[[Any], Any]:
    return lambda data: None if data is None else _part(kind, data)


def _tagged(tag: str, default: str = "") -> Callable[[Any], Any]:
    return lambda data: _part(_KINDS[data.get(tag, default)], data) if isinstance(data, Mapping) else data


_BUILDERS: dict[str, Callable[[Any], Any]] = {
    "norm": _of(Norm),
    "qk_norm": _of(Norm),
    "final_norm": _of(Norm),
    "embedding_norm": _of(Norm),
    "attention": _of(Attention),
    "scaling": _of(RotaryScaling),
    "pattern": _of(Pattern),
    "blocks": lambda data: {name: _part(Block, block) for name, block in data.items()},
    "start": lambda data: tuple(_part(Run, run) for run in data),
    "cycle": tuple,
    "positions": _tagged("kind"),
    "feedforward": _tagged("kind", "mlp"),
    "width": _tagged("rule"),
}
