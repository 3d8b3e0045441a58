"""Text and JSON from outside, read so that a bad file costs one line and no more memory than it should."""

from __future__ import annotations

import os
from typing import Any

from blockcalc.errors import ConfigError, UnknownNameError

LIMIT = 16 * 2**20
"""Bytes of the largest file that is read, 16 MiB. A config.json has a few thousand."""

_DIGITS = 40


def read_text(path: str) -> str:
    """The UTF-8 text of a file, without its byte order mark.

    Raises UnknownNameError when there is no such file or it can't be opened, ConfigError when it is
    too large, empty or no UTF-8.
    """
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > LIMIT:
                raise _too_large(path)
            return decoded(file.read(LIMIT + 1), path)
    except FileNotFoundError:
        raise UnknownNameError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise UnknownNameError(f"{path}: can't be read: {reason}") from None


def decoded(data: bytes, where: str) -> str:
    """Bytes as the text they should be.

    Raises ConfigError when they are too many, none, or no UTF-8.
    """
    if len(data) > LIMIT:
        raise _too_large(where)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8 text (byte {error.start:,})", where=where) from None
    if not text.strip():
        raise ConfigError("is empty", where=where)
    return text


def parse_json(text: str, where: str) -> dict[str, Any]:
    """The JSON object that a text holds.

    NaN and numbers too large for a float stay as floats, so that whoever reads the key can name it.
    Raises ConfigError for anything that is no JSON object, and for a key given twice.
    """
    import json

    try:
        data = json.loads(text, object_pairs_hook=_without_doubles, parse_int=_whole)
        _check_text(text, data)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})", where=where
        ) from None
    except RecursionError:
        raise ConfigError("is not a configuration: nested too deeply", where=where) from None
    except ConfigError as error:
        raise error.at(where=where) from None
    if not isinstance(data, dict):
        raise ConfigError("holds no JSON object ({...})", where=where)
    return data


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        from collections import Counter

        times = Counter(key for key, _ in pairs)
        raise ConfigError("is given twice", key=next(key for key, count in times.items() if count > 1))
    return found


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ConfigError(f"a whole number of {len(digits):,} digits; at most {_DIGITS} make sense")
    return int(digits)


def _check_text(text: str, data: object) -> None:
    """Refuse half a surrogate pair, which no terminal and no file can take."""
    import json

    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ConfigError("holds text that is not Unicode (half a surrogate pair)") from None


def _too_large(where: str) -> ConfigError:
    return ConfigError(f"is larger than {LIMIT // 2**20} MiB, so it is no configuration", where=where)
