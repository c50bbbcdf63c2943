"""What recalibration gains: a plain paragraph for each model, and findings on which are better or worse for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalpipe.card import wording
from evalpipe.card.tables import overall, shown
from evalpipe.card.wording import joined, names_of, variant_name
from evalpipe.chapters.compare.card import is_recalibrated
from evalpipe.findings import weights
from evalpipe.findings.claims import NOTHING_TESTED, Claim, Unless, rule, unless_key
from evalpipe.findings.margins import margin_between
from evalpipe.findings.words import anchor, difference_of, finding, grouped, of_model
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalpipe.results import Comparison, Estimate, Results
    from evalpipe.results.document import Finding


SHIFTED = "A prior shift is meant for another prevalence than that of these rows"
"""Why such a variant has no verdict."""

PROPER_LOSSES = (
    ("brier", "log_loss", "rps", "rmse", "poisson_deviance", "poisson_log_loss", "gamma_deviance", "tweedie_deviance"),
    ("mse", "deviance", "log_likelihood", "brier_skill", "d2_poisson", "d2_tweedie"),
)
"""The measures that true probabilities and means make best, by which recalibration is judged. The second say the same
as the first in other units, and are looked at where a run has none of the first."""


class CalibrationWords(NamedTuple):
    """How a measure of calibration is read: its name and ideal value, and what lies below and above that."""

    name: str
    ideal: float
    below: str
    above: str


CALIBRATION = {
    "calibration_slope": CalibrationWords(
        "calibration slope", 1, "probabilities are overconfident (too extreme)",
        "probabilities are underconfident (too close together)"),
    "calibration_in_the_large": CalibrationWords(
        "calibration in the large", 0, "probabilities are too high on average",
        "probabilities are too low on average"),
    "linear_calibration_slope": CalibrationWords(
        "slope of the calibration line", 1, "predictions are too extreme", "predictions are too close together"),
}
"""Measures of calibration that a card says in words, where a run has them."""


class Conclusion(NamedTuple):
    """What the rows say of the recalibration of one model: a headline, and the sentences behind it."""

    headline: str
    sentences: tuple[str, ...]


def conclusion(results: Results, dataset: str, model: str) -> Conclusion:
    """Return whether recalibration of a model is a gain on a dataset, and how calibrated it was before.

    A method gains where the verdict on a proper loss is "better", as `PROPER_LOSSES` names them.
    """
    if has_rank_score(results, model):
        return Conclusion("recalibration gives it probabilities.", (
            "The score is a rank alone: it has no probabilities that those of its variants could be compared with.",))
    losses = _differences_of_losses(results, dataset, model)
    directions = {metric.name: metric.direction for metric in results.metrics}
    headline, sentences = _verdict_of_losses(losses, directions) if losses else _verdict_without_losses(results)
    return Conclusion(headline, (*sentences, *_calibration_before(results, dataset, model)))


def has_rank_score(results: Results, model: str) -> bool:
    """Tell whether a model gives a score without a scale, which only ranks rows."""
    return any(entry.name == model and "score" in entry.columns and entry.scale is None for entry in results.models)


def _differences_of_losses(results: Results, dataset: str, model: str) -> dict[str, list[Comparison]]:
    """Return the differences of variants from the original in proper losses, over all rows, by loss.

    Losses are of the first group of `PROPER_LOSSES` that was measured; variants at another prevalence are left
    out.
    """
    names = names_of(results)
    shifted = {record.variant for record in results.recalibration if record.shifts}
    rows = [
        c for c in results.comparisons
        if is_recalibrated(c) and (c.dataset, c.model) == (dataset, model) and c.variant not in shifted
        and c.slice is None and c.average is None and c.class_ is None and "prevalence" not in c.params
    ]
    for metrics in PROPER_LOSSES:
        losses: dict[str, list[Comparison]] = {}
        for c in sorted((c for c in rows if c.metric in metrics), key=lambda c: metrics.index(c.metric)):
            losses.setdefault(names.measure_of(c), []).append(c)
        if losses:
            return losses
    return {}


def _verdict_without_losses(results: Results) -> Conclusion:
    """Return the conclusion where no measure can judge recalibration: no verdict, and why."""
    if results.recalibration and all(record.shifts for record in results.recalibration):
        return Conclusion("no verdict.", (f"{SHIFTED}, so measures on these rows cannot judge it.",))
    kind, example = ("proper score", "the Brier score or the log loss") if results.levels else (
        "proper loss of a mean", "RMSE or MSE")
    text = f"No {kind}, such as {example}, is among the metrics, so there is no verdict."
    return Conclusion("no verdict.", (text,))


def _verdict_of_losses(losses: Mapping[str, Sequence[Comparison]], directions: Mapping[str, str]) -> Conclusion:
    """Return the conclusion from the differences of losses; ``directions`` are those of the measures, by name."""
    differences = [c for rows in losses.values() for c in rows]
    if all(c.lower is None for c in differences):
        return Conclusion("no verdict.", ("The differences have no intervals, so there is no verdict.",))
    gains, harms = (dict.fromkeys(c.variant for c in differences if c.verdict == word) for word in ("better", "worse"))
    rest = dict.fromkeys(c.variant for c in differences if c.variant not in {**gains, **harms})
    why = _why_undecided([c for c in differences if c.variant in rest])
    sentences = [*_largest_changes(losses, directions, "better", gains)]
    if not gains:
        sentences.append(f"No method improves {wording.joined([*losses], 'or')}{'.' if harms else f': {why}.'}")
    sentences += _largest_changes(losses, directions, "worse", harms)
    if rest and (gains or harms):
        sentences.append(f"With {wording.joined(list(map(variant_name, rest)))}, {why}.")
    for name, rows in losses.items():
        undefined = [variant_name(c.variant) for c in rows if c.difference is None]
        if undefined:
            sentences.append(f"With {wording.joined(undefined)}, {name} has no value to compare.")
    return Conclusion(_headline(gains, harms, rest), tuple(sentences))


def _headline(gains: Collection[str], harms: Collection[str], rest: Collection[str]) -> str:
    """Return the headline on variants that gain, that harm, and the rest that do neither."""
    if not gains and not harms:
        return "recalibration is no real gain."
    if not gains:
        return f"recalibration makes it worse{' with some methods, and no better with the others' if rest else ''}."
    if not harms:
        return "recalibration is a real gain."
    if any(variant not in harms for variant in gains):
        return "recalibration is a real gain with some methods, not with all."
    return "recalibration is a gain by one measure and a loss by another."


def _why_undecided(differences: Sequence[Comparison]) -> str:
    """Return why no verdict is given on differences, as a clause."""
    tested = [c for c in differences if c.verdict in {"undecided", "equivalent"}]
    if not tested:
        return "the difference is zero in every resample" if any(c.verdict == "same" for c in differences) else (
            "the difference has no reliable interval")
    margin = " or lies within its margin" if any(c.verdict == "equivalent" for c in tested) else ""
    if any(c.excludes_zero for c in tested if c.verdict == "undecided"):
        return f"no difference is clearly beyond zero after correction for their number{margin and ','}{margin}"
    return f"every interval of the difference includes zero{margin}"


def _largest_changes(
    losses: Mapping[str, Sequence[Comparison]], directions: Mapping[str, str], word: str, variants: Collection[str]
) -> list[str]:
    """Return sentences on which method changes each loss most for better or worse (``word``), and how many others do.

    ``variants`` are the methods with that verdict on any loss.
    """
    sentences, named_variants = [], set()
    for name, rows in losses.items():
        changed = [c for c in rows if c.verdict == word and c.difference is not None]
        if changed:
            largest = max(changed, key=lambda c: abs(c.difference or 0.0))
            named_variants.add(largest.variant)
            verb = "falls" if (directions[largest.metric] == "minimize") == (word == "better") else "rises"
            most = "most " if len(changed) > 1 else ""
            amount = f"{most}with {variant_name(largest.variant)}, by {_amount_with_interval(largest)}"
            sentences.append(f"{name} {verb} {amount}.")
    other_count = len(set(variants) - named_variants)
    if other_count:  # "one further method gains as well"
        verb = {"better": ("gains", "gain"), "worse": ("makes it worse", "make it worse")}[word][other_count > 1]
        methods = f"{wording.number_word(other_count)} further {'method' if other_count == 1 else 'methods'}"
        sentences[-1] = f"{sentences[-1][:-1]}; {methods} {verb} as well."
    return sentences


def _amount_with_interval(difference: Comparison) -> str:
    """Return by how much a measure changes, without its sign, with the interval, as text."""
    sign = -1.0 if (difference.difference or 0.0) < 0 else 1.0
    value, *ends = (sign * (end or 0.0) for end in (difference.difference, difference.lower, difference.upper))
    text, interval = numbers.interval(value, min(ends), max(ends))
    return f"{text} ({interval})"


def _calibration_before(results: Results, dataset: str, model: str) -> Iterator[str]:
    """Yield the sentence on what the calibration measures of the original predictions show, if there are any."""
    clauses = [
        _calibration_side(e, CALIBRATION[e.metric]) for e in overall(results, dataset)
        if (e.model, e.average, e.class_) == (model, None, None) and "prevalence" not in e.params
        and e.metric in CALIBRATION and e.value is not None
    ]
    if clauses:
        yield f"Without it, {'; '.join(clauses)}."


def _calibration_side(e: Estimate, words: CalibrationWords) -> str:
    """Return a clause on whether a calibration measure is below, above or at its ideal, by its interval."""
    text = f"{words.name} {shown(e).text}"
    if e.lower is None or e.upper is None:
        return f"the {words.name} is {shown(e).text}"
    if e.upper < words.ideal:
        return f"{words.below}: {text}"
    if e.lower > words.ideal:
        return f"{words.above}: {text}"
    return f"the {words.name}, {shown(e).text}, agrees with {words.ideal:g}"


SECTION = "recalibration"
"""What the anchors of the sections on recalibration begin with."""

PROPER = ("brier", "log_loss", "rps", "rmse", "mae", "poisson_deviance")
"""The measures that a recalibration is judged by, the first that the run has: losses that reward right predictions."""


NO_CHANGE = Unless(NOTHING_TESTED, by_results=lambda results: all(
    row.verdict is None for row in results.comparisons if row.variant != row.baseline_variant))


@rule("fails", "undecided", "note", "passes", unless=(unless_key("no-recalibration", "recalibrate"), NO_CHANGE))
def recalibration_judged(results: Results) -> Iterator[Claim]:
    """Whether recalibration makes a model better or worse, by the verdicts of its comparisons."""
    shifted = {(fit.model, fit.variant) for fit in results.recalibration if fit.shifts}
    says = {"better": improvement_findings, "worse": harms, "undecided": undecided_findings}
    rows = [row for row in results.comparisons if row.variant != row.baseline_variant == "original"
            and row.slice is None and row.class_ is None and (row.model, row.variant) not in shifted
            and "prevalence" not in row.params and row.baseline_dataset is None]
    metric = next((name for name in PROPER if any(row.metric == name for row in rows)), None)
    yield from (Claim(row, says[row.verdict]) for row in rows if row.metric == metric and row.verdict in says)


def improvement_findings(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Yield a finding on each model that recalibration makes better: by which methods, and by how much at most.

    It is a note where another measure gets worse by more than its margin, which the sentence then adds.
    """
    for group in _rows_by_model(rows):
        price = _price_sentence(results, group)
        text = f"{_change_sentence(results, group, 'makes {} better')}{price}"
        yield finding("note" if price else "passes", weights.RECALIBRATION_HELPS, text,
                      anchor(results, group[0], SECTION), group)


def harms(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Yield a finding on each model that recalibration makes worse, with the methods that do."""
    for group in _rows_by_model(rows):
        text = _change_sentence(results, group, "makes {} worse")
        yield finding("fails", weights.RECALIBRATION_HARMS, text, anchor(results, group[0], SECTION), group)


def undecided_findings(results: Results, rows: Sequence[Comparison]) -> Iterator[Finding]:
    """Yield a finding on each model whose comparisons show neither gain nor loss by recalibration."""
    for group in _rows_by_model(rows):
        text = (f"These data do not show that recalibration by {_joined_methods(group)} makes "
                f"{of_model(results, _as_original(group))} better or worse.")
        yield finding("undecided", weights.RECALIBRATION_OPEN, text, anchor(results, group[0], SECTION), group)


def _rows_by_model(rows: Sequence[Comparison]) -> Iterator[list[Comparison]]:
    """Yield the rows of each model on each dataset as a list."""
    return grouped(rows, lambda row: (row.dataset, row.model))


def _change_sentence(results: Results, rows: Sequence[Comparison], verb: str) -> str:
    """Return "Recalibration by beta makes Forest better: Brier score −0.074 (−0.090 to −0.058).".

    ``verb``, such as "makes {} better", has {} where the model's name goes. The difference is the largest of
    ``rows``.
    """
    most = max(rows, key=lambda row: abs(row.difference or 0.0))
    measure = names_of(results).measure(most.metric, most.params, most.average)
    by_most = f"by {variant_name(most.variant)}, " if len(rows) > 1 else ""
    changed = verb.format(of_model(results, _as_original(rows)))
    return f"Recalibration by {_joined_methods(rows)} {changed}: {measure} {by_most}{difference_of(most)}."


def _price_sentence(results: Results, rows: Sequence[Comparison]) -> str:
    """Return " The price: Specificity falls from 0.59 to 0.00."; empty where no measure is clearly worse.

    Clearly: the whole interval is beyond the margin. It names the measure that is worse by most margins, of the
    method that gains most if that has any.
    """
    most = max(rows, key=lambda row: abs(row.difference or 0.0)).variant
    methods = {(row.dataset, row.model, row.variant) for row in rows}
    worse: list[tuple[float, Comparison, float]] = []
    for row in results.comparisons:
        before = _value_of_variant(results, row, row.baseline_variant)
        if (row.dataset, row.model, row.variant) in methods and row.verdict == "worse" and is_recalibrated(row) and (
                row.slice is None and row.class_ is None and "prevalence" not in row.params and before is not None
                and row.lower is not None and row.upper is not None):
            margin = row.margin or margin_between(results, "models", row.metric, before)
            if min(abs(row.lower), abs(row.upper)) > margin:
                worse.append((abs(row.difference or 0.0) / (margin or 1.0), row, before))
    if not worse:
        return ""
    _, row, before = max(worse, key=lambda entry: (entry[1].variant == most, entry[0]))
    method = f" by {variant_name(row.variant)}" if len(rows) > 1 else ""
    measure = names_of(results).measure(row.metric, row.params, row.average)
    gained = next((other for other in results.comparisons if other.metric == TRADED.get(row.metric) and (
        other.verdict == "better") and _comparison_key(other) == _comparison_key(row)), None)
    before_of_gained = None if gained is None else _value_of_variant(results, gained, gained.baseline_variant)
    gain = "" if gained is None or before_of_gained is None else (
        f", while {names_of(results).measure(gained.metric, gained.params)} {_change_text(gained, before_of_gained)}")
    return f" The price: {measure}{method} {_change_text(row, before)}{gain}."


TRADED = {"specificity": "sensitivity", "sensitivity": "specificity"}
"""The measure that gains where another loses, as more or fewer rows lie above the threshold."""


def _comparison_key(row: Comparison) -> tuple[Any, ...]:
    """Return the key of comparisons of one variant of a model with one baseline on the same rows."""
    return row.dataset, row.model, row.variant, row.baseline, row.baseline_variant, row.slice, row.class_


def _change_text(row: Comparison, before: float) -> str:
    """Return "falls from 0.59 to 0.00": from the value ``before`` to that plus the difference of ``row``."""
    text = numbers.number(before)
    after = numbers.fixed(before + (row.difference or 0.0), len(text.partition(".")[2]))
    return f"{'falls' if (row.difference or 0.0) < 0 else 'rises'} from {text} to {after}"


def _value_of_variant(results: Results, row: Comparison, variant: str) -> float | None:
    """Return the estimate of the measure of ``row`` for another ``variant`` of its model; None without one."""
    about = row.model_copy(update={"variant": variant}).about
    estimate = results.estimate_about.get(about)
    return None if estimate is None else estimate.value


def _as_original(rows: Sequence[Comparison]) -> Comparison:
    """Return the first row with its variant set to "original", so that a sentence names the model alone."""
    return rows[0].model_copy(update={"variant": "original"})


def _joined_methods(rows: Sequence[Comparison]) -> str:
    """Return the names of the variants of ``rows``, joined by "or"."""
    return joined([variant_name(row.variant) for row in rows], "or")
