"""The formats of the row-level file."""

from __future__ import annotations

from typing import Literal

RowFormat = Literal["parquet", "csv"]
