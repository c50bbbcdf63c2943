"""Results made by hand: two models on two datasets, with everything a card must be able to show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from card import groups
from card.prevalences import predictive, prior
from evalpipe.results import (
    ChosenMethod,
    Confusion,
    Curve,
    DatasetSummary,
    Estimate,
    InputFile,
    LevelCount,
    Method,
    MetricSummary,
    ModelSummary,
    Results,
    Threshold,
    Warned,
)
from evalpipe.results.curves import CURVES
from evalpipe.words.sentences import Sentence

EVENT, OTHER = "poisonous", "edible <b>&"
HASH = "3f2a9c" + "0123456789abcdef" * 3 + "0123456789"
UNIT = (0.0, 1.0)
METRICS = [
    ("accuracy", "Accuracy", r"\frac{TP+TN}{n}", "maximize", UNIT, "no rows", "Sokolova & Lapalme (2009)"),
    ("sensitivity", "Sensitivity", r"\frac{TP}{TP+FN}", "maximize", UNIT, "no events", "Yerushalmy (1947)"),
    ("specificity", "Specificity", r"\frac{TN}{TN+FP}", "maximize", UNIT, "no non-events", "Yerushalmy (1947)"),
    ("precision", "Precision", r"\frac{TP}{TP+FP}", "maximize", UNIT, "no predicted events", "van Rijsbergen (1979)"),
    ("f_beta", "F-beta", r"\frac{(1+\beta^2)TP}{(1+\beta^2)TP+\beta^2FN+FP}", "maximize", UNIT,
     "no events and none predicted", "van Rijsbergen (1979)"),
    ("mcc", "MCC", r"\frac{TP\cdot TN-FP\cdot FN}{\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}}", "maximize", (-1.0, 1.0),
     "a class is absent from the truth or from the predictions", "Matthews (1975)"),
    ("misclassifications", "Misclassifications", "FP+FN", "minimize", (0.0, None), "no rows", "Watt et al. (2020)"),
    ("detection_prevalence", "Detection prevalence", r"\unknown{TP+FP}", "none", UNIT, "no rows", "Kuhn (2008)"),
    ("roc_auc", "ROC AUC", r"P(s_1>s_0)+\frac{1}{2}P(s_1=s_0)", "maximize", UNIT, "no events or no non-events",
     "Hanley & McNeil (1982)"),
    ("brier", "Brier score", r"\frac{1}{n}\sum_i(y_i-p_i)^2", "minimize", UNIT, "no rows", "Brier (1950)"),
    ("log_loss", "Log loss", r"-\frac{1}{n}\sum_i y_i\log p_i+(1-y_i)\log(1-p_i)", "minimize", (0.0, None), "no rows",
     "Good (1952)"),
]
LABELS = ["Naive Bayes", "Gradient boosting with a rather long name <script>alert('1')</script> & more"]
PROPORTIONS = {"accuracy", "sensitivity", "specificity", "precision", "detection_prevalence"}


def scores(seed: int, n: int, prevalence: float, skill: float) -> tuple[np.ndarray, np.ndarray]:
    """Return truth (0 or 1) and probabilities to two decimals, so that there are ties."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < prevalence).astype(float)
    logit = np.log(prevalence / (1 - prevalence)) + skill * (truth - prevalence) + rng.normal(size=n)
    return truth, np.round(1 / (1 + np.exp(-logit)), 2)


def cells(y: np.ndarray, p: np.ndarray, t: float) -> tuple[float, float, float, float]:
    """Return tp, fn, fp, tn at the threshold."""
    hit = p >= t
    return float((y * hit).sum()), float((y * ~hit).sum()), float(((1 - y) * hit).sum()), float(((1 - y) * ~hit).sum())


def values(y: np.ndarray, p: np.ndarray, t: float) -> dict[str, float | None]:
    """Return each metric's value; None where it is undefined."""
    tp, fn, fp, tn = cells(y, p, t)
    n, q = len(y), np.clip(p, 1e-15, 1 - 1e-15)
    order = (p[y == 1][:, None] > p[y == 0]).mean() + (p[y == 1][:, None] == p[y == 0]).mean() / 2
    found = {
        "accuracy": (tp + tn) / n, "sensitivity": tp / (tp + fn), "specificity": tn / (tn + fp),
        "precision": tp / (tp + fp) if tp + fp else None, "f_beta": 5 * tp / (5 * tp + 4 * fn + fp),
        "mcc": (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) if tp + fp else None,
        "misclassifications": fp + fn, "detection_prevalence": (tp + fp) / n, "roc_auc": order,
        "brier": ((y - p) ** 2).mean(), "log_loss": -(y * np.log(q) + (1 - y) * np.log(1 - q)).mean(),
    }
    return {name: None if value is None else float(value) for name, value in found.items()}


def estimates(dataset: str, model: str, y: np.ndarray, p: np.ndarray, t: float) -> list[Estimate]:
    """Return the estimates with made-up intervals; the real ones are the engine's business."""
    rows = []
    for name, value in values(y, p, t).items():
        spread = 0.0 if value is None else max(value * (1 - min(value, 1)), 0.01)
        half = 40 if value is not None and value > 1 else 1.96 * np.sqrt(spread / len(y))
        reason = next(metric[5] for metric in METRICS if metric[0] == name)
        method = "none" if value is None else "exact" if name in PROPORTIONS else "percentile"
        limits = (None, None) if value is None else (max(value - half, 0), value + half)
        rows.append(Estimate(
            dataset=dataset, model=model, metric=name, params={"beta": 2.0} if name == "f_beta" else {}, value=value,
            lower=limits[0], upper=limits[1], level=None if value is None else 0.95, method=method, n=len(y),
            events=int(y.sum()), status="undefined" if value is None else "ok",
            reason=reason if value is None else None,
        ))
    return rows


def reliability(y: np.ndarray, p: np.ndarray, edges: np.ndarray) -> dict[str, list[float | None]]:
    """Return the points of a reliability diagram with the bins between the edges."""
    bins = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(edges) - 2)
    keep = [b for b in range(len(edges) - 1) if (bins == b).any()]
    rate = [float(y[bins == b].mean()) for b in keep]
    size = [float((bins == b).sum()) for b in keep]
    half = [1.96 * np.sqrt(max(r * (1 - r), 0.01) / s) for r, s in zip(rate, size, strict=True)]
    return {
        "mean_probability": [float(p[bins == b].mean()) for b in keep], "event_rate": rate,
        "lower": [max(0.0, r - h) for r, h in zip(rate, half, strict=True)],
        "upper": [min(1.0, r + h) for r, h in zip(rate, half, strict=True)], "weight": size, "rows": size,
    }


def smooth(y: np.ndarray, p: np.ndarray) -> dict[str, dict[str, Any]]:
    """Return windows, and made-up curves in place of fitted ones: the second bends, the last has steps."""
    at = np.linspace(p.min(), p.max(), 50)
    bent, steps = np.clip(at + 0.2 * np.sin(6 * at), 0, 1), np.repeat(np.linspace(0.05, 0.95, 5), 10)
    lines = {"logistic": np.clip(0.1 + 0.8 * at, 0, 1), "spline": bent, "isotonic": steps}
    centre = np.arange(0, 101, 5)
    inside = [(p >= (c - 5) / 100) & (p < (c + 5) / 100) for c in centre]
    used = [k for k, rows in enumerate(inside) if rows.any()]
    size = np.array([inside[k].sum() for k in used])
    rate = np.array([y[inside[k]].mean() for k in used])
    half = 1.96 * np.sqrt(np.maximum(rate * (1 - rate), 0.01) / size)
    found: dict[str, dict[str, Any]] = {"calibration_window": {
        "centre": centre[used] / 100, "mean_probability": [p[inside[k]].mean() for k in used], "event_rate": rate,
        "lower": np.maximum(rate - half, 0), "upper": np.minimum(rate + half, 1), "weight": size, "rows": size,
    }}
    for name, height in lines.items():
        found[f"calibration_{name}"] = {
            "probability": at, "event_rate": height, "lower": np.clip(height - 0.05, 0, 1),
            "upper": np.clip(height + 0.05, 0, 1),
        }
    return found


def curves(dataset: str, model: str, y: np.ndarray, p: np.ndarray) -> list[Curve]:
    """Return every curve of a model."""
    cuts = np.unique(p)[::-1]
    tp = np.array([0.0, *((y * (p >= c)).sum() for c in cuts)])
    fp = np.array([0.0, *(((1 - y) * (p >= c)).sum() for c in cuts)])
    found, tested, threshold = tp / tp[-1], (tp + fp) / len(y), [None, *map(float, cuts)]
    edges = np.linspace(0, 1, 21)
    parts: dict[str, dict[str, Any]] = {
        "roc": {"threshold": threshold, "false_positive_rate": fp / fp[-1], "sensitivity": found},
        "pr": {"threshold": threshold, "recall": found, "precision": np.r_[1.0, tp[1:] / (tp + fp)[1:]]},
        "gain": {"threshold": threshold, "tested": tested, "found": found},
        "lift": {"threshold": threshold[1:], "tested": tested[1:], "lift": found[1:] / tested[1:]},
        "calibration_uniform": reliability(y, p, np.linspace(0, 1, 11)),
        "calibration_quantile": reliability(y, p, np.unique(np.quantile(p, np.linspace(0, 1, 11)))),
        **smooth(y, p),
        "histogram": {"low": edges[:-1], "high": edges[1:], "events": np.histogram(p[y == 1], edges)[0],
                      "others": np.histogram(p[y == 0], edges)[0]},
    }
    scores = np.r_[cuts[::-1], cuts[0]]
    below = [np.array([(p[y == one] < s).mean() for s in cuts[::-1]] + [1.0]) for one in (1, 0)]
    widest = int(np.abs(below[0] - below[1]).argmax())
    parts["ks"] = {"score": scores, "events_below": below[0], "others_below": below[1]}
    tenths = np.linspace(0, 1, 11)
    captured = np.interp(tenths, tested, found)
    parts["gain_table"] = {
        "group": np.arange(1, 11), "population": np.full(10, len(y) / 10), "captured": np.diff(captured) * y.sum(),
        "random": np.full(10, y.sum() / 10), "wizard": np.diff(np.minimum(tenths * len(y), y.sum())),
        "lift": np.diff(captured) * 10, "cumulative_population": tenths[1:], "cumulative_captured": captured[1:],
        "cumulative_wizard": np.minimum(tenths * len(y), y.sum())[1:] / y.sum(),
        "cumulative_lift": captured[1:] / tenths[1:], "separation": captured[1:] - tenths[1:],
        "population_so_far": tenths[1:] * len(y), "captured_so_far": captured[1:] * y.sum(),
        "random_so_far": tenths[1:] * y.sum(), "wizard_so_far": np.minimum(tenths * len(y), y.sum())[1:],
    }
    bins = {"bins_requested": 10, "bins_used": 10, "method": "exact"}
    tenth, half = (float(np.interp(share, tested, found)) for share in (0.1, 0.5))
    notes: dict[str, dict[str, Any]] = {
        "calibration_uniform": bins, "calibration_quantile": bins, "lift": {"lift_in_first_10_percent": tenth / 0.1},
        "gain": {
            "found_in_first_10_percent": tenth, "found_in_first_50_percent": half,
            "tested_for_half_of_events": float(np.interp(0.5, found, tested)),
        },
        "calibration_window": {"width": 0.1, "step": 0.05, "method": "exact"},
        "calibration_logistic": {
            "intercept": -0.25, "slope": 0.75, "level": 0.95, "clipped": 0.0, "method": "likelihood"},
        "calibration_spline": {"edf": 4.5, "level": 0.95, "clipped": 0.0, "method": "bayesian"},
        "calibration_isotonic": {"miscalibration": 0.0123, "discrimination": 0.0456, "uncertainty": 0.2468},
        "ks": {"statistic": float(np.abs(below[0] - below[1])[widest]), "score": float(scores[widest])},
    }
    return [
        CURVES[name].model_validate({
            "dataset": dataset, "model": model, "curve": name, "notes": notes.get(name, {}),
            "points": {key: [None if x is None else float(x) for x in column] for key, column in points.items()},
        })
        for name, points in parts.items()
    ]


def dataset_summary(name: str, y: np.ndarray, where: str | None) -> DatasetSummary:
    """Return what is known of the rows."""
    events, n = int(y.sum()), len(y)
    counts = {EVENT: events, OTHER: n - events}
    levels = [LevelCount(level=level, rows=rows, weight=rows) for level, rows in counts.items()]
    return DatasetSummary(
        name=name, role="evaluate", where=where, rows=n + 12, excluded_where=12, excluded_zero_weight=0, n=n,
        events=events, total_weight=n, prevalence=events / n, levels=levels,
    )


def metric_summary(row: tuple[Any, ...]) -> MetricSummary:
    """Return what a metric means."""
    name, title, formula, direction, limits, undefined, reference = row
    return MetricSummary(
        name=name, title=title, definition=f"What {title.lower()} means, in one sentence.", formula=formula,
        direction=direction, range=limits, undefined=undefined, reference=reference,
    )


def make(datasets: int = 2, models: int = 2, weight: str | None = None) -> Results:
    """Build results; the second dataset is small and rare, so the first model predicts no event there."""
    truth = {"validation": scores(1, 6107, 0.555, 2.0), "rare-season": scores(2, 240, 0.06, 0.6)}
    names = [f"model_{i}" for i in range(models)]
    parts = ("inputs", "datasets", "estimates", "confusion", "curves", "thresholds")
    tables: dict[str, list[Any]] = {part: [] for part in parts}
    for place, (name, (y, p)) in enumerate(list(truth.items())[:datasets]):
        tables["datasets"].append(dataset_summary(name, y, "season = 'a' AND cap > 2" if place else None))
        tables["inputs"].append(InputFile(
            dataset=name, role="evaluate", path=f"data/{name} & more.parquet", sha256=HASH[::-1] if place else HASH,
            rows=len(y) + 12, used_rows=len(y), columns=["class", ".pred_a", ".pred_b"],
        ))
        for i, model in enumerate(names):
            rng, t = np.random.default_rng(i), 0.5 if i != 1 else 0.35
            q = p if i == 0 else np.round(np.clip(p * 0.75 + 0.25 * rng.random(len(p)) * (1 - 0.1 * i), 0, 1), 2)
            q = q * 0.45 if place and i == 0 else q
            tp, fn, fp, tn = cells(y, q, t)
            tables["estimates"] += estimates(name, model, y, q, t)
            tables["curves"] += [*curves(name, model, y, q), predictive(name, model, tp, fn, fp, tn)]
            tables["thresholds"].append(Threshold(dataset=name, model=model, value=t, rule="fixed"))
            tables["confusion"].append(Confusion(
                dataset=name, model=model, levels=[EVENT, OTHER], counts=[[tp, fn], [fp, tn]], threshold=t,
                at_threshold=int((q == t).sum()), events_at_threshold=int(((q == t) & (y == 1)).sum()),
            ))
    reasons = {m[0]: "a proportion of counts" if m[0] in PROPORTIONS else "not a proportion of rows" for m in METRICS}
    return Results(
        evalpipe_version="0.1.0", name="mushrooms", title="Naive Bayes on secondary mushrooms & <i>friends</i>",
        task="binary", event=EVENT, other=OTHER, levels=[EVENT, OTHER], spec_sha256=HASH,
        prevalence=prior(),
        spec={"evalpipe": 1, "name": "mushrooms", "task": "binary", "outcome": {"column": "class", "event": EVENT},
              "datasets": {name: {"path": f"data/{name}.parquet"} for name in truth}, "note": "</pre><b>ü ≥</b>",
              "compare": {"baseline": names[0]}},
        weight={"column": "case_weight", "kind": weight} if weight else None,
        models=[
            ModelSummary(
                name=name, label=(LABELS + names[2:])[i], columns={"probability": f".pred_{'ab'[i % 2]}"},
                threshold=0.35 if i == 1 else 0.5,
                characteristics={"active_features": 21, "training_minutes": 3.5, "open": True} if i else {},
            )
            for i, name in enumerate(names)
        ],
        metrics=[metric_summary(row) for row in METRICS],
        intervals=Method(level=0.95, replicates=2000, seed=364, methods={
            m[0]: [ChosenMethod(method="exact" if m[0] in PROPORTIONS else "percentile",
                                reason=Sentence.read(reasons[m[0]]))] for m in METRICS}),
        warnings=[
            Warned.of_text(
                "clipped",
                "validation, model_0: 3 probabilities were limited to the range from 1e-15 to 1 - 1e-15 for Log loss"),
            Warned.of_text("markup", "a <b>bold</b> warning"),
        ],
        **tables,
    )


@pytest.fixture(scope="session")
def results() -> Results:
    """Two models on two datasets."""
    return make()


@pytest.fixture(scope="session")
def build() -> Any:
    """The builder itself, for other numbers of datasets and models."""
    return make


@pytest.fixture(scope="session")
def grouped(results: Results) -> Results:
    """The same with slices, comparisons and bands."""
    return groups.grouped(results)
