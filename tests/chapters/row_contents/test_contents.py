"""What the rows hold: copies, rows of training, shared values, groups and ids that nobody named, and what is silent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.cli import main
from evalpipe.results import Results
from findings.planted import BINARY, Frames, amounts, binary, events, expit, spec_of

NONE: dict[str, Any] = {
    "metrics": ["brier"], "intervals": {"method": "none"}, "calibration": {"smoother": "logistic"}}
CODES = {"training-contents", "rows-repeated", "groups-undeclared", "clusters-undeclared", "value-shared"}


def run(frames: pl.DataFrame | Frames, **keys: Any) -> Results:
    frames = frames if isinstance(frames, dict) else {"d": frames}
    return evalpipe.run(spec_of(frames, "binary", BINARY, **NONE | keys), frames=frames)


def said(results: Results) -> list[str]:
    return [finding.text for finding in results.findings if finding.code in CODES]


def reason(results: Results, code: str) -> str | None:
    check = next(check for check in results.checks if check.code == code)
    return None if check.reason is None else check.reason.code


def written(frame: pl.DataFrame, path: Path) -> str:
    (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(path)
    return path.name


def of_files(folder: Path, evaluated: str, reference: str | None = None, **keys: Any) -> dict[str, Any]:
    datasets: dict[str, Any] = {"d": {"path": str(folder / evaluated)}}
    if reference is not None:
        datasets["reference"] = {"path": str(folder / reference), "role": "reference"}
    return spec_of({}, "binary", BINARY, datasets=datasets, id="id", **NONE | keys)


def leaked(n: int = 600, share: float = 0.5) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return evaluated rows, and rows of training of which a share are the same under other ids."""
    frame, past = events(1, n), events(2, n).drop("p")
    count = round(share * n)
    return frame, pl.concat([past.head(n - count), frame.drop("p").head(count)]).with_columns(
        id=pl.int_range(10**6, 10**6 + n))


@pytest.mark.parametrize("mode", ["exact", "grid"])
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_rows_of_training_are_known_by_their_contents_held_or_not(tmp_path: Path, mode: str, suffix: str) -> None:
    frame, past = leaked()
    evaluated, reference = written(frame, tmp_path / f"d.{suffix}"), written(past, tmp_path / f"past.{suffix}")
    results = evalpipe.run(of_files(tmp_path, evaluated, reference, engine={"mode": mode}))
    (row,) = results.shared_contents
    assert (row.twins, row.rows, row.verdict) == (300, 600, "shared")
    assert [text for text in said(results) if "300 of 600 rows of d (50.0%) are also in reference" in text]
    assert not [finding for finding in results.findings if finding.code == "rows-shared"]


def test_a_number_is_the_same_in_a_file_of_text(tmp_path: Path) -> None:
    frame, past = leaked()
    evaluated = written(frame.with_columns(pl.col("x").cast(pl.Float64)), tmp_path / "d.parquet")
    results = evalpipe.run(of_files(tmp_path, evaluated, written(past, tmp_path / "past.csv")))
    assert results.shared_contents[0].twins == 300


@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_rows_that_are_alike_by_chance_are_not_taken_for_those_of_training(tmp_path: Path, mode: str) -> None:
    def grid(seed: int) -> pl.DataFrame:
        x = np.random.default_rng(seed).integers(0, 200, 600)
        return events(seed).with_columns(x=x / 10, p=expit(x / 100 - 1))

    evaluated, past = written(grid(1), tmp_path / "d.parquet"), written(grid(2).drop("p"), tmp_path / "past.parquet")
    assert evalpipe.run(of_files(tmp_path, evaluated, past, engine={"mode": mode})).shared_contents == []


def test_what_was_compared_by_contents_is_said_where_no_row_is_shared() -> None:
    results = run({"d": events(1), "reference": events(2).drop("p")}, id="id")
    text = ("No evaluated row is also in reference (compared by the column id; in 4 further columns no more rows agree "
            "than by chance).")
    assert text in [finding.text for finding in results.findings]


def test_columns_in_which_each_row_has_another_name_are_ids_and_not_compared() -> None:
    frame, past = leaked()
    named = [side.with_columns(name=pl.format(f"{which}-{{}}", pl.int_range(600)))
             for which, side in (("a", frame), ("b", past))]
    assert run({"d": named[0], "reference": named[1]}, id="id").shared_contents[0].columns == ["x", "y", "g", "h"]


def half_missing(rng: np.random.Generator) -> Frames:
    """Return rows of which a tenth lack both measured numbers, and are else alike."""
    x, n = rng.normal(0, 1, 1000), 1000
    lacks = rng.random(n) < 0.1
    numbers = [np.where(lacks, np.nan, values) for values in (x, rng.normal(50, 9, n))]
    p = np.round(expit(np.where(lacks, -1, x)), 1)
    return {"d": pl.DataFrame({"y": (rng.random(n) < p).astype(int), "p": p, "id": np.arange(n),
                               "urea": numbers[0], "weight": numbers[1], "sex": rng.integers(0, 2, n)})}


def often_nothing(rng: np.random.Generator) -> Frames:
    """Return rows with two amounts that are both 0 in a twentieth of them."""
    n, is_zero = 1000, rng.random(1000) < 0.05
    amounts = [np.where(is_zero, 0.0, np.exp(rng.normal(3, 1, n))) for _ in range(2)]
    p = np.where(is_zero, 0.1, 0.3)
    return {"d": pl.DataFrame({"y": (rng.random(n) < p).astype(int), "p": p, "id": np.arange(n), "paid": amounts[0],
                               "due": amounts[1]})}


def few_values(rng: np.random.Generator, n: int = 1000) -> Frames:
    """Return rows with a rare event and a score that columns of few values give."""
    a, b = rng.integers(0, 4, n), rng.integers(0, 4, n)
    p = 0.004 * (1 + a) + 0.002 * b
    return {"d": pl.DataFrame({"y": (rng.random(n) < p).astype(int), "p": p, "id": np.arange(n), "a": a, "b": b})}


def without_duplicates(rng: np.random.Generator) -> Frames:
    """Return evaluated rows and rows of training of one population, from each of which duplicates were dropped."""
    frames = few_values(rng, 4000)["d"].with_columns(c=pl.Series(rng.integers(0, 100, 4000) / 2))
    d, reference = (part.unique(["y", "a", "b", "c"], keep="first", maintain_order=True) for part in (
        frames.head(2000), frames.tail(2000)))
    return {"d": d, "reference": reference.drop("p")}


def known_code(rng: np.random.Generator) -> Frames:
    """Return independent rows of a code whose effect on a rare event the model knows: few codes hold all events."""
    n, code = 300, rng.integers(0, 60, 300)
    p = expit(rng.normal(-5.5, 2, 60))[code]
    return {"d": pl.DataFrame({"y": (rng.random(n) < p).astype(int), "p": p, "id": np.arange(n), "code": code})}


def no_event(rng: np.random.Generator) -> Frames:
    """Return rows without an event, of groups whose risk differs."""
    group = rng.integers(0, 3, 200)
    p = np.array([0.0001, 0.01, 0.08])[group] * rng.uniform(0.9, 1.1, 200)
    y = np.zeros(200, int)
    y[np.argmax(p)] = 1
    return {"d": pl.DataFrame({"y": y, "p": p, "id": np.arange(200), "g": group})}


def no_event_of_a_code(rng: np.random.Generator) -> Frames:
    """Return rows of a code that the model knows, of which a single one is an event."""
    code = rng.integers(0, 40, 200)
    p = expit(rng.normal(-5, 1.2, 40))[code]
    return {"d": pl.DataFrame({"y": (np.arange(200) == 7).astype(int), "p": p, "id": np.arange(200), "code": code})}


CLEAN = {make.__name__: make for make in (
    half_missing, often_nothing, few_values, without_duplicates, known_code, no_event_of_a_code, no_event)}


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("seed", [1, 2])
def test_clean_rows_of_an_unusual_kind_have_no_fault(name: str, seed: int) -> None:
    results = run(CLEAN[name](np.random.default_rng(seed)), id="id")
    assert [finding.text for finding in results.findings if finding.code in CODES and finding.kind == "fails"] == []


def test_the_errors_of_counts_grow_with_them_and_are_no_failure() -> None:
    rng = np.random.default_rng(9)
    p = rng.gamma(1, 2, 3000) + 0.1
    frames = {"d": pl.DataFrame({"y": rng.poisson(p), "p": p, "g": np.digitize(p, [1, 3])})}
    results = evalpipe.run(spec_of(frames, "count", {"p": {"prediction": "p"}}, intervals={"method": "none"}),
                           frames=frames)
    assert results.undeclared_groups == []


def test_a_copy_has_measured_numbers_that_no_other_row_has() -> None:
    rng = np.random.default_rng(3)
    frame = events(3, 900).with_columns(age=pl.Series(rng.normal(50, 9, 900)))
    again = frame.head(120).with_columns(id=pl.int_range(10**6, 10**6 + 120))
    (row,) = run(pl.concat([frame, again, again.with_columns(id=pl.col("id") * 2)]), id="id").copies
    assert (row.copies, row.n) == (240, 1140)
    (coarse,) = (pl.concat([rows, rows.with_columns(id=pl.col("id") + 10**6)]) for rows in [frame.drop("age")])
    assert run(coarse, id="id").copies == []


@pytest.mark.parametrize(("ordered", "many"), [(False, 1), (True, 0)])
def test_a_number_whose_neighbours_are_as_alike_as_its_rows_is_no_id(*, ordered: bool, many: int) -> None:
    rng, frame = np.random.default_rng(5), events(5, 1200)
    patient = rng.integers(0, 100, 1200)
    effect = (patient - 50) / 20 if ordered else rng.normal(0, 1.5, 100)[patient]
    y = rng.random(1200) < expit(frame["x"].to_numpy() + effect)
    results = run(frame.with_columns(y=pl.Series(y).cast(int), patient=patient))
    assert [row.column for row in results.undeclared_clusters] == ["patient"] * many


def test_the_interval_of_the_mean_residual_is_as_much_wider_with_clusters_as_is_said() -> None:
    rng, frame = np.random.default_rng(6), events(6, 2000)
    patient = rng.integers(0, 200, 2000)
    y = rng.random(2000) < expit(frame["x"].to_numpy() + rng.normal(0, 1.5, 200)[patient])
    frame = frame.with_columns(y=pl.Series(y).cast(int), patient=patient)
    keys: dict[str, Any] = {"metrics": ["calibration_in_the_large"], "intervals": {"replicates": 300, "bands": False}}
    plain, clustered = run(frame, **keys), run(frame, cluster="patient", **keys)
    (row,) = plain.undeclared_clusters
    assert (row.ids, row.rows) == (200, 2000)
    widths = [(results.rows[0].upper or 0) - (results.rows[0].lower or 0) for results in (plain, clustered)]
    assert row.wider == pytest.approx(widths[1] / widths[0], rel=0.2)
    assert reason(clustered, "clusters-undeclared") == "cluster-declared"


def test_a_bad_group_of_numbers_is_seen_by_its_mean() -> None:
    frame = amounts(7, 1500)
    frame = frame.with_columns(p=pl.when(pl.col("g") == "b").then(pl.col("p") + 3).otherwise(pl.col("p")))
    frames = {"d": frame}
    results = evalpipe.run(spec_of(frames, "regression", {"p": {"prediction": "p"}}, intervals={"method": "none"}),
                           frames=frames)
    (row,) = results.undeclared_groups
    assert (row.column, row.kind, row.groups, row.rows) == ("g", "mean", 3, frame.filter(g="b").height)
    assert row.value == pytest.approx(frame.filter(g="b")["y"].mean())
    assert row.expected == pytest.approx(frame.filter(g="b")["p"].mean())


def test_no_level_of_a_column_is_written() -> None:
    planted = binary(events(8, 1200), ("fails", "dataset-1", ()))
    frame = planted.frames["d"].with_columns(region=pl.when(pl.col("g") == "c").then(pl.lit("secret")).otherwise("g"))
    p = np.where(frame["region"] == "secret", 1 - frame["p"].to_numpy(), frame["p"])
    results = run(frame.with_columns(p=p))
    assert "region" in [row.column for row in results.undeclared_groups]
    assert "secret" not in results.to_json()


@pytest.mark.parametrize("n", [40, 100, 400])
def test_a_forest_of_few_scores_has_no_default(n: int) -> None:
    rng = np.random.default_rng(n)
    p = rng.binomial(n, expit(rng.normal(-2, 2, 900))) / n
    assert run(pl.DataFrame({"y": (rng.random(900) < p).astype(int), "p": p})).shared_values == []


@pytest.mark.parametrize("kind", [
    pl.Duration("ms"), pl.Time(), pl.Datetime("us", "UTC"), pl.Date(), pl.Decimal(10, 2), pl.Categorical(),
    pl.Boolean(), pl.UInt64(), pl.Float32(), pl.Binary(), pl.List(pl.Int64), pl.Null()])
def test_columns_of_any_type_are_looked_at_or_passed_over(kind: Any) -> None:
    """An undeclared column stops no run."""
    numbers = pl.int_range(600, eager=True) % 7
    odd = {pl.Null: pl.Series([None] * 600), pl.List: pl.Series([[1, 2]] * 600), pl.Binary: numbers.cast(
        pl.String).cast(pl.Binary), pl.Categorical: numbers.cast(pl.String).cast(pl.Categorical),
        pl.Boolean: numbers > 3}
    column = odd.get(kind.base_type())
    frame = events(14).with_columns((numbers.cast(kind) if column is None else column).alias("extra"))
    results = run({"d": frame, "reference": frame.drop("p").with_columns(id=pl.col("id") + 10**6)}, id="id")
    assert results.shared_contents[0].twins == 600


def test_a_column_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    first, second = events(9).with_columns(extra=pl.lit(1)), events(10).with_columns(extra=pl.lit("a"))
    folder = tmp_path / "parts"
    folder.mkdir()
    written(first, folder / "1.parquet")
    written(second, folder / "2.parquet")
    results = evalpipe.run(of_files(tmp_path, "parts"))
    assert [row.holds for row in results.looked_at] == [["groups"]]


def test_nothing_more_is_read_where_the_memory_is_limited(tmp_path: Path) -> None:
    written(events(11), tmp_path / "d.parquet")
    results = evalpipe.run(of_files(tmp_path, "d.parquet", engine={"memory": "1GB"}))
    assert results.looked_at == []
    assert reason(results, "groups-undeclared") == "no-further-columns"


def test_columns_beyond_the_most_are_counted_and_not_read() -> None:
    frame = events(12, 300).with_columns(pl.lit(i).alias(f"c{i}") for i in range(60))
    (row,) = run(frame).looked_at
    assert row.unseen == 14


def two_faults(seed: int) -> Frames:
    """Return rows of which half are in training under other ids, and of which a group fails that nobody sliced by."""
    frame, past = leaked(1200)
    noise = np.random.default_rng(seed).normal(0, 4, 1200)
    p = np.where(frame["g"] == "c", expit(noise), frame["p"])
    return {"d": frame.with_columns(p=p), "reference": past}


def test_two_faults_at_once_are_both_in_the_first_three_lines() -> None:
    frames = two_faults(13)
    results = evalpipe.run(spec_of(frames, "binary", BINARY, id="id", metrics=["brier"]), frames=frames)
    first = [finding.code for finding in results.findings[:3]]
    assert {"training-contents", "groups-undeclared"} <= set(first), first
    page = evalpipe.render(results, ["markdown"])["card.md"].decode()
    lines = [line for line in page.partition('id="verdict"')[2].splitlines() if line.startswith("- ")][:3]
    for words in ("are also in reference under other ids", "which no slice names"):
        assert len([line for line in lines if words in line]) == 1, lines


def test_the_plan_names_the_columns_that_checks_look_at(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(root / "configs" / "slices.yaml")
    with pytest.raises(SystemExit):
        main(["plan", config])
    text = capsys.readouterr().out
    assert "checks look at further columns of training: 'age', 'gender', 'class' and 1 more\n" in text
    with pytest.raises(SystemExit):
        main(["plan", config, "--format", "json"])
    training = json.loads(capsys.readouterr().out)["further_columns"]["training"]
    assert training["columns"][:3] == ["age", "gender", "class"]
    assert (len(training["columns"]), training["unseen"]) == (4, 0)
