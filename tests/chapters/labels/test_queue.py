"""Rows to label next: the probabilities that they are drawn with, and estimates that are unbiased by these."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import yaml

from evalpipe import labelling
from evalpipe.chapters.labels import compute_queue as queue
from evalpipe.chapters.labels.compute_needed import factor_from_zero, factor_to_clear, more_labels
from evalpipe.chapters.labels.plan import labels_plan
from evalpipe.engine.averages import values
from evalpipe.engine.subsets import rows_of
from evalpipe.run import plan, read_all
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.data.sample import KnownRows, Sample
    from evalpipe.plan.plan import Plan

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "q", "task": "binary", "outcome": {"column": "y", "event": "yes"}, "id": "id",
    "labels": {"selected": "random", "judge": {"probability": "q"}}, "datasets": {"test": {"path": "rows.csv"}},
    "models": {"a": {"probability": "p"}, "b": {"probability": "p2"}},
    "metrics": ["accuracy", "precision", "roc_auc"], "slices": ["region"], "report": {"rows": "csv"},
}


def some_rows(n: int = 300, known: int = 60, seed: int = 5) -> pl.DataFrame:
    """Return rows of which some have an outcome, with two models and a judge."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    y = rng.random(n) < 1 / (1 + np.exp(1 - 1.5 * x - z))
    has_outcome = rng.permutation(n) < known
    return pl.DataFrame({
        "id": [f"r{i}" for i in range(n)], "p": 1 / (1 + np.exp(0.8 - 1.7 * x)), "p2": 1 / (1 + np.exp(0.8 - x)),
        "q": 1 / (1 + np.exp(0.5 - 1.5 * x - z)), "region": rng.choice(["a", "b"], n),
        "y": [("yes" if event else "no") if shown else None for event, shown in zip(y, has_outcome, strict=True)]})


def sampled(**keys: Any) -> tuple[Plan, Sample, KnownRows]:
    """Return the plan of the spec with other keys, and its sample."""
    frames = {"test": some_rows()}
    planned = plan({**SPEC, **keys}, frames=frames)
    (sample,), _ = read_all(planned, frames)
    assert sample.known is not None
    return planned, sample, sample.known


def sizes(**keys: Any) -> tuple[Floats, Sample]:
    planned, sample, known = sampled(**keys)
    labels = planned.part(labels_plan)
    assert labels is not None
    return queue.draw_sizes(planned, labels, sample, known, np.arange(sample.n) % 10), sample


def written(folder: Path, rows: pl.DataFrame, **keys: Any) -> Path:
    rows.write_csv(folder / "rows.csv")
    (folder / "q.yaml").write_text(yaml.safe_dump({**SPEC, **keys}))
    return folder / "q.yaml"


@cache
def drawn_from_a_file() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of a file, and what the queue says of them."""
    with TemporaryDirectory() as folder:
        return some_rows(), labelling.queue(written(Path(folder), some_rows()), 40)


@pytest.mark.parametrize("count", [1, 17, 80, 100])
@pytest.mark.parametrize("kind", ["skewed", "zeros", "none", "one"])
def test_probabilities_of_the_open_rows_add_up_to_the_count(kind: str, count: int) -> None:
    rng = np.random.default_rng(count)
    before, is_open = rng.uniform(0.01, 0.5, 140), np.arange(140) < 100
    size = {"skewed": rng.exponential(size=140)**4, "zeros": np.where(rng.random(140) < 0.9, 0.0, 1.0),
            "none": np.zeros(140), "one": np.ones(140)}[kind]
    chance = queue.chances_of_next(before, size, is_open, count)

    assert float(chance[is_open].sum()) == pytest.approx(count, abs=1e-9)
    assert chance.min() > 0.1 * count / 100
    assert chance.max() <= 1


def test_probabilities_are_in_proportion_to_sizes_above_the_part_that_all_rows_have() -> None:
    size = np.random.default_rng(4).exponential(size=140)**2
    chance = queue.chances_of_next(np.full(140, 0.02), size, np.ones(140, bool), 17)
    share = chance.min()  # of rows that had enough before
    by_end = 1 - 0.98 * (1 - (chance - share) / (1 - share))
    inside = (by_end > 0.021) & (by_end < 0.99)

    assert inside.sum() > 40
    assert by_end[inside] / size[inside] == pytest.approx(float((by_end / size)[inside][0]))


def test_a_file_has_all_rows_with_those_to_label_first() -> None:
    rows, drawn = drawn_from_a_file()
    joined = rows.join(drawn, on="id")
    known = joined["y"].is_not_null()

    assert drawn.columns == ["id", "next", "probability"]
    assert drawn["next"].to_list() == [*range(1, 41), *[None] * 260]
    assert sorted(drawn["id"]) == sorted(rows["id"])
    assert joined.filter(known)["next"].null_count() == 60
    assert drawn["probability"].is_between(0, 1).all()
    # Each row had 60 / 300 before; what open rows gained adds up to the 40 that are drawn of them.
    gained = (joined["probability"] - 0.2) / 0.8
    assert gained.min() > 0  # type: ignore[operator]
    assert gained.filter(~known).sum() == pytest.approx(40)


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    rows, drawn = drawn_from_a_file()
    shuffled = labelling.queue(written(tmp_path, rows.sample(fraction=1, shuffle=True, seed=3)), 40)
    other_seed = labelling.queue(written(tmp_path, rows, seed=8), 40)

    assert shuffled.write_csv() == drawn.write_csv()
    assert other_seed["id"].to_list() != drawn["id"].to_list()
    assert other_seed["probability"].sum() == pytest.approx(drawn["probability"].sum(), rel=0.02)


def test_the_next_round_takes_other_rows_and_no_probability_falls(tmp_path: Path) -> None:
    rows, first = drawn_from_a_file()
    outcomes = rows.join(first, on="id").with_columns(
        y=pl.when(pl.col("next").is_not_null()).then(pl.when(pl.col("q") > 0.5).then(pl.lit("yes")).otherwise(
            pl.lit("no"))).otherwise("y")).drop("next")
    second = labelling.queue(written(tmp_path, outcomes, labels={
        "selected": {"probability": "probability"}, "judge": {"probability": "q"}}), 30)
    both = first.join(second, on="id", suffix=" 2")

    assert both.filter(pl.col("next").is_not_null())["next 2"].null_count() == 40
    assert second["next"].drop_nulls().len() == 30
    assert (both["probability 2"] > both["probability"]).all()


def test_rows_of_several_datasets_are_drawn_together(tmp_path: Path) -> None:
    some_rows(200, 50, seed=9).write_csv(tmp_path / "more.csv")
    drawn = labelling.queue(written(tmp_path, some_rows(), datasets={
        "test": {"path": "rows.csv"}, "more": {"path": "more.csv"}}), 40)

    assert drawn.columns == ["dataset", "id", "next", "probability"]
    assert set(drawn["dataset"][:40]) == {"test", "more"}
    assert drawn.height == 500


def test_each_row_is_drawn_as_often_as_its_probability_says() -> None:
    rng, rows = np.random.default_rng(1), np.arange(60)
    chance = queue.chances_of_next(np.zeros(60), rng.exponential(size=60), np.ones(60, bool), 15)
    drawn = [queue.drawn_rows(chance, rng.random(60), rows, 15) for _ in range(20_000)]
    often = np.bincount(np.concatenate(drawn), minlength=60) / 20_000

    assert {len(set(positions.tolist())) for positions in drawn} == {15}
    # Standard errors are at most 0.0035; the fixed size moves no probability by more than 0.005.
    assert often == pytest.approx(chance, abs=0.015)
    assert float(np.abs(chance - 0.25).max()) > 0.2


def rounds(seed: int, *, by_probability: bool) -> float:
    """Return the error of the share of events after three rounds, each drawn by the outcomes of those before."""
    rng = np.random.default_rng(seed)
    group, fold = np.arange(300) % 3, np.arange(300) // 3 % 2
    event = rng.random(300) < np.array([0.05, 0.3, 0.6])[group]
    before, known = np.full(300, 0.1), rng.permutation(300) < 30
    for _ in range(3):
        cell, other = 2 * group + fold, 2 * group + 1 - fold  # by outcomes of the other fold, as of `event_chances`
        rate = (np.bincount(cell, known * event, 6) + 0.5) / (np.bincount(cell, known, 6) + 1)
        chance = queue.chances_by_fold(before, rate[other], ~known, fold, 30)
        known[queue.drawn_rows(chance, rng.random(300), np.flatnonzero(~known), 30)] = True
        before = 1 - (1 - before) * (1 - chance)
    weights = known / before if by_probability else known.astype(float)
    return float((weights * event).sum() / weights.sum() - event.mean())


def test_rounds_that_look_at_outcomes_leave_estimates_unbiased() -> None:
    errors = np.array([rounds(seed, by_probability=True) for seed in range(600)])
    plain = np.array([rounds(seed, by_probability=False) for seed in range(200)])

    assert abs(float(errors.mean())) < 3 * errors.std() / 600**0.5
    assert float(plain.mean()) > 4 * errors.std() / 600**0.5 + 0.03


@pytest.mark.parametrize("model", ["a", "b"])
def test_what_an_outcome_moves_is_what_one_more_row_does(model: str) -> None:
    planned, sample, _ = sampled()
    positions = np.arange(0, 300, 7)  # few enough that each row is a cell
    rows, event = rows_of(sample, sample.models[model]).at(positions), np.linspace(0.1, 0.9, len(positions))
    moves = queue.measure_moves(rows, np.ones(len(positions)), event, planned.metrics)
    doubled = rows.at(np.tile(np.arange(len(positions)), 2))
    for entry, moved in zip(planned.metrics, moves, strict=True):
        for outcome in (True, False):
            for row in (0, 20, 42):
                truth = np.repeat([True, False], len(positions))
                more = np.concatenate([event, 1 - event])
                value = values(Summary(replace(doubled, truth=truth), more), entry)
                more[row + (0 if outcome else len(positions))] += 1
                after = values(Summary(replace(doubled, truth=truth), more), entry)
                assert moved[0 if outcome else 1, row] == pytest.approx(float(after - value), abs=1e-12)


def test_only_what_gates_judge_is_to_be_narrow() -> None:
    size, sample = sizes(gates=[{"metric": "precision", "min": 0.5, "model": "a", "slice": {"region": "b"}}])
    predicted = sample.models["a"].predicted
    assert predicted is not None
    inside = predicted & (sample.slicings[0].codes == 1)

    assert (size[inside] > 0).all()
    assert (size[~inside] == 0).all()  # precision sees predicted events alone
    assert (sizes()[0] > 0).all()


def test_a_difference_from_the_baseline_is_moved_only_where_models_differ() -> None:
    size, sample = sizes(compare={"baseline": "b"}, gates=[
        {"metric": "accuracy", "min_increase": 0.0, "against": "baseline"}])
    differs = sample.models["a"].predicted != sample.models["b"].predicted

    assert size[differs].min() > 3 * size[~differs].max()


def test_probabilities_of_the_event_follow_outcomes_and_labels() -> None:
    planned, sample, known = sampled()
    labels = planned.part(labels_plan)
    assert labels is not None
    fold = np.arange(sample.n) % 10
    event = queue.event_chances(labels, sample, known.known, fold)
    few = queue.event_chances(labels, sample, np.zeros(sample.n, bool), fold)
    row = int(np.flatnonzero(known.known)[3])
    other = queue.event_chances(labels, replace(sample, truth=sample.truth ^ (np.arange(sample.n) == row)),
                                known.known, fold)

    assert (event == other)[fold == fold[row]].all()  # its own outcome changes nothing for a row
    assert (event != other)[fold != fold[row]].all()
    assert float(np.corrcoef(event, known.judges["q"])[0, 1]) > 0.8
    assert float(event[known.known].mean()) == pytest.approx(float(sample.truth[known.known].mean()), abs=0.05)
    assert few == pytest.approx(np.clip(known.judges["q"], 0.01, 0.99))


def test_labels_of_a_judge_leave_less_to_find_out() -> None:
    planned, sample, known = sampled()
    labels = planned.part(labels_plan)
    assert labels is not None
    event = queue.event_chances(labels, sample, known.known, np.arange(sample.n) % 10)
    moves = np.stack([np.linspace(1, 2, sample.n), -np.linspace(2, 1, sample.n)])
    without, noise, truth = (float(queue.residual_squares(moves, event, label).sum())
                             for label in (None, np.full(sample.n, 0.5), event))

    assert truth < noise <= without
    assert truth == pytest.approx(float((event * (1 - event) * (moves[0] - moves[1])**2).sum()))


def test_drawing_by_size_leaves_less_variance_than_drawing_at_random() -> None:
    size, sample = sizes(gates=[{"metric": "precision", "min": 0.5}])
    before, is_open = np.full(sample.n, 0.05), np.ones(sample.n, bool)
    by_size, alike = (1 - 0.95 * (1 - queue.chances_of_next(before, of_row, is_open, 60))
                      for of_row in (size, np.ones(sample.n)))

    assert float((size**2 / by_size).sum()) < 0.75 * float((size**2 / alike).sum())


def test_intervals_scale_with_the_labels() -> None:
    assert more_labels(100, 10_000, 0.01, 2.0) == 300  # half as wide: four times the labels
    assert more_labels(100, 10_000, 0.01, 10.0) == 9_900  # all of them
    assert more_labels(100, 10_000, 0.01, 10.01) is None
    assert more_labels(100, 10_000, 0.01, 1.0) == 0
    assert more_labels(100, 100, 1.0, 1.1) is None
    assert more_labels(0, 100, 0.0, 1.1) is None
    needs = [more_labels(100, 10_000, floor, 1.5) for floor in (0.01, 0.1, 0.2, 0.4)]
    assert needs == [125, 158, 220, 1100]  # what labels of judges make of the variance, more labels do not lessen
    assert all(first < second for first, second in pairwise(need or 0 for need in needs))
    assert more_labels(100, 10_000, 0.5, 1.5) is None


def test_how_much_narrower_an_interval_has_to_be() -> None:
    assert factor_to_clear(0.8, 0.7, 0.9, [0.75]) == pytest.approx(2.0)
    assert factor_to_clear(0.8, 0.7, 0.95, [0.85, 0.75]) == pytest.approx(3.0)
    assert factor_to_clear(0.8, 0.7, 0.9, [0.6]) == 1.0
    assert factor_to_clear(0.8, 0.7, 0.9, [0.8]) == np.inf
    assert factor_to_clear(0.8, None, None, [0.8]) is None
    assert factor_from_zero(0.04, 0.04, 0.95) == 1.0
    assert factor_from_zero(0.3173, 0.3173, 0.95) == pytest.approx(1.96, abs=0.001)
    assert factor_from_zero(0.3173, 0.6346, 0.95) == pytest.approx(2.2414, abs=0.001)  # Bonferroni of two
    assert factor_from_zero(1.0, 1.0, 0.95) == np.inf
    assert factor_from_zero(None, None, 0.95) is None
