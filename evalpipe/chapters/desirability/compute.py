"""Desirability of the models on each dataset: in each goal, overall, and how far the ranking hangs on the weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base import constants
from evalpipe.chapters.desirability import compute_scale as scale
from evalpipe.chapters.desirability.records import (
    FACTORS,
    Desirability,
    Goal,
    Individual,
    Overall,
    WeightChange,
)
from evalpipe.engine.averages import values
from evalpipe.engine.bootstrap_values import Drawn
from evalpipe.errors import DataError
from evalpipe.intervals.bootstrap import monte_carlo_error, percentile_limits
from evalpipe.intervals.resampling import stream
from evalpipe.results import Warned
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from evalpipe.base.arraytypes import Floats
    from evalpipe.chapters.desirability.plan import GoalPlan
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Scalar
    from evalpipe.words.sentences import Sentence

STEPS = 200
"""Points along the curve of a goal, beside its limits."""


def judged(goal: GoalPlan, x: ArrayLike) -> Floats:
    """Return the desirability of values [...]; NaN where a value does not exist and nothing says what that counts.

    NaN too beyond the points of a goal that asks for an error there.
    """
    d = np.asarray(getattr(scale, goal.rule.kind)(x, **goal.shape), float)
    return d if goal.rule.missing is None else np.where(np.isnan(x), goal.rule.missing, d)


def desirability_of(goal: GoalPlan, x: Scalar | None) -> float:
    """Return the desirability of a single value or level; NaN as `judged` says, and of None without ``missing``."""
    if x is None:
        return np.nan if goal.rule.missing is None else goal.rule.missing
    return goal.of_level(x) if goal.rule.kind == "category" else float(judged(goal, x))


@dataclass(frozen=True)
class Field:
    """The candidates on one dataset, models and their variants, m of them, against k goals.

    ``drawn`` are the desirabilities in B replicates [m, k, B], None where there are none.
    """

    plan: Plan
    evaluated: Evaluated
    names: tuple[str, ...]
    values: tuple[tuple[Scalar | None, ...], ...]
    d: Floats
    drawn: Floats | None

    @property
    def goals(self) -> tuple[GoalPlan, ...]:
        """The goals."""
        return self.plan.goals

    @property
    def weights(self) -> Floats:
        """The weights of the goals [k]."""
        return np.array([goal.rule.weight for goal in self.goals])

    @cached_property
    def overall(self) -> Floats:
        """The overall desirability [m]."""
        return scale.overall(self.d, self.weights)

    @cached_property
    def replicates(self) -> Floats | None:
        """The overall desirability in each replicate [m, B]."""
        return None if self.drawn is None else scale.overall(np.moveaxis(self.drawn, 1, -1), self.weights)

    @cached_property
    def known(self) -> bool:
        """Whether replicates tell how uncertain a value is: they do not of a single cluster."""
        return self.drawn is not None and self.clusters != 1

    def candidate(self, name: str) -> dict[str, str]:
        """Return the dataset, the model and the variant of a candidate."""
        sample = self.evaluated.sample
        return {"dataset": sample.dataset, **sample.named(name)}

    def rare(self, name: str, goals: Iterable[GoalPlan]) -> list[Sentence | None]:
        """Return why limits of a candidate from few clusters cover too seldom, by each measure of some goals."""
        whole = self.evaluated.scope(name, 0, self.evaluated.summaries[name, 0])
        return [reason for goal in goals if goal.entry is not None
                for reason in whole.seen_by(goal.entry).drawn(goal.entry, self.evaluated.replicates).rare]

    @property
    def clusters(self) -> int | None:
        """How many clusters the rows are of; None where they are not clustered."""
        return self.evaluated.subsets[0].clusters


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, Desirability]:
    """Return the tables of desirability over all rows of each dataset; none without goals.

    Raises DataError where a value lies beyond the points of a goal that asks for an error there.
    """
    if not plan.goals or not evaluated:
        return {}
    fields = [_field(plan, dataset) for dataset in evaluated]
    goals = [described(goal, [x for field in fields for x in _spread(field, k)]) for k, goal in enumerate(plan.goals)]
    return {"desirability": Desirability(
        goals=goals,
        individual=[row for field in fields for row in _individual(field)],
        overall=[row for field in fields for row in _overall(field)],
        sensitivity=[row for field in fields for row in _sensitivity(field)],
    )}


def warnings(plan: Plan, _: Sequence[Evaluated]) -> Iterator[Warned]:
    """Yield a warning for each goal that rewards the worse end of its measure."""
    for goal in plan.goals:
        wrong = {"minimize": "maximize", "maximize": "minimize"}.get(goal.rule.kind)
        if goal.entry is not None and wrong is not None and goal.entry.metric.direction == wrong:
            better = "high" if wrong == "maximize" else "low"
            yield Warned.of("goal-against-direction", goal=goal.name, metric=goal.entry.metric.name, better=better)


def _field(plan: Plan, evaluated: Evaluated) -> Field:
    """Judge every model and variant of a dataset."""
    names = tuple(evaluated.sample.models)
    measured = tuple(tuple(_value(plan, evaluated, name, goal) for goal in plan.goals) for name in names)
    d = np.array([[_judged(evaluated, name, goal, x) for goal, x in zip(plan.goals, row, strict=True)]
                  for name, row in zip(names, measured, strict=True)])
    return Field(plan, evaluated, names, measured, d, _drawn(plan, evaluated, names, d))


def _value(plan: Plan, evaluated: Evaluated, name: str, goal: GoalPlan) -> Scalar | None:
    """Return a candidate's measure or characteristic; None where it is undefined or missing."""
    if goal.entry is not None:
        value = float(values(evaluated.summaries[name, 0], goal.entry))
        return None if np.isnan(value) else value
    model = plan.models[evaluated.sample.named(name)["model"]]
    return model.characteristics.get(goal.rule.characteristic or "")


def _judged(evaluated: Evaluated, name: str, goal: GoalPlan, x: Scalar | None) -> float:
    """Return the desirability of a value, NaN where there is none and nothing says what that counts."""
    d = desirability_of(goal, x)
    if np.isnan(d) and x is not None:
        raise DataError.of(
            "beyond-points",
            f"{name} on {evaluated.sample.dataset} is {x:g}, beyond the points of the goal '{goal.name}', "
            f"{goal.shape['values'][0]:g} to {goal.shape['values'][-1]:g}",
            hint="add a point, or write 'extrapolate: clamp' or 'zero'",
        )
    return d


def _drawn(plan: Plan, evaluated: Evaluated, names: tuple[str, ...], d: Floats) -> Floats | None:
    """Return the desirabilities in every replicate [m, k, B]; those of characteristics stay as they are."""
    if plan.interval_method == "none" or all(goal.entry is None for goal in plan.goals):
        return None
    drawn = np.repeat(d[:, :, None], plan.replicates, axis=2)
    for k, goal in enumerate(plan.goals):
        if goal.entry is not None:
            place = plan.entries.index(goal.entry)
            for m, name in enumerate(names):
                drawn[m, k] = judged(goal, evaluated.replicates.metrics[name, 0, place])
    return drawn


def _uncertain(
    field: Field, name: str, goals: Sequence[GoalPlan], value: float, replicates: Floats | None
) -> dict[str, object]:
    """Return limits, level and status of a defined desirability by some goals, from its replicates [B]."""
    if replicates is None or np.isnan(value):
        return {}
    clusters, level = field.clusters, field.plan.level
    units = field.evaluated.sample.summary.n if clusters is None else clusters
    drawn = Drawn(value, replicates, units, clustered=clusters is not None, rare=field.rare(name, goals))
    limited = drawn.limited(level, lambda _, known, level: percentile_limits(known, level), excludes=None)
    return limited.fields(level) | {"undefined_replicates": limited.missing}


def _limits(field: Field, name: str, goal: GoalPlan) -> dict[str, float | None]:
    """Return the limits of the measure of a goal, as its estimate has them; none of a characteristic."""
    if goal.entry is None:
        return {}
    place = field.plan.metrics.index(goal.entry)
    (estimate,) = field.evaluated.estimates_of(name)[0, place]
    return {"value_lower": estimate.lower, "value_upper": estimate.upper}


def _individual(field: Field) -> Iterator[Individual]:
    for m, name in enumerate(field.names):
        for k, goal in enumerate(field.goals):
            x, d = field.values[m][k], float(field.d[m, k])
            drawn = None if field.drawn is None or goal.entry is None else field.drawn[m, k]
            uncertainty = _uncertain(field, name, [goal], d, drawn)
            if x is None:
                uncertainty |= {"status": "undefined" if np.isnan(d) else "degenerate", "reason": _why(goal, d)}
            yield Individual(
                **field.candidate(name), goal=goal.name, **goal.subject, value=x,
                **_limits(field, name, goal), desirability=None if np.isnan(d) else d, weight=goal.rule.weight,
                **uncertainty,
            )


def _why(goal: GoalPlan, d: float) -> Sentence:
    """Say why a value does not exist, and what it counts."""
    why = sentence("no-characteristic") if goal.entry is None else sentence(
        "undefined", when=goal.entry.metric.undefined)
    return why if np.isnan(d) else sentence("counts-as-missing", because=why, desirability=d)


def _overall(field: Field) -> Iterator[Overall]:
    drawn = field.replicates
    first = None if drawn is None or not field.known else scale.best(drawn).mean(axis=1)
    fronts = scale.pareto(scores(field.goals, field.values, field.d))
    order, shares = scale.ranks(field.overall), _weightings(field)
    for m, name in enumerate(field.names):
        value = float(field.overall[m])
        uncertainty = _uncertain(field, name, field.goals, value, None if drawn is None else drawn[m])
        if np.isnan(value):
            lacking = [goal.name for goal, d in zip(field.goals, field.d[m], strict=True) if np.isnan(d)]
            uncertainty = {"status": "undefined", "reason": sentence("goals-without-desirability", goals=lacking)}
        yield Overall(
            **field.candidate(name), value=None if np.isnan(value) else value, rank=order[m], pareto=fronts[m],
            probability_best=None if first is None or np.isnan(value) else float(first[m]),
            weights_best=None if np.isnan(value) else float(shares[m]), **uncertainty,
            monte_carlo_error=None if "lower" not in uncertainty else monte_carlo_error(
                drawn[m], field.plan.level),  # type: ignore[index]
        )


def scores(goals: Sequence[GoalPlan], values: Sequence[Sequence[Scalar | None]], d: Floats) -> Floats:
    """Return by what candidates are compared goal by goal [m, k], higher being better.

    By the value in the direction of the goal; by the desirability where a value is missing that counts something, and
    where values have no direction: by category and by points. Of a box that is whether the value lies in it.
    """
    compared = np.array(d)
    for k, goal in enumerate(goals):
        column = [row[k] for row in values]
        if goal.rule.kind not in ("minimize", "maximize", "target"):
            continue
        if goal.rule.missing is not None and any(x is None for x in column):
            continue
        x = np.array([np.nan if x is None else float(x) for x in column])
        at = goal.shape["target"] if goal.rule.kind == "target" else 0.0
        compared[:, k] = {"maximize": x, "minimize": -x}.get(goal.rule.kind, -np.abs(x - at))
    return compared


def _weightings(field: Field) -> Floats:
    """Return under which share of random weightings each candidate is the most desirable [m].

    The weights are uniform over all that sum to 1: a Dirichlet distribution with parameters 1, whatever was declared.
    """
    generator = stream(field.plan.seed, "weightings", len(field.goals))
    weights = generator.standard_exponential((constants.WEIGHTINGS, len(field.goals)))
    return np.asarray(scale.best(scale.overall(field.d[:, None, :], weights)).mean(axis=1))


def _sensitivity(field: Field) -> Iterator[WeightChange]:
    for k, goal in enumerate(field.goals):
        for factor in FACTORS:
            weights = field.weights
            weights[k] *= factor
            overall = scale.overall(field.d, weights)
            first = scale.best(overall) > 0
            for m, name in enumerate(field.names):
                yield WeightChange(
                    **field.candidate(name), goal=goal.name, factor=factor,
                    value=None if np.isnan(overall[m]) else float(overall[m]), first=bool(first[m]),
                )


def _spread(field: Field, k: int) -> list[float]:
    """Return the values of a goal's measure or characteristic, and the ends of their replicates."""
    goal = field.goals[k]
    if goal.rule.kind == "category":
        return []
    spread = [float(row[k]) for row in field.values if row[k] is not None]  # type: ignore[arg-type]
    for name in field.names if field.drawn is not None and goal.entry is not None else ():
        drawn = field.evaluated.replicates.metrics[name, 0, field.plan.entries.index(goal.entry)]
        spread += percentile_limits(drawn, field.plan.level) or ()
    return [x for x in spread if np.isfinite(x)]


def described(goal: GoalPlan, spread: list[float]) -> Goal:
    """Describe a goal with its curve over its limits and the spread of all values."""
    x = np.empty(0) if goal.rule.kind == "category" else _places(goal, spread)
    d = judged(goal, x) if len(x) else x
    return Goal(
        goal=goal.name, kind=goal.rule.kind, **goal.subject, shape=dict(goal.shape), weight=goal.rule.weight,
        missing=goal.rule.missing, x=x.tolist(), desirability=d.tolist(),
    )


def _places(goal: GoalPlan, spread: list[float]) -> Floats:
    """Return the values along a curve: its limits, steps between and beyond them, and where it jumps both sides."""
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
