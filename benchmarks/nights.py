"""Nights of data without any change, judged by the engine: the values and intervals that gates `on: sequence` see.

    python benchmarks/nights.py FOLDER --nights 1000    writes the nights of each kind of model and size to FOLDER

A slice by night is a night: the engine measures hundreds of them in one run, each with the interval that it would have
alone. `benchmarks/sequence.py` draws years of these nights.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import yaml

import evalpipe

if TYPE_CHECKING:
    from evalpipe.results import Estimate, Results

Array = np.ndarray[Any, Any]

SIZES = (20, 60, 300, 2000)
"""Rows of a night."""
LARGE = 2000
"""Rows from which a third of the nights is enough."""
POOL = 120_000
"""Rows of the nights of a size, at least: the mean of the nights that years are drawn from is then off the truth by
less than a tenth of a standard error of 500 rows."""
AT_ONCE = 12_000
"""Rows of a run: each is drawn by itself up to 16,384."""
WHOLE = 2_000_000
"""Rows from which true values are taken: beside 2,000 rows, their error is a thirtieth."""
REPLICATES = 200


@dataclass(frozen=True)
class Kind:
    """A kind of model: its spec, its rows, and the measures of which nights are judged."""

    spec: Mapping[str, Any]
    rows: Callable[[np.random.Generator, int], pl.DataFrame]
    metrics: Sequence[str]


def scores(generator: np.random.Generator, rows: int) -> pl.DataFrame:
    """Draw calibrated probabilities and their outcomes, three events in ten."""
    log_odds = -1.2 + 1.4 * generator.normal(size=rows)
    chance = 1 / (1 + np.exp(-log_odds))
    return pl.DataFrame({"y": (generator.random(rows) < chance).astype(int), "p": chance})


def rare(generator: np.random.Generator, rows: int) -> pl.DataFrame:
    """Draw probabilities that are too extreme, and their outcomes, one event in ten."""
    log_odds = -3 + 1.6 * generator.normal(size=rows)
    truth = generator.random(rows) < 1 / (1 + np.exp(-log_odds))
    return pl.DataFrame({"y": truth.astype(int), "p": 1 / (1 + np.exp(-1.3 * log_odds))})


def ranks(generator: np.random.Generator, rows: int) -> pl.DataFrame:
    """Draw three ordered levels and their probabilities."""
    weights = np.exp(generator.normal(size=(rows, 3)) * 1.2 + [0.5, 0, -0.5])
    chances = weights / weights.sum(axis=1, keepdims=True)
    level = (generator.random((rows, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    return pl.DataFrame({"y": level} | {f"p{number}": chances[:, number] for number in range(3)})


EVENT = {"task": "binary", "outcome": {"column": "y", "event": 1}, "models": {"m": {"probability": "p"}}}
OF_AN_EVENT = (
    "roc_auc", "log_loss", "brier", "balanced_accuracy", "j_index", "net_benefit", "tjur_r2", "sensitivity",
    "precision", "accuracy", "f1", "kappa", "mcc", "brier_skill", "mcfadden_r2", "calibration_slope",
    "calibration_in_the_large", "calibration_intercept", "average_precision",
)
KINDS = {
    "calibrated": Kind(EVENT, scores, OF_AN_EVENT),
    "rare": Kind(EVENT | {"threshold": 0.2}, rare, OF_AN_EVENT),
    "levels": Kind(
        {"task": "ordinal", "outcome": {"column": "y", "levels": [0, 1, 2]},
         "models": {"m": {"probabilities": {0: "p0", 1: "p1", 2: "p2"}}}}, ranks,
        ("accuracy", "log_loss", "brier", "rps", "ordinal_mae", "ordinal_mse", "weighted_kappa", "hand_till_auc",
         "balanced_accuracy", "top_k_accuracy", "kappa", "mcc")),
}


def measured(kind: Kind, frame: pl.DataFrame, **keys: Any) -> Results:
    """Run the engine on rows."""
    spec = {"evalpipe": 1, "name": "nights", **kind.spec, "datasets": {"d": {"path": "d.parquet"}},
            "metrics": list(kind.metrics), "report": {"formats": []}, **keys}
    with tempfile.TemporaryDirectory() as folder:
        frame.write_parquet(Path(folder) / "d.parquet")
        (Path(folder) / "spec.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
        return evalpipe.run(Path(folder) / "spec.yaml")


def some_nights(kind: Kind, rows: int, generator: np.random.Generator) -> Iterator[Estimate]:
    """Yield the estimates of as many nights as one run has."""
    count = max(AT_ONCE // rows, 1)
    frame = kind.rows(generator, count * rows).with_columns(g=np.repeat(np.arange(count), rows).astype(str))
    results = measured(kind, frame, slices=["g"], slice_rules={"min_rows": 1, "max_levels": count},
                       intervals={"replicates": REPLICATES})
    yield from (row for row in results.rows if row.slice is not None and row.class_ is None)


def nights_of(kind: Kind, rows: int, nights: int, generator: np.random.Generator) -> dict[str, Array]:
    """Return, of each measure, value, lower limit, upper limit, rows and events of nights [nights, 5]."""
    table: dict[str, list[list[float]]] = {}
    while min(map(len, table.values()), default=0) < nights:
        for row in some_nights(kind, rows, generator):
            limits = (row.lower, row.upper) if row.status == "ok" else (None, None)
            line = [np.nan if number is None else float(number)
                    for number in (row.value, *limits, row.n, row.events)]
            table.setdefault(row.metric, []).append(line)
    return {name: np.array(lines)[:nights] for name, lines in table.items()}


def truths(kind: Kind, generator: np.random.Generator) -> dict[str, float]:
    """Return the true value of each measure."""
    results = measured(kind, kind.rows(generator, WHOLE), intervals={"method": "none"}, engine={"mode": "exact"})
    return {row.metric: float(row.value) for row in results.rows if row.value is not None and row.class_ is None}


def _write(file: Path, tables: Mapping[str, Any]) -> None:
    np.savez(file, **tables)


def main() -> None:
    """Write the nights of each kind and size."""
    parser = argparse.ArgumentParser(description="Nights without any change, measured by the engine.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nights", type=int, default=1000)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.kinds:
        generators = np.random.default_rng([17, list(KINDS).index(name)]).spawn(len(SIZES) + 1)
        _write(asked.folder / f"{name}.npz", truths(KINDS[name], generators[-1]))
        for rows, generator in zip(SIZES, generators, strict=False):
            nights = max(asked.nights if rows < LARGE else asked.nights // 3, POOL // rows)
            _write(asked.folder / f"{name}-{rows}.npz", nights_of(KINDS[name], rows, nights, generator))


if __name__ == "__main__":
    main()
