"""What checks tell of the rows: copies, values that many share, groups in which a model fails, ids that go together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.chapters.row_contents.records import (
    Copies,
    LookedAt,
    SharedContents,
    SharedValue,
    UndeclaredCluster,
    UndeclaredGroup,
)
from evalpipe.tasks import NUMBERS, SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from evalpipe.base.arraytypes import Flags, Floats, Values, Wholes
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan


FEWEST_COPIES, SHARE_OF_COPIES = 5, 0.01
"""The least number of copies, and their least share of the rows."""

TOO_ALIKE = 0.5
"""The share of rows with a twin in their dataset beyond which twins in another one tell nothing."""

RARELY, OFTEN = 0.01, 0.1
"""Up to which share of them rows are rarely alike, so that as large a share of shared ones matters; else this one."""


def copies_in(sample: Sample) -> Iterator[Copies]:
    """Yield a record of how many rows of a sample are copies of others, if they are many."""
    contents, n = sample.contents, len(sample.truth)
    if contents is not None and contents.copies >= max(FEWEST_COPIES, SHARE_OF_COPIES * n):
        yield Copies(dataset=sample.dataset, n=n, copies=contents.copies, columns=contents.compared)


def shared_contents(sample: Sample) -> Iterator[SharedContents]:
    """Yield how many rows of a sample are in other datasets by their contents, and how many chance explains.

    By chance, as large a share of rows has a twin in the other dataset as within its own. The larger share of the
    two datasets is raised by four standard errors and nine rows, to allow for sampling.
    """
    for rows in () if sample.contents is None else sample.contents.shared:
        share = max(rows.repeated / max(1, rows.rows), rows.other_repeated / max(1, rows.other_rows))
        fewer = max(1, min(rows.rows, rows.other_rows))
        most = min(1.0, share + 4 * math.sqrt(share * (1 - share) / fewer) + 9 / fewer)
        least = RARELY if share <= RARELY else OFTEN
        beyond = (rows.twins / max(1, rows.rows) - most) / (1 - most) if most < 1 else 0.0
        verdict: Literal["shared", "clear"] = "shared" if beyond >= least else "clear"
        yield SharedContents(
            dataset=sample.dataset, other=rows.other, columns=list(rows.columns), rows=rows.rows, twins=rows.twins,
            by_chance=round(most * rows.rows, 1), verdict="too-alike" if share > TOO_ALIKE else verdict)


ERROR = 0.01
"""The probability that any of the groups searched is taken for worse by chance, shared equally among them."""

CHANCE, WIDER = 1e-5, 1.1
"""The largest p-value at which rows of an id go together, of all columns of ids together, and how many times the
interval of the mean residual must be too narrow at least."""

FEWEST_EVENTS = 5
"""The fewest events, and others, of a binary outcome: residuals of one level alone are the probabilities."""

LARGEST = 3
"""The ids whose rows go together most, without which they must do so: few ids may hold all events by chance."""

NEIGHBOURS = 0.5
"""The most that ids next to each other may go together, as a share of what the rows of an id do: in a number that is
measured, such as an age, they go together as much."""


class Losses(NamedTuple):
    """What a model misses the outcome of each row by [n], its loss there [n], and the loss that it promises [n]."""

    residual: Floats
    loss: Floats
    promised: Floats | None = None


def losses(sample: Sample, model: Predictions) -> Losses | None:
    """Return residuals and losses of a model's rows: of probabilities, numbers or classes; None without any."""
    truth, probability = sample.truth, model.probability
    if sample.task in SCORES:
        return None
    if sample.task in NUMBERS:
        missed = np.asarray(truth - model.predicted, float)
        return Losses(missed, np.abs(missed))
    if probability is not None and probability.ndim == 1:
        missed = truth - probability
        return Losses(missed, missed**2, probability * (1 - probability))
    if probability is not None:
        of_truth = probability[np.arange(len(truth)), truth]
        squares = (probability**2).sum(axis=1)
        return Losses(squares - of_truth, 1 - 2 * of_truth + squares, 1 - squares)
    if model.predicted is None:
        return None
    wrong = np.asarray(model.predicted != truth, float)
    return Losses(wrong - wrong.mean(), wrong)


def undeclared_clusters(sample: Sample) -> Iterator[UndeclaredCluster]:
    """Yield the column of ids within which the first model's residuals correlate most, if any correlate enough."""
    name, model = next(iter(sample.models.items()))
    of_model = losses(sample, model)
    columns = {} if sample.contents is None or sample.cluster is not None else sample.contents.ids
    if of_model is None or (sample.task == "binary" and np.bincount(sample.truth, minlength=2).min() < FEWEST_EVENTS):
        return
    candidates = [row for column, codes in columns.items() if (
        row := _together(sample.dataset, name, column, codes, of_model.residual, CHANCE / len(columns))) is not None]
    if candidates:
        yield max(candidates, key=lambda row: row.wider)


def _together(
    dataset: str, model: str, column: str, codes: Wholes, residual: Floats, error: float
) -> UndeclaredCluster | None:
    """Return a record if residuals correlate within the ids of a column, at a p-value up to ``error``.

    ``codes`` are the ids of rows, [n], below 0 for none. The test is on the products of residuals of two rows with
    the same id, whose mean is 0 where rows are independent. The total over its spread keeps few products, as of
    rare events, from counting as many. Neighbouring ids must correlate less than the rows of an id.
    """
    from scipy.special import ndtr

    has_id = codes >= 0
    ids, residual = codes[has_id], residual[has_id] - residual[has_id].mean()
    counts = np.bincount(ids)
    occurs, sizes = counts > 0, counts[counts > 0]
    square = residual**2
    totals, squares, fourths = (np.bincount(ids, values)[occurs] for values in (residual, square, square**2))
    products_of_id = totals**2 - squares
    usual = products_of_id.argsort(kind="stable")[:-LARGEST]  # ties in one order on every processor
    products, all_squares = float(products_of_id[usual].sum()), float(squares[usual].sum())
    spread = float(np.sqrt(2 * np.maximum(squares**2 - fourths, 0)[usual].sum()))
    wider = float(np.sqrt(max(1.0, 1 + products / all_squares))) if all_squares > 0 else 1.0
    if spread <= 0 or wider < WIDER or float(ndtr(-products / spread)) > error:
        return None
    pairs = float((sizes * (sizes - 1.0)).sum())
    means = totals / sizes
    next_to, chance = (means[1:] * means[:-1]).mean(), (means**2).mean() / np.sqrt(len(sizes))
    if next_to > NEIGHBOURS * products / pairs + chance:
        return None
    return UndeclaredCluster(
        dataset=dataset, model=model, column=column, ids=len(sizes), rows=len(ids), wider=wider)


def undeclared_groups(sample: Sample, min_rows: int, cluster: Wholes | None) -> Iterator[UndeclaredGroup]:
    """Yield for each model and column the group that is worse than the rest by most standard errors, if any is.

    ``cluster`` [n] numbers clusters of rows that go together, None where rows are independent. Limits are
    corrected for all groups of all columns and models (Bonferroni).
    """
    from scipy.special import ndtri

    contents, weight = sample.contents, np.ones(len(sample.truth)) if sample.weight is None else sample.weight
    searched: list[tuple[str, str, Kind, Losses, Wholes, GroupMeans]] = []
    for name, model in sample.models.items():
        of_model = losses(sample, model)
        if of_model is None or model.source is not None or contents is None:
            continue
        for column, codes in contents.groups.items():
            groups = codes + 1 if codes.min(initial=0) < 0 else codes
            if not np.ptp(groups):  # rows without an outcome may be all of the other groups
                continue
            for kind, values in _measures(sample, of_model):
                means = group_means(values, weight, groups, cluster)
                searched.append((name, column, kind, of_model, groups, means))
    tests = sum(int(means.usable(min_rows).sum()) for *_, means in searched)
    errors = -float(ndtri(ERROR / (2 * tests))) if tests else 0.0
    worst: dict[tuple[str, str], tuple[float, UndeclaredGroup]] = {}
    for name, column, kind, of_model, groups, means in searched:
        worse = means.differences if kind != "mean" else np.abs(means.differences)
        usable = means.usable(min_rows)
        if kind == "promised":  # a group that is better than promised is none that fails
            usable &= means.means > 0
        sizes = np.where(usable, worse / np.where(usable, means.errors, 1.0), -np.inf)
        group = int(sizes.argmax())
        if sizes[group] <= errors or sizes[group] <= worst.get((name, column), (0.0,))[0]:
            continue
        inside = groups == group
        outside = float(np.average(of_model.loss[~inside], weights=weight[~inside]))
        value, expected = _observed_and_expected(sample, of_model, kind, inside, weight)
        worst[name, column] = float(sizes[group]), UndeclaredGroup(
            dataset=sample.dataset, model=name, column=column, groups=len(means.rows), rows=int(means.rows[group]),
            n=len(groups), kind=kind, value=value, expected=outside if expected is None else expected,
            outside=outside, difference=float(means.differences[group]), tests=tests,
            least=float(abs(means.differences[group]) - errors * means.errors[group]))
    yield from (row for _, row in worst.values())


if TYPE_CHECKING:
    Kind = Literal["mean", "promised", "error"]
    """What is worse: the mean of the outcome beside that predicted, the loss beside that promised, or the loss."""


def _measures(sample: Sample, of_model: Losses) -> Iterator[tuple[Kind, Floats]]:
    """Yield the kinds of measure that groups are compared by, with the value of each row, [n]."""
    if sample.task == "binary" and of_model.promised is not None:
        yield "mean", of_model.residual
    if sample.task in NUMBERS:  # their errors grow with them, and are no failure
        yield "mean", of_model.residual
    elif of_model.promised is None:
        yield "error", of_model.loss
    else:
        yield "promised", of_model.loss - of_model.promised


def _observed_and_expected(
    sample: Sample, of_model: Losses, kind: Kind, inside: Flags, weight: Floats
) -> tuple[float, float | None]:
    """Return the value of a measure in a group, and the expected one; None where that is the value elsewhere.

    ``inside`` flags the rows of the group, [n].
    """
    def mean(values: Floats) -> float:
        """Return the weighted mean of values [n] over the rows of the group."""
        return float(np.average(values[inside], weights=weight[inside]))

    if kind == "mean":
        truth = np.asarray(sample.truth, float)
        return mean(truth), mean(truth - of_model.residual)
    return mean(of_model.loss), None if of_model.promised is None else mean(of_model.promised)


class GroupMeans(NamedTuple):
    """Of each group [k] its rows, its mean, how far that is above the mean of all others, and its standard error."""

    rows: Wholes
    means: Floats
    differences: Floats
    errors: Floats

    def usable(self, min_rows: int) -> Flags:
        """Return flags [k] of groups with ``min_rows`` rows or more inside and outside, and errors above 0."""
        rest = self.rows.sum() - self.rows
        return np.asarray((self.rows >= min_rows) & (rest >= min_rows) & (self.errors > 0))


def group_means(values: Floats, weight: Floats, groups: Wholes, cluster: Wholes | None) -> GroupMeans:
    """Return the means of groups [k] of values [n], their differences from all other rows, and standard errors.

    ``groups`` [n] and ``cluster`` [n] are the codes of rows. The sizes of groups are taken as fixed.
    """
    rows, totals = np.bincount(groups), np.bincount(groups, weight)
    safe = np.maximum(totals, 1e-300)
    means = np.bincount(groups, weight * values) / safe
    apart = weight * (values - means[groups])
    if cluster is not None:
        _, pairs = np.unique(cluster.astype(np.int64) * len(rows) + groups, return_inverse=True)
        first = np.zeros(pairs.max() + 1, np.intp)
        first[pairs] = groups
        squares = np.bincount(first, np.bincount(pairs, apart)**2, len(rows))
    else:
        squares = np.bincount(groups, apart**2)
    spread = np.average((values - np.average(values, weights=weight))**2, weights=weight)
    # Rows that are few may be alike by chance: then they are taken to spread as all rows do.
    variances = np.maximum(squares, spread * np.bincount(groups, weight**2)) / safe**2
    others = np.maximum(totals.sum() - totals, 1e-300)
    rest = ((totals * means).sum() - totals * means) / others
    of_rest = ((totals**2 * variances).sum() - totals**2 * variances) / others**2
    return GroupMeans(rows, means, means - rest, np.sqrt(variances + of_rest))


SHARE_OF_VALUE, FEWEST_OF_VALUE, TIMES = 0.05, 20, 10
"""The least share and number of rows of a value that many share, and how many times those of the next value."""

GRID = 1000
"""The finest grid of a model with few distinct scores, such as a forest of so many trees."""


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return fields of the results on what rows hold: copies, shared rows, undeclared clusters and groups.

    Of data that are never held in memory there are only rows in other datasets, and values that many rows share where
    no row counts as several.
    """
    datasets = [dataset for dataset in evaluated if not dataset.sample.streamed]
    fields: dict[str, list[object]] = {name: [] for name in (
        "looked_at", "copies", "shared_contents", "undeclared_clusters", "undeclared_groups", "shared_values")}
    for sample in (dataset.sample for dataset in evaluated):
        fields["shared_contents"] += shared_contents(sample)
        if not sample.streamed or plan.weight is None:
            fields["shared_values"] += _shared_values(sample)
    for sample in (dataset.sample for dataset in datasets):
        clusters = list(undeclared_clusters(sample))
        cluster = sample.cluster if not clusters or sample.contents is None else sample.contents.ids[clusters[0].column]
        fields["looked_at"] += _searched_columns(sample)
        fields["copies"] += copies_in(sample)
        fields["undeclared_clusters"] += clusters
        fields["undeclared_groups"] += undeclared_groups(sample, plan.slices.min_rows, cluster)
    return dict(fields)


def _searched_columns(sample: Sample) -> Iterator[LookedAt]:
    """Yield a record if columns that the spec does not name were searched, for groups or for ids."""
    contents = sample.contents
    if contents is not None and (contents.further or contents.unseen):
        holds: list[Literal["groups", "ids"]] = ["groups"] if contents.groups else []
        if contents.ids:
            holds.append("ids")
        yield LookedAt(dataset=sample.dataset, unseen=contents.unseen, holds=holds)


def _shared_values(sample: Sample) -> Iterator[SharedValue]:
    """Yield for each model the most frequent score or prediction, if many rows share it and few any other.

    Of cells of scores, a value is shared where all rows of a cell have it. That no other cell has more rows than
    ``next_rows`` bounds the rows of any other value.
    """
    for name, all_rows_model in sample.models.items():
        rows = sample.scored.get((name, None), sample.of(name))
        model = rows.models[name] if all_rows_model.source is None else all_rows_model
        values = model.stated if model.stated is not None else _scores(model, sample.task)
        if model.source is not None or values is None or not len(values):
            continue
        weight = rows.weight if sample.streamed and rows.weight is not None else np.ones(len(values))
        _, first_rows, inverse = np.unique(values, return_index=True, return_inverse=True, axis=0)
        counts = np.bincount(inverse.ravel(), weight).astype(np.int64)
        mode = int(counts.argmax())
        is_mode, n = inverse.ravel() == mode, int(counts.sum())
        mode_rows, next_rows = int(counts[mode]), int(np.delete(counts, mode).max(initial=0))
        is_shared = mode_rows >= max(FEWEST_OF_VALUE, SHARE_OF_VALUE * n) and mode_rows >= TIMES * next_rows > 0
        if model.ends is not None:
            is_shared &= bool((model.ends[is_mode] == values[is_mode][:, None]).all())
        at_end = values.ndim == 1 and mode in (0, len(counts) - 1)
        # Rounded scores, and those of a forest, are multiples of one over `GRID`.
        if not is_shared or (at_end and (np.abs(values * GRID - np.rint(values * GRID)) < 1e-6).all()):
            continue
        events = int(weight[is_mode & rows.truth].sum()) if sample.task == "binary" else None
        value = float(values[first_rows[mode]]) if values.ndim == 1 else None
        yield SharedValue(dataset=sample.dataset, model=name, value=value, rows=mode_rows, n=n,
                          next_rows=next_rows, at_end=at_end, events=events)


def _scores(model: Predictions, task: str) -> Values | None:
    """Return a model's probabilities, scores or predicted numbers, [n] or [n, K]; None of classes alone."""
    if model.probability is not None:
        return model.probability
    return model.score if model.score is not None or task in ("binary", "multiclass", "ordinal") else model.predicted
