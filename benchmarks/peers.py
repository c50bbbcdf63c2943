"""The same jobs done by evalpipe and by its peers: `confidenceinterval`, fairlearn and Evidently.

    python benchmarks/peers.py                    prints the three tables
    python benchmarks/peers.py --only fairlearn   prints one of them

Both sides get the same rows, in the form the peer reads fastest, and run in turn; the figure that counts is the median
of the ratios of their times within one run. A peer that is missing is said to be, in its table;
`pip install -r benchmarks/requirements.txt` brings them all.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from evalpipe.results import Results

T = TypeVar("T")

SEED = 364
# confidenceinterval: seconds of five intervals, all replicates and the fixed costs of both sides included.
ROWS, REPLICATES = 6_107, 1_000
RUNS = {"percentile": 5, "bca": 1}
FIVE = ("accuracy", "precision", "sensitivity", "f1", "roc_auc")
# fairlearn: two numbers of replicates a side, whose difference leaves the fixed costs out.
GROUPED_ROWS, GROUPS, GROUPED_RUNS = 100_000, 8, 3
FOUR = ("accuracy", "precision", "sensitivity", "f1")
SIZES = (1, 6)
MODES = {"auto": (100, 20_100), "exact": (100, 3_100)}
# Evidently: seconds and memory of a process, from its start to its HTML file.
MANY_ROWS, REPORT_RUNS = 1_000_000, 5
REPORT_MODES = ("auto", "grid")

SPEC: dict[str, Any] = {"evalpipe": 1, "task": "binary", "seed": SEED, "outcome": {"column": "outcome", "event": 1}}


def confidenceinterval() -> list[str]:
    """Return rows of the table for `confidenceinterval`: bootstrap intervals of five measures of one model."""
    outcome, probability = sample(ROWS, 0.2)
    lines = []
    for method, runs in RUNS.items():
        _same(ours_whole(outcome, probability, method)[1], theirs_whole(outcome, probability, method)[1], 0.01)
        pairs = [
            (ours_whole(outcome, probability, method)[0], theirs_whole(outcome, probability, method)[0])
            for _ in range(runs)
        ]
        lines.append(_row(f"{method}, {REPLICATES:,} replicates", pairs, "s"))
    return lines


def ours_whole(outcome: np.ndarray, probability: np.ndarray, method: str) -> tuple[float, list[float]]:
    """Return the seconds of one call and the limits it gave, lower and upper of each measure in turn."""
    import evalpipe

    begun = time.perf_counter()
    intervals = {"method": method, "replicates": REPLICATES, "bands": False}
    results = evalpipe.evaluate(outcome, probability, event=1, metrics=FIVE, intervals=intervals)
    seconds = time.perf_counter() - begun
    table = {row["metric"]: row for row in results.estimates.iter_rows(named=True)}
    return seconds, [table[name][end] for name in FIVE for end in ("lower", "upper")]


def theirs_whole(outcome: np.ndarray, probability: np.ndarray, method: str) -> tuple[float, list[float]]:
    """Return the seconds of one call a measure and the limits they gave, lower and upper of each measure in turn."""
    import confidenceinterval as ci
    import numpy as np

    predicted = (probability >= 0.5).astype(np.int64)
    how = {"method": f"bootstrap_{method}", "n_resamples": REPLICATES, "random_state": np.random.default_rng(SEED)}
    begun = time.perf_counter()
    found = [
        ci.accuracy_score(outcome, predicted, **how),
        ci.ppv_score(outcome, predicted, **how),
        ci.tpr_score(outcome, predicted, **how),
        ci.f1_score(outcome, predicted, average="binary", **how),
        ci.roc_auc_score(outcome, probability, **how),
    ]
    return time.perf_counter() - begun, [float(limit) for _, limits in found for limit in limits]


def fairlearn() -> list[str]:
    """Return rows of the table for fairlearn: one replicate of four measures in eight groups, by ``engine.mode``."""
    import numpy as np
    import polars as pl

    outcome, probability = sample(GROUPED_ROWS, 0.2)
    columns = {
        "outcome": outcome, "predicted": (probability >= 0.5).astype(np.int64),
        "group": np.random.default_rng(SEED).integers(0, GROUPS, GROUPED_ROWS),
    }
    rows = pl.DataFrame(columns)
    _same(_by_group(ours_sliced(rows, 100, "auto")[1]), theirs_sliced(columns, 1)[1], 1e-12)
    lines = []
    for mode, sizes in MODES.items():
        ours = partial(ours_sliced, rows, mode=mode)
        theirs = partial(theirs_sliced, columns)
        pairs = [(_a_replicate(ours, sizes), _a_replicate(theirs, SIZES)) for _ in range(GROUPED_RUNS)]
        lines.append(_row(f"one replicate, `{mode}`", pairs, "ms"))
    return lines


def ours_sliced(rows: pl.DataFrame, replicates: int, mode: str) -> tuple[float, Results]:
    """Return the seconds of a whole run over columns ``outcome``, ``predicted`` and ``group``, and its results."""
    import evalpipe

    spec = SPEC | {
        "name": "groups",
        "datasets": {"data": {"path": "memory"}},
        "models": {"model": {"prediction": "predicted"}},
        "metrics": list(FOUR),
        "intervals": {"method": "percentile", "replicates": replicates},
        "slices": ["group"],
        "engine": {"mode": mode},
        "report": {"formats": []},
    }
    begun = time.perf_counter()
    results = evalpipe.run(spec, frames={"data": rows})
    return time.perf_counter() - begun, results


def theirs_sliced(columns: Mapping[str, np.ndarray], replicates: int) -> tuple[float, list[float]]:
    """Return the seconds of a MetricFrame with its bootstrap, and its values: of each group in turn, all measures."""
    from fairlearn.metrics import MetricFrame
    from sklearn import metrics as sk

    four = (sk.accuracy_score, sk.precision_score, sk.recall_score, sk.f1_score)
    begun = time.perf_counter()
    frame = MetricFrame(
        metrics=dict(zip(FOUR, four, strict=True)), y_true=columns["outcome"], y_pred=columns["predicted"],
        sensitive_features=columns["group"], n_boot=replicates, ci_quantiles=[0.025, 0.975], random_state=SEED,
    )
    seconds = time.perf_counter() - begun
    return seconds, [float(value) for value in frame.by_group.sort_index().to_numpy().ravel()]


def _by_group(results: Results) -> list[float]:
    """Return the values of each group in turn, all measures."""
    found = {
        (json.loads(row["slice"])["group"], row["metric"]): row["value"]
        for row in results.estimates.iter_rows(named=True) if row["slice"] is not None
    }
    return [found[group, name] for group in sorted({group for group, _ in found}) for name in FOUR]


def _a_replicate(job: Callable[[int], tuple[float, object]], sizes: tuple[int, int]) -> float:
    """Return milliseconds a replicate, from the seconds of a job with few and with many; no fixed cost is in them."""
    few, many = (job(replicates)[0] for replicates in sizes)
    return 1000 * (many - few) / (sizes[1] - sizes[0])


def evidently() -> list[str]:
    """Return rows of the table for Evidently: from a Parquet file to an HTML file, each in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fresh(write_rows, folder)
        program = Path(sysconfig.get_path("scripts")) / "evalpipe"
        ours = [str(program), "run", str(folder / "spec.yaml"), "--no-progress", "--no-cache", "--out"]
        theirs = [sys.executable, __file__, "--report", str(folder / "rows.parquet"), str(folder / "evidently.html")]
        runs = [
            [_measured([*ours, str(folder / mode), "--set", f"engine.mode={mode}"]) for mode in REPORT_MODES]
            + [_measured(theirs)]
            for _ in range(REPORT_RUNS)]
    return [
        _row(f"{what}, `{mode}`", [(run[number][measure], run[-1][measure]) for run in runs], unit)
        for number, mode in enumerate(REPORT_MODES)
        for measure, (what, unit) in enumerate((("wall time", "s"), ("peak memory", "MiB")))]


def write_rows(folder: Path) -> None:
    """Write ``rows.parquet``, with an outcome of 0 and 1 and two models' probabilities, and ``spec.yaml``."""
    import polars as pl
    import yaml

    outcome, first = sample(MANY_ROWS, 0.2)
    _, second = sample(MANY_ROWS, 0.25)
    pl.DataFrame({"outcome": outcome, "first": first, "second": second}).write_parquet(folder / "rows.parquet")
    spec = SPEC | {
        "name": "report",
        "datasets": {"rows": {"path": "rows.parquet"}},
        "models": {"first": {"probability": "first"}, "second": {"probability": "second"}},
        "intervals": {"replicates": 2_000},
        "report": {"formats": ["html"]},
    }
    (folder / "spec.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")


def evidently_report(rows: Path, card: Path) -> None:
    """Write Evidently's report on the first model of a Parquet file, as HTML."""
    import pandas as pd
    from evidently import BinaryClassification, DataDefinition, Dataset, Report
    from evidently.presets import ClassificationPreset

    frame = pd.read_parquet(rows, columns=["outcome", "first"])
    what = BinaryClassification(target="outcome", prediction_probas="first", pos_label=1)
    dataset = Dataset.from_pandas(frame, data_definition=DataDefinition(classification=[what]))
    Report([ClassificationPreset()]).run(dataset, None).save_html(str(card))


def _measured(command: Sequence[str]) -> tuple[float, float]:
    """Return the wall seconds and the peak resident memory of a command, in MiB; raises if it fails."""
    begun = time.perf_counter()
    quiet = os.environ | {"DO_NOT_TRACK": "1"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=quiet)  # noqa: S603 - written in this file
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    unit = 1 if sys.platform == "darwin" else 1024
    return time.perf_counter() - begun, usage.ru_maxrss * unit / 2**20


def sample(n: int, distance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes [n] of 0 and 1, three in ten events, and probabilities [n] that tell them ``distance`` apart."""
    import numpy as np

    generator = np.random.default_rng(SEED)
    outcome = (generator.random(n) < 0.3).astype(np.int64)
    return outcome, np.clip(generator.normal(0.35 + distance * outcome, 0.2), 0, 1)


def fresh(job: Callable[..., T], *given: Any) -> T:
    """Return ``job(*given)``, done in a process of its own, so that no job starts with the memory of another."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(job, *given).result()


def _same(left: Iterable[float], right: Iterable[float], tolerance: float) -> None:
    """Stop unless both sides did the same job: equal values, or limits that differ by chance alone."""
    apart = max(abs(one - other) for one, other in zip(left, right, strict=True))
    if not apart <= tolerance:
        sys.exit(f"the two sides are {apart:.3g} apart; their times cannot be compared")


def _row(what: str, pairs: Sequence[tuple[float, float]], unit: str) -> str:
    """Return a row of a table: medians of both sides, median and range of the ratios, theirs to ours."""
    ratios = [right / left for left, right in pairs]
    left, right = (statistics.median(side) for side in zip(*pairs, strict=True))
    middle, low, high = (_short(ratio) for ratio in (statistics.median(ratios), min(ratios), max(ratios)))
    return f"| {what} | {_short(left)} {unit} | {_short(right)} {unit} | {middle} | {low} to {high} |"


def _short(number: float) -> str:
    """Return a number with three significant digits, or as a whole number."""
    return f"{number:,.0f}" if number >= 100 else f"{number:#.3g}"


def _both(sizes: tuple[int, int]) -> str:
    return " and ".join(f"{size:,}" for size in sizes)


PEERS: dict[str, tuple[Callable[[], list[str]], str]] = {
    "confidenceinterval": (
        confidenceinterval, (
            f"Bootstrap intervals of {', '.join(FIVE)} on {ROWS:,} rows: whole calls, in one process. Its bootstrap is "
            f"scipy's, one call a measure. Runs: {', '.join(f'{runs} of {name}' for name, runs in RUNS.items())}."
        ),
    ),
    "fairlearn": (
        fairlearn, (
            f"Bootstrap of {', '.join(FOUR)} in {GROUPS} groups of {GROUPED_ROWS:,} rows in all: `MetricFrame` with "
            f"`n_boot` of {_both(SIZES)} against runs with `slices`, of {_both(MODES['auto'])} replicates with "
            "`engine.mode: auto`, which draws rows that are alike together, and of "
            f"{_both(MODES['exact'])} with `exact`, which draws every row. Time a replicate: the difference of the two "
            f"over that of their numbers. Runs: {GROUPED_RUNS}."
        ),
    ),
    "evidently": (
        evidently, (
            f"From {MANY_ROWS:,} rows of Parquet to an HTML file, each in a fresh process: `ClassificationPreset` of "
            "one model without intervals, against `evalpipe run` of two models. The latter has the standard measures "
            "and 2,000 replicates. `engine.mode: auto` keeps every score, so that values are exact; `grid` reads "
            f"them part by part, and states the error bound of ranked measures. Runs: {REPORT_RUNS}."
        ),
    ),
}


def table(name: str) -> list[str]:
    """Return the section of one peer, in Markdown."""
    rows, job = PEERS[name]
    missing = lacks(name)
    return [
        f"## {name}", "", job, "",
        f"| what | evalpipe | {name} | median ratio | range |", "|---|---|---|---|---|",
        *([f"| {missing} | | | | |"] if missing else fresh(rows)),
    ]


def lacks(name: str) -> str:
    """Return why a peer cannot be measured, or nothing."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
    command = [sys.executable, "-c", f"import {name}"]
    tried = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - names of this file
    return f"{name} {version} does not import: {tried.stderr.strip().splitlines()[-1]}" if tried.returncode else ""


def main() -> None:
    """Print the tables, or do the part of Evidently's benchmark that has a process of its own."""
    parser = argparse.ArgumentParser(description="Compare evalpipe with its peers.")
    parser.add_argument("--only", choices=PEERS, help="the peer to compare with")
    parser.add_argument("--report", nargs=2, metavar=("ROWS", "CARD"), type=Path, help="write Evidently's report alone")
    chosen = parser.parse_args()
    if chosen.report:
        evidently_report(*chosen.report)
        return
    for name in [chosen.only] if chosen.only else PEERS:
        print("\n".join([*table(name), ""]), flush=True)


if __name__ == "__main__":
    main()
