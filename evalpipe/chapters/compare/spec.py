"""What is compared with what, and the sizes from which on effects matter."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictFloat, StrictStr

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import COMPUTABLE, Key, Positive, Refers, Sparse, SpecPart
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


class Margins(Sparse):
    """The sizes from which on effects matter; [findings.md](findings.md#margins) says where the defaults come from."""

    calibration: Positive | None = None
    """Of probabilities on average, in log odds; 0.1 by default."""
    slope: Positive | None = None
    """How far a calibration slope may lie from 1, of probabilities and of numbers; 0.1 by default."""
    confidence: Positive | None = None
    """How far the accuracy of many classes may lie from the mean confidence; 0.02 by default."""
    mean: Positive | None = None
    """Of a mean error, in standard deviations of the outcome; 0.1 by default."""
    skill: Positive | None = None
    """How much better or worse than a prediction without features, as a share of its loss or its cost; 0.01 by
    default."""
    ranking: Positive | None = None
    """How far a ROC AUC may lie from that of chance; 0.02 by default."""
    dispersion: Positive | None = None
    """How far the dispersion of counts may lie from 1; 0.2 by default."""
    zeros: Positive | None = None
    """How far the number of zero counts may lie from the expected one, as a share of this; 0.05 by default."""
    groups: Positive | None = None
    """Between a group and its reference: of a measure that is the better the larger, as a difference; of an error, as a
    share of its value in the reference. 0.05 by default."""
    datasets: Positive | None = None
    """The same between two datasets; 0.02 by default."""
    models: Positive | None = None
    """The same between two models, or a model and its recalibration, where `compare.margins` has none; 0.01 by
    default."""


class CompareKeys(SpecPart):
    """Keys of a spec."""

    compare: Annotated[Compare | None, After("recalibrate")] = None
    """Differences between models, and between datasets."""
    margins: Annotated[Margins | None, After("compare"), UNWRITTEN] = None
    """From which size on an effect that no gate judges is a failure. A finding fails where its whole interval is beyond
    the margin. An effect that is certain but may be smaller is a note. Gates, control limits and bounds keep their
    limits."""
