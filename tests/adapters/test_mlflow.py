"""`evalpipe.mlflow.log` against the real MLflow and its stores: what is read back, twice, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
import evalpipe.mlflow
from conftest import ROOT, Shared
from evalpipe.errors import DataError, UsageError
from evalpipe.results import Results

SPEC = """\
evalpipe: 1
name: churn
task: binary
as_of: 2026-11-22
outcome: {column: y, event: "yes", levels: ["yes", "no"]}
datasets: {test: {path: test.csv}}
models: {old tree: {probability: pa}, forest: {probability: pb}}
metrics: [accuracy, precision, {metric: f_beta, beta: 2}, roc_auc]
slices: [side]
recalibrate: {fit_on: {folds: 2}, methods: [logistic]}
intervals: {method: wilson}
gates:
  - {metric: accuracy, min: 0.01, name: any use}
  - {metric: accuracy, min: 0.99, model: forest}
  - {metric: accuracy, max: 0.01, model: old tree, severity: warn}
  - {metric: accuracy, min: 0.85, model: old tree}
report: {formats: [markdown], rows: csv}
"""


NIGHT = 1_795_305_600_000
"""The beginning of 22 November 2026 in UTC, in milliseconds since 1970."""


@pytest.fixture(scope="module")
def churn(shared: Shared) -> Path:
    """Return the output folder of a run of two models, of which one predicts no event."""

    def fill(home: Path) -> None:
        home.mkdir()
        generator = np.random.default_rng(0)
        y, side = generator.random(80) < 0.4, generator.random(80) < 0.5
        p = np.clip(generator.normal(0.3 + 0.3 * y, 0.2), 0.01, 0.99)
        pl.DataFrame({"y": np.where(y, "yes", "no"), "pa": p, "pb": 0.1 + p / 4, "side": np.where(side, "l", "r")}
                     ).write_csv(home / "test.csv")
        (home / "churn.yaml").write_text(SPEC, encoding="utf-8")
        evalpipe.run(home / "churn.yaml", out=home / "reports" / "churn")
        evalpipe.run(home / "churn.yaml", out=home / "reports" / "later", as_of="2026-11-23", overrides=[
            "gates=[{metric: accuracy, min: 0.85, model: old tree}]"])

    return shared("adapters-mlflow", fill) / "reports" / "churn"


@pytest.fixture(scope="module")
def mlflow() -> Any:
    import mlflow

    return mlflow


@pytest.fixture
def client(mlflow: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a client of an empty store of files, which is that of the process."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    yield mlflow.MlflowClient()
    while mlflow.active_run() is not None:
        mlflow.end_run()


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return the estimates of results.json on all rows."""
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return [row for row in document["estimates"] if row["slice"] is None and row["class"] is None]


def test_a_run_without_gates_has_no_verdict_that_it_passed(client: Any, churn: Path) -> None:
    bare = Results.read(churn).model_copy(update={"gates": [], "standards": []})
    logged = evalpipe.mlflow.log(bare)

    assert client.get_run(logged.run_id).data.tags["evalpipe.verdict"] == "none"


def test_a_run_has_the_numbers_of_results_json_and_the_files(client: Any, churn: Path, tmp_path: Path) -> None:
    logged = evalpipe.mlflow.log(churn)
    run = client.get_run(logged.run_id)
    expected = {}
    for row in rows(churn):
        model = row["model"] if row["variant"] == "original" else f"{row['model']}_{row['variant']}"
        measure = "f_beta_beta_2.0" if row["metric"] == "f_beta" else row["metric"]
        for suffix, number in (("", row["value"]), ("_lower", row["lower"]), ("_upper", row["upper"])):
            if number is not None:
                expected[f"test/{model}/{measure}{suffix}"] = number
    assert "test/old tree_logistic/roc_auc" in expected
    assert "test/old tree/accuracy_upper" in expected
    assert run.data.metrics == logged.metrics == expected
    points = [client.get_metric_history(logged.run_id, name) for name in expected]
    assert {(len(of), of[0].timestamp, of[0].step) for of in points} == {(1, NIGHT, 0)}
    assert logged.undefined == {"test/forest/precision": "no predicted events"}
    assert (run.info.run_name, run.info.status, run.data.params) == ("churn", "FINISHED", {})
    client.download_artifacts(logged.run_id, "evalpipe", str(tmp_path))
    written = files(churn)
    assert {"card.md", "estimates.csv", "manifest.json", "results.json", "rows.csv", "run.json"} == written.keys()
    assert files(tmp_path / "evalpipe") == {
        name: content for name, content in written.items() if name not in ("rows.csv", "run.json")}


def test_a_run_says_what_it_is_of_and_what_became_of_each_gate(client: Any, churn: Path) -> None:
    document = json.loads((churn / "results.json").read_text(encoding="utf-8"))
    manifest = json.loads((churn / "manifest.json").read_text(encoding="utf-8"))
    tags = client.get_run(evalpipe.mlflow.log(churn).run_id).data.tags
    told = {key.removeprefix("evalpipe."): value for key, value in tags.items() if key.startswith("evalpipe.")}
    gates = {key.removeprefix("gate."): told.pop(key) for key in list(told) if key.startswith("gate.")}
    (results,) = [file["sha256"] for file in manifest["files"] if file["file"] == "results.json"]
    assert told == {
        "name": "churn", "as_of": "2026-11-22", "version": document["evalpipe_version"], "results_sha256": results,
        "spec_sha256": document["spec_sha256"], "verdict": "fail", "level": "0.95",
        "undefined": "test/forest/precision: no predicted events"}
    assert gates == {
        "test.old tree/any use": "pass", "test.forest/any use": "pass", "test.forest/Accuracy at least 0.99": "fail",
        "test.old tree/Accuracy at most 0.01": "warn", "test.old tree/Accuracy at least 0.85": "inconclusive"}
    assert str(churn.parents[2]) not in json.dumps(told | gates)


def test_logging_the_same_again_changes_nothing(client: Any, churn: Path, tmp_path: Path) -> None:
    first = evalpipe.mlflow.log(churn)
    client.create_registered_model("churn")
    client.create_model_version("churn", "elsewhere:/churn", first.run_id)
    forest = evalpipe.mlflow.log(churn, model="forest", registered_model=("churn", 1))
    before = files(tmp_path / "store")
    assert evalpipe.mlflow.log(churn) == first
    assert evalpipe.mlflow.log(churn, run_id=first.run_id) == first
    assert evalpipe.mlflow.log(churn, model="forest", registered_model=("churn", 1)) == forest
    assert forest.run_id != first.run_id
    assert files(tmp_path / "store") == before


def test_it_goes_to_the_active_run_and_to_the_one_that_is_named(mlflow: Any, client: Any, churn: Path) -> None:
    other = client.create_run("0").info.run_id
    with mlflow.start_run() as active:
        mlflow.log_metric("loss", 0.5)
        assert evalpipe.mlflow.log(churn).run_id == active.info.run_id
        assert evalpipe.mlflow.log(churn, run_id=other).run_id == other
        assert mlflow.active_run().info.run_id == active.info.run_id
    found = [client.get_run(run_id) for run_id in (other, active.info.run_id)]
    assert [run.info.status for run in found] == ["RUNNING", "FINISHED"]
    assert found[1].data.metrics == found[0].data.metrics | {"loss": 0.5}


def test_of_one_model_the_names_are_those_of_every_model(client: Any, churn: Path) -> None:
    logged = {name: evalpipe.mlflow.log(churn, model=name) for name in ("old tree", "forest", "forest+logistic")}
    assert logged["old tree"].metrics.keys() == logged["forest+logistic"].metrics.keys() > {"test/roc_auc"}
    assert logged["forest"].undefined == {"test/precision": "no predicted events"}
    tags = {name: client.get_run(run.run_id).data.tags for name, run in logged.items()}
    assert [(of["evalpipe.model"], of["evalpipe.verdict"]) for of in tags.values()] == [
        ("old tree", "warn"), ("forest", "fail"), ("forest+logistic", "none")]
    assert {key for key in tags["forest"] if key.startswith("evalpipe.gate.")} == {
        "evalpipe.gate.test.forest/any use", "evalpipe.gate.test.forest/Accuracy at least 0.99"}


def test_a_registered_version_has_the_verdicts_and_numbers_of_its_last_night(client: Any, churn: Path) -> None:
    client.create_registered_model("churn")
    for number in (1, 2):
        client.create_model_version("churn", f"elsewhere:/{number}")
        client.set_model_version_tag("churn", str(number), "stage", "champion")
    to = {"model": "old tree", "registered_model": ("churn", 2)}
    first = evalpipe.mlflow.log(churn, **to)
    tags = client.get_model_version("churn", "2").tags
    on_run = client.get_run(first.run_id).data.tags
    expected = {key: value for key, value in on_run.items() if key.startswith("evalpipe.")}
    numbers = {f"evalpipe.metric.test/{'f_beta_beta_2.0' if row['metric'] == 'f_beta' else row['metric']}":
               {key: row[key] for key in ("value", "lower", "upper") if row[key] is not None}
               for row in rows(churn) if (row["model"], row["variant"]) == ("old tree", "original")}
    assert {len(of) for of in numbers.values()} == {3}
    assert {key: json.loads(value) for key, value in tags.items() if key in numbers} == numbers
    assert {key: value for key, value in tags.items() if key not in numbers} == {
        **expected, "evalpipe.run_id": first.run_id, "stage": "champion"}
    later = evalpipe.mlflow.log(churn.parent / "later", **to)
    tags = client.get_model_version("churn", "2").tags
    assert (tags["evalpipe.run_id"], tags["evalpipe.as_of"], tags["stage"]) == (later.run_id, "2026-11-23", "champion")
    assert {key: value for key, value in tags.items() if "gate" in key or "verdict" in key} == {
        "evalpipe.gate.test.old tree/Accuracy at least 0.85": "inconclusive", "evalpipe.verdict": "inconclusive"}
    assert client.get_model_version("churn", "1").tags == {"stage": "champion"}


def test_results_in_memory_are_logged_at_the_time_of_their_run(client: Any, tmp_path: Path) -> None:
    results = evalpipe.evaluate([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.4], event=1, metrics=["brier"])
    logged = evalpipe.mlflow.log(results)
    run = client.get_run(logged.run_id)
    assert logged.metrics["data/model/brier_scale_half"] == results.rows[0].value
    (point,) = client.get_metric_history(logged.run_id, "data/model/brier_scale_half")
    assert point.timestamp == run.info.start_time
    client.download_artifacts(logged.run_id, "evalpipe", str(tmp_path))
    assert files(tmp_path / "evalpipe") == {"results.json": results.to_json().encode()}
    assert evalpipe.mlflow.log(results) == logged


def test_a_failed_attempt_is_ended_by_the_next(
    mlflow: Any, client: Any, churn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk").write_text("no folder")
    client.create_experiment("kept", (tmp_path / "disk").as_uri())
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "kept")
    with pytest.raises(UsageError, match=r"error\[mlflow\]: MLflow ends with: .*disk"):
        evalpipe.mlflow.log(churn)
    (run,) = mlflow.search_runs(experiment_names=["kept"], output_format="list")
    assert run.info.status == "FAILED"
    (tmp_path / "disk").unlink()
    assert evalpipe.mlflow.log(churn).run_id == run.info.run_id
    (run,) = mlflow.search_runs(experiment_names=["kept"], output_format="list")
    assert (run.info.status, len(client.list_artifacts(run.info.run_id, "evalpipe"))) == ("FINISHED", 4)
    assert all(len(client.get_metric_history(run.info.run_id, name)) == 1 for name in run.data.metrics)


@pytest.mark.parametrize(("options", "code", "message", "hint"), [
    ({"model": "forst"}, "unknown-model", "{folder}/results.json has no estimates of 'forst'",
     "did you mean 'forest'?"),
    ({"run_id": "0" * 32}, "unknown-run", f"MLflow has no run '{'0' * 32}'",
     "give the run_id of a run in this tracking store, or none"),
    ({"model": "forest", "registered_model": ("churn", 3)}, "unknown-version",
     "MLflow has no version '3' of a registered model 'churn'", "register it first, as mlflow.register_model does"),
    ({"registered_model": ("churn", 1)}, "several-models",
     "a registered model is one model, and {folder}/results.json has 4",
     "say by model= which it is: 'old tree', 'old tree+logistic', 'forest' or 'forest+logistic'"),
])
def test_what_is_not_there_is_told_and_nothing_is_logged(
    client: Any, churn: Path, options: dict[str, Any], code: str, message: str, hint: str
) -> None:
    client.create_registered_model("churn")
    client.create_model_version("churn", "elsewhere:/1")
    with pytest.raises(UsageError) as caught:
        evalpipe.mlflow.log(churn, **options)
    (problem,) = caught.value.problems
    assert (problem.code, problem.message, problem.hint) == (code, message.format(folder=churn), hint)
    assert client.search_runs(["0"]) == []
    assert client.get_model_version("churn", "1").tags == {}


def test_a_run_never_has_two_results(client: Any, churn: Path) -> None:
    run_id = evalpipe.mlflow.log(churn).run_id
    before = client.get_run(run_id).data
    for folder, model in ((churn.parent / "later", None), (churn, "forest")):
        with pytest.raises(UsageError) as caught:
            evalpipe.mlflow.log(folder, run_id=run_id, model=model)
        assert str(caught.value) == (
            f"error[other-results]: the run '{run_id}' of MLflow has other results, or those of another model\n"
            "  = help: log to a run of its own, such as one of mlflow.start_run(nested=True)")
    assert client.get_run(run_id).data.to_dictionary() == before.to_dictionary()
    trained = client.create_run("0").info.run_id
    client.log_metric(trained, "test/forest/accuracy", 0.5)
    with pytest.raises(UsageError, match=f"the run '{trained}' of MLflow has another value of 'test/forest/accuracy'"):
        evalpipe.mlflow.log(churn, run_id=trained)


@pytest.mark.parametrize(("models", "problems"), [
    (("a/b", "a b"), []),
    (("a/b", "a:b"), ["'data/a_b/brier_scale_half' is the name of two estimates"]),
    (("..", "★"), ["'data/../brier_scale_half' is none that MLflow takes for a metric"]),
    (("a" * 100, "b"), []),
])
def test_names_that_mlflow_cannot_tell_apart_or_take_are_refused(
    client: Any, models: tuple[str, str], problems: list[str]
) -> None:
    results = evalpipe.evaluate([1, 0, 1, 0], dict.fromkeys(models, (0.9, 0.2, 0.6, 0.4)), event=1, metrics=["brier"],
                                intervals={"method": "none"})
    if problems:
        with pytest.raises(UsageError) as caught:
            evalpipe.mlflow.log(results)
        assert [problem.message for problem in caught.value.problems] == problems
        assert client.search_runs(["0"]) == []
    else:
        logged = evalpipe.mlflow.log(results)
        assert len(client.get_run(logged.run_id).data.metrics) == len(models)


def test_a_folder_that_is_none_or_was_changed_is_told(client: Any, churn: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"error\[unreadable-file\]: cannot read .*results.json: No such file"):
        evalpipe.mlflow.log(tmp_path)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name, content in files(churn).items():
        (copy / name).write_bytes(content)
    (copy / "card.md").write_bytes(b"All is well")
    with pytest.raises(DataError, match=r"error\[changed-file\]: .*copy is not as its run left it: 'card.md'"):
        evalpipe.mlflow.log(copy)
    (copy / "card.md").unlink()
    with pytest.raises(DataError, match=r"error\[unreadable-file\]: cannot read .*card.md: No such file"):
        evalpipe.mlflow.log(copy)
    assert client.search_runs(["0"]) == []


@pytest.mark.usefixtures("client")
def test_a_server_that_is_away_is_told_without_the_password(churn: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://ann:hunter2@127.0.0.1:9")
    with pytest.raises(UsageError) as caught:
        evalpipe.mlflow.log(churn)
    assert str(caught.value).startswith("error[mlflow]: MLflow ends with: API request to ")
    assert "hunter2" not in str(caught.value)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(("missing", "uri", "message", "hint"), [
    ("mlflow", None, "evalpipe.mlflow needs the library MLflow, which is not installed",
     "pip install 'evalpipe[mlflow]'"),
    ("alembic", "sqlite:///{folder}/mlflow.db",
     "this store of MLflow needs the library alembic, which is not installed",
     "pip install alembic, or name a tracking server by MLFLOW_TRACKING_URI"),
])
def test_a_missing_library_is_named(
    churn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, uri: str | None, message: str,
    hint: str,
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    if uri is not None:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri.format(folder=tmp_path))
    with pytest.raises(UsageError) as caught:
        evalpipe.mlflow.log(churn)
    (problem,) = caught.value.problems
    assert (problem.code, problem.message, problem.hint) == ("missing-library", message, hint)


def test_mlflow_tells_nobody_that_it_is_used(churn: Path, tmp_path: Path) -> None:
    program = f"""if True:
        import os, sys
        asked = []
        out = ("socket.connect", "socket.getaddrinfo", "socket.sendto")
        sys.addaudithook(lambda event, given: asked.append(event) if event in out else None)
        import evalpipe.mlflow
        evalpipe.mlflow.log({str(churn)!r})
        print(asked, "MLFLOW_DISABLE_TELEMETRY" in os.environ)
    """
    (tmp_path / "home").mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "MLFLOW_ALLOW_FILE_STORE": "true",
                   "MLFLOW_TRACKING_URI": (tmp_path / "store").as_uri()}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("[] False\n", 0), done.stderr
    assert files(tmp_path / "home") == {}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SADeprecationWarning")  # MLflow's own, of SQLAlchemy 2.1
def test_a_database_has_the_same(
    mlflow: Any, churn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("MLFLOW_REGISTRY_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.chdir(tmp_path)
    database = mlflow.MlflowClient()
    database.create_registered_model("churn")
    database.create_model_version("churn", "elsewhere:/1")
    logged = [evalpipe.mlflow.log(churn, model="forest", registered_model=("churn", 1)) for _ in range(2)]
    assert logged[0] == logged[1]
    assert database.get_run(logged[0].run_id).data.metrics == logged[0].metrics
    assert {len(database.get_metric_history(logged[0].run_id, name)) for name in logged[0].metrics} == {1}
    assert len(mlflow.search_runs(output_format="list")) == 1
    assert database.get_model_version("churn", "1").tags["evalpipe.verdict"] == "fail"


def test_the_example_of_the_documentation_runs(
    mlflow: Any, client: Any, churn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapter = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8").partition("## MLflow\n")[2]
    (example,) = re.findall(r"```python\n(.*?)```", chapter.partition("\n## ")[0], re.DOTALL)
    monkeypatch.chdir(churn.parents[1])
    client.create_registered_model("churn")
    client.create_model_version("churn", "elsewhere:/1")
    names = {"__name__": "example"}
    exec(example, names)  # noqa: S102 - it is our own
    (run,) = mlflow.search_runs(output_format="list")
    assert run.data.tags["evalpipe.verdict"] == "fail"
    assert client.get_model_version("churn", "1").tags["evalpipe.run_id"] == run.info.run_id
    assert (tmp_path / "store").is_dir()
