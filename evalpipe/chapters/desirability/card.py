"""What the card says of desirability: of models, and of candidates, whose names, section and findings stand here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import number_axis, unit_axis
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import panel, step_corners
from evalpipe.card.figures.svg import Drawing, Sheet, drawing
from evalpipe.card.method import Procedure
from evalpipe.card.page import Aside, Cell, Code, Column, Figures, Number, Row, Section, Styled, Table, Text
from evalpipe.card.tables import ranged
from evalpipe.card.wording import joined, names_of, slice_value_text
from evalpipe.chapters.desirability import card_models
from evalpipe.chapters.desirability.card_models import CAVEAT, SOURCES, form
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule, unless_key
from evalpipe.findings.words import finding
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.desirability.records import CandidateGoal, Candidates, RankedCandidate
    from evalpipe.results import Results, Scalar
    from evalpipe.results.document import Finding, FindingKind


MOST_NAMED = 3
"""The candidates that a sentence names; of more it gives the number."""


def goal_titles(results: Results) -> dict[str, str]:
    """Return the title of each goal by its name, with its form where goals share a title."""
    goals = results.candidates.goals
    titles = [_goal_title(results, goal) for goal in goals]
    return {goal.goal: f"{title} ({goal.kind})" if titles.count(title) > 1 else title
            for goal, title in zip(goals, titles, strict=True)}


def _goal_title(results: Results, goal: CandidateGoal) -> str:
    """Return the title of a goal's metric, with its prevalence but no other option, or of its characteristic."""
    if goal.metric is not None:
        prevalence = {name: value for name, value in goal.params.items() if name == "prevalence"}
        return names_of(results).measure(goal.metric, prevalence, goal.average)
    title = (goal.characteristic or "").replace("_", " ")
    return title[:1].upper() + title[1:]


def id_texts(candidates: Candidates) -> dict[str, dict[Scalar | None, str]]:
    """Return the text of each id value, by column and value; floats have just the digits that keep them distinct."""
    columns = {}
    for column in candidates.id:
        values = dict.fromkeys(candidate.id[column] for candidate in candidates.ranking)
        fractions = [value for value in values if isinstance(value, float)]
        texts: dict[Scalar | None, str] = {value: "–" if value is None else slice_value_text(value) for value in values}
        for digits in range(numbers.USUAL_DIGITS, 17):  # 17 digits would tell any two floats apart
            texts |= {value: numbers.exact(float(f"{value:.{digits}g}")) for value in fractions}
            if len({texts[value] for value in fractions}) == len(fractions):
                break
        columns[column] = texts
    return columns


def candidate_name(texts: dict[str, dict[Scalar | None, str]], candidate: RankedCandidate) -> str:
    """Return the name of a candidate by its ids, such as "mtry = 7 and min_n = 5"; ``texts`` come from `id_texts`."""
    return joined([f"{column} = {texts[column][value]}" for column, value in candidate.id.items()])


def best_of(candidates: Candidates) -> list[RankedCandidate]:
    """Return the candidates of rank 1; none where no candidate has an overall desirability."""
    return [candidate for candidate in candidates.ranking if candidate.rank == 1]


def counted(candidates: Candidates) -> str:
    """Return the number of candidates as text, such as "300 candidates"."""
    number = len(candidates.ranking)
    return "1 candidate" if number == 1 else f"{numbers.count(number)} candidates"


def first_sentence(results: Results) -> str:
    """Return the sentence on which of how many candidates is the most desirable, without its full stop."""
    candidates = results.candidates
    count, best = counted(candidates), best_of(candidates)
    if not best:
        return f"None of {count} has an overall desirability"
    if not best[0].value:
        return f"None of {count} is acceptable: each has a goal whose desirability is 0"
    value = numbers.number(best[0].value)
    if len(best) > MOST_NAMED:
        return f"Of {count}, {numbers.count(len(best))} are equally the most desirable: {value}"
    texts = id_texts(candidates)
    names = [candidate_name(texts, candidate) for candidate in best]
    if len(best) > 1:
        return f"Of {count}, those with {'; '.join(names)} are equally the most desirable: {value}"
    return f"Of {count}, the one with {names[0]} is the most desirable: {value}"


def lines(results: Results, dataset: str | None) -> Iterator[str]:
    """Yield for the terminal which model is most desirable, and which of how many candidates."""
    yield from card_models.lines(results, dataset)
    candidates = results.candidates
    if dataset is not None or not candidates.ranking:
        return
    count, best = counted(candidates), best_of(candidates)
    if not best or best[0].value is None:
        yield f"{count}, none with an overall desirability"
        return
    name = candidate_name(id_texts(candidates), best[0])
    others = f" and {numbers.count(len(best) - 1)} more" if len(best) > 1 else ""
    yield f"{count}, most desirable: {name}{others}, D {numbers.number(best[0].value)}"


def front_sentence(results: Results) -> str:
    """Return the sentence on how many candidates no other beats in the two goals of the figure; empty without them."""
    candidates = results.candidates
    if not candidates.axes:
        return ""
    titles = goal_titles(results)
    front = sum(bool(candidate.front) for candidate in candidates.ranking)
    verb = "is" if front == 1 else "are"
    axes_text = joined([titles[axis] for axis in candidates.axes])
    return f"{numbers.count(front)} {verb} not dominated in {axes_text}"


def near_sentence(results: Results) -> str:
    """Return the sentence on how many others lie within one standard error of the best; empty without such errors."""
    candidates = results.candidates
    if candidates.within is None:
        return ""
    others = sum(bool(candidate.near) and candidate.rank != 1 for candidate in candidates.ranking)
    which = "the best" if len(best_of(candidates)) == 1 else "those"
    if not others:
        return f"No other candidate lies within one standard error of {which}"
    return (f"{numbers.count(others)} other candidate{' lies' if others == 1 else 's lie'} within one standard error "
            f"of {which}, so these values do not decide between them")


def undefined_sentence(results: Results) -> str:
    """Return the sentence on how many candidates lack a value, of which goals; empty where none does."""
    undefined = [candidate for candidate in results.candidates.ranking if candidate.value is None]
    if not undefined:
        return ""
    titles = goal_titles(results)
    goals = [titles[goal.goal] for goal in results.candidates.goals
             if any(candidate.desirability[goal.goal] is None for candidate in undefined)]
    verb, rank = ("has", "It ranks") if len(undefined) == 1 else ("have", "They rank")
    noun = "candidate" if len(undefined) == 1 else "candidates"
    return (f"{numbers.count(len(undefined))} {noun} {verb} no overall desirability, for lack of a value of "
            f"{joined(goals, 'or')}. {rank} last")


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
    """Yield the section on the models, and that on the candidates; none of what there is not."""
    yield from card_models.sections(results)
    candidates = results.candidates
    if not candidates.ranking:
        return
    sentences = filter(None, (first_sentence(results), front_sentence(results), near_sentence(results),
                              undefined_sentence(results)))
    summary = " ".join(f"{text}." for text in sentences)
    titles = goal_titles(results)
    errors = UNKNOWN if candidates.within is None else NEAR.format(
        limit=numbers.number(candidates.within),
        goals=wording.joined([titles[goal.goal] for goal in candidates.goals if goal.std_err]))
    yield Section("candidates", "Candidates", (Text(LEAD, "lead"), Text(summary), _ranking(results),
                                               Figures(partial(candidate_figures, results)), _goals_table(results),
                                               Text(f"{PARETO} {errors} {CAVEAT.format(what='candidates')} {SOURCES}",
                                                    "small")),
                  part="comparison")


def run_verdict(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the sign and the sentence that head the card of a run with candidates alone, which no gate judges."""
    if results.candidates.ranking and not results.datasets:
        yield "•", (f"{counted(results.candidates)} are ranked from a table without predictions, which no "
                    "gate can judge")


def glance(results: Results) -> Iterator[Table]:
    """Yield the best-ranked candidates, with their desirability D, for the top of a card without predictions."""
    candidates, texts = results.candidates, id_texts(results.candidates)
    if candidates.ranking and not results.datasets:
        columns = (Column("Rank", "num"), *(Column(column) for column in candidates.id), Column("D", "num"))
        yield Table(f"The first of {counted(candidates)}", columns,
                    tuple(Row((*_rank_and_id(texts, candidate), _overall_desirability(candidate)))
                          for candidate in candidates.ranking[:AT_FIRST]), heading=1)


def outcome(results: Results) -> Iterator[tuple[str, Cell]]:
    """Yield pairs of term and text for the head of the card: the number of candidates, and the goals ranking them."""
    candidates = results.candidates
    if candidates.ranking:
        yield "Candidates", (f"{numbers.count(len(candidates.ranking))}, told apart by "
                             f"{wording.joined(candidates.id)}")
        yield "Ranked by", wording.joined(list(goal_titles(results).values()))


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the paragraphs of the methods section on how candidates are ranked and on the one-standard-error rule."""
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
    """Return the table of the most desirable candidates with their values."""
    candidates, titles, texts = results.candidates, goal_titles(results), id_texts(results.candidates)
    columns = (
        Column("Rank", "num"), *(Column(column) for column in candidates.id), Column("D", "num"),
        *(Column(titles[goal.goal], "num") for goal in candidates.goals), Column("Pareto"),
        Column("Within one SE", shown=candidates.within is not None))
    caption = "Candidates by desirability"
    if len(candidates.ranking) > MOST_SHOWN:
        caption = f"The {MOST_SHOWN} most desirable of {counted(candidates)}"
    answers = {None: "–", True: "yes", False: "no"}
    return Table(caption, columns, tuple(
        Row((*_rank_and_id(texts, candidate), _overall_desirability(candidate),
             *(_value_and_desirability(goal, candidate) for goal in candidates.goals),
             answers[candidate.pareto], answers[candidate.near]))
        for candidate in candidates.ranking), heading=1, most=MOST_SHOWN)


def _rank_and_id(texts: dict[str, dict[Scalar | None, str]], candidate: RankedCandidate) -> Iterator[Cell]:
    """Yield the first cells of a candidate's row: its rank, then its id values; ``texts`` come from `id_texts`."""
    yield "–" if candidate.rank is None else str(candidate.rank)
    for column, value in candidate.id.items():
        text = texts[column][value]
        yield Number(text, exact=numbers.exact(value)) if isinstance(value, float) else text


def _overall_desirability(candidate: RankedCandidate) -> Number:
    return Number("undefined") if candidate.value is None else ranged(candidate.value)


def _value_and_desirability(goal: CandidateGoal, candidate: RankedCandidate) -> Cell:
    """Return the cell of a value, with its standard error if any, and its desirability: "0.0348 ± 0.0063"."""
    value, d = candidate.values[goal.goal], candidate.desirability[goal.goal]
    desirability = Aside("undefined" if d is None else f"d\u00a0=\u00a0{numbers.number(d)}", "definition")
    if value is None:
        return "no value", desirability
    if isinstance(value, str | bool):
        return wording.scalar(value), desirability
    error = candidate.std_err.get(goal.goal)
    if error:
        digits = min(numbers.significant(error, 2), numbers.MOST_DECIMALS)
        return f"{numbers.fixed(float(value), digits)}\u00a0±\u00a0{numbers.fixed(error, digits)}", desirability
    return (numbers.count(value) if float(value).is_integer() else numbers.number(value)), desirability


def _goals_table(results: Results) -> Table:
    """Return the table of the goals: what is desirable, the weight, the column, and what a missing value counts."""
    goals, titles = results.candidates.goals, goal_titles(results)
    missing = any(goal.missing is not None for goal in goals)
    columns = (Column("Goal"), Column("Desirability"), Column("Weight", "num"), Column("Column"),
               Column("If missing", "num", shown=missing))
    return Table("Goals of the candidates", columns, tuple(
        Row((titles[goal.goal], form(goal), numbers.plain(goal.weight), Styled(Code(goal.column), ""),
             "–" if goal.missing is None else numbers.plain(goal.missing))) for goal in goals))


FRONT, OTHERS = "Pareto front", "Other candidates"
"""What is drawn besides the most desirable candidate, by name."""

HEIGHT = 260.0
"""Pixels of the panel."""


def candidate_figures(results: Results) -> tuple[Drawing, ...]:
    """Return the figure of candidates as points, with a line through those that no other dominates in its two goals.

    It is left out with a single goal, and where no candidate has both values.
    """
    candidates = results.candidates
    if not candidates.axes:
        return ()
    goals = [next(goal for goal in candidates.goals if goal.goal == name) for name in candidates.axes]
    points = []
    for candidate in candidates.ranking:
        across, up = (_coordinate(goal, candidate) for goal in goals)
        if across is not None and up is not None:
            points.append((candidate, (across, up)))
    if not points:
        return ()
    titles, sheet = goal_titles(results), Sheet()
    sides = {"minimize": "lower is better", "maximize": "higher is better"}
    x, y = (number_axis(f"{titles[goal.goal]} ({sides[goal.kind]})", [point[n] for _, point in points], room=0.06)
            if goal.kind in sides else unit_axis(f"Desirability of {titles[goal.goal]}")
            for n, goal in enumerate(goals))
    plot = panel(sheet, x, y, HEIGHT)
    front = sorted(point for candidate, point in points if candidate.front)
    best = [(candidate, point) for candidate, point in points if candidate.rank == 1]
    rest = [point for candidate, point in points if not candidate.front]
    plot.dots([x for x, _ in rest], [y for _, y in rest], "pale", name=OTHERS)
    # A step holds the value of the candidate that is at least as good across as the place where it is drawn.
    steps = front if goals[0].kind == "minimize" else front[::-1]
    plot.line([x for x, _ in steps], [y for _, y in steps], "m0", kind="thin", steps=True)
    plot.marks([x for x, _ in front], [y for _, y in front], "m0", "o", name=FRONT, size=3.4)
    plot.marks([point[0] for _, point in best], [point[1] for _, point in best], "m1", "D", name="Most desirable",
                size=6)
    label_lines(plot, [], [
        LineLabel("Most desirable", "m1", *_across_and_up([point for _, point in best]), scattered=True),
        LineLabel(FRONT, "m0", *_across_and_up(step_corners(*_across_and_up(steps)))),
        *([LineLabel(OTHERS, "muted", *_across_and_up(rest), scattered=True)] if rest else [])])
    axes_text = " and ".join(f"{titles[goal.goal]} {sides.get(goal.kind, 'by its desirability')}" for goal in goals)
    caption = (f"Every candidate by two goals: {axes_text}. The line is the best that any of them reaches in one goal "
               "at each value of the other; other goals, and the weights, may prefer a candidate off it. Diamond: the "
               "most desirable. Grey: the other candidates.")
    finding = ". ".join(filter(None, (first_sentence(results), front_sentence(results)))) + "."
    alt = f"Candidates by {titles[goals[0].goal]} and {titles[goals[1].goal]}. {finding}"
    if len(best) == 1 and len(best_of(candidates)) == 1:
        parts = [f"{titles[goal.goal]} {numbers.number(value)}" for goal, value in zip(goals, best[0][1], strict=True)]
        alt += f" The most desirable lies at {' and '.join(parts)}."
    return (drawing("candidates-pareto", "Pareto front of the candidates", (finding, caption, alt), [sheet]),)


def _across_and_up(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Split points (x, y) into the list of their x and the list of their y."""
    return [x for x, _ in points], [y for _, y in points]


def _coordinate(goal: CandidateGoal, candidate: RankedCandidate) -> float | None:
    """Return the coordinate of a candidate in a goal: its value, or its desirability where values have no direction."""
    value = candidate.values[goal.goal] if goal.kind in ("minimize", "maximize") else candidate.desirability[goal.goal]
    return float(value) if isinstance(value, int | float) else None


SECTION = "candidates"


@rule("fails", "undecided", "note", "passes", unless=(unless_key("no-candidates", "candidates"),))
def best_candidate(results: Results) -> Iterator[Claim]:
    """Which candidate is the most desirable, and whether others lie within one standard error of it."""
    if results.candidates.ranking:
        first = best_of(results.candidates)
        yield Claim(results.candidates, most_desirable if first and first[0].value else none_acceptable)


@rule("note", unless=(unless_key("no-candidates", "candidates"),))
def candidates_ranked(results: Results) -> Iterator[Claim]:
    """Whether every candidate has the values that the goals need."""
    if any(candidate.value is None for candidate in results.candidates.ranking):
        yield Claim(results.candidates, unranked)


def most_desirable(results: Results, rows: Sequence[Candidates]) -> Iterator[Finding]:
    """Yield the finding that names the best candidate; ``rows`` holds the record of all candidates.

    It passes if no other ties or lies within one standard error, is undecided if some do, and is a note without errors.
    """
    near, front = near_sentence(results), front_sentence(results)
    sentence = first_sentence(results)
    text = f"{sentence}; {front}." if front else f"{sentence}."
    is_alone = len(best_of(rows[0])) == 1 and not any(c.near and c.rank != 1 for c in rows[0].ranking)
    # Without standard errors nothing says whether others are as good.
    kind: FindingKind = "note" if not near else "passes" if is_alone else "undecided"
    yield finding(kind, weights.RANKED, f"{text} {near}." if near else text, SECTION)


def none_acceptable(results: Results, _: Sequence[Candidates]) -> Iterator[Finding]:
    """Yield the failing finding that no candidate has an overall desirability above 0."""
    yield finding("fails", weights.GOAL_MISSED, f"{first_sentence(results)}.", SECTION)


def unranked(results: Results, _: Sequence[Candidates]) -> Iterator[Finding]:
    """Yield the finding on how many candidates have no overall desirability."""
    yield finding("note", weights.WARNED, f"{undefined_sentence(results)}.", SECTION)
