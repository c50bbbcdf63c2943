"""What desirability comes to, in plain words: who is first, how sure that is, and what makes a model unacceptable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.tables import ranged
from evalpipe.card.wording import Names, names_of
from evalpipe.chapters.desirability.records import FACTORS
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.chapters.desirability.records import Goal, Overall
    from evalpipe.results import Results


def goal_title(names: Names, goal: Goal) -> str:
    """Return the title of what a goal judges, such as "Brier score" or "Active features"."""
    if goal.metric is not None:
        return names.measure(goal.metric, goal.params, goal.average)
    title = (goal.characteristic or "").replace("_", " ")
    return title[:1].upper() + title[1:]


def ranked(results: Results, dataset: str) -> list[Overall]:
    """Return the models and variants of a dataset, the most desirable first, those without a value last."""
    rows = [row for row in results.desirability.overall if row.dataset == dataset]
    return sorted(rows, key=lambda row: row.rank or len(rows) + 1)


def share(value: float | None) -> str:
    """Return a share in per cent as text; a dash for None."""
    return "–" if value is None else numbers.percent(value, 1)


def _distinct_titles(results: Results, names: Names) -> dict[str, str]:
    """Return the title of each goal by its name, with its form where goals share a title."""
    goals = results.desirability.goals
    titles = [goal_title(names, goal) for goal in goals]
    return {
        goal.goal: f"{title} ({goal.kind})" if titles.count(title) > 1 else title
        for goal, title in zip(goals, titles, strict=True)
    }


def verdict(results: Results, dataset: str) -> tuple[str, ...]:
    """Return the sentences on the desirability of the models on one dataset."""
    rows = [row for row in results.desirability.overall if row.dataset == dataset]
    names = names_of(results)
    sentences = [_first_place(results, names, rows)]
    if any(row.value for row in rows) and len(rows) > 1:
        sentences += _weight_sentences(results, names, rows, dataset)
    sentences += _unacceptable_models(results, names, rows, dataset)
    sentences += [f"{names.model_of(row)} has no overall desirability: {row.reason}."
                  for row in rows if row.value is None]
    return tuple(sentences)


def _first_place(results: Results, names: Names, rows: list[Overall]) -> str:
    """Return the sentence on which model is the most desirable, and how sure that is."""
    defined = [row for row in rows if row.value is not None]
    first = [row for row in defined if row.rank == 1]
    if not first:
        return "No model has an overall desirability."
    if not first[0].value:
        return "No model is acceptable: each has a goal whose desirability is 0."
    labels, best = [names.model_of(row) for row in first], first[0]
    number = ranged(best.value, best.lower, best.upper)
    level = wording.level(results.intervals.level)
    value = f"D = {number.value}" + (f" ({level} interval {number.interval})" if number.interval else "")
    if len(rows) == 1:
        return f"{labels[0]} has an overall desirability of {value}."
    sentence = f"{wording.joined(labels)} {'is' if len(first) == 1 else 'are equally'} the most desirable, with {value}"
    share_best = best.probability_best
    if len(first) > 1 or share_best is None:
        return f"{sentence}."
    conclusion = "so these data decide which is best" if share_best >= results.intervals.level else (
        "so these data do not decide which is best")
    return f"{sentence}; it is the best in {numbers.percent(share_best, 1)} of the replicates, {conclusion}."


def _weight_sentences(results: Results, names: Names, rows: list[Overall], dataset: str) -> Iterator[str]:
    """Yield sentences on whether another model would be first if the weight of one goal were changed."""
    titles = _distinct_titles(results, names)
    if len(titles) == 1:
        return
    first = {(row.model, row.variant) for row in rows if row.rank == 1}
    changes_by_winner: dict[str, list[str]] = {}
    for goal, title in titles.items():
        for factor, change in FACTORS.items():
            winners = [(c.model, c.variant) for c in results.desirability.sensitivity
                       if c.first and (c.dataset, c.goal, c.factor) == (dataset, goal, factor)]
            if winners and first.isdisjoint(winners):
                changes = changes_by_winner.setdefault(wording.joined([names.model(*winner) for winner in winners]), [])
                changes.append(f"that of {title} {change}" if changes else f"the weight of {title} were {change}")
    if not changes_by_winner:
        changed = wording.joined(tuple(FACTORS.values()), "or")
        yield f"First place does not change when the weight of any one goal is {changed}."
    for winner, changes in changes_by_winner.items():
        yield f"First place depends on the weights: {winner} would be first if {' or '.join(changes)}."


def _unacceptable_models(results: Results, names: Names, rows: list[Overall], dataset: str) -> Iterator[str]:
    """Yield sentences on which goals make models unacceptable, models of the same goals together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    titles = _distinct_titles(results, names)
    for row in rows:
        zero_goals = tuple(
            titles[judged.goal] for judged in results.desirability.individual
            if judged.desirability == 0
            and (judged.dataset, judged.model, judged.variant) == (dataset, row.model, row.variant)
        )
        if zero_goals and row.value == 0:
            groups.setdefault(zero_goals, []).append(names.model_of(row))
    for goals, labels in groups.items():
        named, others = (labels, "") if len(labels) <= 5 else (labels[:4], f" and {len(labels) - 4} others")
        verb = "is" if len(labels) == 1 else "are"
        yield f"{wording.joined(named)}{others} {verb} unacceptable, with desirability 0 for {wording.joined(goals)}."
