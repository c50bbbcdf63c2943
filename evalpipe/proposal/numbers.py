"""The models of an outcome that is a number or a count: columns of predicted numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.errors import UsageError
from evalpipe.proposal.models import MOST_MODELS, KeyLine, ModelChoice, ModelChoices, called, reach
from evalpipe.proposal.names import LEFT_OUT, has, like_id, like_prediction
from evalpipe.proposal.questions import Question
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook
    from evalpipe.tasks import Task


def number_models(
    outcome: ColumnLook, task: Task, columns: Mapping[str, ColumnLook]
) -> ModelChoices | Question:
    """Return the models of an outcome that is a number, or the question which columns they are."""
    numeric = [look for name, look in columns.items()
               if look.kind == "number" and not look.percent_signs
               and name != outcome.name and not look.constant and not like_id(name)]
    usable = [look for look in numeric if task == "regression" or look.low > 0]
    likely = [look for look in usable if like_prediction(look.name)]
    if not likely:
        apart = [look for look in usable if not look.whole]
        if len(apart) != 1:
            return _which(outcome, apart or usable) if usable else ModelChoices(())
        return ModelChoices((number_model(called(apart[0].name), apart[0], "the only other column of numbers:"),))
    if len(likely) > MOST_MODELS:
        return _which(outcome, likely)
    shown = [look for look in likely if not has(look.name, LEFT_OUT)]
    models = [number_model(called(look.name), look, "its name is that of a prediction, its values are")
              for look in shown]
    refused = {look.name: "a count's prediction is above zero" for look in numeric
               if look not in usable and like_prediction(look.name)}
    left_out = [look for look in likely if look not in shown]
    if len(models) == len(left_out) == 1:
        models = [_with_left_out(models[0], left_out[0])]
        left_out = []
    return ModelChoices(tuple(models), refused | {
        look.name: "leave-one-out predictions of which no name says whose they are" for look in left_out})


def number_model(name: str, look: ColumnLook, because: str) -> ModelChoice:
    """Return the model whose column is the predicted number."""
    return ModelChoice(name, (KeyLine("prediction", look.name, f"{because} {reach(look)}"),), (look.name,))


def _with_left_out(model: ModelChoice, look: ColumnLook) -> ModelChoice:
    """Add a column of leave-one-out predictions."""
    line = KeyLine("loo_prediction", look.name, f"leave-one-out, as its name says; values {reach(look)}")
    return replace(model, lines=(*model.lines, line), columns=(*model.columns, look.name))


def _which(outcome: ColumnLook, columns: Sequence[ColumnLook]) -> Question:
    """Return the question which columns are models."""
    known = f"{len(columns):,} columns of numbers may be predictions of {quoted(outcome.name)}"
    return Question("model", known, "which of them are?", tuple((look.name, reach(look)) for look in columns),
                    f"NAME={columns[0].name}")


def asked_number(name: str, look: ColumnLook) -> ModelChoice:
    """Return the model of a flag; raises UsageError for a column without numbers."""
    if look.kind != "number" or look.percent_signs:
        raise UsageError.of("not-predictions", f"the column {quoted(look.name)} holds no numbers",
                            "name a column of predicted numbers")
    return number_model(name, look, "your answer; its values are")
