"""The benchmark of a year of nights, on shorter ones: control limits and gates see what changes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import year


@pytest.mark.nightly
def test_control_limits_see_the_noise_and_are_quiet_before_it(tmp_path: Path) -> None:
    done = year.run_year(year.write_year(tmp_path, year.CHANGES["noise"], 50, changed=40), 50)
    quiet = [night for night in done.alarms[year.LIMITS] if night < 40]
    assert quiet == []
    assert 40 <= done.alarms[year.LIMITS][0] <= 43
    assert min(night for night in done.alarms["gate value"] if night >= 40) <= 43
    assert len(done.last.trend.nights) == 49
    assert done.ledger_bytes < 1_000_000


@pytest.mark.nightly
def test_gates_tell_of_a_fall_and_a_sequence_is_quiet_before_it(tmp_path: Path) -> None:
    done = year.run_year(year.write_year(tmp_path, year.CHANGES["fall"], 24, changed=15), 24)
    assert {judge: nights[0] for judge, nights in done.alarms.items()} == {"gate interval": 15, "gate sequence": 16}
    lines = list(year.told(done, 15))
    assert "gate sequence: first saw it on night 16 (2026-01-16); alarms before: 0" in lines
    assert list(year.told(done, 16))[-2].endswith("first saw it on night 16 (2026-01-16); alarms before: 1")
