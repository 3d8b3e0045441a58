"""A report's data as JSON: one object, whole numbers exact."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def write(data: Mapping[str, Any]) -> str:
    """The object, indented by two, with a line's end. Raises ValueError for a number that JSON has no word for."""
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
