"""The plan: everything that is decided before data are seen, with its models and with what replicates draw.

It holds no spec, only those frozen parts of one that there is nothing to decide on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

from evalpipe.base.levels import level_text
from evalpipe.chapters.equivocal.plan import probability_zone_plan, zone_plan
from evalpipe.chapters.thresholds.plan import threshold_plan
from evalpipe.errors import Problem, SpecError
from evalpipe.intervals.declare import registry as interval_methods
from evalpipe.plan.datasets import level_columns, model_columns
from evalpipe.tasks import MANY, SCORES
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from evalpipe.base.databases import DatabaseUri
    from evalpipe.base.formats import FormatName
    from evalpipe.base.origin import Origin
    from evalpipe.chapters.compare.spec import Compare
    from evalpipe.chapters.curves.plan import CalibrationPlan, RelationsPlan, ResidualsPlan
    from evalpipe.chapters.equivocal.plan import ZonePlan
    from evalpipe.chapters.prevalence.plan import PrevalencePlan
    from evalpipe.chapters.recalibrate.plan import RecalibrationPlan
    from evalpipe.chapters.slices.plan import SlicesPlan
    from evalpipe.chapters.thresholds.plan import ThresholdPlan
    from evalpipe.plan.datasets import DatasetPlan, OutcomePlan
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.spec.core_keys import Exposure, Model, Weight
    from evalpipe.spec.spec import Spec
    from evalpipe.tasks import Task
    from evalpipe.words.sentences import Sentence


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """One model.

    ``columns`` are its columns by what they hold, such as "probability" or "score of a"; ``level_columns`` the columns
    of probabilities of all levels, or of their raw ``scores`` where that is set. Where one ``list_column`` has lists of
    these, they are its parts, and ``order`` are the levels in the order of the lists. ``percents`` are the columns of
    probabilities in percent. ``norm`` is what the score is divided by. ``has_own_files`` tells whether the columns are
    in files of predictions; ``step`` is the column there that numbers the steps of a fit, where they hold these, and
    ``shown_step`` the step that the card shows, None for the last; ``draw_count_column`` is the column of its bootstrap
    fits that says how often a row was drawn. ``gives`` are the needs of measures that the model can serve. ``zone`` is
    the equivocal zone of its own classes, ``variant_zone`` the zone of classes made of recalibrated probabilities.
    ``former_name`` is the name that it had before.
    """

    name: str
    label: str
    columns: Mapping[str, str]
    level_columns: Mapping[str, str]
    scores: bool
    list_column: str | None
    order: tuple[str, ...]
    percents: frozenset[str]
    scale: Literal["logit", "margin"] | None
    norm: float | None
    renormalise: bool
    has_own_files: bool
    step: str | None
    shown_step: int | None
    draw_count_column: str | None
    gives: frozenset[str]
    threshold: ThresholdPlan
    zone: ZonePlan | None
    variant_zone: ZonePlan | None
    characteristics: Mapping[str, str | bool | float]
    former_name: str | None

    @property
    def probability(self) -> str | None:
        """The column of the probability of the event."""
        return self.columns.get("probability")

    @property
    def score(self) -> str | None:
        """The column of the score."""
        return self.columns.get("score")

    @property
    def prediction(self) -> str | None:
        """The column of the predicted level or number."""
        return self.columns.get("prediction")

    @property
    def rate(self) -> str | None:
        """The column of the predicted rate of a count."""
        return self.columns.get("rate")

    @property
    def loo_prediction(self) -> str | None:
        """The column of leave-one-out predictions, each by a fit without the row."""
        return self.columns.get("loo_prediction")

    @property
    def leverage(self) -> str | None:
        """The column of the leverage of each row in a linear fit."""
        return self.columns.get("leverage")

    @property
    def raw(self) -> bool:
        """Whether the model's score only ranks rows: no scale turns it into a probability."""
        return self.score is not None and self.scale is None

    def lacking(self, metrics: Iterable[MetricPlan]) -> tuple[MetricPlan, ...]:
        """Return those of the ``metrics`` that have no value for the model, as it does not give what they need."""
        return tuple(entry for entry in metrics if entry.lacking(self.gives) is not None)


def models_plan(spec: Spec) -> Mapping[str, ModelPlan]:
    """Return the models of a spec by name, in order; raises SpecError for a column in percent for only one of two."""
    models = {name: _model_plan(spec, name) for name in spec.models}
    for name, model in models.items():
        for other in models.values():
            twice = sorted(model.percents & ({*other.columns.values()} - other.percents))
            if twice and not model.has_own_files and not other.has_own_files:
                message = (f"the column '{twice[0]}' is in percent for the model '{name}', and is not for the model "
                           f"'{other.name}'")
                hint = "say the same of both, or give each a column of its own"
                raise SpecError(Problem("two-scales", message, spec.origin.place("models", name, "scale"), hint))
    return MappingProxyType(models)


def _model_plan(spec: Spec, name: str) -> ModelPlan:
    """Resolve a model of the spec, with defaults: its columns, what these give measures, its threshold and zones."""
    model = spec.models[name]
    columns_of_levels = level_columns(spec, model)
    percents = {*columns_of_levels.values(), *filter(None, [model.probability])} if model.scale == "percent" else ()
    return ModelPlan(
        name=name, label=model.label or name, columns=MappingProxyType(model_columns(spec, name)),
        level_columns=MappingProxyType(columns_of_levels), scores=model.scores is not None,
        list_column=model.list_column,
        order=tuple(level_text(level) for level in model.order or spec.outcome.levels or ()),
        percents=frozenset(percents), scale=_scale(spec, model), norm=model.norm,
        renormalise=model.renormalise, has_own_files=model.predictions is not None,
        step=None if model.step is None else model.step.column,
        shown_step=None if model.step is None else model.step.at,
        draw_count_column=None if model.optimism is None else model.optimism.drawn,
        gives=spec.gives(model), threshold=threshold_plan(spec, name), zone=zone_plan(spec, model),
        variant_zone=probability_zone_plan(spec, model), characteristics=MappingProxyType(dict(model.characteristics)),
        former_name=model.was,
    )


def _scale(spec: Spec, model: Model) -> Literal["logit", "margin"] | None:
    """Return how the score of the event becomes a probability; None where it does not.

    Of raw scores of both levels the difference is the log odds.
    """
    if spec.task == "binary" and model.scores is not None:
        return "logit"
    return None if model.scale == "percent" else model.scale


Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class StreamingPlan:
    """How rows are read: ``batch`` of them at once in each of some ``threads``, or all into memory; and the ``reason``.

    ``batch`` and ``threads`` are None for all. ``all_scores`` says that of rows that are read part by part every score
    is kept, with its outcome and slices: then the values of all measures are exact, and what parts come to is not kept
    for later runs.
    """

    reason: Sentence
    batch: int | None = None
    all_scores: bool = False
    threads: int | None = None

    @property
    def streamed(self) -> bool:
        """Whether rows are read part by part."""
        return self.batch is not None

    @property
    def kept_for_later(self) -> bool:
        """Whether what parts come to is kept for later runs: with every score it would be as large as the rows."""
        return self.streamed and not self.all_scores


IN_MEMORY = StreamingPlan(sentence("nothing-in-parts"))


@dataclass(frozen=True, slots=True)
class Plan:
    """All decisions about an evaluation. Options that the spec leaves out are None, or empty.

    ``interval_method`` is "auto", "none" or the name of the method that the spec requests; ``level`` the confidence
    level of every interval. ``mode`` says whether replicates draw rows or cells of a grid, ``complete_case`` whether
    rows that lack a prediction are left out. ``places`` has the line of each key of the spec, for errors of data.
    ``importance`` says that rows weigh unequally, by ``weight`` or as they were chosen for their outcome.
    ``permutations`` is the number of random pairings behind values without information, 0 where none are requested.
    ``memory`` are the bytes that a run may take, None for any.
    ``behind`` are measures that disparities are computed from and that are not listed themselves, ``diagnosed`` are
    measures of all rows only that findings rest on; the measures of goals, gates and the trend are among ``metrics``.
    ``bins`` is the interval method of the event rate in the bins of a reliability diagram, ``calibration`` the settings
    of such figures; ``banded`` says that bands are drawn about curves, ``profit_drawn`` that limits of the profit are;
    ``marks`` are the thresholds that are marked on curves, ``gain_groups`` the groups of a gain table; ``residuals``
    are the figures of residuals of probabilities, and those of numbers beyond the standard ones.
    ``goal_measures`` are those that goals of desirability judge, in their order; ``ranked`` says that there are goals.
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
    importance: bool
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
    goal_measures: tuple[MetricPlan, ...]
    ranked: bool
    parts: Mapping[Callable[..., object], Any]
    streaming: StreamingPlan = IN_MEMORY

    @property
    def entries(self) -> tuple[MetricPlan, ...]:
        """The metrics, and after them the measures that only disparities and findings are computed from."""
        return (*self.metrics, *self.behind, *self.diagnosed)

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
        return self.ranked or (compare is not None and (
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
        """Estimated work: rows x replicates x models to be summed up; None where the number of rows is unknown.

        Of rows that are read part by part replicates draw cells, so that each row is summed up once for each
        model.
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


class EdgesPlan(NamedTuple):
    """Where cells of probabilities must end: at edges of ``bins`` of equal width, of ``digits``, and ``thresholds``.

    ``bins`` are numbers of bins, ``digits`` the decimals that probabilities are rounded to.
    """

    bins: tuple[int, ...]
    digits: tuple[int, ...]
    thresholds: tuple[float, ...]


def edges_of(plan: Plan) -> EdgesPlan:
    """Return the bins, digits and thresholds that a plan uses: no cell of the grid may lie on both sides of an edge."""
    measures = [*plan.entries, *plan.goal_measures]
    leaves = [leaf for entry in measures for leaf in entry.leaves]
    bins = {int(leaf.params["bins"]) for leaf in leaves if "bins" in leaf.params} | {plan.calibration.settings.bins}
    digits = {int(leaf.params["digits"]) for leaf in leaves if "digits" in leaf.params}
    of_measures = [leaf.params["threshold"] for leaf in leaves if isinstance(leaf.params.get("threshold"), float)]
    of_models = [model.threshold.number for model in plan.models.values() if model.threshold.number is not None]
    return EdgesPlan(tuple(sorted(bins)), tuple(sorted(digits)), (*of_measures, *of_models, *plan.marks))


ROWS = 16_384
"""The most rows that are drawn one by one, unless the spec asks for it: of more, a draw of cells costs less."""

COMPARED = 65_536
"""The most where models of a binary outcome are compared: joint cells tell less of two models than cells of one."""

GROUPS = 1024
"""The most clusters that are drawn each by itself where rows are read part by part, and the groups of more of them."""


def group_error(groups: int) -> float:
    """Return the relative standard error of a variance estimated from random groups: Wolter (2007), chapter 2."""
    return math.sqrt(2 / (groups - 1))


def groups_reason(clusters: int, groups: int) -> Sentence:
    """Return the sentence why clusters were drawn in groups, with the error that this adds."""
    return sentence("groups", clusters=clusters, most=GROUPS, groups=groups, error=100 * group_error(groups))


@dataclass(frozen=True, slots=True)
class DrawingPlan:
    """What replicates draw: nothing, rows, whole clusters, or cells of like rows; "auto" leaves it to the rows.

    ``reason`` says why; ``refused`` that the spec asks for a grid that these data cannot be put on.
    """

    mode: Literal["none", "rows", "clusters", "cells", "auto"]
    reason: Sentence
    refused: bool = False

    @property
    def words(self) -> str:
        """The sentence that tells a reader what is drawn."""
        if self.mode == "none":
            return f"no replicates are drawn: {self.reason}"
        if self.mode == "auto":
            return f"replicates draw rows, up to {self.reason}; of more, cells of like rows (engine.mode is auto)"
        drawn = {"rows": "rows", "clusters": "whole clusters", "cells": "cells of like rows"}[self.mode]
        grid = ", although engine.mode is grid" if self.refused else ""
        return f"replicates draw {drawn}{grid}: {self.reason}"


def cell_obstacle(
    *, clusters: bool, importance: bool, exposure: bool, levels: bool, left_out: bool, items: bool
) -> Sentence | None:
    """Return why rows cannot be joined in cells, by the first circumstance that is true; None where they can."""
    obstacles = {"whole-clusters": clusters, "unlike-weights": importance, "unlike-exposures": exposure,
                 "unlike-levels": levels, "unlike-left-out": left_out, "unlike-items": items}
    return next((sentence(code) for code, present in obstacles.items() if present), None)


def most_rows(plan: Plan) -> int:
    """Return the most rows of a dataset that are drawn one by one under `auto`."""
    compared = plan.task == "binary" and len(plan.models) > 1 and plan.compared
    return COMPARED if compared else ROWS


def drawing_plan(plan: Plan) -> DrawingPlan:
    """Return what bootstrap replicates of every dataset resample, as far as it is decided before the data are read.

    Clusters, where there are any, are resampled whole, whatever engine.mode asks for. Otherwise mode "exact" resamples
    rows, and "grid" cells of like rows, which costs less, unless some rows cannot share a cell. Without a mode the
    number of rows decides, hence "auto". Data that are read part by part cannot be resampled row by row.
    """
    if not (plan.banded or plan.profit_drawn or any(plan.draws(entry) for entry in plan.entries)):
        return DrawingPlan("none", sentence("no-interval"))
    models = plan.models.values()
    no_cells = cell_obstacle(
        clusters=plan.cluster is not None, importance=plan.importance, exposure=plan.exposure is not None,
        levels=plan.task in MANY and any(model.level_columns for model in models),
        left_out=any("loo_values" in model.gives for model in models), items=plan.task in SCORES)
    asks_for_grid = plan.mode == "grid"
    if plan.cluster is not None:
        grouped = sentence("groups-above", most=GROUPS, error=100 * group_error(GROUPS))
        return (DrawingPlan("clusters", grouped) if plan.streaming.streamed
                else DrawingPlan("clusters", sentence("whole-clusters"), refused=asks_for_grid))
    if plan.streaming.streamed:
        return DrawingPlan("cells", plan.streaming.reason)
    if plan.mode == "exact":
        return DrawingPlan("rows", sentence("mode-asked", mode="exact"))
    if no_cells is not None:
        return DrawingPlan("rows", no_cells, refused=asks_for_grid)
    auto = DrawingPlan("auto", sentence("up-to-rows", most=most_rows(plan)))
    return DrawingPlan("cells", sentence("mode-asked", mode="grid")) if asks_for_grid else auto
