"""Findings on what a model is worth: whether it beats a rule without features, ranks rightly and predicts every level.

Then what one number of it does not tell: its worst class, its groups, and the other measures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.wording import KEY_MEASURES, joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import (
    FEW_LEVELS,
    NO_DATASETS,
    NO_LEVELS,
    NO_SLICES,
    NOT_BINARY,
    NOT_NUMBERS,
    NOTHING_TESTED,
    ONE_MODEL,
    Claim,
    Unless,
    count_of,
    p_apart,
    p_beyond,
    rule,
)
from evalpipe.findings.margins import against_margin, margin_of, within
from evalpipe.findings.words import (
    MOST_VALUES,
    anchor,
    at_better_prevalence,
    by_prevalence,
    finding,
    first_of,
    grouped,
    measures,
    of_model,
    of_models,
    on_dataset,
    values_of,
    verb_form,
    with_limits,
    with_verb,
)
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.findings.claims import Say
    from evalpipe.results import Confusion, Estimate, Results
    from evalpipe.results.document import Finding


class Skill(NamedTuple):
    """What the measure is called in a sentence, and the rule for which it is 0."""

    called: str
    rule: str


SKILL = {
    "brier_skill": Skill("Brier skill", "the observed shares for every row"),
    "r2": Skill("R²", "the mean for every row"),
    "d2_poisson": Skill("deviance explained", "the mean count for every row"),
}
"""Measures that are 0 for a rule that sees no features."""

BINARY = "the observed prevalence for every row"
"""What the rule is of a binary outcome."""

DECLARED = "the declared prevalence for every row of a population that has it"
"""The same where the rows are weighed to that."""

PERSISTENCE = "the mean of the reference data for every row"
"""The rule that keeps to what was known before: it needs no model either."""


@rule("fails", "undecided", "note", "passes", "equivalent", claims_all=True)
def better_than_trivial(results: Results) -> Iterator[Claim]:
    """Whether predictions are better than a constant prediction."""
    for metric in SKILL:
        rows = measures(results, metric, {"baseline": "evaluation"}) if metric == "r2" else (
            at_better_prevalence(results, metric, lambda row: -row.value))
        for row in rows:
            if metric != "r2" or results.task == "regression":
                yield from _of_skill(row, 0, margin_of(results, "skill"), (better, worse, no_better, undecided))


NO_REFERENCE = Unless("no-reference", lambda spec: not count_of(spec, "datasets", "reference"),
                      lambda results: not measures(results, "r2", {"baseline": "training"}))


@rule("fails", "note", unless=(NOT_NUMBERS, NO_REFERENCE))
def better_than_persistence(results: Results) -> Iterator[Claim]:
    """Whether predicted numbers are better than the mean of the reference data."""
    for row in measures(results, "r2", {"baseline": "training"}):
        if (row.value or 0) < 0:
            yield from against_margin(row, 0, margin_of(results, "skill"), worse_than_persistence)


def _of_skill(row: Estimate, none: float, margin: float, says: tuple[Say, Say, Say, Say]) -> Iterator[Claim]:
    """Yield the claims that a row is better than ``none``, or worse beyond the margin, as good, or neither is known."""
    better_say, worse_say, same, unclear = says
    if (row.value or 0) <= none:
        yield from against_margin(row, none, margin, worse_say, same, unclear)
    elif within(row, none, margin):
        yield Claim(row, same)
    else:
        yield Claim(row, better_say, p_beyond(row, none), unclear)


def worse(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings that models are worse than a rule that uses no features."""
    for group in by_prevalence(rows):
        text = (f"{with_verb(results, group, 'is', 'are')} worse than no model, which predicts "
                f"{_rule_text(results, group)}: {_skill_values(results, group)}, below 0.")
        yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, anchor(results, group[0]), group)


def no_better(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings that models are about as good as a rule that uses no features."""
    for group in by_prevalence(rows):
        text = (f"{with_verb(results, group, 'is', 'are')} about as good as no model, which predicts "
                f"{_rule_text(results, group)}, and no better: {_skill_values(results, group)}.")
        yield finding("equivalent", weights.TRIVIAL_OPEN, text, anchor(results, group[0]), group)


def undecided(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings that the data do not show models to be better than a rule that uses no features."""
    for group in by_prevalence(rows):
        text = (f"These data do not show that {with_verb(results, group, 'is', 'are')} better than no model, which "
                f"predicts {_rule_text(results, group)}: {_skill_values(results, group)}.")
        yield finding("undecided", weights.TRIVIAL_OPEN, text, anchor(results, group[0]), group)


def better(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings that models are better than a rule that uses no features, and by how much."""
    for group in by_prevalence(rows):
        values = _skill_values(results, group)
        if group[0].metric in ("brier_skill", "r2"):
            values = f"squared error less by {_less_error(results, group)}"
        text = (f"{with_verb(results, group, 'is', 'are')} better than no model, which predicts "
                f"{_rule_text(results, group)}: {values}.")
        yield finding("passes", weights.BETTER_THAN_TRIVIAL, text, anchor(results, group[0]), group)


def _less_error(results: Results, rows: Sequence[Estimate]) -> str:
    """Return the share of the squared error that a model saves as text, "32% (28–36%)", by model if there are several.

    Of many models it is the least and the most.
    """
    if len(rows) > MOST_VALUES:
        least, most = (end(rows, key=lambda row: row.value or 0.0) for end in (min, max))
        return " to ".join(f"{_percent(row)} for {of_model(results, row)}" for row in (least, most))
    return values_of(results, rows, _percent)


def _percent(row: Estimate) -> str:
    """Return a share with its limits in per cent, such as "32% (28–36%)"."""
    ends = [100 * (end or 0.0) for end in (row.value, row.lower, row.upper)]
    places = 0 if len({numbers.fixed(end, 0) for end in ends}) == len(ends) else 1
    value, lower, upper = (numbers.fixed(end, places) for end in ends)
    return f"{value}% ({numbers.ranged(lower, upper)}%)"


def worse_than_persistence(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that models are worse than predicting the mean of the reference data."""
    text = (f"{with_verb(results, rows, 'does', 'do')} worse than predicting {PERSISTENCE}: "
            f"{_skill_values(results, rows)}, below 0.")
    yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)


def _rule_text(results: Results, rows: Sequence[Estimate]) -> str:
    """Return in words the rule without features to which the models' skill is relative."""
    if rows[0].params.get("prevalence") is not None:
        return DECLARED
    return BINARY if results.task == "binary" else SKILL[rows[0].metric].rule


def _skill_values(results: Results, rows: Sequence[Estimate]) -> str:
    """Return the name of the skill measure of these rows with their values."""
    return f"{SKILL[rows[0].metric].called} {values_of(results, rows)}"


PERFECT = {"roc_auc": "ranks every event above every non-event", "r2": "predicts every number exactly"}
"""What is said of a model for which a measure has its best value, 1, which is hardly ever earned."""

NO_ERROR = "predicts every class correctly"
"""The same where no row lies off the diagonal of the confusion matrix."""

CHANCE = 0.5
"""The ROC AUC of scores that tell nothing of the event."""


NO_MATRIX = Unless(NOTHING_TESTED, by_results=lambda results: not results.confusion)


@rule("fails", unless=(NO_LEVELS, NO_MATRIX))
def levels_never_predicted(results: Results) -> Iterator[Claim]:
    """Whether every level that occurs is predicted at least once."""
    yield from (Claim(table, never_predicted) for table in results.confusion
                if table.slice is None and table.variant == "original" and _levels_missed(table))


@rule("fails", "undecided", "note", "passes", "equivalent", unless=(NOT_BINARY,), claims_all=True)
def ranking(results: Results) -> Iterator[Claim]:
    """Whether the scores rank events above non-events."""
    for row in measures(results, "roc_auc") if results.task == "binary" else ():
        yield from _of_skill(row, CHANCE, margin_of(results, "ranking"), (ranks, wrong_way, as_chance, no_order))


@rule("undecided", unless=(NO_DATASETS,))
def perfection(results: Results) -> Iterator[Claim]:
    """Whether predictions are perfect, as they are when a feature contains the outcome."""
    perfect: dict[tuple[str, str], tuple[Confusion | Estimate, str]] = {}
    for table in results.confusion:
        error_weight = sum(count for i, counts in enumerate(table.counts) for j, count in enumerate(counts) if i != j)
        several_levels = sum(any(counts) for counts in table.counts) > 1
        if table.slice is None and table.variant == "original" and not error_weight and several_levels:
            perfect[table.dataset, table.model] = (table, NO_ERROR)
    for row in (*results.rows, *results.diagnostics):
        is_overall = row.slice is None and row.class_ is None and row.average is None and row.variant == "original"
        if is_overall and row.value == 1 and row.metric in PERFECT:
            perfect.setdefault((row.dataset, row.model), (row, PERFECT[row.metric]))
    yield from (Claim(row, too_good) for row in perfect.values())


def _levels_missed(table: Confusion) -> dict[str, float]:
    """Return the levels that occur and are never predicted, with the weight of their rows."""
    column_totals = [sum(column) for column in zip(*table.counts, strict=True)]
    row_totals = [sum(row) for row in table.counts]
    return {level: rows for level, rows, predictions in zip(table.levels, row_totals, column_totals, strict=True)
            if rows and not predictions}


def never_predicted(results: Results, rows: Sequence[Confusion]) -> Iterator[Finding]:
    """Yield findings on levels that models never predict, with their numbers of rows."""
    missed = [(table, tuple(_levels_missed(table).items())) for table in rows]
    for key in dict.fromkeys((table.dataset, levels) for table, levels in missed):
        tables = [table for table, levels in missed if (table.dataset, levels) == key]
        listed = joined([f"'{level}' ({numbers.count(count)} {'row' if count == 1 else 'rows'})"
                         for level, count in key[1]])
        text = f"{of_models(results, tables)} never {verb_form(tables, 'predicts', 'predict')} {listed}."
        share = sum(count for _, count in key[1]) / sum(map(sum, tables[0].counts))
        yield finding("fails", weights.by_harm(share, weights.WHOLLY), text, anchor(results, tables[0]))


def wrong_way(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that non-events have higher scores than events."""
    text = (f"{with_verb(results, rows, 'ranks', 'rank')} in the wrong direction: non-events "
            f"have higher scores than events. ROC AUC {values_of(results, rows)}; chance gives {CHANCE}.")
    yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)


def as_chance(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that scores rank events about as well as chance."""
    text = (f"{with_verb(results, rows, 'ranks', 'rank')} events about as chance does: ROC AUC "
            f"{values_of(results, rows)}; chance gives {CHANCE}.")
    yield finding("equivalent", weights.TRIVIAL_OPEN, text, anchor(results, rows[0]), rows)


def no_order(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that the data do not show scores to rank events better than chance."""
    text = (f"These data do not show that {with_verb(results, rows, 'ranks', 'rank')} better "
            f"than chance: ROC AUC {values_of(results, rows)}; chance gives {CHANCE}.")
    yield finding("undecided", weights.TRIVIAL_OPEN, text, anchor(results, rows[0]), rows)


def ranks(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that events have higher scores than non-events."""
    text = (f"{with_verb(results, rows, 'ranks', 'rank')} events above non-events: ROC AUC "
            f"{values_of(results, rows)}; chance gives {CHANCE}.")
    yield finding("passes", weights.BETTER_THAN_TRIVIAL, text, anchor(results, rows[0]), rows)


def too_good(results: Results, rows: Sequence[tuple[Confusion | Estimate, str]]) -> Iterator[Finding]:
    """Yield findings that predictions are perfect, with the advice to check for a feature that contains the outcome.

    ``rows`` are pairs of a row of the results and the words for what is perfect.
    """
    for words in dict.fromkeys(words for _, words in rows):
        perfect = [row for row, wording in rows if wording == words]
        verb, rest = words.split(" ", 1)
        text = (f"{of_models(results, perfect)} {verb if len(perfect) == 1 else verb.removesuffix('s')} {rest}. Check "
                "whether a feature contains the outcome.")
        yield finding("undecided", weights.TOO_GOOD, text, anchor(results, perfect[0]), perfect)


LEAST_ROWS = 10
"""The rows that a class has at least for its share of correct predictions to be compared with those of others."""


class WithinGroups(NamedTuple):
    """The ROC AUC of a model on all rows, and in each group of one way to slice."""

    overall: Estimate
    groups: tuple[Estimate, ...]


class BestModels(NamedTuple):
    """On one dataset, the best model by each measure, in the order of the measures."""

    dataset: str
    model_of_measure: Mapping[str, Estimate]


@rule("note", unless=(FEW_LEVELS,))
def worst_class(results: Results) -> Iterator[Claim]:
    """Which class is predicted correctly least often, and with which it is confused most often."""
    for table in results.confusion:
        if len(table.levels) > 2 and table.slice is None and table.variant == "original" and _correct_shares(table):
            yield Claim(table, least_correct)


@rule("fails", unless=(NOT_BINARY, NO_SLICES))
def ranking_within_groups(results: Results) -> Iterator[Claim]:
    """Whether a model ranks rows within groups, or only tells the groups apart."""
    for overall in measures(results, "roc_auc"):
        same_number = [row for row in results.rows if row.slice is not None and (
            row.metric, row.dataset, row.model, row.variant, row.class_) == (
            overall.metric, overall.dataset, overall.model, overall.variant, None)]
        for rows in grouped(same_number, lambda row: tuple(row.slice or ())):
            has_limits = all(row.status == "ok" and row.upper is not None for row in rows)
            halfway = (CHANCE + (overall.value or 0.0)) / 2
            if len(rows) > 1 and has_limits and max(row.value or 0.0 for row in rows) < halfway:
                # Every group must be lower: of all these tests the largest p-value counts (Berger 1982).
                yield Claim(WithinGroups(overall, tuple(rows)), only_groups, max(p_apart(overall, row) for row in rows))


def _has_model_comparisons(results: Results) -> bool:
    """Tell whether the run compares models with a baseline, so that verdicts say which model is better."""
    return any(row.variant == row.baseline_variant and row.baseline_dataset is None for row in results.comparisons)


MODELS_COMPARED = Unless("models-compared", by_results=_has_model_comparisons)


@rule("note", unless=(ONE_MODEL, MODELS_COMPARED))
def best_by_measure(results: Results) -> Iterator[Claim]:
    """Whether measures agree on which model has the best value."""
    direction_of = {metric.name: metric.direction for metric in results.metrics}
    requested = {row.metric for row in results.rows}
    names = [name for name in KEY_MEASURES if name in requested and direction_of.get(name, "none") != "none"]
    # Values alone are for where there are no verdicts.
    for dataset in results.datasets if len(results.models) > 1 and not _has_model_comparisons(results) else ():
        best = {}
        for name in names:
            rows = [row for row in measures(results, name) if row.dataset == dataset.name]
            sign = 1 if direction_of[name] == "maximize" else -1
            ordered = sorted(rows, key=lambda row: -sign * (row.value or 0.0))
            if len(rows) > 1 and ordered[0].value != ordered[1].value:
                best[name] = ordered[0]
        if len({row.model for row in best.values()}) > 1:
            yield Claim(BestModels(dataset.name, best), measures_disagree)


def least_correct(results: Results, rows: Sequence[Confusion]) -> Iterator[Finding]:
    """Say of each model which class it predicts correctly least often, and what these rows are predicted as most."""
    for table in rows:
        shares = _correct_shares(table)
        level = min(shares, key=lambda k: shares[k])
        counts = table.counts[level]
        total, correct = sum(counts), counts[level]
        wrong = max((k for k in range(len(counts)) if k != level), key=lambda k: counts[k])
        with_class = " with a class" if table.equivocal else ""
        right = (f"{numbers.count(correct)} of its {numbers.count(total)} rows{with_class}" if results.weight is None
                 else f"{numbers.percent(correct, total)} of its rows")
        confused = (numbers.count(counts[wrong]) if results.weight is None
                    else numbers.percent(counts[wrong], total))
        text = (f"{of_model(results, table)} is least often right on '{table.levels[level]}': {right} are predicted "
                f"correctly, {confused} as '{table.levels[wrong]}'.")
        yield finding("note", weights.WORST_CLASS, text, anchor(results, table))


def _correct_shares(table: Confusion) -> dict[int, float]:
    """Return the share of rows predicted correctly by class index; classes with few rows are left out.

    Empty where all rows are predicted correctly.
    """
    totals = [sum(counts) for counts in table.counts]
    shares = {k: table.counts[k][k] / total for k, total in enumerate(totals) if total >= LEAST_ROWS}
    return shares if shares and min(shares.values()) < 1 else {}


def only_groups(results: Results, rows: Sequence[WithinGroups]) -> Iterator[Finding]:
    """Say that a model ranks rows better over all groups than within any of them."""
    for overall, groups in rows:
        low, high = (numbers.number(value) for value in (
            min(row.value or 0.0 for row in groups), max(row.value or 0.0 for row in groups)))
        column = joined(list(groups[0].slice or ()))
        text = (f"{of_model(results, overall)} tells groups of {column} apart more than the rows within them: ROC AUC "
                f"{with_limits(overall)} over all rows, {low} to {high} within each group.")
        yield finding("fails", weights.ONLY_GROUPS, text, "slices", [overall, *groups])


def measures_disagree(results: Results, rows: Sequence[BestModels]) -> Iterator[Finding]:
    """Yield findings that the best model depends on the measure, with the measures by which each model is best."""
    names = names_of(results)
    for dataset, model_of_measure in rows:
        labels: dict[str, list[str]] = {}
        for row in model_of_measure.values():
            labels.setdefault(names.model_of(row), []).append(names.measure_of(row))
        best = [f"{label} by {first_of(of_label)}" for label, of_label in labels.items()]
        text = f"Which model has the best values{on_dataset(results, dataset)} depends on the measure: {joined(best)}."
        yield finding("note", weights.MEASURES_DISAGREE, text, anchor(results, next(iter(model_of_measure.values()))),
                      list(model_of_measure.values()))
