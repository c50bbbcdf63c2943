"""Desirability of the models on each dataset: in each goal, overall, and how far the ranking hangs on the weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe import constants
from evalpipe import desirability as scale
from evalpipe.chapters.desirability.records import Goal, Individual, Overall, WeightChange
from evalpipe.engine.averages import values
from evalpipe.engine.estimates import ONE_CLUSTER
from evalpipe.errors import DataError
from evalpipe.intervals.bootstrap import monte_carlo_error, percentile_limits
from evalpipe.intervals.resampling import stream
from evalpipe.results import Desirability, Warned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.arraytypes import Floats
    from evalpipe.engine.evaluate import Evaluated
    from evalpipe.plan import Aim, Plan
    from evalpipe.results import Scalar, Status

FACTORS = (0.5, 2.0)
"""By what the weight of each goal is multiplied, to see whether the ranking holds."""

STEPS = 200
"""Points along the curve of a goal, beside its limits."""


def judged(aim: Aim, x: Any) -> Floats:
    """Return the desirability of values [...]; NaN where a value does not exist and nothing says what that counts.

    NaN too beyond the points of a goal that asks for an error there.
    """
    found = np.asarray(getattr(scale, aim.goal.kind)(x, **aim.shape), float)
    missing = aim.goal.missing
    return found if missing is None else np.where(np.isnan(x), missing, found)


@dataclass(frozen=True)
class _Field:
    """The candidates on one dataset, models and their variants, m of them, against k goals.

    ``drawn`` are the desirabilities in B replicates [m, k, B], None where there are none.
    """

    plan: Plan
    one: Evaluated
    names: tuple[str, ...]
    held: tuple[tuple[Scalar | None, ...], ...]
    d: Floats
    drawn: Floats | None

    @property
    def aims(self) -> tuple[Aim, ...]:
        """The goals."""
        return self.plan.aims

    @property
    def weights(self) -> Floats:
        """The weights of the goals [k]."""
        return np.array([aim.goal.weight for aim in self.aims])

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
        return self.drawn is not None and self.one.sample.summary.clusters != 1


def desirability(plan: Plan, done: Sequence[Evaluated]) -> Desirability:
    """Return the tables of desirability over all rows of each dataset; empty without goals.

    Raises DataError where a value lies beyond the points of a goal that asks for an error there.
    """
    if not plan.aims:
        return Desirability()
    fields = [_field(plan, one) for one in done]
    return Desirability(
        goals=[_goal(aim, [row for field in fields for row in _spread(field, k)]) for k, aim in enumerate(plan.aims)],
        individual=[row for field in fields for row in _individual(field)],
        overall=[row for field in fields for row in _overall(field)],
        sensitivity=[row for field in fields for row in _sensitivity(field)],
    )


def against_direction(plan: Plan) -> Iterator[Warned]:
    """Yield a warning for each goal that rewards the worse end of its measure."""
    for aim in plan.aims:
        wrong = {"minimize": "maximize", "maximize": "minimize"}.get(aim.goal.kind)
        if aim.entry is not None and wrong is not None and aim.entry.metric.direction == wrong:
            end = "high" if wrong == "maximize" else "low"
            message = f"the goal '{aim.name}' rewards worse models: {aim.entry.metric.name} is better when it is {end}"
            yield Warned(code="goal-against-direction", message=message)


def _field(plan: Plan, one: Evaluated) -> _Field:
    """Judge every model and variant of a dataset."""
    names = tuple(one.sample.models)
    held = tuple(tuple(_value(plan, one, name, aim) for aim in plan.aims) for name in names)
    d = np.array([[_judged(one, name, aim, x) for aim, x in zip(plan.aims, row, strict=True)]
                  for name, row in zip(names, held, strict=True)])
    return _Field(plan, one, names, held, d, _drawn(plan, one, names, d))


def _value(plan: Plan, one: Evaluated, name: str, aim: Aim) -> Scalar | None:
    """Return a candidate's measure or characteristic; None where it is undefined or missing."""
    if aim.entry is not None:
        found = float(values(one.summaries[name, 0], aim.entry))
        return None if np.isnan(found) else found
    model = plan.models[one.sample.named(name)["model"]]
    return model.characteristics.get(aim.goal.characteristic or "")


def _judged(one: Evaluated, name: str, aim: Aim, x: Scalar | None) -> float:
    """Return the desirability of a value, NaN where there is none and nothing says what that counts."""
    if x is not None and aim.goal.kind == "category":
        return aim.of_level(x)
    if x is None:
        return np.nan if aim.goal.missing is None else aim.goal.missing
    found = float(judged(aim, x))
    if np.isnan(found):
        raise DataError.of(
            "beyond-points",
            f"the goal '{aim.name}' asks for an error beyond its points, and {aim.shape['values'][0]:g} to "
            f"{aim.shape['values'][-1]:g} does not hold {x:g}, the value of {name} on {one.sample.dataset}",
            hint="add a point, or write 'extrapolate: clamp' or 'zero'",
        )
    return found


def _drawn(plan: Plan, one: Evaluated, names: tuple[str, ...], d: Floats) -> Floats | None:
    """Return the desirabilities in every replicate [m, k, B]; those of characteristics stay as they are."""
    if plan.interval_method == "none" or all(aim.entry is None for aim in plan.aims):
        return None
    found = np.repeat(d[:, :, None], plan.replicates, axis=2)
    for k, aim in enumerate(plan.aims):
        if aim.entry is not None:
            place = plan.entries.index(aim.entry)
            for m, name in enumerate(names):
                found[m, k] = judged(aim, one.replicates.metrics[name, 0, place])
    return found


def _gaps(drawn: Floats, status: Status = "ok") -> tuple[Status, str | None, int]:
    """Return the status of a number that has replicates [B], the reason, and how many of them are undefined."""
    gaps = int(np.isnan(drawn).sum())
    if gaps > constants.TOLERATED * len(drawn):
        return "degenerate", f"undefined in {gaps} of {len(drawn)} replicates", gaps
    return status, None, gaps


def _uncertain(field: _Field, value: float, drawn: Floats | None) -> dict[str, Any]:
    """Return limits, level and status of a defined desirability, from its replicates [B]."""
    level = field.plan.level
    if drawn is None or np.isnan(value):
        return {}
    if not field.known:
        return {"status": "degenerate", "reason": ONE_CLUSTER}
    status, reason, gaps = _gaps(drawn)
    limits = percentile_limits(drawn, level)
    lower, upper = limits if limits is not None else (None, None)
    return {"lower": lower, "upper": upper, "level": None if limits is None else level, "status": status,
            "reason": reason, "undefined_replicates": gaps}


def _individual(field: _Field) -> Iterator[Individual]:
    for m, name in enumerate(field.names):
        for k, aim in enumerate(field.aims):
            x, d = field.held[m][k], float(field.d[m, k])
            drawn = None if field.drawn is None or aim.entry is None else field.drawn[m, k]
            found = _uncertain(field, d, drawn)
            if x is None:
                found |= {"status": "undefined" if np.isnan(d) else "degenerate", "reason": _why(aim, d)}
            yield Individual(
                dataset=field.one.sample.dataset, **field.one.sample.named(name), goal=aim.name, **aim.subject,
                value=x, desirability=None if np.isnan(d) else d, weight=aim.goal.weight, **found,
            )


def _why(aim: Aim, d: float) -> str:
    """Say why a value does not exist, and what it counts."""
    why = "the model lacks this characteristic" if aim.entry is None else aim.entry.metric.undefined
    return why if np.isnan(d) else f"{why}; counts {d:g}, as 'missing' says"


def _overall(field: _Field) -> Iterator[Overall]:
    drawn = field.replicates
    first = None if drawn is None or not field.known else scale.best(drawn).mean(axis=1)
    order, fronts, shares = scale.ranks(field.overall), scale.pareto(_scores(field)), _weightings(field)
    for m, name in enumerate(field.names):
        value = float(field.overall[m])
        found = _uncertain(field, value, None if drawn is None else drawn[m])
        if np.isnan(value):
            lacking = [aim.name for aim, d in zip(field.aims, field.d[m], strict=True) if np.isnan(d)]
            found = {"status": "undefined", "reason": f"no desirability in: {', '.join(lacking)}"}
        yield Overall(
            dataset=field.one.sample.dataset, **field.one.sample.named(name),
            value=None if np.isnan(value) else value, rank=order[m], pareto=fronts[m],
            probability_best=None if first is None or np.isnan(value) else float(first[m]),
            weights_best=None if np.isnan(value) else float(shares[m]), **found,
            monte_carlo_error=None if "lower" not in found else monte_carlo_error(
                drawn[m], field.plan.level),  # type: ignore[index]
        )


def _scores(field: _Field) -> Floats:
    """Return by what candidates are compared goal by goal [m, k], higher being better.

    By the value in the direction of the goal; by the desirability where a value is missing that counts something, and
    where values have no direction: by category and by points. Of a box that is whether the value lies in it.
    """
    found = np.array(field.d)
    for k, aim in enumerate(field.aims):
        column = [row[k] for row in field.held]
        if aim.goal.kind not in ("minimize", "maximize", "target"):
            continue
        if aim.goal.missing is not None and any(x is None for x in column):
            continue
        x = np.array([np.nan if x is None else float(x) for x in column])
        at = aim.goal.target.target if aim.goal.target is not None else 0.0
        found[:, k] = {"maximize": x, "minimize": -x}.get(aim.goal.kind, -np.abs(x - at))
    return found


def _weightings(field: _Field) -> Floats:
    """Return under which share of random weightings each candidate is the most desirable [m].

    The weights are uniform over all that sum to 1: a Dirichlet distribution with parameters 1, whatever was declared.
    """
    generator = stream(field.plan.seed, "weightings", len(field.aims))
    weights = generator.standard_exponential((constants.WEIGHTINGS, len(field.aims)))
    return np.asarray(scale.best(scale.overall(field.d[:, None, :], weights)).mean(axis=1))


def _sensitivity(field: _Field) -> Iterator[WeightChange]:
    for k, aim in enumerate(field.aims):
        for factor in FACTORS:
            weights = field.weights
            weights[k] *= factor
            found = scale.overall(field.d, weights)
            first = scale.best(found) > 0
            for m, name in enumerate(field.names):
                yield WeightChange(
                    dataset=field.one.sample.dataset, goal=aim.name, factor=factor, **field.one.sample.named(name),
                    value=None if np.isnan(found[m]) else float(found[m]), first=bool(first[m]),
                )


def _spread(field: _Field, k: int) -> list[float]:
    """Return the values of a goal's measure or characteristic, and the ends of their replicates."""
    aim = field.aims[k]
    if aim.goal.kind == "category":
        return []
    found = [float(row[k]) for row in field.held if row[k] is not None]  # type: ignore[arg-type]
    for name in field.names if field.drawn is not None and aim.entry is not None else ():
        drawn = field.one.replicates.metrics[name, 0, field.plan.entries.index(aim.entry)]
        found += percentile_limits(drawn, field.plan.level) or ()
    return [x for x in found if np.isfinite(x)]


def _goal(aim: Aim, found: list[float]) -> Goal:
    """Describe a goal with its curve over its limits and all values found."""
    x = np.empty(0) if aim.goal.kind == "category" else _places(aim, found)
    d = judged(aim, x) if len(x) else x
    return Goal(
        goal=aim.name, kind=aim.goal.kind, **aim.subject, shape=dict(aim.shape), weight=aim.goal.weight,
        missing=aim.goal.missing, x=x.tolist(), desirability=d.tolist(),
    )


def _places(aim: Aim, found: list[float]) -> Floats:
    """Return the values along a curve: its limits, steps between and beyond them, and where it jumps both sides."""
    corners = [float(aim.shape[key]) for key in ("low", "target", "high") if key in aim.shape]
    corners += [float(x) for x in aim.shape.get("values", ())]
    low, high = min([*corners, *found]), max([*corners, *found])
    room = 0.05 * (high - low)
    steps = [np.linspace(low - room, high + room, STEPS + 1), np.linspace(min(corners), max(corners), STEPS + 1)]
    if aim.shape.get("extrapolate") == "error":
        return np.unique(np.concatenate([steps[1], corners]))
    jumps = aim.goal.kind == "box" or aim.shape.get("extrapolate") == "zero"
    beside = [np.nextafter(x, side) for x in corners for side in (-np.inf, np.inf)] if jumps else []
    return np.unique(np.concatenate([*steps, corners, beside]))
