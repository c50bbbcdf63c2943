"""A margin of the spec is that of the findings and of the section on methods; without one the defaults hold."""

from __future__ import annotations

from typing import Any

import pytest

import evalpipe
from evalpipe.chapters.compare.card import procedures
from evalpipe.errors import EvalpipeError
from evalpipe.findings.margins import DEFAULTS, margin_between, margin_of
from evalpipe.results import Results
from findings.faults import logits
from findings.planted import BINARY, events, spec_of


def run(**keys: Any) -> Results:
    frames = {"d": logits(lambda x: x - 0.6)}
    return evalpipe.run(spec_of(frames, "binary", BINARY, metrics=["brier", "roc_auc"], **keys), frames=frames)


def kind_on_average(results: Results) -> list[str]:
    return [finding.kind for finding in results.findings if finding.code == "probabilities-on-average"]


def test_an_effect_that_fails_is_a_note_under_a_wider_margin() -> None:
    assert kind_on_average(run()) == ["fails"]
    wide = run(margins={"calibration": 1.5})
    assert kind_on_average(wide) == ["note"]
    assert margin_of(wide, "calibration") == 1.5
    assert margin_of(wide, "slope") == DEFAULTS["slope"].size
    assert "probabilities on average 1.5 in log odds" in list(procedures(wide))[-1].text


def test_a_margin_is_a_share_of_an_error_and_a_difference_of_what_is_to_be_large() -> None:
    results = run()
    assert margin_between(results, "groups", "brier", 0.2) == pytest.approx(0.01)
    assert margin_between(results, "groups", "roc_auc", 0.8) == 0.05


@pytest.mark.parametrize("margins", [{"calibration": 0}, {"calibration": -1}, {"calibrations": 0.1}])
def test_a_margin_is_a_number_above_zero_of_a_kind_that_is_known(margins: dict[str, float]) -> None:
    frames = {"d": events(1)}
    with pytest.raises(EvalpipeError):
        evalpipe.run(spec_of(frames, "binary", BINARY, margins=margins), frames=frames)
