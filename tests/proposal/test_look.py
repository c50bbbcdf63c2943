"""How separated text is written, what of the rows is looked at, and what that says of a column."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from evalpipe.errors import DataError, UsageError
from evalpipe.proposal.columns import look_at_datasets
from evalpipe.proposal.propose import Proposal, propose
from evalpipe.proposal.questions import Answers, Question
from evalpipe.proposal.spec_file import spec_text, try_spec
from evalpipe.run import read_all


def proposed(path: Path, limit: int = 100_000, **answers: object) -> tuple[Proposal, str]:
    proposal = propose(look_at_datasets([str(path)], limit), Answers(**answers))  # type: ignore[arg-type]
    assert isinstance(proposal, Proposal), proposal
    target = str(path.with_name("spec.yaml"))
    text = spec_text(proposal, target)
    try_spec(text, target)
    return proposal, text


@pytest.mark.parametrize(("name", "text", "written"), [
    ("a.csv", "y,p\n1,0.5\n0,0.25\n", None),
    ("a.csv", "y;p\n1;0.5\n0;0.25\n", '{separator: ";"}'),
    ("a.csv", "y;p\n1;0,5\n0;0,25\n", '{separator: ";", decimal: ","}'),
    ("a.csv", "y|p\n1|0.5\n0|0.25\n", '{separator: "|"}'),
    ("a.csv", "y\tp\n1\t0,5\n0\t0,25\n", '{separator: "\\t", decimal: ","}'),
    ("a.tsv", "y\tp\n1\t0.5\n0\t0.25\n", None),
    ("a.tsv", "y,p\n1,0.5\n0,0.25\n", '{separator: ","}'),
    ("a.csv.gz", "y;p;t\n1;0,5;a\n0;0,25;b,c\n", '{separator: ";", decimal: ","}'),
    ("a.csv", 'y;p;"a;b"\n1;0,5;"x\ny"\n0;0,25;z\n', '{separator: ";", decimal: ","}'),
    ("a.csv", "\ufeffy;p\r\n1;0.5\r\n0;0.25\r\n", '{separator: ";"}'),
    ("a.csv", "y;p\n1;0.5\n0;NA\n0;0.25\n", '{separator: ";", null: {p: [NA]}}'),
    ("a.csv", "y,p\n1,0.5\n0,0.25\n\n1,.\n", '{null: {p: ["."]}}'),
    ("a.csv", 'y,p\n1,"0,5"\n0,"0,25"\n', '{decimal: ","}'),
    ("a.csv", 'y,p,x\n1,"37,7 %","1,234"\n0,4 %,"2,500"\n', '{decimal: ","}'),
    ("a.csv", 'y,p,x,z\n1,0.5,"1,234","1,234"\n0,0.25,"2,500","12,500"\n', None),
    ("a.csv", "y;p\n1;37,7 %\n0;4%\n", '{separator: ";", decimal: ","}'),
    ("a.tsv", "y\tp\n1\t37,7 %\n0\tNA\n0\t3,1 %\n", '{decimal: ",", null: {p: [NA]}}'),
])
def test_how_text_is_separated(tmp_path: Path, name: str, text: str, written: str | None) -> None:
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    spec = proposed(tmp_path / name, event="1")[1]
    assert (f"    csv: {written}  #" in spec) if written else "csv:" not in spec


def rows(count: int, **columns: object) -> pl.DataFrame:
    at = np.arange(count)
    return pl.DataFrame({"y": np.where(at % 3 == 0, "yes", "no"), "p": (at % 10 + 0.5) / 10, "row_id": at, **columns})


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather", "a.ndjson"])
def test_the_columns_that_a_spec_names_are_looked_at_in_all_rows(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    frame = rows(90, other=np.arange(90) // 20 * 1.5)
    write = {"csv": frame.write_csv, "parquet": frame.write_parquet, "feather": frame.write_ipc,
             "ndjson": frame.write_ndjson}[path.suffix[1:]]
    write(path)
    proposal, text = proposed(path, 20, event="yes")
    assert proposal.outcome.column.levels == {"no": 60, "yes": 30}
    assert "# your answer: 30 of 90 rows" in text
    assert "id: row_id  # a different value in each of 90 rows" in text
    assert "  - other" not in text


def test_an_id_of_the_first_rows_alone_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows(90).with_columns(pl.col("row_id") % 40).write_parquet(path)
    proposal, text = proposed(path, 20, event="yes")
    assert proposal.others.id is None
    assert "# cluster: row_id  # 40 values in the first 20 rows: " in text


def test_a_question_on_the_first_rows_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows(90).write_parquet(path)
    question = propose(look_at_datasets([str(path)], 20), Answers())
    assert isinstance(question, Question)
    assert question.known == "in the first 20 rows the outcome 'y' has 2 levels"


def test_a_level_of_later_rows_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows(90).with_columns(y=pl.when(pl.col("row_id") == 80).then(pl.lit("?")).otherwise("y")).write_parquet(path)
    with pytest.raises(UsageError, match="'y' cannot be of the task binary: it has 3 levels, '\\?', 'no' and 'yes'"):
        proposed(path, 20, event="yes")


def test_missing_values_are_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    at = pl.col("row_id")
    frame = rows(90).with_columns(y=pl.when(at % 9 == 0).then(None).otherwise("y"),
                                  p=pl.when(at % 20 == 1).then(None).otherwise("p"))
    frame.write_csv(path, null_value="NA")
    proposal, text = proposed(path, event="yes")
    assert proposal.notes == ("10 rows without a value of 'y' ('NA'): left out by 'where'",)
    assert "complete_case: all  # 5 rows without p: left out, and counted on the card" in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "csv: {null: {y: [NA], p: [NA]}} # how the file is written; null: what counts as missing" in lines
    assert "where: '\"y\" IS NOT NULL' # 10 rows without an outcome" in lines


def test_eight_columns_are_proposed_for_slices_and_the_others_are_named(tmp_path: Path) -> None:
    at = np.arange(90)
    columns = {f"group_{number}": np.array(["u", "v", "w"])[(at + number) % 3] for number in range(10)}
    rows(90, **columns).write_csv(tmp_path / "a.csv")
    lines = [" ".join(line.split()) for line in proposed(tmp_path / "a.csv", event="yes")[1].splitlines()]
    assert [line for line in lines if line.startswith("# - group")] == [
        f"# - group_{number} # 3 levels" for number in range(8)]
    assert any("group_8" in line and "group_9" in line for line in lines)


def test_a_code_is_missing_where_the_spec_declares_it_and_a_level_elsewhere(tmp_path: Path) -> None:
    at = np.arange(90)
    frame = rows(90, country=np.array(["NA", "US", "FR"])[at % 3], sex=np.array(["f", "m", "NA"])[at % 3])
    frame.with_columns(p=pl.when(pl.col("row_id") == 4).then(None).otherwise("p")).write_csv(
        tmp_path / "a.csv", null_value="NA")
    text = proposed(tmp_path / "a.csv", event="yes")[1]
    assert "csv: {null: {p: [NA]}}" in text
    assert "#   - country  # 3 levels\n#   - sex      # 3 levels" in text
    sliced = text.replace("# slices:", "slices:").replace("#   - ", "  - ")
    sample, = read_all(try_spec(sliced, str(tmp_path / "spec.yaml")))[0]
    found = {name: [part[name] for part in slicing.labels] for slicing in sample.slicings
             for name in slicing.labels[0]}
    assert found == {"country": ["FR", "NA", "US"], "sex": ["NA", "f", "m"]}


@pytest.mark.parametrize(
    ("levels", "task"), [(["yes", "no", "NA"], "binary"), (["US", "FR", "DE", "NA"], "multiclass")])
def test_a_code_is_missing_beside_two_levels_and_one_of_more(tmp_path: Path, levels: list[str], task: str) -> None:
    truth = np.array(levels)[np.arange(60) % len(levels)]
    pl.DataFrame({"truth": truth, "pred": truth[::-1]}).write_csv(tmp_path / "a.csv")
    proposal, text = proposed(tmp_path / "a.csv", event="yes" if task == "binary" else None)
    assert proposal.outcome.task == task
    assert ("null: {truth: [NA], pred: [NA]}" in text) == (task == "binary")
    assert ("levels: [DE, FR, NA, US]" in text) == (task == "multiclass")


def test_several_files_are_datasets_of_their_shared_columns(tmp_path: Path) -> None:
    rows(30, extra=1).write_csv(tmp_path / "a.csv")
    rows(30).write_parquet(tmp_path / "b [1].parquet")
    looked = look_at_datasets([str(tmp_path / "a.csv"), str(tmp_path / "b [1].parquet")])
    assert [dataset.name for dataset in looked.datasets] == ["a", "b 1"]
    assert list(looked.columns) == ["y", "p", "row_id"]
    proposal = propose(looked, Answers(event="yes"))
    assert isinstance(proposal, Proposal)
    text = spec_text(proposal, str(tmp_path / "spec.yaml"))
    assert "id: row_id  # a different value in each of 60 rows" in text
    assert len(try_spec(text, str(tmp_path / "spec.yaml")).datasets) == 2


def test_files_without_a_shared_column(tmp_path: Path) -> None:
    rows(3).write_csv(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("x,z\n1,2\n")
    with pytest.raises(DataError, match="have no column in common"):
        look_at_datasets([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])


def test_columns_of_any_type_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = rows(
        6, lists=[[1]] * 6, pairs=[{"a": 1}] * 6, nothing=[None] * 6, truth=[True, False] * 3, code=["01", "02"] * 3,
        same=["k"] * 6, far=[1.0, float("inf")] * 3, day=["2024-01-01"] * 6)
    frame.with_columns(pl.col("day").str.to_date(), price=pl.col("row_id").cast(pl.Decimal(10, 2))).write_parquet(path)
    kinds = {name: look.kind for name, look in look_at_datasets([str(path)]).columns.items()}
    assert kinds == {
        "y": "text", "p": "number", "row_id": "number", "lists": "list", "pairs": "nested", "nothing": "empty",
        "truth": "boolean", "code": "text", "same": "text", "far": "number", "day": "date", "price": "number"}
