"""A model that has another name from a night on: told where that is not said, and carried on where it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import yaml

import evalpipe
from chapters.gates.sentences import sentence_of
from evalpipe.cli import main
from evalpipe.errors import SpecError
from evalpipe.ledger.nights import names_now
from evalpipe.ledger.since_last_run import changes
from evalpipe.review.differences.compare import compare
from evalpipe.review.differences.records import read_run
from evalpipe.run import load

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.results import Results

FINDS = {"name": "Finds events", "metric": "sensitivity", "min": 0.75, "on": "sequence"}
FALL = {"metric": "accuracy", "max_decrease": 0.05, "against": "last", "on": "value"}
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "nightly", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d-${date}.parquet"}}, "models": {"score": {"probability": "p"}},
    "metrics": ["accuracy", "sensitivity"], "intervals": {"replicates": 100}, "report": {"formats": []},
    "gates": [FINDS, FALL], "trend": {"metrics": ["accuracy"]},
}
NEW = {"score_v2": {"probability": "p"}}
WAS = {"score_v2": {"probability": "p", "was": "score"}}
GONE = "{} had the model 'score', which is gone; where it has a new name, write 'was: score' for that"


def data(number: int, sensitivity: float) -> pl.DataFrame:
    rng = np.random.default_rng(number)
    event = rng.random(400) < 0.5
    found = np.where(event, rng.random(400) < sensitivity, rng.random(400) < 0.2)
    return pl.DataFrame({"y": event.astype(int), "p": np.where(found, 0.9, 0.1)})


def night(root: Path, number: int, sensitivity: float = 0.6, **keys: Any) -> Results:
    """Run a night in a folder of its own."""
    day = f"2026-11-{number:02}"
    data(number, sensitivity).write_parquet(root / f"d-{day}.parquet")
    (root / "spec.yaml").write_text(yaml.safe_dump(SPEC | keys), encoding="utf-8")
    return evalpipe.run(root / "spec.yaml", out=root / "reports" / day, as_of=day)


def told(results: Results) -> list[str]:
    return [warning.message for warning in results.warnings]


def test_a_model_that_is_gone_is_told_and_ends_with_1_under_fail_on_warn(tmp_path: Path) -> None:
    for number in (1, 2):
        night(tmp_path, number, 0.8)
    renamed = night(tmp_path, 3, 0.8, models=NEW)
    gone = GONE.format("the run as of 2026-11-02")
    assert told(renamed) == [gone]
    assert [(finding.kind, finding.text) for finding in renamed.findings if "gone" in finding.text] == [
        ("undecided", f"T{gone[1:]}.")]
    assert sentence_of(renamed.gates[1]) == (
        "Accuracy was not compared: the earlier run as of 2026-11-02 has no model 'score_v2'; it has 'score'.")
    assert (renamed.holds(), renamed.holds("warn"), renamed.holds("inconclusive"), renamed.holds("never")) == (
        True, False, False, True)
    assert told(night(tmp_path, 4, models=NEW)) == []


def test_what_is_gone_is_told_again_where_the_night_is_run_again_and_verified(tmp_path: Path) -> None:
    night(tmp_path, 1)
    once = night(tmp_path, 2, models=NEW)
    folder, spec = tmp_path / "reports" / "2026-11-02", load(tmp_path / "spec.yaml", as_of="2026-11-02")
    assert changes(spec, folder)[1] == []
    files = evalpipe.verify(folder, recompute=True).files
    assert {file.status for file in files if file.kind == "recomputed"} == {"same"}
    assert night(tmp_path, 2, models=NEW).to_json() == once.to_json()
    night(tmp_path, 1, models=NEW)
    assert "what the run before it had" in changes(load(tmp_path / "spec.yaml", as_of="2026-11-02"), folder)[1]


def test_gates_and_datasets_that_are_gone_are_told(tmp_path: Path) -> None:
    both = {"score": {"probability": "p"}, "other": {"probability": "p"}}
    more = {"path": "d-2026-11-01.parquet"}
    night(tmp_path, 1, models=both, datasets=SPEC["datasets"] | {"more": more}, trend=False)
    assert told(night(tmp_path, 2, models=both, gates=[FINDS | {"model": "other"}], trend=False)) == [
        "the run as of 2026-11-01 had the dataset 'more', which is gone",
        "the run as of 2026-11-01 had the gate 'Finds events' on the model 'score' and the dataset 'd', which is gone",
        "the run as of 2026-11-01 had the gate 'accuracy max_decrease', which is gone"]
    other_limit = {"metric": "sensitivity", "min": 0.5, "on": "sequence", "model": "other"}
    assert told(night(tmp_path, 3, models=both, gates=[other_limit], trend=False)) == []


def test_without_a_day_the_run_before_in_the_folder_counts(tmp_path: Path) -> None:
    def run(models: dict[str, Any], number: int) -> Results:
        data(number, 0.8).write_parquet(tmp_path / "d.parquet")
        keys = {"gates": [FALL], "trend": False, "datasets": {"d": {"path": "d.parquet"}}, "models": models}
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(SPEC | keys), encoding="utf-8")
        return evalpipe.run(tmp_path / "spec.yaml", out=tmp_path / "reports" / "nightly")

    run(SPEC["models"], 1)
    first, again = run(NEW, 2), run(NEW, 2)
    assert told(first) == [GONE.format("the run before")]
    assert sentence_of(first.gates[0]) == (
        "Accuracy was not compared: the earlier run has no model 'score_v2'; it has 'score'.")
    assert again.to_json() == first.to_json()
    assert told(run(NEW, 3)) == []
    back = run({"newest": {"probability": "p", "was": "score_v2"}}, 4)
    assert (told(back), back.gates[0].verdict) == ([], "pass")


def test_was_carries_on_sequences_trends_and_references(tmp_path: Path) -> None:
    """A renamed model comes to what it would have come to under its former name."""
    runs: dict[str, list[Results]] = {}
    for way, names in (("same", [SPEC["models"]] * 5), ("renamed", [SPEC["models"]] * 3 + [WAS] * 2)):
        (tmp_path / way).mkdir()
        runs[way] = [night(tmp_path / way, number, 0.66, models=models) for number, models in enumerate(names, 1)]
    same, renamed = runs["same"][-1], runs["renamed"][-1]
    assert told(runs["renamed"][3]) == told(renamed) == []
    assert renamed.gates[0].model == "score_v2"
    sequence, expected = renamed.gates[0].sequence, same.gates[0].sequence
    assert sequence is not None
    assert expected is not None
    assert (sequence.nights, sequence.evidence, sequence.alarms) == (5, expected.evidence, 1)
    assert renamed.gates[0].verdict == same.gates[0].verdict == "fail"
    for number in (3, 4):
        ours, theirs = runs["renamed"][number].gates[1], runs["same"][number].gates[1]
        judged = [(gate.verdict, gate.observed, gate.against_as_of) for gate in (ours, theirs)]
        assert judged[0] == judged[1]
    assert renamed.trend.lines[0].value == same.trend.lines[0].value


@pytest.mark.parametrize("last", [{"score_v3": {"probability": "p", "was": "score_v2"}}, NEW])
def test_what_was_once_carried_on_stays_so(tmp_path: Path, last: dict[str, Any]) -> None:
    for number, models in enumerate([SPEC["models"], SPEC["models"], WAS], 1):
        night(tmp_path, number, models=models)
    results = night(tmp_path, 4, models=last)
    assert told(results) == []
    sequence = results.gates[0].sequence
    assert sequence is not None
    assert (sequence.nights, sequence.alarms, results.gates[0].verdict) == (4, 1, "fail")
    assert None not in results.trend.lines[0].value


def test_a_name_that_was_given_up_is_free_for_another_model(tmp_path: Path) -> None:
    for number, models in enumerate([SPEC["models"], WAS], 1):
        night(tmp_path, number, models=models)
    results = night(tmp_path, 3, models={"score_v2": {"probability": "p"}, "score": {"probability": "p"}})
    nights = {gate.model: gate.sequence.nights for gate in results.gates if gate.sequence is not None}
    assert nights == {"score_v2": 3, "score": 1}
    assert [line.value[:2] for line in results.trend.lines if line.model == "score"] == [[None, None]]


def test_names_are_followed_from_run_to_run() -> None:
    runs: list[dict[str, Any]] = [{"renamed": None}, {"renamed": {"b": "a"}}, {"renamed": None}]
    assert names_now(runs, {"c": "b"}) == [{"a": "c", "b": "c"}, {"b": "c"}, {"b": "c"}]
    assert names_now(runs, {}) == [{"a": "b"}, {}, {}]


def test_a_former_name_that_the_ledger_does_not_know_is_told(tmp_path: Path) -> None:
    night(tmp_path, 1)
    models = {"score_v2": {"probability": "p", "was": "scroe"}}
    assert told(night(tmp_path, 2, models=models)) == [
        GONE.format("the run as of 2026-11-01"),
        "no earlier run in the ledger has the model 'scroe', which 'score_v2' was called before"]


def test_history_has_one_column_for_a_renamed_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, models in enumerate([SPEC["models"], WAS], 1):
        night(tmp_path, number, models=models)
    with pytest.raises(SystemExit):
        main(["history", str(tmp_path / "reports"), "--name", "nightly"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["day", "verdict", "score_v2", "results"]
    assert "—" not in "".join(lines)


def test_diff_compares_a_renamed_model_with_itself(tmp_path: Path) -> None:
    for number, models in enumerate([SPEC["models"], WAS], 1):
        night(tmp_path, number, models=models)
    for first, second in (("01", "02"), ("02", "01")):
        runs = [read_run(str(tmp_path / "reports" / f"2026-11-{day}")) for day in (first, second)]
        difference = compare(*runs)
        assert difference.subjects == []
        assert {row.model for row in difference.estimates} == {"score_v2"}


@pytest.mark.parametrize(("models", "lines"), [
    ({"a": {"probability": "p", "was": "a"}}, (
        "error[former-name]: the model 'a' was not called 'a' before: that is its name",
        "name what it was called, or remove this")),
    ({"a": {"probability": "p"}, "b": {"probability": "p", "was": "a"}}, (
        "error[former-name]: 'a' is still the name of a model, so 'b' cannot take over what is known of it",
        "rename or remove the model 'a', or remove this")),
    ({"a": {"probability": "p", "was": "z"}, "b": {"probability": "p", "was": "z"}}, (
        "error[former-name]: two models cannot both have been called 'z' before", "remove one of them"))])
def test_a_former_name_in_use_is_an_error_with_its_place(tmp_path: Path, models: Any, lines: tuple[str, str]) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("models: " + json.dumps(models) + "\n" + yaml.safe_dump(
        {key: item for key, item in SPEC.items() if key not in ("models", "trend", "gates")}), encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load(path, as_of="2026-11-01")
    text = path.read_text(encoding="utf-8")
    message, column = str(raised.value), text.rindex('"was": ') + len('"was": ') + 1
    assert message.startswith(f"{lines[0]}\n --> {path}:1:{column}\n")
    assert lines[1] in message


def test_a_spec_without_former_names_has_the_hash_that_it_had(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(SPEC), encoding="utf-8")
    resolved = night(tmp_path, 1).spec
    assert "was" not in resolved["models"]["score"]
