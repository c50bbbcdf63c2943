"""All benchmarks, one command: prints the tables and writes benchmarks/RESULTS.md.

    python benchmarks/run.py                                 all of them
    python benchmarks/run.py --only growth --data DIR        one section, in the place of the earlier one

Every row of scikit-learn's table and every other table is measured in a process of its own.
`pip install -r benchmarks/requirements.txt` brings the peers, best into a virtual environment of their own; one that is
missing is said to be, in its table. The whole takes about three quarters of an hour and 2 GB of disk for data.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path

import bootstrap
import desirability
import peers
import recalibration
import report
import scale
import scale_others
import slices
import starts
from processes import spent

SHOWN = ("evalpipe", "numpy", "polars", "scipy", "scikit-learn", "pandas", "duckdb", *peers.PEERS)


def loop() -> list[str]:
    """Return the section of the loop over scikit-learn, in Markdown."""
    job = (
        f"Percentile intervals of {', '.join(bootstrap.NAMES)}: one whole call of `evalpipe.evaluate` against a "
        "loop that draws rows and calls scikit-learn. The same call with the bands of all curves is set against "
        "that loop too, which has none. The loop is timed over fewer replicates and extrapolated; memory is the "
        "peak of our process without bands. The last columns give how far our limits are from two others (median, "
        "largest), in standard errors of the Monte-Carlo noise: from the loop's, and from as many replicates of "
        "ours that draw every row and keep every score (`engine.mode: exact`)."
    )
    return ["## scikit-learn", "", job, "", *bootstrap.HEADER, *(row(n) for n in bootstrap.SIZES)]


def row(n: int) -> str:
    """Return one row of that section, from a process that has nothing else in its memory."""
    return spent([sys.executable, bootstrap.__file__, str(n)])[1].strip()


def parts() -> list[str]:
    """Return the section on what slices cost, in Markdown."""
    job = (
        "A whole run of two models under twenty measures in twenty slices, four columns of five levels, against the "
        "same run without slices, which is drawn on a grid. For comparison, TensorFlow Model Analysis needed 52 s for "
        "9 measures on 4 slices of as many rows without intervals."
    )
    return ["## Slices", "", job, "", *slices.HEADER, peers.fresh(slices.compare)]


def small_jobs() -> list[str]:
    """Return the section on small and repeated jobs, in Markdown."""
    job = (
        f"Processes from their start to their end, with default settings: medians of {starts.RUNS} runs, of "
        f"{starts.GROUPS:,} slices one run. The first row is a floor: numpy, polars, pydantic and scipy.special are "
        "imported, and nothing else is done. Nights run in one process."
    )
    return ["## Small and repeated jobs", "", job, "", *starts.table()]


def steps() -> list[str]:
    """Return the section on isotonic recalibration, in Markdown."""
    job = (
        "Isotonic recalibration, fitted and applied, against scikit-learn's `IsotonicRegression` doing the same; bags "
        "of both are drawn at random, so their means differ by that, and ours are steps where scikit-learn draws lines."
    )
    return ["## Recalibration", "", job, "", *recalibration.HEADER, peers.fresh(recalibration.compare)]


def goals() -> list[str]:
    """Return the section on what desirability costs, in Markdown."""
    job = (
        "A whole run of 20 models under eight measures against five goals, against the same run without goals; the "
        "measures of goals that have intervals in closed form are drawn for the goals alone."
    )
    return ["## Desirability", "", job, "", *desirability.HEADER, peers.fresh(desirability.compare)]


def cards() -> list[str]:
    """Return the section on what cards cost, in Markdown."""
    job = (
        f"The card of each example spec, and of one with 200 slices, against the state before figures were redrawn "
        f"(commit {report.BEFORE}, taken from the history): seconds of the processor for a page, for a PDF and for the "
        f"whole step, the least of {report.RUNS} processes, both sides in turn; sizes of the files, elements of all "
        "SVG in the page, and how often its figures are drawn for both formats."
    )
    return ["## Cards", "", job, "", *report.HEADER, *report.rows(report.configs())]


def coverage() -> list[str]:
    """Return the section on how often intervals hold the true value, in Markdown."""
    import coverage_peers  # here, so that no measured process has its libraries

    return coverage_peers.section()


def growth(folder: Path) -> list[str]:
    """Return the section on what many rows cost, in Markdown."""
    job = (
        f"Two models, the standard measures, {scale.REPLICATES:,} replicates and {scale.SLICES} slices, from Parquet "
        "to the results, without a card: a process from its start to its end. Peers are timed after their imports. The "
        "first reads the same columns and sums them. Two compute accuracy, Brier score, log loss and AUC of each model "
        f"and slice without intervals, the AUC in {scale_others.BINS:,} bins. The last is `roc_auc_score` of one model "
        "on a tenth of the rows, which are in memory. Evidently reports on one model of up to "
        f"{scale_others.MOST['evidently']:,} rows, without intervals. Times and memory are medians of "
        f"{' and '.join(str(runs) for runs in sorted(set(scale.SIZES.values())))} runs of all jobs in turn. A ring in "
        "the figure marks where `auto` changes its way."
    )
    figure = Path(__file__).with_name("growth.svg")
    return ["## Scale", "", job, "", f"![Processor time and peak memory against rows]({figure.name})", "",
            *scale.table("growth", folder, figure=figure)]


def parts_of_a_million(folder: Path) -> list[str]:
    """Return the section on slices and baselines of a million rows, in Markdown."""
    job = (
        f"Two models of {scale.PART_ROWS:,} rows, {len(scale.SEVEN)} measures ({', '.join(scale.SEVEN)}) and "
        f"{scale.REPLICATES:,} replicates, with and without {scale.SLICES} slices and a baseline: `auto` keeps "
        "every score, `grid` counts the rows in cells alone (`engine.mode`)."
    )
    return ["## Slices and baselines of a million rows", "", job, "", *scale.table("parts", folder)]


def bounds(folder: Path) -> list[str]:
    """Return the section on how exact the grid is, in Markdown."""
    job = (
        f"Every measure of a model of {scale.BOUND_ROWS:,} rows from every row (`engine.mode: exact`) and on the grid, "
        "with the bound that the results state."
    )
    return ["## Values on the grid", "", job, "", *scale.table("bounds", folder)]


def limits(folder: Path) -> list[str]:
    """Return the section on intervals of cells beside those of draws of all rows, in Markdown."""
    job = (
        f"Percentile limits of {len(scale.TWELVE)} measures of two models and {scale.REPLICATES:,} replicates "
        "against those of as many draws of all rows that keep every score (`engine.mode: exact`, another seed). "
        "They are apart by so many standard errors of both simulations; of two draws of one distribution the median "
        "is 0.67, and 95 % are below 1.96. Widths are medians."
    )
    return ["## Intervals of cells and of rows", "", job, "", *scale.table("limits", folder)]


def machine() -> list[str]:
    """Return what the figures depend on: the processor, its cores, the memory, Python and the libraries."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text(encoding="utf-8").splitlines() if described.exists() else []
    names = {line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")}
    processor = ", ".join(sorted(names)) or platform.processor() or platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        f"- {processor}, {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB of memory",
        f"- {platform.system()}, {platform.python_implementation()} {platform.python_version()}",
        "- " + ", ".join(f"{name} {version(name)}" for name in SHOWN),
    ]


def version(name: str) -> str:
    """Return the version of a library, or that there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def heading() -> list[str]:
    """Return what stands above the sections."""
    meaning = (
        "Written by `make bench`. A ratio is the other side's figure over evalpipe's: above 1, evalpipe needs less; "
        "where a column says what it is to another, it is the other way round. The ratios are taken within one run; "
        "absolute figures depend on the machine."
    )
    return ["# Benchmarks", "", meaning, "", *machine()]


def sections(data: Path) -> dict[str, Callable[[], list[str]]]:
    """Return what measures each section, by its name on the command line; large data are kept in a folder."""
    scales = {"growth": growth, "parts": parts_of_a_million, "bounds": bounds, "limits": limits}
    return {
        "loop": loop, "starts": small_jobs, "slices": parts, "recalibration": steps, "desirability": goals,
        "cards": cards,
        **{name: partial(section, data) for name, section in scales.items()},
        **{name: partial(peers.table, name) for name in peers.PEERS},
        "coverage_peers": coverage,
    }


def replaced(text: str, section: str) -> str:
    """Return the results with a section in the place of that of the same title, or after the others."""
    head, *others = text.split("\n## ")
    title = section.removeprefix("## ").splitlines()[0]
    kept = {other.splitlines()[0]: other for other in others}
    kept[title] = section.removeprefix("## ")
    return "\n## ".join([head, *kept.values()])


def main() -> None:
    """Print the tables and write them beside this file once all are measured: all of them, or those asked for."""
    parser = argparse.ArgumentParser(description="Measure and write benchmarks/RESULTS.md.")
    parser.add_argument("--only", choices=sections(Path()), action="append", help="a section to write again")
    parser.add_argument("--data", type=Path, help="a folder in which large data are kept")
    chosen = parser.parse_args()
    place = Path(__file__).with_name("RESULTS.md")
    text = place.read_text(encoding="utf-8") if chosen.only else "\n".join([*heading(), ""])
    with tempfile.TemporaryDirectory() as made:
        measured = sections(chosen.data or Path(made))
        for name in chosen.only or measured:
            section = "\n".join([*measured[name](), ""])
            print(section, flush=True)
            text = replaced(text, section)
    place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
