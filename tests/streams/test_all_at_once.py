"""What needs all rows at once is refused where the spec asks for reading part by part, with the place of its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evalpipe.errors import SpecError
from streams.streaming import MODELS, rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

WHAT = {
    "weighting by importance": {"weight": {"column": "heavy", "kind": "importance"}},
    "cross-fitting of recalibrators": {"recalibrate": {"methods": ["platt"], "fit_on": {"folds": 2}}},
    "the score of model 'r', which is no probability and has no 'scale',": {
        "models": {"r": {"score": "odds"}}, "metrics": ["roc_auc"]},
    "a comparison of 4 models with scores, more than 3,": {
        "models": MODELS | {name: {"probability": "p"} for name in ("r", "s")}},
    "the row-level file": {"report": {"formats": [], "rows": "parquet"}},
}


@pytest.mark.parametrize("what", WHAT)
def test_what_needs_all_rows_is_refused(tmp_path: Path, what: str) -> None:
    path, keys = write(rows(50), tmp_path / "d", []), WHAT[what]
    with pytest.raises(SpecError) as error:
        run(path, **keys)
    problem = error.value.problems[0]
    assert problem.code == "needs-all-rows"
    assert problem.message == f"{what} needs all rows at once, but engine.mode is grid, which reads them part by part"
    assert problem.hint == "remove it, or set engine.mode to auto or exact, which hold the rows"
