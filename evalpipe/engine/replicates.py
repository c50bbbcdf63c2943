"""Bootstrap replicates of everything that needs them; one draw serves all metrics, models, slices and curves.

A block of replicates has its own random stream, and a batch of blocks is a task of its own, so threads share nothing
and change nothing.
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
    rows, drawn together with its slices. ``draws`` say what was drawn.
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
class _Task:
    """What is drawn, and what is made of it."""

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

    def batch(self, several: Sequence[Block], counts: Iterable[Iterable[Wholes]] | None = None) -> dict[Any, Floats]:
        """Return the replicates of some blocks, by what they are of; ``counts`` are those of `counts`, if drawn."""
        drawn_values: dict[Any, list[Floats]] = defaultdict(list)
        priors = np.concatenate([self._priors(number, size) for number, size in several])
        for part, drawn in zip(self.parts, counts or self.counts(several), strict=True):
            self._add_part(drawn_values, part, drawn, several[0][0], priors)
        return {key: np.concatenate(values) for key, values in drawn_values.items()}

    def _add_part(
        self, drawn_values: dict[Any, list[Floats]], part: DrawnPart, drawn: Iterable[Wholes], number: int,
        priors: Floats,
    ) -> None:
        """Add what the counts drawn of a part give to the values of some blocks, of which the first is ``number``."""
        # A stream of its own: the replicates are the same whether or not errors are asked for.
        grouped = stream(self.plan.seed, "folds", part.name, number) if self.with_errors else None
        first = 0
        for counts in drawn:
            scale, prior = self._scale(part.design, counts), priors[first : first + len(counts)]
            first += len(counts)
            for scopes, chosen, summary in part.summaries(Draws(counts)):
                self._add(drawn_values, scopes, summary, None if scale is None else scale[chosen],
                          prior[chosen] if len(priors) else None)
            if grouped is not None:
                for key, square in (pair for drawn in counts for pair in self._squares(part, drawn, grouped)):
                    drawn_values["error", *key].append(np.sqrt(square)[None])

    def counts(self, several: Sequence[Block]) -> Iterator[Iterator[Wholes]]:
        """Yield the counts of some blocks for each part."""
        return (self._counts(part, several) for part in self.parts)

    def _counts(self, part: DrawnPart, several: Sequence[Block]) -> Iterator[Wholes]:
        """Yield the counts of some blocks: of one in batches as large as memory allows, of more all together."""
        drawn = (block_counts(part.design, number, size, self.plan.seed, part.name) for number, size in several)
        if len(several) == 1:
            yield from chain.from_iterable(drawn)
        else:
            yield np.concatenate(list(chain.from_iterable(drawn)))

    def _priors(self, number: int, size: int) -> Floats:
        """Draw the prevalence of each replicate of a block, [size, K], from what is declared; [0] where it is known."""
        declared = self.plan.prevalence
        shape = None if declared is None else declared.parameters
        if shape is None or not any(self.plan.entries[i].uncertain for i in self.wanted):
            return np.empty(0)
        return stream(self.plan.seed, "prior", self.sample.dataset, number).dirichlet(shape, size)

    def _add(
        self, drawn_values: dict[Any, list[Floats]], scopes: Sequence[tuple[str, int]], summary: Summary,
        scale: Floats | None, prior: Floats | None,
    ) -> None:
        """Add the values of the measures in some scopes, and of curves where one is all rows, to those of the block."""
        shape = summary.weights.shape[:-1]
        scale = None if scale is None else np.broadcast_to(scale, shape)
        prior = None if prior is None else np.broadcast_to(prior, (*shape, prior.shape[-1]))
        for i in self._taken(scopes):
            for (model, subset), drawn in zip(scopes, values(summary, self.plan.entries[i], prior, scale), strict=True):
                drawn_values["metric", model, subset, i].append(drawn)
        model, subset = scopes[0]
        for name, heights in self._curves(model, summary) if subset == 0 else ():
            drawn_values["curve", model, name].append(heights[0])

    def _taken(self, scopes: Sequence[tuple[str, int]], wanted: Sequence[int] | None = None) -> Iterator[int]:
        """Yield the numbers of the wanted measures that are taken in some scopes: in slices, not those of all rows."""
        for i in self.wanted if wanted is None else wanted:
            if scopes[0][1] == 0 or not self.plan.of_all_rows(i):
                yield i

    def _curves(self, model: str, summary: Summary) -> Iterator[tuple[str, Floats]]:
        """Yield the heights of the curves that have limits from replicates."""
        for name, (heights, places) in self.heights[model].items():
            yield name, heights.at(summary, places)
        if self.campaign is not None and self.sample.models[model].score is not None:
            yield "profit", self.campaign.profits(summary)

    def _scale(self, design: Design, counts: Wholes) -> Floats | None:
        """Return what brings a measure that grows with the rows to as many as there are, where draws vary in size [b].

        It is of all rows together: how many are in a slice is left to chance, as it is in draws of a fixed size.
        """
        if not (design.poisson and any(self.plan.entries[i].metric.extensive for i in self.wanted)):
            return None
        return ratio(design.weights(design.sizes[None]).sum(), design.weights(counts).sum(axis=-1))

    def base_values(self) -> Iterator[tuple[Key, Floats]]:
        """Yield the values on the grid of what was observed."""
        for part in self.parts:
            for scopes, _, summary in part.summaries(Draws(part.design.sizes[None])):
                for i in self._taken(scopes):
                    for scope, value in zip(scopes, values(summary, self.plan.entries[i]), strict=True):
                        yield (*scope, i), value[0]

    def left_out(self) -> dict[Key, Floats]:
        """Return the values of the metrics whose limits need a jackknife with each group of units left out in turn."""
        wanted = self._needing("jackknife")
        left_out_values: dict[Key, list[Floats]] = defaultdict(list)
        for part in self.parts if wanted else ():
            generator = stream(self.plan.seed, "jackknife", part.name)
            for counts in jackknife_counts(part.design, generator):
                for scopes, _, summary in part.summaries(Draws(counts)):
                    for i in self._taken(scopes, wanted):
                        for scope, left in zip(scopes, values(summary, self.plan.entries[i]), strict=True):
                            left_out_values[*scope, i].append(left)
        return {key: np.concatenate(values) for key, values in left_out_values.items()}

    @property
    def light(self) -> bool:
        """Whether a block is so little work that threads would not share it in less time than one needs for it."""
        return not self.with_errors and self.units <= LIGHT

    @property
    def units(self) -> int:
        """How many units are drawn in all."""
        return sum(len(part.design.sizes) for part in self.parts)

    @cached_property
    def with_errors(self) -> tuple[int, ...]:
        """The numbers of the metrics that ask for the standard error of every replicate."""
        return self._needing("errors")

    def _needing(self, what: str) -> tuple[int, ...]:
        """Return the numbers of the metrics whose interval method needs something beside replicates."""
        return tuple(i for i in self.wanted if what in registry[self.plan.entries[i].method].needs)

    def _squares(
        self, part: DrawnPart, counts: Wholes, generator: np.random.Generator
    ) -> Iterator[tuple[Key, Floats]]:
        """Yield the squared standard errors under one draw [units], leaving out `FOLDS` groups of it in turn.

        The jackknife of groups: Tukey (1958). What was drawn twice counts as two observations, each in its own group.
        """
        fold_values: dict[Key, list[Floats]] = defaultdict(list)
        for scopes, summary in part.without_folds(counts, generator, FOLDS):
            for i in self._taken(scopes, self.with_errors):
                for scope, without in zip(scopes, values(summary, self.plan.entries[i]), strict=True):
                    fold_values[*scope, i].append(without)
        for key, several in fold_values.items():
            without = np.concatenate(several)
            square = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
            yield key, np.asarray((FOLDS - 1) / FOLDS * square)

    def own_errors(self) -> dict[Key, Floats]:
        """Return the standard errors of the values whose limits need them."""
        squares_of: dict[Key, list[Floats]] = defaultdict(list)
        for part in self.parts if self.with_errors else ():
            generator = stream(self.plan.seed, "folds", part.name)
            for _ in range(TIMES):
                for key, square in self._squares(part, part.design.sizes, generator):
                    squares_of[key].append(square)
        return {key: np.sqrt(np.mean(squares, axis=0)) for key, squares in squares_of.items()}


def draw(
    plan: Plan, sample: Sample, summaries: Mapping[tuple[str, int], Summary],
    divided: Sequence[Subset] | None = None, advance: Callable[[int], None] = lambda _: None, *, together: bool = True,
) -> Replicates:
    """Draw the replicates that the plan asks for.

    ``summaries`` are those of each model in each of the subsets ``divided``, by default the plan's, that is large
    enough; ``together`` says that models are compared, so that their differences need one draw.
    """
    divided = subsets(plan, sample) if divided is None else divided
    # Once an array as large as this was freed, glibc no longer asks the system for every batch of arrays anew: twice as
    # fast. It is never written to, so it takes no memory.
    np.empty(KEPT, np.uint8)
    task = _task(plan, sample, summaries, divided, together=together)
    if task is None:
        return Replicates()
    drawn = _all_blocks(task, blocks(plan.replicates), advance)
    kinds: dict[str, dict[Any, Floats]] = {
        kind: {key[1:]: value for key, value in drawn.items() if key[0] == kind}
        for kind in ("metric", "curve", "error")
    }
    shift = {
        key: _shift(plan, summaries[key[0], max(key[1], 0)], key[2], value) for key, value in task.base_values()}
    left = task.left_out()
    return Replicates(
        {key: _moved(plan, key, value, shift) for key, value in kinds["metric"].items()},
        kinds["curve"],
        {key: _moved(plan, key, value, shift) for key, value in left.items()},
        kinds["error"], task.own_errors(), shift, draws_of(plan, sample, task.parts),
    )


def _all_blocks(task: _Task, sizes: Sequence[int], advance: Callable[[int], None]) -> dict[Any, Floats]:
    """Return what all blocks drew, by key; ``advance`` is told of the replicates of each batch done."""
    replicates: dict[Any, Floats] = {}
    batches, first = task.batches(sizes), 0
    for several, batch in zip(batches, _in_threads(task, batches), strict=True):
        last = first + sum(size for _, size in several)
        for key, drawn in batch.items():
            # Each in its place at once: lists that are joined at the end would take the memory twice.
            if key not in replicates:
                replicates[key] = np.empty((sum(sizes), *drawn.shape[1:]), drawn.dtype)
            replicates[key][first:last] = drawn
        advance(last - first)
        first = last
    return replicates


def _in_threads(task: _Task, batches: Sequence[Sequence[Block]]) -> Iterator[dict[Any, Floats]]:
    """Yield the replicates of the batches in order, from as many threads as the spec allows, and as pay."""
    workers = min(workers_of(task.plan), len(batches))
    if workers == 1:
        yield from map(task.batch, batches)
    elif task.light and task.plan.workers == "auto":
        yield from _drawn_ahead(task, batches)
    else:
        with ThreadPoolExecutor(workers) as pool:
            # `map` keeps the order of the batches, so that the number of threads changes no byte.
            yield from pool.map(task.batch, batches)


def _drawn_ahead(task: _Task, batches: Sequence[Sequence[Block]]) -> Iterator[dict[Any, Floats]]:
    """Yield the replicates of the batches in order; a second thread draws the counts of the next one meanwhile."""

    def counts(several: Sequence[Block]) -> list[list[Wholes]]:
        return [list(drawn) for drawn in task.counts(several)]

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(counts, batches[0])
        for number, several in enumerate(batches, 1):
            drawn = coming.result()
            if number < len(batches):
                coming = pool.submit(counts, batches[number])
            yield task.batch(several, drawn)


def _task(
    plan: Plan, sample: Sample, summaries: Mapping[tuple[str, int], Summary], divided: Sequence[Subset], *,
    together: bool,
) -> _Task | None:
    """Put together what is drawn; None where nothing is."""
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
    return _Task(plan, sample, parts, wanted, heights, campaign)


def _shift(plan: Plan, summary: Summary, i: int, gridded: Floats) -> Floats:
    """Return how far the grid's value lies from that of the rows; 0 where either is undefined, or it is rounding."""
    value = values(summary, plan.entries[i])
    away = np.nan_to_num(np.asarray(value - gridded))
    return np.where(np.abs(away) > 1e-12 * np.abs(np.nan_to_num(value)), away, 0.0)


def _moved(plan: Plan, key: Key, drawn: Floats, shift: Mapping[Key, Floats]) -> Floats:
    """Move replicates by what the grid took from the value, within the range of the measure."""
    if not np.any(shift[key]):
        return drawn
    entry = plan.entries[key[2]]
    return np.clip(drawn + shift[key], *entry.metric.bounds(entry.params))
