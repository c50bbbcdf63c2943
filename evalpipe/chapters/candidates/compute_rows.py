"""The candidates as they were read: what tells them apart, and the values of the goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.arraytypes import Floats
    from evalpipe.results import InputFile, Scalar


@dataclass(frozen=True, slots=True)
class CandidateRows:
    """n candidates in the order of their ids, with the values of k goals; None where a value is missing.

    ``std_err`` are standard errors [n, k], NaN where there is none; ``files`` those that were read.
    """

    ids: tuple[Mapping[str, Scalar | None], ...]
    values: tuple[tuple[Scalar | None, ...], ...]
    std_err: Floats
    files: tuple[InputFile, ...]
