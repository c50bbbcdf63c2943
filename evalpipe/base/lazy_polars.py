"""polars, imported when it is first used, as `lazy_numpy` does with numpy: commands that read no data never load it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.lazy_numpy import LazyModule

if TYPE_CHECKING:
    import polars as pl
else:
    pl = LazyModule("polars")

__all__ = ["pl"]
