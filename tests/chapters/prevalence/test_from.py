"""A prevalence that a dataset gives: its number, its spread, where it goes, and the datasets that cannot give one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from engine.runs import intervals, numbers, people, read_sample, run
from evalpipe.chapters.prevalence.compute import _effective_observations
from evalpipe.errors import DataError, SpecError
from evalpipe.results import Estimate, Results

MEASURES = ["ppv", "npv", {"metric": "accuracy", "prevalence": ["sample", "declared"]}]
REFERENCE = {"d": {"path": "memory"}, "training": {"path": "memory", "role": "reference"}}


def training(events: int, others: int) -> pl.DataFrame:
    return pl.DataFrame({"y": [1] * events + [0] * others}).with_columns(
        p=0.5, id=pl.int_range(pl.len()) + 1_000_000)


def from_training(rows: pl.DataFrame, **keys: Any) -> Results:
    frames = {"d": people(300).with_columns(id=pl.int_range(pl.len())), "training": rows}
    return run(frames, **{"datasets": REFERENCE, "prevalence": {"from": "training"}, "metrics": MEASURES, "id": "id",
                          "intervals": intervals(200), **keys})


def estimates(results: Results) -> list[dict[str, Any]]:
    rows = [row.model_dump() for row in results.rows]
    return [{key: value for key, value in row.items() if key != "params"} for row in rows]


def only(results: Results, metric: str, *, declared: bool = False) -> Estimate:
    (row,) = [row for row in results.rows if row.metric == metric and ("prevalence" in row.params) is declared]
    return row


def test_every_number_is_that_of_a_beta_prior_after_the_rows_of_the_dataset() -> None:
    """Of 40 events and 60 others it is Beta(40, 60): the same draws, so the same limits to the last bit."""
    of_rows = from_training(training(40, 60))
    stated = from_training(training(40, 60), prevalence={"beta": [40, 60], "source": "the outcomes of training"})
    assert of_rows.rows == stated.rows
    prior, other = of_rows.prevalence, stated.prevalence
    assert prior is not None
    assert other is not None
    assert (prior.value, prior.beta, prior.limits) == (0.4, [40.0, 60.0], other.limits)
    assert (prior.dataset, prior.rows, prior.source) == ("training", 100, "the outcomes of training")
    assert (other.dataset, other.rows) == (None, None)
    assert only(of_rows, "ppv", declared=True).params == {"prevalence": 0.4}


def test_limits_are_wider_the_fewer_rows_the_dataset_has() -> None:
    few, many = (only(from_training(training(4 * k, 6 * k)), "ppv", declared=True) for k in (2, 200))
    assert few.value == many.value
    assert few.upper is not None
    assert few.lower is not None
    assert many.upper is not None
    assert many.lower is not None
    assert few.upper - few.lower > 1.5 * (many.upper - many.lower)


def test_a_stated_source_is_kept_and_a_condition_holds() -> None:
    found = from_training(
        pl.concat([training(30, 70), training(500, 0).with_columns(pl.col("id") + 500_000)]),
        datasets={**REFERENCE, "training": {"path": "memory", "role": "reference", "where": "id < 1500000"}},
        prevalence={"from": "training", "source": "the register of 2025"})
    assert found.prevalence is not None
    assert (found.prevalence.value, found.prevalence.rows, found.prevalence.source) == (
        0.3, 100, "the register of 2025")


@pytest.mark.parametrize("role", ["calibrate", "evaluate", "reference"])
def test_any_other_dataset_gives_it_and_the_order_of_its_rows_does_not_matter(role: str) -> None:
    frames = {"d": people(200).with_columns(id=pl.int_range(pl.len())),
              "other": people(150, seed=5).with_columns(id=pl.int_range(pl.len()) + 1000)}
    keys: dict[str, Any] = {"datasets": {"d": {"path": "memory"}, "other": {"path": "memory", "role": role}},
                            "prevalence": {"from": "other"}, "metrics": MEASURES, "id": "id",
                            "intervals": intervals(100)}
    found = run(frames, **keys)
    turned = run({**frames, "other": frames["other"].reverse()}, **keys)
    assert found.prevalence is not None
    assert found.prevalence.value == pytest.approx(frames["other"]["y"].mean(), rel=1e-12)
    assert numbers(found) == numbers(turned)
    itself = [warning.message for warning in found.warnings if warning.code == "prevalence-of-itself"]
    assert itself == ([] if role != "evaluate" else [
        ("the prevalence is that of dataset 'other', which is evaluated too: on its rows measures at the declared "
        "prevalence are those of the sample, and their limits count its sampling error twice")])


def test_weights_count_rows_and_clusters_make_it_less_certain() -> None:
    """Frequency weights are repeated rows. Of importance weights and clusters the rows count as those of one kind."""
    rows = people(240, seed=3).with_columns(id=pl.int_range(pl.len()) + 1000).with_columns(
        who=pl.col("y") * 10 + pl.col("id") % 7)  # events have clusters of their own
    base = people(200).with_columns(id=pl.int_range(pl.len()))
    frames = {"d": base, "training": rows}
    keys: dict[str, Any] = {"datasets": REFERENCE, "prevalence": {"from": "training"}, "metrics": ["ppv"], "id": "id",
                            "intervals": intervals(100)}
    repeated = run(frames, **keys, weight={"column": "times", "kind": "frequency"})
    assert repeated.prevalence is not None
    assert repeated.prevalence.beta is not None
    events = int((rows["times"] * rows["y"]).sum())
    assert repeated.prevalence.beta == pytest.approx([events, rows["times"].sum() - events], rel=1e-12)
    assert repeated.prevalence.rows == rows["times"].sum()
    for more in ({"weight": {"column": "heavy", "kind": "importance"}}, {"cluster": "who"}):
        found = run(frames, **keys, **more)
        assert found.prevalence is not None
        assert found.prevalence.beta is not None
        sample = read_sample(rows, metrics=["accuracy"], **more)
        share = float((sample.weights * sample.truth).sum() / sample.weights.sum())
        assert found.prevalence.value == pytest.approx(share, rel=1e-12)
        observations = _effective_observations(sample, sample.truth, share)
        assert sum(found.prevalence.beta) == pytest.approx(observations, rel=1e-9)
        assert sum(found.prevalence.beta) < 240


def test_rows_of_weight_zero_do_not_count() -> None:
    rows = training(40, 60).with_columns(w=pl.Series([0] * 20 + [1] * 80))
    frames = {"d": people(100).with_columns(id=pl.int_range(pl.len()), w=1), "training": rows}
    found = run(frames, datasets=REFERENCE, prevalence={"from": "training"}, metrics=["ppv"], id="id",
                weight={"column": "w", "kind": "frequency"}, intervals=intervals(100))
    assert found.prevalence is not None
    assert (found.prevalence.beta, found.prevalence.rows) == ([20.0, 60.0], 80)


def test_levels_get_a_dirichlet_distribution() -> None:
    generator = np.random.default_rng(4)
    truth = generator.choice(3, 200, p=[0.5, 0.3, 0.2])
    chances = generator.dirichlet([1, 1, 1], 200)
    named = {f"p_{level}": chances[:, k] for k, level in enumerate("abc")}
    rows = pl.DataFrame({"y": ["abc"[k] for k in truth], **named})
    rows = rows.with_columns(id=pl.int_range(pl.len()))
    reference = pl.DataFrame({"y": ["a"] * 12 + ["b"] * 30 + ["c"] * 18}).with_columns(
        id=pl.int_range(pl.len()) + 1000)
    keys: dict[str, Any] = {
        "task": "multiclass", "outcome": {"column": "y", "levels": ["a", "b", "c"]},
        "models": {"m": {"probabilities": "p_{level}"}}, "datasets": REFERENCE, "intervals": {"replicates": 100},
        "id": "id", "metrics": [{"metric": "accuracy", "prevalence": "declared"},
                                {"metric": "ppv", "average": ["macro", "none"]}],
        "recalibrate": {"fit_on": {"folds": 5}, "methods": ["prior_shift"]}}
    frames = {"d": rows, "training": reference}
    found = run(frames, prevalence={"from": "training"}, **keys)
    stated = run(frames, prevalence={"dirichlet": {"a": 12, "b": 30, "c": 18}}, **keys)
    assert estimates(found) == estimates(stated)
    assert found.recalibration == stated.recalibration
    assert found.prevalence is not None
    assert found.prevalence.dirichlet == {"a": 12.0, "b": 30.0, "c": 18.0}


def test_a_prior_shift_a_gate_a_goal_and_a_sentence_use_it() -> None:
    keys: dict[str, Any] = {
        "metrics": MEASURES, "recalibrate": {"fit_on": {"folds": 5}, "methods": ["prior_shift"]},
        "gates": [{"metric": "accuracy", "prevalence": "declared", "min": 0.1}],
        "desirability": [{"metric": "precision", "prevalence": "declared",
                          "maximize": {"low": 0.0, "high": 1.0}}],
        "card": {"intended_use": 'Accuracy {{ value("accuracy", prevalence="declared") }} and PPV {{ value("ppv") }}.'}}
    found = from_training(training(40, 60), **keys)
    stated = from_training(training(40, 60), prevalence={"beta": [40, 60]}, **keys)
    assert found.rows == stated.rows
    assert found.gates == stated.gates
    assert found.desirability == stated.desirability
    assert found.recalibration == stated.recalibration
    assert found.statement == stated.statement
    assert found.recalibration[0].options["to"] == 0.4


@pytest.mark.parametrize(("rows", "keys", "message", "hint"), [
    (training(0, 50), {}, ("no row of dataset 'training' has the level '1', so its prevalence cannot be estimated from "
                          "it"), "name another dataset, or write 'value: …' with its source"),
    (training(50, 0), {}, ("no row of dataset 'training' has the level '0', so its prevalence cannot be estimated from "
                          "it"), "name another dataset, or write 'value: …' with its source"),
    (training(20, 30).with_columns(who=pl.lit("one")), {"cluster": "who"},
     "all rows of dataset 'training' are in one cluster, so they cannot tell how uncertain the prevalence is",
     "name another dataset, or write 'value: …' with its source"),
    (training(20, 80), {"metrics": [{"metric": "accuracy", "prevalence": ["declared", 0.2]}]},
     "accuracy(prevalence=0.2) is listed twice: the prevalence of dataset 'training' is this number too",
     "ask for it at 'declared' alone"),
])
def test_a_dataset_that_cannot_give_it(rows: pl.DataFrame, keys: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(DataError) as fault:
        from_training(rows, **keys)
    assert [(problem.message, problem.hint) for problem in fault.value.problems] == [(message, hint)]
    assert fault.value.exit_code == 3


@pytest.mark.parametrize(("rows", "code"), [
    (training(20, 30).with_columns(y=pl.Series([1] * 20 + [0] * 29 + [7])), "too-many-levels"),
    (training(20, 30).with_columns(y=pl.Series([1] * 20 + [0] * 29 + [None])), "missing-truth"),
    (training(20, 30).drop("y"), "missing-column"),
])
def test_outcomes_of_the_dataset_are_checked_as_those_of_evaluated_rows(rows: pl.DataFrame, code: str) -> None:
    with pytest.raises(DataError) as fault:
        from_training(rows)
    assert [problem.code for problem in fault.value.problems] == [code]


@pytest.mark.parametrize(("prevalence", "datasets", "code", "message", "hint"), [
    ({"from": "trainin"}, REFERENCE, "unknown-dataset",
     "prevalence.from: no dataset is called 'trainin'", "did you mean 'training'?"),
    ({"from": "d"}, REFERENCE, "prevalence-of-itself",
     ("prevalence.from: 'd' is the only dataset that is evaluated: at the prevalence of its own rows measures are what "
     "they are without one"), "write 'training', or take measures at 'prevalence: sample'"),
    ({"from": "d"}, {"d": {"path": "memory"}}, "prevalence-of-itself",
     ("prevalence.from: 'd' is the only dataset that is evaluated: at the prevalence of its own rows measures are what "
     "they are without one"),
     "give a dataset 'role: reference', such as the training data, or take measures at 'prevalence: sample'"),
    ({"from": "training", "value": 0.3}, REFERENCE, "two-priors",
     "prevalence.from: the prevalence is declared twice, by 'value' and by 'from'", "remove one of the two"),
])
def test_specs_that_are_refused(
    prevalence: dict[str, Any], datasets: dict[str, Any], code: str, message: str, hint: str
) -> None:
    frames = {"d": people(100), "training": people(50, seed=1)}
    with pytest.raises(SpecError) as fault:
        run({name: frames[name] for name in datasets}, datasets=datasets, prevalence=prevalence, metrics=MEASURES)
    assert [(problem.code, problem.message, problem.hint) for problem in fault.value.problems] == [
        (code, message, hint)]


def write(folder: Path, **keys: Any) -> Path:
    people(400).with_columns(id=pl.int_range(pl.len())).write_parquet(folder / "d.parquet")
    people(300, seed=9).with_columns(id=pl.int_range(pl.len()) + 1000).write_parquet(folder / "other.parquet")
    spec = {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [0, 1]},
        "id": "id", "models": {"p": {"probability": "p"}}, "metrics": MEASURES, "intervals": intervals(100),
        "prevalence": {"from": "other"}, "report": {"formats": []}, "ledger": False,
        "datasets": {"d": {"path": "d.parquet"}, "other": {"path": "other.parquet", "role": "evaluate"}}, **keys}
    (folder / "spec.yaml").write_text(json.dumps(spec))
    return folder / "spec.yaml"


def test_rows_that_are_read_part_by_part_give_the_same(tmp_path: Path) -> None:
    held = evalpipe.run(write(tmp_path, engine={"mode": "exact"}))
    parts = evalpipe.run(write(tmp_path, engine={"mode": "grid"}))
    assert held.prevalence is not None
    assert parts.prevalence is not None
    assert parts.prevalence.beta == held.prevalence.beta
    assert parts.prevalence.rows == 300


def test_show_names_the_dataset(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from evalpipe.cli.app import app

    evalpipe.run(write(tmp_path), out=tmp_path / "out")
    text = CliRunner().invoke(app, ["show", str(tmp_path / "out"), "ppv@d"]).output
    share = people(300, seed=9)["y"].mean()
    assert f"{share:.3f}, that of dataset other (the outcomes of other)" in text, text


def test_a_reference_dataset_that_gives_it_is_not_read_part_by_part(tmp_path: Path) -> None:
    path = write(tmp_path, engine={"mode": "grid"}, datasets={
        "d": {"path": "d.parquet"}, "other": {"path": "other.parquet", "role": "reference"}})
    with pytest.raises(SpecError) as fault:
        evalpipe.plan(path)
    assert [problem.message for problem in fault.value.problems] == [
        ("the prevalence of the reference dataset 'other' needs all rows at once, but engine.mode is grid, which reads "
        "them part by part")]


def test_the_plan_says_that_the_number_is_not_known_before_the_data_are_read(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from evalpipe.cli.app import app

    path = write(tmp_path)
    text = CliRunner().invoke(app, ["plan", str(path)]).output
    assert "the prevalence is estimated from the outcomes of other, once they are read" in text
    assert "accuracy(prevalence=that of other)" in text
    document = json.loads(CliRunner().invoke(app, ["plan", str(path), "--format", "json"]).output)
    assert document["prevalence"] == {"shares": None, "parameters": None, "dataset": "other",
                                      "source": "the outcomes of other"}
    assert document["estimates"][0]["params"] == {"prevalence": "that of other"}
