"""Step 2: what will be computed, from the spec and the columns of the data alone. Pure; nothing is read here."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from evalpipe.errors import DataError, Problem
from evalpipe.intervals.declare import registry as interval_methods
from evalpipe.levels import level_text
from evalpipe.plan.columns import (
    columns_named,
    level_columns,
    levels,
    missing,
    model_columns,
    needed,
    predictions_named,
    shared,
    slice_parts,
)
from evalpipe.plan.desirability import Aim, aims
from evalpipe.plan.equivocal import Zone, zone, zone_of_probabilities
from evalpipe.plan.measures import (
    DISPARITIES,
    LACKING,
    MetricPlan,
    asked,
    behind,
    cost_matrix,
    lacking,
    named_costs,
    searched,
)
from evalpipe.plan.methods import proportions
from evalpipe.plan.priors import concentration, shifted
from evalpipe.plan.thresholds import RulePlan, by_bayes, called, in_words, number, rule, threshold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.data.table import Catalog, Table
    from evalpipe.origin import Loc, Origin
    from evalpipe.spec.models import Spec
    from evalpipe.spec.parts import Model
    from evalpipe.spec.recalibration import MethodChoice as MethodChoice
    from evalpipe.tasks import Task

__all__ = [
    "DISPARITIES", "LACKING", "Aim", "DatasetPlan", "MetricPlan", "Plan", "RulePlan", "Zone", "by_bayes",
    "called", "cost_matrix", "in_words", "lacking", "level_columns", "levels", "missing", "model_columns",
    "named_costs", "number", "plan", "predictions_named", "rule", "searched", "slice_parts", "threshold", "zone",
    "zone_of_probabilities",
]


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """The columns to read from one dataset, each once, in reading order.

    ``predictions`` are, by model, the files that hold predictions for its rows, and the columns to read from them;
    ``compared`` the columns that must agree row by row between the two, where their rows are matched by position.
    """

    name: str
    role: Literal["evaluate", "calibrate", "reference", "predictions"]
    table: Table
    columns: tuple[str, ...]
    predictions: Mapping[str, DatasetPlan] = field(default_factory=lambda: MappingProxyType({}))
    compared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that will be done: datasets, models and metrics.

    ``bins`` is the interval method of the event rate in the bins of a reliability diagram; ``behind`` are metrics that
    disparities are computed from and that are not listed themselves; ``banded`` says that bands are drawn about curves,
    ``profit`` that limits of the profit are; ``aims`` are the goals of desirability, whose measures are among
    ``metrics``.
    """

    spec: Spec
    datasets: tuple[DatasetPlan, ...]
    metrics: tuple[MetricPlan, ...]
    bins: str
    behind: tuple[MetricPlan, ...] = ()
    banded: bool = False
    profit: bool = False
    aims: tuple[Aim, ...] = ()

    @property
    def name(self) -> str:
        """The name of the evaluation."""
        return self.spec.name

    @property
    def title(self) -> str:
        """The title of the card."""
        return self.spec.title or self.spec.name

    @property
    def task(self) -> Task:
        """The kind of outcome."""
        return self.spec.task

    @property
    def seed(self) -> int:
        """The root of all random numbers."""
        return self.spec.seed

    @property
    def level(self) -> float:
        """The confidence level of every interval."""
        return self.spec.intervals.level

    @property
    def interval_method(self) -> str:
        """The method of intervals that is asked for: "auto", "none" or the name of one."""
        return self.spec.intervals.method

    @property
    def replicates(self) -> int:
        """The number of bootstrap replicates."""
        return self.spec.intervals.replicates

    @property
    def stratify(self) -> bool:
        """Whether the rows of each level are resampled apart."""
        return self.spec.intervals.stratify

    @property
    def resampling(self) -> Literal["multinomial", "poisson"]:
        """How replicates draw rows."""
        return self.spec.intervals.resampling

    @property
    def mode(self) -> Literal["auto", "exact", "grid"]:
        """Whether replicates draw rows or cells of a grid."""
        return self.spec.engine.mode

    @property
    def workers(self) -> int | Literal["auto"]:
        """The number of threads."""
        return self.spec.engine.workers

    @property
    def no_information(self) -> bool:
        """Whether the value without information is asked for beside each value."""
        return self.spec.no_information

    @property
    def importance(self) -> bool:
        """Whether rows have importance weights, under which they are not observations of one kind."""
        return self.spec.importance

    @property
    def cluster(self) -> str | None:
        """The column of clusters."""
        return self.spec.cluster

    @property
    def models(self) -> Mapping[str, Model]:
        """The models by name."""
        return self.spec.models

    @property
    def places(self) -> Origin:
        """Where each key was written, for the errors of data."""
        return self.spec.origin

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings of the spec."""
        return self.spec.warnings

    @property
    def entries(self) -> tuple[MetricPlan, ...]:
        """The metrics, and after them those that only disparities are computed from."""
        return (*self.metrics, *self.behind)

    @property
    def differs(self) -> bool:
        """Whether differences are asked for, between models or between slices, which need replicates of all."""
        spec = self.spec
        asked = (spec.compare, spec.slices, spec.worst_slices, spec.recalibrate)
        return any(one is not None for one in asked)

    def draws(self, entry: MetricPlan) -> bool:
        """Tell whether a metric needs replicates."""
        shared = self.differs or any(aim.entry == entry for aim in self.aims)
        return entry.drawn or (shared and self.spec.intervals.method != "none")

    @property
    def margins(self) -> Mapping[str, float]:
        """The margins of equivalence by the canonical names of their measures."""
        from evalpipe.metrics import registry

        declared = {} if self.spec.compare is None else self.spec.compare.margins
        return {registry[name].name: value for name, value in declared.items()}

    def reference_labels(self, columns: tuple[str, ...]) -> dict[str, str] | None:
        """Return the labels of the slice that those by ``columns`` are compared with; None where it is no slice."""
        asked = self.spec.slice_rules.reference
        if isinstance(asked, str) or len(columns) != 1 or columns[0] not in asked:
            return None
        return {columns[0]: level_text(asked[columns[0]])}

    @property
    def recalibrators(self) -> tuple[MethodChoice, ...]:
        """The recalibrators that make variants of every model; one that shifts to a prevalence knows the declared."""
        return () if self.spec.recalibrate is None else shifted(self.spec, self.spec.recalibrate.methods)

    @property
    def recalibrated_on(self) -> str | None:
        """The dataset that recalibrators are fitted on; None where they are cross-fitted, or there are none."""
        asked = self.spec.recalibrate
        return asked.fit_on if asked is not None and isinstance(asked.fit_on, str) else None

    @property
    def folds(self) -> int | None:
        """In how many folds recalibrators are cross-fitted; None where they are fitted on a dataset, or not at all."""
        asked = self.spec.recalibrate
        return None if asked is None or isinstance(asked.fit_on, str) else asked.fit_on.folds

    def enough(self, n: int) -> bool:
        """Tell whether a slice of ``n`` observations is large enough for numbers."""
        return n >= self.spec.slice_rules.min_rows

    @property
    def concentration(self) -> tuple[float, ...] | None:
        """The parameters of the distribution of the declared prevalence, by level; None where it is a number."""
        return concentration(self.spec)

    @property
    def cost(self) -> int | None:
        """Rows x bootstrap replicates x models that will be summed up; None where the rows are not known."""
        evaluated = [dataset.table.rows for dataset in self.datasets if dataset.role == "evaluate"]
        if any(rows is None for rows in evaluated):
            return None
        drawn = interval_methods[self.bins].drawn or self.banded or self.profit or any(map(self.draws, self.metrics))
        replicates = self.spec.intervals.replicates if drawn else 0
        variants = len(self.spec.models) * (1 + len(self.recalibrators))
        return sum(rows or 0 for rows in evaluated) * (replicates + 1) * variants


def plan(spec: Spec, catalog: Catalog) -> Plan:
    """Plan the evaluation; raises DataError with every problem of the catalog and every column that the data lack."""
    named = columns_named(spec)
    lacking = _lacking(spec, catalog, named)
    if lacking or catalog.problems:
        raise DataError(*catalog.problems, *lacking)
    datasets = tuple(_dataset(spec, catalog, name, named) for name in spec.datasets)
    metrics = asked(spec)
    banded = spec.task == "binary" and spec.intervals.bands and spec.intervals.method != "none"
    profit = spec.profit is not None and spec.intervals.method != "none"
    return Plan(spec, datasets, metrics, proportions(spec)[0], behind(spec, metrics), banded, profit, aims(spec))


def _lacking(spec: Spec, catalog: Catalog, named: Mapping[str, Loc]) -> list[Problem]:
    """Return a problem for each column that a dataset, or a file of predictions, does not have."""
    asked = [(table, needed(spec, spec.datasets[name].role, named, table)) for name, table in catalog.tables.items()]
    asked += [(table, predictions_named(spec, model)) for (_, model), table in catalog.predictions.items()]
    return [problem for table, columns in asked for problem in missing(spec, table, columns)]


def _dataset(spec: Spec, catalog: Catalog, name: str, named: Mapping[str, Loc]) -> DatasetPlan:
    """Return what is read of a dataset, and of the files of predictions for it."""
    table, role = catalog.tables[name], spec.datasets[name].role
    predictions = {
        model: DatasetPlan(name, "predictions", held, tuple(predictions_named(spec, model)),
                           compared=shared(spec, model, table, held))
        for (dataset, model), held in catalog.predictions.items()
        if dataset == name
    }
    compared = tuple(dict.fromkeys(column for part in predictions.values() for column in part.compared))
    columns = tuple(needed(spec, role, named, table))
    return DatasetPlan(name, role, table, columns, MappingProxyType(predictions), compared)
