"""What cases start from: every spec of configs/ and of the corpus, in folders of their own, with small data."""

from __future__ import annotations

import gzip
import os
import random
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import yaml

import evalpipe
from corpus_environment import ENVIRONMENT
from evalpipe.base.levels import level_text
from evalpipe.chapters.slices.plan import slice_columns
from evalpipe.errors import EvalpipeError
from evalpipe.plan.datasets import level_columns, model_columns
from evalpipe.spec.datasets import Dataset, LogDataset, QueryDataset
from evalpipe.spec.load import load
from evalpipe.spec.spec import Spec
from evalpipe.tasks import NUMBERS, SCORES

ROOT = Path(__file__).resolve().parents[2]
ROWS = 120
"""Rows kept of each data file."""

FOLDERS = ("configs", "tests/corpus/specs/good", "tests/corpus/specs/bad", "tests/corpus/data")


@dataclass(frozen=True)
class Base:
    """A spec that cases start from: its name, its place in the workspace, its text, and whether it runs as it is."""

    name: str
    folder: Path
    text: str
    runs: bool

    @cached_property
    def tree(self) -> yaml.Node | None:
        """The text as nodes of YAML; None where it cannot be parsed."""
        try:
            return yaml.compose(self.text, yaml.SafeLoader)
        except yaml.YAMLError:
            return None


def prepare(workspace: Path) -> list[Base]:
    """Copy all specs with small data into ``workspace`` and return them in the order of their names."""
    os.environ.update(ENVIRONMENT)
    bases = []
    for folder in FOLDERS:
        place = workspace / folder
        shutil.copytree(ROOT / folder, place, ignore=shutil.ignore_patterns("*.py", "*.expected", "*.md"))
        _shrink(place)
        for file in sorted(place.glob("*.yaml")):
            good = folder.endswith("good")
            runs = folder == "configs" or (good and _furnish(file))
            text = file.read_bytes().decode("utf-8", errors="replace")
            bases.append(Base(f"{folder}/{file.stem}", place / file.stem if good else place, text, runs))
    return bases


def _shrink(folder: Path) -> None:
    """Keep at most `ROWS` rows of each parquet file, spread over it."""
    for file in folder.rglob("*.parquet"):
        if file.stat().st_size < 1000:  # the corpus has broken ones
            continue
        frame = pl.read_parquet(file)
        frame.gather_every(-(-frame.height // ROWS)).write_parquet(file)


def _furnish(file: Path) -> bool:
    """Write the data that a spec of the corpus reads, into a folder of its own; tell whether there are any."""
    place = file.with_suffix("")
    place.mkdir()
    shutil.copytree(file.parent / "parts", place / "parts")
    shutil.copy(file, place)
    for beside in file.parent.glob("*.yaml"):  # those that extend others
        shutil.copy(beside, place)
    try:
        spec = load(file)
    except EvalpipeError:
        return False
    if spec.candidates is not None:  # their table is not made here; that of configs is
        return False
    if any(isinstance(dataset, LogDataset) for dataset in spec.datasets.values()):  # nor logs of tools
        return False
    _furnish_nights(file, spec)
    for name, dataset in spec.datasets.items():
        if isinstance(dataset, QueryDataset):
            _write_database(_columns(spec, name), place / "scores.db")
        elif isinstance(dataset.path, str):
            inner = "parts" if dataset.path.startswith("..") else ""  # where the spec that it extends lies
            _write(_columns(spec, name), place / inner / dataset.path.replace("*", "1"))
    for name, model in spec.models.items():
        for dataset, path in _apart(spec, model.predictions):
            _write(_columns(spec, dataset, name), place / path.replace("*", "1"))
    return True


def _furnish_nights(file: Path, spec: Spec) -> None:
    """Run the three nights before that of a spec whose gates add up nights, into a ledger in its folder."""
    if spec.as_of is None or all(gate.on != "sequence" for gate in spec.gates or ()):
        return
    place = file.with_suffix("")
    for back in (3, 2, 1):
        day = date.fromisoformat(spec.as_of) - timedelta(back)
        before = load(file, as_of=day)
        for name, dataset in before.datasets.items():
            if isinstance(dataset, Dataset):
                _write(_columns(before, name), place / str(dataset.path))
        evalpipe.run(place / file.name, out=place / f"night-{day}", as_of=day, overrides=["report.formats=[]"])


def _write_database(columns: dict[str, list[Any]], file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        marks = ", ".join("?" * len(columns))
        database.execute(f"CREATE TABLE scores ({', '.join(columns)})")
        database.executemany(f"INSERT INTO scores VALUES ({marks})", zip(*columns.values(), strict=True))  # noqa: S608
        database.commit()


def _apart(spec: Spec, predictions: Any) -> list[tuple[str, str]]:
    """Return the datasets and paths of a model's files of predictions."""
    if isinstance(predictions, str):
        return [(next(iter(spec.datasets)), predictions)]
    return [(name, path) for name, path in (predictions or {}).items() if isinstance(path, str)]


def _write(columns: dict[str, list[Any]], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame(columns)
    if file.name.endswith(".parquet"):
        frame.write_parquet(file)
        return
    if file.name.endswith(".ndjson"):
        frame.write_ndjson(file)
        return
    text = frame.write_csv(separator="\t" if file.name.endswith(".tsv") else ",").encode()
    file.write_bytes(gzip.compress(text, mtime=0) if file.name.endswith(".gz") else text)


def _columns(spec: Spec, dataset: str, model: str | None = None) -> dict[str, list[Any]]:
    """Make a value for every row of each column that a spec names, or of those of one model."""
    night = f"{spec.name}:{dataset}" + ("" if spec.trend is None else f":{spec.as_of}")
    rng, columns = random.Random(f"{night}:{model}"), {}  # noqa: S311 - chance that can be repeated
    truth = _outcome(spec, random.Random(night))  # noqa: S311 - the same
    if model is None:
        columns |= _conditions(spec, rng)
    for name in [model] if model else [*spec.models]:
        columns |= _predictions(spec, name, truth, rng)
    if spec.id is not None:
        columns[spec.id] = [f"{dataset}-{i}" for i in range(ROWS)]
    if model is not None:
        return _at_steps(spec, model, columns)
    for _, sliced in slice_columns(spec):
        texts = [rng.choice(["a", "d"]) for _ in range(ROWS)]
        days = [f"2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}" for _ in range(ROWS)]
        columns[sliced.column] = _numbers(rng) if sliced.cuts else days if sliced.by else texts
    ranked = any(declared.ranking is not None for declared in spec.models.values())
    columns |= {spec.outcome.column: truth} if spec.task not in SCORES else {
        str(spec.item): [f"{dataset}-{i // 5 if ranked else i // 2 if spec.judge else i}" for i in range(ROWS)]}
    columns |= {} if spec.judge is None else {spec.judge: [f"judge {i % 2}" for i in range(ROWS)]}
    if spec.text is not None:
        columns[spec.text] = [f"text {i}" for i in range(ROWS)]
    if spec.labels is not None:
        columns |= _labels(spec, truth, rng)
    if spec.weight is not None:
        columns[spec.weight.column] = [rng.randrange(1, 4) for _ in range(ROWS)]
    if spec.cluster is not None:
        columns[spec.cluster] = [f"c{rng.randrange(30)}" for _ in range(ROWS)]
    return columns


def _labels(spec: Spec, truth: list[Any], rng: random.Random) -> dict[str, list[Any]]:
    """Make outcomes of which some are empty, labels of judges, and how rows were chosen and outcomes arrived."""
    assert spec.labels is not None
    known = [level if i % 3 else None for i, level in enumerate(truth)]
    columns: dict[str, list[Any]] = {spec.outcome.column: known}
    for judge in spec.labels.judge or ():
        columns |= {} if judge.column is None else {judge.column: [rng.choice(truth) for _ in truth]}
        columns |= {} if judge.probability is None else {judge.probability: [round(rng.random(), 3) for _ in truth]}
    columns |= {name: [rng.choice(["a", "d"]) for _ in truth] for name in spec.labels.strata}
    columns |= {} if spec.labels.chance is None else {spec.labels.chance: [rng.uniform(0.5, 0.9) for _ in truth]}
    arrive = spec.labels.arrive
    if arrive is not None and spec.as_of is not None:
        days = [date.fromisoformat(spec.as_of) - timedelta(rng.randrange(90)) for _ in truth]
        columns |= {arrive.since: [str(day) for day in days], arrive.column: [
            None if level is None else str(day + timedelta(rng.randrange(40)))
            for day, level in zip(days, known, strict=True)]}
    return columns


def _at_steps(spec: Spec, model: str, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the rows of a model at two steps, where it has steps; else as they are."""
    step = spec.models[model].step
    if step is None:
        return columns
    first = step.at or 0
    twice = {name: [*values, *values] for name, values in columns.items()}
    return twice | {step.column: [first] * ROWS + [first + 1] * ROWS}


def _conditions(spec: Spec, rng: random.Random) -> dict[str, list[Any]]:
    """Make values for the columns that conditions are on."""
    said = f"{spec.slices} {[held.where for held in spec.datasets.values()]}"
    texts = {column: [rng.choice(["a", "autumn"]) for _ in range(ROWS)] for column in re.findall(r"(\w+) = '", said)}
    return texts | {column: _numbers(rng) for column in re.findall(r"(\w+) [<>]", said)}


def _numbers(rng: random.Random) -> list[Any]:
    return [round(rng.uniform(0, 60), 1) for _ in range(ROWS)]


def _outcome(spec: Spec, rng: random.Random) -> list[Any]:
    if spec.task in (*NUMBERS, *SCORES):
        return [rng.randrange(6) for _ in range(ROWS)]
    declared = [level_text(level) for level in spec.outcome.levels or [spec.outcome.event]]
    return rng.choices([*declared, "other"] if len(declared) == 1 else declared, k=ROWS)


def _predictions(spec: Spec, model: str, truth: list[Any], rng: random.Random) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    if spec.task in SCORES:
        ranking, score = spec.models[model].ranking, spec.models[model].score
        columns = {str(ranking.relevance if ranking else score): [rng.randrange(2) for _ in truth]}
        return columns | ({} if ranking is None else {ranking.score: [rng.random() for _ in truth]})
    named = model_columns(spec, model)
    levels = [*level_columns(spec, spec.models[model]).values()]
    rows = [[rng.random() for _ in levels] for _ in range(ROWS)]
    first = level_text(spec.outcome.event)
    for kind, column in named.items():
        if column in levels:
            columns[column] = [row[levels.index(column)] / sum(row) for row in rows]
        elif kind == "prediction" and spec.task not in NUMBERS:
            columns[column] = [level if rng.random() < 0.7 else rng.choice(truth) for level in truth]
        elif kind == "probability":
            columns[column] = [round(rng.betavariate(3 if level == first else 1, 2), 3) for level in truth]
        else:
            columns[column] = [rng.uniform(0.1, 6) for _ in truth]
    return columns
