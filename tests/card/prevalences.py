"""Predictive values by Bayes' rule, as results hold them, for the tests of the report."""

from __future__ import annotations

import numpy as np

from evalpipe.results import PredictiveLine, Prior
from evalpipe.results.curves.events import PredictiveValues

DECLARED = 0.555


def listed(values: np.ndarray) -> list[float | None]:
    return [float(x) if np.isfinite(x) else None for x in values]


def predicted(se: np.ndarray, sp: np.ndarray, prior: np.ndarray) -> dict[str, np.ndarray]:
    with np.errstate(invalid="ignore"):
        return {"ppv": se * prior / (se * prior + (1 - sp) * (1 - prior)),
                "npv": sp * (1 - prior) / (sp * (1 - prior) + (1 - se) * prior)}


def predictive(dataset: str, model: str, tp: float, fn: float, fp: float, tn: float) -> PredictiveValues:
    """Return the predictive values of a model at every prevalence; limits are a tenth of the value away."""
    se, sp, grid = np.array(tp / (tp + fn)), np.array(tn / (fp + tn)), np.arange(101) / 100
    found, notes = predicted(se, sp, grid), {"sensitivity": float(se), "specificity": float(sp), "level": 0.95}
    for place, prior in (("observed", (tp + fn) / (tp + fn + fp + tn)), ("declared", DECLARED)):
        notes[place] = prior
        notes |= {f"{name}_{place}": float(x) for name, x in predicted(se, sp, np.array(prior)).items() if x == x}  # noqa: PLR0124
    limits = {f"{name}_{end}": found[name] * times for name in found for end, times in (("lower", 0.9), ("upper", 1))}
    points = {"prevalence": grid, **found, **limits}
    columns = {name: listed(values) for name, values in points.items()}
    return PredictiveValues(curve="predictive_values", dataset=dataset, model=model, points=columns, notes=notes)


def prior() -> Prior:
    """Return the declared prevalence, with its lines."""
    rates, lines = np.arange(11) / 10, []
    for by, other in (("sensitivity", "specificity"), ("specificity", "sensitivity")):
        for at in (0.0, 0.25, 0.5, 0.75, 1.0):
            held = np.full(11, at)
            found = predicted(*((rates, held) if by == "sensitivity" else (held, rates)), np.array(DECLARED))
            points = {"rate": listed(rates)} | {name: listed(values) for name, values in found.items()}
            lines.append(PredictiveLine(by=by, other=other, at=at, points=points))
    return Prior(value=DECLARED, source="training set", lines=lines)
