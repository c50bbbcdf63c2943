"""The catalogue of faults: each name is a fault that was planted, and each function makes the data that have it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evalpipe.results.document import FindingKind
from findings.planted import (
    BINARY,
    COST,
    LEVELS,
    N,
    Planted,
    amounts,
    binary,
    counts,
    events,
    expit,
    levels,
    numbers,
    spec_of,
)

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
GRID = CONFIGS / "data" / "tumours_grid.csv"
"""A table of 300 candidates."""

TITANIC = GRID.parent
"""The folder of the Titanic data, with the fits of a forest by 20 seeds."""

DESCENT = CONFIGS / "books" / "data"
"""Where a run of gradient descent is whose misclassifications rise while its cost falls."""

FAULTS: dict[str, Callable[[], Planted]] = {}
"""Every fault by its name."""

BOTH = {"old": {"probability": "old"}, "new": {"probability": "new"}}


def fault(plant: Callable[[], Planted]) -> Callable[[], Planted]:
    FAULTS[plant.__name__] = plant
    return plant


def logits(change: Callable[[np.ndarray], np.ndarray], seed: int = 11, **keys: Any) -> pl.DataFrame:
    """Return rows whose log odds x the model has changed."""
    frame = events(seed, **keys)
    return frame.with_columns(p=expit(change(frame["x"].to_numpy())))


def rows_of(seed: int) -> np.random.Generator:
    """Return numbers by chance that no data set is made of."""
    return np.random.default_rng(1000 + seed)


# Of groups

@fault
def a_bad_group() -> Planted:
    frame = events(1)
    noise = np.where(frame["g"] == "c", rows_of(1).normal(0, 4, N), 0)
    frame = frame.with_columns(p=expit(np.where(frame["g"] == "c", noise, frame["x"])))
    return binary(frame, ("fails", "slices", ("worse for g = c", "Brier score")), metrics=["brier"], slices=["g"])


@fault
def a_group_below_a_gate() -> Planted:
    frame = events(2, 900)
    frame = frame.with_columns(p=np.where(frame["g"] == "b", 0.3 * frame["p"], frame["p"]))
    named = ("p fails for g = b", "Sensitivity", "required for all rows: at least 0.4")
    return binary(frame, ("fails", "slices", named),
                  metrics=["sensitivity"], slices=["g"], gates=[{"metric": "sensitivity", "min": 0.4}])


@fault
def a_bad_group_found_by_a_search() -> Planted:
    frame = events(3)
    bad = ((frame["g"] == "a") & (frame["h"] == "t")).to_numpy()
    frame = frame.with_columns(p=np.where(bad, 1 - frame["p"], frame["p"]))
    return binary(frame, ("fails", "slices", ("does worst for g = a, h = t", "groups searched")),
                  metrics=["brier"], worst_slices={"columns": ["g", "h"], "metric": "brier"})


# Of gates, thresholds, decisions

@fault
def a_failed_gate() -> Planted:
    return binary(events(4), ("fails", "gates", ("ROC AUC", "required at least 0.95")), metrics=["roc_auc"],
                  gates=[{"metric": "roc_auc", "min": 0.95}])


@fault
def a_model_that_is_gone_since_the_night_before() -> Planted:
    frames = {"d": events(4)}
    spec = spec_of(frames, "binary", {"new": {"probability": "p"}}, metrics=["roc_auc"])
    words, old = ("had the model 'old', which is gone", "write 'was: old'"), {"old": {"probability": "p"}}
    return Planted(spec, frames, "undecided", "warnings", words, [{"d": events(5)}], {"models": old})


@fault
def an_open_gate_with_too_few_events() -> Planted:
    return binary(events(5, 120), ("undecided", "gates", ("Sensitivity", "do not decide", "would decide with 80%")),
                  metrics=["sensitivity"], gates=[{"metric": "sensitivity", "min": 0.58}])


@fault
def a_bound_that_new_rows_break() -> Planted:
    new = events(6, 900)
    frames = {"d": new.with_columns(p=expit(new["x"].to_numpy() + 1)), "calibration": events(7)}
    return binary(frames, ("fails", "thresholds-1", ("chosen for Specificity at least 0.9", "not kept")), id="id",
                  metrics=["sensitivity", "specificity"], threshold={
                      "maximize": "sensitivity", "subject_to": {"specificity": {"min": 0.9}}, "on": "calibration"})


@fault
def dearer_than_one_class_always() -> Planted:
    return binary(logits(lambda x: x + 3), ("fails", "costs", ("p costs more than always predicting '0'",)),
                  metrics=["cost"], costs=COST, threshold=0.5, outcome={"column": "y", "event": 1, "levels": [0, 1]})


@fault
def an_equivocal_zone_that_swallows_most_rows() -> Planted:
    return binary(events(8), ("fails", "dataset-1", ("no class to most rows",)), metrics=["accuracy"], equivocal=0.35,
                  threshold=0.5)


@fault
def a_goal_missed() -> Planted:
    goals = [{"metric": "brier", "minimize": {"low": 0.0, "high": 0.05}}]
    return binary(events(9), ("fails", "desirability", ("misses the goal 'minimize Brier score'",)), metrics=["brier"],
                  desirability=goals)


@fault
def candidates_that_are_all_unacceptable() -> Planted:
    goals = [{"metric": "brier", "minimize": {"low": 0.0, "high": 0.01}}]
    spec = {"evalpipe": 1, "name": "planted", "task": "binary", "desirability": goals, "report": {"formats": []},
            "candidates": {"path": str(GRID), "id": ["features", "C"]}}
    return Planted(spec, {}, "fails", "candidates", ("None of 300 candidates is acceptable",))


@fault
def candidates_that_standard_errors_do_not_tell_apart() -> Planted:
    goals = [{"metric": "brier", "minimize": {"low": 0.0, "high": 0.1}}]
    spec = {"evalpipe": 1, "name": "planted", "task": "binary", "desirability": goals, "report": {"formats": []},
            "candidates": {"path": str(GRID), "id": ["features", "C"], "std_err": {"brier": "brier_std_err"}}}
    return Planted(spec, {}, "undecided", "candidates", ("lie within one standard error of the best",))


@fault
def a_difference_that_another_seed_may_reverse() -> Planted:
    models = {"forest": {"predictions": str(TITANIC / "titanic_fits" / "seed-*.parquet"), "probability": "probability"},
              "logistic": {"probability": "logistic_regression"}}
    spec = spec_of({}, "binary", models, metrics=["brier"], compare={"baseline": "logistic"}, id="passenger",
                   datasets={"d": {"path": str(TITANIC / "titanic_evaluation.parquet")}},
                   outcome={"column": "survived", "event": "yes"})
    return Planted(spec, {}, "undecided", "repeats", ("differ less than the fits of forest do", "Brier score +0.0009"))


@fault
def measures_of_the_rows_of_the_training() -> Planted:
    fits = {"predictions": str(TITANIC / "optimism" / "bootstrap-*.csv.gz"), "drawn": "drawn"}
    models = {"m": {"probability": "probability", "optimism": fits}}
    spec = spec_of({}, "binary", models, metrics=["brier"], id="passenger",
                   datasets={"d": {"path": str(TITANIC / "optimism" / "training.parquet"), "trained_on": True}},
                   outcome={"column": "survived", "event": "yes"})
    return Planted(
        spec, {}, "note", "optimism", ("m was fitted to the rows of d", "Brier score 0.15 (0.13–0.18) instead"))


@fault
def a_reference_rate_not_reached() -> Planted:
    return binary(events(10), ("fails", "reference-rates", ("does not reach last year's model",)), metrics=["brier"],
                  reference_rates=[{"name": "last year's model", "metric": "brier", "value": 0.1}])


@fault
def a_level_never_predicted() -> Planted:
    frame = levels(12)
    low, mid, top = (frame[name].to_numpy() for name in ("low", "mid", "top"))
    moved = np.where(mid >= np.maximum(low, top), 0.9 * mid, 0)
    frame = frame.with_columns(low=low + moved / 2, mid=mid - moved, top=top + moved / 2)
    spec = spec_of({"d": frame}, "multiclass", LEVELS, outcome={"column": "y", "levels": ["low", "mid", "top"]})
    return Planted(spec, {"d": frame}, "fails", "dataset-1", ("p never predicts 'mid'",))


def many_levels(frame: pl.DataFrame, words: tuple[str, ...], kind: FindingKind = "fails") -> Planted:
    spec = spec_of({"d": frame}, "multiclass", LEVELS, outcome={"column": "y", "levels": ["low", "mid", "top"]})
    return Planted(spec, {"d": frame}, kind, "dataset-1", words)


def tempered(seed: int, power: float) -> pl.DataFrame:
    """Return rows of three levels with probabilities raised to a power, and scaled to the sum of 1."""
    frame = levels(seed)
    raised = frame.select("low", "mid", "top").to_numpy() ** power
    shares = raised / raised.sum(axis=1, keepdims=True)
    return frame.with_columns(low=shares[:, 0], mid=shares[:, 1], top=shares[:, 2])


@fault
def classes_predicted_with_too_little_confidence() -> Planted:
    return many_levels(tempered(40, 0.3), ("p is right more often than the probabilities", "ideal: 0"))


@fault
def classes_predicted_with_too_much_confidence() -> Planted:
    return many_levels(tempered(41, 3), ("p is right less often than the probabilities", "ideal: 0"))


@fault
def a_class_confused_with_another() -> Planted:
    frame = levels(42)
    moved = np.where(rows_of(42).random(N) < 0.8, 0.9 * frame["mid"], 0)
    frame = frame.with_columns(mid=frame["mid"] - moved, top=frame["top"] + moved)
    return many_levels(frame, ("p is least often right on 'mid'", "as 'top'"), "note")


# Of the steps of a fit

def descent(step: str | dict[str, Any]) -> dict[str, Any]:
    """Return the spec of a run of gradient descent."""
    model = {"predictions": str(DESCENT / "refined_run_1.parquet"), "score": "value", "scale": "margin", "step": step}
    return {"evalpipe": 1, "name": "planted", "task": "binary", "outcome": {"column": "y", "event": 1}, "id": "point",
            "datasets": {"test": {"path": str(DESCENT / "refined_rows.csv")}}, "models": {"net": model},
            "metrics": ["log_loss", "accuracy"], "intervals": {"replicates": 200}, "report": {"formats": []}}


@fault
def a_fit_whose_best_steps_differ() -> Planted:
    return Planted(descent("step"), {}, "note", "steps-1", (
        "net: Log loss is best at step 100", "Accuracy at step 55", "its value is optimistic"))


@fault
def a_fit_that_was_stopped_early() -> Planted:
    return Planted(descent({"column": "step", "at": 20}), {}, "note", "steps-1", (
        "The step that this card shows is not the best by Log loss", "at step 20", "at step 100"))


# Of ranking and skill

@fault
def a_score_that_tells_only_groups_apart() -> Planted:
    rng = rows_of(43)
    rate = {"a": 0.1, "b": 0.5, "c": 0.9}
    frame = events(43, 900)
    rates = np.array([rate[group] for group in frame["g"]])
    frame = frame.with_columns(y=(rng.random(900) < rates).astype(int), p=rates + rng.uniform(-0.05, 0.05, 900))
    named = ("p tells groups of g apart more than the rows within them", "within each group")
    return binary(frame, ("fails", "slices", named), metrics=["roc_auc"], slices=["g"])


@fault
def measures_that_disagree_on_the_best_model() -> Planted:
    frame = events(44)
    old = expit(0.2 * frame["x"].to_numpy())  # ranks as well as can be, and is far from the event rates
    new = expit(frame["x"].to_numpy() + rows_of(44).normal(0, 0.7, N))
    named = ("depends on the measure: old by ROC AUC and new by Brier score",)
    return binary(frame.with_columns(old=old, new=new), ("note", "dataset-1", named), models=BOTH,
                  metrics=["roc_auc", "brier"], compare={"pairs": "none"})


@fault
def a_level_that_is_free_by_the_cost_table() -> Planted:
    costs = [{"truth": 0, "predicted": 1, "cost": 1}]
    return binary(events(45), ("fails", "costs", ("always predicting '0' costs nothing",)), metrics=["cost"],
                  costs=costs, threshold=0.5, outcome={"column": "y", "event": 1, "levels": [0, 1]})


@fault
def leakage() -> Planted:
    frame = events(13)
    return binary(frame.with_columns(p=np.where(frame["y"] == 1, 0.9, 0.1)),
                  ("undecided", "dataset-1", ("predicts every class correctly", "contains the outcome")), threshold=0.5)


@fault
def leakage_of_a_score() -> Planted:
    frame = events(13)
    scores = frame.with_columns(s=frame["y"] + rows_of(0).random(N) / 2)
    return binary(scores, ("undecided", "dataset-1", ("ranks every event above every non-event",)), metrics=["roc_auc"],
                  models={"p": {"score": "s"}})


@fault
def leakage_of_numbers() -> Planted:
    frame = amounts(14)
    return numbers(frame.with_columns(p="y"), ("undecided", "dataset-1", ("predicts every number exactly",)))


@fault
def a_useless_model() -> Planted:
    frame = events(15)
    return binary(frame.with_columns(p=0.42 + 0.01 * rows_of(5).normal(0, 1, N)),
                  ("undecided", "dataset-1", ("do not show that p ranks better than chance",)))


@fault
def ranking_reversed() -> Planted:
    return binary(logits(lambda x: -x), ("fails", "dataset-1", ("ranks in the wrong direction",)))


@fault
def worse_than_the_prevalence() -> Planted:
    return binary(logits(lambda x: 4 * rows_of(2).normal(0, 1, len(x))),
                  ("fails", "dataset-1", ("worse than no model, which predicts the observed", "Brier skill")))


@fault
def worse_than_the_mean() -> Planted:
    frame = amounts(16)
    return numbers(frame.with_columns(p=pl.col("p").reverse()), ("fails", "dataset-1", (
        "worse than no model, which predicts the mean for every row",)))


@fault
def worse_than_the_reference_data() -> Planted:
    frame, past = amounts(17), amounts(18)
    frames = {"d": frame.with_columns(p=frame["p"] + 8), "reference": past.select("y", "id")}
    return numbers(frames, ("fails", "dataset-1", ("worse than predicting the mean of the reference data",)), id="id")


@fault
def worse_than_the_mean_count() -> Planted:
    frame = counts(19)
    return numbers(frame.with_columns(p=pl.col("p").reverse()), ("fails", "dataset-1", (
        "worse than no model, which predicts the mean count for every row",)), "count")


# Of calibration

@fault
def overconfident() -> Planted:
    return binary(logits(lambda x: 2.5 * x), ("fails", "dataset-1", ("p is overconfident",)))


@fault
def underconfident() -> Planted:
    return binary(logits(lambda x: 0.3 * x), ("fails", "dataset-1", ("p is underconfident",)))


@fault
def probabilities_too_high() -> Planted:
    return binary(logits(lambda x: x + 0.8), ("fails", "dataset-1", ("probabilities of p are too high",)))


@fault
def probabilities_too_low() -> Planted:
    return binary(logits(lambda x: x - 0.8), ("fails", "dataset-1", ("probabilities of p are too low",)))


@fault
def clipped_probabilities() -> Planted:
    frame = events(20)
    p = np.where(np.arange(N) < 5, 0.0, frame["p"])
    return binary(frame.with_columns(p=p, y=pl.Series(np.where(np.arange(N) < 5, 1, frame["y"]))),
                  ("note", "warnings", ("1e-15",)), metrics=["log_loss"])


@fault
def recalibration_that_helps() -> Planted:
    frames = {"d": logits(lambda x: 3 * x + 1, 21), "calibration": logits(lambda x: 3 * x + 1, 22)}
    return binary(frames, ("passes", "recalibration-1", ("Recalibration by logistic makes p better",)), id="id",
                  metrics=["brier"], recalibrate={"fit_on": "calibration", "methods": ["logistic"]})


@fault
def recalibration_that_harms() -> Planted:
    frames = {"d": events(23), "calibration": logits(lambda x: x + 3, 24)}
    return binary(frames, ("fails", "recalibration-1", ("Recalibration by logistic makes p worse",)), id="id",
                  metrics=["brier"], recalibrate={"fit_on": "calibration", "methods": ["logistic"]})


# Of models beside each other

@fault
def a_worse_challenger() -> Planted:
    frame = events(25)
    noisy = frame["x"].to_numpy() + rows_of(3).normal(0, 1.5, N)
    return binary(frame.with_columns(old="p", new=expit(noisy)),
                  ("fails", "comparison-1", ("new is worse than old", "Brier score")), metrics=["brier"], models=BOTH,
                  compare={"baseline": "old"})


@fault
def a_better_challenger() -> Planted:
    frame = events(25)
    noisy = 0.3 * frame["x"].to_numpy() + rows_of(3).normal(0, 0.3, N)
    return binary(frame.with_columns(new="p", old=expit(noisy)),
                  ("passes", "comparison-1", ("new is better than old", "Brier score")), metrics=["brier"], models=BOTH,
                  compare={"baseline": "old"})


@fault
def two_equal_models() -> Planted:
    return binary(events(26).with_columns(new="p", old="p"),
                  ("equivalent", "comparison-1", ("new and old have the same Brier score",)), metrics=["brier"],
                  models=BOTH, compare={"baseline": "old"})


@fault
def two_models_within_the_margin() -> Planted:
    frame = events(26)
    nearly = expit(frame["x"].to_numpy() + rows_of(4).normal(0, 0.1, N))
    return binary(frame.with_columns(new="p", old=nearly),
                  ("equivalent", "comparison-1", ("new is equivalent, within the margin, to old",)), metrics=["brier"],
                  models=BOTH, compare={"baseline": "old", "margins": {"brier": 0.02}})


# Of numbers and counts

@fault
def numbers_too_high() -> Planted:
    return numbers(amounts(27).with_columns(pl.col("p") + 2), ("fails", "dataset-1", (
        "predictions of p are too high on average",)))


@fault
def numbers_too_low() -> Planted:
    return numbers(amounts(27).with_columns(pl.col("p") - 1), ("fails", "dataset-1", (
        "predictions of p are too low on average",)))


@fault
def a_slope_too_steep() -> Planted:
    return numbers(amounts(28).with_columns(p=20 + 1.5 * (pl.col("p") - 20)), ("fails", "dataset-1", (
        "predictions of p are too far apart",)))


@fault
def a_slope_too_flat() -> Planted:
    return numbers(amounts(28).with_columns(p=20 + 0.6 * (pl.col("p") - 20)), ("fails", "dataset-1", (
        "predictions of p are too close together",)))


@fault
def residuals_that_fan_out() -> Planted:
    frame = amounts(29)
    spread = 0.3 * (frame["p"].to_numpy() - 5).clip(0.5)
    return numbers(frame.with_columns(y=frame["p"] + pl.Series(spread * rows_of(6).normal(0, 1, N))),
                   ("note", "dataset-1", ("Residuals of p fan out",)))


@fault
def residuals_that_follow_a_curve() -> Planted:
    frame = amounts(30)
    return numbers(frame.with_columns(y=frame["y"] + 0.12 * (pl.col("p") - 20) ** 2 - 2),
                   ("fails", "dataset-1", ("Residuals of p follow a curve",)))


@fault
def residuals_that_form_groups() -> Planted:
    frame = amounts(31)
    left_out = pl.Series(rows_of(7).choice([-9.0, 9.0], N))
    return numbers(frame.with_columns(y=frame["y"] + left_out), ("fails", "dataset-1", ("Residuals of p form groups",)))


@fault
def overdispersion() -> Planted:
    frame, rng = counts(32), rows_of(8)
    return numbers(frame.with_columns(y=pl.Series(rng.poisson(frame["p"].to_numpy() * rng.gamma(1.5, 1 / 1.5, N)))),
                   ("fails", "dataset-1", ("Counts are overdispersed", "dispersion")), "count")


@fault
def excess_zeros() -> Planted:
    frame, rng = counts(33), rows_of(9)
    zero = rng.random(N) < 0.3
    y = np.where(zero, 0, rng.poisson(frame["p"].to_numpy() / 0.7))
    return numbers(frame.with_columns(y=pl.Series(y)), ("fails", "dataset-1", ("More zero counts than p predicts",)),
                   "count")


# Of data

@fault
def drift_of_the_prevalence() -> Planted:
    frames = {"d": events(34, level=0.6), "reference": events(35, level=-0.8).select("y", "id")}
    return binary(frames, ("note", "data", ("The event '1' is less frequent in reference",)), id="id")


@fault
def drift_of_the_outcome() -> Planted:
    past = amounts(37).with_columns(pl.col("y") - 2).select("y", "id")
    return numbers({"d": amounts(36), "reference": past}, ("note", "data", ("Outcomes are smaller in reference",)),
                   id="id")


@fault
def worse_on_later_rows() -> Planted:
    later = events(39)
    noisy = later.with_columns(p=expit(later["x"].to_numpy() + rows_of(10).normal(0, 1.8, N)))
    return binary({"early": events(38), "late": noisy},
                  ("fails", "dataset-2", ("p does worse on late than on early", "Brier score")),
                  metrics=["brier", "accuracy"])


@fault
def predictions_that_drift() -> Planted:
    later = events(43)
    shifted = later.with_columns(p=expit(later["x"].to_numpy() + 0.9))
    return binary({"early": events(42), "late": shifted},
                  ("note", "dataset-2", ("p predicts the event more often on late than on early",)), threshold=0.5)


@fault
def rows_of_training_under_other_ids() -> Planted:
    frame, past = events(50), events(51).drop("p")
    past = pl.concat([past.tail(N // 2), frame.drop("p").head(N // 2)]).with_columns(id=pl.int_range(10**6, 10**6 + N))
    named = ("300 of 600 rows of d (50.0%) are also in reference under other ids", "the same in 4 columns")
    return binary({"d": frame, "reference": past}, ("fails", "data", named), id="id")


@fault
def a_bad_group_that_nobody_sliced_by() -> Planted:
    frame = events(52, 1200)
    noise = np.where(frame["g"] == "c", rows_of(52).normal(0, 4, 1200), 0)
    frame = frame.with_columns(p=expit(np.where(frame["g"] == "c", noise, frame["x"])))
    named = ("p fails in one group of g, which no slice names", "where the probabilities promise", "slices: [g]")
    return binary(frame, ("fails", "dataset-1", named))


@fault
def rows_of_few_patients() -> Planted:
    rng, frame = rows_of(53), events(53)
    patient = rng.integers(0, 80, N)
    logits_of_rows = frame["x"].to_numpy() + rng.normal(0, 1.5, 80)[patient]
    frame = frame.with_columns(patient=patient, y=(rng.random(N) < expit(logits_of_rows)).astype(int))
    named = ("600 belong to 80 values of patient", "times too narrow", "Declare 'cluster: patient'")
    return binary(frame, ("fails", "dataset-1", named))


@fault
def rows_that_were_appended_twice() -> Planted:
    frame = events(49, 540).with_columns(age=pl.Series(rows_of(49).normal(50, 9, 540)))
    again = frame.head(60).with_columns(id=pl.int_range(10**6, 10**6 + 60))
    named = ("60 of 600 rows of d (10.0%) are copies of others", "measured numbers that no other row has")
    return binary(pl.concat([frame, again]), ("fails", "data", named), id="id")


@fault
def a_default_in_place_of_a_score() -> Planted:
    frame = events(46)
    p = np.where(np.arange(N) < 60, 0.5, frame["p"])
    named = ("p gives the same probability, 0.5, to 60 of 600 rows (10.0%), and no other to more than 1")
    return binary(frame.with_columns(p=p), ("note", "dataset-1", named))


@fault
def scores_that_are_cut_off() -> Planted:
    frame = amounts(47)
    named = ("p gives the same prediction, 15, to 75 of 600 rows (12.5%)",)
    lowest = frame["p"].sort()[74]
    frame = frame.with_columns(p=pl.when(pl.col("p") <= lowest).then(15.0).otherwise(pl.col("p") + 1))
    return numbers(frame, ("note", "dataset-1", named), early=False)


def night(seed: int, shift: float = 0.0) -> dict[str, pl.DataFrame]:
    """Return the rows of a night, whose events have log odds that are so much higher than the model takes them for."""
    frame = events(seed, 300)
    return {"d": frame.with_columns(p=expit(frame["x"].to_numpy() - shift))}


def night_of_noise(seed: int, noise: float) -> dict[str, pl.DataFrame]:
    """Return the rows of a night, of which the model sees the log odds with so much noise."""
    frame = events(seed, 300)
    return {"d": frame.with_columns(p=expit(frame["x"].to_numpy() + rows_of(seed).normal(0, noise, 300)))}


@fault
def a_night_beyond_its_control_limits() -> Planted:
    words = ("Brier score rose to", "above its control limits of", "; it was", "on 9 nights")
    planted = binary(night(60, 3), ("fails", "trend", words), metrics=["brier"],
                     trend={"control": {"min_nights": 9}})
    return planted._replace(nights=[night(seed) for seed in range(61, 70)])


@fault
def nights_that_have_shifted() -> Planted:
    words = ("Brier score has been above its centre for many nights in a row", "6 of p")
    planted = binary(night(70, 1.2), ("note", "trend", words), metrics=["brier"],
                     trend={"control": {"min_nights": 9, "run": 6}})
    return planted._replace(nights=[*(night(seed) for seed in range(71, 80)),
                                    *(night(seed, 1.2) for seed in range(80, 85))])


@fault
def nights_that_differ_by_more_than_their_rows() -> Planted:
    words = ("ROC AUC: values of successive nights differ", "between_nights: true")
    planted = binary(night_of_noise(90, 0.0), ("undecided", "gates", words), metrics=["roc_auc"],
                     gates=[{"metric": "roc_auc", "min": 0.7, "on": "sequence"}])
    return planted._replace(nights=[night_of_noise(seed, 2.0 * (seed % 2)) for seed in range(91, 104)])


@fault
def nights_that_go_together() -> Planted:
    words = ("ROC AUC: values of successive nights go together",)
    planted = binary(night_of_noise(110, 0.0), ("undecided", "gates", words), metrics=["roc_auc"],
                     gates=[{"metric": "roc_auc", "min": 0.5, "on": "sequence"}])
    return planted._replace(nights=[night_of_noise(seed, 3.0 * (seed < 121)) for seed in range(111, 131)])


@fault
def missing_values_dropped() -> Planted:
    frame = events(40)
    return binary(frame.with_columns(p=pl.when(pl.int_range(N) % 9 == 0).then(None).otherwise(pl.col("p"))),
                  ("note", "data", ("67 of 600 rows of d (11.2%) were left out",)), complete_case="all")


@fault
def another_prevalence_than_declared() -> Planted:
    return binary(events(41), ("note", "prevalence", ("The declared prevalence differs from that of d",)),
                  metrics=["ppv"], prevalence={"value": 0.1, "source": "the register"}, models=BINARY, threshold=0.5)


@fault
def probabilities_of_another_prevalence() -> Planted:
    named = ("probabilities of p do not carry over to the declared prevalence 0.02", "times too high", "'prior_shift'")
    return binary(events(48), ("fails", "prevalence", named), metrics=["brier"],
                  prevalence={"value": 0.02, "source": "the register"})


# Of standards

@fault
def a_standard_with_gaps() -> Planted:
    standard = {"profile": "model_cards_2019", "require": 0.9}
    return binary(events(31), ("fails", "standards", ("0 of 9 items answered (0%)", "required 90%")),
                  metrics=["brier"], standards=standard)


def scores_of(frame: pl.DataFrame, words: tuple[str, ...], *models: str, **keys: Any) -> Planted:
    """Return a benchmark of items q, of which the models have a column of scores each."""
    spec = spec_of({"d": frame}, "score", {model: {"score": model} for model in models}, metrics=["mean"], item="q",
                   score={"better": "higher", "range": [0, 1]}, **keys)
    del spec["outcome"]
    return Planted(spec, {"d": frame}, "note", "scores", words)


@fault
def a_benchmark_that_is_saturated() -> Planted:
    scores = np.repeat([1.0, 0.0], [292, 8])
    frame = pl.DataFrame({"q": np.arange(300), "a": scores, "b": np.roll(scores, 60)})
    return scores_of(frame, ("little left to gain", "0.973 of at most 1"), "a", "b")


@fault
def a_benchmark_of_which_few_items_tell_models_apart() -> Planted:
    scores = np.repeat([1.0, 0.0], 100)
    frame = pl.DataFrame({"q": np.arange(200), "a": scores, "b": np.where(np.arange(200) < 12, 0.0, scores)})
    return scores_of(frame, ("12 of 200 items tell the models apart",), "a", "b")


@fault
def epochs_that_disagree() -> Planted:
    frame = pl.DataFrame({"q": np.repeat(np.arange(100), 4), "e": np.tile(np.arange(1, 5), 100),
                          "a": rows_of(41).integers(0, 2, 400)})
    return scores_of(frame, ("Epochs of one item differ more than items do, for a",), "a", epoch="e")


@fault
def items_that_are_in_training() -> Planted:
    texts = [" ".join(map(str, row)) for row in rows_of(44).integers(0, 99, (200, 30))]
    frame = pl.DataFrame({"q": np.arange(200), "t": texts, "a": rows_of(45).integers(0, 2, 200)})
    planted = scores_of(frame, ("The text of 5 of 200 items of d (2.5%) is also in reference",), "a", text="t",
                        datasets={"d": {"path": "memory"}, "reference": {"path": "memory", "role": "reference"}})
    training = pl.DataFrame({"t": [f"Question: {text}!" for text in texts[:5]]})
    return planted._replace(kind="fails", frames={**planted.frames, "reference": training})


def labelled(
    frame: pl.DataFrame, kind: FindingKind, words: tuple[str, ...], known: np.ndarray, **labels: Any
) -> Planted:
    """Return rows of which the ``known`` ones have an outcome."""
    frame = frame.with_columns(y=pl.when(pl.Series(known)).then(pl.col("y")))
    return binary(frame, (kind, "labels", words), metrics=["brier", "roc_auc"], labels=labels)


@fault
def outcomes_of_high_scores() -> Planted:
    frame = events(61)
    known = rows_of(61).random(frame.height) < frame["p"].to_numpy()
    return labelled(frame, "fails", ("Rows with an outcome are no random part", "p scores them higher"), known,
                    selected="random")


@fault
def outcomes_that_were_chosen_unevenly() -> Planted:
    frame = events(62)
    chance = np.where(rows_of(62).random(frame.height) < 0.2, 0.9, 0.02)
    frame = frame.with_columns(chance=chance)
    known = rows_of(63).random(frame.height) < chance
    words = ("are worth", "of equal weight", "as low as 0.02")
    return labelled(frame, "note", words, known, selected={"probability": "chance"})


@fault
def a_judge_that_sees_too_many_events() -> Planted:
    frame = events(64)
    frame = frame.with_columns(judge=(pl.col("p") * 0.6 + 0.35))
    return labelled(frame, "note", ("The judge judge sees more", "Measures that use its labels are corrected for it"),
                    rows_of(64).random(frame.height) < 0.3, selected="random", judge={"probability": "judge"})


@fault
def a_judge_that_is_nearly_always_right() -> Planted:
    frame = events(65)
    right = rows_of(65).random(frame.height) < 0.95
    label = pl.when(pl.Series(right)).then(pl.col("y")).otherwise(1 - pl.col("y"))
    frame = frame.with_columns(judge=label.cast(float))
    return labelled(frame, "note", ("With the labels of judge, the", "outcomes are worth"),
                    rows_of(66).random(frame.height) < 0.2, selected="random", judge={"probability": "judge"})


@fault
def outcomes_that_come_late_and_are_others() -> Planted:
    frame, start = events(67), date(2026, 1, 1)
    day = rows_of(67).integers(0, 60, frame.height)
    late = np.where(frame["y"].to_numpy() == 1, 35, 5) + rows_of(68).integers(0, 9, frame.height)
    frame = frame.with_columns(
        day=pl.Series([start + timedelta(int(days)) for days in day]),
        known=pl.Series([start + timedelta(int(days + wait)) for days, wait in zip(day, late, strict=True)]))
    words = ("Outcomes that become known more than 22.5 days after their row", "rows that are not settled")
    return binary(frame, ("note", "labels", words), metrics=["brier"], as_of="2026-06-30", labels={
        "selected": "random", "arrive": {"column": "known", "since": "day", "within": "45d"}})
