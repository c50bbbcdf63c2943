"""Outcomes that come late: which rows are settled, and how late outcomes differ from early ones."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.labels.compute_judges import FEWEST, labels_of_judges, selection_weights
from evalpipe.chapters.labels.records import LabelArrival, LateLabels
from evalpipe.intervals.contrasts import IndependentProportions, Wald
from evalpipe.intervals.multiplicity import holm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.chapters.labels.plan import LabelsPlan
    from evalpipe.data.sample import Sample
    from evalpipe.intervals.contrasts import Contrast
    from evalpipe.plan.plan import Plan


def settled_part(sample: Sample) -> Sample:
    """Return the sample of the rows that are settled; unchanged where no outcomes come late."""
    known = sample.known
    if known is None or known.settled is None:
        return sample
    settled = np.flatnonzero(known.settled)
    return replace(sample.at(settled), known=known.at(settled))


def label_arrival(_: Plan, labels: LabelsPlan, sample: Sample) -> Iterator[LabelArrival]:
    """Yield how many rows of a dataset are settled, where outcomes come late."""
    known, arrive = sample.known, labels.arrive
    if known is not None and known.settled is not None and arrive is not None:
        settled = int(known.settled.sum())
        yield LabelArrival(
            dataset=sample.dataset, known_by=arrive.known_by, within=arrive.within, rows=sample.n, settled=settled,
            unsettled=sample.n - settled, judged=labels.method == "prediction_powered")


def late_labels(plan: Plan, labels: LabelsPlan, sample: Sample) -> Iterator[LateLabels]:
    """Yield how settled rows with a late outcome differ from those with an early one, in outcomes and judges' bias.

    An outcome is early in the first half of the days within which it is waited for.
    """
    settled = settled_part(sample)
    known, arrive = settled.known, labels.arrive
    if known is None or known.delay is None or arrive is None:
        return
    until, rows = arrive.within / 2, known.known
    late, outcome, weights = known.delay[rows] > until, np.asarray(settled.truth[rows], float), selection_weights(known)
    if min(late.sum(), (~late).sum()) < FEWEST:
        return
    cluster = None if settled.cluster is None else settled.cluster[rows]
    compared: list[tuple[str | None, Floats]] = [(None, outcome)]
    compared += [(name, shares[rows] - outcome) for name, shares in labels_of_judges(labels, settled).items()]
    contrasts = [late_contrast(values, late, weights[rows], cluster) for _, values in compared]
    p_values = [contrast.p(0.0) for contrast in contrasts]
    adjusted = holm(p_values).tolist()
    for (name, values), contrast, p, p_adjusted in zip(compared, contrasts, p_values, adjusted, strict=True):
        limits = None if plan.interval_method == "none" else contrast.limits(plan.level)
        early_mean, late_mean = (float(np.average(values[part], weights=weights[rows][part])) for part in (~late, late))
        yield LateLabels(
            dataset=sample.dataset, judge=name, until=until, early_rows=int((~late).sum()), late_rows=int(late.sum()),
            early=early_mean, late=late_mean, difference=late_mean - early_mean,
            lower=limits[0] if limits else None, upper=limits[1] if limits else None,
            level=plan.level if limits else None, p_value=None if math.isnan(p) else p,
            p_adjusted=None if math.isnan(p_adjusted) else p_adjusted)


def late_contrast(values: Floats, late: Flags, weights: Floats, cluster: Wholes | None) -> Contrast:
    """Return the difference of the mean of late ``values`` [n] from that of early ones, with its test and limits.

    Of outcomes that weigh alike it is the score test of two proportions. Else it is Student's with the variance of the
    rows' influences, those of a ``cluster`` [n] together (Horvitz & Thompson 1952, Hájek 1971).
    """
    if cluster is None and np.ptp(weights) == 0 and np.isin(values, (0, 1)).all():
        successes, early_successes = (float(values[part].sum()) for part in (late, ~late))
        return IndependentProportions(successes, float(late.sum()), early_successes, float((~late).sum()))
    influences, means = np.zeros(len(values)), {}
    for part, sign in ((late, 1.0), (~late, -1.0)):
        mean = means[sign] = float(np.average(values[part], weights=weights[part]))
        count = float(part.sum())
        influences[part] = sign * weights[part] * (values[part] - mean) / weights[part].sum() * math.sqrt(
            count / (count - 1))
    totals: Floats = influences
    freedom = min(float(late.sum()), float((~late).sum())) - 1
    if cluster is not None:
        clusters = len(np.unique(cluster))
        freedom = min(freedom, max(clusters - 1, 1))
        totals = np.asarray(np.bincount(cluster, influences) * math.sqrt(clusters / max(clusters - 1, 1)), float)
    return Wald(means[1.0] - means[-1.0], math.sqrt(float((totals**2).sum())), freedom)
