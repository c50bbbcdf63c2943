"""What the plan and the card say of an exposure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

import evalpipe
from evalpipe.cli import main

EXPOSURE, COUNT = np.array([0.5, 2.0, 1.0, 4.0, 0.25, 2.25]), np.array([0, 1, 0, 2, 0, 1])


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    pl.DataFrame({"claims": COUNT, "years": EXPOSURE, "rate": np.full(6, 0.5), "expected": EXPOSURE / 3}).write_csv(
        tmp_path / "rows.csv")
    keys: dict[str, Any] = {
        "evalpipe": 1, "name": "claims", "task": "count", "outcome": {"column": "claims", "unit": "claims"},
        "exposure": {"column": "years", "unit": "policy-years"}, "datasets": {"test": {"path": "rows.csv"}},
        "models": {"glm": {"rate": "rate"}, "trees": {"prediction": "expected"}}, "metrics": ["poisson_deviance"],
        "intervals": {"method": "none"},
    }
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(keys, sort_keys=False))
    return path


def test_the_plan_says_what_counts_are_of(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", str(spec)])
    told = capsys.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert "counts are of the exposure years (policy-years); the expected counts of glm are rates times it" in told
    assert "  reads claims, years, rate, expected" in told
    with pytest.raises(SystemExit):
        main(["plan", str(spec), "--format", "json"])
    assert json.loads(capsys.readouterr().out)["exposure"] == {
        "column": "years", "unit": "policy-years", "rates_of": ["glm"]}


def test_the_card_says_how_much_was_exposed_and_how_often_it_counted(spec: Path) -> None:
    card = evalpipe.render(evalpipe.run(spec), ["html"])["card.html"].decode()
    facts = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", card))
    assert facts["Exposure"] == "column years, in policy-years; the expected count of a row is of its whole exposure"
    assert facts["Total exposure (policy-years)"] == "10"
    assert facts["Overall rate (claims / policy-years)"] == "0.400"
    assert facts["Column of the rate"] == "rate"
