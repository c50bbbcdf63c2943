"""The models of a binary outcome: the event's probability, percents and scores of it, and predicted classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.proposal.families import families, pairs
from evalpipe.proposal.models import (
    MOST_MODELS,
    KeyLine,
    ModelChoice,
    ModelChoices,
    called,
    fractional,
    predicted_levels,
    reach,
)
from evalpipe.proposal.names import PERCENTS, SCORES, has, like_prediction, mentions, plain
from evalpipe.proposal.questions import Question
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook
    from evalpipe.proposal.outcome import LevelChoice

PERCENT_NOTE = (
    "{column} looks like percents, {reach}: 'scale: percent' divides it by 100. If it is another score, name it under "
    "'score' and remove 'scale'")

_HIGH = 50
"""The least that the highest percent is where no name says that they are percents."""


@dataclass(frozen=True, slots=True)
class BinaryColumns:
    """The columns of a binary outcome's data: the outcome, its levels, and by name what is seen of all columns.

    ``lists`` are the models of columns of lists.
    """

    outcome: ColumnLook
    levels: LevelChoice
    columns: Mapping[str, ColumnLook]
    lists: tuple[ModelChoice, ...] = ()

    @property
    def event(self) -> str:
        """The event."""
        return str(self.levels.event)

    def numeric(self, taken: Sequence[str] = ()) -> list[ColumnLook]:
        """Return the columns of numbers that vary, but for the outcome and those that are taken."""
        return [look for name, look in self.columns.items() if look.kind == "number" and not look.constant
                and name != self.outcome.name and name not in taken]


def binary_models(data: BinaryColumns) -> ModelChoices | Question:
    """Return the models of a binary outcome, or the question which columns they are."""
    models, taken, refused = _families(data)
    models = [*data.lists, *models]
    classes = predicted_levels(data.columns, data.levels.levels, without=[data.outcome.name, *taken])
    rest = data.numeric([*taken, *refused, *(look.name for look in classes)])
    likely = [look for look in rest if fractional(look) and like_prediction(look.name)]
    question = _pair(data, [look for look in rest if fractional(look)])
    if question is not None and not models:
        return question
    likely_percents = [look for look in rest if look.percent_signs and is_percent(look)]
    models += [percent(data, look) for look in likely_percents]
    models += [probability(data, look, "its name is that of a prediction, its values are") for look in likely]
    if not models:
        models = _scaled(data, rest)
    alone = [look for look in rest if fractional(look)]
    if not models and len(alone) == 1:
        models = [probability(data, alone[0], "the only column of numbers from 0 to 1:")]
    if len(models) > MOST_MODELS or (not models and len(alone) > 1):
        return _which(likely or alone)
    models, unclear = with_classes(models, classes)
    return ModelChoices(tuple(models), refused | unclear)


def _families(data: BinaryColumns) -> tuple[list[ModelChoice], list[str], dict[str, str]]:
    """Return the models whose columns are named after levels, their columns, and those of the other level alone."""
    models, taken, refused = list[ModelChoice](), list[str](), dict[str, str]()
    for family in families(data.levels.levels, data.columns, without=data.outcome.name):
        look = data.columns[family.columns[data.event]]
        if look.constant:
            continue
        taken += family.columns.values()
        others = [quoted(column) for level, column in family.columns.items() if level != data.event]
        refused |= {column: f"about {quoted(level)}, not about the event"
                    for level, column in family.columns.items() if level != data.event}
        because = f"named after the event; it and {others[0]} sum to 1; values"
        model = probability(data, look, because) if family.kind == "probabilities" else _by_values(data, look)
        models.append(replace(model, beside=tuple(family.columns.values())))
    for look in data.numeric(taken):
        other = next((level for level in data.levels.levels if _is_about(look.name, level)), None)
        if other is not None and like_prediction(look.name) and other != data.event:
            refused[look.name] = f"about {quoted(other)}, not about the event"
    return models, taken, refused


def _is_about(name: str, level: str) -> bool:
    """Tell whether a name has the words of a level that is no number; `model_1` is not about the level 1."""
    return mentions(name, level) and not plain(level).replace("_", "").isdecimal()


def _by_values(data: BinaryColumns, look: ColumnLook) -> ModelChoice:
    """Return the model of a column by its values alone."""
    if fractional(look) and not has(look.name, SCORES - {"score", "scores"}):
        return probability(data, look, "values of")
    return percent(data, look) if is_percent(look) else score(data, look)


def is_percent(look: ColumnLook) -> bool:
    """Tell whether a column holds what look like percents: they have the sign, come near 100, or their name says it."""
    return look.within(0, 100) and (look.percent_signs or (
        look.high > 1 and (look.high >= _HIGH or has(look.name, PERCENTS))))


def _scaled(data: BinaryColumns, rest: Sequence[ColumnLook]) -> list[ModelChoice]:
    """Return the models whose columns are called as predictions are and hold percents or scores."""
    likely = [look for look in rest if like_prediction(look.name) and not (look.whole and look.distinct < 3)]
    percents = [look for look in likely if is_percent(look)]
    return [percent(data, look) for look in percents] or [score(data, look) for look in likely]


def probability(data: BinaryColumns, look: ColumnLook, because: str) -> ModelChoice:
    """Return the model whose column is the event's probability."""
    line = KeyLine("probability", look.name, f"{because} {reach(look)}")
    return ModelChoice(called(look.name, data.event), (line,), (look.name,), direction(data.outcome, data.event, look))


def percent(data: BinaryColumns, look: ColumnLook) -> ModelChoice:
    """Return the model whose column holds percents."""
    signs = "percents with their sign" if look.percent_signs else "percents"
    lines = (KeyLine("probability", look.name, f"{signs}, {reach(look)}"),
             KeyLine("scale", "percent", "each is divided by 100"))
    notes = direction(data.outcome, data.event, look)
    if not look.percent_signs:
        notes = PERCENT_NOTE.format(column=quoted(look.name), reach=reach(look)), *notes
    return ModelChoice(called(look.name, data.event), lines, (look.name,), notes)


def score(data: BinaryColumns, look: ColumnLook) -> ModelChoice:
    """Return the model whose column is a raw score, which is a rank."""
    line = KeyLine("score", look.name, f"values {reach(look)}, a rank; add 'scale: logit' where these are log odds")
    return ModelChoice(called(look.name, data.event), (line,), (look.name,), direction(data.outcome, data.event, look))


def direction(outcome: ColumnLook, level: str, look: ColumnLook) -> tuple[str, ...]:
    """Warn of a column that is lower where its level occurred, by more than two standard errors."""
    if look.values is None:
        return ()
    event = outcome.texts == level
    parts = [look.values.filter(mask).drop_nulls() for mask in (event, ~event)]
    if not all(len(part) for part in parts):
        return ()
    with_event, without = (float(part.mean()) for part in parts)  # type: ignore[arg-type]
    error = float(look.values.std() or 0) * sum(1 / len(part) for part in parts) ** 0.5  # type: ignore[arg-type]
    if without - with_event <= 2 * error:
        return ()
    said = (f"{quoted(look.name)} is lower where {quoted(level)} occurred, {with_event:.3g} against "
            f"{without:.3g} on average: check that it is about this event")
    return (said,)


def _pair(data: BinaryColumns, columns: Sequence[ColumnLook]) -> Question | None:
    """Ask which of two columns that sum to 1 is about the event, where no name says it."""
    summed = [pair for pair in pairs(columns)
              if not any(_is_about(name, level) for name in pair for level in data.levels.levels)]
    if not summed:
        return None
    names = list(dict.fromkeys(name for pair in summed for name in pair))
    first, second = map(quoted, summed[0])
    known = f"the columns {first} and {second} sum to 1: two levels' probabilities of a model"
    return Question("model", known, "which of them is the probability of the event?",
                    tuple((name, reach(data.columns[name])) for name in names), f"NAME={names[-1]}")


def _which(columns: Sequence[ColumnLook]) -> Question:
    """Return the question which columns are models."""
    known = f"{len(columns):,} columns may be predictions"
    return Question("model", known, "which of them are probabilities of the event?",
                    tuple((look.name, reach(look)) for look in columns), f"NAME={columns[0].name}")


def with_classes(
    models: Sequence[ModelChoice], classes: Sequence[ColumnLook]
) -> tuple[list[ModelChoice], dict[str, str]]:
    """Return models with their predicted classes, and the columns of classes of which it is not clear whose they are.

    Columns of classes are models of their own where there are no others.
    """
    if not models:
        return [class_model(called(look.name), look) for look in classes], {}
    given = list(models)
    unclear: dict[str, str] = {}
    for look in classes:
        mine = [at for at, model in enumerate(given) if len(given) == len(classes) == 1
                or plain(model.name) == plain(called(look.name))]
        if len(mine) != 1 or "prediction" in {line.key for line in given[mine[0]].lines}:
            unclear[look.name] = "predicted classes of which no name says whose they are"
            continue
        model = given[mine[0]]
        lines = (*(line for line in model.lines if line.key != "threshold"), *class_model("", look).lines)
        given[mine[0]] = replace(model, lines=lines, columns=(*model.columns, look.name))
    return given, unclear


def class_model(name: str, look: ColumnLook) -> ModelChoice:
    """Return the model whose column is its predicted class."""
    line = KeyLine("prediction", look.name, "its values are levels of the outcome")
    return ModelChoice(name, (line,), (look.name,))
