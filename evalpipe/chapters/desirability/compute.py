"""Desirability of models and of candidates: in each goal, overall, and how far a ranking hangs on the weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base import constants
from evalpipe.chapters.desirability import compute_scale as scale
from evalpipe.chapters.desirability.plan import candidates_plan
from evalpipe.chapters.desirability.plan_goals import goals_plan
from evalpipe.chapters.desirability.records import (
    FACTORS,
    CandidateGoal,
    Candidates,
    Desirability,
    Goal,
    Individual,
    Overall,
    RankedCandidate,
    WeightChange,
)
from evalpipe.engine.support import Drawn
from evalpipe.errors import DataError
from evalpipe.intervals.bootstrap import monte_carlo_error, percentile_limits
from evalpipe.intervals.resampling import stream
from evalpipe.results import Warned
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from evalpipe.base.arraytypes import Floats
    from evalpipe.chapters.desirability.plan import CandidatesPlan
    from evalpipe.chapters.desirability.plan_goals import GoalPlan
    from evalpipe.data.sample import CandidateRows
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Scalar
    from evalpipe.words.sentences import Sentence


STEPS = 200
"""Points along the curve of a goal, beside its limits."""


def desirability_of_values(goal: GoalPlan, x: ArrayLike) -> Floats:
    """Return the desirability of values [...] in a goal; a missing value, NaN, has the goal's `missing`, else NaN.

    NaN too beyond the points of a goal that asks for an error there.
    """
    d = np.asarray(getattr(scale, goal.rule.kind)(x, **goal.shape), float)
    return d if goal.rule.missing is None else np.where(np.isnan(x), goal.rule.missing, d)


def desirability_of(goal: GoalPlan, x: Scalar | None) -> float:
    """Return the desirability of one value or level in a goal.

    A missing value, None, has the goal's `missing`, or NaN where the goal has none. A value beyond the points of a goal
    that asks for an error there has NaN too.
    """
    if x is None:
        return np.nan if goal.rule.missing is None else goal.rule.missing
    return goal.of_level(x) if goal.rule.kind == "category" else float(desirability_of_values(goal, x))


@dataclass(frozen=True)
class JudgedModels:
    """The m models and variants on one dataset, each judged by k goals.

    ``values`` are their measures and characteristics, ``desirability`` [m, k] is that of these, and ``goal_replicates``
    [m, k, B] have it in B bootstrap replicates, None where there are none.
    """

    plan: Plan
    evaluated: Evaluated
    names: tuple[str, ...]
    values: tuple[tuple[Scalar | None, ...], ...]
    desirability: Floats
    goal_replicates: Floats | None

    @property
    def goals(self) -> tuple[GoalPlan, ...]:
        """The goals that models are judged by, as the plan has them; the axis k of arrays."""
        return self.plan.part(goals_plan)

    @property
    def weights(self) -> Floats:
        """The weights of the goals [k]."""
        return np.array([goal.rule.weight for goal in self.goals])

    @cached_property
    def overall(self) -> Floats:
        """The overall desirability [m] of each model and variant; NaN where a goal has none."""
        return scale.overall(self.desirability, self.weights)

    @cached_property
    def overall_replicates(self) -> Floats | None:
        """The overall desirability [m, B] of each model in each bootstrap replicate; None without replicates."""
        if self.goal_replicates is None:
            return None
        return scale.overall(np.moveaxis(self.goal_replicates, 1, -1), self.weights)

    @cached_property
    def has_spread(self) -> bool:
        """Whether bootstrap replicates show how uncertain a value is: not without any, nor with a single cluster."""
        return self.goal_replicates is not None and self.clusters != 1

    def about(self, name: str) -> dict[str, str]:
        """Return the dataset, the model and the variant that a name stands for, as fields of a record."""
        sample = self.evaluated.sample
        return {"dataset": sample.dataset, **sample.named(name)}

    def reasons_of_few_clusters(self, name: str, goals: Iterable[GoalPlan]) -> list[Sentence | None]:
        """Return for each goal with a measure why limits from few clusters cover too seldom; None where they do not."""
        all_rows = self.evaluated.scope(name, 0, self.evaluated.summaries[name, 0])
        return [reason for goal in goals if goal.entry is not None
                for reason in all_rows.seen_by(goal.entry).drawn(goal.entry, self.evaluated.replicates).rare]

    @property
    def clusters(self) -> int | None:
        """How many clusters the rows are of; None where they are not clustered."""
        return self.evaluated.subsets[0].clusters


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, Desirability]:
    """Return the field `desirability` of the results, over all rows of each dataset; no field without goals.

    Raises DataError where a value lies beyond the points of a goal that asks for an error there.
    """
    goals = plan.part(goals_plan)
    if not goals or not evaluated:
        return {}
    by_dataset = []
    for dataset in evaluated:
        names = tuple(dataset.sample.models)
        measured = tuple(tuple(_value_in_goal(plan, dataset, name, goal) for goal in goals) for name in names)
        desirability = np.array([
            [_desirability_within_points(dataset, name, goal, x) for goal, x in zip(goals, row, strict=True)]
            for name, row in zip(names, measured, strict=True)])
        replicates = _desirability_replicates(plan, dataset, names, desirability)
        by_dataset.append(JudgedModels(plan, dataset, names, measured, desirability, replicates))
    return {"desirability": Desirability(
        goals=[goal_record(goal, [x for models in by_dataset for x in _values_for_curve(models, k)])
               for k, goal in enumerate(goals)],
        individual=[row for models in by_dataset for row in _individual_records(models)],
        overall=[row for models in by_dataset for row in _overall_records(models)],
        sensitivity=[row for models in by_dataset for row in _sensitivity(models)],
    )}


def warnings(plan: Plan, _: Sequence[Evaluated]) -> Iterator[Warned]:
    """Yield a warning for each goal that rewards the worse end of its measure."""
    for goal in plan.part(goals_plan):
        opposite = {"minimize": "maximize", "maximize": "minimize"}.get(goal.rule.kind)
        if goal.entry is not None and opposite is not None and goal.entry.metric.direction == opposite:
            better = "high" if opposite == "maximize" else "low"
            yield Warned.of("goal-against-direction", goal=goal.name, metric=goal.entry.metric.name, better=better)


def _value_in_goal(plan: Plan, evaluated: Evaluated, name: str, goal: GoalPlan) -> Scalar | None:
    """Return a model's value in a goal, a measure or characteristic; None where it is undefined or missing."""
    if goal.entry is not None:
        key = name, 0, plan.entries.index(goal.entry)
        value = float(evaluated.replicates.value(key, evaluated.summaries[name, 0], goal.entry))
        return None if np.isnan(value) else value
    model = plan.models[evaluated.sample.named(name)["model"]]
    return model.characteristics.get(goal.rule.characteristic or "")


def _desirability_within_points(evaluated: Evaluated, name: str, goal: GoalPlan, value: Scalar | None) -> float:
    """Return the desirability of a value in a goal; raises DataError where it lies beyond the points of the goal."""
    d = desirability_of(goal, value)
    if np.isnan(d) and value is not None:
        raise DataError.of(
            "beyond-points",
            f"{name} on {evaluated.sample.dataset} is {value:g}, beyond the points of the goal '{goal.name}', "
            f"{goal.shape['values'][0]:g} to {goal.shape['values'][-1]:g}",
            hint="add a point, or write 'extrapolate: clamp' or 'zero'",
        )
    return d


def _desirability_replicates(plan: Plan, evaluated: Evaluated, names: tuple[str, ...], d: Floats) -> Floats | None:
    """Return the desirability of each model in each goal and replicate [m, k, B]; None without replicates.

    ``d`` [m, k] is that of the data, which characteristics have in every replicate.
    """
    if plan.interval_method == "none" or all(goal.entry is None for goal in plan.part(goals_plan)):
        return None
    drawn = np.repeat(d[:, :, None], plan.replicates, axis=2)
    for k, goal in enumerate(plan.part(goals_plan)):
        if goal.entry is not None:
            entry_index = plan.entries.index(goal.entry)
            for m, name in enumerate(names):
                drawn[m, k] = desirability_of_values(goal, evaluated.replicates.metrics[name, 0, entry_index])
    return drawn


def _uncertainty_fields(
    models: JudgedModels, name: str, goals: Sequence[GoalPlan], value: float, replicates: Floats | None
) -> dict[str, object]:
    """Return a record's fields on the limits of a desirability, from its replicates [B]; none where it is undefined.

    ``goals`` are those that the desirability is of.
    """
    if replicates is None or np.isnan(value):
        return {}
    clusters, level = models.clusters, models.plan.level
    units = models.evaluated.sample.summary.n if clusters is None else clusters
    rare = models.reasons_of_few_clusters(name, goals)
    drawn = Drawn(value, replicates, units, clustered=clusters is not None, rare=rare)
    limited = drawn.limited(level, lambda _, known, level: percentile_limits(known, level), excludes=None)
    return limited.fields(level) | {"undefined_replicates": limited.missing}


def _individual_records(models: JudgedModels) -> Iterator[Individual]:
    """Yield the record of each model in each goal: its value and the desirability of that, with limits."""
    for m, name in enumerate(models.names):
        for k, goal in enumerate(models.goals):
            value, d = models.values[m][k], float(models.desirability[m, k])
            drawn = None if models.goal_replicates is None or goal.entry is None else models.goal_replicates[m, k]
            uncertainty = _uncertainty_fields(models, name, [goal], d, drawn)
            if value is None:
                why = sentence("no-characteristic") if goal.entry is None else sentence(
                    "undefined", when=goal.entry.metric.undefined)
                uncertainty |= {"status": "undefined", "reason": why} if np.isnan(d) else {
                    "status": "degenerate", "reason": sentence("counts-as-missing", because=why, desirability=d)}
            limits = {}
            if goal.entry is not None:
                (estimate,) = models.evaluated.estimates_of(name)[0, models.plan.metrics.index(goal.entry)]
                limits = {"value_lower": estimate.lower, "value_upper": estimate.upper}
            yield Individual(
                **models.about(name), goal=goal.name, **goal.subject, value=value,
                **limits, desirability=None if np.isnan(d) else d, weight=goal.rule.weight,
                **uncertainty,
            )


def _overall_records(models: JudgedModels) -> Iterator[Overall]:
    """Yield the record of each model over all goals: desirability, rank, Pareto front and probability of being best."""
    drawn = models.overall_replicates
    shares_first = None if drawn is None or not models.has_spread else scale.first_place_shares(drawn).mean(axis=1)
    on_front = scale.pareto(scores(models.goals, models.values, models.desirability))
    ranks, shares_of_weightings = scale.ranks(models.overall), _shares_of_weightings(models)
    for m, name in enumerate(models.names):
        value = float(models.overall[m])
        uncertainty = _uncertainty_fields(models, name, models.goals, value, None if drawn is None else drawn[m])
        if np.isnan(value):
            is_undefined = np.isnan(models.desirability[m])
            undefined = [goal.name for goal, without in zip(models.goals, is_undefined, strict=True) if without]
            uncertainty = {"status": "undefined", "reason": sentence("goals-without-desirability", goals=undefined)}
        yield Overall(
            **models.about(name), value=None if np.isnan(value) else value, rank=ranks[m], pareto=on_front[m],
            probability_best=None if shares_first is None or np.isnan(value) else float(shares_first[m]),
            weights_best=None if np.isnan(value) else float(shares_of_weightings[m]), **uncertainty,
            monte_carlo_error=None if "lower" not in uncertainty else monte_carlo_error(
                drawn[m], models.plan.level),  # type: ignore[index]
        )


def scores(goals: Sequence[GoalPlan], values: Sequence[Sequence[Scalar | None]], d: Floats) -> Floats:
    """Return the values by which candidates are compared goal by goal [m, k], higher being better.

    They are values turned to the direction of the goal, or desirabilities ``d`` where a missing value counts something
    or values have no direction: by category, by points, and in a box, where it matters only whether a value lies in it.
    """
    compared = np.array(d)
    for k, goal in enumerate(goals):
        column = [row[k] for row in values]
        if goal.rule.kind not in ("minimize", "maximize", "target"):
            continue
        if goal.rule.missing is not None and any(x is None for x in column):
            continue
        x = np.array([np.nan if x is None else float(x) for x in column])
        target = goal.shape["target"] if goal.rule.kind == "target" else 0.0
        compared[:, k] = {"maximize": x, "minimize": -x}.get(goal.rule.kind, -np.abs(x - target))
    return compared


def _shares_of_weightings(models: JudgedModels) -> Floats:
    """Return the share of random sets of weights under which each model is the most desirable [m].

    The weights are uniform over all that sum to 1: a Dirichlet distribution with parameters 1, whatever the spec says.
    """
    generator = stream(models.plan.seed, "weightings", len(models.goals))
    # Exponential numbers over their sum, by which a weighted mean divides, are uniform over all weights that sum to 1.
    weights = generator.standard_exponential((constants.WEIGHTINGS, len(models.goals)))
    return np.asarray(scale.first_place_shares(scale.overall(models.desirability[:, None, :], weights)).mean(axis=1))


def _sensitivity(models: JudgedModels) -> Iterator[WeightChange]:
    """Yield the overall desirability of each model when the weight of one goal is multiplied by a factor."""
    for k, goal in enumerate(models.goals):
        for factor in FACTORS:
            weights = models.weights
            weights[k] *= factor
            overall = scale.overall(models.desirability, weights)
            is_first = scale.first_place_shares(overall) > 0
            for m, name in enumerate(models.names):
                yield WeightChange(
                    **models.about(name), goal=goal.name, factor=factor,
                    value=None if np.isnan(overall[m]) else float(overall[m]), first=bool(is_first[m]),
                )


def _values_for_curve(models: JudgedModels, k: int) -> list[float]:
    """Return the values that the drawn curve of goal ``k`` must cover; none of a goal by category.

    These are the models' finite values, and the percentile limits of their replicates.
    """
    goal = models.goals[k]
    if goal.rule.kind == "category":
        return []
    reached = [float(row[k]) for row in models.values if row[k] is not None]  # type: ignore[arg-type]
    for name in models.names if models.goal_replicates is not None and goal.entry is not None else ():
        drawn = models.evaluated.replicates.metrics[name, 0, models.plan.entries.index(goal.entry)]
        reached += percentile_limits(drawn, models.plan.level) or ()
    return [x for x in reached if np.isfinite(x)]


def goal_record(goal: GoalPlan, spread: list[float]) -> Goal:
    """Return the record of a goal with its curve, drawn over its limits and the range of the values in ``spread``."""
    x = np.empty(0) if goal.rule.kind == "category" else _curve_values(goal, spread)
    d = desirability_of_values(goal, x) if len(x) else x
    return Goal(
        goal=goal.name, kind=goal.rule.kind, **goal.subject, shape=dict(goal.shape), weight=goal.rule.weight,
        missing=goal.rule.missing, x=x.tolist(), desirability=d.tolist(),
    )


def _curve_values(goal: GoalPlan, spread: list[float]) -> Floats:
    """Return the values at which a curve is drawn: its limits, steps between and beyond them, both sides of jumps."""
    corners = [float(goal.shape[key]) for key in ("low", "target", "high") if key in goal.shape]
    corners += [float(x) for x in goal.shape.get("values", ())]
    low, high = min([*corners, *spread]), max([*corners, *spread])
    room = 0.05 * (high - low)
    # The first are even over what is seen, the second over the limits, which may be a small part of that.
    steps = [np.linspace(low - room, high + room, STEPS + 1), np.linspace(min(corners), max(corners), STEPS + 1)]
    if goal.shape.get("extrapolate") == "error":
        return np.unique(np.concatenate([steps[1], corners]))
    jumps = goal.rule.kind == "box" or goal.shape.get("extrapolate") == "zero"
    neighbours = [np.nextafter(x, side) for x in corners for side in (-np.inf, np.inf)] if jumps else []
    return np.unique(np.concatenate([*steps, corners, neighbours]))


def rank_candidates(plan: Plan, rows: CandidateRows) -> Candidates:
    """Return the candidates of a table, ranked by overall desirability, the best first.

    Candidates that tie, and those without a rank, which come last, stay in the order of their ids.
    """
    table_plan = plan.part(candidates_plan)
    assert table_plan is not None  # noqa: S101 - there are rows
    goals = [column.goal for column in table_plan.goals]
    d = np.array([[desirability_of(goal, x) for goal, x in zip(goals, values, strict=True)] for values in rows.values])
    weights = np.array([goal.rule.weight for goal in goals])
    overall = scale.overall(d, weights)
    least_within_error = _one_error_below_best(goals, rows, d, weights, overall)
    candidates = list(_ranked_candidates(table_plan, rows, d, overall, least_within_error))
    records = []
    for k, column in enumerate(table_plan.goals):
        # The curve of a goal is over its limits and the values of all candidates.
        spread = [] if column.goal.rule.kind == "category" else [
            float(values[k]) for values in rows.values if values[k] is not None]  # type: ignore[arg-type]
        records.append(CandidateGoal(
            **goal_record(column.goal, spread).model_dump(), column=column.column or column.names[0],
            std_err=bool((~np.isnan(rows.std_err[:, k])).any())))
    return Candidates(
        id=list(table_plan.ids), goals=records,
        axes=[goals[k].name for k in table_plan.axes or ()], within=least_within_error,
        ranking=sorted(candidates, key=lambda candidate: candidate.rank or len(candidates) + 1),
    )


def _ranked_candidates(
    table_plan: CandidatesPlan, rows: CandidateRows, d: Floats, overall: Floats, within: float | None
) -> Iterator[RankedCandidate]:
    """Yield the records of the candidates in the order of their ids.

    ``d`` [candidate, goal] are the desirabilities in single goals, ``overall`` [candidate] the overall ones. Candidates
    whose overall desirability is at least ``within`` count as near the best.
    """
    goals = [column.goal for column in table_plan.goals]
    names, compared = [goal.name for goal in goals], scores(goals, rows.values, d)
    on_front = [None] * len(d) if table_plan.axes is None else scale.pareto(compared[:, list(table_plan.axes)])
    ranks, pareto = scale.ranks(overall), scale.pareto(compared)
    for n, value in enumerate(overall.tolist()):
        defined = not np.isnan(value)
        undefined_goals = [name for name, x in zip(names, d[n], strict=True) if np.isnan(x)]
        errors = zip(names, rows.std_err[n].tolist(), strict=True)
        yield RankedCandidate(
            id=dict(rows.ids[n]), value=value if defined else None, rank=ranks[n], pareto=pareto[n], front=on_front[n],
            near=None if within is None or not defined else value >= within - scale.TIE,
            values=dict(zip(names, rows.values[n], strict=True)),
            desirability={name: None if np.isnan(x) else float(x) for name, x in zip(names, d[n], strict=True)},
            std_err={name: error for name, error in errors if not np.isnan(error)},
            status="ok" if defined else "undefined",
            reason=None if defined else sentence("goals-without-value", goals=undefined_goals),
        )


def _one_error_below_best(
    goals: list[GoalPlan], rows: CandidateRows, d: Floats, weights: Floats, overall: Floats
) -> float | None:
    """Return the overall desirability of the best if each value were one standard error worse; None without any error.

    Of several that tie, the least. This is the rule of one standard error of Breiman et al. (1984), for desirability.
    ``d`` [candidate, goal] are the desirabilities in single goals, ``weights`` [goal] the weights of the goals, and
    ``overall`` [candidate] the overall desirabilities.
    """
    best_indices = [n for n, rank in enumerate(scale.ranks(overall)) if rank == 1]
    if not best_indices or np.isnan(rows.std_err[best_indices]).all(axis=1).any():
        return None
    worse = np.array([[_least_within_error(goal, rows.values[n][k], float(rows.std_err[n, k]), float(d[n, k]))
                       for k, goal in enumerate(goals)] for n in best_indices])
    return float(scale.overall(worse, weights).min())


def _least_within_error(goal: GoalPlan, value: object, error: float, d: float) -> float:
    """Return the least desirability within one standard error of a value; its desirability ``d`` if it has no error."""
    if np.isnan(error) or not isinstance(value, int | float) or goal.rule.kind == "category":
        return d
    ends = (value - error, value + error)
    # Between its points a custom curve is straight, so it is least at a point or at an end.
    inside = [point for point in goal.shape.get("values", ()) if ends[0] < point < ends[1]]
    return float(np.nanmin(desirability_of_values(goal, [value, *ends, *inside])))


def candidate_warnings(candidates: Candidates) -> Iterator[Warned]:
    """Yield a warning for each goal that gives all candidates the same desirability."""
    for goal in candidates.goals:
        reached = {candidate.desirability[goal.goal] for candidate in candidates.ranking}
        if len(reached) == 1 and len(candidates.ranking) > 1 and None not in reached:
            yield Warned.of("goal-without-effect", goal=goal.goal, desirability=reached.pop())
