"""The plan: everything that is decided before data are seen.

It holds no spec, only those frozen parts of one that there is nothing to decide on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from evalpipe.intervals.declare import registry as interval_methods
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.base.databases import DatabaseUri
    from evalpipe.base.formats import FormatName
    from evalpipe.base.origin import Origin
    from evalpipe.chapters.compare.spec import Compare
    from evalpipe.chapters.curves.plan import CalibrationPlan, RelationsPlan, ResidualsPlan
    from evalpipe.chapters.desirability.plan_goals import GoalPlan
    from evalpipe.chapters.prevalence.plan import PrevalencePlan
    from evalpipe.chapters.recalibrate.plan import RecalibrationPlan
    from evalpipe.chapters.slices.plan import SlicesPlan
    from evalpipe.errors import Problem
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.models import ModelPlan
    from evalpipe.plan.outcome import OutcomePlan
    from evalpipe.spec.core_keys import Exposure, Weight
    from evalpipe.tasks import Task
    from evalpipe.words.sentences import Sentence


Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class StreamingPlan:
    """How rows are read: ``batch`` of them at once, or all into memory (None), and the ``reason``."""

    reason: Sentence
    batch: int | None = None

    @property
    def streamed(self) -> bool:
        """Whether rows are read part by part."""
        return self.batch is not None


IN_MEMORY = StreamingPlan(sentence("nothing-in-parts"))


@dataclass(frozen=True, slots=True)
class Plan:
    """All decisions about an evaluation. Options that the spec leaves out are None, or empty.

    ``interval_method`` is "auto", "none" or the name of the method that the spec requests; ``level`` the confidence
    level of every interval. ``mode`` says whether replicates draw rows or cells of a grid, ``complete_case`` whether
    rows that lack a prediction are left out. ``places`` has the line of each key of the spec, for errors of data.
    ``permutations`` is the number of random pairings behind values without information, 0 where none are requested.
    ``memory`` are the bytes that a run may take, None for any.
    ``behind`` are measures that disparities are computed from and that are not listed themselves, ``diagnosed`` are
    measures of all rows only that findings rest on; the measures of goals, gates and the trend are among ``metrics``.
    ``bins`` is the interval method of the event rate in the bins of a reliability diagram, ``calibration`` the settings
    of such figures; ``banded`` says that bands are drawn about curves, ``profit_drawn`` that limits of the profit are;
    ``marks`` are the thresholds that are marked on curves, ``gain_groups`` the groups of a gain table; ``residuals``
    are the figures of residuals of probabilities, and those of numbers beyond the standard ones.
    ``streaming`` says whether all rows are in memory; ``dask`` is the address of the scheduler of the Dask cluster that
    reads parts of files, "local" for one that the run starts, None where threads read. ``ledger`` is the file or the
    URI of the ledger, True for a ledger beside the output folder, False for none.
    ``parts`` are decisions of chapters that only their own steps use: see `part`.
    """

    name: str
    title: str
    as_of: str | None
    spec_sha256: str
    task: Task
    seed: int
    level: float
    interval_method: str
    replicates: int
    stratify: bool
    resampling: Literal["multinomial", "poisson"]
    mode: Literal["auto", "exact", "grid"]
    workers: int | Literal["auto"]
    memory: int | None
    dask: str | None
    ledger: DatabaseUri | bool
    permutations: int
    formats: tuple[FormatName, ...]
    outcome: OutcomePlan
    weight: Weight | None
    exposure: Exposure | None
    cluster: str | None
    id: str | None
    complete_case: bool
    places: Origin
    warnings: tuple[Problem, ...]
    datasets: tuple[DatasetPlan, ...]
    models: Mapping[str, ModelPlan]
    metrics: tuple[MetricPlan, ...]
    behind: tuple[MetricPlan, ...]
    diagnosed: tuple[MetricPlan, ...]
    bins: str
    banded: bool
    profit_drawn: bool
    marks: tuple[float, ...]
    gain_groups: int
    residuals: ResidualsPlan | None
    relations: RelationsPlan | None
    calibration: CalibrationPlan
    slices: SlicesPlan
    recalibrate: RecalibrationPlan
    prevalence: PrevalencePlan | None
    compare: Compare | None
    goals: tuple[GoalPlan, ...]
    parts: Mapping[Callable[..., object], Any]
    streaming: StreamingPlan = IN_MEMORY

    @property
    def entries(self) -> tuple[MetricPlan, ...]:
        """The metrics, and after them the measures that only disparities and findings are computed from."""
        return (*self.metrics, *self.behind, *self.diagnosed)

    @property
    def goal_measures(self) -> tuple[MetricPlan, ...]:
        """The measures that goals of desirability judge, in their order."""
        return tuple(goal.entry for goal in self.goals if goal.entry is not None)

    def part(self, resolve: Callable[..., Part]) -> Part:
        """Return a chapter's part of the plan, by the function that resolved it: ``plan.part(gates_plan)``."""
        return cast("Part", self.parts[resolve])

    def gives_prevalence(self, dataset: str) -> bool:
        """Tell whether the declared prevalence comes from a dataset."""
        return self.prevalence is not None and self.prevalence.dataset == dataset

    def of_variant(self, variant: str) -> Plan:
        """Return the plan for the curves of a variant of a model: recalibrated ones may have other windows."""
        calibration = self.calibration.of_variant(variant)
        return self if calibration is self.calibration else replace(self, calibration=calibration)

    def left_to_variants(self, model: str, need: str) -> bool:
        """Tell whether a model lacks a ``need`` that its recalibrated variants meet, as a raw score does."""
        raw = model in self.models and self.models[model].raw
        return raw and bool(self.recalibrate.methods) and need in ("probabilities", "labels")

    def of_all_rows(self, number: int) -> bool:
        """Tell whether a measure, by its number in `entries`, is taken on all rows only, and in no slice."""
        return number >= len(self.metrics) + len(self.behind)

    @property
    def importance(self) -> bool:
        """Whether rows have importance weights, under which they are not observations of one kind."""
        return self.weight is not None and self.weight.kind == "importance"

    @property
    def renamed(self) -> dict[str, str]:
        """The former names of models, by their names."""
        return {name: model.former_name for name, model in self.models.items() if model.former_name is not None}

    @property
    def differs(self) -> bool:
        """Whether differences between models or slices are computed, which need replicates of all measures."""
        sliced = bool(self.slices.slicings) or self.slices.worst is not None
        return sliced or self.compare is not None or bool(self.recalibrate.methods)

    @property
    def compared(self) -> bool:
        """Whether models are compared, or ranked by goals: for this more rows are drawn one by one."""
        compare = self.compare
        return bool(self.goals) or (compare is not None and (
            compare.pairs == "all" or (compare.baseline or compare.baseline_dataset) is not None))

    def draws(self, entry: MetricPlan) -> bool:
        """Tell whether a metric needs replicates."""
        shared = self.differs or entry in self.goal_measures
        return entry.drawn or (shared and self.interval_method != "none" and entry not in self.diagnosed)

    def margin(self, entry: MetricPlan) -> float | None:
        """Return the margin of equivalence of a measure; None where none is declared."""
        return None if self.compare is None else self.compare.margins.get(entry.metric.name)

    @property
    def cost(self) -> int | None:
        """Rows x bootstrap replicates x models that will be summed up; None where the number of rows is unknown.

        Of rows that are read part by part replicates draw cells, so that each row is summed up once for each model.
        """
        evaluated = [dataset for dataset in self.datasets if dataset.role == "evaluate"]
        if any(dataset.table.rows is None for dataset in evaluated):
            return None
        if self.streaming.streamed:
            return len(self.models) * sum(dataset.table.rows or 0 for dataset in evaluated)
        needs_replicates = self.banded or self.profit_drawn or any(map(self.draws, self.metrics))
        replicates = self.replicates if needs_replicates or interval_methods[self.bins].drawn else 0
        variants = len(self.models) * (1 + len(self.recalibrate.methods))
        # One more than the replicates: the values themselves are sums over the same rows.
        once = sum(dataset.table.rows or 0 for dataset in evaluated) * (replicates + 1) * variants
        fits = 0 if self.interval_method == "none" else self.replicates
        return once + sum((dataset.table.rows or 0) * (fits + 1) * (1 + len(refits))
                          for dataset in evaluated for refits in dataset.refits.values())
