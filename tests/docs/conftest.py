"""The documentation's own tools, docs/pages.py and docs/commands.py, are what these tests run it with."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
