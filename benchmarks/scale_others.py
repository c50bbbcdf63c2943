"""The peers of scale.py: what each does with a folder of Parquet files, timed after its imports.

    python benchmarks/scale_others.py JOB FOLDER       prints seconds and values as JSON

The folder is one of `benchmarks/large_data.py`, of a binary outcome and one column of slices.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MODELS = ("model_a", "model_b")
MEASURES = ("accuracy", "brier", "log_loss", "roc_auc")
"""What polars and DuckDB compute."""

BINS = 65_536
"""Bins of the scores in which they rank rows, so that they need not sort all of them."""

Values = dict[str, float]
"""Values by the measure, the model and the slice, or `all`, with spaces between."""


def bare(folder: Path) -> Callable[[], Values]:
    """Have polars read the columns that a run needs and sum them."""
    import polars as pl

    def work() -> Values:
        numbers = pl.col("outcome", *MODELS).cast(pl.Float64).sum()
        rows = pl.scan_parquet(folder / "*.parquet")
        rows.select(numbers, pl.col("season").str.len_bytes().sum()).collect(engine="streaming")
        return {}

    return work


def in_polars(folder: Path) -> Callable[[], Values]:
    """Compute the values of four measures in each slice by expressions of polars, without intervals."""
    import numpy as np  # noqa: F401 - so that its import is not timed
    import polars as pl

    event, rows = pl.col("outcome") == 1, pl.scan_parquet(folder / "*.parquet")
    totals, ranked = [pl.len()], []
    for name in MODELS:
        p = pl.col(name)
        given = pl.when(event).then(p).otherwise(1 - p)
        right, squares, logs = ((p >= 0.5) == event).sum(), (1 - given).pow(2).sum(), (-given.log()).sum()
        totals += [right.alias(f"accuracy {name}"), squares.alias(f"brier {name}"), logs.alias(f"log_loss {name}")]
        scores = pl.min_horizontal((p * BINS).cast(pl.Int32), BINS - 1).alias("bin")
        ranked.append(rows.group_by("season", scores).agg(pl.len().alias("rows"), event.sum().alias("events")))

    def work() -> Values:
        sums, *counts = pl.collect_all([rows.group_by("season").agg(totals), *ranked], engine="streaming")
        values = means(sums.to_dict(as_series=False))
        for name, table in zip(MODELS, counts, strict=True):
            values |= areas(name, {key: table[key].to_numpy() for key in table.columns})
        return values

    return work


def in_duckdb(folder: Path) -> Callable[[], Values]:
    """Compute the same values in SQL of DuckDB."""
    import duckdb
    import numpy as np  # noqa: F401 - so that its import is not timed

    source = f"read_parquet('{folder}/*.parquet')"
    totals, ranked = ["count(*) AS len"], []
    for name in MODELS:
        given = f"CASE WHEN outcome = 1 THEN {name} ELSE 1 - {name} END"
        totals += [
            f'count(*) FILTER (({name} >= 0.5) = (outcome = 1)) AS "accuracy {name}"',
            f'sum((1 - ({given})) ** 2) AS "brier {name}"', f'sum(-ln({given})) AS "log_loss {name}"',
        ]
        score = f"least(floor({name} * {BINS}), {BINS - 1})::INT AS bin"
        counts = "count(*) AS rows, sum(outcome) AS events"
        ranked.append(f"SELECT season, {score}, {counts} FROM {source} GROUP BY season, bin")  # noqa: S608 - names of ours
    sums = f"SELECT season, {', '.join(totals)} FROM {source} GROUP BY season"  # noqa: S608 - names of ours

    def work() -> Values:
        values = means({key: list(column) for key, column in duckdb.sql(sums).fetchnumpy().items()})
        for name, query in zip(MODELS, ranked, strict=True):
            values |= areas(name, duckdb.sql(query).fetchnumpy())
        return values

    return work


def in_scikit_learn(folder: Path) -> Callable[[], Values]:
    """Call `roc_auc_score` once, on the first tenth of the rows, which are in memory already."""
    import polars as pl
    from sklearn.metrics import roc_auc_score

    rows = pl.scan_parquet(folder / "*.parquet").select("outcome", MODELS[0])
    tenth = rows.head(rows.select(pl.len()).collect().item() // 10).collect()
    outcome, probability = (tenth[name].to_numpy() for name in ("outcome", MODELS[0]))

    def work() -> Values:
        roc_auc_score(outcome, probability)
        return {}

    return work


def in_evidently(folder: Path) -> Callable[[], Values]:
    """Have Evidently write its report on the first model, without intervals, as HTML."""
    import tempfile

    import evidently.presets  # noqa: F401 - so that its import is not timed
    import polars as pl
    from peers import evidently_report

    files = tempfile.TemporaryDirectory()
    rows = Path(files.name) / "rows.parquet"
    pl.scan_parquet(folder / "*.parquet").select("outcome", first=MODELS[0]).sink_parquet(rows)

    def work() -> Values:
        with files:
            evidently_report(rows, Path(files.name) / "report.html")
        return {}

    return work


def means(table: Mapping[str, list[Any]]) -> Values:
    """Return means by slice and over all slices, of a table with the columns ``season``, ``len`` and totals."""
    rows, values = table["len"], {}
    for key in table.keys() - {"season", "len"}:
        values[f"{key} all"] = float(sum(table[key]) / sum(rows))
        shares = (float(total / count) for total, count in zip(table[key], rows, strict=True))
        values |= {f"{key} {part}": share for part, share in zip(table["season"], shares, strict=True)}
    return values


def areas(name: str, table: Mapping[str, Any]) -> Values:
    """Return areas under the ROC curve by slice and over all, of the ``rows`` and ``events`` in bins of scores."""
    import numpy as np

    values = {}
    for part in ("all", *np.unique(table["season"])):
        chosen = slice(None) if part == "all" else table["season"] == part
        events, rows = (np.bincount(table["bin"][chosen], table[key][chosen], BINS) for key in ("events", "rows"))
        others = rows - events
        below = np.cumsum(others) - others / 2
        values[f"roc_auc {name} {part}"] = float((events * below).sum() / events.sum() / others.sum())
    return values


PEERS: dict[str, tuple[str, str, Callable[[Path], Callable[[], Values]]]] = {
    "read": ("polars reads and sums", "polars", bare),
    "polars": ("polars, 4 measures", "polars", in_polars),
    "duckdb": ("DuckDB, 4 measures", "duckdb", in_duckdb),
    "scikit-learn": ("scikit-learn, 1 AUC of a tenth", "sklearn", in_scikit_learn),
    "evidently": ("Evidently, a report on one model", "evidently", in_evidently),
}
"""What a peer does in a word, the module that it needs, and how it does it."""


MOST = {"evidently": 1_000_000}
"""The most rows that a peer is asked to do."""


def lacks(job: str) -> bool:
    """Say whether the library of a job is not installed."""
    return find_spec(PEERS[job][1]) is None


if __name__ == "__main__":
    do = PEERS[sys.argv[1]][2](Path(sys.argv[2]))
    begun, busy = time.perf_counter(), time.process_time()
    given = do()
    seconds = {"wall": time.perf_counter() - begun, "processor": time.process_time() - busy}
    sys.stdout.write(json.dumps(seconds | {"values": given}))
