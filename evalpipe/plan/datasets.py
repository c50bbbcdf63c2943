"""The outcome, the columns that are read from datasets and files of predictions, and the places that name them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from evalpipe.base.constants import USAGE
from evalpipe.base.levels import level_text
from evalpipe.chapters import functions
from evalpipe.errors import Problem
from evalpipe.plan.sources import Fit, conditions
from evalpipe.tasks import SCORES
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from evalpipe.base.origin import Loc, Origin
    from evalpipe.plan.sources import Catalog, Condition, DataTable
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class OutcomePlan:
    """The column of the outcome and its levels, as texts.

    ``levels`` are the declared levels, of a binary outcome the event first, and ``written`` the same levels in the
    order of the spec; both are empty where none are declared. ``event`` is the event of a binary outcome, ``unit`` the
    unit of numbers.
    """

    column: str
    event: str | None
    levels: tuple[str, ...]
    written: tuple[str, ...]
    unit: str | None


def outcome_plan(spec: Spec) -> OutcomePlan:
    """Return the outcome's column, event, levels in order and unit, as the plan has them."""
    outcome = spec.outcome
    event = None if outcome.event is None else level_text(outcome.event)
    written = tuple(map(level_text, outcome.levels or ()))
    return OutcomePlan(outcome.column, event, tuple(levels(spec)), written, outcome.unit)


def levels(spec: Spec) -> list[str]:
    """Return the declared levels of the outcome; of a binary one the event first; empty where none are declared."""
    written = [level_text(level) for level in spec.outcome.levels or ()]
    if spec.task != "binary" or not written:
        return written
    event = level_text(spec.outcome.event)
    return [event, *(level for level in written if level != event)]


def score_columns(
    model: str, *, successes: bool, several: bool, ranked: bool, uses: Iterable[str] = ()
) -> dict[str, str]:
    """Return the columns that hold what a model scored in items, by what they hold.

    ``successes`` says that it is known what succeeds, ``several`` that there are other models to win against,
    ``ranked`` that items are queries, of which the model has ranked lists; ``uses`` are the names of what it used.
    """
    kinds = ["score", "epochs", "within", "agreeing", *(["successes"] if successes else []),
             *(["wins"] if several else []), *(["query"] if ranked else []), *(USAGE + use for use in uses)]
    return {kind: f"{kind} of {model}" for kind in kinds}


def score_label(model: str) -> str:
    """Return the column of a model's scores in a table of items."""
    return score_columns(model, successes=False, several=False, ranked=False)["score"]


OF_LEVELS = ("probabilities", "scores")
"""The keys of a model that name the columns of all levels."""

_LISTS = ("List", "Array", "String", "Null")
"""How the names of types begin whose values may be lists, those that are written as text among them."""

_NESTED = ("List", "Array", "Struct", "Binary", "Object")
"""How the names of types begin whose values are not compared."""


def identity_of(spec: Spec) -> tuple[str | None, Loc]:
    """Return the column that identifies a row, or an item, and the key that names it; None where there is none."""
    return (spec.item or "item", ("item",)) if spec.task in SCORES else (spec.id, ("id",))


def required_columns(spec: Spec) -> dict[str, Loc]:
    """Return the columns that evaluated rows must have, each with the keys of the spec that name it first."""
    columns: list[tuple[str | None, Loc]] = [
        (spec.outcome.column or None, ("outcome", "column")), identity_of(spec),
        (getattr(spec.weight, "column", None), ("weight", "column")),
        (getattr(spec.exposure, "column", None), ("exposure", "column")), (spec.cluster, ("cluster",)),
    ]
    for name, model in spec.models.items():
        columns += _columns_of_model(spec, name).items() if model.predictions is None else ()
    # A plan lists those of slices before those of curves.
    columns += [(column, loc) for named in reversed(functions("plan", "columns")) for loc, column in named(spec)]
    first_loc: dict[str, Loc] = {}
    for column, loc in columns:
        if column is not None:
            first_loc.setdefault(column, loc)
    return first_loc


def prediction_columns(spec: Spec, model: str) -> dict[str, Loc]:
    """Return the columns that files of a model's predictions must have, with the keys of the spec that name them."""
    identity: dict[str, Loc] = {} if spec.id is None else {spec.id: ("id",)}
    step = spec.models[model].step
    steps: dict[str, Loc] = {} if step is None else {step.column: ("models", model, "step")}
    return {**_columns_of_model(spec, model), **steps, **identity}


def bootstrap_columns(spec: Spec, model: str) -> dict[str, Loc]:
    """Return the columns that files of a model's bootstrap fits must have, with the keys of the spec that name them."""
    optimism = spec.models[model].optimism
    step = spec.models[model].step
    columns = {column: loc for column, loc in prediction_columns(spec, model).items()
               if step is None or column != step.column}
    return columns if optimism is None else {**columns, optimism.drawn: ("models", model, "optimism", "drawn")}


def compared_columns(spec: Spec, model: str, dataset: DataTable, predictions: DataTable) -> tuple[str, ...]:
    """Return the columns that must agree row by row where a file of predictions is matched to a dataset by position.

    They are the columns that both have, without the model's predictions and without lists, mappings and bytes.
    """
    predicted = _columns_of_model(spec, model)
    return () if spec.id is not None else tuple(
        column for column, dtype_there in predictions.columns.items()
        if column in dataset.columns and column not in predicted
        and not any(dtype.startswith(_NESTED) for dtype in (dtype_there, dataset.columns[column]))
    )


def _columns_of_model(spec: Spec, name: str) -> dict[str, Loc]:
    """Return the columns of the data that a model names, each with the keys of the spec that name it first."""
    from evalpipe.spec.core_keys import Model

    model = spec.models[name]
    columns: dict[str, Loc] = {}
    for kind, column in model_columns(spec, name).items():
        of_levels = "probabilities" if model.scores is None else "scores"
        if spec.task in SCORES:
            columns.setdefault(column, ("models", name))
            continue
        key = kind if kind in Model.model_fields else of_levels
        in_file = model.list_column if key == of_levels and model.list_column else column
        columns.setdefault(in_file, ("models", name, key))
    return columns


def model_columns(spec: Spec, name: str) -> dict[str, str]:
    """Return the columns of a model by what they hold; of K levels, "probability of …" or "score of …" for each."""
    if spec.score is not None and spec.task in SCORES:
        return score_columns(name, successes=spec.score.success_from is not None, several=len(spec.models) > 1,
                             ranked=spec.models[name].ranking is not None, uses=spec.models[name].usage or ())
    model = spec.models[name]
    kinds = ("probability", "score", "prediction", "rate", "loo_prediction", "leverage")
    quantity = "score" if model.probabilities is None else "probability"
    columns_of_levels = {f"{quantity} of {level}": column for level, column in level_columns(spec, model).items()}
    return columns_of_levels | {kind: column for kind in kinds if (column := getattr(model, kind)) is not None}


def level_columns(spec: Spec, model: Model) -> dict[str, str]:
    """Return the column of each level's probability or score, in the order of the levels; empty without any.

    A column of lists is read as one for each level, called "softmax[a]".
    """
    column_names = model.probabilities or model.scores
    if model.list_column is not None:
        return {level: f"{column_names}[{level}]" for level in levels(spec)}
    if column_names is None:
        return {}
    if isinstance(column_names, str):
        return {level: column_names.replace("{level}", level) for level in levels(spec)}
    return {level: column_names[level] for level in levels(spec)}


def columns_to_read(spec: Spec, role: str, columns: Mapping[str, Loc], table: DataTable) -> dict[str, Loc]:
    """Return the columns to read from a dataset by its role, with the keys of the spec that name them.

    Of evaluated rows all ``columns``; of rows to calibrate on all but those that only slices, folds and figures use. Of
    reference rows the identity, and the outcome and its exposure where the table has them; without an identity, as of
    rows to calibrate on. A reference dataset that gives the prevalence is read with weight and cluster too. Of items'
    scores, reference rows have the texts.
    """
    if role == "evaluate":
        return dict(columns)
    if spec.task in SCORES:
        return {str(spec.text): ("text",)}
    if role == "calibrate" or spec.id is None:
        return {column: loc for column, loc in columns.items() if loc[0] not in (
            "slices", "worst_slices", "folds", "curves")}
    if spec.prevalence is not None and spec.prevalence.from_ == table.named.dataset:
        return {column: loc for column, loc in columns.items() if loc[0] in {"outcome", "id", "weight", "cluster"}}
    of_outcome = [spec.outcome.column, *([] if spec.exposure is None else [spec.exposure.column])]
    outcome = {column: columns[column] for column in of_outcome if column in table.columns}
    return outcome | {spec.id: columns[spec.id]}


def column_problems(spec: Spec, table: DataTable, needed: Mapping[str, Loc]) -> list[Problem]:
    """Return a problem for each needed column that a table lacks, or has in a type that cannot be read."""
    varying = () if table.scores is None else table.scores.varying  # which is told by itself
    absent = {column: loc for column, loc in needed.items() if column not in (*table.columns, *varying)}
    of_unreadable_type = {column: loc for column, loc in needed.items() if column in table.unreadable}
    return [*(_missing_column(spec, table, column, loc) for column, loc in absent.items()),
            *(unreadable(spec.origin, table, column, loc) for column, loc in of_unreadable_type.items()),
            *(problem for column, loc in needed.items()
              if column not in {**absent, **of_unreadable_type, **dict.fromkeys(varying)}
              for problem in _list_type_problems(spec, table, column, loc))]


def _list_type_problems(spec: Spec, table: DataTable, column: str, loc: Loc) -> Iterator[Problem]:
    """Yield a problem where a column should hold lists and does not, or in a query holds lists and should not."""
    dtype = table.columns[column]
    if table.format == "query" and dtype.startswith(("List", "Array")) and not _is_list_column(spec, column, loc):
        message = f"column '{column}' of {table.named.called} ({_first_file(table)}) holds lists, not single values"
        hint = "only 'probabilities' and 'scores' of a model may name a column of lists"
        yield Problem("wrong-type", message, spec.origin.place(*loc) or spec.origin.place(*loc[:1]), hint)
    if _is_list_column(spec, column, loc) and not dtype.startswith(_LISTS):
        shown = f"{table.named.called} ({_first_file(table)})"
        message = f"column '{column}' of {shown} holds values of type {dtype}, not lists"
        hint = (f"name the column of each level's {loc[-1]} by a pattern with {{level}}, or by a mapping of level to "
                "column; a text without {level} is the name of one column of lists")
        yield Problem("wrong-type", message, spec.origin.place(*loc), hint)


def _is_list_column(spec: Spec, column: str, loc: Loc) -> bool:
    """Tell whether the spec names a column as one of lists, of the probabilities or scores of all levels."""
    return loc[-1] in OF_LEVELS and column == spec.models[str(loc[1])].list_column


def _first_file(table: DataTable) -> str:
    """Return the path of a table's first file for messages, or "memory"."""
    if table.files:
        return table.files[0][1]
    return "memory" if table.format == "memory" else table.named.path


def unreadable(places: Origin, table: DataTable, column: str, loc: Loc) -> Problem:
    """Return the problem of a column that a query returns in a type that evalpipe does not read."""
    message = f"column '{column}' of {table.named.called} ({table.named.path}) is of type {table.unreadable[column]}"
    another = "double precision[]" if table.unreadable[column] == "numeric[]" else "text"
    hint = f"ask for it in another type, as in CAST({column} AS {another})"
    notes = (f"named at {place}",) if (place := places.place(*loc)) is not None else ()
    return Problem("unreadable-type", f"{message}, which evalpipe does not read", places.place(*table.named.loc), hint,
                   notes=notes)


def _missing_column(spec: Spec, table: DataTable, column: str, loc: Loc) -> Problem:
    """Return the problem of a column, named at ``loc`` in the spec, that a table lacks, with a hint by its key."""
    columns = table.shown_columns
    similar = closest(column, columns)
    listed = ", ".join(columns[:12]) + (", …" if len(columns) > 12 else "")
    notes = [f"its columns: {listed}"]
    hint = f"did you mean '{similar}'?" if similar else f"name one of the columns of {table.named.called}"
    if _is_list_column(spec, column, loc):
        pattern = f"write {{level}} where the level stands in the names, or name one column of lists of {loc[-1]}"
        hint = pattern if "{" in column or not similar else hint
    elif loc[-1] in OF_LEVELS:
        hint = f"every level needs a column of {loc[-1]}"
    if table.named.model is not None and loc == ("id",):
        hint = "add it: the rows are matched to those of the dataset by it"
    if spec.datasets[table.named.dataset].role == "reference" and loc not in (("id",), ("text",)):
        notes.append("declare 'id' so that rows of a reference dataset are compared by identity alone")
    place = spec.origin.place(*loc) or spec.origin.place(*loc[:1])
    message = f"{table.named.called} ({_first_file(table)}) has no column '{column}'"
    return Problem("missing-column", message, place, hint, notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """The columns to read from one dataset, each once, in reading order.

    ``predictions`` are, by model, the files of predictions for its rows, and the columns to read from them; ``refits``
    by model the files of its other fits, in the order of their names, ``bootstrap`` the files of its bootstrap fits;
    ``compared`` the columns that must agree row by row between a file of predictions and the dataset, where their rows
    are matched by position. ``conditions`` select rows: the dataset's ``where``, and the conditions of slices.
    ``trained_on`` tells that the models were fitted to these rows. ``further`` are columns that no key names and checks
    look at, of which ``unseen`` are too many; by ``shared`` rows are compared with those of other datasets.
    """

    name: str
    role: Literal["evaluate", "calibrate", "reference", "predictions", "candidates"]
    table: DataTable
    columns: tuple[str, ...]
    predictions: Mapping[str, DatasetPlan] = field(default_factory=lambda: MappingProxyType({}))
    compared: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    refits: Mapping[str, tuple[DatasetPlan, ...]] = field(default_factory=lambda: MappingProxyType({}))
    bootstrap: Mapping[str, tuple[DatasetPlan, ...]] = field(default_factory=lambda: MappingProxyType({}))
    trained_on: bool = False
    further: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    unseen: int = 0

    @property
    def prediction_files(self) -> dict[Fit, DatasetPlan]:
        """The files of predictions with the columns to read, by the fit whose predictions they hold."""
        shown = {Fit(model): part for model, part in self.predictions.items()}
        others = {Fit(model, "other", number): part
                  for model, parts in self.refits.items() for number, part in enumerate(parts, 2)}
        bootstrap = {Fit(model, "bootstrap", number): part
                     for model, parts in self.bootstrap.items() for number, part in enumerate(parts, 1)}
        return {**shown, **others, **bootstrap}

    @property
    def where(self) -> str | None:
        """The condition that all its rows meet; None without one."""
        return next((condition.text for condition in self.conditions if condition.key == "where"), None)


def lacking_columns(spec: Spec, catalog: Catalog) -> list[Problem]:
    """Return a problem for each column that a dataset, or a file of predictions, does not have."""
    required = required_columns(spec)
    needed = [(table, columns_to_read(spec, spec.datasets[name].role, required, table))
              for name, table in catalog.tables.items()]
    needed += [(table, prediction_columns(spec, model)) for (_, model), table in catalog.predictions.items()]
    needed += [(tables[0], bootstrap_columns(spec, model)) for (_, model), tables in catalog.bootstrap.items()]
    return [problem for table, columns in needed for problem in column_problems(spec, table, columns)]


def dataset_plan(spec: Spec, catalog: Catalog, name: str) -> DatasetPlan:
    """Return the columns to read from a dataset, and from the files of predictions for it."""
    table, role = catalog.tables[name], spec.datasets[name].role

    def plan_of_file(
        model: str, file: DataTable, columns_of: Callable[[Spec, str], dict[str, Loc]] = prediction_columns
    ) -> DatasetPlan:
        return DatasetPlan(name, "predictions", file, tuple(columns_of(spec, model)),
                           compared=compared_columns(spec, model, table, file))

    predictions = {
        model: plan_of_file(model, file) for (dataset, model), file in catalog.predictions.items() if dataset == name}
    refits = {
        model: tuple(plan_of_file(model, file) for file in files)
        for (dataset, model), files in catalog.refits.items() if dataset == name}
    bootstrap = {
        model: tuple(plan_of_file(model, file, bootstrap_columns) for file in files)
        for (dataset, model), files in catalog.bootstrap.items() if dataset == name}
    refit_parts = (part for fits in (refits, bootstrap) for parts in fits.values() for part in parts)
    parts = (*predictions.values(), *refit_parts)
    compared = tuple(dict.fromkeys(column for part in parts for column in part.compared))
    columns = tuple(columns_to_read(spec, role, required_columns(spec), table))
    return DatasetPlan(
        name, role, table, columns, MappingProxyType(predictions), compared, tuple(conditions(spec, name)),
        MappingProxyType(refits), MappingProxyType(bootstrap), spec.datasets[name].trained_on)


def predictions_dataset(spec: Spec, catalog: Catalog) -> tuple[DatasetPlan, list[Problem]]:
    """Return the only dataset as a file of predictions, with all its columns, and problems of columns that it lacks."""
    (dataset,), (model,) = spec.datasets, spec.models
    table = catalog.tables[dataset]
    problems = column_problems(spec, table, prediction_columns(spec, model))
    return DatasetPlan(dataset, "predictions", table, tuple(table.columns)), problems
