"""Simulate four small tables for configs/gallery and write them as csv: loans, payments, customers and cars.

    python configs/data/make_gallery.py [FOLDER]

Nobody is behind these rows. Each table is drawn from a formula, and a model is a formula that lacks a part of it. So
the truth is known, and the page of the gallery can say what a card ought to see. The same bytes come from any machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

from evalpipe.arithmetic import exp, expit

SEED = 2026


def yes(rng: np.random.Generator, probability: np.ndarray) -> list[str]:
    """Draw "yes" with each probability, else "no"."""
    return ["yes" if drawn else "no" for drawn in rng.random(len(probability)) < probability]


def loans(rng: np.random.Generator, rows: int = 2000) -> pl.DataFrame:
    """Return loans: who defaults, by debt and history; the scorecard takes the short history of the young twice."""
    age = rng.choice(["18 to 29", "30 to 59", "60 and over"], rows, p=[0.25, 0.55, 0.2])
    debt, history = rng.standard_normal(rows), rng.standard_normal(rows) + 0.6 * (age == "18 to 29")
    risk = -2.3 + 0.9 * debt + 0.6 * history
    return pl.DataFrame({
        "loan": np.arange(1, rows + 1), "default": yes(rng, expit(risk)), "age": age,
        "scorecard": np.round(expit(risk + 0.6 * (age == "18 to 29") + 0.3 * rng.standard_normal(rows)), 4)})


def payments(rng: np.random.Generator, rows: int = 5000) -> pl.DataFrame:
    """Return payments, of which about one in eighty is a fraud, and a model that sees most of what gives it away."""
    signs = rng.standard_normal(rows)
    risk = -7.4 + 2.6 * signs
    return pl.DataFrame({
        "payment": np.arange(1, rows + 1), "fraud": yes(rng, expit(risk)),
        "probability": np.round(expit(risk + 0.5 * rng.standard_normal(rows)), 5)})


def customers(rng: np.random.Generator, rows: int = 2000) -> pl.DataFrame:
    """Return customers: who leaves, by tenure, use and complaints; the present model does not know the complaints."""
    tenure, use, complaints = rng.standard_normal((3, rows))
    known = -1.6 - 0.7 * tenure - 0.5 * use
    return pl.DataFrame({
        "customer": np.arange(1, rows + 1), "left": yes(rng, expit(known + 0.9 * complaints)),
        "present": np.round(expit(0.85 * known), 4), "candidate": np.round(expit(known + 0.7 * complaints), 4)})


def cars(rng: np.random.Generator, rows: int = 1500) -> pl.DataFrame:
    """Return used cars and their prices in euros; dear cars are over-sampled, and the weight undoes that."""
    dear = rng.random(rows) < 0.5
    age, wear = rng.integers(1, 13, rows), rng.standard_normal(rows)
    value = 9.6 + 0.5 * dear - 0.09 * age
    return pl.DataFrame({
        "car": np.arange(1, rows + 1), "segment": np.where(dear, "upper", "small"), "weight": np.where(dear, 0.4, 1.6),
        "price": np.round(exp(value + 0.12 * wear)).astype(int),
        "predicted": np.round(exp(value + 0.03 * dear + 0.04 * rng.standard_normal(rows))).astype(int)})


def main(folder: Path) -> None:
    """Write `loans.csv`, `payments.csv`, `customers.csv` and `cars.csv` into ``folder``."""
    for number, table in enumerate((loans, payments, customers, cars)):
        table(np.random.default_rng([SEED, number])).write_csv(folder / f"{table.__name__}.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
