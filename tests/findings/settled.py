"""More of the catalogue: promises that are kept, what data leave open, and what was not judged."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evalpipe.words.card_fields import FIELDS
from findings.faults import BOTH, TITANIC, fault, logits, night_of_noise, rows_of
from findings.planted import COST, N, Planted, Spec, binary, counts, events, expit, numbers, spec_of

COSTS: Spec = {"metrics": ["cost"], "costs": COST, "threshold": 0.5,
               "outcome": {"column": "y", "event": 1, "levels": [0, 1]}}


# Of gates, thresholds, decisions

@fault
def a_gate_that_is_not_judged() -> Planted:
    gate = {"metric": "brier", "max_increase": 0.02, "against": {"results": "no such folder"}, "optional": True}
    return binary(events(4), ("note", "gates", ("Brier score", "was not judged")), metrics=["brier"], gates=[gate])


def bound(least: float, seed: int) -> tuple[dict[str, pl.DataFrame], Spec]:
    """Return frames whose threshold was chosen with a bound of the specificity, and what a spec says of it."""
    return {"d": events(seed, 900), "calibration": events(7)}, {
        "id": "id", "metrics": ["sensitivity", "specificity"], "threshold": {
            "maximize": "sensitivity", "subject_to": {"specificity": {"min": least}}, "on": "calibration"}}


@fault
def a_bound_that_new_rows_keep() -> Planted:
    frames, keys = bound(0.6, 6)
    frames["calibration"] = logits(lambda x: x + 0.7, 7)
    return binary(frames, ("passes", "thresholds-1", ("chosen for Specificity at least 0.6", "kept")), **keys)


@fault
def a_bound_that_new_rows_leave_open() -> Planted:
    frames, keys = bound(0.8, 6)
    frames["calibration"] = logits(lambda x: x + 0.3, 7)
    words = ("chosen for Specificity at least 0.8", "do not decide")
    return binary(frames, ("undecided", "thresholds-1", words), **keys)


@fault
def cheaper_than_one_class_always() -> Planted:
    return binary(events(3), ("passes", "costs", ("p costs less than always predicting '0'",)), **COSTS)


@fault
def no_cheaper_than_one_class_for_all_that_is_known() -> Planted:
    return binary(logits(lambda x: x + rows_of(11).normal(1.6, 1.5, len(x)), 3),
                  ("undecided", "costs", ("decide whether p costs more or less than always predicting '0'",)), **COSTS)


@fault
def an_equivocal_zone_of_some_rows() -> Planted:
    return binary(events(8), ("note", "dataset-1", ("no class to rows in the equivocal zone",)), metrics=["accuracy"],
                  equivocal=0.05, threshold=0.5)


# Of goals and candidates

def ranked(noise: float) -> pl.DataFrame:
    """Return rows of two models, of which the new one sees the log odds and the old one with noise."""
    frame = events(25)
    return frame.with_columns(new="p", old=expit(frame["x"].to_numpy() + rows_of(3).normal(0, noise, N)))


GOALS: Spec = {"metrics": ["brier"], "models": BOTH,
               "desirability": [{"metric": "brier", "minimize": {"low": 0.0, "high": 0.3}}]}


@fault
def a_model_that_is_the_most_desirable() -> Planted:
    return binary(ranked(2.0), ("passes", "desirability", ("new is the most desirable",)), **GOALS)


@fault
def a_model_that_may_be_the_most_desirable() -> Planted:
    return binary(ranked(0.1), ("undecided", "desirability", ("ranks first in desirability", "do not decide")), **GOALS)


@fault
def a_goal_that_may_be_missed() -> Planted:
    goals = [{"metric": "brier", "minimize": {"low": 0.0, "high": 0.16}}]
    words = "misses the goal 'minimize Brier score'", "Other rows may reach it"
    return binary(events(9), ("undecided", "desirability", words),
                  metrics=["brier"], desirability=goals)


@fault
def a_candidate_without_a_value() -> Planted:
    goals = [{"metric": "brier", "minimize": {"low": 0.0, "high": 0.1}}]
    spec = {"evalpipe": 1, "name": "planted", "task": "binary", "desirability": goals, "report": {"formats": []},
            "candidates": {"path": str(Path(__file__).with_name("candidates.csv")), "id": ["C"]}}
    return Planted(spec, {}, "note", "candidates", ("1 candidate has no overall desirability",))


# Of models beside each other

@fault
def a_reference_rate_reached() -> Planted:
    return binary(events(10), ("passes", "reference-rates", ("p is better than last year's model",)), metrics=["brier"],
                  reference_rates=[{"name": "last year's model", "metric": "brier", "value": 0.2}])


@fault
def a_reference_rate_perhaps_reached() -> Planted:
    return binary(events(10), ("undecided", "reference-rates",
                               ("p is shown neither better nor worse than last year's model",)),
                  metrics=["brier"], reference_rates=[{"name": "last year's model", "metric": "brier", "value": 0.17}])


@fault
def recalibration_that_does_nothing() -> Planted:
    frames = {"d": events(23), "calibration": events(24)}
    return binary(frames, ("undecided", "recalibration-1", ("do not show that recalibration by logistic",)), id="id",
                  metrics=["brier"], recalibrate={"fit_on": "calibration", "methods": ["logistic"]})


def many(noise: float) -> pl.DataFrame:
    """Return rows of the model "old" and twelve others that see the log odds alike, and of "new" with other noise."""
    frame = events(26)
    x = frame["x"].to_numpy()
    noisy = {f"m{number}": expit(x + rows_of(number).normal(0, 0.5, N)) for number in range(12)}
    of_both = {"old": expit(x + rows_of(4).normal(0, 0.5, N)), "new": expit(x + rows_of(5).normal(0, noise, N))}
    return frame.with_columns(**of_both, **noisy)


MANY = BOTH | {f"m{number}": {"probability": f"m{number}"} for number in range(12)}


@fault
def one_of_many_models_that_may_be_worse() -> Planted:
    return binary(many(0.8), ("undecided", "comparison-1", ("new may be worse than old", "not certain once all")),
                  metrics=["brier"], models=MANY, compare={"baseline": "old"})


@fault
def one_of_many_models_that_may_be_better() -> Planted:
    return binary(many(0.05), ("undecided", "comparison-1", ("new may be better than old", "not certain once all")),
                  metrics=["brier"], models=MANY, compare={"baseline": "old"})


def later(noise: float, before: float = 0.0) -> dict[str, pl.DataFrame]:
    """Return early rows and late ones, of which the model sees the log odds with so much noise."""
    return {name: logits(lambda x, noise=noise, seed=seed: x + rows_of(seed).normal(0, noise, N), seed)
            for name, seed, noise in (("early", 38, before), ("late", 39, noise))}


OF_DATASETS: Spec = {"metrics": ["brier"], "compare": {"baseline_dataset": "early"}}


@fault
def better_on_later_rows() -> Planted:
    return binary(later(0.0, 1.8), ("note", "dataset-2", ("p does better on late than on early", "Brier score")),
                  metrics=["brier"])._replace(early=False)


@fault
def better_than_on_an_earlier_dataset() -> Planted:
    words = ("p on late does better than on early",)
    return binary(later(0.0, 1.8), ("note", "comparison-1", words), **OF_DATASETS)._replace(early=False)


@fault
def worse_than_on_an_earlier_dataset() -> Planted:
    return binary(later(1.8), ("fails", "comparison-1", ("p on late does worse than on early",)), **OF_DATASETS)


@fault
def perhaps_worse_than_on_an_earlier_dataset() -> Planted:
    words = ("p on late may do worse than on early", "not certain once all")
    many = ["brier", "log_loss", "roc_auc", "accuracy", "sensitivity", "specificity"]
    return binary(later(0.8), ("undecided", "comparison-1", words), **OF_DATASETS | {"metrics": many})


@fault
def fits_that_differ_as_much_as_the_rows() -> Planted:
    models = {"forest": {"predictions": str(TITANIC / "titanic_fits" / "seed-*.parquet"), "probability": "probability"}}
    spec = spec_of({}, "binary", models, metrics=["sensitivity"], id="passenger", threshold=0.9,
                   datasets={"d": {"path": str(TITANIC / "titanic_evaluation.parquet")}},
                   outcome={"column": "survived", "event": "yes"})
    return Planted(spec, {}, "note", "repeats", ("Fits of forest differ as much as samples of rows do",))


@fault
def measures_of_the_rows_of_the_training_without_fits() -> Planted:
    spec = spec_of({}, "binary", {"m": {"probability": "probability"}}, metrics=["brier"], id="passenger",
                   datasets={"d": {"path": str(TITANIC / "optimism" / "training.parquet"), "trained_on": True}},
                   outcome={"column": "survived", "event": "yes"})
    words = ("m was fitted to the rows of d", "no bootstrap fits say by how much")
    return Planted(spec, {}, "note", "dataset-1", words)


# Of groups, counts, nights and standards

@fault
def a_group_too_small_to_be_judged() -> Planted:
    frame = events(1).with_columns(g=pl.when(pl.int_range(N) < 3).then(pl.lit("rare")).otherwise("g"))
    return binary(frame, ("note", "slices", ("One group has too few rows to be judged",)), metrics=["brier"],
                  slices=["g"])


@fault
def counts_that_vary_too_little() -> Planted:
    frame = counts(32)
    return numbers(frame.with_columns(y=pl.col("p").round()), ("note", "dataset-1", ("Counts are underdispersed",)),
                   "count")


@fault
def lacking_zeros() -> Planted:
    frame = counts(33)
    return numbers(frame.with_columns(y=pl.col("y").clip(1)), ("fails", "dataset-1", (
        "Fewer zero counts than p predicts",)), "count")


@fault
def nights_that_resemble_the_night_before() -> Planted:
    words = ("Brier score resembles that of the night before: autocorrelation", "of p")
    planted = binary(night_of_noise(140, 0.0), ("note", "trend", words), metrics=["brier"],
                     trend={"control": {"min_nights": 9}})
    return planted._replace(nights=[night_of_noise(seed, 3.0 * (seed < 151)) for seed in range(141, 161)])


@fault
def a_standard_with_gaps_that_are_allowed() -> Planted:
    return binary(events(31), ("note", "standards", ("0 of 9 items answered (0%). Missing:",)), metrics=["brier"],
                  standards="model_cards_2019")


@fault
def a_standard_that_is_answered() -> Planted:
    standard = {"profile": "model_cards_2019", "require": 0.5}
    return binary(events(31), ("passes", "standards", ("items answered", "required 50%")), metrics=["brier"],
                  standards=standard, card=dict.fromkeys(FIELDS, "Stated."))


# Of sizes that do not matter

@fault
def a_level_that_is_off_by_too_little() -> Planted:
    return binary(logits(lambda x: x - 0.8), ("note", "dataset-1", ("too low on average", "but too small to matter")),
                  metrics=["brier"], margins={"calibration": 2.0})


@fault
def a_level_that_is_right_within_the_margin() -> Planted:
    return binary(events(8), ("equivalent", "dataset-1", ("agree with the outcomes, within 0.5 in log odds",)),
                  metrics=["brier"], margins={"calibration": 0.5})


def without_use() -> pl.DataFrame:
    """Return rows whose probabilities are those of other rows, near the prevalence."""
    frame = events(51, spread=0.3)
    return frame.with_columns(p=expit(rows_of(51).permutation(frame["x"].to_numpy()) + 0.03))


@fault
def no_better_than_no_features_within_the_margin() -> Planted:
    return binary(without_use(), ("equivalent", "dataset-1", ("about as good as no model", "and no better")),
                  metrics=["brier"], margins={"skill": 0.3})


@fault
def ranked_as_by_chance_within_the_margin() -> Planted:
    return binary(without_use(), ("equivalent", "dataset-1", ("ranks events about as chance does",)),
                  metrics=["brier"], margins={"ranking": 0.2})


@fault
def a_challenger_that_is_as_good() -> Planted:
    return binary(ranked(0.05), ("equivalent", "comparison-1", ("old is about as good as new", "Brier score")),
                  metrics=["brier"], models=BOTH, compare={"baseline": "new"}, margins={"models": 0.2})


@fault
def a_challenger_that_is_worse_by_too_little() -> Planted:
    return binary(ranked(2.0), ("note", "comparison-1", ("old is worse than new", "perhaps too little to matter")),
                  metrics=["brier"], models=BOTH, compare={"baseline": "new"}, margins={"models": 2.0})


@fault
def worse_on_later_rows_by_too_little() -> Planted:
    later = events(39)
    noisy = later.with_columns(p=expit(later["x"].to_numpy() + rows_of(10).normal(0, 1.8, N)))
    return binary({"early": events(38), "late": noisy},
                  ("note", "comparison-1", ("does worse than on early", "perhaps too little to matter")),
                  metrics=["brier"], compare={"baseline_dataset": "early"}, margins={"datasets": 2.0})


@fault
def a_recalibration_at_a_price() -> Planted:
    def shifted(seed: int) -> pl.DataFrame:
        frame = events(seed, 1500, level=-1.6)
        return frame.with_columns(p=expit(0.6 * frame["x"].to_numpy() + 1.6))

    return binary({"d": shifted(3), "calibration": shifted(4)}, ("note", "recalibration-1", (
        "Recalibration by platt makes p better: Brier score −0.157",
        "The price: Sensitivity falls from 0.953 to 0.399, while Specificity rises from ")),
        metrics=["brier", "sensitivity", "specificity"], threshold=0.5,
        recalibrate={"fit_on": "calibration", "methods": ["platt"]})
