"""Write the end of docs/coverage.md: every metric, and the tests that compare it with an independent source.

    python docs/coverage_page.py            write it again; what stands above it is written by hand
    python docs/coverage_page.py --check    change nothing; end with 1 where it is stale

A test of tests/reference compares the metrics that it is parametrized with, as `name` or `metric`, and those that its
mark `metrics` names. The page needs what the tests need, which are imported and not run.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from evalpipe.metrics import registry

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "coverage.md"
EVERY = """## Every metric

Written by `docs/coverage_page.py` from the declarations and the tests: `make docs` writes it again.

| known as | here | checked by |
|---|---|---|
"""


def checked_by() -> dict[str, list[str]]:
    """Return the tests that compare each metric with an independent source, each as `tests/reference/FILE.py::NAME`."""
    tests = ROOT / "tests"
    if str(tests) not in sys.path:
        sys.path.insert(0, str(tests))
    found: dict[str, list[str]] = {entry.name: [] for entry in registry}
    for file in sorted((tests / "reference").glob("test_*.py")):
        module = importlib.import_module(f"reference.{file.stem}")
        for name, test in vars(module).items():
            if name.startswith("test_") and getattr(test, "__module__", "") == module.__name__:
                for metric in metrics_of(test):
                    found[metric].append(f"tests/reference/{file.name}::{name}")
    return found


def metrics_of(test: Any) -> set[str]:
    """Return the metrics that a test is parametrized with or marked with."""
    found: set[Any] = set()
    for mark in getattr(test, "pytestmark", []):
        if mark.name == "metrics":
            found.update(mark.args)
        elif mark.name == "parametrize":
            names, values = mark.args[:2]
            names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
            place = next((names.index(name) for name in ("metric", "name") if name in names), None)
            if place is not None:
                rows = [getattr(value, "values", value) if len(names) > 1 else [value] for value in values]
                found.update(row[place] for row in rows)
    return {entry.name for entry in registry} & found


def page(text: str) -> str:
    """Return the page with its last part as it should be."""
    checked = checked_by()
    rows = []
    for entry in sorted(registry, key=lambda entry: entry.name):
        aliases = [alias.replace("_", " ") for alias in entry.aliases]
        known = ", ".join([entry.title, *(alias for alias in aliases if alias != entry.title.lower())])
        tests = ", ".join(f"`{test}`" for test in checked[entry.name])
        rows.append(f"| {known} | [`{entry.name}`](metrics.md#{entry.name}) | {tests} |\n")
    return text.partition(EVERY.split("\n", 1)[0])[0] + EVERY + "".join(rows)


def main(*, check: bool) -> int:
    """Write the page, or with ``check`` say whether it is stale; return the exit code."""
    text = PAGE.read_text(encoding="utf-8")
    fresh = page(text)
    if text != fresh and not check:
        PAGE.write_text(fresh, encoding="utf-8")
    if text != fresh and check:
        print("stale: docs/coverage.md; run `make docs` and commit the result")
        return 1
    print("docs/coverage.md is fresh" if text == fresh else "wrote docs/coverage.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
