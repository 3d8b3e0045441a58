"""What `import blockcalc` hands on as functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from blockcalc.model import Model

if TYPE_CHECKING:
    from blockcalc.views.report import Report


def load(source: str | Mapping[str, Any] | PathLike[str], *, free: Collection[str] = (), **sizes: object) -> Model:
    """A model from a preset's name, a file, a folder with a config.json, "-", or a config.json's content.

    Sizes and choices can be replaced by letter or full name: `load("gpt2-small", L=24)`. Letters in `free`
    stay letters. Raises ConfigError, UnknownNameError, UsageError.
    """
    return Model.load(source, overrides=sizes, free=free)


def presets() -> Report:
    """The models that ship with the package, a row each."""
    from blockcalc.views.presets import presets as listed

    return listed()
