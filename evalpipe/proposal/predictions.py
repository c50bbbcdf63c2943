"""Recognise models in columns by the kind of outcome: two levels, several levels (also in lists), numbers, counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.base.lazy_polars import pl
from evalpipe.errors import UsageError
from evalpipe.proposal.columns import summarise_number_column
from evalpipe.proposal.models import (
    MOST_MODELS,
    Family,
    KeyLine,
    ModelChoice,
    ModelChoices,
    families,
    family_of,
    is_fractional,
    model_name_of,
    pairs,
    predicted_class_columns,
    range_text,
)
from evalpipe.proposal.names import LEFT_OUT, PERCENTS, SCORES, has_word, like_id, like_prediction, mentions, normalised
from evalpipe.proposal.outcome import column_of, levels_of_flag
from evalpipe.proposal.questions import Answers, Question
from evalpipe.words.spelling import counted, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook
    from evalpipe.proposal.outcome import LevelChoice
    from evalpipe.tasks import Task


PERCENT_NOTE = (
    "{column} looks like percents, {reach}: 'scale: percent' divides it by 100. If it is another score, name it under "
    "'score' and remove 'scale'")

_HIGH = 50
"""The least maximum of a column of percents whose name does not say that they are percents."""


@dataclass(frozen=True, slots=True)
class BinaryColumns:
    """The data of a binary outcome: its column, its levels, and summaries of all columns by name.

    ``lists`` are the models recognised in columns of lists.
    """

    outcome: ColumnLook
    levels: LevelChoice
    columns: Mapping[str, ColumnLook]
    lists: tuple[ModelChoice, ...] = ()

    @property
    def event(self) -> str:
        """The level that is the event."""
        return str(self.levels.event)

    def numeric(self, used_columns: Sequence[str] = ()) -> list[ColumnLook]:
        """Return the columns of numbers that are not constant, without the outcome and ``used_columns``."""
        return [look for name, look in self.columns.items() if look.kind == "number" and not look.constant
                and name != self.outcome.name and name not in used_columns]


def binary_models(data: BinaryColumns) -> ModelChoices | Question:
    """Return the models of a binary outcome, or the question which columns are predictions.

    Columns named after levels and percents with their sign come first, then numbers from 0 to 1 with the name of a
    prediction; without any of these, percents, scores, or the only column from 0 to 1. Classes are added to them.
    """
    models, used_columns, refused = _models_of_families(data)
    models = [*data.lists, *models]
    classes = predicted_class_columns(data.columns, data.levels.levels, without=[data.outcome.name, *used_columns])
    rest = data.numeric([*used_columns, *refused, *(look.name for look in classes)])
    likely = [look for look in rest if is_fractional(look) and like_prediction(look.name)]
    question = _pair_question(data, [look for look in rest if is_fractional(look)])
    if question is not None and not models:
        return question
    likely_percents = [look for look in rest if look.percent_signs and is_percent(look)]
    models += [percent_model(data, look) for look in likely_percents]
    models += [probability_model(data, look, "its name is that of a prediction, its values are") for look in likely]
    if not models:
        named = [look for look in rest if like_prediction(look.name) and not (look.whole and look.distinct < 3)]
        percents = [percent_model(data, look) for look in named if is_percent(look)]
        models = percents or [score_model(data, look) for look in named]
    fractional = [look for look in rest if is_fractional(look)]
    if not models and len(fractional) == 1:
        models = [probability_model(data, fractional[0], "the only column of numbers from 0 to 1:")]
    if len(models) > MOST_MODELS or (not models and len(fractional) > 1):
        choices = likely or fractional
        return Question("model", f"{len(choices):,} columns may be predictions",
                        "which of them are probabilities of the event?",
                        tuple((look.name, range_text(look)) for look in choices), f"NAME={choices[0].name}")
    models, unclear = with_classes(models, classes)
    return ModelChoices(tuple(models), refused | unclear)


def _models_of_families(data: BinaryColumns) -> tuple[list[ModelChoice], list[str], dict[str, str]]:
    """Return the models with a column named after each level, all these columns, and reasons why columns are refused.

    The column of the event is the prediction; those of the other level, and other columns named after it, are refused.
    """
    models, used_columns, refused = list[ModelChoice](), list[str](), dict[str, str]()
    for family in families(data.levels.levels, data.columns, without=data.outcome.name):
        look = data.columns[family.columns[data.event]]
        if look.constant:
            continue
        used_columns += family.columns.values()
        others = {column: level for level, column in family.columns.items() if level != data.event}
        refused |= {column: f"about {quoted(level)}, not about the event" for column, level in others.items()}
        because = f"named after the event; it and {quoted(next(iter(others)))} sum to 1; values"
        if family.kind == "probabilities":
            model = probability_model(data, look, because)
        elif is_fractional(look) and not has_word(look.name, SCORES - {"score", "scores"}):
            model = probability_model(data, look, "values of")
        else:
            model = percent_model(data, look) if is_percent(look) else score_model(data, look)
        models.append(replace(model, recognised_by=tuple(family.columns.values())))
    for look in data.numeric(used_columns):
        other = next((level for level in data.levels.levels if _mentions_word_level(look.name, level)), None)
        if other is not None and like_prediction(look.name) and other != data.event:
            refused[look.name] = f"about {quoted(other)}, not about the event"
    return models, used_columns, refused


def _mentions_word_level(name: str, level: str) -> bool:
    """Tell whether a name has the words of a level, unless it is a number: `model_1` is not about the level 1."""
    return mentions(name, level) and not normalised(level).replace("_", "").isdecimal()


def is_percent(look: ColumnLook) -> bool:
    """Tell whether a column looks like percents: with percent signs, values up to near 100, or a name that says so."""
    return look.within(0, 100) and (look.percent_signs or (
        look.high > 1 and (look.high >= _HIGH or has_word(look.name, PERCENTS))))


def probability_model(data: BinaryColumns, look: ColumnLook, because: str) -> ModelChoice:
    """Return the model whose column is the event's probability; ``because`` begins the reason."""
    line = KeyLine("probability", look.name, f"{because} {range_text(look)}")
    notes = direction_note(data.outcome, data.event, look)
    return ModelChoice(model_name_of(look.name, data.event), (line,), (look.name,), notes)


def percent_model(data: BinaryColumns, look: ColumnLook) -> ModelChoice:
    """Return the model whose column is the event's probability in percent."""
    signs = "percents with their sign" if look.percent_signs else "percents"
    lines = (KeyLine("probability", look.name, f"{signs}, {range_text(look)}"),
             KeyLine("scale", "percent", "each is divided by 100"))
    notes = direction_note(data.outcome, data.event, look)
    if not look.percent_signs:
        notes = PERCENT_NOTE.format(column=quoted(look.name), reach=range_text(look)), *notes
    return ModelChoice(model_name_of(look.name, data.event), lines, (look.name,), notes)


def score_model(data: BinaryColumns, look: ColumnLook) -> ModelChoice:
    """Return the model whose column is a raw score, of which only the ranks count."""
    reason = f"values {range_text(look)}, a rank; add 'scale: logit' where these are log odds"
    notes = direction_note(data.outcome, data.event, look)
    return ModelChoice(
        model_name_of(look.name, data.event), (KeyLine("score", look.name, reason),), (look.name,), notes)


def direction_note(outcome: ColumnLook, level: str, look: ColumnLook) -> tuple[str, ...]:
    """Return a note where a column ``look`` is lower in rows of its ``level``, by more than two standard errors.

    It may then be about another level, as where the columns of two levels were swapped.
    """
    if look.values is None:
        return ()
    has_level = outcome.texts == level
    parts = [look.values.filter(mask).drop_nulls() for mask in (has_level, ~has_level)]
    if not all(len(part) for part in parts):
        return ()
    mean_with, mean_without = (float(part.mean()) for part in parts)  # type: ignore[arg-type]
    error = float(look.values.std() or 0) * sum(1 / len(part) for part in parts) ** 0.5  # type: ignore[arg-type]
    if mean_without - mean_with <= 2 * error:
        return ()
    comparison = (f"{quoted(look.name)} is lower where {quoted(level)} occurred, {mean_with:.3g} against "
            f"{mean_without:.3g} on average: check that it is about this event")
    return (comparison,)


def _pair_question(data: BinaryColumns, columns: Sequence[ColumnLook]) -> Question | None:
    """Return the question which of two columns that sum to 1 is about the event; None without such columns."""
    summing_pairs = [pair for pair in pairs(columns)
              if not any(_mentions_word_level(name, level) for name in pair for level in data.levels.levels)]
    if not summing_pairs:
        return None
    names = list(dict.fromkeys(name for pair in summing_pairs for name in pair))
    first, second = map(quoted, summing_pairs[0])
    known = f"the columns {first} and {second} sum to 1: two levels' probabilities of a model"
    return Question("model", known, "which of them is the probability of the event?",
                    tuple((name, range_text(data.columns[name])) for name in names), f"NAME={names[-1]}")


def with_classes(
    models: Sequence[ModelChoice], classes: Sequence[ColumnLook]
) -> tuple[list[ModelChoice], dict[str, str]]:
    """Add columns of predicted classes to the models of the same name; return both, and why other columns have none.

    Without other models, each column of classes is a model.
    """
    if not models:
        return [class_model(model_name_of(look.name), look) for look in classes], {}
    with_class = list(models)
    unclear: dict[str, str] = {}
    for look in classes:
        owners = [index for index, model in enumerate(with_class) if len(with_class) == len(classes) == 1
                or normalised(model.name) == normalised(model_name_of(look.name))]
        if len(owners) != 1 or "prediction" in {line.key for line in with_class[owners[0]].lines}:
            unclear[look.name] = "predicted classes of which no name says whose they are"
            continue
        model = with_class[owners[0]]
        lines = (*(line for line in model.lines if line.key != "threshold"), *class_model("", look).lines)
        with_class[owners[0]] = replace(model, lines=lines, columns=(*model.columns, look.name))
    return with_class, unclear


def class_model(name: str, look: ColumnLook) -> ModelChoice:
    """Return the model whose column is its predicted class."""
    line = KeyLine("prediction", look.name, "its values are levels of the outcome")
    return ModelChoice(name, (line,), (look.name,))


_EXACT = 1e-6


def level_models(
    outcome: ColumnLook, levels: Sequence[str], columns: Mapping[str, ColumnLook], lists: Sequence[ModelChoice]
) -> ModelChoices | Question:
    """Return the models of an outcome of several levels, first those in ``lists``, or the question which they are."""
    level_families = families(levels, columns, without=outcome.name)
    used_columns = [column for family in level_families for column in family.columns.values()]
    models = [*lists, *(family_model(family) for family in level_families)]
    classes = predicted_class_columns(columns, levels, without=[outcome.name, *used_columns])
    if len(models) > MOST_MODELS:
        return Question(
            "model", f"{len(level_families):,} sets of columns are named after the {len(levels)} levels",
            "which of them are models? Give a pattern, or a column of predicted classes",
            tuple((family.stem, "a set of columns") for family in level_families), "NAME=prefix_{level}")
    models, unclear = with_classes(models, classes)
    return ModelChoices(tuple(models), unclear)


def family_model(family: Family) -> ModelChoice:
    """Return the model whose predictions are a family of columns, one for each level: its keys, each with a reason."""
    value: object = family.lists or family.pattern or dict(family.columns)  # of the key in the spec
    size = len(family.columns)
    count = f"lists of {size} numbers" if family.lists else f"{size} columns named after the levels"
    columns = (family.lists,) if family.lists else tuple(family.columns.values())
    name = model_name_of(family.lists or family.stem)
    if family.kind == "scores":
        why = f"{count}; taken for log odds up to a constant, which softmax makes probabilities"
        note = (f"the numbers of {listed(columns[:3], 'and')} are not from 0 to 1: they are taken for log odds; "
                "check that they are")
        return ModelChoice(name, (KeyLine("scores", value, why),), columns, (note,))
    are_percents = family.kind == "percent"
    scale = (KeyLine("scale", "percent", "each is divided by 100"),) if are_percents else ()
    line = KeyLine("probabilities", value, f"{count}; they sum to {100 if are_percents else 1} in each row")
    if family.kind in ("probabilities", "percent") and family.widest <= _EXACT:
        return ModelChoice(name, (line, *scale), columns)
    line = KeyLine("probabilities", value, f"{count}; their sums differ from 1 by up to {family.widest:.2g}")
    renormalise = KeyLine("renormalise", True, "each row is divided by its sum; else such rows are an error")  # noqa: FBT003
    note = (f"the probabilities of {listed(columns[:3], 'and')} do not sum to 1 (off by up to {family.widest:.2g}): "
            "'renormalise: true' divides each row by its sum; remove it if that is not what you want")
    return ModelChoice(name, (line, *scale, renormalise), columns, (note,))


def level_model_of_flag(
    name: str, pattern: str, levels: Sequence[str], columns: Mapping[str, ColumnLook]
) -> ModelChoice:
    """Return the model of a --model flag: of a pattern with {level}, or of a column of predicted classes.

    Raises UsageError for missing columns, and for columns that are not numbers.
    """
    if "{level}" not in pattern:
        return class_model(name, column_of(pattern, columns, "--model"))
    by_level = {level: pattern.replace("{level}", level) for level in levels}
    looks = [column_of(column, columns, "--model") for column in by_level.values()]
    not_numbers = [look.name for look in looks if look.kind != "number"]
    if not_numbers:
        raise UsageError.of("not-predictions", f"the column {quoted(not_numbers[0])} holds no numbers",
                            "name columns of probabilities")
    before, after = pattern.split("{level}", 1)
    matching = [family for family in families(levels, {look.name: look for look in looks}, without="")
            if family.columns == by_level]
    # Columns that do not look like predictions are so by the flag: their sums are off by any amount.
    family = matching[0] if matching else Family(by_level, "loose", f"{before}{{level}}{after}", float("inf"))
    return replace(family_model(family), name=name)


_FIRST_TO_LAST = "FIRST,…,LAST"

_PRINTED = r"^\s*\[[\s\d.eE+-]*\s[\s\d.eE+-]*\]\s*$"
"""An array as numpy prints it: numbers between brackets, without commas."""


def list_models(
    outcome: ColumnLook, columns: Mapping[str, ColumnLook], answers: Answers
) -> tuple[ModelChoice, ...] | Question:
    """Return the models in columns of lists, or the question about the order of levels in them.

    Where ``answers`` name models, only their columns of lists count. Raises UsageError for a wrong order.
    """
    levels = tuple(outcome.levels)
    name_of_column = {column: name or None for name, _, column in (text.rpartition("=") for text in answers.models)}
    lists = [look for look in columns.values() if look.kind == "list" and look.lengths == (len(levels), len(levels))
             and (look.name in name_of_column if answers.models else True)]
    families = [family for look in lists if (family := _list_family(look, levels, sure=look.name in name_of_column))]
    if not families:
        if answers.order is not None:
            raise UsageError.of("not-for-data", "--order is for columns of lists with a number for each level, which "
                                "the data do not have", "remove it")
        return ()
    if answers.order is None:
        counts = tuple((level, counted(rows, "row")) for level, rows in outcome.levels.items())
        what = listed([str(family.lists) for family in families[:3]], "and")
        return Question("order", f"{what} {'holds' if len(families) == 1 else 'hold'} lists of {len(levels)} numbers, "
                        "one for each level", "in which order do they hold the levels?", counts, _FIRST_TO_LAST)
    order = levels_of_flag("--order", answers.order, outcome)
    return tuple(_list_model(outcome, family, columns[str(family.lists)], order, name_of_column.get(str(family.lists)))
                 for family in families)


def refused_lists(levels: Sequence[str], columns: Mapping[str, ColumnLook]) -> dict[str, str]:
    """Return by column the reason why columns of lists are no predictions of the levels."""
    refused = dict[str, str]()
    for look in columns.values():
        if look.kind == "text" and look.texts.drop_nulls().str.contains(_PRINTED).all():
            refused[look.name] = "arrays as numpy prints them; write lists with commas, as [0.7, 0.2, 0.1]"
        least, most = look.lengths
        if look.kind != "list" or (least == most == len(levels) and _list_family(look, levels, sure=False)):
            continue
        size = counted(least, "number") if least == most else f"{least} to {counted(most, 'number')}"
        why = "which do not sum to 1" if least == most == len(levels) else f"but the outcome has {len(levels)} levels"
        refused[look.name] = f"lists of {size}, {why}"
    return refused


def _list_family(look: ColumnLook, levels: Sequence[str], *, sure: bool) -> Family | None:
    """Return a column of lists as a family, a column for each level; None unless its numbers look like predictions.

    With ``sure``, as where a flag names the column, any numbers are taken for predictions.
    """
    by_level = {level: f"{look.name}[{level}]" for level in levels}
    parts = dict(zip(by_level.values(), _list_parts(look, len(levels)), strict=True))
    family = family_of(by_level, None, parts)
    if family is None and sure:
        are_fractions = all(part.within(0, 1) for part in parts.values())
        family = Family(by_level, "loose" if are_fractions else "scores", None, float("inf"))
    return None if family is None else replace(family, lists=look.name)


def _list_parts(look: ColumnLook, size: int) -> list[ColumnLook]:
    """Return the summary of the numbers at each index of the lists, of which there are ``size``."""
    columns = [] if look.lists is None else [look.lists.list.get(index) for index in range(size)]
    return [summarise_number_column(look.name, values.cast(pl.String), values.fill_nan(None)) for values in columns]


def _list_model(
    outcome: ColumnLook, family: Family, look: ColumnLook, order: Sequence[str], name: str | None
) -> ModelChoice:
    """Return the model of a column of lists, with a note where its numbers seem to be in another order."""
    model = family_model(family)
    lower = [level for level, part in zip(order, _list_parts(look, len(order)), strict=True)
             if direction_note(outcome, level, part)]
    note = (f"the numbers of {quoted(look.name)} are lower for {listed(lower, 'and')} where that is the outcome: check "
            "the order of the levels")
    lines = (*model.lines, KeyLine("order", tuple(order), "your answer: the levels as the lists hold them"))
    return replace(model, lines=lines, name=name or model.name, notes=(*model.notes, *([note] if lower else [])))


def number_models(
    outcome: ColumnLook, task: Task, columns: Mapping[str, ColumnLook]
) -> ModelChoices | Question:
    """Return the models of an outcome of numbers, or the question which columns are predictions."""
    numeric = [look for name, look in columns.items()
               if look.kind == "number" and not look.percent_signs
               and name != outcome.name and not look.constant and not like_id(name)]
    usable = [look for look in numeric if task == "regression" or look.low > 0]
    likely = [look for look in usable if like_prediction(look.name)]
    if not likely:
        fractional = [look for look in usable if not look.whole]
        if len(fractional) != 1:
            return _number_question(outcome, fractional or usable) if usable else ModelChoices(())
        only = number_model(model_name_of(fractional[0].name), fractional[0], "the only other column of numbers:")
        return ModelChoices((only,))
    if len(likely) > MOST_MODELS:
        return _number_question(outcome, likely)
    full_fits = [look for look in likely if not has_word(look.name, LEFT_OUT)]
    models = [number_model(model_name_of(look.name), look, "its name is that of a prediction, its values are")
              for look in full_fits]
    refused = {look.name: "a count's prediction is above zero" for look in numeric
               if look not in usable and like_prediction(look.name)}
    left_out = [look for look in likely if look not in full_fits]
    if len(models) == len(left_out) == 1:
        model, look = models[0], left_out[0]
        line = KeyLine("loo_prediction", look.name, f"leave-one-out, as its name says; values {range_text(look)}")
        models = [replace(model, lines=(*model.lines, line), columns=(*model.columns, look.name))]
        left_out = []
    return ModelChoices(tuple(models), refused | {
        look.name: "leave-one-out predictions of which no name says whose they are" for look in left_out})


def number_model(name: str, look: ColumnLook, because: str) -> ModelChoice:
    """Return the model whose column is the predicted number; ``because`` begins the reason."""
    return ModelChoice(name, (KeyLine("prediction", look.name, f"{because} {range_text(look)}"),), (look.name,))


def _number_question(outcome: ColumnLook, columns: Sequence[ColumnLook]) -> Question:
    """Return the question which columns of numbers are predictions."""
    known = f"{len(columns):,} columns of numbers may be predictions of {quoted(outcome.name)}"
    return Question("model", known, "which of them are?", tuple((look.name, range_text(look)) for look in columns),
                    f"NAME={columns[0].name}")


def number_model_of_flag(name: str, look: ColumnLook) -> ModelChoice:
    """Return the model of a --model flag for numbers; raises UsageError for a column without numbers."""
    if look.kind != "number" or look.percent_signs:
        raise UsageError.of("not-predictions", f"the column {quoted(look.name)} holds no numbers",
                            "name a column of predicted numbers")
    return number_model(name, look, "your answer; its values are")
