"""A config.json -> the architecture, through the function of its model family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from blockcalc.config.architecture import Architecture
from blockcalc.errors import ConfigError, UnknownNameError, did_you_mean, one_of, shown
from blockcalc.huggingface.families.gpt2 import gpt2
from blockcalc.huggingface.families.llama import llama
from blockcalc.huggingface.families.qwen2 import qwen2
from blockcalc.huggingface.families.qwen3 import qwen3
from blockcalc.huggingface.keys import Keys

FAMILIES: dict[str, Callable[[Keys], Architecture]] = {
    "gpt2": gpt2,
    "llama": llama,
    "qwen2": qwen2,
    "qwen3": qwen3,
}
"""model_type -> the function that reads it. A new family is one function and one line here."""

_DECODERS = ("text_config", "llm_config", "language_config")
_HEADS = ("ForCausalLM", "LMHeadModel")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a config.json says: the architecture, each letter's key, and what was left out."""

    architecture: Architecture
    origins: Mapping[str, str]
    warnings: tuple[str, ...]


def read_config(
    data: Mapping[str, Any], *, name: str = "", where: str = "config.json", file: str = "config.json"
) -> Reading:
    """The architecture that a config.json's content describes, under its family's defaults.

    Raises ConfigError naming key, value and rule, UnknownNameError for an unknown model_type.
    """
    inner, path = _decoder(data)
    keys = Keys(data[path] if path else data, where=where, file=file, name=name)
    family = _family(inner, path, where)
    keys.model_type, keys.prefix = inner["model_type"], f"{path}." if path else ""
    keys.name = name or keys.model_type
    _check_kind(keys, path)
    try:
        architecture = family(keys)
    except ConfigError as error:
        raise (error if error.where else keys.in_own_words(error)) from None
    return Reading(architecture, dict(keys.origins), keys.warnings())


def _decoder(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """The part of the file that describes the decoder and its key: multimodal files nest it."""
    model_type = data.get("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        for path in _DECODERS:
            if isinstance(data.get(path), Mapping):
                return data[path], path
    return data, ""


def _family(data: Mapping[str, Any], path: str, where: str) -> Callable[[Keys], Architecture]:
    key = f"{path}.model_type" if path else "model_type"
    model_type = data.get("model_type")
    if model_type is None:
        raise ConfigError("is missing; it names the model family", key=key, where=where)
    if not isinstance(model_type, str):
        raise ConfigError("is text; it names the model family", key=key, where=where)
    if model_type not in FAMILIES:
        hint = did_you_mean(model_type, FAMILIES)
        known = f"known are {one_of(sorted(FAMILIES)).replace(' or ', ' and ')}"
        raise UnknownNameError(
            f"{where}: {key} = {shown(model_type)}: no such model family; {hint + ' ' if hint else ''}{known}"
        )
    return FAMILIES[model_type]


def _check_kind(keys: Keys, path: str) -> None:
    if path:
        keys.warn(f"a multimodal file: the decoder under {path} is counted, nothing else of it")
    if keys.flag("is_encoder_decoder", False):
        raise keys.refused("is_encoder_decoder", "an encoder with a decoder is not covered", True)
    for built in keys.texts("architectures") or []:
        if not built.endswith(_HEADS):
            keys.warn(f"architectures names {shown(built)}; counted is the decoder with its language-model head")
