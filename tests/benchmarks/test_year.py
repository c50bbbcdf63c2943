"""The benchmark of a year of nights, on a shorter one: control limits see the drift, and are quiet before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from year import year


@pytest.mark.nightly
def test_control_limits_see_the_drift_and_are_quiet_before_it(tmp_path: Path) -> None:
    done = year(tmp_path, count=50, drift=40, rows=300, fall=1.5)
    quiet = [night for night in done.alarms["control limits"] if night < 40]
    assert quiet == []
    assert 40 <= done.alarms["control limits"][0] <= 43
    assert min(night for night in done.alarms["gate by value"] if night >= 40) <= 43
    assert len(done.last.trend.nights) == 49
    assert done.ledger_bytes < 1_000_000
