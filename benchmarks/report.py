"""What the report step costs: the card of every example spec, today against the state before figures were redrawn.

    python benchmarks/report.py [CONFIG ...]     prints the table, of all example specs or of some

Each side evaluates the spec once. Then a process of its own renders the results in every format, the sides in turn and
each `RUNS` times; the least processor time counts, for other work on the machine only adds to it. The earlier state is
taken from the history of this repository.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))
BEFORE = "29a2e0a"
"""The last state in which matplotlib drew every figure, once for each format."""

RUNS = 2
FORMATS = ("html", "pdf", "junit")
MANY = "200 groups"
"""A spec like `slices` with a slice for each of 200 groups, whose numbers are made for the purpose."""

COLUMNS = (
    "config", "html", "pdf", "whole step", "before", "ratio", "HTML", "before", "PDF", "before", "SVG nodes", "before",
    "figures", "drawn", "before",
)
HEADER = (f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|")


def configs() -> list[str]:
    """Return the names of the example specs, that of the README first, and `MANY` last."""
    names = sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))
    return [*sorted(names, key=lambda name: name != "titanic"), MANY]


def nodes(page: str) -> int:
    """Count the elements of all SVG drawings in a page."""
    return sum(len(re.findall(r"<[a-zA-Z]", svg)) for svg in re.findall(r"<svg\b.*?</svg>", page, re.DOTALL))


def measure(folder: str) -> dict[str, Any]:
    """Render the results in a folder, and return seconds of the processor, bytes, nodes and figures by name."""
    from importlib import import_module

    from evalpipe.card import check_renderable, render
    from evalpipe.card.figures import svg
    from evalpipe.results import Results

    results, seconds, drawn = Results.read(Path(folder) / "results.json"), dict[str, float](), Counter[str]()
    formats = [name for name in FORMATS if name != "junit" or results.gates]
    check_renderable(formats)
    for name in formats:
        _time(import_module(f"evalpipe.card.{name}"), name, seconds)
    _count(svg.Drawing, drawn)
    begun = time.process_time()
    files = render(results, formats)
    whole = time.process_time() - begun
    page = files["card.html"]
    return {"seconds": seconds | {"whole": whole}, "nodes": nodes(page.decode("utf-8")), "figures": len(drawn),
            "drawings": drawn.total(), "html": len(page), "pdf": len(files["card.pdf"])}


def _time(module: Any, name: str, seconds: dict[str, float]) -> None:
    """Have the module of a format note the processor time of its document."""
    document = module.document

    def timed(given: Any) -> Any:
        begun = time.process_time()
        written = document(given)
        seconds[name] = time.process_time() - begun
        return written

    module.document = timed


def _count(kind: Any, drawn: Counter[str]) -> None:
    """Have each figure that is finished counted by its key."""
    finish = kind.__init__

    def counted(self: Any, key: str, *values: Any, **named: Any) -> None:
        drawn[key] += 1
        finish(self, key, *values, **named)

    kind.__init__ = counted


def called(tree: Path, *arguments: str) -> str:
    """Run Python with the evalpipe of a tree; compiled code is kept apart from the tree."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(tree), "PYTHONPYCACHEPREFIX": str(tree.parent / f"compiled-{tree.name}")}
    line = [sys.executable, *arguments]
    return subprocess.run(line, check=True, capture_output=True, text=True, env=environment, cwd=tree).stdout  # noqa: S603 - ours


def evaluated(tree: Path, spec: Path, out: Path) -> None:
    """Evaluate a spec with the evalpipe of a tree, without a card."""
    called(tree, "-m", "evalpipe", "run", str(spec), "--out", str(out), "--no-progress", "--fail-on", "never", "--set",
           "report.formats=[]", "--set", "intervals.replicates=200")


def earlier(commit: str, folder: Path) -> Path:
    """Unpack an earlier state of the repository into a folder and return it."""
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", commit], check=True, capture_output=True).stdout  # noqa: S603, S607 - ours
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(folder, filter="data")
    return folder


def many_groups(folder: Path) -> Path:
    """Write the spec of `MANY` and its data into a folder, and return its path."""
    from card.many_groups import write

    return write(folder, ROOT / "configs" / "data" / "titanic_evaluation.parquet")


def compare(name: str, before: Path, folder: Path) -> str:
    """Return the row of an example spec, or of `MANY`; ``before`` is the earlier tree."""
    sides = {"now": ROOT, "before": before}
    for side, tree in sides.items():
        spec = many_groups(folder / name) if name == MANY else tree / "configs" / f"{name}.yaml"
        evaluated(tree, spec, folder / f"{name}-{side}")
    runs = [{side: json.loads(called(tree, __file__, "--measure", str(folder / f"{name}-{side}")))
             for side, tree in sides.items()} for _ in range(RUNS)]
    now, then = ([run[side] for run in runs] for side in sides)
    html, pdf, whole = (min(run["seconds"][part] for run in now) for part in ("html", "pdf", "whole"))
    slow = min(run["seconds"]["whole"] for run in then)
    sizes = [f"{side[0][kind] / 1e6:.2f} MB" for kind in ("html", "pdf") for side in (now, then)]
    counts = [f"{side[0][kind]:,}" for kind, side in (("nodes", now), ("nodes", then), ("figures", now),
                                                      ("drawings", now), ("drawings", then))]
    times = [f"{html:.2f} s", f"{pdf:.2f} s", f"{whole:.2f} s", f"{slow:.2f} s", f"{slow / whole:.1f}"]
    return "| " + " | ".join([name, *times, *sizes, *counts]) + " |"


def rows(names: list[str]) -> Iterator[str]:
    """Yield the rows of the table, one for each example spec that the earlier tree has too, when it is measured."""
    with TemporaryDirectory() as held:
        folder = Path(held)
        before = earlier(BEFORE, folder / "before")
        for name in names:
            if name == MANY or (before / "configs" / f"{name}.yaml").exists():
                yield compare(name, before, folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        print("\n".join(HEADER))
        for line in rows(sys.argv[1:] or configs()):
            print(line, flush=True)
