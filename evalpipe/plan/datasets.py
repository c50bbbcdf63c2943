"""The columns that are read from each dataset and from files of predictions, and the places that name them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from evalpipe.chapters.curves.plan import residuals_plan
from evalpipe.chapters.slices.plan import slice_columns
from evalpipe.errors import Problem
from evalpipe.plan.outcome import levels
from evalpipe.plan.sources import Fit, conditions
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evalpipe.base.origin import Loc, Origin
    from evalpipe.plan.sources import Condition
    from evalpipe.plan.table import Catalog, DataTable
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.spec import Spec


OF_LEVELS = ("probabilities", "scores")
"""The keys of a model that name the columns of all levels."""

_LISTS = ("List", "Array", "String", "Null")
"""How the names of types begin whose values may be lists, those that are written as text among them."""

_NESTED = ("List", "Array", "Struct", "Binary", "Object")
"""How the names of types begin whose values are not compared."""


def columns_named(spec: Spec) -> dict[str, Loc]:
    """Return the columns that evaluated rows must have, each with the place in the spec that names it first."""
    named: list[tuple[str | None, Loc]] = [
        (spec.outcome.column, ("outcome", "column")), (spec.id, ("id",)),
        (getattr(spec.weight, "column", None), ("weight", "column")),
        (getattr(spec.exposure, "column", None), ("exposure", "column")), (spec.cluster, ("cluster",)),
    ]
    for name, model in spec.models.items():
        named += _model_columns_named(spec, name).items() if model.predictions is None else ()
    named += [(sliced.column, loc) for loc, sliced in slice_columns(spec)]
    residuals = residuals_plan(spec)
    named += [] if residuals is None else [(column, loc) for loc, column in residuals.columns]
    first: dict[str, Loc] = {}
    for column, loc in named:
        if column is not None:
            first.setdefault(column, loc)
    return first


def predictions_named(spec: Spec, model: str) -> dict[str, Loc]:
    """Return the columns that the files of a model's predictions must have, with the places that name them."""
    identity: dict[str, Loc] = {} if spec.id is None else {spec.id: ("id",)}
    step = spec.models[model].step
    steps: dict[str, Loc] = {} if step is None else {step.column: ("models", model, "step")}
    return {**_model_columns_named(spec, model), **steps, **identity}


def bootstrap_named(spec: Spec, model: str) -> dict[str, Loc]:
    """Return the columns that the files of a model's bootstrap fits must have, with the places that name them."""
    optimism = spec.models[model].optimism
    step = spec.models[model].step
    named = {column: loc for column, loc in predictions_named(spec, model).items()
             if step is None or column != step.column}
    return named if optimism is None else {**named, optimism.drawn: ("models", model, "optimism", "drawn")}


def compared_columns(spec: Spec, model: str, dataset: DataTable, predictions: DataTable) -> tuple[str, ...]:
    """Return the columns that must agree row by row where a file of predictions is matched to a dataset by position.

    They are those of both but for the model's predictions, and for lists, mappings and bytes.
    """
    predicted = _model_columns_named(spec, model)
    return () if spec.id is not None else tuple(
        column for column, kind in predictions.columns.items()
        if column in dataset.columns and column not in predicted
        and not any(dtype.startswith(_NESTED) for dtype in (kind, dataset.columns[column]))
    )


def _model_columns_named(spec: Spec, name: str) -> dict[str, Loc]:
    """Return the columns of the data that a model names, each with the place that names it first."""
    from evalpipe.spec.core_keys import Model

    model = spec.models[name]
    named: dict[str, Loc] = {}
    for kind, column in model_columns(spec, model).items():
        of_levels = "probabilities" if model.scores is None else "scores"
        key = kind if kind in Model.model_fields else of_levels
        named.setdefault(model.list_column if key == of_levels and model.list_column else column, ("models", name, key))
    return named


def model_columns(spec: Spec, model: Model) -> dict[str, str]:
    """Return the columns of a model by what they hold; of K levels, "probability of …" or "score of …" for each."""
    kinds = ("probability", "score", "prediction", "rate", "loo_prediction", "leverage")
    what = "score" if model.probabilities is None else "probability"
    chances = {f"{what} of {level}": column for level, column in level_columns(spec, model).items()}
    return chances | {kind: column for kind in kinds if (column := getattr(model, kind)) is not None}


def level_columns(spec: Spec, model: Model) -> dict[str, str]:
    """Return the column of each level's probability or score, in the order of the levels; empty without any.

    A column of lists is read as one for each level, called "softmax[a]".
    """
    named = model.probabilities or model.scores
    if model.list_column is not None:
        return {level: f"{named}[{level}]" for level in levels(spec)}
    if named is None:
        return {}
    if isinstance(named, str):
        return {level: named.replace("{level}", level) for level in levels(spec)}
    return {level: named[level] for level in levels(spec)}


def columns_to_read(spec: Spec, role: str, named: Mapping[str, Loc], table: DataTable) -> dict[str, Loc]:
    """Return the columns to read: of evaluated rows all, of rows to calibrate on all that are not only to divide them.

    Of reference rows only the identity, and the outcome and its exposure where they have them; without an identity, as
    to calibrate on. Of those that the prevalence comes from also the weight and the cluster.
    """
    if role == "evaluate":
        return dict(named)
    if role == "calibrate" or spec.id is None:
        return {column: loc for column, loc in named.items() if loc[0] not in (
            "slices", "worst_slices", "folds", "curves")}
    if spec.prevalence is not None and spec.prevalence.from_ == table.named.dataset:
        return {column: loc for column, loc in named.items() if loc[0] in {"outcome", "id", "weight", "cluster"}}
    columns = [spec.outcome.column, *([] if spec.exposure is None else [spec.exposure.column])]
    outcome = {column: named[column] for column in columns if column in table.columns}
    return outcome | {spec.id: named[spec.id]}


def column_problems(spec: Spec, table: DataTable, needed: Mapping[str, Loc]) -> list[Problem]:
    """Return a problem for each needed column that a table does not have, or has in a type that cannot be read."""
    absent = {column: loc for column, loc in needed.items() if column not in table.columns}
    strange = {column: loc for column, loc in needed.items() if column in table.unreadable}
    return [*(_missing_column(spec, table, column, loc) for column, loc in absent.items()),
            *(unreadable(spec.origin, table, column, loc) for column, loc in strange.items()),
            *(problem for column, loc in needed.items() if column not in {**absent, **strange}
              for problem in _list_type_problems(spec, table, column, loc))]


def _list_type_problems(spec: Spec, table: DataTable, column: str, loc: Loc) -> Iterator[Problem]:
    """Report a column that is to hold lists, and by its type does not, and the other way round in a query."""
    kind = table.columns[column]
    if table.format == "query" and kind.startswith(("List", "Array")) and not _is_list_column(spec, column, loc):
        message = f"column '{column}' of {table.named.called} ({_first_file(table)}) holds lists, not single values"
        hint = "only 'probabilities' and 'scores' of a model may name a column of lists"
        yield Problem("wrong-type", message, spec.origin.place(*loc) or spec.origin.place(*loc[:1]), hint)
    if _is_list_column(spec, column, loc) and not kind.startswith(_LISTS):
        shown = f"{table.named.called} ({_first_file(table)})"
        message = f"column '{column}' of {shown} holds values of type {kind}, not lists"
        hint = (f"name the column of each level's {loc[-1]} by a pattern with {{level}}, or by a mapping of level to "
                "column; a text without {level} is the name of one column of lists")
        yield Problem("wrong-type", message, spec.origin.place(*loc), hint)


def _is_list_column(spec: Spec, column: str, loc: Loc) -> bool:
    """Tell whether a column is named as one of lists, of the probabilities or scores of all levels."""
    return loc[-1] in OF_LEVELS and column == spec.models[str(loc[1])].list_column


def _first_file(table: DataTable) -> str:
    """Return where a table is, for messages: its first file."""
    return table.files[0][1] if table.files else "memory" if table.format == "memory" else table.named.path


def unreadable(places: Origin, table: DataTable, column: str, loc: Loc) -> Problem:
    """Return the problem of a column that a query returns in a type that cannot be read."""
    message = f"column '{column}' of {table.named.called} ({table.named.path}) is of type {table.unreadable[column]}"
    another = "double precision[]" if table.unreadable[column] == "numeric[]" else "text"
    hint = f"ask for it in another type, as in CAST({column} AS {another})"
    notes = (f"named at {place}",) if (place := places.place(*loc)) is not None else ()
    return Problem("unreadable-type", f"{message}, which evalpipe does not read", places.place(*table.named.loc), hint,
                   notes=notes)


def _missing_column(spec: Spec, table: DataTable, column: str, loc: Loc) -> Problem:
    close = closest(column, table.columns)
    listed = ", ".join(list(table.columns)[:12]) + (", …" if len(table.columns) > 12 else "")
    notes = [f"its columns: {listed}"]
    hint = f"did you mean '{close}'?" if close else f"name one of the columns of {table.named.called}"
    if _is_list_column(spec, column, loc):
        pattern = f"write {{level}} where the level stands in the names, or name one column of lists of {loc[-1]}"
        hint = pattern if "{" in column or not close else hint
    elif loc[-1] in OF_LEVELS:
        hint = f"every level needs a column of {loc[-1]}"
    if table.named.model is not None and loc == ("id",):
        hint = "add it: the rows are matched to those of the dataset by it"
    if spec.datasets[table.named.dataset].role == "reference":
        notes.append("declare 'id' so that rows of a reference dataset are compared by identity alone")
    place = spec.origin.place(*loc) or spec.origin.place(*loc[:1])
    message = f"{table.named.called} ({_first_file(table)}) has no column '{column}'"
    return Problem("missing-column", message, place, hint, notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """The columns to read from one dataset, each once, in reading order.

    ``predictions`` are, by model, the files that hold predictions for its rows, and the columns to read from them;
    ``refits`` by model the files of its other fits, in the order of their names, ``bootstrap`` those of its bootstrap
    fits; ``compared`` the columns that must agree row by row between the two, where their rows are matched by position.
    ``conditions`` are those on its rows: its own ``where``, and those of slices. ``trained_on`` tells that the models
    were fitted to these rows.
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

    @property
    def prediction_files(self) -> dict[Fit, DatasetPlan]:
        """All that is read of files of predictions, by the fit that they are of."""
        shown = {Fit(model): part for model, part in self.predictions.items()}
        others = {Fit(model, "other", number): part
                  for model, parts in self.refits.items() for number, part in enumerate(parts, 2)}
        bootstrap = {Fit(model, "bootstrap", number): part
                     for model, parts in self.bootstrap.items() for number, part in enumerate(parts, 1)}
        return {**shown, **others, **bootstrap}

    @property
    def where(self) -> str | None:
        """The condition that its rows meet."""
        return next((condition.text for condition in self.conditions if condition.key == "where"), None)


def lacking_columns(spec: Spec, catalog: Catalog) -> list[Problem]:
    """Return a problem for each column that a dataset, or a file of predictions, does not have."""
    named = columns_named(spec)
    needed = [(table, columns_to_read(spec, spec.datasets[name].role, named, table))
              for name, table in catalog.tables.items()]
    needed += [(table, predictions_named(spec, model)) for (_, model), table in catalog.predictions.items()]
    needed += [(tables[0], bootstrap_named(spec, model)) for (_, model), tables in catalog.bootstrap.items()]
    return [problem for table, columns in needed for problem in column_problems(spec, table, columns)]


def dataset_plan(spec: Spec, catalog: Catalog, name: str) -> DatasetPlan:
    """Return what is read of a dataset, and of the files of predictions for it."""
    table, role = catalog.tables[name], spec.datasets[name].role

    def of_file(
        model: str, file: DataTable, named: Callable[[Spec, str], dict[str, Loc]] = predictions_named
    ) -> DatasetPlan:
        return DatasetPlan(name, "predictions", file, tuple(named(spec, model)),
                           compared=compared_columns(spec, model, table, file))

    predictions = {
        model: of_file(model, file) for (dataset, model), file in catalog.predictions.items() if dataset == name}
    refits = {
        model: tuple(of_file(model, file) for file in files)
        for (dataset, model), files in catalog.refits.items() if dataset == name}
    bootstrap = {
        model: tuple(of_file(model, file, bootstrap_named) for file in files)
        for (dataset, model), files in catalog.bootstrap.items() if dataset == name}
    several = (part for fits in (refits, bootstrap) for parts in fits.values() for part in parts)
    parts = (*predictions.values(), *several)
    compared = tuple(dict.fromkeys(column for part in parts for column in part.compared))
    columns = tuple(columns_to_read(spec, role, columns_named(spec), table))
    return DatasetPlan(
        name, role, table, columns, MappingProxyType(predictions), compared, tuple(conditions(spec, name)),
        MappingProxyType(refits), MappingProxyType(bootstrap), spec.datasets[name].trained_on)


def predictions_dataset(spec: Spec, catalog: Catalog) -> tuple[DatasetPlan, list[Problem]]:
    """Return the only dataset as one that holds predictions alone, all its columns read, and what it lacks of them."""
    (dataset,), (model,) = spec.datasets, spec.models
    table = catalog.tables[dataset]
    problems = column_problems(spec, table, predictions_named(spec, model))
    return DatasetPlan(dataset, "predictions", table, tuple(table.columns)), problems
