"""Which of several models is best, by the verdicts on every pair of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.tables import key_measures
from evalpipe.card.wording import joined, names_of, number_word
from evalpipe.findings import weights
from evalpipe.findings.claims import ONE_MODEL, Claim, Unless, rule
from evalpipe.findings.margins import margin_between, within
from evalpipe.findings.words import by_dataset, finding, first_of, grouped, on_dataset, with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.wording import Names
    from evalpipe.results import Comparison, Estimate, Results
    from evalpipe.results.document import Finding, FindingKind

OPPOSITE = {"better": "worse", "worse": "better"}
"""The verdict on a difference whose sides change places; the others stay."""

VERDICTS = {"within": "equivalent", "little_worse": "worse", "perhaps_worse": "undecided",
            "perhaps_better": "undecided"}
"""What a leaning, or a verdict by a default margin, counts as."""

class Standing(NamedTuple):
    """A model beside another: its verdict, and the difference of the first less the second."""

    model: str
    other: str
    verdict: str
    row: Comparison


def is_pair(results: Results, row: Comparison) -> bool:
    """Tell whether a difference is of two models of which neither is a baseline, on the same rows."""
    has_baseline = (results.spec.get("compare") or {}).get("baseline") is not None
    return not has_baseline and row.baseline_dataset is None and row.model != row.baseline


NO_PAIRS = Unless("no-pairs", by_results=lambda results: not any(is_pair(results, row) for row in results.comparisons))


def verdict_or_leaning(results: Results, row: Comparison) -> str:
    """Return the verdict on a difference, or a finer word by a default margin or by its unadjusted interval.

    "little_worse": worse, but the interval reaches into the margin. "within": the interval is within a default margin.
    "perhaps_better", "perhaps_worse": the interval excludes zero, and only the correction for the number of differences
    leaves it undecided.
    """
    direction = next((metric.direction for metric in results.metrics if metric.name == row.metric), "none")
    if row.verdict in ("worse", "undecided") and row.difference is not None:
        kind = "models" if row.baseline_dataset is None else "datasets"
        estimate = results.estimate_about.get(row.about)
        of_baseline = None if estimate is None or estimate.value is None else estimate.value - row.difference
        margin = row.margin or margin_between(results, kind, row.metric, of_baseline)
        if row.verdict == "worse" and row.lower is not None and row.upper is not None and (
                min(abs(row.lower), abs(row.upper)) <= margin):
            return "little_worse"
        if direction != "none" and row.margin is None and within(row, 0, margin):
            return "within"
    if row.verdict != "undecided" or direction == "none" or not row.excludes_zero:
        return row.verdict
    return "perhaps_better" if ((row.difference or 0.0) > 0) == (direction == "maximize") else "perhaps_worse"


@rule("undecided", "passes", "equivalent", unless=(ONE_MODEL, NO_PAIRS))
def pairs_compared(results: Results) -> Iterator[Claim]:
    """Which model is best by the first key measure, by the verdicts on all pairs of models."""
    pairs = [row for row in results.comparisons if is_pair(results, row) and row.class_ is None]
    for rows in by_dataset(pairs):
        judged = [row for row in rows if row.verdict not in ("untested", "no_direction")]
        metric = next((name for name in key_measures(results) if any(row.metric == name for row in judged)), None)
        if metric is not None:
            first = next(row for row in judged if row.metric == metric)
            yield Claim((first, tuple(judged)), best_of_pairs)


def best_of_pairs(results: Results, rows: Sequence[tuple[Comparison, Sequence[Comparison]]]) -> Iterator[Finding]:
    """Yield a finding for each dataset: which model has the best value, and which others it is better than or equal to.

    ``rows`` has, for each dataset, a difference of the measure that ranks the models, and all judged differences.
    """
    names = names_of(results)
    for first, pairs in rows:
        best = _best_estimate(results, first)
        standings = [_standing(results, row, best.model) for row in _same_measure(pairs, first)]
        where = on_dataset(results, first.dataset)
        text, kind = _ranked(names, best, [standing for standing in standings if standing is not None], where)
        weight = weights.WHICH_MODEL if kind == "undecided" else weights.MODEL_BETTER
        text = f"{text}.{_other_measures_sentence(results, best, pairs, first, both=kind == 'undecided')}"
        yield finding(kind, weight, text, "comparison-1", _same_measure(pairs, first))


def _best_estimate(results: Results, first: Comparison) -> Estimate:
    """Return the estimate of the model that has the best value on all rows.

    ``first`` is any difference of the measure, on the dataset in question.
    """
    direction = next(metric.direction for metric in results.metrics if metric.name == first.metric)
    sign = 1 if direction == "maximize" else -1
    same_number = [row for row in results.rows if row.slice is None and row.variant == "original" and row.class_ is None
                   and (row.dataset, row.metric, row.params, row.average) == (
                       first.dataset, first.metric, first.params, first.average)]
    return max(same_number, key=lambda row: (row.value is not None, sign * (row.value or 0.0)))


def _same_measure(pairs: Sequence[Comparison], first: Comparison) -> list[Comparison]:
    """Return those of ``pairs`` that are of the same measure, options and average as ``first``."""
    return [row for row in pairs
            if (row.metric, row.params, row.average) == (first.metric, first.params, first.average)]


def _standing(results: Results, row: Comparison, model: str) -> Standing | None:
    """Return the verdict on ``model`` against the other model of a difference; None where it is neither of the two."""
    if model not in (row.model, row.baseline):
        return None
    verdict = VERDICTS.get(verdict_or_leaning(results, row), row.verdict)
    if row.model == model:
        return Standing(model, row.baseline, verdict, row)
    return Standing(model, row.model, OPPOSITE.get(verdict, verdict), row)


def _ranked(names: Names, best: Estimate, standings: Sequence[Standing], where: str) -> tuple[str, FindingKind]:
    """Return the sentence on the best model, without a full stop, and the kind of finding.

    ``where`` names the dataset where there are several, such as " on test".
    """
    label, measure = names.model_of(best), names.measure_of(best)
    labels = {verdict: [names.model(item.other) for item in standings if item.verdict == verdict]
              for verdict in ("better", "equivalent", "same", "undecided", "worse")}
    # By adjusted p-values a model with a worse value may be decided better nowhere; "worse" stands for neither.
    undecided = [*labels["undecided"], *labels["worse"]]
    equal = [*labels["equivalent"], *labels["same"]]
    if len(standings) == 1 and not equal:
        difference = f"in {measure} {_difference_text(standings[0])}"
        if undecided:
            return (f"By {measure} these data do not rank {label} and {undecided[0]}{where}: {label} minus "
                    f"{undecided[0]} {_difference_text(standings[0])}"), "undecided"
        return f"{label} is better than {labels['better'][0]}{where}: difference {difference}", "passes"
    if not labels["better"] and not equal:
        return (f"These data do not rank the {number_word(len(standings) + 1)} models by {measure}{where}: "
                f"{label} has the best value, {with_limits(best)}, but is shown better than none"), "undecided"
    parts = [*([f"better than {first_of(labels['better'])}"] if labels["better"] else []),
             *([f"equivalent to {first_of(equal)}"] if equal else []),
             *([f"these data do not rank it against {first_of(undecided)}"] if undecided else [])]
    kind: FindingKind = "undecided" if undecided else "equivalent" if equal else "passes"
    return f"{label} has the best {measure}{where}, {with_limits(best)}: {'; '.join(parts)}", kind


def _difference_text(standing: Standing) -> str:
    """Return the text of the difference, the standing's model minus the other, with its limits."""
    row = standing.row
    if row.difference is None:
        return "undefined"
    if row.model == standing.model:
        return numbers.signed_with_limits(row.difference, row.lower, row.upper)
    lower, upper = (None if end is None else -end for end in (row.upper, row.lower))
    return numbers.signed_with_limits(-row.difference, lower, upper)


def _other_measures_sentence(
    results: Results, best: Estimate, pairs: Sequence[Comparison], first: Comparison, *, both: bool
) -> str:
    """Return a sentence on the models that beat the best one by other measures than ``first``; empty without any.

    With ``both``, for two models that ``first`` does not rank, it also names the measures by which the best one wins.
    """
    names, of_first = names_of(results), _same_measure(pairs, first)
    standings = [standing for row in pairs if row not in of_first
                 and (standing := _standing(results, row, best.model)) is not None]
    better_models = [(standing.other, standing) for standing in standings if standing.verdict == "worse"]
    if both and len(of_first) == 1:
        better_models = [(best.model, item) for item in standings if item.verdict == "better"] + better_models
    models_by_measures: dict[str, list[str]] = {}
    for group in grouped(better_models, lambda pair: pair[0]):
        measures = list(dict.fromkeys(names.measure_of(standing.row) for _, standing in group))
        models_by_measures.setdefault(first_of(measures), []).append(names.model(group[0][0]))
    parts = [f"{joined(models)} {'is' if len(models) == 1 else 'are'} better by {measures}"
             for measures, models in models_by_measures.items()]
    return f" {'; '.join(parts)}." if parts else ""
