"""All benchmarks, one command: prints the tables and writes benchmarks/RESULTS.md.

    python benchmarks/run.py

Every row of scikit-learn's table and every other table is measured in a process of its own.
`pip install -r benchmarks/requirements.txt` brings the peers, best into a virtual environment of their own; one that is
missing is said to be, in its table. The whole takes about twenty minutes.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import bootstrap
import desirability
import peers
import recalibration
import report
import slices

SHOWN = ("evalpipe", "numpy", "polars", "scipy", "scikit-learn", "pandas", *peers.PEERS)


def loop() -> list[str]:
    """Return the section of the loop over scikit-learn, in Markdown."""
    job = (
        f"Percentile intervals of {', '.join(bootstrap.NAMES)}: one whole call of `evalpipe.evaluate` against a loop "
        "that draws rows and calls scikit-learn. The loop is timed over fewer replicates and extrapolated; our "
        "memory is the peak of the process. The last columns give how far our limits are from two others (median, "
        "largest), in standard errors of the Monte-Carlo noise: from the loop's, and from as many replicates of ours "
        "that draw every row and keep every score (`engine.mode: exact`)."
    )
    return ["## scikit-learn", "", job, "", *bootstrap.HEADER, *(row(n) for n in bootstrap.SIZES)]


def row(n: int) -> str:
    """Return one row of that section, from a process that has nothing else in its memory."""
    line = [sys.executable, bootstrap.__file__, str(n)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - our own file


def parts() -> list[str]:
    """Return the section on what slices cost, in Markdown."""
    job = (
        "A whole run of two models under twenty measures in twenty slices, four columns of five levels, against the "
        "same run without slices, which is drawn on a grid. For comparison, TensorFlow Model Analysis needed 52 s for "
        "9 measures on 4 slices of as many rows without intervals."
    )
    return ["## Slices", "", job, "", *slices.HEADER, peers.fresh(slices.compare)]


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


def sections() -> Iterator[list[str]]:
    """Yield the sections of the results, each when it is measured."""
    meaning = (
        "Written by `make bench`. A ratio is the other side's figure over evalpipe's: above 1, evalpipe needs less. "
        "The ratios are taken within one run; absolute figures depend on the machine."
    )
    yield ["# Benchmarks", "", meaning, "", *machine()]
    yield loop()
    yield parts()
    yield steps()
    yield goals()
    yield cards()
    for name in peers.PEERS:
        yield peers.table(name)


def main() -> None:
    """Print the tables and write them beside this file, all or none."""
    texts = []
    for lines in sections():
        texts.append("\n".join([*lines, ""]))
        print(texts[-1], flush=True)
    Path(__file__).with_name("RESULTS.md").write_text("\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
