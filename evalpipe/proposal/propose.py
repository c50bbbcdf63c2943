"""Make the parts of a spec from the columns of the data and a person's answers, or the next open question."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.data.slices import periods
from evalpipe.data.values import days
from evalpipe.errors import Problem, UsageError
from evalpipe.proposal.models import (
    ModelChoice,
    ModelChoices,
    families,
    is_fractional,
    model_name_of,
    range_text,
    with_distinct_names,
    without_doubtful_levels,
)
from evalpipe.proposal.names import EXPOSURES, WEIGHTS, further_spec_notes, has_word, like_id, named_after_others
from evalpipe.proposal.outcome import (
    LevelChoice,
    OutcomeChoice,
    choose_levels,
    choose_outcome,
    choose_task,
    column_of,
    survival_question,
)
from evalpipe.proposal.predictions import (
    BinaryColumns,
    binary_models,
    class_model,
    is_percent,
    level_model_of_flag,
    level_models,
    list_models,
    number_model_of_flag,
    number_models,
    percent_model,
    probability_model,
    refused_lists,
    score_model,
)
from evalpipe.proposal.questions import SHOWN, Answers, Question
from evalpipe.proposal.yaml_text import scalar, yaml_mapping
from evalpipe.spec.messages import bad_key, is_key
from evalpipe.tasks import CLASSES, NUMBERS
from evalpipe.words.spelling import clipped, counted, first_few, joined, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook, Looked


if TYPE_CHECKING:
    Fits = Callable[[ColumnLook], bool]
    Asks = Callable[[Answers], object]

FEW = 10
"""The most levels of a column that is proposed as a slice."""

MOST_MONTHS = 24
"""The most months of a column of dates that are proposed as slices; for more, its years are."""

MOST_SLICES = 8
"""The most columns that are proposed as slices."""

TOGETHER = ": if rows that share one belong together, intervals resample these"

NAMES_SHOWN = 4
"""The most names of columns in a line."""


@dataclass(frozen=True, slots=True)
class OtherColumns:
    """Possible uses of columns other than outcome and predictions, each column with its reason.

    ``slices`` are columns of levels and ``periods`` columns of dates, each in YAML as under `slices`; ``left_out`` are
    lines of text on columns without a use.
    """

    id: tuple[str, str] | None
    clusters: tuple[tuple[str, str], ...]
    weights: tuple[tuple[str, str], ...]
    exposures: tuple[tuple[str, str], ...]
    slices: tuple[tuple[str, str], ...]
    periods: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def id_candidates(columns: Mapping[str, ColumnLook], used: Iterable[str]) -> list[str]:
    """Return the columns that may be ids of rows: values differ in all rows, and the name is like that of an id."""
    used_columns = set(used)
    return [name for name, look in columns.items() if name not in used_columns and look.unique and like_id(name)
            and look.kind in ("number", "text") and (look.kind == "text" or look.whole)]


def other_columns(
    columns: Mapping[str, ColumnLook], used: Sequence[str], row_id: ColumnLook | None, refused: Mapping[str, str],
    within: str, most_levels: int = FEW,
) -> OtherColumns:
    """Sort the columns that are neither outcome nor predictions by their possible use, which the spec suggests.

    ``row_id`` is the column of ids, ``refused`` are reasons by column why it is no prediction, ``within`` the words for
    the rows that were read. A slice has at most ``most_levels``.
    """
    rest = {name: look for name, look in columns.items() if name not in {*used, *refused}}
    id_and_reason = None
    if row_id is not None:
        id_and_reason = row_id.name, f"a different value in each of {counted(row_id.rows, 'row')}"
        rest.pop(row_id.name, None)
    clusters = _take_out(rest, lambda look: like_id(look.name) and look.kind in ("number", "text") and not look.missing
                         and 1 < look.distinct < look.rows and (look.kind == "text" or look.whole))
    weights = _take_out(rest, lambda look: look.kind == "number" and has_word(look.name, WEIGHTS) and look.low >= 0
                        and not look.constant and not look.missing)
    exposures = _take_out(rest, lambda look: look.kind == "number" and has_word(look.name, EXPOSURES) and look.low > 0)
    slices = _take_out(rest, lambda look: bool(look.levels) and 1 < look.written_levels <= most_levels
                       and (look.kind in ("text", "boolean") or (look.kind == "number" and look.whole)))
    levels = {scalar(look.name): counted(look.written_levels, "level") for look in slices[:MOST_SLICES]}
    date_columns = _take_out(rest, lambda look: _slicing_period(look) is not None)
    periods = {yaml_mapping({"column": scalar(look.name), "by": period}): counted(count, period)
               for look in date_columns[:MOST_SLICES] for period, count in [_slicing_period(look) or ("", 0)]}
    return OtherColumns(
        id_and_reason,
        tuple((look.name, f"{counted(look.distinct, 'value')} in {within}{TOGETHER}") for look in clusters),
        tuple((look.name, f"{range_text(look)}: if rows count more or less than others") for look in weights),
        tuple((look.name, f"{range_text(look)}: if counts were counted in so much") for look in exposures),
        tuple(levels.items()), tuple(periods.items()),
        tuple(_left_out_lines(rest, refused, slices[MOST_SLICES:], most_levels)))


def _slicing_period(look: ColumnLook) -> tuple[str, int] | None:
    """Return the length of periods to slice a column of dates by, "month" or "year", and the number of such periods.

    None where the column has other values, or all its dates lie in one period.
    """
    dates = days(look.texts)
    if look.kind != "date" or dates.null_count() > look.texts.null_count():
        return None
    months, years = (len(set(periods(dates.drop_nulls(), length))) for length in ("month", "year"))
    length, count = ("month", months) if months <= MOST_MONTHS else ("year", years)
    return (length, count) if count > 1 else None


def _take_out(rest: dict[str, ColumnLook], fits: Fits) -> list[ColumnLook]:
    """Remove the columns for which ``fits`` is true from ``rest``, so that none has two uses; return them."""
    fitting = [look for look in rest.values() if fits(look)]
    for look in fitting:
        del rest[look.name]
    return fitting


def _left_out_lines(
    rest: Mapping[str, ColumnLook], refused: Mapping[str, str], more_slices: Sequence[ColumnLook], most_levels: int
) -> Iterable[str]:
    """Yield a line for each reason why columns are not used, with their names, for a comment in the spec.

    ``refused`` are reasons by column, ``more_slices`` columns beyond the most that are suggested as slices.
    """
    reasons: dict[str, list[str]] = {}
    for name, reason in refused.items():
        reasons.setdefault(reason, []).append(name)
    if more_slices:
        reasons["few levels, as the slices above"] = [look.name for look in more_slices]
    for look in rest.values():
        reasons.setdefault(_unused_reason(look, most_levels), []).append(look.name)
    for reason, names in reasons.items():
        shown = ", ".join(clipped(name) for name in names[:NAMES_SHOWN])
        more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
        yield f"{counted(len(names), 'column')} ({reason}): {shown}{more}"


def _unused_reason(look: ColumnLook, most_levels: int) -> str:
    """Return the words why a column has no use in the spec."""
    if look.kind in ("nested", "list", "empty"):
        return "no values" if look.kind == "empty" else "lists or mappings"
    if look.constant:
        return "the same value in each row"
    if look.kind == "date":
        return "dates; 'where' can keep a period"
    if look.kind == "number":
        inside = look.within(0, 1) and not look.whole
        return "numbers from 0 to 1; if they are predictions, name them under models" if inside else (
            "numbers; a slice needs cuts: {column: …, cuts: [18, 65]}")
    return f"texts of more than {most_levels} values"


NO_SIGNS = "write percents as numbers, and run init again"


@dataclass(frozen=True, slots=True)
class Proposal:
    """The parts of a spec: the data, the outcome with its levels, the models, and the other columns.

    ``keys`` are pairs of a key of rows, such as "weight", and the column that a flag gives for it.
    """

    looked: Looked
    outcome: OutcomeChoice
    levels: LevelChoice
    models: tuple[ModelChoice, ...]
    others: OtherColumns
    keys: tuple[tuple[str, str], ...] = ()

    @property
    def used(self) -> tuple[ColumnLook, ...]:
        """The columns that the spec names as outcome, predictions and id."""
        names = [self.outcome.column.name, *(column for model in self.models for column in model.columns)]
        names += [self.others.id[0]] if self.others.id is not None else []
        return tuple(self.looked.columns[name] for name in dict.fromkeys(names))

    @property
    def predicted(self) -> tuple[ColumnLook, ...]:
        """The columns of predictions."""
        names = dict.fromkeys(column for model in self.models for column in model.columns)
        return tuple(self.looked.columns[name] for name in names)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know before running the spec, a sentence each."""
        column, nulls = self.outcome.column, ""
        if column.nulls:
            nulls = f" ({listed(column.nulls, 'or')})"
        rows = f"{counted(column.missing, 'row')} without a value of {quoted(column.name)}{nulls}"
        outcome_notes = [f"{rows}: left out by 'where'"] if column.missing else []
        keys = {line.key for model in self.models for line in model.lines}
        if column.doubtful and self.outcome.task in CLASSES and not keys & {"probabilities", "scores"}:
            level = f"{quoted(column.doubtful)} is a level of {quoted(column.name)}"
            rows = counted(column.levels[column.doubtful], "row")
            outcome_notes.append(f"{level}, in {rows}: check that it does not mean a missing value")
        encoding_notes = [f"{dataset.path} is {dataset.encoding_note}" for dataset in self.looked.datasets
                          if dataset.encoding_note is not None]
        others = named_after_others(column, self.looked.columns, [look.name for look in self.predicted])
        further = further_spec_notes(others.values(), self.levels.event, self.looked.columns,
                                [dataset.path for dataset in self.looked.datasets])
        period_notes = [  # of a count such as "12 months" the period is a month
            f"for each measure by {count.split()[-1].removesuffix('s')}, remove the # before 'slices' and "
            f"'{line}', or add --set {shlex.quote(f'slices=[{line}]')} to the run"
            for line, count in self.others.periods[:1]]
        model_notes = [note for model in self.models for note in model.notes]
        return (*encoding_notes, *outcome_notes, *period_notes, *model_notes, *further)


def propose(looked: Looked, answers: Answers) -> Proposal | Question:
    """Return the proposed spec, or the next open question; raises UsageError for an impossible answer."""
    parts = parts_from_first_rows(looked, answers)
    if isinstance(parts, Question):
        return parts
    outcome, levels, choices = parts
    if answers.exposure is not None and outcome.task != "count":
        raise UsageError.of("not-for-task", "--exposure is for the task count, not for an outcome of the task "
                            f"{outcome.task}", "remove it, or give --task count")
    looked = without_flag_columns(looked, answers)
    used = [outcome.column.name, *(column for model in choices.models for column in model.columns)]
    id_columns = id_candidates(looked.columns, used)[:1]
    if not looked.whole:
        # What was seen in the first rows is looked at again in all rows: a level, a limit, a row without a value.
        recognised_by = [column for model in choices.models for column in model.recognised_by]
        looked = looked.with_all_rows_of([*used, *recognised_by, *id_columns])
        answered = replace(answers, outcome=outcome.column.name, task=outcome.task)
        parts = _choose_parts({name: looked.columns[name] for name in (*used, *recognised_by)}, answered)
        if isinstance(parts, Question):
            return parts
        # Of all rows, but with the reasons from the first rows: here, outcome and task were as if a person gave them.
        full_outcome, levels, full_choices = parts
        outcome = replace(full_outcome, reason=outcome.reason, task_reason=outcome.task_reason)
        choices = replace(full_choices, refused=choices.refused)
    looked = replace(looked, columns=without_doubtful_levels(looked.columns, outcome.column, levels.levels))
    row_id = looked.columns[id_columns[0]] if id_columns and looked.columns[id_columns[0]].unique else None
    within = counted(looked.rows, "row") if looked.whole else f"the first {counted(looked.rows, 'row')}"
    others = other_columns(looked.columns, used, row_id, choices.refused, within)
    return Proposal(looked, outcome, levels, with_distinct_names(choices.models), others, answers.keys)


def without_flag_columns(looked: Looked, answers: Answers) -> Looked:
    """Return the data without the columns of flags such as --weight, which are neither outcome nor predictions.

    Raises UsageError for a column that the data do not have, or that has no numbers where numbers are needed.
    """
    for key, name in answers.keys:
        look = column_of(name, looked.columns, f"--{key}")
        if key != "cluster" and look.kind != "number":
            raise UsageError.of("not-numbers", f"--{key} names the column {quoted(name)}, which holds no numbers",
                                "name a column of numbers")
    used_columns = {name for _, name in answers.keys}
    return replace(looked, columns={name: look for name, look in looked.columns.items() if name not in used_columns})


def parts_from_first_rows(
    looked: Looked, answers: Answers
) -> tuple[OutcomeChoice, LevelChoice, ModelChoices] | Question:
    """Return outcome, levels and models from the rows read, or the next question; raises UsageError."""
    looked = without_flag_columns(looked, answers)
    question = survival_question(looked.columns, answers)
    parts = _choose_parts(looked.columns, answers) if question is None else question
    if isinstance(parts, Question) and not looked.whole:
        return replace(parts, known=f"in the first {counted(looked.rows, 'row')} {parts.known}")
    return parts


def _choose_parts(
    columns: Mapping[str, ColumnLook], answers: Answers
) -> tuple[OutcomeChoice, LevelChoice, ModelChoices] | Question:
    """Choose outcome, task, levels and models, in this order; return these, or the first open question."""
    outcome_choice = choose_outcome(columns, answers)
    if isinstance(outcome_choice, Question):
        return outcome_choice
    column, reason = outcome_choice
    task_choice = choose_task(column, columns, answers)
    if isinstance(task_choice, Question):
        return task_choice
    task, task_reason = task_choice
    if task == "binary" and column.has_two_clear_levels:
        column = column.without_doubtful()
    outcome = OutcomeChoice(column, reason, task, task_reason)
    levels = choose_levels(column, outcome.task, answers)
    if isinstance(levels, Question):
        return levels
    columns = without_doubtful_levels(columns, column, levels.levels)
    lists = list_models(column, columns, answers) if outcome.task in CLASSES else ()
    if isinstance(lists, Question):
        return lists
    choices = (_models_of_flags(outcome, levels, columns, lists, answers) if answers.models
               else _models_in_data(outcome, levels, columns, lists))
    if isinstance(choices, Question):
        return choices
    if not choices.models:
        raise _no_predictions_error(column, levels, choices, columns)
    return outcome, levels, choices


def _no_predictions_error(
    column: ColumnLook, levels: LevelChoice, choices: ModelChoices, columns: Mapping[str, ColumnLook]
) -> UsageError:
    """Return the error of data without a prediction, with the reasons why columns that look like one are none."""
    event = "" if levels.event is None else f" for the event {quoted(levels.event)}"
    other = ", or another --event" if choices.refused and event else ""
    percent_texts = {look.name: f"percents as texts, such as {quoted(look.texts.drop_nulls()[0].strip())}"
                     for look in columns.values() if look.percent_signs}
    numeric = [look.name for look in columns.values()
               if look.kind == "number" and look.name not in (column.name, *choices.refused) and not look.constant]
    numbers = f"; the columns of numbers: {first_few(numeric)}" if numeric else ""
    hint = NO_SIGNS if percent_texts else f"name its column, --model NAME=COLUMN{other}{numbers}"
    coded = [look.name for look in columns.values() if look.coded and look.name in choices.refused]
    if coded:
        hint = f"write a missing value as null in the data; if it is a score, name its column, --model NAME={coded[0]}"
    return UsageError.of(
        "no-predictions", f"no column of the data is a prediction of {quoted(column.name)}{event}", hint,
        tuple(f"{name}: {why}" for name, why in ({**choices.refused, **percent_texts}).items()))


def _models_in_data(
    outcome: OutcomeChoice, levels: LevelChoice, columns: Mapping[str, ColumnLook], lists: tuple[ModelChoice, ...]
) -> ModelChoices | Question:
    """Return the models recognised in the data, or the question which columns are predictions.

    ``lists`` are the models that were recognised in columns of lists.
    """
    level_families = families(levels.levels, columns, without=outcome.column.name)
    columns_of_families = [name for family in level_families for name in family.columns.values()]
    other_outcomes = named_after_others(outcome.column, columns, columns_of_families)
    columns_with_codes = {look.name: f"{look.coded[1]} in {counted(look.coded[0], 'row')}, beside numbers from 0 to 1"
                          for look in columns.values() if look.coded and look.name != outcome.column.name}
    columns = {name: look for name, look in columns.items() if name not in {*other_outcomes, *columns_with_codes}}
    if outcome.task in NUMBERS:
        choices = number_models(outcome.column, outcome.task, columns)
    elif outcome.task == "binary":
        choices = binary_models(BinaryColumns(outcome.column, levels, columns, lists))
    else:
        choices = level_models(outcome.column, levels.levels, columns, lists)
    if isinstance(choices, Question):
        return choices
    refused = {name: f"named after {quoted(other)}, another outcome" for name, other in other_outcomes.items()}
    refused |= refused_lists(levels.levels, columns) if outcome.task in CLASSES else {}
    return replace(choices, refused={**choices.refused, **columns_with_codes, **refused})


def _models_of_flags(
    outcome: OutcomeChoice, levels: LevelChoice, columns: Mapping[str, ColumnLook], lists: tuple[ModelChoice, ...],
    answers: Answers,
) -> ModelChoices:
    """Return the models of --model flags, NAME=COLUMN or a column alone; flags of one name give columns of one model.

    ``lists`` are the models that were recognised in columns of lists. Raises UsageError for an unusable flag.
    """
    models: dict[str, ModelChoice] = {}
    list_model_of = {model.columns[0]: model for model in lists}
    refused = refused_lists(levels.levels, columns)
    for text in answers.models:
        name, equals_sign, column = text.partition("=")
        if text in columns or not equals_sign:  # a column alone, whose name may hold the sign
            name, column = model_name_of(text), text
        elif not is_key(name):
            message, hint = bad_key(name, quoted(name))
            raise UsageError.of("bad-name", message, hint)
        if column in refused and column not in list_model_of:
            raise UsageError.of("not-predictions", f"the column {quoted(column)} holds no predictions of "
                                f"{quoted(outcome.column.name)}: {refused[column]}", "name another column")
        model = list_model_of.get(column) or _model_of_flag(name, column, outcome, levels, columns)
        model, earlier = replace(model, name=name), models.get(name)
        if earlier is not None:
            same_keys = {line.key for line in earlier.lines} & {line.key for line in model.lines}
            if same_keys:
                raise UsageError.of("model-twice", f"--model gives {quoted(name)} two columns for {min(same_keys)}",
                                    "give the models different names")
            model = replace(earlier, lines=(*earlier.lines, *model.lines), columns=(*earlier.columns, *model.columns),
                            notes=(*earlier.notes, *model.notes))
        models[name] = model
    return ModelChoices(tuple(models.values()))


def _model_of_flag(
    name: str, column: str, outcome: OutcomeChoice, levels: LevelChoice, columns: Mapping[str, ColumnLook]
) -> ModelChoice:
    """Return the model of a --model flag; what it predicts (class, probability, score, …) follows from its values."""
    if outcome.task in NUMBERS:
        return number_model_of_flag(name, column_of(column, columns, "--model"))
    if outcome.task != "binary":
        return level_model_of_flag(name, column, levels.levels, columns)
    look = column_of(column, columns, "--model")
    data = BinaryColumns(outcome.column, levels, columns)
    if look.levels and set(look.levels) <= set(levels.levels):
        model = class_model(name, look)
    elif look.kind != "number" or look.constant:
        raise UsageError.of(
            "not-predictions", f"the column {quoted(column)} holds no predictions of {quoted(outcome.column.name)}",
            "name a column of probabilities, scores or its levels")
    elif is_fractional(look):
        model = probability_model(data, look, "your answer; its values are")
    else:
        model = percent_model(data, look) if is_percent(look) else score_model(data, look)
    return replace(model, name=name)


MOST_CASES = 6
"""The most cases shown of a question that depends on the answer to another."""


@dataclass(frozen=True, slots=True)
class Path:
    """A sequence of questions, each after an answer to the one before, and the flags that answer them all."""

    questions: tuple[Question, ...]
    flags: tuple[str, ...]


def open_questions_error(asked: Asks, answers: Answers, first: Question) -> UsageError:
    """Return the error of a command line that leaves questions open: all of them, so that one more call answers them.

    ``asked`` gives the next question after answers. ``first`` is the first of them, which alone is named where no
    choice leads to a spec.
    """
    paths = list(_answer_paths(asked, answers))
    if not paths:
        return UsageError(first.problem())
    by_key: dict[str, list[Question]] = {}
    for path in paths:
        for question in path.questions:
            variants = by_key.setdefault(question.key, [])
            if question not in variants:
                variants.append(question)
    problems = [_question_problem(questions) for questions in by_key.values()]
    if len(problems) > 1:
        line = f"{problems[-1].hint}; all in one line, as in: {' '.join(paths[0].flags)}"
        problems[-1] = replace(problems[-1], hint=line)
    return UsageError(*problems)


def _answer_paths(asked: Asks, answers: Answers) -> Iterator[Path]:
    """Yield each way to answer the questions of `evalpipe init`: questions in their order, and a choice for each."""
    try:
        question = asked(answers)
    except UsageError:
        return
    if not isinstance(question, Question):
        yield Path((), ())
        return
    if question.key == "model":  # the last one; a choice alone may not be an answer, as one of a set of columns
        yield Path((question,), (question.ways[0],))
        return
    order = ",".join(f'"{choice}"' if "," in choice else choice for choice, _ in question.choices)
    tried = [order] if question.key in ("levels", "order") else [choice for choice, _ in question.choices[:SHOWN]]
    for choice in tried:
        for rest in _answer_paths(asked, question.answered(answers, choice)):
            yield Path((question, *rest.questions), (f"{question.flag} {shlex.quote(choice)}", *rest.flags))


def _question_problem(questions: list[Question]) -> Problem:
    """Return the problem of an open question; ``questions`` are its variants by the answer to an earlier one."""
    first = questions[0]
    if len(questions) == 1:
        return first.problem()
    notes = [f"{question.known}: {joined([f'{clipped(name)} ({note})' for name, note in question.choices], 'or')}"
             for question in questions[:MOST_CASES]]
    more = [f"and {len(questions) - MOST_CASES:,} more"] if len(questions) > MOST_CASES else []
    return Problem(f"{first.key}-needed", f"depending on the answer above, {first.asks}", notes=(*notes, *more),
                   hint=f"add {first.flag} {first.example or 'with one of them'}")
