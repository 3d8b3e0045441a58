"""Hugging Face config.json files -> the grammar. One pure function a model family."""

from blockcalc.huggingface.read import FAMILIES, Reading, read_config

__all__ = ["FAMILIES", "Reading", "read_config"]
