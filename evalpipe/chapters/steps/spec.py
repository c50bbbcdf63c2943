"""The column that numbers the steps of a fit, and the measures that are taken at every step."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import ColumnName, Needs, Only, Short, Sparse, SpecPart
from evalpipe.spec.measures import MeasureOfSpec
from evalpipe.tasks import WITH_OUTCOME


class StepColumn(Sparse):
    """The column of the steps of a model, and the step that the card shows."""

    column: ColumnName
    """The column that numbers the step of each row: whole numbers from 0 on."""
    at: Annotated[StrictInt, Field(ge=0)] | None = None
    """The step that the other parts of the card show; the last one where absent."""


class StepMeasures(Sparse):
    """What is measured at every step."""

    metrics: Annotated[tuple[MeasureOfSpec, ...], Field(min_length=1)]
    """The measures, each a name, or a mapping of a name and its options; they need not be among `metrics`."""


class StepsKeys(SpecPart):
    """Keys of a spec."""

    steps: Annotated[StepMeasures | None, After("profit"), Only(*WITH_OUTCOME), UNWRITTEN] = None
    """What is measured at every step of models that have a `step`. Without this key it is `metrics`. Where that is
    absent too, it is log loss and accuracy; for numbers RMSE and MAE; for counts MAE and the Poisson deviance. A model
    that can serve none of `metrics` has those of the latter that it can serve, or the ROC AUC."""


class StepsModelKeys(SpecPart):
    """Keys of a model."""

    step: Annotated[
        Annotated[StepColumn, Short("column")] | None, After("csv"), Only(*WITH_OUTCOME), UNWRITTEN,
        Needs(("predictions",), "steps-without-file", "the model '{name}' has steps, but no file of 'predictions'",
              "a dataset has one row for each id; name a file that has one for each id and step"),
        Needs(("id",), "steps-without-id",
              "the rows of the steps of model '{name}' cannot be told apart: the spec has no 'id'",
              "add 'id: …', the column that identifies a row at every step", of_spec=True),
    ] = None
    """The column that numbers the steps of a fit, such as `epoch`, or a mapping with `at`. The files under
    `predictions` then hold a row for each step and `id`, every row of the dataset once at every step; models may differ
    in their steps. The card has measures at every step, and shows the last step, or that `at`, in all other parts."""
