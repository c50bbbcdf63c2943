"""Runs of scores of items are traced, compared and verified like all others."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from evalpipe.cli.app import app
from evalpipe.run import run

ITEMS = 40
SPEC = {
    "evalpipe": 1, "name": "scores", "task": "score", "score": {"better": "higher", "range": [0, 1]}, "item": "q",
    "models": {"a": {"score": "right"}}, "metrics": ["mean", "flip_rate", {"metric": "pass_all", "k": 2}],
    "epoch": "run", "intervals": {"replicates": 100}, "report": {"formats": [], "rows": "csv"}, "ledger": False}


@pytest.fixture(scope="module")
def outs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the folders of two runs on the same items, of which the second gets fewer right."""
    folder = tmp_path_factory.mktemp("scores")
    outs = []
    for name, step in (("first", 7), ("second", 3)):
        epochs = range(2 * ITEMS)
        pl.DataFrame({
            "q": [f"q{number // 2:02}" for number in epochs], "run": [1, 2] * ITEMS,
            "right": [int(number % step > 0) for number in epochs]}).write_csv(folder / f"{name}.csv")
        run(SPEC | {"datasets": {"bench": {"path": str(folder / f"{name}.csv")}}}, out=folder / name)
        outs.append(folder / name)
    return outs[0], outs[1]


def printed(*words: str) -> str:
    return CliRunner().invoke(app, words).output


def test_a_mean_is_traced_to_the_item_its_epochs_and_the_column(outs: tuple[Path, Path]) -> None:
    text = printed("show", str(outs[0]), "mean")
    assert "score right; item q; epoch run" in text
    assert f"bench: {ITEMS} rows read, {ITEMS} observations used" in text
    assert f"{2 * ITEMS} rows, {2 * ITEMS} used" in text


def test_the_row_file_has_an_item_in_each_row(outs: tuple[Path, Path]) -> None:
    rows = pl.read_csv(outs[0] / "rows.csv")
    assert rows.columns == ["id", "dataset", "model", "variant", "score", "epochs", "successes", "wins", "weight"]
    assert rows["id"].n_unique() == rows.height == ITEMS
    assert rows["score"].to_list() == (rows["successes"] / rows["epochs"]).to_list()


def test_two_runs_differ_by_a_paired_difference_of_means_alone(outs: tuple[Path, Path]) -> None:
    document = json.loads(printed("diff", str(outs[0]), str(outs[1]), "--format", "json"))
    paired = {row["metric"]: row["paired"] is not None for row in document["estimates"]}
    assert paired == {"mean": True, "flip_rate": False, "pass_all": False}
    text = printed("diff", str(outs[0]), str(outs[1]))
    assert "pass_all needs to know which score is a success" in " ".join(text.split())


def test_a_run_is_verified_from_its_folder(outs: tuple[Path, Path]) -> None:
    assert "0 differ" in printed("verify", str(outs[0]), "--recompute")
