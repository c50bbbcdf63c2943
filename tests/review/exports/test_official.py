"""Nightly: twelve configs of all tasks in every format, each by the format's own validator and official schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import evalpipe
from conftest import ROOT, Shared
from evalpipe.review.exports import EXPORTS
from evalpipe.review.exports.declare import ExportedRun
from evalpipe.words.card_fields import FIELDS
from review.exports import validators
from review.exports.numbers import of_cyclonedx, of_results

pytestmark = pytest.mark.nightly


class Laid(NamedTuple):
    """What is laid over a config: a slice by a condition, and a gate, for the formats that require these."""

    where: str
    gate: str


CONFIGS = {
    "anes96": Laid("respondent > 400", "{metric: accuracy, min: 0.3}"),
    "apartments": Laid("apartment > 4000", "{metric: rmse, max: 400}"),
    "audit": Laid("tumour > 200", "{metric: brier, max: 0.1}"),
    "campaign": Laid('"case" > 1000', "{metric: roc_auc, min: 0.7}"),
    "desirability": Laid("tumour > 200", "{metric: roc_auc, min: 0.9}"),
    "digits": Laid("image > 900", "{metric: accuracy, min: 0.9}"),
    "equivocal": Laid("image > 900", "{metric: accuracy, min: 0.9}"),
    "prevalence": Laid('"case" > 1000', "{metric: roc_auc, min: 0.7}"),
    "randhie": Laid('"case" > 1000', "{metric: rmse, max: 6}"),
    "recalibration": Laid('"case" > 1000', "{metric: brier, max: 0.3}"),
    "slices": Laid("passenger > 1000", "{metric: roc_auc, min: 0.8}"),
    "titanic": Laid("passenger > 1000", "{metric: roc_auc, min: 0.8}"),
}


@pytest.fixture(scope="module")
def report(shared: Shared) -> Callable[[str], Path]:
    """Return a function that runs a config with what formats require laid over it, and returns its output folder."""

    def folder(name: str) -> Path:
        laid = CONFIGS[name]
        overrides = [
            "report.formats=[]", "intervals.replicates=150", "as_of=2026-11-22", f"gates=[{laid.gate}]",
            f"slices=[{{name: late, where: {json.dumps(laid.where)}}}]",
            *(f"card.{key}=Stated of {key}." for key in FIELDS)]
        spec = ROOT / "configs" / f"{name}.yaml"
        return shared(f"exports-{name}", lambda out: evalpipe.run(spec, out=out, overrides=overrides))

    return folder


def test_a_dozen_configs_are_validated() -> None:
    assert len(CONFIGS) == 12


@pytest.mark.parametrize("form", EXPORTS)
@pytest.mark.parametrize("name", CONFIGS)
def test_the_official_validator_accepts_the_export(
    name: str, form: str, report: Callable[[str], Path], tmp_path: Path
) -> None:
    export, folder = EXPORTS[form], report(name)
    first = ExportedRun.read(folder).predictors[0].name
    exported = ExportedRun.read(folder, first if export.models == "one" else None,
                             "other" if export.asks_evaluator else None)
    assert validators.VALIDATORS[form].finds(export.write(exported), tmp_path) == []


@pytest.mark.parametrize("name", CONFIGS)
def test_every_estimate_is_in_the_export_as_it_is_in_the_results(name: str, report: Callable[[str], Path]) -> None:
    run = ExportedRun.read(report(name))
    assert of_cyclonedx(validators.only(EXPORTS["cyclonedx"].write(run))) == of_results(run.results)
