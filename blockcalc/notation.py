"""The table of letters: the only place where a letter gets its meaning, its place in print and its field."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Letter:
    """One letter of the notation. `field` is the configuration's word for it, "" where the run sets it."""

    letter: str
    meaning: str
    field: str = ""


LETTERS: tuple[Letter, ...] = (
    Letter("L", "blocks", "layers"),
    Letter("B", "batch (sequences)"),
    Letter("T", "positions processed (queries)"),
    Letter("S", "positions attended (keys)"),
    Letter("A", "query-key pairs of one head"),
    Letter("V", "vocabulary", "vocabulary"),
    Letter("P", "learned positions", "learned_positions"),
    Letter("E", "experts", "experts"),
    Letter("k", "experts per token", "experts_per_token"),
    Letter("d", "model width", "width"),
    Letter("h", "query heads", "heads"),
    Letter("h_kv", "key/value heads", "kv_heads"),
    Letter("d_h", "width of one head", "head_width"),
    Letter("d_rope", "width of a head that is rotated"),
    Letter("f", "feed-forward width", "width"),
    Letter("f_e", "width of one expert", "width"),
    Letter("f_s", "width of the shared experts", "shared_width"),
    Letter("W", "attention window", "window"),
    Letter("N", "parameters"),
    Letter("D", "training tokens"),
)

BY_LETTER = {entry.letter: entry for entry in LETTERS}
"""Letter -> its entry."""

_ORDER = {entry.letter: place for place, entry in enumerate(LETTERS)}


def base(letter: str) -> str:
    """The letter without the block it belongs to: `f_dense` -> `f`, `h_kv_local` -> `h_kv`."""
    candidates = [known for known in _ORDER if letter == known or letter.startswith(known + "_")]
    return max(candidates, key=len, default=letter)


def reading_order(letter: str) -> tuple[int, str]:
    """Sort key that puts letters in the order in which the field writes them: `2·B·T·d·f`."""
    return _ORDER.get(base(letter), len(_ORDER)), letter


def meaning(letter: str) -> str:
    """What a letter stands for, with the block it is limited to."""
    root = base(letter)
    entry = BY_LETTER.get(root)
    if entry is None:
        return ""
    return entry.meaning if root == letter else f"{entry.meaning} ({letter[len(root) + 1 :]} blocks)"
