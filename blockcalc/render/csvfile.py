"""Rows as CSV (RFC 4180): a header and a line a row, numbers exact and without separators."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any


def write(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows under their keys, in order of first appearance.

    A list is written as JSON (`[1, 12, 1024, 64]`), none as an empty field, true and false as these words.
    """
    header = list(dict.fromkeys(key for row in rows for key in row))
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(header)
    writer.writerows([[_field(row.get(key)) for key in header] for row in rows])
    return stream.getvalue()


def _field(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
