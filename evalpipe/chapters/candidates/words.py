"""What candidates are called on the card, and what is said of those that are first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import group, joined, names_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.chapters.candidates.records import CandidateGoal, Candidates, RankedCandidate
    from evalpipe.results import Results, Scalar

MOST_NAMED = 3
"""The candidates that a sentence names; of more it gives the number."""


def goal_titles(results: Results) -> dict[str, str]:
    """Return what each goal is called, by its name: what it is of, with its form where that alone is not enough."""
    goals = results.candidates.goals
    titles = [_title(results, goal) for goal in goals]
    return {goal.goal: f"{title} ({goal.kind})" if titles.count(title) > 1 else title
            for goal, title in zip(goals, titles, strict=True)}


def _title(results: Results, goal: CandidateGoal) -> str:
    """Name what a goal is of; no candidate has other options of a measure, so they go without saying."""
    if goal.metric is not None:
        prevalence = {name: value for name, value in goal.params.items() if name == "prevalence"}
        return names_of(results).measure(goal.metric, prevalence, goal.average)
    title = (goal.characteristic or "").replace("_", " ")
    return title[:1].upper() + title[1:]


def id_texts(candidates: Candidates) -> dict[str, dict[Scalar | None, str]]:
    """Return how each value of each column of ids is written: with as few digits as tell it from all others."""
    return {column: _written([candidate.id[column] for candidate in candidates.ranking]) for column in candidates.id}


def _written(values: Sequence[Scalar | None]) -> dict[Scalar | None, str]:
    distinct = list(dict.fromkeys(values))
    fractions = [value for value in distinct if isinstance(value, float) and not isinstance(value, bool)]
    for digits in range(numbers.USUAL_DIGITS, 17):
        short = {value: numbers.exact(float(f"{value:.{digits}g}")) for value in fractions}
        if len(set(short.values())) == len(fractions):
            break
    texts: dict[Scalar | None, str] = {
        value: "–" if value is None else group(value) for value in distinct}
    return texts | dict(short)


def candidate_name(texts: dict[str, dict[Scalar | None, str]], candidate: RankedCandidate) -> str:
    """Name a candidate by what tells it from others: "mtry = 7 and min_n = 5"."""
    return joined([f"{column} = {texts[column][value]}" for column, value in candidate.id.items()])


def best_of(candidates: Candidates) -> list[RankedCandidate]:
    """Return the candidates that are the most desirable; none where no candidate is defined."""
    return [candidate for candidate in candidates.ranking if candidate.rank == 1]


def counted(candidates: Candidates) -> str:
    """Say how many candidates there are: "300 candidates"."""
    number = len(candidates.ranking)
    return "1 candidate" if number == 1 else f"{numbers.count(number)} candidates"


def first_said(results: Results) -> str:
    """Say who is the most desirable of how many."""
    candidates = results.candidates
    count, first = counted(candidates), best_of(candidates)
    if not first:
        return f"None of {count} has an overall desirability"
    if not first[0].value:
        return f"None of {count} is acceptable: each has a goal whose desirability is 0"
    value = numbers.number(first[0].value)
    if len(first) > MOST_NAMED:
        return f"Of {count}, {numbers.count(len(first))} are equally the most desirable: {value}"
    texts = id_texts(candidates)
    named = [candidate_name(texts, candidate) for candidate in first]
    if len(first) > 1:
        return f"Of {count}, those with {'; '.join(named)} are equally the most desirable: {value}"
    return f"Of {count}, the one with {named[0]} is the most desirable: {value}"


def in_a_line(results: Results) -> str:
    """Return the line of the terminal: "300 candidates, most desirable: mtry = 7, D 0.812"."""
    candidates = results.candidates
    count, first = counted(candidates), best_of(candidates)
    if not first or first[0].value is None:
        return f"{count}, none with an overall desirability"
    named = candidate_name(id_texts(candidates), first[0])
    more = f" and {numbers.count(len(first) - 1)} more" if len(first) > 1 else ""
    return f"{count}, most desirable: {named}{more}, D {numbers.number(first[0].value)}"


def front_said(results: Results) -> str:
    """Say how many candidates no other one beats in the two goals of the figure; empty where there is none."""
    candidates = results.candidates
    if not candidates.axes:
        return ""
    titles = goal_titles(results)
    front = sum(bool(candidate.front) for candidate in candidates.ranking)
    verb = "is" if front == 1 else "are"
    named = joined([titles[axis] for axis in candidates.axes])
    return f"{numbers.count(front)} {verb} not dominated in {named}"


def near_said(results: Results) -> str:
    """Say how many others lie within one standard error of the best; empty where the table has no such errors."""
    candidates = results.candidates
    if candidates.within is None:
        return ""
    others = sum(bool(candidate.near) and candidate.rank != 1 for candidate in candidates.ranking)
    which = "the best" if len(best_of(candidates)) == 1 else "those"
    if not others:
        return f"No other candidate lies within one standard error of {which}"
    return (f"{numbers.count(others)} other candidate{' lies' if others == 1 else 's lie'} within one standard error "
            f"of {which}, so these values do not decide between them")


def undefined_said(results: Results) -> str:
    """Say how many candidates lack a value, of which goals; empty where none does."""
    lacking = [candidate for candidate in results.candidates.ranking if candidate.value is None]
    if not lacking:
        return ""
    titles = goal_titles(results)
    goals = [titles[goal.goal] for goal in results.candidates.goals
             if any(candidate.desirability[goal.goal] is None for candidate in lacking)]
    has, rank = ("has", "It ranks") if len(lacking) == 1 else ("have", "They rank")
    noun = "candidate" if len(lacking) == 1 else "candidates"
    return (f"{numbers.count(len(lacking))} {noun} {has} no overall desirability, for lack of a value of "
            f"{joined(goals, 'or')}. {rank} last")
