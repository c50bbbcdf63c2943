"""Scores of items brought together: a row for each item, and a few numbers of each model in it.

The epochs of an item become their number, their mean, the squares about it, and how many succeed and agree. Items that
a model lacks are left out for all models, so that all are compared on the same items.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.constants import LARGEST, USAGE
from evalpipe.base.lazy_polars import pl
from evalpipe.data.values import SHOWN, more
from evalpipe.errors import DataError, Problem
from evalpipe.plan.datasets import score_columns, score_label
from evalpipe.plan.sources import ScoreTable
from evalpipe.statistics.ranked_lists import Queries, RankedLists
from evalpipe.words.spelling import counted, joined, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.base.origin import Origin
    from evalpipe.plan.sources import Format, LogFacts, ScoreSource

KEYS = ["item", "epoch", "score", "missing"]
"""The columns of the scores of one model: texts, numbers, numbers or null, and why a score is missing or null.

Where answers have judges, the column "judge" follows: a row is the score of one of them.
"""
NO_VALUE = "no value"
"""Why a score is missing in a table, which does not say more."""


@dataclass(frozen=True, slots=True)
class ReadScores:
    """What was read: the scores of each model by its name, with `KEYS`, and the columns of items.

    ``items`` has the column "item" and those that the source has beside; a row for each score. ``unreadable`` are the
    types of columns of a query that cannot be read.
    """

    models: Mapping[str, pl.DataFrame]
    items: pl.DataFrame
    files: tuple[tuple[str | None, str | None, int], ...]
    runs: tuple[LogFacts, ...] = ()
    format: Format = "scores"
    columns: tuple[str, ...] = ()
    """The format and all columns of the files of a table."""
    lists: Mapping[str, RankedLists] = field(default_factory=lambda: MappingProxyType({}))
    """By model, the ranked lists of all queries in the order of their names, where items are queries."""
    unreadable: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def bring_together(places: Origin, source: ScoreSource, scores: ReadScores) -> ScoreTable:
    """Return the table of items, after scores were checked and missing ones are settled; raises DataError."""
    scores = _with_every_judge(scores)
    faults = [problem for name, rows in scores.models.items()
              for problem in _faults_of_model(places, source, name, rows)]
    if source.long is None and source.tool is None:  # the rows of a wide table are those of all models
        first = next((problem for problem in faults if problem.code == "repeated-item"), None)
        faults = [problem for problem in faults if problem is first or problem.code != "repeated-item"]
    faults = faults or list(_unsettled(places, source, scores))
    if faults:
        raise DataError(*faults)
    missing = {name: _counts_by_reason(rows) for name, rows in scores.models.items()}
    settled = {name: _settle(source, rows) for name, rows in scores.models.items()}
    judged = {name: rows for name, rows in settled.items() if "judge" in rows.columns}
    settled |= {name: _means_by(rows, "item", "epoch").sort("item", "score") for name, rows in judged.items()}
    shared, others, incomplete = _shared_items(settled)
    if not shared.height:
        raise DataError(Problem("no-shared-items", f"no item of {source.called} has a score of every model",
                              places.place(*source.loc), "check that the models were run on the same items"))
    column = source.item or "item"
    frame, varying = _item_columns(shared, scores.items, column)
    unshared, _ = _item_columns(others, scores.items, column)
    per_model = {name: _of_items(source, rows, shared) for name, rows in settled.items()}
    wins = _wins([numbers_of["score"] for numbers_of in per_model.values()], lower=source.scale.better == "lower")
    series = []
    for (name, numbers_of), won in zip(per_model.items(), wins, strict=True):
        numbers_of |= {"wins": won, "query": np.arange(shared.height, dtype=float)}
        series += [pl.Series(label, numbers_of[kind]) for kind, label in score_columns(
            name, successes=source.scale.success_from is not None, several=len(per_model) > 1,
            ranked=name in scores.lists, uses=[kind.removeprefix(USAGE) for kind in numbers_of
                                               if kind.startswith(USAGE)]).items()]
    return ScoreTable(
        frame.with_columns(series), tuple(frame.columns), scores.files, varying, scores.runs,
        MappingProxyType(incomplete),
        MappingProxyType({name: MappingProxyType(counts) for name, counts in missing.items() if counts}),
        scores.format, scores.columns, MappingProxyType(_queries(source, scores, shared["item"])),
        MappingProxyType({name: _means_by(rows.join(shared, "item", "semi"), "item", "judge")["score"].to_numpy()
                          .reshape(shared.height, -1) for name, rows in judged.items()}),
        unshared)


def _with_every_judge(scores: ReadScores) -> ReadScores:
    """Return the scores with a row for each judge of each answer: the score is missing where the judge has none."""
    if any("judge" not in rows.columns for rows in scores.models.values()):
        return scores
    judges = pl.concat([rows.select("judge") for rows in scores.models.values()]).unique(maintain_order=True)
    every = {name: rows.select("item", "epoch").unique(maintain_order=True).join(judges, how="cross").join(
        rows, on=["item", "epoch", "judge"], how="left", maintain_order="left") for name, rows in scores.models.items()}
    reason = pl.col("missing").fill_null(pl.format("no score by judge {}", "judge"))
    return replace(scores, models={name: rows.with_columns(
        missing=pl.when(pl.col("score").is_null()).then(reason)) for name, rows in every.items()})


def _queries(source: ScoreSource, scores: ReadScores, items: pl.Series) -> dict[str, Queries]:
    """Return the ranked lists of the shared ``items`` by model; empty where items are no queries."""
    if not scores.lists:
        return {}
    names = scores.items["item"].unique().sort()
    index = np.asarray(names.search_sorted(items), np.intp)
    rule = source.scale.missing
    empty = float(rule) if isinstance(rule, int | float) else None
    return {name: Queries(lists.at(index), empty) for name, lists in scores.lists.items()}


def _faults_of_model(places: Origin, source: ScoreSource, name: str, rows: pl.DataFrame) -> Iterator[Problem]:
    """Yield the problems of a model's scores: the same epoch twice, numbers that are none, or outside the range."""
    twice = rows.filter(pl.struct(key for key in ("item", "epoch", "judge") if key in rows.columns).is_duplicated())
    if twice.height:
        first = twice.row(0, named=True)
        of_model = f"of the model '{name}'" + (f" by the judge {quoted(first['judge'])}" if "judge" in first else "")
        if source.epoch is None and source.tool is None:
            message = f"{source.called} has several scores {of_model} for the item {quoted(first['item'])}"
            hint = "name the column that numbers them under 'epoch', or that of their judges under 'judge'"
        else:
            message = (f"{source.called} has two scores {of_model} for epoch {first['epoch']} of the item "
                       f"{quoted(first['item'])}")
            hint = "number the epochs of an item from 1, each once"
        yield Problem("repeated-item", message, places.place(*source.loc), hint)
    low, high = source.scale.range or (-LARGEST, LARGEST)
    wrong = rows.filter(~pl.col("score").is_between(low, high))
    if wrong.height:
        worst = [f"item {quoted(item)}: {score:g}"
                 for item, score in wrong.select("item", "score").head(SHOWN).iter_rows()]
        within = f"outside the range {low:g} to {high:g}" if source.scale.range else "no finite number"
        scores = f"{counted(wrong.height, 'score')} of the model '{name}'"
        message = f"{scores} in {source.called} {_are(wrong.height)} {within}"
        place = places.place("score", "range") or places.place(*source.loc)
        yield Problem("score-range", message, place, "correct the range or the scores",
                      notes=(*worst, *more(wrong.height)))


def _are(count: int) -> str:
    """Return "is" for one and "are" for more."""
    return "is" if count == 1 else "are"


def _counts_by_reason(rows: pl.DataFrame) -> dict[str, int]:
    """Return how many scores are missing, by the reason, in the order of the reasons' names."""
    counts = rows.filter(pl.col("score").is_null())["missing"].fill_null(NO_VALUE).value_counts(sort=False)
    return dict(sorted((str(reason), int(count)) for reason, count in counts.iter_rows()))


def _unsettled(places: Origin, source: ScoreSource, scores: ReadScores) -> Iterator[Problem]:
    """Yield the problem of missing scores where the spec does not say what they count, or wants the run to fail."""
    rule = source.scale.missing
    if rule not in (None, "fail"):
        return
    for name, rows in scores.models.items():
        counts = _counts_by_reason(rows)
        if counts:
            total = sum(counts.values())
            reasons = joined([f"{count:,} for {reason}" for reason, count in counts.items()], "and")
            lacking = f"{counted(total, 'score')} of the model '{name}'"
            message = f"{lacking} in {source.called} {_are(total)} missing: {reasons}"
            hint = ("under 'score', 'missing: 0' counts them 0, and 'missing: leave_out' leaves them out"
                    if rule is None else "run them again, or change 'missing' under 'score'")
            yield Problem("missing-score", message, places.place("score", "missing") or places.place("score"), hint)


def _settle(source: ScoreSource, rows: pl.DataFrame) -> pl.DataFrame:
    """Return scores without missing ones, which count a number, or are left out: of a judge, with the whole answer."""
    rule = source.scale.missing
    if isinstance(rule, int | float):
        rows = rows.with_columns(pl.col("score").fill_null(float(rule)))
    if "judge" in rows.columns:
        return rows.filter(pl.col("score").is_not_null().all().over("item", "epoch")).drop("missing")
    # Within an item by score, so that the order of epochs, and of rows in files, changes no last digit.
    return rows.filter(pl.col("score").is_not_null()).sort("item", "score", *_uses(rows)).drop("epoch", "missing")


def _uses(rows: pl.DataFrame) -> list[str]:
    """Return the columns of what an epoch used."""
    return [name for name in rows.columns if name.startswith(USAGE)]


def _shared_items(settled: Mapping[str, pl.DataFrame]) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, int]]:
    """Return the items that every model has a score for; those that some lack; and how many each model lacks.

    Both are sorted; the latter have the mean score of each model, null where it lacks the item.
    """
    present = {name: rows["item"].unique() for name, rows in settled.items()}
    every = pl.concat(list(present.values())).unique()
    shared = every
    for items in present.values():
        shared = shared.filter(shared.is_in(items.implode()))
    lacking = {name: len(every) - len(items) for name, items in present.items()}
    others = pl.DataFrame({"item": every.filter(~every.is_in(shared.implode())).sort()})
    for name, rows in settled.items():
        means = _means_by(rows.join(others, "item", "semi"), "item").select(
            "item", pl.col("score").alias(score_label(name)))
        others = others.join(means, on="item", how="left", maintain_order="left")
    return pl.DataFrame({"item": shared.sort()}), others, {name: count for name, count in lacking.items() if count}


def _item_columns(
    shared: pl.DataFrame, items: pl.DataFrame, column: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the items, under the name of their column, with the columns that are the same in all rows of an item.

    Also the names of the other columns, which differ within some item.
    """
    names = [name for name in items.columns if name not in ("item", column)]
    plain = [name for name in names if not items[name].dtype.is_nested()]
    distinct = items.filter(pl.col("item").is_in(shared["item"].implode())).select("item", *plain).unique(
        maintain_order=False)
    varying = [name for name in plain if distinct.select("item", name).unique().height > shared.height]
    kept = [name for name in plain if name not in varying]
    joined = shared.join(distinct.select("item", *kept).unique(subset="item"), on="item", how="left",
                         maintain_order="left") if kept else shared
    return joined.rename({"item": column}), tuple(varying)


def _of_items(source: ScoreSource, rows: pl.DataFrame, shared: pl.DataFrame) -> dict[str, Floats]:
    """Return the numbers of each shared item [n] by kind: score, epochs, within, agreeing, successes and usage."""
    rows = rows.filter(pl.col("item").is_in(shared["item"].implode()))
    score, codes = rows["score"].to_numpy(), rows["item"].rle_id().to_numpy()
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    epochs = np.diff(starts, append=len(score)).astype(float)
    mean = _means(score, starts)
    within = np.add.reduceat((score - np.repeat(mean, epochs.astype(np.intp))) ** 2, starts)
    limit = source.scale.success_from
    success = np.zeros(len(score)) if limit is None else np.asarray(
        score <= limit if source.scale.better == "lower" else score >= limit, float)
    return {"score": mean, "epochs": epochs, "within": within, "agreeing": _equal_pairs(score, codes, starts),
            "successes": np.add.reduceat(success, starts),
            **{use: np.add.reduceat(rows[use].to_numpy(), starts) / epochs for use in _uses(rows)}}


def _means_by(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Return the mean scores by the columns ``keys``, in their order, with what was used: the most of any row."""
    rows = rows.sort(*keys, "score")
    starts = np.flatnonzero(np.diff(rows.select(pl.struct(keys).rle_id()).to_series().to_numpy(), prepend=-1))
    most = rows.group_by(*keys, maintain_order=True).agg(pl.col(_uses(rows)).max())
    return most.with_columns(pl.Series("score", _means(rows["score"].to_numpy(), starts)))


def _means(score: Floats, starts: Wholes) -> Floats:
    """Return the mean of each group of scores [groups] that begins at ``starts``; within a group they ascend."""
    counts = np.diff(starts, append=len(score))
    first, last = score[starts], score[starts + counts - 1]
    # The mean of equal scores is this score, to the last digit.
    return np.where(first == last, first, np.add.reduceat(score, starts) / counts)


def _equal_pairs(score: Floats, codes: Wholes, starts: Wholes) -> Floats:
    """Return how many pairs of an item's epochs have equal scores, [items]; ``score`` and ``codes`` [n] are sorted."""
    runs = np.flatnonzero((np.diff(codes, prepend=-1) != 0) | (np.diff(score, prepend=np.nan) != 0))
    lengths = np.diff(runs, append=len(score)).astype(float)
    return np.asarray(np.bincount(codes[runs], lengths * (lengths - 1) / 2, len(starts)))


def _wins(scores: Sequence[Floats], *, lower: bool) -> list[Floats]:
    """Return for each model the share of the others that scored less in an item [n], ties one half."""
    sign = -1.0 if lower else 1.0
    matrix = sign * np.stack(scores)
    others = max(len(scores) - 1, 1)
    return [((row > matrix).sum(axis=0) + ((row == matrix).sum(axis=0) - 1) / 2) / others for row in matrix]
