"""What rows cost under default settings, from ten thousand to a hundred million, beside bare reads and SQL.

    python benchmarks/scale.py                              prints all tables
    python benchmarks/scale.py --only growth --rows 1_000_000 --data DIR --figure FILE.svg

`growth`: two models, the standard measures, 2,000 replicates and four slices, from 10,000 to 100 million rows of
Parquet, without a word on the engine; beside it what polars needs to read the same columns and sum them, what polars
and DuckDB need for the values of four measures in each slice without intervals, one call of scikit-learn's
`roc_auc_score` on a tenth of the rows, and Evidently's report on the first model, of up to a million rows.
`parts`: a million rows and seven measures with and without slices and a baseline. `bounds`: the values on the grid
against those of every row, measure by measure, with the bound that the results state. `limits`: percentile limits of
cells against those of as many draws of all rows (`engine.mode: exact`, another seed), in standard errors of both.

Every job is a process of its own. Ours is timed from its start to its end, a peer from after its imports. ``--data``
names a folder in which data are kept; without it they are made by `large_data.py` and deleted.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import scale_others
from bootstrap import NAMES as TWELVE
from bootstrap import from_rows
from processes import Spent, figures, short, spent, typical
from scale_others import MEASURES, MODELS, MOST, PEERS, Values, lacks

SIZES = {
    10_000: 3, 30_000: 3, 100_000: 3, 200_000: 3, 400_000: 3, 1_000_000: 3, 2_000_000: 3, 5_000_000: 2, 10_000_000: 2,
    100_000_000: 1,
}
"""Rows, and how often all jobs are done in turn."""

FILE_ROWS = 5_000_000
"""Rows of a file at most."""

SLICES, REPLICATES = 4, 2_000
SEVEN = ("accuracy", "sensitivity", "specificity", "brier", "log_loss", "roc_auc", "average_precision")
PART_ROWS, PART_RUNS = 1_000_000, 3
BOUND_ROWS = 5_000_000
LIMIT_ROWS = (10_000, 100_000, 1_000_000)
WITH_OPTIONS: tuple[dict[str, Any], ...] = (
    {"metric": "ppv", "prevalence": 0.1}, {"metric": "npv", "prevalence": 0.1},
    {"metric": "precision_at_k", "k": 10_000}, {"metric": "recall_at_k", "k": 10_000},
    {"metric": "sensitivity_at_specificity", "at": 0.99}, {"metric": "partial_roc_auc", "high": 0.1},
)
"""Measures of `bounds` that need an option, or are harder with another."""

APART = 1e-5
"""How far the values of two sides may be apart: the areas of peers are those of scores in bins."""

Run = Mapping[str, Spent]
"""What each job needed, ours and those of peers."""

OURS: dict[str, dict[str, Any]] = {"evalpipe": {}, "evalpipe, 4 slices": {"slices": ["season"]}}
"""Our runs, and the keys that they have beside the others. Peers, who give values by slice, stand against the last."""


def ours(spec: Mapping[str, Any]) -> tuple[Spent, Values]:
    """Run a spec by the command line, and return what it needed and the values that peers compute too."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
        program = Path(sysconfig.get_path("scripts")) / "evalpipe"
        line = [str(program), "run", str(folder / "spec.yaml"), "--out", str(folder / "out"), "--no-progress"]
        needed, _ = spent(line)
        results = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))
    values = {
        f"{row['metric']} {row['model']} {(row['slice'] or {}).get('season', 'all')}": row["value"]
        for row in results["estimates"] if row["metric"] in MEASURES
    }
    return needed, values


def theirs(job: str, folder: Path) -> tuple[Spent, Values]:
    """Do the job of a peer in a process of its own; its time begins after its imports."""
    whole, printed = spent([sys.executable, scale_others.__file__, job, str(folder)])
    told = json.loads(printed)
    return Spent(told["wall"], told["processor"], whole.memory), told["values"]


def spec_of(folder: Path, **keys: Any) -> dict[str, Any]:
    """Return a spec of the rows in a folder, with other keys beside or instead."""
    return {
        "evalpipe": 1, "name": "scale", "task": "binary", "outcome": {"column": "outcome", "event": 1},
        "datasets": {"rows": {"path": str(folder)}}, "models": {name: {"probability": name} for name in MODELS},
        "intervals": {"replicates": REPLICATES}, "report": {"formats": []}, **keys,
    }


def data(folder: Path, rows: int) -> Path:
    """Return the folder of so many rows, which are made where they are missing."""
    place = folder / (f"large{rows // 1_000_000}" if rows % 1_000_000 == 0 else f"rows-{rows}")
    if not place.exists():
        script = str(Path(__file__).with_name("large_data.py"))
        files = -(-rows // FILE_ROWS)
        line = [sys.executable, script, f"--rows={rows}", f"--slices={SLICES}", f"--files={files}", f"--out={place}"]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own file
    return place


def agree(left: Values, right: Values) -> None:
    """Stop unless the other side has our values too, or gives none."""
    for key, value in left.items():
        other = right[key] if right else value
        if not abs(other - value) < APART:
            sys.exit(f"{key}: {value:.8g} here and {other:.8g} there; the times cannot be compared")


GROWTH_HEADER = (
    "| rows | job | wall | processor | peak memory | evalpipe's wall to it | range | its processor to it |",
    "|---|---|---|---|---|---|---|---|",
)


def growth(folder: Path, sizes: Sequence[int] = tuple(SIZES), figure: Path | None = None) -> Iterator[str]:
    """Yield the rows of the table of growth, each size when it is measured, and then the slopes; draw the ``figure``.

    That is a file of SVG.
    """
    needed: dict[int, Run] = {}
    ways: dict[int, dict[str, str]] = {}
    for size in sizes:
        place = data(folder, size)
        refused = refusals({kind: spec_of(place, **keys) for kind, keys in OURS.items()})
        ways[size] = {kind: way_to_read(spec_of(place, **keys)) for kind, keys in OURS.items() if kind not in refused}
        runs = [in_turn(place, size, [kind for kind in OURS if kind not in refused]) for _ in range(SIZES.get(size, 1))]
        needed[size] = {job: typical([run[job] for run in runs]) for job in runs[0]}
        yield from (growth_row(size, job, runs) for job in runs[0])
        yield from (f"| {size:,} | {kind}: {reason} | | | | | | |" for kind, reason in refused.items())
        yield from (f"| {size:,} | {PEERS[job][0]}: not installed | | | | | | |" for job in PEERS if lacks(job))
    for kind in OURS:
        yield from slopes(kind, {size: run[kind] for size, run in needed.items() if kind in run})
        yield from (f"| {size:,} | {kind}: {of_kind[kind]} | | | | | | |" for size, of_kind in ways.items())
    if figure is not None:
        draw(needed, ways, figure)


def way_to_read(spec: Mapping[str, Any]) -> str:
    """Return how a spec reads rows, and whether its values are exact."""
    import evalpipe

    streaming = evalpipe.plan(spec).streaming
    return "held" if not streaming.streamed else "in parts, every score" if streaming.all_scores else "in parts, cells"


def draw(needed: Mapping[int, Run], ways: Mapping[int, Mapping[str, str]], file: Path) -> None:
    """Draw processor time and peak memory against rows, on logarithmic axes; a ring marks where our way changes."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot as plt

    drawing, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    for axis, title in zip(axes, ("processor", "memory"), strict=True):
        for job in dict.fromkeys(job for run in needed.values() for job in run):
            sizes = [size for size, run in needed.items() if job in run]
            spent_of = [getattr(needed[size][job], title) for size in sizes]
            label, style = (PEERS[job][0], "--") if job in PEERS else (job, "-")
            line, = axis.plot(sizes, spent_of, marker="o", markersize=3, label=label, linestyle=style)
            of_size = [ways[size].get(job) for size in sizes]
            changes = [k for k in range(1, len(sizes)) if of_size[k] != of_size[k - 1]]
            axis.plot([sizes[k] for k in changes], [spent_of[k] for k in changes], "o", markersize=9, fillstyle="none",
                      color=line.get_color())
        axis.set(xscale="log", yscale="log", xlabel="rows", ylabel={
            "processor": "processor time, s", "memory": "peak memory, MB"}[title])
        axis.grid(visible=True, which="both", color="#e6e6e6", linewidth=0.5)
    axes[1].legend(fontsize=8, loc="upper left")
    drawing.savefig(file, metadata={"Date": None})


def in_turn(place: Path, size: int, kinds: Sequence[str]) -> Run:
    """Do every job once, our runs first, one after the other, and return what each needed."""
    run, values = {}, Values()
    for kind in kinds:
        run[kind], values = ours(spec_of(place, **OURS[kind]))
    for job in PEERS:
        if not lacks(job) and size <= MOST.get(job, size):
            run[job], others = theirs(job, place)
            agree(values, others)
    return run


def growth_row(size: int, job: str, runs: Sequence[Run]) -> str:
    """Return a row of the table of growth: what a job needed, and what ours needed to it, in the same runs."""
    cells = [f"{size:,}", PEERS[job][0] if job in PEERS else job, *figures(typical([run[job] for run in runs]))]
    if job not in PEERS:
        return f"| {' | '.join(cells)} | | | |"
    against = [kind for kind in runs[0] if kind in OURS][-1]
    wall = [run[against].wall / run[job].wall for run in runs]
    processor = [run[against].processor / run[job].processor for run in runs]
    cells += [*middle(wall), short(statistics.median(processor))]
    return f"| {' | '.join(cells)} |"


def middle(ratios: Sequence[float]) -> tuple[str, str]:
    """Return the median of ratios, and their range."""
    return short(statistics.median(ratios)), f"{short(min(ratios))} to {short(max(ratios))}"


def slopes(kind: str, needed: Mapping[int, Spent]) -> Iterator[str]:
    """Yield a row for each step from a size to the next: the exponents of rows in time and in memory."""
    for (fewer, less), (more, most) in zip(needed.items(), list(needed.items())[1:], strict=False):
        pairs = ((less.wall, most.wall), (less.processor, most.processor), (less.memory, most.memory))
        exponents = [math.log(after / before) / math.log(more / fewer) for before, after in pairs]
        cells = " | ".join(f"{exponent:.2f}" for exponent in exponents)
        yield f"| {fewer:,} to {more:,} | {kind}, log-log slope | {cells} | | | |"


PARTS_HEADER = ("| run | wall | processor | peak memory | wall to the first | range |", "|---|---|---|---|---|---|")


def parts(folder: Path) -> Iterator[str]:
    """Yield the rows of the table of slices and baselines, in files and in memory."""
    place = data(folder, PART_ROWS)
    sliced, compared = {"slices": ["season"]}, {"compare": {"baseline": MODELS[0]}}
    kinds = {"two models": {}, "four slices": sliced, "a baseline": compared, "slices, baseline": sliced | compared}
    specs = {
        f"{kind}, `{mode}`": spec_of(place, metrics=list(SEVEN), engine={"mode": mode}, **keys)
        for mode in ("auto", "grid") for kind, keys in kinds.items()
    }
    refused = refusals(specs)
    runs = [{kind: ours(spec)[0] for kind, spec in specs.items() if kind not in refused} for _ in range(PART_RUNS)]
    for kind in specs:
        if kind in refused:
            yield f"| {kind}: {refused[kind]} | | | | | |"
            continue
        first = next(other for other in specs if other.split(", `")[1] == kind.split(", `")[1])
        ratios = [run[kind].wall / run[first].wall for run in runs]
        yield f"| {' | '.join([kind, *figures(typical([run[kind] for run in runs])), *middle(ratios)])} |"


BOUNDS_HEADER = ("| measure | every row | grid | apart | stated bound | within |", "|---|---|---|---|---|---|")


def bounds(folder: Path, rows: int = BOUND_ROWS) -> Iterator[str]:
    """Yield the rows of the table of bounds: the measures of the first model."""
    place = data(folder, rows)
    accepted, refused = measures(place)
    for exact, grid in zip(*(estimates(place, mode, accepted) for mode in ("exact", "grid")), strict=True):
        yield bound_row(exact, grid)
    yield from (f"| {name}: {reason} | | | | | |" for name, reason in refused)


def bound_row(exact: Any, grid: Any) -> str:
    """Return a row of the table of bounds: estimates of one measure from every row and on the grid."""
    apart, bound = abs(grid.value - exact.value), grid.error_bound
    last_digits = 1e-9 * max(1.0, abs(exact.value))  # of what both sum in another order
    options = ", ".join(f"{key} {value}" for key, value in exact.params.items())
    cells = [
        f"{exact.metric} ({options})" if options else exact.metric, f"{exact.value:.8g}", f"{grid.value:.8g}",
        f"{apart:.1e}", "none" if bound is None else f"{bound:.1e}",
        "yes" if apart <= (bound or 0.0) + last_digits else "**no**",
    ]
    return f"| {' | '.join(cells)} |"


def measures(place: Path) -> tuple[list[Any], list[tuple[str, str]]]:
    """Return every measure that a binary outcome has, and beside them those that the grid refuses, with the reason."""
    from evalpipe.metrics import registry

    accepted, refused = [], []
    for entry in (*(entry.name for entry in registry), *WITH_OPTIONS):
        reasons = refusals({mode: spec_of(place, metrics=[entry], engine={"mode": mode}) for mode in ("exact", "grid")})
        if not reasons:
            accepted.append(entry)
        elif "exact" not in reasons:
            refused.append((str(entry), reasons["grid"]))
    return accepted, refused


def refusals(specs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return why specs are refused when they are planned, by their names; those that are not are left out."""
    import evalpipe
    from evalpipe.errors import EvalpipeError

    reasons = {}
    for name, spec in specs.items():
        try:
            evalpipe.plan(spec)
        except EvalpipeError as error:
            reasons[name] = str(error).splitlines()[0].partition(": ")[2]
    return reasons


def estimates(place: Path, mode: str, entries: list[Any]) -> Sequence[Any]:
    """Return the estimates of the first model, without intervals, in the order of the measures."""
    import evalpipe

    models = {MODELS[0]: {"probability": MODELS[0]}}
    keys = {"models": models, "metrics": entries, "intervals": {"method": "none"}, "engine": {"mode": mode}}
    return evalpipe.run(spec_of(place, **keys)).rows


LIMITS_HEADER = (
    "| rows | way | replicates draw | limits | apart: median | 95 % below | largest | width to theirs |",
    "|---|---|---|---|---|---|---|---|",
)


def limits(folder: Path, sizes: Sequence[int] = LIMIT_ROWS) -> Iterator[str]:
    """Yield the rows of the table of limits: how far those of cells are from those of draws of all rows."""
    import evalpipe

    for rows in sizes:
        place = data(folder, rows)
        ways = {mode: spec_of(place, metrics=list(TWELVE), engine={"mode": mode}, seed=seed, intervals={
            "method": "percentile", "replicates": REPLICATES, "bands": False})
            for seed, mode in enumerate(("exact", "auto", "grid"))}
        exact, *others = (evalpipe.run(spec) for spec in ways.values())
        for way, results in zip(("`auto`", "`grid`"), others, strict=True):
            apart = sorted(from_rows(results.rows, exact.rows))
            widths = [(row.upper - row.lower) / (other.upper - other.lower)
                      for row, other in zip(results.rows, exact.rows, strict=True)]
            drawn = {draw.mode for draw in results.intervals.draws}
            cells = [
                f"{rows:,}", way, ", ".join(sorted(drawn)), f"{len(apart)}", f"{statistics.median(apart):.2f}",
                f"{apart[int(0.95 * len(apart))]:.2f}", f"{apart[-1]:.2f}", f"{statistics.median(widths):.3f}"]
            yield f"| {' | '.join(cells)} |"


TABLES = {
    "growth": (GROWTH_HEADER, growth), "parts": (PARTS_HEADER, parts), "bounds": (BOUNDS_HEADER, bounds),
    "limits": (LIMITS_HEADER, limits),
}


def table(name: str, folder: Path, **given: Any) -> Iterator[str]:
    """Yield the lines of a table, in Markdown, each when it is measured; the data are kept in a folder."""
    header, rows = TABLES[name]
    yield from header
    yield from rows(folder, **given)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Measure what many rows cost.")
    parser.add_argument("--only", choices=TABLES, help="the table to print")
    parser.add_argument("--rows", type=int, action="append", help="of growth and bounds: these numbers of rows")
    parser.add_argument("--figure", type=Path, help="of growth: the SVG file to draw it in")
    parser.add_argument("--data", type=Path, help="a folder in which data are kept")
    chosen = parser.parse_args()
    sizes: dict[str, dict[str, Any]] = {"growth": {"figure": chosen.figure}, "bounds": {}}
    if chosen.rows:
        sizes["growth"]["sizes"], sizes["bounds"]["rows"] = chosen.rows, chosen.rows[0]
    with tempfile.TemporaryDirectory() as made:
        for name in [chosen.only] if chosen.only else TABLES:
            for line in table(name, chosen.data or Path(made), **sizes.get(name, {})):
                print(line, flush=True)


if __name__ == "__main__":
    main()
