"""Bootstrap replicates of everything that needs them; one draw serves all metrics, models, slices and curves.

Each block of replicates has its own random stream, and batches of blocks share nothing, so threads change nothing.
"""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.chapters.costs.compute_campaign import Campaign
from evalpipe.engine.averages import values
from evalpipe.engine.curves.declare import drawn_heights
from evalpipe.engine.draws import draws_of, parts_of
from evalpipe.engine.subsets import subsets
from evalpipe.intervals.bootstrap import FOLDS
from evalpipe.intervals.declare import registry
from evalpipe.intervals.resampling import BLOCK, block_counts, blocks, jackknife_counts, stream
from evalpipe.metrics.values import ratio
from evalpipe.plan.memory import workers_of
from evalpipe.statistics import Draws, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.engine.curves.declare import Heights
    from evalpipe.engine.draws import DrawnPart
    from evalpipe.engine.subsets import Subset
    from evalpipe.intervals.resampling import Design
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

TOGETHER = 2**20
"""Counts up to which blocks of few units are computed together, which takes less time than one after the other."""

TIMES = 25
"""How often the observations are grouped anew for the standard error of the value, which scales its whole interval."""


@dataclass(frozen=True)
class Replicates:
    """The replicates of one dataset.

    ``metrics[model, subset, i]`` are those [B] of the plan's i-th metric, [B, K] where it is taken for each class;
    ``curves[model, name]`` those of the heights of a curve [B, points], or of the event rates of reliability bins;
    where the interval method needs them, ``jackknife`` the values with a group of rows left out [J], ``errors`` the
    standard error of each replicate [B], and ``error`` that of the value itself; ``shift`` by how much the values of
    the grid were moved to those of the rows: all replicates have been moved so. The subset `beside` a slicing is all
    rows, drawn together with its slices. ``draws`` are the records of what was drawn.
    """

    metrics: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    curves: Mapping[tuple[str, str], Floats] = field(default_factory=lambda: MappingProxyType({}))
    jackknife: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    errors: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    error: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    shift: Mapping[Key, Floats] = field(default_factory=lambda: MappingProxyType({}))
    draws: tuple[Draw, ...] = ()

    @property
    def gridded(self) -> bool:
        """Whether cells of like rows were drawn, and not rows."""
        return any(draw.mode == "cells" for draw in self.draws)


@dataclass(frozen=True)
class _Resampling:
    """The parts of a dataset that are drawn, and of what replicates are wanted.

    ``wanted`` are the numbers of the measures in the plan, ``heights`` the curves of each model with their places.
    """

    plan: Plan
    sample: Sample
    parts: Sequence[DrawnPart]
    wanted: Sequence[int]
    heights: Mapping[str, Mapping[str, tuple[Heights, Floats]]]
    campaign: Campaign | None

    def batches(self, sizes: Sequence[int]) -> list[Sequence[Block]]:
        """Return the blocks of these sizes in batches that are computed together, whatever the number of threads."""
        several = max(1, TOGETHER // (BLOCK * self.units)) if self.light else 1
        numbered = list(enumerate(sizes))
        return [numbered[first : first + several] for first in range(0, len(numbered), several)]

    def batch(
        self, several: Sequence[Block], counts: Iterable[Iterable[Wholes]] | None = None
    ) -> dict[Any, Floats]:
        """Return the replicates of some blocks by key; ``counts`` are those of `counts`, if they are drawn already."""
        replicates: dict[Any, list[Floats]] = defaultdict(list)
        priors = np.concatenate([self._priors(number, size) for number, size in several])
        for part, batches in zip(self.parts, counts or self.counts(several), strict=True):
            # A stream of its own: the replicates are the same whether or not errors are asked for.
            folds = stream(self.plan.seed, "folds", part.name, several[0][0]) if self.with_errors else None
            first = 0
            for drawn in batches:
                scale, prior = self._scale(part.design, drawn), priors[first : first + len(drawn)]
                first += len(drawn)
                for scopes, chosen, summary in part.summaries(Draws(drawn)):
                    self._add(replicates, scopes, summary, None if scale is None else scale[chosen],
                              prior[chosen] if len(priors) else None)
                if folds is not None:
                    for key, square in (pair for row in drawn for pair in self._squared_errors(part, row, folds)):
                        replicates["error", *key].append(np.sqrt(square)[None])
        return {key: np.concatenate(values) for key, values in replicates.items()}

    def counts(self, several: Sequence[Block]) -> Iterator[Iterable[Wholes]]:
        """Yield the counts of some blocks for each part: of one in batches that memory holds, of more all together."""
        for part in self.parts:
            drawn = chain.from_iterable([
                block_counts(part.design, number, size, self.plan.seed, part.name) for number, size in several])
            yield drawn if len(several) == 1 else [np.concatenate(list(drawn))]

    def _priors(self, number: int, size: int) -> Floats:
        """Draw the prevalence of each replicate of a block, [size, K], where its distribution is declared; else [0]."""
        declared = self.plan.prevalence
        shape = None if declared is None else declared.parameters
        if shape is None or not any(self.plan.entries[i].uncertain for i in self.wanted):
            return np.empty(0)
        return stream(self.plan.seed, "prior", self.sample.dataset, number).dirichlet(shape, size)

    def _scale(self, design: Design, counts: Wholes) -> Floats | None:
        """Return all rows over the rows drawn [b], for measures that grow with them, where draws vary in size.

        It is of all rows together: how many are in a slice is left to chance, as it is in draws of a fixed size.
        """
        if not (design.poisson and any(self.plan.entries[i].metric.extensive for i in self.wanted)):
            return None
        return ratio(design.weights(design.sizes[None]).sum(), design.weights(counts).sum(axis=-1))

    def _add(
        self, replicates: dict[Any, list[Floats]], scopes: Sequence[tuple[str, int]], summary: Summary,
        scale: Floats | None, prior: Floats | None,
    ) -> None:
        """Add the values of the measures in some scopes, and of curves where one is all rows."""
        shape = summary.weights.shape[:-1]
        scale = None if scale is None else np.broadcast_to(scale, shape)
        prior = None if prior is None else np.broadcast_to(prior, (*shape, prior.shape[-1]))
        for key, drawn in self._values(self.wanted, scopes, summary, prior, scale):
            replicates["metric", *key].append(drawn)
        model, subset = scopes[0]
        if subset == 0:
            for name, (heights, places) in self.heights[model].items():
                replicates["curve", model, name].append(heights.at(summary, places)[0])
            if self.campaign is not None and self.sample.models[model].score is not None:
                replicates["curve", model, "profit"].append(self.campaign.profits(summary)[0])

    def _values(
        self, wanted: Sequence[int], scopes: Sequence[tuple[str, int]], summary: Summary, prior: Floats | None = None,
        scale: Floats | None = None,
    ) -> Iterator[tuple[Key, Floats]]:
        """Yield the value of each wanted measure in each scope; in slices, not of measures of all rows alone."""
        for i in wanted:
            if scopes[0][1] == 0 or not self.plan.of_all_rows(i):
                of_scopes = values(summary, self.plan.entries[i], prior, scale)
                for (model, subset), value in zip(scopes, of_scopes, strict=True):
                    yield (model, subset, i), value

    def grid_values(self) -> Iterator[tuple[Key, Floats]]:
        """Yield the values of the measures from the units that are drawn, as they were observed."""
        for part in self.parts:
            for scopes, _, summary in part.summaries(Draws(part.design.sizes[None])):
                for key, value in self._values(self.wanted, scopes, summary):
                    yield key, value[0]

    def jackknife_values(self) -> dict[Key, Floats]:
        """Return the values with each group of units left out in turn, of the measures whose limits need them."""
        wanted = self._needing("jackknife")
        left_out: dict[Key, list[Floats]] = defaultdict(list)
        for part in self.parts if wanted else ():
            generator = stream(self.plan.seed, "jackknife", part.name)
            for counts in jackknife_counts(part.design, generator):
                for scopes, _, summary in part.summaries(Draws(counts)):
                    for key, value in self._values(wanted, scopes, summary):
                        left_out[key].append(value)
        return {key: np.concatenate(values) for key, values in left_out.items()}

    @property
    def light(self) -> bool:
        """Whether a block is so little work that one thread needs no more time for all than several do."""
        return not self.with_errors and self.units <= LIGHT

    @property
    def units(self) -> int:
        """How many units are drawn in all."""
        return sum(len(part.design.sizes) for part in self.parts)

    @cached_property
    def with_errors(self) -> tuple[int, ...]:
        """The numbers of the measures whose limits need the standard error of every replicate."""
        return self._needing("errors")

    def _needing(self, what: str) -> tuple[int, ...]:
        """Return the numbers of the measures whose interval method needs this."""
        return tuple(i for i in self.wanted if what in registry[self.plan.entries[i].method].needs)

    def _squared_errors(
        self, part: DrawnPart, counts: Wholes, generator: np.random.Generator
    ) -> Iterator[tuple[Key, Floats]]:
        """Yield the squared standard errors under one draw [units], leaving out `FOLDS` groups of it in turn.

        The jackknife of groups: Tukey (1958). What was drawn twice counts as two observations, each in its own group.
        """
        fold_values: dict[Key, list[Floats]] = defaultdict(list)
        for scopes, summary in part.without_folds(counts, generator, FOLDS):
            for key, value in self._values(self.with_errors, scopes, summary):
                fold_values[key].append(value)
        for key, several in fold_values.items():
            without = np.concatenate(several)
            square = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
            yield key, np.asarray((FOLDS - 1) / FOLDS * square)

    def value_errors(self) -> dict[Key, Floats]:
        """Return the standard errors of the values themselves, of the measures whose limits need them."""
        squares_of: dict[Key, list[Floats]] = defaultdict(list)
        for part in self.parts if self.with_errors else ():
            generator = stream(self.plan.seed, "folds", part.name)
            for _ in range(TIMES):
                for key, square in self._squared_errors(part, part.design.sizes, generator):
                    squares_of[key].append(square)
        return {key: np.sqrt(np.mean(squares, axis=0)) for key, squares in squares_of.items()}


def draw(
    plan: Plan, sample: Sample, summaries: Mapping[tuple[str, int], Summary],
    divided: Sequence[Subset] | None = None, advance: Callable[[int], None] = lambda _: None, *, together: bool = True,
) -> Replicates:
    """Draw the replicates that the plan asks for.

    ``summaries`` are those of each model in each of the subsets ``divided``, by default the plan's, that is large
    enough; ``advance`` is told the size of each batch that is done; ``together`` says that models are compared, so that
    their differences need one draw.
    """
    divided = subsets(plan, sample) if divided is None else divided
    # Once an array as large as this was freed, glibc no longer asks the system for every batch of arrays anew: twice as
    # fast. It is never written to, so it takes no memory.
    np.empty(KEPT, np.uint8)
    resampling = _resampling(plan, sample, summaries, divided, together=together)
    if resampling is None:
        return Replicates()
    drawn: dict[Any, Floats] = {}
    sizes, first = blocks(plan.replicates), 0
    batches = resampling.batches(sizes)
    for several, batch in zip(batches, _in_threads(resampling, batches), strict=True):
        last = first + sum(size for _, size in several)
        for key, values_of_batch in batch.items():
            # Each in its place at once: lists that are joined at the end would take the memory twice.
            if key not in drawn:
                drawn[key] = np.empty((sum(sizes), *values_of_batch.shape[1:]), values_of_batch.dtype)
            drawn[key][first:last] = values_of_batch
        advance(last - first)
        first = last
    metrics, curves, errors = (
        {key[1:]: value for key, value in drawn.items() if key[0] == kind} for kind in ("metric", "curve", "error"))
    shift: dict[Key, Floats] = {}
    for (model, subset, i), gridded in resampling.grid_values():
        value = values(summaries[model, max(subset, 0)], plan.entries[i])
        away = np.nan_to_num(np.asarray(value - gridded))  # 0 where either is undefined
        shift[model, subset, i] = np.where(np.abs(away) > 1e-12 * np.abs(np.nan_to_num(value)), away, 0.0)
    jackknife = resampling.jackknife_values()
    return Replicates(
        {key: _shifted(plan, key, value, shift) for key, value in metrics.items()}, curves,
        {key: _shifted(plan, key, value, shift) for key, value in jackknife.items()},
        errors, resampling.value_errors(), shift, draws_of(plan, sample, resampling.parts),
    )


def _in_threads(resampling: _Resampling, batches: Sequence[Sequence[Block]]) -> Iterator[dict[Any, Floats]]:
    """Yield the replicates of the batches in order, from as many threads as the spec allows and as pay.

    Of light batches, a second thread draws the counts of the next one meanwhile.
    """
    workers = min(workers_of(resampling.plan), len(batches))
    if workers == 1:
        yield from map(resampling.batch, batches)
        return
    if not resampling.light or resampling.plan.workers != "auto":
        with ThreadPoolExecutor(workers) as pool:
            # `map` keeps the order of the batches, so that the number of threads changes no byte.
            yield from pool.map(resampling.batch, batches)
        return

    def counts(several: Sequence[Block]) -> list[list[Wholes]]:
        return [list(drawn) for drawn in resampling.counts(several)]

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(counts, batches[0])
        for number, several in enumerate(batches, 1):
            drawn = coming.result()
            if number < len(batches):
                coming = pool.submit(counts, batches[number])
            yield resampling.batch(several, drawn)


def _resampling(
    plan: Plan, sample: Sample, summaries: Mapping[tuple[str, int], Summary], divided: Sequence[Subset], *,
    together: bool,
) -> _Resampling | None:
    """Return what is drawn of a dataset and for what; None where nothing needs replicates."""
    wanted = [i for i, entry in enumerate(plan.entries) if plan.draws(entry)]
    scored = [] if sample.task != "binary" else [n for n, m in sample.models.items() if m.score is not None]
    heights = {name: drawn_heights(plan.of_variant(predictions.variant), summaries[name, 0]) if name in scored else {}
               for name, predictions in sample.models.items()}
    campaign = Campaign.of(plan, sample) if plan.profit_drawn and scored else None
    if not wanted and not any(heights.values()) and campaign is None:
        return None
    edges = {
        name: np.concatenate(places) for name, kinds in heights.items()
        if (places := [at for kind, at in kinds.values() if kind.part])}
    parts = parts_of(plan, sample, divided, list(summaries), edges, together=together)
    return _Resampling(plan, sample, parts, wanted, heights, campaign)


def _shifted(plan: Plan, key: Key, drawn: Floats, shift: Mapping[Key, Floats]) -> Floats:
    """Shift replicates of the grid by the value of the rows less that of the grid, within the range of the measure."""
    if not np.any(shift[key]):
        return drawn
    entry = plan.entries[key[2]]
    return np.clip(drawn + shift[key], *entry.metric.bounds(entry.params))
