"""What the card says of desirability: goals, models in each goal and overall, the figures, and what is found."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.base import constants
from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, Axis, ticks_between, unit_axis
from evalpipe.card.figures.context import context_of, or_nan
from evalpipe.card.figures.labels import LineLabel, name_marks
from evalpipe.card.figures.panel import Panel, RowLabel, grid
from evalpipe.card.figures.panel import rows as rows_of
from evalpipe.card.figures.svg import Clauses, Drawing, Series, Sheet, drawing, series_of
from evalpipe.card.page import Aside, Cell, Column, Figures, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import even_groups, ranged, row_anchor, with_intervals
from evalpipe.card.wording import Names, joined, names_of
from evalpipe.chapters.desirability.records import FACTORS
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, Unless, rule
from evalpipe.findings.words import finding, grouped, of_model, of_models, with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.card.page import Block
    from evalpipe.chapters.desirability.records import Goal, Individual, Overall
    from evalpipe.results import Results, Scalar
    from evalpipe.results.document import Finding


def goal_title(names: Names, goal: Goal) -> str:
    """Return the title of what a goal judges, such as "Brier score" or "Active features"."""
    if goal.metric is not None:
        return names.measure(goal.metric, goal.params, goal.average)
    title = (goal.characteristic or "").replace("_", " ")
    return title[:1].upper() + title[1:]


def models_by_rank(results: Results, dataset: str) -> list[Overall]:
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


GOALS_ABREAST = 5
"""Goals side by side in one table; more are shared out evenly among further tables."""

LEAD = (
    "Each goal turns a value into a desirability from 0 (unacceptable) to 1 (ideal). The overall desirability D is "
    "the weighted geometric mean over the goals: if one of them is 0, D is 0."
)
DRAWN = (
    "Limits are percentiles over the bootstrap replicates. Each replicate judges all models on the same rows; "
    "characteristics are constant. “Best in replicates” is the share of replicates in which a model has the highest "
    "D; ties are shared."
)
SEVERAL = (
    "“Pareto” marks a model if no other is at least as good in every goal and better in one, whatever the weights."
)
CAVEAT = "D depends on the limits chosen: compare it only between {what} under the same goals."
SOURCES = (
    "The forms: Harrington, E. "
    "C. (1965). The desirability function. Industrial Quality Control 21(10), 494–498; Derringer, G. & Suich, R. "
    "(1980). Simultaneous optimization of several response variables. Journal of Quality Technology 12(4), 214–219. "
    "The weights: Derringer, G. (1994). A balancing act: optimizing a product’s properties. Quality Progress 27(6), "
    "51–58."
)


def lines(results: Results, dataset: str | None) -> Iterator[str]:
    """Yield for the terminal the most desirable model of a dataset, with a line for each model that ties."""
    names = names_of(results)
    for winner in results.desirability.overall:
        if winner.dataset == dataset and winner.rank == 1 and winner.value is not None:
            share_best = "" if winner.probability_best is None else (
                f", best in {numbers.percent(winner.probability_best, 1)} of replicates")
            value = ranged(winner.value, winner.lower, winner.upper).text
            yield f"most desirable: {names.model_of(winner)}, D {value}{share_best}"


class RankingFacts(NamedTuple):
    """Which columns and notes a ranking by desirability can have."""

    several: bool
    """Whether there is one: more than one model or variant."""
    drawn: bool
    """Whether bootstrap replicates tell how sure it is."""
    weighed: bool
    """Whether it may hang on weights: there is more than one goal too."""


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on desirability; none without goals."""
    if not results.desirability.goals:
        return
    overall = results.desirability.overall
    is_ranking = len({(row.model, row.variant) for row in overall}) > 1
    ranking = RankingFacts(is_ranking, drawn=any(row.probability_best is not None for row in overall),
                  weighed=is_ranking and len(results.desirability.goals) > 1)
    blocks: list[Block] = [Text(LEAD, "lead"), _goals_table(results)]
    for number, dataset in enumerate((dataset.name for dataset in results.datasets), 1):
        if any(row.dataset == dataset for row in overall):
            blocks += [Heading(dataset, anchor=f"desirability-{number}"), Text(" ".join(verdict(results, dataset)))]
            blocks += [_overall_table(results, dataset, ranking), *_individual_tables(results, dataset)]
            blocks += [_weights_table(results, dataset)] if ranking.weighed else []
            blocks.append(Figures(partial(desirability_figures, results, dataset)))
    yield Section("desirability", "Desirability", (*blocks, Text(reading_notes(ranking), "small")), part="comparison")


def reading_notes(ranking: RankingFacts) -> str:
    """Return the text below the tables: how to read them, and its sources."""
    weighed = (
        f"“Best under random weights” is the share of {numbers.count(constants.WEIGHTINGS)} random sets of weights "
        "under which a model has the highest D. “First by changed weights” counts how often a model is first when "
        f"the weight of one goal is {' or '.join(FACTORS.values())}."
    )
    parts = ((ranking.drawn, DRAWN), (ranking.weighed, weighed), (ranking.several, SEVERAL),
             (True, CAVEAT.format(what="models")), (True, SOURCES))
    return " ".join(text for shown, text in parts if shown)


def _goals_table(results: Results) -> Table:
    """Return the table of the goals: what is desirable, the weight, and what a missing value counts."""
    goals, names = results.desirability.goals, names_of(results)
    missing = any(goal.missing is not None for goal in goals)
    columns = (
        Column("Goal"), Column("Desirability"), Column("Weight", "num"), Column("If missing", "num", shown=missing))
    return Table("Goals", columns, tuple(
        Row((goal_title(names, goal), form(goal), numbers.plain(goal.weight),
             "–" if goal.missing is None else numbers.plain(goal.missing)))
        for goal in goals))


def form(goal: Goal) -> str:
    """Return what is desirable in a goal, such as "Minimize: 1 up to 0, 0 from 0.1"."""
    shape = goal.shape
    if goal.kind == "category":
        text = ", ".join(f"{level} {numbers.plain(d)}" for level, d in shape.items())
    elif goal.kind == "custom":
        points = zip(shape["values"], shape["desirability"], strict=True)
        beyond = {"clamp": "level beyond", "zero": "0 beyond", "error": "nothing may lie beyond"}[shape["extrapolate"]]
        text = f"{', '.join(f'{numbers.plain(d)} at {numbers.plain(x)}' for x, d in points)}; {beyond}"
    else:
        low, high = numbers.plain(shape["low"]), numbers.plain(shape["high"])
        ends = {
            "minimize": f"1 up to {low}, 0 from {high}", "maximize": f"0 up to {low}, 1 from {high}",
            "box": f"1 from {low} to {high}, 0 outside",
        }.get(goal.kind) or f"1 at {numbers.plain(shape['target'])}, 0 at {low} and {high}"
        scales = [f"{key.replace('_', ' ')} {numbers.plain(value)}" for key, value in shape.items()
                  if key.startswith("scale") and value != 1]
        text = ", ".join([ends, *scales])
    return f"{goal.kind.capitalize()}: {text}"


def _overall_table(results: Results, dataset: str, ranking: RankingFacts) -> Table:
    """Return the table of overall desirability of each model and variant, the best first, and how sure ranks are."""
    columns = (
        Column("Model"), Column("Rank", "num", shown=ranking.several), Column("D", "num"),
        Column("Best in replicates", "num", shown=ranking.several and ranking.drawn),
        Column("Best under random weights", "num", shown=ranking.weighed),
        Column("First by changed weights", "num", shown=ranking.weighed), Column("Pareto", shown=ranking.several),
    )
    names, rows = names_of(results), []
    places = numbers.column_decimals((row.value, row.lower, row.upper) for row in models_by_rank(results, dataset))
    for row in models_by_rank(results, dataset):
        changes = [c for c in results.desirability.sensitivity
                   if (c.dataset, c.model, c.variant) == (row.dataset, row.model, row.variant)]
        rows.append(Row((
            names.model_of(row), "–" if row.rank is None else str(row.rank),
            desirability_number(row.value, row, places), share(row.probability_best), share(row.weights_best),
            f"{sum(c.first for c in changes)} of {len(changes)}" if row.value is not None else "–",
            "–" if row.pareto is None else "yes" if row.pareto else "no",
        )))
    limits = with_intervals(results, limited=ranking.drawn)
    return Table(f"Overall desirability on {dataset}{limits}", columns, tuple(rows))


def desirability_number(value: float | None, row: Overall | Individual, places: int) -> Number:
    """Return a desirability with its interval to ``places`` decimals, or status and reason of an undefined one."""
    if value is None:
        return Number(f"{row.status}: {row.reason}" if row.reason else row.status)
    note = None if row.status == "ok" else f"{row.status}: {row.reason}"
    return ranged(value, row.lower, row.upper, note, places=places)


def _individual_tables(results: Results, dataset: str) -> Iterator[Table]:
    """Yield tables with models down and goals across: desirabilities, and the values that they judge."""
    names, models = names_of(results), models_by_rank(results, dataset)
    row_of = {(row.model, row.variant, row.goal): row for row in results.desirability.individual
             if row.dataset == dataset}
    for goals in even_groups(results.desirability.goals, GOALS_ABREAST):
        columns = (Column("Model"), *(Column(goal_title(names, goal), "num") for goal in goals))
        cells = [_goal_column([row_of[row.model, row.variant, goal.goal] for row in models]) for goal in goals]
        yield Table(f"Individual desirabilities on {dataset}", columns, tuple(
            Row((names.model_of(row), *of_model), anchor=row_anchor(SECTION, _with_metric(
                [row_of[row.model, row.variant, goal.goal] for goal in goals]), row.model, row.variant))
            for row, of_model in zip(models, zip(*cells, strict=True), strict=True)))


def _goal_column(rows: Sequence[Individual]) -> list[Cell]:
    """Return the cells of a goal: the desirability of each model, with the value that it judges and its interval."""
    places = numbers.column_decimals((row.desirability, row.lower, row.upper) for row in rows)
    measured = [(row.value, row.value_lower, row.value_upper) if isinstance(row.value, float) and row.metric is not None
                else None for row in rows]
    places_of_values = numbers.column_decimals(value for value in measured if value is not None)
    cells: list[Cell] = []
    for row, value in zip(rows, measured, strict=True):
        text = "no value" if row.value is None else f"at {wording.scalar(row.value)}"
        if value is not None:
            text = f"at {ranged(*value, places=places_of_values).text}"
        cells.append((desirability_number(row.desirability, row, places), Aside(text, "definition")))
    return cells


def _weights_table(results: Results, dataset: str) -> Table:
    """Return the table of which models would be first if the weight of a goal were another."""
    names = names_of(results)
    columns = (Column("Goal"), Column("Weight", "num"),
               *(Column(f"First when {change}") for change in FACTORS.values()))
    changes = [change for change in results.desirability.sensitivity if change.dataset == dataset and change.first]
    rows = []
    for goal in results.desirability.goals:
        cells = []
        for factor in FACTORS:
            first = [names.model_of(change) for change in changes
                     if (change.goal, change.factor) == (goal.goal, factor)]
            cells.append(f"{len(first)} models tied" if len(first) > 3 else " and ".join(first) or "nobody")
        rows.append(Row((goal_title(names, goal), numbers.plain(goal.weight), *cells)))
    return Table(f"First place on {dataset} when the weight of one goal changes", columns, tuple(rows))


HEIGHT = 96.0
"""Pixels of a panel."""

NAMED = 7
"""The models that are told apart, the most desirable; further ones are grey marks without intervals."""

ModelVariant = tuple[str, str]
"""A model and its variant."""


def desirability_figures(results: Results, dataset: str) -> tuple[Drawing, ...]:
    """Return the figures of a dataset: the curves of the goals, and the overall desirability of the models."""
    context, rows = context_of(results, dataset), models_by_rank(results, dataset)
    drawings = (goals_figure(context, rows), overall(context, rows))
    return tuple(drawing for drawing in drawings if drawing is not None)


def _series_by_model(context: Context, rows: Sequence[Overall]) -> dict[ModelVariant, Series]:
    """Return the series (name, ink, marker) of the models that figures name, by model and variant.

    These are all models, with the inks of other figures, or the `NAMED` most desirable; ``rows`` has the best first.
    """
    names = names_of(context.results)
    if len(rows) <= NAMED:
        models = [(row.model, row.variant) for row in context.results.desirability.overall
                  if row.dataset == context.dataset.name]
    else:
        models = [(row.model, row.variant) for row in rows[:NAMED]]
    return dict(zip(models, series_of([("/".join(model), names.model(*model)) for model in models]), strict=True))


def goals_figure(context: Context, rows: Sequence[Overall]) -> Drawing:
    """Return the figure of the goals: the curve of each with every model at its value; bars for categories."""
    results, dataset = context.results, context.dataset.name
    goals, series, names = results.desirability.goals, _series_by_model(context, rows), names_of(results)
    individual = [row for row in results.desirability.individual if row.dataset == dataset]
    sheet, sentences = Sheet(), []
    titles = [(f"{goal.kind.capitalize()}: {goal_title(names, goal)}", "ink") for goal in goals]
    panels = grid(sheet, [(_goal_axis(goal), unit_axis("", HALVES, 1.08)) for goal in goals], titles, height=HEIGHT)
    marks, lines = list[list[LineLabel]](), list[list[LineLabel]]()
    for goal_panel, goal in zip(panels, goals, strict=True):
        of_goal = {(row.model, row.variant): row for row in individual if row.goal == goal.goal}
        if goal.kind == "category":
            marks.append(_draw_levels(goal_panel, goal, of_goal, series))
            lines.append([])
        else:
            marks.append(_draw_curve(goal_panel, goal, of_goal, series))
            lines.append([LineLabel("", "ink", goal.x, goal.desirability), *_interval_lines(of_goal.values())])
        values = ", ".join(f"{names.model_of(row)} {numbers.number(row.desirability)}"
                           for row in of_goal.values() if row.desirability is not None)
        sentences.append(f"{goal.kind.capitalize()} {goal_title(names, goal)}: {values}.")
    without_room, less_desirable = name_marks(panels, marks, lines), len(rows) - len(series)
    has_limits = any(row.lower is not None for row in results.desirability.individual)
    caption = "Desirability of each value, from 0 (unacceptable) to 1 (ideal), with every model at its own value." + (
        f" Bars are {context.level} intervals of the measure." if has_limits else "")
    best = [names.model_of(row) for row in rows if row.value is not None][:1]
    clauses = [f"{best[0]} is the most desirable over all goals"] if best else []
    clauses += ["marks without a name: see the figure Overall desirability"] if without_room else []
    clauses += [f"grey: {less_desirable} less desirable models"] if less_desirable else []
    finding = Clauses(tuple(clauses), "")
    alt = f"Desirability in each goal on {dataset}. {' '.join(sentences)}"
    return drawing(f"d{context.place}-goals", "Goals", (finding, caption, alt), [sheet])


def _goal_axis(goal: Goal) -> Axis:
    """Return the horizontal axis of a goal: its numbers, or its levels side by side."""
    if goal.kind == "category":
        levels = list(goal.shape)
        return Axis("", -0.6, len(levels) - 0.4, tuple((float(x), level) for x, level in enumerate(levels)))
    low, high = float(goal.x[0]), float(goal.x[-1])
    return Axis("", low, high, ticks_between(low, high, 3))


def _interval_lines(rows: Iterable[Individual]) -> list[LineLabel]:
    """Return the intervals of the models' measures as nameless lines, which the labels of marks must not cover."""
    ends = [([or_nan(row.value_lower), or_nan(row.value_upper)], or_nan(row.desirability)) for row in rows
            if row.metric is not None]
    return [LineLabel("", "ink", limits, [height] * 2) for limits, height in ends]


def _draw_curve(
    goal_panel: Panel, goal: Goal, rows: dict[ModelVariant, Individual], series: dict[ModelVariant, Series],
) -> list[LineLabel]:
    """Draw the curve of a numeric goal: the named models over the grey ones, the most desirable on top.

    A model is drawn at its value, with the interval of its measure. Returns the named models' marks, to be labelled.
    """
    marks: list[LineLabel] = []
    goal_panel.line(goal.x, goal.desirability, "ink", kind="thin")
    points = {model: (float(row.value), row.desirability) for model, row in rows.items()
              if row.desirability is not None and isinstance(row.value, int | float)}
    unnamed_points = [point for model, point in points.items() if model not in series]
    goal_panel.marks([x for x, _ in unnamed_points], [d for _, d in unnamed_points], "pale", "o", size=2.5)
    for model, line in reversed(series.items()):
        if model not in points:
            continue
        (value, desirability), row = points[model], rows[model]
        if row.metric is not None and row.value_lower is not None and row.value_upper is not None:
            goal_panel.ranges([desirability], [row.value_lower], [row.value_upper], line.ink, upright=False)
        # A value beyond the curve is drawn at its end.
        at = min(max(value, goal_panel.x.low), goal_panel.x.high)
        goal_panel.marks([at], [desirability], line.ink, line.marker)
        goal_panel.record_values(line.label, value=[value], desirability=[desirability])
        marks.append(LineLabel(line.label, line.ink, [at], [desirability]))
    return marks[::-1]


def _draw_levels(
    goal_panel: Panel, goal: Goal, rows: dict[ModelVariant, Individual], series: dict[ModelVariant, Series],
) -> list[LineLabel]:
    """Draw the desirability of each level of a goal as a bar, with the models of that level on top, side by side.

    Returns the marks of the named models, to be labelled.
    """
    levels, named = list(goal.shape), list[LineLabel]()
    for position, level in enumerate(levels):
        goal_panel.bars((position - 0.31, position + 0.31), (goal.shape[level],), "zone", kind="solid")
    marks: dict[str, list[Series | None]] = {level: [] for level in levels}
    for model, row in rows.items():
        if row.value is not None:
            marks[_level_text(row.value)].append(series.get(model))
    for level_index, level in enumerate(levels):
        for mark_index, line in enumerate(marks[level]):
            x = level_index + (mark_index - (len(marks[level]) - 1) / 2) * min(0.16, 0.6 / len(marks[level]))
            goal_panel.marks([x], [goal.shape[level]], line.ink if line else "pale", line.marker if line else "o",
                        size=4 if line else 2.5)
            named += [LineLabel(line.label, line.ink, [x], [goal.shape[level]])] if line else []
    return named


def _level_text(value: Scalar) -> str:
    """Return the value of a characteristic as the text of a level: "true", "3" of 3.0, "linear"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def overall(context: Context, rows: Sequence[Overall]) -> Drawing | None:
    """Return the figure of overall desirability with intervals, the best model on top; None of a single model."""
    defined = [row for row in rows if row.value is not None]
    if len(defined) < 2:
        return None
    names, series = names_of(context.results), _series_by_model(context, rows)
    level = wording.level(context.results.intervals.level)
    has_limits = any(row.lower is not None for row in defined)
    caption = "The weighted geometric mean over the goals" + (
        f", with {level} intervals; on the right the share of replicates in which the model is the most desirable."
        if has_limits else ".")
    alt = f"Overall desirability on {context.dataset.name}. " + " ".join(
        f"{names.model_of(row)} {ranged(row.value, row.lower, row.upper).text}." for row in defined)
    sheet = Sheet()
    labels = [RowLabel(names.model_of(row)) for row in defined]
    row_panel = rows_of(sheet, labels, unit_axis("Overall desirability D"), right_margin=44 if has_limits else 0)
    for middle, row, label in zip(row_panel.middles, defined, labels, strict=True):
        line = series.get((row.model, row.variant))
        ink, marker = (line.ink, line.marker) if line is not None else ("muted", "o")
        if row.lower is not None and row.upper is not None:
            row_panel.panel.ranges([middle], [row.lower], [row.upper], ink, upright=False)
        row_panel.panel.marks([row.value or 0.0], [middle], ink, marker)
        columns = {"D": row.value, "lower": row.lower, "upper": row.upper, "best": row.probability_best}
        row_panel.panel.record_values(label.text, **{n: [v] for n, v in columns.items() if v is not None})
        if row.probability_best is not None:
            sheet.write(sheet.width, row_panel.panel.top + middle + 4.5, share(row.probability_best), "ink", "end")
    finding = Clauses(tuple(f"{names.model_of(row)} {ranged(row.value, row.lower, row.upper).value}"
                            for row in defined))
    return drawing(f"d{context.place}-desirability", "Overall desirability", (finding, caption, alt), [sheet])


SECTION = "desirability"


NO_GOALS = Unless("no-goals", lambda spec: not spec.get("desirability"),
                  lambda results: not results.desirability.individual)


@rule("undecided", "passes", unless=(NO_GOALS,), claims_all=True)
def most_desirable(results: Results) -> Iterator[Claim]:
    """Whether one model is the most desirable, by the share of resamples in which it ranks first."""
    for row in results.desirability.overall:
        if row.rank == 1 and row.value and row.probability_best is not None:
            yield Claim(row, first if row.probability_best >= results.intervals.level else may_rank_first)


@rule("fails", "undecided", unless=(NO_GOALS,))
def goals_reached(results: Results) -> Iterator[Claim]:
    """Whether every goal has a desirability above 0."""
    for row in results.desirability.individual:
        if row.desirability == 0 and row.status == "ok":
            # With an upper limit above 0, some replicates reach the goal.
            yield Claim(row, missed if row.upper in (None, 0) else missed_perhaps)


def first(results: Results, rows: Sequence[Overall]) -> Iterator[Finding]:
    """Yield the finding that a model is the most desirable."""
    for row in rows:
        text = f"{of_model(results, row)} is the most desirable: {_value_and_share(row)}."
        yield finding("passes", weights.RANKED, text, SECTION)


def may_rank_first(results: Results, rows: Sequence[Overall]) -> Iterator[Finding]:
    """Yield the finding that a model ranks first, where resamples do not agree on it."""
    for row in rows:
        text = (f"{of_model(results, row)} ranks first in desirability, but these data do not decide: "
                f"{_value_and_share(row)}.")
        yield finding("undecided", weights.RANKED, text, SECTION)


def _value_and_share(row: Overall) -> str:
    """Return as text the overall desirability and the share of resamples in which the model is first."""
    return f"{with_limits(row)} overall, first in {numbers.percent(row.probability_best or 0.0, 1)} of resamples"


def missed(results: Results, rows: Sequence[Individual]) -> Iterator[Finding]:
    """Yield a finding on each goal that models miss."""
    for goal_rows in _rows_by_goal(rows):
        text = _missed_sentence(results, goal_rows)
        yield finding("fails", weights.GOAL_MISSED, text, SECTION, _with_metric(goal_rows))


def missed_perhaps(results: Results, rows: Sequence[Individual]) -> Iterator[Finding]:
    """Yield a finding on each goal that models miss, where some resamples reach it."""
    for goal_rows in _rows_by_goal(rows):
        text = _missed_sentence(results, goal_rows, may_reach=True)
        yield finding("undecided", weights.TRIVIAL_OPEN, text, SECTION, _with_metric(goal_rows))


def _rows_by_goal(rows: Sequence[Individual]) -> Iterator[list[Individual]]:
    """Yield the rows in groups of the same dataset and goal."""
    return grouped(rows, lambda row: (row.dataset, row.goal))


def _with_metric(rows: Sequence[Individual]) -> list[Individual]:
    """Return the rows whose goal judges a measure, not a characteristic."""
    return [row for row in rows if row.metric is not None]


def _missed_sentence(results: Results, rows: Sequence[Individual], *, may_reach: bool = False) -> str:
    """Return "Forest misses the goal 'maximize Sensitivity': 0.41. Its overall desirability is 0.".

    With ``may_reach`` other rows may reach it.
    """
    judged = next((goal for goal in results.desirability.goals if goal.goal == rows[0].goal), None)
    title = rows[0].goal if judged is None else f"{judged.kind} {goal_title(names_of(results), judged)}"
    written = [numbers.number(row.value) if isinstance(row.value, float) else str(row.value) for row in rows]
    values = joined(written if len(set(written)) > 1 else written[:1])
    whose = ("Its", "Their")[len(rows) > 1]
    reach = " Other rows may reach it." if may_reach else ""
    return (f"{of_models(results, rows)} {('misses', 'miss')[len(rows) > 1]} the goal '{title}': "
            f"{values}{_allowed_text(results, rows[0])}.{reach} {whose} overall desirability is 0.")


def _allowed_text(results: Results, row: Individual) -> str:
    """Return what the goal of a row asks for, such as "; the goal asks for less than 20"; empty without a limit."""
    goal = next((goal for goal in results.desirability.goals if goal.goal == row.goal), None)
    if goal is None or goal.kind not in ("minimize", "maximize"):
        return ""
    limit, than = (goal.shape.get("high"), "less") if goal.kind == "minimize" else (goal.shape.get("low"), "more")
    return "" if limit is None else f"; the goal asks for {than} than {numbers.plain(limit)}"
