"""Why a check does not apply to a run: each reason is declared here, and rules name those that they have.

What the resolved spec alone tells is known before data are read, so that no gate can require it. The words of a
reason stand under its code in `evalpipe.words.reasons`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.results import Results

    SpecDocument = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unless:
    """A reason why checks do not apply: its ``code``, and when it holds, by a resolved spec, by results or either."""

    code: str
    by_spec: Callable[[SpecDocument], bool] = lambda _: False
    by_results: Callable[[Results], bool] = lambda _: False

    def holds(self, results: Results) -> bool:
        """Tell whether it is so in a run."""
        return self.by_spec(results.spec) or self.by_results(results)


def without(code: str, key: str) -> Unless:
    """Return the reason that a spec lacks a key, or has nothing there."""
    return Unless(code, lambda spec: not spec.get(key))


def _of_task(code: str, *tasks: str) -> Unless:
    """Return the reason that the outcome is of none of these kinds."""
    return Unless(code, lambda spec: spec.get("task") not in tasks)


def count_of(spec: SpecDocument, key: str, *roles: str) -> int:
    """Return how many models or datasets a resolved spec has, of datasets those of some roles."""
    entries = (spec.get(key) or {}).values()
    return sum(not roles or entry.get("role") in roles for entry in entries)


NO_DATASETS = Unless("no-datasets", by_results=lambda results: not results.datasets)
NO_OTHER_ROWS = Unless("no-other-rows", lambda spec: not count_of(spec, "datasets", "calibrate", "reference"))
ONE_DATASET = Unless("one-dataset", lambda spec: count_of(spec, "datasets") < 2)
ONE_EVALUATED = Unless("one-evaluated", lambda spec: count_of(spec, "datasets", "evaluate") < 2)
ONE_MODEL = Unless("one-model", lambda spec: count_of(spec, "models") < 2)
NOT_BINARY = _of_task("not-binary", "binary")
NO_LEVELS = _of_task("no-levels", "binary", "multiclass", "ordinal")
NOT_NUMBERS = _of_task("not-numbers", "regression", "count")
NOT_COUNTS = _of_task("not-counts", "count")
NOT_MULTICLASS = _of_task("not-multiclass", "multiclass")
FEW_LEVELS = _of_task("few-levels", "multiclass", "ordinal")
NO_SLICES = without("no-slices", "slices")
NO_GATES = without("no-gates", "gates")
NO_BASELINE = Unless("no-baseline", lambda spec: not (spec.get("compare") or {}).get("baseline"))
NOTHING_TESTED = "nothing-tested"
"""The code of the reason that a check which claims something of each number it looks at claims nothing."""
