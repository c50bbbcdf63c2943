"""The bootstrap fits of a model, from which its optimism on the rows that it was fitted to is estimated."""

from __future__ import annotations

from typing import Annotated

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import ColumnName, FilePath, Only, Sparse, SpecPart
from evalpipe.tasks import WITH_OUTCOME


class BootstrapFits(Sparse):
    """Fits of the whole procedure to bootstrap samples of the training rows, one in each file."""

    predictions: FilePath
    """A glob or a folder, relative to the file it is written in. Each file holds the predictions of one bootstrap fit
    for all rows of the dataset that is `trained_on`, in columns that are called as the model's own."""
    drawn: ColumnName
    """The column that says how often the row was drawn into the sample of the fit: 0, 1, 2, …"""


class OptimismModelKeys(SpecPart):
    """Keys of a model."""

    optimism: Annotated[BootstrapFits | None, After("step"), Only(*WITH_OUTCOME), UNWRITTEN] = None
    """Fits of the same procedure to bootstrap samples of the dataset that is `trained_on`: by how much the model looks
    too good there, and its measures corrected for that. See [Optimism](methods.md#optimism)."""
