"""The result of step 3: validated arrays of one dataset, ready for statistics, and what its rows hold beyond the spec.

Of that, copies, groups, ids and rows of other datasets are counted; no value is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from evalpipe.arithmetic import expit, logit
from evalpipe.chapters.equivocal.compute import reportable_rows
from evalpipe.results import DatasetSummary, InputFile, Scalar, Warned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

    from evalpipe.base.arraytypes import Flags, Floats, Values, Wholes
    from evalpipe.calibration import Fitted
    from evalpipe.chapters.equivocal.plan import ZonePlan
    from evalpipe.statistics.ranked_lists import Queries
    from evalpipe.tasks import Task
    Cut = TypeVar("Cut", float, Floats)


FURTHER = "\0further "
"""The beginning of the names of columns that checks alone look at."""


@dataclass(frozen=True, slots=True)
class SharedRows:
    """How many rows of a dataset are like rows of another by the contents of columns that are no ids.

    Of ``rows`` rows, ``twins`` have one in the ``other``; ``repeated`` have one in their dataset, and so have
    ``other_repeated`` of the ``other_rows``.
    """

    other: str
    columns: tuple[str, ...]
    rows: int
    twins: int
    repeated: int
    other_rows: int
    other_repeated: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What the n rows of a sample hold beyond what the spec names.

    ``further`` columns were looked at, and ``unseen`` ones are too many. ``copies`` rows are the same as an earlier one
    in all ``compared`` columns, ids apart, and have measured numbers that no other row has. ``groups`` and ``ids`` are,
    by column, the number of each row's group or id, -1 where it has none. ``shared`` are the comparisons with other
    datasets.
    """

    further: int = 0
    unseen: int = 0
    compared: int = 0
    copies: int = 0
    groups: Mapping[str, Wholes] = field(default_factory=lambda: MappingProxyType({}))
    ids: Mapping[str, Wholes] = field(default_factory=lambda: MappingProxyType({}))
    shared: tuple[SharedRows, ...] = ()

    def at(self, index: Wholes) -> Contents:
        """Return what the rows at the positions ``index`` hold; copies among them are not counted."""
        groups, ids = (MappingProxyType({name: codes[index] for name, codes in columns.items()})
                       for columns in (self.groups, self.ids))
        return replace(self, copies=0, groups=groups, ids=ids)


@dataclass(frozen=True, slots=True)
class FurtherColumns:
    """What the columns of an evaluated dataset hold, row by row, before rows are sorted: ``series`` by name."""

    contents: Contents
    groups: tuple[str, ...]
    ids: tuple[str, ...]
    series: Mapping[str, pl.Series]

    def sorted(self, frame: pl.DataFrame, shared: tuple[SharedRows, ...]) -> Contents:
        """Return the `Contents` in the order of ``frame``, the sample's sorted table, which has ``series``."""
        def array(name: str) -> Wholes:
            return np.ascontiguousarray(frame[name].to_numpy())

        groups, ids = (MappingProxyType({name: array(f"\0code {name}") for name in names})
                       for names in (self.groups, self.ids))
        return replace(self.contents, groups=groups, ids=ids, shared=shared)


@dataclass(frozen=True, slots=True)
class Predictions:
    """One model's predictions for the n rows of a sample; fields are None where the model does not give them."""

    score: Floats | None = None
    """What ranks the rows, [n]: the probability where the model gives no score. Of K levels, the scores [n, K] that the
    softmax made the probabilities of."""
    probability: Floats | None = None
    """The probability of the event, [n], or of each of K levels, [n, K]."""
    predicted: Values | None = None
    """Whether each row is predicted as the event, the place of its predicted level, or its predicted number, [n]; None
    where no threshold makes classes of a score."""
    threshold: float | None = None
    """What made ``predicted``, as it is written: a probability where there is one. None for classes that were given;
    where the threshold was cross-fitted, that for later use."""
    tied: int = 0
    """Of K levels, the number of reportable rows whose highest probability several levels share."""
    left_out: Floats | None = None
    """The predicted numbers of models fitted without the row, [n]."""
    source: str | None = None
    """Of a variant, the name of the model that was recalibrated."""
    variant: str = "original"
    """What the variant is called."""
    folds: Wholes | None = None
    """Of a cross-fitted variant, the number of each row's fold, [n]."""
    fits: tuple[Fitted, ...] = ()
    """Of a cross-fitted variant, the recalibrator that was fitted outside each fold."""
    standardised: Floats | None = None
    """Of a cross-fitted variant of numbers, its predictions on a scale on which the fit of each fold gives all rows the
    mean 0 and the variance 1, [n]."""
    ranks: Floats | None = None
    """Of a cross-fitted variant, the place that the fit of a row's fold gives the row among all rows, [n] or [n, K]."""
    reportable: Flags | None = None
    """Whether each row is outside the equivocal ``zone`` and so has a class, [n]; None where no zone is declared."""
    zone: ZonePlan | None = None
    """The equivocal zone about the threshold."""
    cuts: Floats | None = None
    """Where the threshold was cross-fitted, the cut of the score that decided on each row, [n]."""
    log_odds: bool = False
    """Whether the score is the log odds of the probability (or what the softmax made it of), and not a rank alone."""
    cut: float | None = None
    """``threshold`` on the scale of the score: rows at or above it are predicted as events."""
    stated: Floats | None = None
    """The probability at the score, [n], where rows that share a score on a grid have probabilities of their own."""
    group: Wholes | None = None
    """Of cells that rows were counted into, the number of the group of each whose totals are known exactly, [n]."""
    remainders: Mapping[tuple[str, tuple[tuple[str, Any], ...]], Floats] | None = None
    """By statistic with its options, what its mean in each group is above that of the group's cells, [groups]."""
    ends: Floats | None = None
    """The least and the largest probability that rows of each cell may have, [n, 2]."""
    items: Mapping[str, Floats] | None = None
    """Of scores of items, what their epochs say beside the mean, which is ``predicted``: by kind, [n]."""
    queries: Queries | None = None
    """Of items that are queries, their ranked lists."""

    @property
    def source_scores(self) -> Floats | None:
        """The scores that probabilities were computed from, [n] or [n, K]; None if probabilities are given."""
        return self.score if self.log_odds else None

    def score_cutoff(self, threshold: float | None) -> float | None:
        """Return the cutoff of the score for a ``threshold``: its logit where scores are log odds, else itself.

        Near 0 and 1 scores round to one probability; comparing on the score keeps them apart.
        """
        if threshold is None or not self.log_odds:
            return threshold
        if not 0 < threshold < 1:
            return -math.inf if threshold <= 0 else math.inf
        return float(logit(threshold))

    def threshold_at(self, cut: Cut) -> Cut:
        """Return the threshold for a cutoff of the score, or an array: expit(cut) for log odds, else the cut."""
        return expit(cut) if self.log_odds else cut  # type: ignore[return-value]

    def classified(self, cuts: float | Floats | None, thresholds: float | Floats | None = None) -> Predictions:
        """Return the predictions with classes: the event where the score is at least ``cuts``, one number or [n].

        Rows in the equivocal zone about the threshold have no class. ``thresholds`` are the cuts on the scale of
        the probability where there is one; None to compute them from the cuts.
        """
        assert self.score is not None and cuts is not None  # noqa: S101, PT018 - known to the caller
        limits = self.threshold_at(np.asarray(cuts)) if thresholds is None else thresholds
        values = self.score if self.probability is None else self.probability
        reportable = None if self.zone is None else reportable_rows(self.zone, values, limits)
        # Log odds are compared themselves, for probabilities near 0 and 1 round to ties.
        predicted = self.score >= cuts if self.log_odds or thresholds is None else values >= limits
        return replace(self, predicted=predicted, reportable=reportable)

    def classified_by_highest(self) -> Predictions:
        """Return the predictions with the level of the highest score or probability as class; count tied rows.

        Rows in the equivocal zone have no class, so a tie there decides nothing.
        """
        assert self.probability is not None  # noqa: S101 - known to the caller
        highest = self.probability if self.score is None else self.score
        reportable = None if self.zone is None else reportable_rows(self.zone, self.probability)
        reported = highest if reportable is None else highest[reportable]
        tied = int(((reported == reported.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())
        return replace(self, predicted=highest.argmax(axis=1), tied=tied, reportable=reportable)


@dataclass(frozen=True, slots=True)
class Refit:
    """Another fit of a model: the path shown for its file of predictions, and the predictions."""

    file: str
    predictions: Predictions


@dataclass(frozen=True, slots=True)
class BootstrapFit:
    """A fit of a model to a bootstrap sample of the rows: its file, and its predictions for all rows.

    ``drawn`` [n] is how often each row was drawn into the sample.
    """

    file: str
    predictions: Predictions
    drawn: Floats


@dataclass(frozen=True, slots=True)
class SlicedRows:
    """One way to slice the rows of a sample.

    ``title`` names it, as in "season × habitat"; ``labels`` has for each slice its label by column, such as
    {"season": "a", "habitat": "d"}, in ascending order, for a condition {name: "true"}; ``codes`` [n] is the number of
    each row's slice, from 0, or -1 for rows in no slice. All intervals of a number that is cut, and the slice of a
    condition, are there even without rows; of combinations only those that occur.
    """

    title: str
    labels: tuple[Mapping[str, str], ...]
    codes: Wholes


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """A column to plot residuals against: its numbers [n], or indices of its ``levels``; NaN where missing."""

    levels: tuple[str, ...]
    values: Floats


@dataclass(frozen=True, slots=True)
class ShownStep:
    """The training steps of a model: the number of the ``shown`` one, whose predictions the sample has, and others.

    ``others`` are samples by step: the same rows, sorted anew, with the model's predictions at that step alone.
    """

    shown: int
    others: Mapping[int, Sample]


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Which rows have an outcome, what judges say of every row, and how rows were chosen for their outcome.

    ``known`` [n] flags the rows with an outcome; the truth of others says nothing. ``judges`` are, by name, the share
    of the event in a judge's label of each row, [n]. ``probability`` [n] is that of being chosen, None where it is the
    share of the rows with an outcome in a ``stratum`` [n], of which there is one where all rows had the same chance.
    Of late outcomes ``settled`` [n] flags the rows whose outcome is not waited for, and ``delay`` [n] are the days that
    it took to become known; None where all outcomes count.
    """

    known: Flags
    judges: Mapping[str, Floats]
    probability: Floats | None
    stratum: Wholes
    settled: Flags | None = None
    delay: Floats | None = None

    def at(self, index: Wholes) -> KnownRows:
        """Return what is known of the rows at the positions ``index`` [k], in this order."""
        def rows_of(values: Any) -> Any:
            return None if values is None else values[index]

        judges = MappingProxyType({name: labels[index] for name, labels in self.judges.items()})
        return KnownRows(self.known[index], judges, rows_of(self.probability), self.stratum[index],
                         rows_of(self.settled), rows_of(self.delay))


@dataclass(frozen=True, slots=True)
class Units:
    """What is drawn together: the unit of each row, ``of_row`` [n], and which units have a row with an outcome [units].

    Clusters are drawn together, and rows within each ``stratum`` [units]: those with an outcome, numbered from 0, and
    after these, the others, in the same order. ``rows_of_stratum`` [strata] are the rows of the dataset in each, with
    an outcome or without: how many of it are drawn varies as it does among all.
    """

    of_row: Wholes
    has_outcome: Flags
    stratum: Wholes
    rows_of_stratum: Wholes


@dataclass(frozen=True)
class ClusterCounts:
    """Counts of observations by cluster and coarse cell, where rows are fine cells of a dataset too large for memory.

    ``coarse_cell`` [n] is that of each row, ``weight`` [n] its weight. ``cells``, ``clusters`` and
    ``counts``, all [m], are the coarse cell, the cluster (from 0) and the observations of each pair that has any. Each
    of the ``units`` clusters may be a random group of clusters; ``known`` is the number of clusters, then an estimate.
    """

    coarse_cell: Wholes
    weight: Floats
    cells: Wholes
    clusters: Wholes
    counts: Wholes
    units: int
    known: int

    @cached_property
    def sizes(self) -> Floats:
        """The total weight of the rows in each coarse cell, [cells], above zero."""
        return np.asarray(np.bincount(self.coarse_cell, self.weight), float)

    def inside(self, rows: Wholes | None) -> int:
        """Return the number of clusters with observations in ``rows``, indices of rows; None for all rows."""
        if rows is None:
            return self.units
        chosen = np.zeros(len(self.sizes), bool)
        chosen[self.coarse_cell[rows]] = True
        return len(np.unique(self.clusters[chosen[self.cells]]))

    def of_each(self, rows: Wholes | None) -> Iterator[Wholes]:
        """Yield for each cluster (or group) the indices into ``rows``, or of all rows, of those that may be of it.

        Clusters are counted by coarse cell, so these are all rows of the coarse cells that it has observations in.
        """
        coarse_cells = self.coarse_cell if rows is None else self.coarse_cell[rows]
        for cluster in range(self.units):
            occupied = np.zeros(len(self.sizes), bool)
            occupied[self.cells[self.clusters == cluster]] = True
            positions = np.flatnonzero(occupied[coarse_cells])
            if len(positions):
                yield positions

    def totals(self, values: Floats) -> Floats:
        """Return the weighted total of values of rows [n] in each cluster, [units].

        The rows of a coarse cell are taken to spread over it alike in every cluster.
        """
        mean = self.mean(values)[self.cells]
        return np.asarray(np.bincount(self.clusters, self.counts * mean, self.units), float)

    def mean(self, values: Floats) -> Floats:
        """Return the weighted mean of ``values`` [n], one of each row, in each coarse cell, [cells]."""
        return np.asarray(np.bincount(self.coarse_cell, self.weight * values) / self.sizes)


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of one dataset in canonical order: sorted by their values, so the order in the files changes nothing.

    ``levels`` are the outcome's levels in order, the event of a binary one first; none of a number. ``truth`` [n] are
    flags of the event, indices of levels, or numbers; ``weight`` [n] the case weights, all above zero, or None;
    ``models`` the predictions by the name of the model or variant; ``baseline`` the mean outcome of the reference
    datasets, where it is a number and they have it; ``cluster`` [n] the number of each row's cluster from 0, or None;
    ``slicings`` the ways to slice the rows, and ``searched`` the slicings by single columns among which the worst
    slices are searched. ``exposure`` [n] is the amount in which each count was counted, or None: predictions are
    expected counts in it, and ``baseline`` is the rate per unit of it. ``ids`` [n] name the rows in the row-level file;
    None where none is written. ``steps`` are, by model, its training steps, ``refits`` its other fits, ``bootstrap``
    its fits to bootstrap samples. ``folds`` are the folds of resampling as a slicing; None where no column has them.
    ``parts`` are the samples of cells of a dataset too large for memory, see `of`; ``by_cluster`` are the counts of its
    clusters by cell, if any: ``cluster`` is None then. ``row_columns`` are the columns to plot residuals against, by
    name; ``contents`` what the rows hold beyond what the spec names, None of rows that are not evaluated. ``scored``
    are, by model and slicing (None for no slicing), samples with a row for every distinct score, where ``parts`` has
    cells and scores were kept. ``leaks`` are, by dataset of texts, items that are there, "same" or by a "run" of words,
    and those with "no text". ``known`` says which rows have an outcome, None where all have. ``judged`` are the same
    rows with the labels that judges give to all rows of the dataset: ``source`` [n] says there whose label the truth of
    a row is, see `combined_weights`. ``units`` say what is drawn together, where it is neither a row by itself nor a
    cluster of ``cluster``.
    """

    dataset: str
    role: Literal["evaluate", "calibrate", "reference"]
    task: Task
    levels: tuple[str, ...]
    truth: Values
    weight: Floats | None
    weight_kind: Literal["frequency", "importance"] | None
    summary: DatasetSummary
    files: tuple[InputFile, ...]
    models: Mapping[str, Predictions] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[Warned, ...] = ()
    baseline: float | None = None
    cluster: Values | None = None
    slicings: tuple[SlicedRows, ...] = ()
    searched: tuple[SlicedRows, ...] = ()
    exposure: Floats | None = None
    ids: pl.Series | None = None
    steps: Mapping[str, ShownStep] = field(default_factory=lambda: MappingProxyType({}))
    refits: Mapping[str, tuple[Refit, ...]] = field(default_factory=lambda: MappingProxyType({}))
    bootstrap: Mapping[str, tuple[BootstrapFit, ...]] = field(default_factory=lambda: MappingProxyType({}))
    parts: Mapping[tuple[str | None, int | None], Sample] = field(default_factory=lambda: MappingProxyType({}))
    by_cluster: ClusterCounts | None = None
    folds: SlicedRows | None = None
    row_columns: Mapping[str, ColumnValues] = field(default_factory=lambda: MappingProxyType({}))
    contents: Contents | None = None
    scored: Mapping[tuple[str | None, int | None], Sample] = field(default_factory=lambda: MappingProxyType({}))
    leaks: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    known: KnownRows | None = None
    source: Wholes | None = None
    units: Units | None = None
    judged: Sample | None = None

    @property
    def streamed(self) -> bool:
        """Whether the rows are cells that observations were counted in, because the data are read part by part."""
        return bool(self.parts)

    def of(self, model: str | None = None, slicing: int | None = None) -> Sample:
        """Return the sample for statistics of a model and slicing: this one, where the rows are in memory.

        Else the part with the cells of that model's scores, or the coarser joint cells of all models (None); with
        the slice numbers of that slicing, or of none (None).
        """
        predictions = None if model is None else self.models.get(model)
        return self.parts.get((model if predictions is None else predictions.source or model, slicing), self)

    def at(self, index: Wholes) -> Sample:
        """Return the sample of the rows at the positions ``index`` [k], in this order; its summary stays.

        Training steps and further fits are left out.
        """
        def rows_of(values: Any) -> Any:
            return values[index] if isinstance(values, np.ndarray) and len(values) == self.n else values

        def slicing_of(rows: SlicedRows) -> SlicedRows:
            return replace(rows, codes=rows.codes[index])

        models = {name: replace(model, **{part.name: rows_of(getattr(model, part.name)) for part in fields(model)})
                  for name, model in self.models.items()}
        columns = {name: replace(column, values=column.values[index]) for name, column in self.row_columns.items()}
        return replace(
            self, truth=self.truth[index], weight=rows_of(self.weight), models=MappingProxyType(models),
            cluster=rows_of(self.cluster), slicings=tuple(map(slicing_of, self.slicings)),
            searched=tuple(map(slicing_of, self.searched)), exposure=rows_of(self.exposure),
            ids=None if self.ids is None else self.ids[index], steps=MappingProxyType({}),
            refits=MappingProxyType({}), bootstrap=MappingProxyType({}),
            folds=None if self.folds is None else slicing_of(self.folds), row_columns=MappingProxyType(columns),
            contents=None if self.contents is None else self.contents.at(index), known=None)

    def changed(self, name: str, change: Callable[[Predictions], Predictions]) -> Sample:
        """Return the sample, and its parts, with a model's predictions replaced by ``change`` of them."""
        models = {**self.models, name: change(self.models[name])}
        parts = {key: part.changed(name, change) if name in part.models else part for key, part in self.parts.items()}
        return replace(self, models=MappingProxyType(models), parts=MappingProxyType(parts))

    def named(self, name: str) -> dict[str, str]:
        """Return {"model": …, "variant": …} of an entry of ``models``, given its name."""
        return {"model": self.models[name].source or name, "variant": self.models[name].variant}

    @property
    def slices(self) -> list[dict[str, str]]:
        """The labels of every slice."""
        return [dict(labels) for slicing in self.slicings for labels in slicing.labels]

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.truth)

    @property
    def weights(self) -> Floats:
        """The weight of each row [n]: 1 where there are no case weights."""
        return np.ones(self.n) if self.weight is None else self.weight

    @property
    def observations(self) -> Wholes:
        """The number of observations that each row stands for, [n]: its frequency weight, or 1."""
        return self.observations_at(None)

    def observations_at(self, rows: Wholes | None) -> Wholes:
        """Return the number of observations that each row at the positions ``rows`` [k] stands for; of all for None."""
        if self.weight is None or self.weight_kind != "frequency":
            return np.ones(self.n if rows is None else len(rows), np.intp)
        return (self.weight if rows is None else self.weight[rows]).astype(np.intp)


@dataclass(frozen=True, slots=True)
class CandidateRows:
    """n candidates in the order of their ids, with the values of k goals; None where a value is missing.

    ``std_err`` are standard errors [n, k], NaN where there is none; ``files`` those that were read.
    """

    ids: tuple[Mapping[str, Scalar | None], ...]
    values: tuple[tuple[Scalar | None, ...], ...]
    std_err: Floats
    files: tuple[InputFile, ...]
