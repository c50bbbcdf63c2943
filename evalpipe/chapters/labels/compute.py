"""Samples of rows of which some alone have an outcome: these rows, weighted or not, with the labels of judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.labels import compute_judges
from evalpipe.chapters.labels.compute_arrival import label_arrival, late_labels, settled_part
from evalpipe.chapters.labels.compute_judges import (
    judge_bias,
    labelled_dataset,
    labels_of_judges,
    selection_tests,
    selection_weights,
)
from evalpipe.chapters.labels.plan import labels_plan
from evalpipe.data.sample import Units
from evalpipe.intervals.resampling import stream
from evalpipe.plan.plan import GROUPS, ROWS
from evalpipe.statistics.labels import KNOWN, source_of_judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.chapters.labels.plan import LabelsPlan
    from evalpipe.data.sample import KnownRows, Sample
    from evalpipe.plan.plan import Plan


tables = compute_judges.tables


def changed(plan: Plan, samples: Sequence[Sample]) -> tuple[tuple[Sample, ...], dict[str, object]]:
    """Return samples of the rows with an outcome, weighted where they are no random part, with the labels of judges."""
    labels = plan.part(labels_plan)
    if labels is None:
        return tuple(samples), {}
    counted = tuple(sample if labels.method == "prediction_powered" else settled_part(sample) for sample in samples)
    return tuple(sample if sample.known is None else labelled(labels, sample) for sample in counted), {
        name: [row for sample in rows if sample.known is not None for row in rows_of(plan, labels, sample)]
        for name, rows_of, rows in (
            ("labelled", labelled_dataset, counted), ("judge_bias", judge_bias, counted),
            ("selection_tests", selection_tests, tuple(map(settled_part, samples))),
            ("label_arrival", label_arrival, samples), ("late_labels", late_labels, samples))}


def labelled(labels: LabelsPlan, sample: Sample) -> Sample:
    """Return the sample of the rows with an outcome, with judges in its ``judged``; see `combined_weights`."""
    known = sample.known
    assert known is not None  # noqa: S101 - known to the caller
    weights, with_outcome = selection_weights(known), np.flatnonzero(known.known)
    rows = sample.at(with_outcome)
    if rows.cluster is not None:  # numbered anew: some clusters may have no row with an outcome
        rows = replace(rows, cluster=np.unique(rows.cluster, return_inverse=True)[1])
    if labels.selected != "random":
        rows = replace(rows, weight=weights[with_outcome] * rows.weights, weight_kind="importance")
    if labels.method != "prediction_powered":
        if labels.strata and rows.cluster is None:
            units = np.arange(rows.n), np.ones(rows.n, bool), *_strata(known, with_outcome)
            rows = replace(rows, units=Units(*units))
        return rows
    judges = list(labels_of_judges(labels, sample).values())
    return replace(rows, judged=_with_judges(sample, known, weights, judges))


def _with_judges(sample: Sample, known: KnownRows, weights: Floats, judges: Sequence[Floats]) -> Sample:
    """Return the sample of rows with an outcome, of their labels by each judge, and of each judge's labels of all rows.

    A label that is a probability is two rows, an event and a non-event, that weigh their shares.
    """
    everyone, with_outcome = np.arange(sample.n), np.flatnonzero(known.known)
    index, truth, weight, source = [with_outcome], [sample.truth[with_outcome]], [weights[with_outcome]], [
        np.full(len(with_outcome), KNOWN)]
    for judge, shares in enumerate(judges):
        for rows, row_weights, all_rows in (
                (with_outcome, weights[with_outcome], False), (everyone, np.ones(sample.n), True)):
            for event in (True, False):
                share = shares[rows] if event else 1 - shares[rows]
                used = share > 0
                index.append(rows[used])
                truth.append(np.full(int(used.sum()), event))
                weight.append((row_weights * share)[used])
                source.append(np.full(int(used.sum()), source_of_judge(judge, all_rows=all_rows)))
    unit = np.concatenate(index)
    judged, units = sample.at(unit), _units(sample, known)
    return replace(
        judged, truth=np.concatenate(truth), weight=np.concatenate(weight), weight_kind="importance",
        source=np.concatenate(source), units=replace(units, of_row=units.of_row[unit]))


def _units(sample: Sample, known: KnownRows) -> Units:
    """Return what is drawn together, by row of the dataset: a row or, of many without an outcome, a random group.

    Rows are drawn within strata, those with an outcome apart. Random groups have the variance of their rows: Wolter
    (2007), chapter 2. Whole clusters are drawn if there are any.
    """
    if sample.cluster is not None:
        has_outcome = np.bincount(sample.cluster, known.known) > 0
        return Units(sample.cluster, has_outcome, np.zeros(len(has_outcome), np.intp), np.ones(1, np.intp))
    of_row, others = np.arange(sample.n), np.flatnonzero(~known.known)
    if len(others) > ROWS:
        # By chance and not by their order: rows are sorted by score. A group lies within a stratum.
        shuffled = stream(0, "groups", sample.dataset).permutation(others)
        shuffled = shuffled[np.argsort(known.stratum[shuffled], kind="stable")]
        stratum, size = known.stratum[shuffled], -(-len(others) // GROUPS)
        place = np.arange(len(others)) - np.searchsorted(stratum, stratum)
        of_row[shuffled] = shuffled[np.arange(len(others)) - place % size]
    drawn, numbered = np.unique(of_row, return_inverse=True)
    return Units(numbered, known.known[drawn], *_strata(known, drawn))


def _strata(known: KnownRows, drawn: Wholes) -> tuple[Wholes, Wholes]:
    """Return the stratum of each drawn row, by its position in the dataset, and the rows of each: see `Units`."""
    rows = np.bincount(known.stratum)
    return known.stratum[drawn] + np.where(known.known[drawn], 0, len(rows)), rows
