"""The rows that the statistics of a task are taken over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.statistics import ClassRows, NumberRows, Rows
from evalpipe.statistics.rows import present
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from evalpipe.data.sample import Predictions, Sample


def rows_of(sample: Sample, model: Predictions) -> Any:
    """Return the truth of a sample beside a model's predictions."""
    # What a recalibrator makes of a model has no fit to these rows, or a cross-fitted one.
    trained_on = sample.summary.trained_on and model.source is None
    if sample.task == "binary":
        return Rows(sample.truth, model.predicted, model.probability, model.score, model.reportable, model.stated,
                    model.group, model.remainders, model.ends, trained_on, model.ranks)
    if sample.task in NUMBERS:
        predicted = present(model.predicted, "predictions")
        return NumberRows(sample.truth, predicted, model.left_out, sample.baseline, exposure=sample.exposure,
                          ranks=model.ranks, standardised=model.standardised)
    return ClassRows(
        sample.truth, len(sample.levels), model.predicted, model.probability, model.score, model.reportable,
        trained_on, model.ranks)
