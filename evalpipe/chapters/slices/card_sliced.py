"""The estimates of a dataset by slice, as tables and figures ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card.tables import key_measures
from evalpipe.card.wording import names_of

if TYPE_CHECKING:
    from evalpipe.chapters.slices.records import SliceSummary
    from evalpipe.results import DatasetSummary, Estimate, Results, Slice

CONDITIONS = "Conditions"
"""The heading of slices that are each a condition of their own."""

Key = tuple[tuple[str, object], ...]
"""The labels of a slice, for looking it up; none of all rows."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with its options and its average over classes, and what it is called."""

    metric: str
    params: tuple[tuple[str, object], ...]
    average: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Sliced:
    """A dataset's estimates by slice: its slicings in order, and each estimate by model, slice and key measure."""

    slicings: Mapping[str, tuple[Slice, ...]]
    measures: tuple[Measure, ...]
    estimates: Mapping[tuple[str, Key, Measure], Estimate]
    sizes: Mapping[Key, SliceSummary | DatasetSummary]

    def at(self, model: str, labels: Slice | None, measure: Measure) -> Estimate | None:
        """Return an estimate, that over all rows where ``labels`` is None; None where there is none."""
        return self.estimates.get((model, _key(labels), measure))

    def size(self, labels: Slice | None) -> SliceSummary | DatasetSummary | None:
        """Return how many rows a slice has and how many of them are events; None where that is not known."""
        return self.sizes.get(_key(labels))


def sliced(results: Results, dataset: str) -> Sliced:
    """Gather a dataset's estimates by slice, of the models' original predictions."""
    names, wanted = names_of(results), key_measures(results)
    slicings: dict[str, dict[Key, Slice]] = {}
    estimates: dict[tuple[str, Key, Measure], Estimate] = {}
    for e in results.rows:
        if e.dataset != dataset or e.variant != "original" or e.class_ is not None:
            continue
        if e.metric in wanted:
            name = names.measure(e.metric, e.params, e.average)
            estimates[e.model, _key(e.slice), Measure(e.metric, tuple(e.params.items()), e.average, name)] = e
        if e.slice is not None:
            title = CONDITIONS if names.is_condition(e.slice) else " × ".join(e.slice)
            slicings.setdefault(title, {})[_key(e.slice)] = e.slice
    sizes: dict[Key, SliceSummary | DatasetSummary] = {_key(s.slice): s for s in results.slices if s.dataset == dataset}
    sizes |= {_key(None): summary for summary in results.datasets if summary.name == dataset}
    measures = dict.fromkeys(measure for _, _, measure in estimates)
    return Sliced({title: tuple(slices.values()) for title, slices in slicings.items()}, tuple(measures), estimates,
                  sizes)


def _key(labels: Slice | None) -> Key:
    return tuple((labels or {}).items())
