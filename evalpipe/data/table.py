"""What is known of a dataset, and of the files of its models' predictions, before their rows are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.models import Spec
    from evalpipe.spec.parts import Dataset, Model
    from evalpipe.spec.separated import Csv

Format = Literal["csv", "tsv", "parquet", "ipc", "ndjson", "memory"]


@dataclass(frozen=True, slots=True)
class Named:
    """Files that a spec names: the rows of a dataset or, where ``model`` is one, that model's predictions for them.

    ``path`` is the path as it is written at ``loc`` in the spec; ``csv`` says how separated text is written, as
    declared at ``csv_loc``.
    """

    dataset: str
    model: str | None
    path: str
    loc: Loc
    csv: Csv

    @property
    def csv_loc(self) -> Loc:
        """Where the spec says how separated text is written."""
        return ("datasets", self.dataset, "csv") if self.model is None else ("models", self.model, "csv")

    @property
    def called(self) -> str:
        """What messages call these rows."""
        if self.model is None:
            return f"dataset '{self.dataset}'"
        return f"the file of model '{self.model}' for dataset '{self.dataset}'"


def of_dataset(spec: Spec, dataset: str) -> Named:
    """Return the files of a dataset."""
    declared = spec.datasets[dataset]
    return Named(dataset, None, declared.path, ("datasets", dataset, "path"), _csv(declared))


def of_model(spec: Spec, model: str, dataset: str) -> Named | None:
    """Return the files of a model's predictions for a dataset; None where the dataset itself holds them."""
    given = spec.models[model].predictions
    loc: Loc = ("models", model, "predictions")
    if isinstance(given, str):
        return Named(dataset, model, given, loc, _csv(spec.models[model]))
    if given is None:
        return None
    return Named(dataset, model, given[dataset], (*loc, dataset), _csv(spec.models[model]))


def _csv(part: Dataset | Model) -> Csv:
    """Return how separated text is written: as declared, or as usual."""
    from evalpipe.spec.separated import Csv

    return part.csv or Csv()


@dataclass(frozen=True, slots=True)
class Table:
    """The files and columns of one dataset, or of one model's predictions for it.

    ``files`` are the files in the order they are read, with the path shown to people (as the spec gives it, relative to
    the spec); ``columns`` the names and polars type names, such as ``String``; ``where_columns`` the columns that the
    dataset's ``where`` and the conditions of slices mention; ``rows`` the rows before ``where``, None where it is
    costly to know.
    """

    named: Named
    format: Format
    files: tuple[tuple[Path, str], ...]
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    where_columns: tuple[str, ...] = ()
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Catalog:
    """What could be looked at, and what is wrong with the rest.

    ``tables`` are the datasets by name; ``predictions`` the files of models' predictions, by dataset and model.
    """

    tables: Mapping[str, Table]
    problems: tuple[Problem, ...] = ()
    predictions: Mapping[tuple[str, str], Table] = field(default_factory=lambda: MappingProxyType({}))
