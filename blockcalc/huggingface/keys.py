"""A reader for one config.json: every key with its type, its rule and a record of having been read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from blockcalc.config.activations import ACTIVATIONS
from blockcalc.config.limits import LARGEST
from blockcalc.errors import ConfigError, did_you_mean, one_of
from blockcalc.huggingface.harmless import HARMLESS

_LETTER_OF = {
    "layers": "L",
    "heads": "h",
    "kv_heads": "h_kv",
    "head_width": "d_h",
    "experts": "E",
    "experts_per_token": "k",
    "window": "W",
    "vocabulary": "V",
    "learned_positions": "P",
}
_SIZE = "is a whole number from 1 to 10^36"

_MOST = 20
"""How many unknown keys are named one by one."""


class Keys:
    """The keys of one config.json, read once each by an adapter.

    `where` is told in errors, `file` in the origins of sizes. After reading, `origins` maps each letter
    to the key it came from, and `warnings()` names what was left unread.
    """

    def __init__(
        self, data: Mapping[str, Any], *, where: str = "config.json", file: str = "config.json", name: str = "model"
    ) -> None:
        self.data, self.where, self.file, self.name = data, where, file, name
        self.model_type = str(data.get("model_type", ""))
        self.prefix = ""
        self.origins: dict[str, str] = {}
        self._key_of: dict[str, str] = {}
        self._read: set[str] = set()
        self._said: list[str] = []
        self._nested: list[Keys] = []

    def size(self, letter: str, *names: str, default: int) -> int:
        """A size by the first of its names; `default` is what the framework's class takes when it is absent.

        Raises ConfigError for anything but a whole number from 1, null included.
        """
        value = self.optional_size(letter, *names, default=default)
        if value is None:
            raise self.refused(names[0], _SIZE, None)
        return value

    def optional_size(self, letter: str, *names: str, default: int | None = None) -> int | None:
        """The same for a size that may be null, which gives None."""
        key, value = self._find(names, default)
        self._key_of[letter] = self.prefix + (key or names[0])
        if value is not None:
            origin = f"{self.file}: {self.prefix}{key}" if key else f"default of {self.model_type}"
            self.origins[letter] = origin
        return None if value is None else self._whole(key or names[0], value, lowest=1)

    def whole(self, *names: str, default: int, lowest: int = 0) -> int:
        """A whole number that is no size, such as the index of a layer."""
        key, value = self._find(names, default)
        return self._whole(key or names[0], value, lowest=lowest)

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        _, value = self._find((name,), default)
        if not isinstance(value, bool):
            raise self.refused(name, "is true or false", value)
        return value

    def number(self, *names: str, default: float, above_zero: bool = False) -> float:
        """A finite number from 0, or above it."""
        key, value = self._find(names, default)
        rule = "is a finite number above 0" if above_zero else "is a finite number from 0"
        if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > LARGEST:
            raise self.refused(key or names[0], rule, value)
        if math.isnan(value) or value < 0 or (above_zero and value == 0):
            raise self.refused(key or names[0], rule, value)
        return float(value)

    def text(self, name: str, default: str) -> str:
        """A piece of text."""
        _, value = self._find((name,), default)
        if not isinstance(value, str):
            raise self.refused(name, "is text", value)
        return value

    def texts(self, name: str) -> list[str] | None:
        """A list of texts, or None when the key is absent or null."""
        _, value = self._find((name,), None)
        if value is None:
            return None
        if not isinstance(value, (list, tuple)) or not all(isinstance(entry, str) for entry in value):
            raise self.refused(name, "is a list of texts", value)
        return list(value)

    def activation(self, name: str, default: str) -> str:
        """An activation function under the grammar's name for it."""
        value = self.text(name, default)
        if value not in ACTIVATIONS:
            hint = did_you_mean(value, ACTIVATIONS) or one_of(ACTIVATIONS)
            raise self.refused(name, "no such activation", value, fix=hint)
        return ACTIVATIONS[value]

    def table(self, name: str) -> Keys | None:
        """A reader for the object under a key, or None when it is absent or null."""
        _, value = self._find((name,), None)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.refused(name, "is an object ({...})", value)
        inner = Keys(value, where=self.where, file=self.file, name=self.name)
        inner.model_type, inner.prefix = self.model_type, f"{self.prefix}{name}."
        self._nested.append(inner)
        return inner

    def ignore(self, *names: str) -> None:
        """Keys known to change neither the structure nor a size."""
        self._read.update(names)

    def warn(self, text: str) -> None:
        """Something that whoever reads the numbers should know."""
        self._said.append(f"{self.where}: {text}")

    def warnings(self) -> tuple[str, ...]:
        """What was said, and every key that nobody read."""
        unread = [key for key in self.data if key not in self._read and key not in HARMLESS]
        known = sorted(self._read)
        said = [*self._said, *(self._unread(str(key), known) for key in unread[:_MOST])]
        if len(unread) > _MOST:
            said.append(f"{self.where}: and {len(unread) - _MOST:,} more keys that aren't known")
        return tuple(said) + tuple(text for inner in self._nested for text in inner.warnings())

    def refused(self, name: str, rule: str, value: object, fix: str = "") -> ConfigError:
        """A refusal of one key, to be raised."""
        if isinstance(value, (list, tuple, Mapping)):
            rule, value = f"{rule}, not {'an object' if isinstance(value, Mapping) else 'a list'}", None
        elif value is None:
            rule = f"{rule}, not null"
        return ConfigError(rule, key=self.prefix + name, value=value, where=self.where, fix=fix)

    def unfit(self, name: str, problem: str, fix: str = "") -> ConfigError:
        """The same for what no single value shows."""
        return ConfigError(problem, key=self.prefix + name, where=self.where, fix=fix)

    def in_own_words(self, error: ConfigError) -> ConfigError:
        """A refusal by a part of the grammar, told with the file's own keys."""
        path, _, word = error.key.rpartition(".")
        letter = ("f" if "feedforward" in path else "d") if word == "width" else _LETTER_OF.get(word, "")
        key = self._key_of.get(letter, error.key)
        head_width, heads = self._key_of.get("d_h", "head_width"), self._key_of.get("h", "heads")
        problem = error.problem.replace("head_width", head_width)
        fix = error.fix.replace("heads =", f"{heads} =").replace("head_width", head_width)
        return ConfigError(problem, key=key, value=error.value, where=self.where, fix=fix)

    def _find(self, names: tuple[str, ...], default: Any) -> tuple[str, Any]:
        """The first name that is there and its value, or "" and the default."""
        self._read.update(names)
        present = [name for name in names if name in self.data]
        for other in present[1:]:
            if self.data[other] != self.data[present[0]]:
                raise self.refused(other, f"contradicts {present[0]}, another name of it", self.data[other])
        return (present[0], self.data[present[0]]) if present else ("", default)

    def _whole(self, name: str, value: object, lowest: int) -> int:
        if type(value) is float and value.is_integer() and abs(value) < 2**53:
            value = int(value)  # JSON knows one kind of number: 4096.0 is 4096
        rule = _SIZE if lowest == 1 else f"is a whole number from {lowest}"
        if type(value) is not int or not lowest <= value <= LARGEST:
            raise self.refused(name, rule, value)
        return value

    def _unread(self, key: str, known: list[str]) -> str:
        hint = did_you_mean(key, known)
        text = f'key "{self.prefix}{key[:80]}" is not one that {self.model_type} is known to have, and is left out'
        safe = text.encode("utf-8", "backslashreplace").decode()
        return f"{self.where}: {' '.join(safe.split())}" + (f"; {hint}" if hint else "")
