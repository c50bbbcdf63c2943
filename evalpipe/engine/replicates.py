"""Bootstrap replicates of everything that needs them; one draw serves all metrics, models, slices and curves.

Each block of replicates has its own random stream, and batches of blocks share nothing, so threads change nothing.
"""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalpipe.base import constants
from evalpipe.chapters.costs.compute_campaign import Campaign
from evalpipe.engine.averages import values
from evalpipe.engine.curves.declare import drawn_heights
from evalpipe.engine.draws import draws_of, parts_of
from evalpipe.engine.judges import STEP, shares_of_judges, unseen_of
from evalpipe.engine.subsets import subsets, summaries_of
from evalpipe.intervals.bootstrap import FOLDS
from evalpipe.intervals.declare import registry
from evalpipe.intervals.resampling import BLOCK, HELD, block_counts, blocks, jackknife_counts, stream
from evalpipe.metrics.values import ratio
from evalpipe.plan.memory import threads_of
from evalpipe.statistics import Draws, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.engine.curves.declare import Heights
    from evalpipe.engine.draws import DrawnPart, Scope
    from evalpipe.engine.subsets import Subset
    from evalpipe.intervals.resampling import Design
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Draw

Key = tuple[str, int, int]
"""A model, the number of a subset, and the number of a metric in the plan."""

Block = tuple[int, int]
"""The number of a block, and how many replicates it has."""

KEPT = 31 * 2**20
"""Bytes of the largest array that the C library then keeps for use again, instead of returning it to the system."""

LIGHT = 16_384
"""Units up to which one thread draws the blocks in less time than several, which would wait for each other."""

TOGETHER = 2**21
"""Bytes of counts up to which blocks of few units are computed together, in less time than one after the other.

More take no less time, and what is computed of them many times their memory.
"""

NUMBER = 8
"""Bytes of a count that is not small."""

TIMES = 25
"""How often the observations are grouped anew for the standard error of the value, which scales its whole interval."""


class Alone(NamedTuple):
    """A measure without judges: its value, replicates [B], and the values with a group of rows left out [J], if any."""

    value: Floats
    replicates: Floats
    jackknife: Floats | None


@dataclass(frozen=True)
class Replicates:
    """The bootstrap replicates of one dataset.

    ``metrics[model, subset, i]`` are the replicates [B] of the plan's i-th metric, [B, K] where it is taken for each
    class; ``curves[model, name]`` the replicates of the heights of a curve [B, points], or of the event rates of
    reliability bins; where the interval method needs them, ``jackknife`` has the values with a group of rows left out
    [J], ``errors`` the standard error of each replicate [B], and ``error`` the standard error of the value itself;
    ``shift`` is the value of the rows less the value of their cells, which has been added to all replicates. The subset
    `all_rows_number` of a slicing is all rows, drawn together with its slices. ``draws`` are the records of what was
    drawn. ``exact`` are the values of measures on every score where rows are cells, which give them only nearly;
    ``on_rows`` the values of the measures that were drawn, where rows are held. Where judges label rows, measures
    and their replicates are with their labels, ``shares`` are the shares with which they take part in each measure, and
    ``alone`` are measures without them, of the rows with an outcome alone.
    """

    metrics: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    curves: Mapping[tuple[str, str], Floats] = field(default_factory=lambda: MappingProxyType({}))
    jackknife: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    errors: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    error: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    shift: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    draws: tuple[Draw, ...] = ()
    exact: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    on_rows: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    shares: Mapping[Key, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))
    alone: Mapping[Key, Alone] = field(default_factory=lambda: MappingProxyType({}))

    def value(self, key: Key, summary: Summary, entry: MetricPlan) -> Floats:
        """Return the value of a measure: the exact one, else that of the statistics."""
        model, subset, i = key
        key = model, max(subset, 0), i  # below 0 stand all rows
        value = self.exact.get(key, self.on_rows.get(key))
        return values(summary.with_judges(self.shares.get(key, summary.shares)), entry) if value is None else value

    @property
    def gridded(self) -> bool:
        """Whether replicates drew cells of similar rows, as of large data, instead of rows."""
        return any(draw.mode == "cells" for draw in self.draws)


@dataclass(frozen=True)
class _Resampling:
    """The parts of a dataset that are drawn, and the measures and curves that need replicates.

    ``measures`` are the numbers of measures in the plan; ``heights`` has the curves of each model, and the positions
    [points] at which their heights are taken. ``shares`` are those of judges, as in `Replicates`.
    """

    plan: Plan
    sample: Sample
    parts: Sequence[DrawnPart]
    measures: Sequence[int]
    heights: Mapping[str, Mapping[str, tuple[Heights, Floats]]]
    campaign: Campaign | None
    shares: Mapping[Key, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def batches(self, sizes: Sequence[int]) -> list[Sequence[Block]]:
        """Return the blocks of ``sizes`` in batches that are computed together, which changes no result."""
        replicate_bytes = sum(part.design.count_bytes * len(part.design.sizes) for part in self.parts)
        together = 1
        if self.light:
            together = TOGETHER // (BLOCK * replicate_bytes)
        elif replicate_bytes < NUMBER * self.units and not self.measures_with_errors:
            # Slices of few rows take less time the more replicates of them there are. Errors draw by batch.
            together = min(NUMBER * HELD // (BLOCK * replicate_bytes), -(-len(sizes) // (2 * threads_of(self.plan))))
        numbered, step = list(enumerate(sizes)), max(1, together)
        return [numbered[first : first + step] for first in range(0, len(numbered), step)]

    def batch(
        self, batch_blocks: Sequence[Block], counts: Iterable[Iterable[Wholes]] | None = None
    ) -> dict[Any, Floats]:
        """Return the replicates [scopes, b, …] of some blocks, by kind, and first scope and measure or curve.

        ``counts`` are how often each unit is drawn, as from the method `counts`, if these were drawn already.
        """
        replicates: dict[Any, list[Floats]] = defaultdict(list)
        priors = np.concatenate([self._priors(number, size) for number, size in batch_blocks])
        for part, batches in zip(self.parts, counts or self.counts(batch_blocks), strict=True):
            # A separate stream: the replicates are the same whether or not errors are computed.
            names = "folds", part.name, batch_blocks[0][0]
            fold_stream = stream(self.plan.seed, *names) if self.measures_with_errors else None
            first = 0
            for unit_counts in batches:
                scale, prior = self._scale(part.design, unit_counts), priors[first : first + len(unit_counts)]
                first += len(unit_counts)
                for scopes, chosen, summary in part.summaries(Draws(unit_counts)):
                    self._add(replicates, scopes, summary, None if scale is None else scale[chosen],
                              prior[chosen] if len(priors) else None)
                if fold_stream is not None:
                    for key, square in (
                            pair for row in unit_counts for pair in self._squared_errors(part, row, fold_stream)):
                        replicates["error", *key].append(np.sqrt(square)[None, None])
        return {key: np.concatenate(values, axis=1) for key, values in replicates.items()}

    def counts(self, batch_blocks: Sequence[Block]) -> Iterator[Iterable[Wholes]]:
        """Yield the counts [b, units] of some blocks for each part: of one block in batches, of several all at once."""
        for part in self.parts:
            drawn = chain.from_iterable([
                block_counts(part.design, number, size, self.plan.seed, part.name) for number, size in batch_blocks])
            # Of small counts as many bytes at once as of others.
            together = NUMBER // part.design.count_bytes if len(batch_blocks) == 1 else None
            yield _joined(drawn, together)

    def _priors(self, number: int, size: int) -> Floats:
        """Draw the prevalence of each replicate of a block, [size, K]; an empty array where it has no distribution."""
        prevalence = self.plan.prevalence
        dirichlet_parameters = None if prevalence is None else prevalence.parameters
        if dirichlet_parameters is None or not any(self.plan.entries[i].uncertain for i in self.measures):
            return np.empty(0)
        return stream(self.plan.seed, "prior", self.sample.dataset, number).dirichlet(dirichlet_parameters, size)

    def _scale(self, design: Design, counts: Wholes) -> Floats | None:
        """Return the weight of all rows over the weight drawn, [b]; None where draws do not vary in size.

        It scales measures that grow with the rows. All rows together count: how many are in a slice is left to chance,
        as it is in draws of a fixed size.
        """
        if not (design.poisson and any(self.plan.entries[i].metric.extensive for i in self.measures)):
            return None
        return ratio(design.weights(design.sizes[None]).sum(), design.weights(counts).sum(axis=-1))

    def _add(
        self, replicates: dict[Any, list[Floats]], scopes: Sequence[tuple[str, int]], summary: Summary,
        scale: Floats | None, prior: Floats | None,
    ) -> None:
        """Add the values of the measures in some scopes to ``replicates``, and the curves where a scope is all rows.

        Of each replicate, ``scale`` multiplies measures that grow with the rows, ``prior`` is the drawn prevalence.
        """
        shape = summary.weights.shape[:-1]
        scale = None if scale is None else np.broadcast_to(scale, shape)
        prior = None if prior is None else np.broadcast_to(prior, (*shape, prior.shape[-1]))
        model, subset = scopes[0]
        for i, of_scopes in self._values_of_scopes(self.measures, scopes, summary, prior, scale):
            replicates["metric", model, subset, i].append(of_scopes)
        if subset == 0:
            for name, (heights, positions) in self.heights[model].items():
                replicates["curve", model, name].append(heights.compute(summary, positions))
            if self.campaign is not None and self.sample.models[model].score is not None:
                replicates["curve", model, "profit"].append(self.campaign.profits(summary))

    def _values_of_scopes(
        self, measures: Sequence[int], scopes: Sequence[tuple[str, int]], summary: Summary, prior: Floats | None = None,
        scale: Floats | None = None,
    ) -> Iterator[tuple[int, Floats]]:
        """Yield the number of each of some measures and its values [scopes, …]; some measures are of all rows only."""
        model, subset = scopes[0]
        for i in measures:
            if subset == 0 or not self.plan.of_all_rows(i):
                judged = summary.with_judges(self.shares.get((model, subset, i), summary.shares))
                yield i, values(judged, self.plan.entries[i], prior, scale)

    def pilot_values(self, judges: int) -> dict[Key, tuple[Floats, Floats]]:
        """Return replicates of each measure without judges [B], and with each of them at the share `STEP` [judges, B].

        They are of a stream of their own, so that no share that is chosen by them follows the draws that it is for.
        """
        steps = [tuple(STEP * (judge == other) for other in range(judges)) for judge in range(judges)]
        drawn: dict[Key, list[list[Floats]]] = defaultdict(lambda: [[] for _ in range(judges + 1)])
        for part in self.parts:
            for number, size in enumerate(blocks(constants.PILOT)):
                for counts in block_counts(part.design, number, size, self.plan.seed, f"{part.name}/judges"):
                    for scopes, _, summary in part.summaries(Draws(counts)):
                        for place, shares in enumerate([summary.shares, *steps]):
                            judged = summary.with_judges(shares)
                            for key, value in self._values(self.measures, scopes, judged):
                                drawn[key][place].append(value)
        return {key: (np.concatenate(alone), np.stack([np.concatenate(step) for step in with_judges]))
                for key, (alone, *with_judges) in drawn.items()}

    def _values(
        self, measures: Sequence[int], scopes: Sequence[tuple[str, int]], summary: Summary
    ) -> Iterator[tuple[Key, Floats]]:
        """Yield the key and the value of each of some measures in each scope."""
        for i, of_scopes in self._values_of_scopes(measures, scopes, summary):
            for (model, subset), value in zip(scopes, of_scopes, strict=True):
                yield (model, subset, i), value

    def grid_values(self) -> Iterator[tuple[Key, Floats]]:
        """Yield the measures' values on the units as observed; if units are cells, those on rows are others."""
        for part in self.parts:
            for scopes, _, summary in part.summaries(Draws(part.design.sizes[None])):
                for key, value in self._values(self.measures, scopes, summary):
                    yield key, value[0]

    def jackknife_values(self) -> dict[Key, Floats]:
        """Return values without each group of units in turn, [J], by measure, where interval methods need them."""
        measures = self._measures_needing("jackknife")
        left_out: dict[Key, list[Floats]] = defaultdict(list)
        for part in self.parts if measures else ():
            generator = stream(self.plan.seed, "jackknife", part.name)
            for counts in jackknife_counts(part.design, generator):
                for scopes, _, summary in part.summaries(Draws(counts)):
                    for key, value in self._values(measures, scopes, summary):
                        left_out[key].append(value)
        return {key: np.concatenate(values) for key, values in left_out.items()}

    @property
    def light(self) -> bool:
        """Whether a block is so little work that several threads would gain nothing."""
        return not self.measures_with_errors and self.units <= LIGHT

    @cached_property
    def scopes(self) -> Mapping[Scope, Sequence[Scope]]:
        """The models and subsets that share a summary, by the first of them."""
        return {scopes[0]: scopes for part in self.parts for scopes in part.scopes}

    @property
    def units(self) -> int:
        """The number of resampling units of all parts."""
        return sum(len(part.design.sizes) for part in self.parts)

    @cached_property
    def measures_with_errors(self) -> tuple[int, ...]:
        """The numbers of the measures whose limits need the standard error of every replicate."""
        return self._measures_needing("errors")

    def _measures_needing(self, need: str) -> tuple[int, ...]:
        """Return the numbers of the measures whose interval method has this ``need``, such as "jackknife"."""
        return tuple(i for i in self.measures if need in registry[self.plan.entries[i].method].needs)

    def _squared_errors(
        self, part: DrawnPart, counts: Wholes, generator: np.random.Generator
    ) -> Iterator[tuple[Key, Floats]]:
        """Yield squared standard errors of measures under one draw [units], with `FOLDS` groups of it left out in turn.

        The jackknife of groups: Tukey (1958). What was drawn twice counts as two observations, each in its own group.
        """
        fold_values: dict[Key, list[Floats]] = defaultdict(list)
        for scopes, summary in part.without_folds(counts, generator, FOLDS):
            for key, value in self._values(self.measures_with_errors, scopes, summary):
                fold_values[key].append(value)
        for key, values_by_part in fold_values.items():
            values_without = np.concatenate(values_by_part)
            square = ((values_without - values_without.mean(axis=0)) ** 2).sum(axis=0)
            yield key, np.asarray((FOLDS - 1) / FOLDS * square)

    def value_errors(self) -> dict[Key, Floats]:
        """Return the standard errors of the values on all units, by measure, where interval methods need them."""
        squares_of: dict[Key, list[Floats]] = defaultdict(list)
        for part in self.parts if self.measures_with_errors else ():
            generator = stream(self.plan.seed, "folds", part.name)
            for _ in range(TIMES):
                for key, square in self._squared_errors(part, part.design.sizes, generator):
                    squares_of[key].append(square)
        return {key: np.sqrt(np.mean(squares, axis=0)) for key, squares in squares_of.items()}


def _joined(drawn: Iterator[Wholes], count: int | None) -> Iterator[Wholes]:
    """Yield ``count`` batches [b, units] after the other as one, or all of them for None."""
    while batches := list(islice(drawn, count)):
        yield np.concatenate(batches) if len(batches) > 1 else batches[0]


def draw(
    plan: Plan, sample: Sample, summaries: Mapping[tuple[str, int], Summary],
    divided: Sequence[Subset] | None = None, advance: Callable[[int], None] = lambda _: None, *, compared: bool = True,
    exact: Mapping[Key, Floats] = MappingProxyType({}), unseen: Mapping[Scope, float] = MappingProxyType({}),
) -> Replicates:
    """Draw the bootstrap replicates of a dataset: of all measures and curves of the plan that need some.

    ``summaries`` are the statistics of each model in each of the subsets ``divided``, by default the plan's, that
    is large enough. ``advance`` is called with the size of each batch that is done. ``compared`` says that models
    are compared, so that their differences need one draw. ``exact`` as in `Replicates`. ``unseen`` are, where judges
    label rows, what `unseen_errors` gives by model and subset.
    """
    divided = subsets(plan, sample) if divided is None else divided
    # Once an array as large as this was freed, glibc no longer asks the system for every batch of arrays anew: twice as
    # fast. It is never written to, so it takes no memory.
    np.empty(KEPT, np.uint8)
    resampling = _resampling(plan, sample, summaries, divided, compared=compared)
    if resampling is None:
        return Replicates(exact=exact)
    if sample.source is not None:
        bounds = {i: entry.metric.bounds(entry.of_class[0] if entry.of_class else entry.params)
                  for i, entry in enumerate(plan.entries)}
        pilot = resampling.pilot_values(int(sample.source.max()) // 2)
        resampling = replace(resampling, shares=shares_of_judges(pilot, unseen, bounds))
    known = Replicates(exact=exact, shares=resampling.shares)
    drawn: dict[Any, Floats] = {}
    sizes, first = blocks(plan.replicates), 0
    batches = resampling.batches(sizes)
    for batch_blocks, batch_values in zip(batches, _in_threads(resampling, batches), strict=True):
        last = first + sum(size for _, size in batch_blocks)
        for key, values_of_batch in batch_values.items():
            # Each in its place at once: lists that are joined at the end would take the memory twice.
            if key not in drawn:
                scope_count, _, *shape = values_of_batch.shape
                drawn[key] = np.empty((scope_count, sum(sizes), *shape), values_of_batch.dtype)
            drawn[key][:, first:last] = values_of_batch
        advance(last - first)
        first = last
    metrics = {
        (*scope, key[-1]): value for key, of_scopes in drawn.items() if key[0] == "metric"
        for scope, value in zip(resampling.scopes[key[1:3]], of_scopes, strict=True)}
    curves, errors = ({key[1:]: value[0] for key, value in drawn.items() if key[0] == kind}
                      for kind in ("curve", "error"))
    shift, on_rows = _shifts(resampling, summaries, known)
    jackknife = resampling.jackknife_values()
    return Replicates(
        {key: _shifted(plan, key, value, shift) for key, value in metrics.items()}, curves,
        {key: _shifted(plan, key, value, shift) for key, value in jackknife.items()},
        errors, resampling.value_errors(), shift, draws_of(plan, sample, resampling.parts), exact, on_rows,
        resampling.shares,
    )


def with_judges(
    plan: Plan, sample: Sample, replicates: Replicates, summaries: Mapping[tuple[str, int], Summary],
    advance: Callable[[int], None],
) -> Replicates:
    """Return the ``replicates`` of rows with an outcome, with measures and their replicates that judges take part in.

    ``sample`` and ``summaries``, its statistics, are of rows with an outcome; it has another with the labels of judges.
    """
    judged, known = sample.judged, subsets(plan, sample)
    assert judged is not None  # noqa: S101 - known to the caller
    divided = subsets(plan, judged)
    of_all = summaries_of(plan, judged, dict.fromkeys(judged.models, divided))
    unseen = {scope: unseen_of(summary, known[scope[1]].clusters, importance=plan.importance)
              for scope, summary in summaries.items()}
    measures_alone = replace(plan, banded=False, profit_drawn=False)
    powered = draw(measures_alone, judged, {scope: of_all[scope] for scope in summaries}, divided, advance,
                   compared=plan.compared, unseen=unseen)
    # Sums over rows are of all rows, so those of rows with an outcome are brought to their weight.
    scale = {scope: float(of_all[scope].weights.sum() / summary.weights.sum()) for scope, summary in summaries.items()}
    factors = {key: scale[key[:2]] if plan.entries[key[2]].metric.extensive else 1.0 for key in powered.shares}
    alone = {key: Alone(factor * replicates.on_rows[key], factor * replicates.metrics[key],
                        factor * replicates.jackknife[key] if key in replicates.jackknife else None)
             for key, factor in factors.items()}
    joined: dict[str, Any] = {
        name: MappingProxyType({**getattr(replicates, name), **getattr(powered, name)})
        for name in ("metrics", "jackknife", "errors", "error", "shift", "on_rows")}
    return replace(replicates, **joined, draws=powered.draws or replicates.draws, shares=powered.shares, alone=alone)


def _shifts(
    resampling: _Resampling, summaries: Mapping[tuple[str, int], Summary], known: Replicates
) -> tuple[dict[Key, Floats], dict[Key, Floats]]:
    """Return by how much values on the rows are above those on the units that were drawn, and the values on the rows.

    The large tables of each model, and the order of its rows, are forgotten before those of the next are computed.
    """
    shifts: dict[Key, Floats] = {}
    on_rows: dict[Key, Floats] = {}
    of_models: dict[str, list[tuple[Key, Floats]]] = defaultdict(list)
    for key, on_units in resampling.grid_values():
        of_models[key[0]].append((key, on_units))
    for model, of_model in of_models.items():
        for (_, subset, i), on_units in of_model:
            summary, entry = summaries[model, max(subset, 0)], resampling.plan.entries[i]
            value = known.value((model, subset, i), summary, entry)
            if not resampling.sample.streamed:  # cells of one model have other values than those of several
                on_rows[model, max(subset, 0), i] = value
            distance = np.nan_to_num(np.asarray(value - on_units))  # 0 where either is undefined
            shifts[model, subset, i] = np.where(np.abs(distance) > 1e-12 * np.abs(np.nan_to_num(value)), distance, 0.0)
        for (name, _), summary in summaries.items():
            if name == model:
                summary.forget()
    return shifts, on_rows


def _in_threads(resampling: _Resampling, batches: Sequence[Sequence[Block]]) -> Iterator[dict[Any, Floats]]:
    """Yield the replicates of each batch of blocks in order, computed in as many threads as the spec allows and as pay.

    Where batches are light, a second thread draws the counts of the next batch meanwhile.
    """
    workers = min(threads_of(resampling.plan), len(batches))
    if workers == 1:
        yield from map(resampling.batch, batches)
        return
    if not resampling.light or resampling.plan.workers != "auto":
        with ThreadPoolExecutor(workers) as pool:
            # `map` keeps the order of the batches, so that the number of threads changes no byte.
            yield from pool.map(resampling.batch, batches)
        return

    def counts(batch_blocks: Sequence[Block]) -> list[list[Wholes]]:
        return [list(next_counts) for next_counts in resampling.counts(batch_blocks)]

    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(counts, batches[0])
        for number, batch_blocks in enumerate(batches, 1):
            next_counts = pending.result()
            if number < len(batches):
                pending = pool.submit(counts, batches[number])
            yield resampling.batch(batch_blocks, next_counts)


def _resampling(
    plan: Plan, sample: Sample, summaries: Mapping[tuple[str, int], Summary], divided: Sequence[Subset], *,
    compared: bool,
) -> _Resampling | None:
    """Return the parts of a dataset to draw, with the measures and curves to draw for; None where there are none."""
    measures = [i for i, entry in enumerate(plan.entries) if plan.draws(entry) and (
        sample.source is None or entry.judged)]
    scored = [name for name, model in sample.models.items() if model.score is not None] * (sample.task == "binary")
    heights = {name: drawn_heights(plan.of_variant(predictions.variant), summaries[name, 0]) if name in scored else {}
               for name, predictions in sample.models.items()}
    campaign = Campaign.of(plan, sample) if plan.profit_drawn and scored else None
    if not measures and not any(heights.values()) and campaign is None:
        return None
    edges = {
        name: np.concatenate(positions) for name, curves in heights.items()
        if (positions := [curve_positions for height, curve_positions in curves.values() if height.divides_rows])}
    parts = parts_of(plan, sample, divided, list(summaries), edges, compared=compared)
    return _Resampling(plan, sample, parts, measures, heights, campaign)


def _shifted(plan: Plan, key: Key, drawn: Floats, shift: Mapping[Key, Floats]) -> Floats:
    """Return replicates plus the difference of the values on rows and on cells, within the measure's range."""
    if not np.any(shift[key]):
        return drawn
    entry = plan.entries[key[2]]
    return np.clip(drawn + shift[key], *entry.metric.bounds(entry.params))
