"""What is computed of scores of items beyond their measures: errors by what is random, power, ties, deciding items."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalpipe.chapters.scores.compute_items import item_spread, items_at, pair_items
from evalpipe.chapters.scores.compute_judges import judge_components
from evalpipe.chapters.scores.compute_strength import bradley_terry
from evalpipe.chapters.scores.compute_ties import tied_sets
from evalpipe.chapters.scores.compute_variance import (
    mean_errors,
    paired_errors,
    power_analysis,
    variance_components,
)
from evalpipe.chapters.scores.plan import higher_is_better, rank_plan, score_plan, score_range
from evalpipe.chapters.scores.records import (
    DecidingItem,
    ItemAgreement,
    JudgedModel,
    LeakedItems,
    LogRun,
    ScoredModel,
    ScoreError,
    ScorePair,
    Strength,
    TiedModels,
)
from evalpipe.metrics.values import ratio
from evalpipe.plan.datasets import score_label
from evalpipe.results import Warned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan
    from evalpipe.plan.sources import LogFacts, ScoreTable
    from evalpipe.results import Comparison, Results

POWER = 0.8
"""The power of which the smallest difference, and the numbers of items and epochs, are."""

WANTED = 0.01
"""The difference that they are asked to show, as a share of the range of scores."""

MOST_ITEMS = 20
"""The most deciding items that are listed, and leaked ones."""

MOST_PAIRS = 45
"""The most pairs of models of which these are given; of more, only of models next to each other by their means."""


class Scores(NamedTuple):
    """The scores of a dataset [items, models] with their epochs and squares within, clusters and weights [items]."""

    means: Floats
    epochs: Floats
    within: Floats
    cluster: Wholes | None
    weights: Floats | None

    @classmethod
    def of(cls, sample: Sample) -> Scores:
        """Return the scores of a sample."""
        models = sample.models.values()
        means = np.column_stack([np.asarray(model.predicted, float) for model in models])
        epochs, within = (np.column_stack([(model.items or {})[kind] for model in models])
                          for kind in ("epochs", "within"))
        cluster = None if sample.cluster is None else np.asarray(sample.cluster, np.intp)
        return cls(means, epochs, within, cluster, sample.weight)

    def counted(self, sample: Sample) -> Scores:
        """Return the scores with a row for each item that a frequency weight counts, each of which is drawn."""
        if sample.weight_kind != "frequency":
            return self
        rows = np.repeat(np.arange(sample.n), sample.observations)
        cluster = None if self.cluster is None else self.cluster[rows]
        return Scores(self.means[rows], self.epochs[rows], self.within[rows], cluster, None)


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return what logs say of their runs, and what the scores of each dataset say."""
    fields: dict[str, list[Any]] = {}
    for dataset in evaluated:
        table = next(planned.table.scores for planned in plan.datasets if planned.name == dataset.sample.dataset)
        if table is None:
            continue
        for field, rows in _of_dataset(plan, dataset.sample, table):
            fields.setdefault(field, []).extend(rows)
    return dict(fields)


def _of_dataset(plan: Plan, sample: Sample, table: ScoreTable) -> Iterator[tuple[str, Iterator[Any]]]:
    """Yield each field of the results with its rows of a dataset."""
    scores = Scores.of(sample)
    yield "log_runs", (_run(sample.dataset, run) for run in table.runs)
    yield "scored", _scored(sample, table)
    counted = scores.counted(sample)
    yield "score_errors", _errors(plan, sample, counted)
    yield "judges", _judges(sample, table, counted.weights)
    yield "score_pairs", _pairs(plan, sample, counted, table)
    yield "deciding_items", _deciding(sample, scores)
    yield "item_agreement", _agreement(plan, sample, scores)
    yield "leaked_items", _leaked(sample)
    if plan.part(rank_plan) is not None:
        yield "strengths", _strengths(plan, sample, _with_unshared(plan, sample, counted, table))


def _run(dataset: str, run: LogFacts) -> LogRun:
    """Return the record of what a log says of its run."""
    return LogRun(
        dataset=dataset, model=run.model, task=run.task, file=run.file, tool=run.tool, version=run.version,
        task_version=run.task_version, benchmark=run.dataset, started=run.started, ended=run.ended, status=run.status,
        samples=run.samples, planned=run.planned, errors=run.errors, input_tokens=run.input_tokens,
        output_tokens=run.output_tokens, cost=run.cost,
        options={name: value for name, value in run.model_args.items() if value is not None})


def _scored(sample: Sample, table: ScoreTable) -> Iterator[ScoredModel]:
    """Yield how many items and epochs the scores of each model are of."""
    for name, model in sample.models.items():
        epochs = (model.items or {})["epochs"]
        yield ScoredModel(
            dataset=sample.dataset, model=name, items=len(epochs), fewest_epochs=int(epochs.min()),
            most_epochs=int(epochs.max()), missing=dict(table.missing.get(name, {})),
            lacking=table.incomplete.get(name, 0))


def warnings(plan: Plan, evaluated: Sequence[Evaluated]) -> Iterator[Warned]:
    """Yield warnings of items that a model lacks, and of missing scores with what they count."""
    for dataset in evaluated:
        name = dataset.sample.dataset
        table = next(planned.table.scores for planned in plan.datasets if planned.name == name)
        scale = plan.part(score_plan)
        for model, items in ({} if table is None else table.incomplete).items():
            yield Warned.of("items-lacking", dataset=name, model=model, items=items, rows=dataset.sample.n)
        for model, counts in ({} if table is None else table.missing).items():
            reasons = [f"{count:,} for {reason}" for reason, count in counts.items()]
            number = {"dataset": name, "model": model, "scores": sum(counts.values()), "reasons": reasons}
            is_number = scale is not None and isinstance(scale.missing, int | float)
            yield Warned.of("scores-missing", **number, rule=scale.missing) if scale is not None and is_number else (
                Warned.of("scores-missing", case="left-out", **number))


def _known(value: float) -> float | None:
    """Return a finite number; None for any other."""
    return float(value) if math.isfinite(value) else None


def _errors(plan: Plan, sample: Sample, scores: Scores) -> Iterator[ScoreError]:
    """Yield the two errors of each mean score, and the parts of its variance."""
    errors = mean_errors(*scores)
    between, within = variance_components(scores.means, scores.epochs, scores.within, scores.weights)
    correlation = ratio(between, between + within)
    reach = NormalDist().inv_cdf((1 + plan.level) / 2) * errors.benchmark
    low, high = score_range(plan) or (-math.inf, math.inf)
    for k, name in enumerate(sample.models):
        value = float(errors.value[k])
        yield ScoreError(
            dataset=sample.dataset, model=name, value=value, benchmark_error=_known(errors.benchmark[k]),
            benchmark_lower=_known(np.maximum(low, value - reach[k])),
            benchmark_upper=_known(np.minimum(high, value + reach[k])), items_error=_known(errors.like_these[k]),
            level=plan.level, items_variance=_known(between[k]), epochs_variance=_known(within[k]),
            correlation=_known(correlation[k]))


def _judges(sample: Sample, table: ScoreTable, weights: Floats | None) -> Iterator[JudgedModel]:
    """Yield how the judges of each model's answers differ; none where answers have no judges."""
    place = {item: row for row, item in enumerate(table.frame.to_series(0).to_list())}
    rows = np.repeat([place[item] for item in ([] if sample.ids is None else sample.ids)], sample.observations)
    for name, scores in table.judges.items():
        (_, variance, _, agreement), judges = judge_components(scores[rows], weights), scores.shape[1]
        yield JudgedModel(dataset=sample.dataset, model=name, judges=judges, variance=_known(variance),
                          error=_known(math.sqrt(variance / judges)), agreement=_known(agreement))


def _pairs(plan: Plan, sample: Sample, scores: Scores, table: ScoreTable) -> Iterator[ScorePair]:
    """Yield what it takes to tell each pair of models apart."""
    names = list(sample.models)
    if len(names) == 1:
        return
    errors, correlation = paired_errors(*scores)
    low, high = score_range(plan) or (0.0, 1.0)
    wanted = WANTED * (high - low)
    smallest, items, epochs = power_analysis(errors, wanted, 1 - plan.level, POWER)
    topics = _topics(plan, sample, table)
    numbers = list(enumerate(combinations(range(len(names)), 2)))
    if len(numbers) > MOST_PAIRS:
        means = mean_errors(*scores).value.tolist()
        place = {model: rank for rank, model in enumerate(
            sorted(range(len(names)), key=lambda k: (means[k], names[k])))}
        numbers = [(k, pair) for k, pair in numbers if abs(place[pair[0]] - place[pair[1]]) == 1]
    for k, (first, second) in numbers:
        carriers, turning = pair_items(scores.means[:, first], scores.means[:, second], scores.cluster, scores.weights)
        yield ScorePair(
            dataset=sample.dataset, model=names[first], other=names[second], difference=float(errors.value[k]),
            benchmark_error=_known(errors.benchmark[k]), items_error=_known(errors.like_these[k]),
            correlation=_known(correlation[k]), smallest=_known(smallest[k]),
            items=_whole(items[k]), epochs=_whole(epochs[k]), wanted=wanted, power=POWER,
            carriers=carriers, turning=[topics[number] for number in turning])


def _whole(value: float) -> int | None:
    """Return a finite number as a whole one; None for any other."""
    return int(value) if math.isfinite(value) else None


def _topics(plan: Plan, sample: Sample, table: ScoreTable) -> dict[int, str]:
    """Return the names of the clusters of a sample, by their numbers."""
    if plan.cluster is None or sample.cluster is None or sample.ids is None:
        return {}
    named = dict(zip(table.frame[plan.id or "item"].to_list(), table.frame[plan.cluster].to_list(), strict=True))
    return {int(number): str(named[item]) for item, number in zip(sample.ids, sample.cluster.tolist(), strict=True)}


def _deciding(sample: Sample, scores: Scores) -> Iterator[DecidingItem]:
    """Yield the items on which models differ most, those that differ most first."""
    if len(sample.models) < 2 or sample.ids is None:
        return
    _, spread = item_spread(scores.means, scores.weights)
    names = sample.ids.to_list()
    # Items of the same spread by name, for the order of rows says nothing.
    order = sorted(range(len(names)), key=lambda row: (-float(spread[row]), names[row]))
    for row in order[:MOST_ITEMS]:
        if spread[row] > 0:
            yield DecidingItem(
                dataset=sample.dataset, item=names[row], share=float(spread[row]),
                scores=dict(zip(sample.models, map(float, scores.means[row]), strict=True)))


def _agreement(plan: Plan, sample: Sample, scores: Scores) -> Iterator[ItemAgreement]:
    """Yield on how many items models differ at all."""
    alike, _ = item_spread(scores.means, scores.weights)
    ends = score_range(plan)
    at_ends = (None, None) if ends is None else tuple(items_at(scores.means, end) for end in ends)
    none_solve, all_solve = at_ends if higher_is_better(plan) else at_ends[::-1]
    yield ItemAgreement(
        dataset=sample.dataset, items=len(scores.means), alike=_known(alike), all_solve=all_solve,
        none_solve=none_solve)


def _with_unshared(plan: Plan, sample: Sample, scores: Scores, table: ScoreTable) -> Scores:
    """Return the scores with those of items that some model lacks, which tell the strengths of the others.

    Without them where items have weights, or where conditions chose them; an item without a cluster is left out.
    """
    if table.unshared is None or plan.weight is not None or sample.n != table.frame.height:
        return scores
    unshared = table.unshared if plan.cluster is None else table.unshared.drop_nulls(plan.cluster)
    means = np.vstack([scores.means, unshared.select(map(score_label, sample.models)).to_numpy()])
    cluster = scores.cluster
    if plan.cluster is not None and cluster is not None:
        numbers = {name: number for number, name in _topics(plan, sample, table).items()}
        others = [numbers.setdefault(str(name), len(numbers)) for name in unshared[plan.cluster].to_list()]
        cluster = np.append(cluster, np.asarray(others, np.intp))
    return scores._replace(means=means, cluster=cluster)


def _leaked(sample: Sample) -> Iterator[LeakedItems]:
    """Yield for each dataset of texts which items are in it, and the mean scores with and without these."""
    names = [] if sample.ids is None else sample.ids.to_list()
    weights = np.ones(len(names)) if sample.weight is None else sample.weight
    for other, kinds in sample.leaks.items():
        how = [kinds.get(name, "") for name in names]
        leaked = sorted(name for name, kind in zip(names, how, strict=True) if kind in ("same", "run"))
        others = weights * [kind not in ("same", "run") for kind in how]
        means, without = ({name: float(np.average(np.asarray(model.predicted, float), weights=counted))
                           for name, model in sample.models.items() if counted.any()} for counted in (weights, others))
        yield LeakedItems(
            dataset=sample.dataset, other=other, items=len(names), without_text=how.count("no text"),
            same=how.count("same"), leaked=len(leaked), names=leaked[:MOST_ITEMS], means=means, means_without=without)


def _strengths(plan: Plan, sample: Sample, scores: Scores) -> Iterator[Strength]:
    """Yield the Bradley-Terry strength of each model; lower scores win where these are better."""
    sign = 1.0 if higher_is_better(plan) else -1.0
    fitted = bradley_terry(sign * scores.means, scores.cluster, scores.weights)
    reach = NormalDist().inv_cdf((1 + plan.level) / 2) * fitted.error
    for k, name in enumerate(sample.models):
        yield Strength(
            dataset=sample.dataset, model=name, log_strength=_known(fitted.log_strength[k]),
            lower=_known(fitted.log_strength[k] - reach[k]), upper=_known(fitted.log_strength[k] + reach[k]),
            level=plan.level, against_average=_known(fitted.against_average[k]), win_rate=_known(fitted.win_rate[k]))


def columns_as_written(plan: Plan, model: str, columns: dict[str, str]) -> dict[str, str]:
    """Return what the spec names of a model's scores, by what it is; the ``columns`` themselves of other tasks."""
    tables = (dataset.table.named for dataset in plan.datasets if dataset.table.scores is not None)
    named = next((scores for table in tables for scores in getattr(table, "models", ()) if scores.name == model), None)
    if named is None:
        return columns
    parts = {"score": named.column, "model": named.log_model, "task": named.task,
             "scorer": ", ".join(named.scorer or ()), "relevance": named.relevance}
    return {part: name for part, name in parts.items() if name}


def with_tied_sets(plan: Plan, results: Results) -> Results:
    """Return the results with the sets of models that the comparisons of their mean scores do not tell apart."""
    pairs: dict[str, list[Comparison]] = {}
    for row in results.comparisons if results.scored else ():
        if row.metric == "mean" and row.slice is None and row.baseline_dataset is None:
            pairs.setdefault(row.dataset, []).append(row)
    sets = [tied for dataset, rows in pairs.items() if (tied := _tied(plan, results, dataset, rows)) is not None]
    return results.model_copy(update={"tied_sets": sets}) if sets else results


def _tied(plan: Plan, results: Results, dataset: str, rows: Sequence[Comparison]) -> TiedModels | None:
    """Return the tied sets of a dataset, from the verdicts on all pairs of models; None where a pair has none."""
    values = {row.model: row.value for row in results.score_errors if row.dataset == dataset}
    sign = -1.0 if higher_is_better(plan) else 1.0
    ranked = sorted(values, key=lambda name: (sign * values[name], name))
    place = {name: k for k, name in enumerate(ranked)}
    if len(rows) != len(ranked) * (len(ranked) - 1) // 2:
        return None
    apart = np.zeros((len(ranked), len(ranked)), bool)
    for row in rows:
        pair = place[row.model], place[row.baseline]
        apart[pair] = apart[pair[::-1]] = row.verdict in ("better", "worse")
    sets = tied_sets(apart)
    return TiedModels(dataset=dataset, ranked=ranked, complete=sets is not None,
                    sets=[[ranked[k] for k in members] for members in sets or ()])
