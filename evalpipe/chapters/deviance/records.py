"""The record of a model's deviance beside that of no model."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import OfModel, Record
from evalpipe.words.sentences import Sentence


class DevianceTest(OfModel):
    """The deviance of a model on all rows of a dataset, beside that of predicting the observed shares of the levels."""

    null_deviance: float
    deviance: float
    """Twice the number of rows times the log loss."""
    difference: float
    """Null deviance minus deviance."""
    mcfadden_r2: float | None
    """The difference as a share of the null deviance; null where only one level occurs."""
    parameters: int | None
    """The degrees of freedom of the test: the coefficients of the model, intercepts not counted."""
    p_value: float | None
    """Of the difference under a chi-squared distribution, if the model were no better than no model; null where the
    difference does not have one, for which there is a reason."""
    reason: Sentence | None


class DevianceFields(Record):
    """What the results hold of it."""

    deviances: list[DevianceTest] = Field(default_factory=list)
    """The deviance of each model beside that of no model."""
