"""Whatever names a model -> its architecture, and where each of its sizes came from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from blockcalc.config.architecture import Architecture
from blockcalc.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from blockcalc.config.presets import Preset


class Loaded(NamedTuple):
    """A model as it was found.

    `origin` says where its sizes come from, `origins` the same for single letters ("config.json: n_embd").
    `published` is the stored total that its preset states, `source` where that is from.
    """

    architecture: Architecture
    origin: str
    origins: Mapping[str, str] = {}
    warnings: tuple[str, ...] = ()
    published: int | None = None
    source: str = ""


def load_source(source: str | Mapping[str, Any] | os.PathLike[str]) -> Loaded:
    """The model that a source names.

    A source is a preset's name or alias, the path of a preset file (.toml), of a config.json or of a
    folder that holds one, "-" for JSON on standard input, or a mapping: a config.json's content or the
    grammar's own words. A name that is both a preset and a file is the preset.

    Raises ConfigError for a configuration that can't be, UnknownNameError for an unknown preset, file or
    model family.
    """
    if isinstance(source, Mapping):
        return _from_data(source, name="", where="the given mapping", file="config.json")
    if not isinstance(source, (str, os.PathLike)):
        raise ConfigError(f"a model is a name, a path or a mapping, not {type(source).__name__}")
    text = os.fsdecode(os.fspath(source))
    if isinstance(source, str) and text == "-":
        return _from_standard_input()
    if not isinstance(source, str) or _looks_like_path(text):
        return _from_path(text)
    return _from_name(text)


def _looks_like_path(text: str) -> bool:
    separators = [mark for mark in (os.sep, os.altsep) if mark]
    return any(mark in text for mark in separators) or text.lower().endswith((".json", ".toml")) or text in (".", "..")


def _from_name(name: str) -> Loaded:
    from blockcalc.config.presets import load_preset

    try:
        return _from_preset(load_preset(name), "preset")
    except UnknownNameError:
        if not os.path.exists(name):
            raise
    return _from_path(name)


def _absent(path: str) -> bool:
    """Whether there is surely no such file: one that can't be looked at is left to the reader to refuse."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _from_preset(preset: Preset, origin: str) -> Loaded:
    return Loaded(preset.architecture, origin, published=preset.published, source=preset.source)


def _from_path(path: str) -> Loaded:
    from blockcalc.config.files import parse_json, read_text

    if path.lower().endswith(".toml"):
        from blockcalc.config.presets import read_preset_file

        return _from_preset(read_preset_file(path), os.path.basename(path))
    name = _model_name(path)
    if os.path.isdir(path):
        path = os.path.join(path, "config.json")
        if _absent(path):
            raise UnknownNameError(f"{os.path.dirname(path)}: the folder holds no config.json")
    return _from_data(parse_json(read_text(path), path), name=name, where=path, file=os.path.basename(path))


def _model_name(path: str) -> str:
    """A folder's name, a file's name without its ending, or the folder of a file called config.json."""
    full = os.path.abspath(path) if "\0" not in path else path
    stem = os.path.basename(full).removesuffix(".json")
    return os.path.basename(os.path.dirname(full)) or stem if stem == "config" else stem


def _from_standard_input() -> Loaded:
    import sys

    from blockcalc.config.files import LIMIT, decoded, parse_json

    where = "standard input"
    if sys.stdin is None:
        raise ConfigError("is closed", where=where)
    stream = getattr(sys.stdin, "buffer", None)
    data = stream.read(LIMIT + 1) if stream is not None else sys.stdin.read(LIMIT + 1).encode()
    return _from_data(parse_json(decoded(data, where), where), name="", where=where, file=where)


def _from_data(data: Mapping[str, Any], *, name: str, where: str, file: str) -> Loaded:
    if "model_type" not in data and ("blocks" in data or "architecture" in data):
        return _from_own_words(data, name or "model", where)
    from blockcalc.huggingface import read_config

    reading = read_config(data, name=name, where=where, file=file)
    return Loaded(reading.architecture, file, reading.origins, reading.warnings)


def _from_own_words(data: Mapping[str, Any], name: str, where: str) -> Loaded:
    from blockcalc.config.presets import read_preset

    try:
        return _from_preset(read_preset(data, name, where), where)
    except ConfigError:
        raise
    except (RecursionError, TypeError, ValueError) as error:  # what no JSON can hold: circles, keys that are no text
        raise ConfigError(f"is no plain data: {error}", where=where) from None
