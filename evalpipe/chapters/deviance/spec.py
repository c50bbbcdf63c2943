"""The rows that a model was fitted on, and how many coefficients it has."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from evalpipe.base.records import After
from evalpipe.spec.field_types import Key, Needs, OfRole, Only, SpecPart
from evalpipe.tasks import CLASSES


class FittedOn(SpecPart):
    """The rows that a model was fitted on by maximum likelihood, without a penalty."""

    on: Annotated[Key, OfRole("evaluate", ", so it has no deviance", "give a dataset the role 'evaluate'")]
    """The evaluated dataset that holds exactly these rows."""
    parameters: Annotated[StrictInt, Field(ge=1)]
    """The number of its coefficients, intercepts not counted."""


class DevianceModelKeys(SpecPart):
    """Keys of a model."""

    fitted: Annotated[
        FittedOn | None, Only(*CLASSES), After("equivocal"),
        Needs(("gives_probabilities",), "unused-fitted",
              "'fitted' of the model '{name}' has no effect: it gives no probabilities, so no deviance", idle=True),
    ] = None
    """That this is a maximum-likelihood fit with an intercept to the rows of an evaluated dataset, such as `{on:
    training, parameters: 5}`. Only then does null deviance minus deviance have a chi-squared test, on these rows
    alone."""
