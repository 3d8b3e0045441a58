"""The models that ship with the package."""

from __future__ import annotations

from blockcalc.config.presets import Head, preset_heads
from blockcalc.views.report import Report
from blockcalc.views.rows import Number, Row

_COLUMNS = {
    "path": "preset",
    "family": "family",
    "stored": "stored parameters",
    "context": "context",
    "source": "source",
}


def presets() -> Report:
    """One row a preset: name, family, published number of stored parameters, context, source."""
    rows = tuple(Row(head.name, fields=_fields(head)) for head in preset_heads())
    return Report(
        command="presets",
        model="",
        title="Presets",
        columns=_COLUMNS,
        rows=rows,
        numbers={"presets": Number(len(rows))},
        conventions={"stored parameters": "as published; `blockcalc verify NAME` derives them anew"},
    )


def _fields(head: Head) -> dict[str, object]:
    return {
        "name": head.name,
        "family": head.family,
        "stored": head.published,
        "context": head.context,
        "aliases": ", ".join(head.aliases),
        "source": head.source,
    }


def preset(name: str) -> Report:
    """One row a field of a preset, and what the preset says of itself.

    Raises UnknownNameError with the nearest names.
    """
    from blockcalc.config.overrides import flat_data
    from blockcalc.config.presets import load_preset

    found = load_preset(name)
    about = {key: value for key, value in _fields(found).items() if value not in (None, "")}
    fields = {**about, **flat_data(found.architecture)}
    return Report(
        command="presets",
        model=found.name,
        title=f"Preset {found.name}",
        columns={"path": "field", "text": "value"},
        rows=tuple(Row(key, fields={"text": value}) for key, value in fields.items()),
        numbers={} if found.published is None else {"published": Number(found.published)},
        notes=(found.note,) if found.note else (),
    )
