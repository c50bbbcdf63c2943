"""The card's section on candidates: the goals, the most desirable of them, and the Pareto figure."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import Aside, Cell, Code, Column, Figures, Number, Row, Section, Styled, Table, Text
from evalpipe.chapters.candidates.figures import candidate_figures
from evalpipe.chapters.candidates.words import (
    counted,
    first_said,
    front_said,
    goal_titles,
    id_texts,
    near_said,
    undefined_said,
)
from evalpipe.chapters.desirability.card import CAVEAT, SOURCES, form
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.chapters.candidates.records import CandidateGoal, Candidates, RankedCandidate
    from evalpipe.results import Results, Scalar

AT_FIRST = 5
"""The candidates on the first screen."""

MOST_SHOWN = 20
"""The candidates that the card lists; the results hold all."""

LEAD = (
    "Candidates with finished metrics, as a table gives them: nothing is measured here. Each goal turns a value into a "
    "desirability from 0 (unacceptable) to 1 (ideal). The overall desirability D is the weighted geometric mean over "
    "the goals: if one of them is 0, D is 0."
)
PARETO = (
    "“Pareto” marks a candidate if no other is at least as good in every goal and better in one, whatever the weights."
)
NEAR = (
    "“Within one SE” marks a candidate whose D is at least {limit}: the D of the best if each value with a standard "
    "error were one standard error worse. Standard errors are known of {goals}."
)
UNKNOWN = "The table has no standard errors of the best, so nothing here says which differences are noise."


def sections(results: Results) -> Iterator[Section]:
    """Write the section; none without candidates."""
    candidates = results.candidates
    if not candidates.ranking:
        return
    sentences = filter(None, (first_said(results), front_said(results), near_said(results), undefined_said(results)))
    said = " ".join(f"{text}." for text in sentences)
    yield Section("candidates", "Candidates", (
        Text(LEAD, "lead"), Text(said), _ranking(results), Figures(partial(candidate_figures, results)),
        _goals(results), Text(f"{PARETO} {_noise(results)} {CAVEAT.format(what='candidates')} {SOURCES}", "small"),
    ), part="comparison")


def run_verdict(results: Results) -> Iterator[tuple[str, str]]:
    """Head the card of candidates alone, which no gate judges."""
    if results.candidates.ranking and not results.datasets:
        yield "•", (f"A ranking of {counted(results.candidates)}: without predictions "
                    "there is nothing that a gate could judge")


def glance(results: Results) -> Iterator[Table]:
    """List the first of candidates alone, which have the first screen for themselves."""
    candidates, texts = results.candidates, id_texts(results.candidates)
    rows = tuple(Row((
        "–" if row.rank is None else str(row.rank), *(_id(texts[column], value) for column, value in row.id.items()),
        _overall(row))) for row in candidates.ranking[:AT_FIRST])
    if rows and not results.datasets:
        columns = (Column("Rank", "num"), *(Column(column) for column in candidates.id), Column("D", "num"))
        yield Table(f"The first of {counted(candidates)}", columns, rows, heading=1)


def outcome(results: Results) -> Iterator[tuple[str, Cell]]:
    """Say what was ranked, and by what."""
    candidates = results.candidates
    if candidates.ranking:
        yield "Candidates", (f"{numbers.count(len(candidates.ranking))}, told apart by "
                             f"{wording.joined(candidates.id)}")
        yield "Ranked by", wording.joined(list(goal_titles(results).values()))


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how the candidates were ranked."""
    candidates = results.candidates
    if not candidates.ranking:
        return
    yield Procedure("Candidates", (
        "Their values were read from a table and not computed. Ranks are by overall desirability; ties share the "
        "better rank. A candidate without a value that a goal needs has no overall desirability, unless the goal says "
        "what a missing value counts. The order of the rows of the table changes nothing."))
    if candidates.within is not None:
        yield Procedure("One standard error", (
            "A candidate lies within one standard error of the best if its overall desirability is at least that of "
            "the best with each value moved by one standard error to where the goal is worse. It is the rule of one "
            "standard error of Breiman, Friedman, Olshen & Stone (1984), taken to desirability. It is no test: "
            "candidates that share resamples vary together."))


def _ranking(results: Results) -> Table:
    candidates, titles, texts = results.candidates, goal_titles(results), id_texts(results.candidates)
    near = candidates.within is not None
    columns = (
        Column("Rank", "num"), *(Column(column) for column in candidates.id), Column("D", "num"),
        *(Column(titles[goal.goal], "num") for goal in candidates.goals), Column("Pareto"),
        Column("Within one SE", shown=near))
    count = len(candidates.ranking)
    caption = f"The {MOST_SHOWN} most desirable of {counted(candidates)}" if count > MOST_SHOWN else (
        "Candidates by desirability")
    return Table(caption, columns, tuple(_row(candidates, texts, candidate) for candidate in candidates.ranking),
                 heading=1, most=MOST_SHOWN)


def _row(candidates: Candidates, texts: dict[str, dict[Scalar | None, str]], candidate: RankedCandidate) -> Row:
    return Row((
        "–" if candidate.rank is None else str(candidate.rank),
        *(_id(texts[column], value) for column, value in candidate.id.items()), _overall(candidate),
        *(_cell(goal, candidate) for goal in candidates.goals),
        _yes(answer=candidate.pareto), _yes(answer=candidate.near)))


def _id(texts: dict[Scalar | None, str], value: Scalar | None) -> Cell:
    exact = numbers.exact(value) if isinstance(value, float) and not isinstance(value, bool) else None
    return texts[value] if exact is None else Number(texts[value], None, None, exact)


def _overall(candidate: RankedCandidate) -> Number:
    value = candidate.value
    return Number("undefined") if value is None else Number(numbers.number(value), None, None, numbers.exact(value))


def _yes(*, answer: bool | None) -> str:
    return "–" if answer is None else "yes" if answer else "no"


def _cell(goal: CandidateGoal, candidate: RankedCandidate) -> Cell:
    """Write a value with the desirability that it has."""
    value, d = candidate.values[goal.goal], candidate.desirability[goal.goal]
    known = "undefined" if d is None else f"d\u00a0=\u00a0{numbers.number(d)}"
    if value is None:
        return "no value", Aside(known, "definition")
    if isinstance(value, str | bool):
        return wording.scalar(value), Aside(known, "definition")
    return _with_error(float(value), candidate.std_err.get(goal.goal)), Aside(known, "definition")


def _with_error(value: float, error: float | None) -> str:
    """Write a value, with two significant digits of its standard error where it has one: "0.0348 ± 0.0063"."""
    if not error:
        return numbers.count(value) if value.is_integer() else numbers.number(value)
    digits = min(numbers.significant(error, 2), numbers.MOST_DECIMALS)
    return f"{numbers.fixed(value, digits)}\u00a0±\u00a0{numbers.fixed(error, digits)}"


def _goals(results: Results) -> Table:
    goals, titles = results.candidates.goals, goal_titles(results)
    missing = any(goal.missing is not None for goal in goals)
    columns = (Column("Goal"), Column("Desirability"), Column("Weight", "num"), Column("Column"),
               Column("If missing", "num", shown=missing))
    return Table("Goals of the candidates", columns, tuple(
        Row((titles[goal.goal], form(goal), numbers.plain(goal.weight), Styled(Code(goal.column), ""),
             "–" if goal.missing is None else numbers.plain(goal.missing))) for goal in goals))


def _noise(results: Results) -> str:
    """Say what is known of noise."""
    candidates, titles = results.candidates, goal_titles(results)
    if candidates.within is None:
        return UNKNOWN
    goals = [titles[goal.goal] for goal in candidates.goals if goal.std_err]
    return NEAR.format(limit=numbers.number(candidates.within), goals=wording.joined(goals))
