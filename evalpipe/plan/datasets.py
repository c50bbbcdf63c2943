"""The columns that are read from each dataset, and from the files of its models' predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from evalpipe.plan.columns import bootstrap_named, columns_named, missing, needed, predictions_named, shared
from evalpipe.plan.fits import Fit
from evalpipe.plan.sources import conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.data.table import Catalog, DataTable
    from evalpipe.errors import Problem
    from evalpipe.plan.sources import Condition
    from evalpipe.spec.models import Spec


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
    asked = [(table, needed(spec, spec.datasets[name].role, named, table)) for name, table in catalog.tables.items()]
    asked += [(table, predictions_named(spec, model)) for (_, model), table in catalog.predictions.items()]
    asked += [(tables[0], bootstrap_named(spec, model)) for (_, model), tables in catalog.bootstrap.items()]
    return [problem for table, columns in asked for problem in missing(spec, table, columns)]


def dataset_plan(spec: Spec, catalog: Catalog, name: str) -> DatasetPlan:
    """Return what is read of a dataset, and of the files of predictions for it."""
    table, role = catalog.tables[name], spec.datasets[name].role

    def of_file(
        model: str, file: DataTable, named: Callable[[Spec, str], dict[str, Loc]] = predictions_named
    ) -> DatasetPlan:
        return DatasetPlan(name, "predictions", file, tuple(named(spec, model)),
                           compared=shared(spec, model, table, file))

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
    columns = tuple(needed(spec, role, columns_named(spec), table))
    asked = tuple(conditions(spec, name))
    return DatasetPlan(
        name, role, table, columns, MappingProxyType(predictions), compared, asked, MappingProxyType(refits),
        MappingProxyType(bootstrap), spec.datasets[name].trained_on)


def loose_plan(spec: Spec, catalog: Catalog) -> tuple[DatasetPlan, list[Problem]]:
    """Return the only dataset as one that holds predictions alone, all its columns read, and what it lacks of them."""
    (dataset,), (model,) = spec.datasets, spec.models
    table = catalog.tables[dataset]
    problems = missing(spec, table, predictions_named(spec, model))
    return DatasetPlan(dataset, "predictions", table, tuple(table.columns)), problems
