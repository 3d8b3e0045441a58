"""blockcalc: exact parameters, shapes and FLOPs of decoder language models, from the configuration alone.

>>> import blockcalc
>>> blockcalc.load("gpt2-small").params().totals.stored
124439808
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blockcalc.version import VERSION as __version__  # noqa: N811

if TYPE_CHECKING:
    from blockcalc import reference
    from blockcalc.config.architecture import Architecture
    from blockcalc.errors import BlockcalcError, ConfigError, NoAnswerError, UnknownNameError, UsageError
    from blockcalc.model import Model
    from blockcalc.public import load, presets

_WHERE = {
    "load": "blockcalc.public",
    "presets": "blockcalc.public",
    "Model": "blockcalc.model",
    "Architecture": "blockcalc.config.architecture",
    "BlockcalcError": "blockcalc.errors",
    "ConfigError": "blockcalc.errors",
    "NoAnswerError": "blockcalc.errors",
    "UnknownNameError": "blockcalc.errors",
    "UsageError": "blockcalc.errors",
}

__all__ = [
    "Architecture",
    "BlockcalcError",
    "ConfigError",
    "Model",
    "NoAnswerError",
    "UnknownNameError",
    "UsageError",
    "__version__",
    "load",
    "presets",
    "reference",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for and no more (PEP 562)."""
    import importlib

    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    if name == "reference":
        return importlib.import_module("blockcalc.reference")
    raise AttributeError(f"module 'blockcalc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
