"""What is compared with what."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictFloat, StrictStr

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import COMPUTABLE, Key, Refers, SpecPart
from evalpipe.words.spelling import choose, listed


class Compare(SpecPart):
    """What is compared with what, as differences with intervals."""

    baseline: Annotated[
        Key | None,
        Refers("model", lambda models: f"the models are {listed(models, 'and')}" if models else None,
               "unknown-baseline"),
    ] = None
    """The model that every other model is compared with, on the same rows."""
    pairs: Annotated[Literal["auto", "all", "none"], UNWRITTEN] = "auto"
    """Which pairs of models are compared on all rows of a dataset. auto: every pair of up to 6 models, where there is
    no `baseline` and replicates draw rows or clusters, not cells of rows."""
    baseline_dataset: Annotated[
        Key | None,
        Refers("evaluated dataset", lambda datasets: choose(datasets, None) if len(datasets) > 1 else None,
               "unknown-baseline"),
    ] = None
    """The dataset that every other evaluated dataset is compared with, such as that of an earlier time; each model with
    itself, as independent samples."""
    margins: Annotated[
        dict[StrictStr, Annotated[StrictFloat, Field(gt=0, allow_inf_nan=False), COMPUTABLE]], Refers("measure"),
    ] = Field(default_factory=dict)
    """By measure, the difference below which two values are equivalent in practice. A difference is then better or
    worse only if its whole interval is beyond the margin, and equivalent if it is within."""


class CompareKeys(SpecPart):
    """Keys of a spec."""

    compare: Annotated[Compare | None, After("recalibrate")] = None
    """Differences between models, and between datasets."""
