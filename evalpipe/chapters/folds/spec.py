"""The key of folds of resampling."""

from __future__ import annotations

from typing import Annotated

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import ColumnName, Only, SpecPart
from evalpipe.tasks import WITH_OUTCOME


class FoldsKeys(SpecPart):
    """Keys of a spec."""

    folds: Annotated[ColumnName | None, After("cluster"), Only(*WITH_OUTCOME), UNWRITTEN] = None
    """The column that numbers the folds of resampling, of rows that were each predicted by a fit that had not seen
    their fold, as in cross-validation. The results then also give the mean of each measure over folds, its standard
    deviation and its standard error. See [Folds](methods.md#folds). The `{folds: 10}` of a recalibrator or a threshold
    is not this: there evalpipe makes the folds itself."""
