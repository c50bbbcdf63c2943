"""Slices, comparisons and bands made by hand, to be added to results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.results import Comparison, Curve, Disparity, Estimate, Results, SliceDifference, SliceSummary, WorstSlice
from evalpipe.results.curves import CURVES
from evalpipe.results.curves.calibration import Reliability
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICES: list[dict[str, str]] = [
    {"season": "a"}, {"season": "b <i>"}, {"season": "w"}, {"cap": "< 5"}, {"cap": "5 to < 10"}, {"cap": ">= 10"},
    {"season": "a", "habitat": "d"}, {"season": "a", "habitat": "rather long woods & meadows"}, {"late_tall": "true"},
]
SPEC: dict[str, Any] = {
    "slices": ["season", {"column": "cap", "cuts": [5, 10]}, ["season", "habitat"],
               {"where": "season = 'w' AND cap > 5", "name": "late_tall"}],
}
FEW = sentence("few-rows", rows=12, least=30)
BANDS = {
    "roc": ("false_positive_rate", "sensitivity"), "pr": ("recall", "precision"), "gain": ("tested", "found"),
}


def sliced(results: Results, slices: list[dict[str, str]]) -> list[Estimate]:
    """Return each estimate again in each slice, moved a little; the third slice is too small."""
    rows = []
    for place, labels in enumerate(slices):
        for e in results.rows:
            n = max(e.n // (place + 2), 1)
            if place == 2:
                rows.append(e.model_copy(update={
                    "slice": labels, "value": None, "lower": None, "upper": None, "n": 12, "events": 3,
                    "status": "insufficient", "reason": FEW, "method": "none", "level": None,
                }))
                continue
            known = {key: value for key in ("value", "lower", "upper") if (value := getattr(e, key)) is not None}
            away = 0.012 * (place - 4) * (known["upper"] - known["lower"] + 0.2) if "upper" in known else 0.0
            reach = {"value": 0.0, "lower": -0.004 * place, "upper": 0.004 * place}
            moved = {key: max(value + away + reach[key], 0.0) for key, value in known.items()}
            rows.append(e.model_copy(update={"slice": labels, "n": n, "events": n // 2, **moved}))
    return rows


def sizes(results: Results, slices: list[dict[str, str]]) -> Iterator[SliceSummary]:
    """Yield the rows of each slice of each dataset, as `sliced` makes them."""
    for dataset in results.datasets:
        for place, labels in enumerate(slices):
            n = max(dataset.n // (place + 2), 1)
            few = {"n": 12, "events": 3} if place == 2 else {"n": n, "events": n // 2}
            yield SliceSummary(dataset=dataset.name, slice=labels, **few)


def compared(results: Results, **changes: Any) -> list[Comparison]:
    """Return the differences of all further models from the first on every dataset."""
    kinds = ["better", "equivalent", "worse", "undecided"]
    tests = {"roc_auc": "delong", "accuracy": "mcnemar", "brier": "diebold_mariano"}
    first, *others = [model.name for model in results.models]
    found = []
    for dataset in results.datasets:
        for i, metric in enumerate(m.name for m in results.metrics):
            for j, model in enumerate(others):
                value = (0.0123, 0.001, -0.0234, 0.004)[(i + j) % 4]
                found.append(Comparison.model_validate({
                    "dataset": dataset.name, "metric": metric, "params": {"beta": 2.0} if metric == "f_beta" else {},
                    "model": model, "baseline": first, "difference": value, "lower": value - 0.006,
                    "upper": value + 0.006, "level": 0.95,
                    "method": "delong" if metric == "roc_auc" else "bootstrap_error",
                    "p_value": (0.0001, 0.74, 0.0312, 0.2)[(i + j) % 4], "test": tests.get(metric, "bootstrap"),
                    "p_adjusted": (0.0011, 0.0213, 0.0455, 1.0)[(i + j) % 4],
                    "margin": 0.01 if metric in {"roc_auc", "accuracy", "brier"} else None,
                    "verdict": kinds[(i + j) % 4], "n": dataset.n, "status": "ok", **changes,
                    "details": {"only_model": 120, "only_baseline": 1081, "p_exact": 0.00002}
                    if metric == "accuracy" and not changes else {},
                }))
    return found


def differences(results: Results, slices: list[dict[str, str]]) -> Iterator[SliceDifference]:
    """Yield a difference for each slice, model and measure; every eleventh is real."""
    place = 0
    for dataset in results.datasets:
        for labels in slices:
            for model in results.models:
                for metric in results.metrics[:4]:
                    place += 1
                    p = 0.0003 if place % 11 == 0 else 0.4
                    yield SliceDifference(
                        dataset=dataset.name, model=model.name, slice=labels, reference="overall", metric=metric.name,
                        params={}, difference=-0.031, lower=-0.05, upper=-0.012, ratio=0.961, ratio_lower=0.94,
                        ratio_upper=0.985, level=0.95, method="bootstrap_error", test="bootstrap", p_value=p,
                        p_holm=min(9 * p, 1.0),
                        p_benjamini_hochberg=min(3 * p, 1.0), status="ok",
                    )


def disparities(results: Results) -> Iterator[Disparity]:
    """Yield the disparities of one slicing, one of which is undefined."""
    names = ["demographic_parity", "equal_opportunity", "equalized_odds", "accuracy"]
    for dataset in results.datasets:
        for model in results.models:
            for name in names:
                none = name == "equal_opportunity"
                both = name == "equalized_odds" or none
                yield Disparity(
                    dataset=dataset.name, model=model.name, slicing="season", disparity=name, params={},
                    difference=None if none else 0.0832, lower=None if none else 0.04, upper=None if none else 0.13,
                    ratio=None if none else 0.871, ratio_lower=None if none else 0.8,
                    ratio_upper=None if none else 0.93, level=0.95, expected=None if none else 0.0121,
                    lowest=None if both else {"season": "a"}, highest=None if both else {"season": "w"},
                    slices=4, used=1 if none else 3, status="undefined" if none else "ok",
                    reason="fewer than two slices have a value" if none else None,
                )


def worst(results: Results, slices: list[dict[str, str]]) -> Iterator[WorstSlice]:
    """Yield the worst slices of the first model on the first dataset."""
    for rank, labels in enumerate(slices, 1):
        yield WorstSlice(
            dataset=results.datasets[0].name, model=results.models[0].name, rank=rank, slice=labels, metric="brier",
            params={}, n=1200 - rank, events=400 - rank, value=0.31 - rank / 100, overall=0.1712,
            difference=0.1388 - rank / 100,
            difference_lower=0.06 - rank / 100, difference_upper=0.22 - rank / 100,
            difference_corrected=0.12 - rank / 100, lower=0.28 - rank / 100, upper=0.34 - rank / 100, level=0.95,
            p_value=0.00001, p_adjusted=0.0029, searched=287,
        )


def banded(results: Results) -> list[Curve]:
    """Return the curves with their bands, and with limits for all bins at once."""
    found: list[Curve] = []
    for curve in results.curves:
        points = dict(curve.points.columns)
        if isinstance(curve, Reliability):
            ends = [(name, sign) for name, sign in (("lower", -0.02), ("upper", 0.02))]
            points |= {f"simultaneous_{name}": [(x or 0.0) + sign for x in points[name]] for name, sign in ends}
        found.append(type(curve).model_validate(curve.model_dump(by_alias=True) | {"points": points}))
        if curve.curve in BANDS:
            x, y = (points[name] for name in BANDS[curve.curve])
            heights = [value or 0.0 for value in y]
            sides = {"lower": -0.03, "upper": 0.03, "simultaneous_lower": -0.06, "simultaneous_upper": 0.06}
            around = {name: [min(max(v + away, 0.0), 1.0) for v in heights] for name, away in sides.items()}
            name = f"{curve.curve}_band"
            found.append(CURVES[name].model_validate(curve.model_dump(by_alias=True) | {
                "curve": name, "notes": {"level": 0.95},
                "points": {**dict(zip(BANDS[curve.curve], (x, heights), strict=True)), **around},
            }))
    return found


def grouped(results: Results, slices: list[dict[str, str]] | None = None) -> Results:
    """Return the results with slices, comparisons and bands."""
    by = SLICES if slices is None else slices
    here = [{"slice": labels} for labels in by[:2]]
    across = compared(results, baseline="model_0", model="model_0", baseline_dataset="last year", test="bootstrap")
    return results.model_copy(update={
        "spec": {**results.spec, **SPEC},
        "rows": [*results.rows, *sliced(results, by)],
        "slices": list(sizes(results, by)),
        "curves": banded(results),
        "comparisons": [
            *compared(results), *across, *(c for change in here for c in compared(results, **change)),
        ],
        "slice_differences": list(differences(results, by)),
        "disparities": list(disparities(results)),
        "worst_slices": list(worst(results, by[:4])),
    })
