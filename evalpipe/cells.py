"""What the cells of a column of separated text may be declared to be."""

from __future__ import annotations

from typing import Literal

CellType = Literal["text", "number", "integer", "boolean", "date", "datetime"]
