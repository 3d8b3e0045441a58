"""What a writer must know of where its text goes."""

from __future__ import annotations

from typing import NamedTuple


class Page(NamedTuple):
    """`width` is the columns of a terminal, None for a file or a pipe, where nothing is folded or wrapped.

    `bold` says whether the title may be set in bold (escape codes of a terminal).
    """

    width: int | None = None
    bold: bool = False


FILE = Page()
"""A file or a pipe: the same bytes whoever reads it."""
