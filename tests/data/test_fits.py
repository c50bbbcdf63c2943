"""Several fits of one model: a glob under `predictions`, each of whose files is matched to the rows by itself."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evalpipe.cli.plan import plan_document, print_plan
from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.data.sample import Sample
from evalpipe.errors import DataError
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.spec.load import load

ROWS = pl.DataFrame({"id": [11, 12, 13, 14], "y": ["yes", "no", "yes", "no"], "age": [30, 40, 50, 60],
                     "g": ["b", "a", "b", "a"]})
FITS = {"seed-10": [0.9, 0.2, 0.7, 0.4], "seed-02": [0.8, 0.3, 0.6, 0.5], "seed-01": [0.5, 0.5, 0.5, 0.5]}
"""By file; the first by name ties all rows of a level."""


def written(folder: Path, **changes: Any) -> dict[str, Any]:
    """Write the rows and three fits, each in another order of rows; return a spec of them."""
    ROWS.write_csv(folder / "rows.csv")
    for place, (name, chances) in enumerate(FITS.items()):
        frame = pl.DataFrame({"id": ROWS["id"], "p": chances})
        frame.sample(fraction=1, shuffle=True, seed=place).write_csv(folder / f"{name}.csv")
    return {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": "yes"}, "id": "id",
        "datasets": {"test": {"path": str(folder / "rows.csv")}},
        "models": {"m": {"predictions": str(folder / "seed-*.csv"), "probability": "p"}},
    } | changes


def samples(source: dict[str, Any]) -> tuple[Sample, ...]:
    spec = load({key: value for key, value in source.items() if value is not None})
    return read(plan(spec, look(sources(spec))))


def problems(source: dict[str, Any]) -> str:
    with pytest.raises(DataError) as caught:
        samples(source)
    return str(caught.value)


def chances(sample: Sample) -> list[list[float]]:
    """Return the probabilities of every fit, the first by name first."""
    every = [sample.models["m"], *(refit.predictions for refit in sample.refits["m"])]
    return [model.probability.tolist() for model in every if model.probability is not None]


def test_the_fits_are_in_the_order_of_their_names_and_their_rows_those_of_the_dataset(tmp_path: Path) -> None:
    (found,) = samples(written(tmp_path))
    assert found.truth.tolist() == [False, False, True, True]
    # Rows that the first fit ties are told apart by the next.
    assert chances(found) == [[0.5] * 4, [0.3, 0.5, 0.6, 0.8], [0.2, 0.4, 0.7, 0.9]]
    assert [Path(refit.file).name for refit in found.refits["m"]] == ["seed-02.csv", "seed-10.csv"]


def test_other_fits_do_not_change_the_order_of_rows_that_slices_tell_apart(tmp_path: Path) -> None:
    source = written(tmp_path, slices=["g", {"column": "age", "cuts": [45]}])
    (found,) = samples(source)
    alone = source | {"models": {"m": {"predictions": str(tmp_path / "seed-01.csv"), "probability": "p"}}}
    (single,) = samples(alone)
    for sliced, expected in zip(found.slicings, single.slicings, strict=True):
        assert sliced.codes.tolist() == expected.codes.tolist()
    assert (found.refits.keys(), single.refits.keys()) == ({"m"}, set())


def test_every_file_is_among_the_inputs_with_its_digest(tmp_path: Path) -> None:
    (found,) = samples(written(tmp_path, datasets={"test": {"path": str(tmp_path / "rows.csv"), "where": "age > 30"}}))
    names = ["rows.csv", "seed-01.csv", "seed-02.csv", "seed-10.csv"]
    assert [Path(str(file.path)).name for file in found.files] == names
    assert [file.sha256 for file in found.files] == [
        hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in names]
    assert [(file.rows, file.used_rows) for file in found.files] == [(4, 3)] * 4
    assert [matched.model for matched in found.summary.matched] == ["m"]


def test_by_position_every_file_must_agree_with_the_dataset(tmp_path: Path) -> None:
    source = written(tmp_path, id=None)
    said = problems(source)
    assert said.count("error[misaligned-rows]: the fit") == 3
    assert f"the fit {tmp_path / 'seed-02.csv'} of model 'm' for dataset 'test' is matched row by row" in said
    for name, given in FITS.items():
        pl.DataFrame({"p": given}).write_csv(tmp_path / f"{name}.csv")
    assert chances(samples(source)[0]) == [[0.5] * 4, [0.3, 0.5, 0.6, 0.8], [0.2, 0.4, 0.7, 0.9]]


def test_a_fit_without_a_row_is_named(tmp_path: Path) -> None:
    source = written(tmp_path)
    pl.DataFrame({"id": [11, 12, 13], "p": [0.1, 0.2, 1.3]}).write_csv(tmp_path / "seed-02.csv")
    assert problems(source) == f"""\
error[misaligned-rows]: 1 row has no prediction: its id is not in the fit {tmp_path / "seed-02.csv"} of model 'm' for \
dataset 'test'
 --> {tmp_path / "rows.csv"}
  |
  | row 4: '14'
  = named at the spec, models.m.predictions
  = help: predict them, or leave such rows out for every model with 'complete_case: all' at the top of the spec"""


def test_what_is_wrong_in_any_fit_is_said_of_its_file(tmp_path: Path) -> None:
    source = written(tmp_path)
    pl.DataFrame({"id": [11, 12, 13, 14], "p": [0.1, 0.2, 1.3, 0.4]}).write_csv(tmp_path / "seed-10.csv")
    assert problems(source) == f"""\
error[probability-range]: 1 value of column 'p' is not a probability from 0 to 1
 --> {tmp_path / "seed-10.csv"}
  |
  | row 3: '1.3'
  = named at the spec, models.m.probability
  = help: give the model's probability of the event"""


def test_complete_cases_are_those_of_every_fit(tmp_path: Path) -> None:
    source = written(tmp_path, complete_case="all")
    pl.DataFrame({"id": [11, 12, 13], "p": [0.1, 0.2, None]}).write_csv(tmp_path / "seed-10.csv")
    pl.DataFrame({"id": [14, 11, 13], "p": [0.1, 0.2, 0.3]}).write_csv(tmp_path / "seed-02.csv")
    (found,) = samples(source)
    assert (found.n, found.summary.excluded_incomplete, found.summary.lacking_predictions) == (1, 3, {"m": 3})


def test_fits_for_several_datasets_are_as_many(tmp_path: Path) -> None:
    ROWS.with_columns(pl.col("id") + 100).write_csv(tmp_path / "later.csv")
    for name, given in FITS.items():
        pl.DataFrame({"id": ROWS["id"] + 100, "p": given}).write_csv(tmp_path / f"later-{name}.csv")
    files = {"test": str(tmp_path / "seed-*.csv"), "later": str(tmp_path / "later-*.csv")}
    datasets = {"test": {"path": str(tmp_path / "rows.csv")}, "later": {"path": str(tmp_path / "later.csv")}}
    models = {"m": {"predictions": files, "probability": "p"}}
    first, later = samples(written(tmp_path, datasets=datasets, models=models))
    assert chances(first) == chances(later)
    (tmp_path / "later-seed-02.csv").unlink()
    said = problems(written(tmp_path, datasets=datasets, models=models)).splitlines()[0]
    assert said == (
        "error[uneven-fits]: the model 'm' has not as many fits for each dataset: 3 for 'test', 2 for 'later'")
    files["later"] = str(tmp_path / "later-seed-10.csv")
    assert "3 for 'test', 1 for 'later'" in problems(written(tmp_path, datasets=datasets, models=models))


def test_a_file_that_is_called_as_a_pattern_is_a_single_fit(tmp_path: Path) -> None:
    source = written(tmp_path, models={"m": {"predictions": str(tmp_path / "fit[1].csv"), "probability": "p"}})
    (tmp_path / "seed-10.csv").rename(tmp_path / "fit[1].csv")
    (found,) = samples(source)
    assert found.refits == {}


def test_the_plan_says_how_many_fits_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = written(tmp_path)
    spec = load(source)
    planned = plan_document(plan(spec, look(sources(spec))))
    (dataset,) = planned["datasets"]
    # Four rows, 2,000 replicates and the value itself, for the card and for each of the three fits.
    assert planned["cost"] == 4 * 2001 * (1 + 3)
    names = [str(tmp_path / f"seed-{number}.csv") for number in ("01", "02", "10")]
    assert (dataset["predictions"]["m"]["fits"], dataset["predictions"]["m"]["files"]) == (3, names)
    print_plan(source, (), None, "text")  # type: ignore[arg-type]  # a mapping is a spec as well as a path is
    assert f"  reads p, id of 3 fits of m from {', '.join(names)}, rows matched by id id\n" in capsys.readouterr().out


def test_fits_of_levels_and_of_numbers_are_read_too(tmp_path: Path) -> None:
    source = written(tmp_path)
    for number, said in enumerate((["yes"] * 4, ["no", "no", "yes", "no"]), 1):
        pl.DataFrame({"id": ROWS["id"], "said": said, "n": [1.5, 2.5, 3.5, number]}).write_csv(
            tmp_path / f"other-{number}.csv")
    pattern = str(tmp_path / "other-?.csv")
    levels = {"column": "y", "levels": ["yes", "no"]}
    (several,) = samples(source | {"task": "multiclass", "outcome": levels, "models": {
        "m": {"predictions": pattern, "prediction": "said"}}})
    (refit,) = several.refits["m"]
    assert several.models["m"].predicted is not None
    assert several.models["m"].predicted.tolist() == [0, 0, 0, 0]
    assert refit.predictions.predicted is not None
    assert refit.predictions.predicted.tolist() == [0, 1, 1, 1]
    (number,) = samples(source | {"task": "regression", "outcome": {"column": "age"}, "models": {
        "m": {"predictions": pattern, "prediction": "n"}}})
    assert number.refits["m"][0].predictions.predicted is not None
    assert number.refits["m"][0].predictions.predicted.tolist() == [1.5, 2.5, 3.5, 2.0]
