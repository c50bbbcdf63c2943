"""The spec of docs/labels.md, on data made here."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import evalpipe
from chapters.labels.test_compute import rows

PAGE = Path(__file__).resolve().parents[3] / "docs" / "labels.md"


def test_the_spec_of_the_page_runs() -> None:
    block = re.search(r"```yaml\n(evalpipe: 1.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    spec = yaml.safe_load(block[1])
    frame = rows(n=2000, known=400).rename({"judge": "judge_p", "y": "verified"})
    frame = frame.with_columns(verified=frame["verified"].replace({"bad": "fraud", "good": "none"}))
    results = evalpipe.run(spec, frames={"june": frame})
    assert {row.metric for row in results.label_worth} == {"sensitivity", "precision", "roc_auc", "brier"}
    assert results.gates[0].verdict in ("pass", "fail", "inconclusive")
    assert np.isfinite([row.value for row in results.rows]).all()


@pytest.mark.parametrize("code", ["labels-not-random", "labels-uneven"])
def test_the_page_names_the_checks(code: str) -> None:
    assert f"`{code}`" in PAGE.read_text(encoding="utf-8")
