"""Items whose text is also in a reference dataset are counted, named, and taken out of the mean scores."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from data.logs.written_logs import header, sample, zipped
from evalpipe.data import leaks
from evalpipe.errors import DataError
from evalpipe.results import Results
from evalpipe.run import load, plan, render, run

WORDS = np.array([first + second + "e" for first in "bcdfgh" for second in ("al", "em", "ir", "on", "us")])
N = 40
CHANCE = np.random.default_rng(13)


def text_of(words: int = 30, of: np.ndarray = WORDS) -> str:
    return " ".join(CHANCE.choice(of, words).tolist())


QUESTIONS = [text_of() for _ in range(N)]
"""Texts that share no run of 13 words."""


def items(texts: list[str | None] | None = None) -> pl.DataFrame:
    return pl.DataFrame({
        "q": [f"q{number:02}" for number in range(N)], "question": QUESTIONS if texts is None else texts,
        "a": [float(number < 10) for number in range(N)], "b": [float(number % 2) for number in range(N)]})


def spec(**keys: Any) -> dict[str, Any]:
    return {
        "evalpipe": 1, "name": "leaks", "task": "score", "score": {"better": "higher", "range": [0, 1]}, "item": "q",
        "text": "question", "datasets": {"bench": {"path": "memory"}, "train": {"path": "memory", "role": "reference"}},
        "models": {"a": {"score": "a"}, "b": {"score": "b"}}, "metrics": ["mean"], "intervals": {"replicates": 100},
        "report": {"formats": []}} | keys


def results_of(train: list[str | None], texts: list[str | None] | None = None, **keys: Any) -> Results:
    return run(spec(**keys), frames={"bench": items(texts), "train": pl.DataFrame({"question": train})})


def leaked(train: list[str | None], texts: list[str | None] | None = None, **keys: Any) -> tuple[int, list[str]]:
    """Return how many items have the same text as one of training, and the names of all that are leaked."""
    (row,) = results_of(train, texts, **keys).leaked_items
    assert row.leaked == len(row.names)
    return row.same, row.names


def check(results: Results) -> tuple[str, list[str]]:
    """Return the verdict of the check and what it finds."""
    (verdict,) = (made.outcome for made in results.checks if made.code == "items-leaked")
    return verdict, [made.text for made in results.findings if made.code == "items-leaked"]


def card(results: Results) -> str:
    return render(results, ["markdown"])["card.md"].decode()


def test_planted_leaks_are_counted_named_and_left_out() -> None:
    results = results_of([QUESTIONS[3], QUESTIONS[7], f"See {QUESTIONS[20]} for more", "other words"])
    (row,) = results.leaked_items
    assert (row.dataset, row.other, row.items, row.without_text) == ("bench", "train", 40, 0)
    assert (row.same, row.leaked) == (2, 3)
    assert row.names == ["q03", "q07", "q20"]
    assert row.means == {"a": 10 / 40, "b": 20 / 40}
    assert row.means_without == {"a": 8 / 37, "b": 18 / 37}
    assert check(results) == ("fails", ["The text of 3 of 40 items of bench (7.5%) is also in train."])
    assert ("The text of 3 of 40 items of bench (7.5%) is also in train: 2 whole, 1 by 13 words in a row. "
            "It is that of q03, q07 and q20.") in card(results)
    assert "| a | 0.250 | 0.216 |" in card(results)
    assert "the text of some is in train" in card(results)
    assert "none is in train" not in card(results)


def test_without_a_leak_the_check_passes() -> None:
    results = results_of([text_of(100) for _ in range(50)])
    assert (results.leaked_items[0].leaked, results.leaked_items[0].names) == (0, [])
    assert check(results) == ("clear", [])
    assert not any("was looked for in training" in made.text for made in results.findings)
    assert "none is in train" in card(results)


VARIANTS = {
    "case": str.upper, "spaces": lambda text: f"  {text.replace(' ', chr(10) + chr(9))} ",
    "punctuation": lambda text: f"“{text.replace(' ', ', ')}”?!",
    "no-break space": lambda text: text.replace(" ", "\xa0"),
    "full width": lambda text: "".join(chr(ord(letter) + 0xFEE0) if letter != " " else letter for letter in text),
}


@pytest.mark.parametrize("vary", VARIANTS.values(), ids=VARIANTS)
def test_variants_of_a_text_are_the_same(vary: Any) -> None:
    assert leaked([vary(QUESTIONS[5]), vary(f"{QUESTIONS[6]} and more")]) == (1, ["q05", "q06"])


def test_letters_are_compared_without_case_in_every_script() -> None:
    texts = [*QUESTIONS[:-2], "Die STRASSE von Ångström", "ΟΔΟΣ"]
    assert leaked(["die straße von A\u030angstro\u0308m", "οδος"], texts) == (2, ["q38", "q39"])


def test_a_paraphrase_is_not_found() -> None:
    words = QUESTIONS[5].split()
    every_twelfth = " ".join("other" if number % 13 == 12 else word for number, word in enumerate(words))
    turned = " ".join(reversed(QUESTIONS[6].split()))
    assert leaked([every_twelfth, turned, QUESTIONS[7].replace(" ", "")]) == (0, [])


@pytest.mark.parametrize(("words", "names"), [(12, []), (13, ["q05"])])
def test_a_run_has_13_words(words: int, names: list[str]) -> None:
    run_of_words = " ".join(QUESTIONS[5].split()[4:4 + words])
    assert leaked([f"before {run_of_words} after"]) == (0, names)
    assert leaked([run_of_words]) == (0, names)


def test_no_run_goes_from_one_text_into_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    half = QUESTIONS[5].split()
    parts: list[str | None] = [" ".join(half[:8]), " ".join(half[8:20]), None, " ".join(half[20:])]
    for at_once in (1, 2, 5_000):
        monkeypatch.setattr(leaks, "AT_ONCE", at_once)
        assert leaked(parts) == (0, [])
        assert leaked([*parts, QUESTIONS[6], "", QUESTIONS[7]]) == (2, ["q06", "q07"])


def test_short_texts_are_found_where_they_are_the_same() -> None:
    texts = [*QUESTIONS[:-2], "What is 2 + 2?", "What is 2 < 3?"]
    assert leaked(["what is 2 = 2", "We ask: what is 2+2?"], texts) == (0, [])
    assert leaked(["WHAT IS 2+2"], texts) == (1, ["q38"])


def test_a_run_that_many_items_have_is_of_their_prompt() -> None:
    prompt = " ".join(reversed(WORDS[:20]))
    for many, names in ((10, [f"q{number:02}" for number in range(10)]), (11, [])):
        texts = [f"{prompt} {text}" if number < many else text for number, text in enumerate(QUESTIONS)]
        assert leaked([f"{prompt} something else"], texts) == (0, names)


def test_items_without_a_text_are_counted_and_no_text_matches_none() -> None:
    texts: list[str | None] = [None, "", "?!", *QUESTIONS[3:]]
    results = results_of([None, "", "…", "?"], texts)
    assert (results.leaked_items[0].without_text, results.leaked_items[0].leaked) == (3, 0)
    assert check(results) == ("clear", [])


def test_all_items_leaked_leaves_no_mean() -> None:
    results = results_of(list(QUESTIONS))
    assert (results.leaked_items[0].leaked, len(results.leaked_items[0].names)) == (40, 20)
    assert results.leaked_items[0].means_without == {}
    assert check(results) == ("fails", ["The text of 40 of 40 items of bench (100.0%) is also in train."])
    assert "q19 and 20 more" in card(results)


def test_the_text_may_be_the_name_of_the_item() -> None:
    frames = {"bench": items().drop("q"), "train": pl.DataFrame({"question": [QUESTIONS[5], None]})}
    (row,) = run(spec(item="question"), frames=frames).leaked_items
    assert row.names == [QUESTIONS[5]]


def test_weights_and_conditions_count() -> None:
    frame = items().with_columns(w=pl.Series([0.0, 3.0] + [1.0] * (N - 2)))
    train = pl.DataFrame({"question": QUESTIONS[:3], "source": ["web", "web", "book"]})
    keys = spec(weight={"column": "w", "kind": "importance"}, datasets={
        "bench": {"path": "memory"}, "train": {"path": "memory", "role": "reference", "where": "source = 'web'"}})
    (row,) = run(keys, frames={"bench": frame, "train": train}).leaked_items
    assert (row.items, row.names) == (39, ["q01"])
    assert row.means["a"] == pytest.approx((3 + 8) / 41)
    assert row.means_without["a"] == pytest.approx(8 / 38)


def test_texts_in_files_and_queries_are_those_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    train = pl.DataFrame({"n": [1, 2, 3], "question": [QUESTIONS[3].upper(), None, f"so {QUESTIONS[9]}"]})
    items().write_csv("bench.csv")
    train.write_csv("train.csv")
    train.write_ndjson("train.jsonl")
    with closing(sqlite3.connect("train.db")) as connection, connection:
        connection.execute("CREATE TABLE train (n, question)")
        connection.executemany("INSERT INTO train VALUES (?, ?)", train.iter_rows())
    query = {"sql": "SELECT * FROM train", "uri": "sqlite:///train.db"}
    for place in ({"path": "train.csv"}, {"path": "train.jsonl"}, query):
        document = spec(datasets={"bench": {"path": "bench.csv"}, "train": {**place, "role": "reference"}})
        Path("spec.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        results = run("spec.yaml")
        assert (results.leaked_items[0].same, results.leaked_items[0].names) == (1, ["q03", "q09"])
        assert [file.columns for file in results.inputs if file.role == "reference"] == [["question"]]


def test_the_text_may_be_a_column_of_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    samples = [{**sample(f"s{number}", match=number % 2), "metadata": {"question": text}}
               for number, text in enumerate(QUESTIONS)]
    Path("log.eval").write_bytes(zipped({"header.json": header(), "summaries.json": samples}))
    keys = spec(models={"m": {"log": {"model": "openai/a"}}}, datasets={
        "bench": {"inspect": "log.eval"}, "train": {"path": "memory", "role": "reference"}})
    del keys["item"]
    (row,) = run(keys, frames={"train": pl.DataFrame({"question": [QUESTIONS[4]]})}).leaked_items
    assert (row.same, row.names, row.items) == (1, ["s4"], 40)


@pytest.mark.parametrize(("bench", "train", "messages"), [
    (items().drop("question"), pl.DataFrame({"question": ["x"]}), [
        "dataset 'bench' (memory) has no column 'question'"]),
    (items(), pl.DataFrame({"prompt": ["x"]}), ["dataset 'train' (memory) has no column 'question'"]),
    (items(), pl.DataFrame({"question": [["x"]]}), [
        "column 'question' of dataset 'train' holds lists or mappings, not single values"]),
], ids=["of items", "of training", "no texts"])
def test_texts_that_are_missing_are_an_error(bench: pl.DataFrame, train: pl.DataFrame, messages: list[str]) -> None:
    with pytest.raises(DataError) as error:
        run(spec(), frames={"bench": bench, "train": train})
    assert [problem.message for problem in error.value.problems] == messages


def test_the_plan_reads_texts_alone_of_a_reference() -> None:
    planned = plan(load(spec()), frames={"bench": items(), "train": pl.DataFrame({"x": [1], "question": ["x"]})})
    assert [dataset.columns for dataset in planned.datasets if dataset.role == "reference"] == [("question",)]


def test_a_large_set_takes_seconds() -> None:
    words = np.array([f"word{number}" for number in range(20_000)])
    train = [text_of(100, words) for _ in range(10_000)]
    texts = pl.Series([text_of(100, words) for _ in range(499)] + [train[77]])
    started = time.process_time()
    names = pl.Series([f"q{number}" for number in range(500)])
    found = leaks._leaks(names, leaks._words(texts), pl.Series(train))
    assert found == {"q499": "same"}
    assert time.process_time() - started < 10
