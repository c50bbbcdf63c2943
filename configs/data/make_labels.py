"""Write four tables in which outcomes are missing: checked_digits, applications, biopsies and disputes, as csv.

    python configs/data/make_labels.py [FOLDER] [--all-outcomes]

Digits and breast tumours are those that scikit-learn carries; the applications for a loan and the card payments are
simulated (see README.md in this folder). The outcome of every row is known here, so that estimates can be compared with
it: `--all-outcomes` leaves none out. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evalpipe.arithmetic import expit

SEED = 2037
TRAINING_DIGITS, SHOWN_TO_READER, CHECKED_DIGITS = 100, 400, 300
"""Images that the models are fitted to; others, which the second reader compares with; images with an outcome."""
TRAINING_TUMOURS = 150
GRANTED_BELOW, GRANTED_AT_RANDOM = 0.2, 0.15
"""The probability by last year's scorecard below which a loan is granted; the share of other loans that is, too."""
TEST_FROM = 0.3
"""The probability from which on the test is positive."""
BIOPSIES = {("positive", "symmetric"): 0.95, ("positive", "asymmetric"): 0.95, ("negative", "symmetric"): 0.25,
            ("negative", "asymmetric"): 0.5}
"""The share of tumours with a biopsy, by the test and the shape of their cell nuclei."""
LAST_PAYMENT, CLEARED_AFTER, CONFIRMED = "2026-03-31", 45, 0.2
"""The last day of payments; the days after which one that nobody disputes is genuine; the share confirmed earlier."""


def checked_digits(rng: np.random.Generator) -> tuple[pl.DataFrame, str, np.ndarray]:
    """Return images of digits with two models and a second reader; the name of the outcome; which are checked."""
    data = load_digits()
    odd, ink = data.target % 2 == 1, data.data.sum(axis=1)
    order = rng.permutation(len(odd))
    training, shown, rows = np.split(order, [TRAINING_DIGITS, TRAINING_DIGITS + SHOWN_TO_READER])
    shown, rows = shown[data.target[shown] != 9], np.sort(rows)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, tol=1e-10, max_iter=100_000))
    forest = RandomForestClassifier(200, min_samples_leaf=3, random_state=SEED, n_jobs=1)
    predicted = {name: np.round(model.fit(data.data[training], odd[training]).predict_proba(data.data[rows])[:, 1], 4)
                 for name, model in (("logistic", logistic), ("forest", forest))}
    reader = KNeighborsClassifier(2).fit(data.data[shown], odd[shown])
    both = reader.predict_proba(data.data[rows])[:, 1] > 0.75  # odd where both neighbours are
    checked = np.zeros(len(rows), bool)
    checked[rng.choice(len(rows), CHECKED_DIGITS, replace=False)] = True
    return pl.DataFrame({
        "image": rows + 1, "digit": np.where(odd[rows], "odd", "even"), "second_reader": np.where(both, "odd", "even"),
        "stroke": np.where(ink[rows] > np.median(ink), "thick", "thin"), **predicted}), "digit", checked


def applications(rng: np.random.Generator, rows: int = 4000) -> tuple[pl.DataFrame, str, np.ndarray]:
    """Return simulated applications for a loan; the name of the outcome; which were granted, so that it is known."""
    debt, history, savings = rng.standard_normal((3, rows))
    channel = rng.choice(["branch", "online"], rows, p=[0.6, 0.4])
    risk = -1.9 + 1.0 * debt + 0.7 * history - 0.6 * savings + 0.4 * (channel == "online")
    last_year = np.round(expit(-1.9 + 1.0 * debt + 0.5 * history), 4)  # knows neither savings nor channel
    scorecard = np.round(expit(-2.2 + 0.9 * debt + 0.6 * history - 0.5 * savings + 0.25 * rng.standard_normal(rows)), 4)
    chance = np.where(last_year < GRANTED_BELOW, 1.0, GRANTED_AT_RANDOM)
    defaults = np.where(rng.random(rows) < expit(risk), "yes", "no")
    return pl.DataFrame({
        "application": np.arange(1, rows + 1), "default": defaults, "channel": channel, "chance": chance,
        "last_year": last_year, "scorecard": scorecard}), "default", rng.random(rows) < chance


def biopsies(rng: np.random.Generator) -> tuple[pl.DataFrame, str, np.ndarray]:
    """Return tumours with a test of two measurements; the name of the outcome; which tumours had a biopsy."""
    data = load_breast_cancer()
    malignant = data.target == list(data.target_names).index("malignant")
    names = list(data.feature_names)
    order = rng.permutation(len(malignant))
    training, rows = order[:TRAINING_TUMOURS], np.sort(order[TRAINING_TUMOURS:])
    x = data.data[:, [names.index("mean texture"), names.index("mean compactness")]]
    model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=100_000))
    probability = np.round(model.fit(x[training], malignant[training]).predict_proba(x[rows])[:, 1], 4)
    symmetry = data.data[rows, names.index("mean symmetry")]  # the larger, the less symmetric
    test = np.where(probability >= TEST_FROM, "positive", "negative")
    shape = np.where(symmetry > np.median(symmetry), "asymmetric", "symmetric")
    biopsy = np.zeros(len(rows), bool)
    for (result, nuclei), share in BIOPSIES.items():
        stratum = np.flatnonzero((test == result) & (shape == nuclei))
        biopsy[rng.choice(stratum, round(share * len(stratum)), replace=False)] = True
    return pl.DataFrame({
        "tumour": rows + 1, "diagnosis": np.where(malignant[rows], "malignant", "benign"), "test": test,
        "shape": shape, "probability": probability}), "diagnosis", biopsy


def disputes(rng: np.random.Generator, days: int = 90, rows_a_day: int = 30) -> tuple[pl.DataFrame, str, np.ndarray]:
    """Return simulated card payments, of which fraud is reported early and the rest is cleared late; all are known."""
    rows = days * rows_a_day
    amount, country, habit = rng.standard_normal((3, rows))
    channel = rng.choice(["online", "shop"], rows, p=[0.7, 0.3])
    risk = -3.4 + 1.1 * amount + 0.8 * country + 0.9 * habit + 0.5 * (channel == "online")
    model = np.round(expit(-2.9 + 1.1 * amount + 0.8 * country), 3)  # knows no habits of the customer
    is_fraud = rng.random(rows) < expit(risk)
    merchant = rng.standard_normal(rows) + 2.5 * is_fraud  # what shops report to the network
    network = np.round(expit(-5.4 + 0.8 * amount + 0.6 * country + 0.6 * habit + 2.0 * merchant), 3)
    reported = np.minimum(np.floor(rng.exponential(12.0, rows)), CLEARED_AFTER)
    confirmed = np.where(rng.random(rows) < CONFIRMED, np.floor(rng.random(rows) * CLEARED_AFTER), CLEARED_AFTER)
    paid = np.datetime64(LAST_PAYMENT) - np.repeat(np.arange(days)[::-1], rows_a_day)
    known = paid + np.where(is_fraud, reported, confirmed).astype(int)
    return pl.DataFrame({
        "payment": np.arange(1, rows + 1), "fraud": np.where(is_fraud, "fraud", "genuine"), "channel": channel,
        "paid_on": paid, "known_on": known, "network": network, "model": model}), "fraud", np.ones(rows, bool)


def main(folder: Path, *, all_outcomes: bool) -> None:
    """Write the four tables into ``folder``, with an outcome where it is known, or everywhere."""
    for number, table in enumerate((checked_digits, applications, biopsies, disputes)):
        rows, outcome, known = table(np.random.default_rng([SEED, number]))
        if not all_outcomes:
            rows = rows.with_columns(pl.when(pl.Series(known)).then(pl.col(outcome)).alias(outcome))
        rows.write_csv(folder / f"{table.__name__}.csv")


if __name__ == "__main__":
    places = [argument for argument in sys.argv[1:] if argument != "--all-outcomes"]
    main(Path(places[0]) if places else Path(__file__).parent, all_outcomes="--all-outcomes" in sys.argv)
