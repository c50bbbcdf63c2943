"""Clusters of rows that are read part by part are drawn whole, as those of held rows are."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from evalpipe.card.method import draw_sentences
from evalpipe.errors import DataError, SpecError
from evalpipe.plan import resolve
from evalpipe.plan.plan import GROUPS, drawing_plan
from evalpipe.results import Results
from evalpipe.run import plan
from streams.streaming import MODELS, numbers, rows, run, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REPLICATES = 1000


def clustered(n: int, clusters: int, seed: int = 3) -> pl.DataFrame:
    """Return n rows of which those of one cluster share what no model knows, so that clusters count."""
    generator = np.random.default_rng(seed)
    who = generator.integers(0, clusters, n)
    shared, known = generator.normal(0, 1, clusters)[who], generator.normal(-0.7, 1.2, n)
    seen = known + shared / 2
    noisy = seen + generator.normal(0, 0.8, n)
    truth = generator.random(n) < 1 / (1 + np.exp(-known - 1.5 * shared))
    return rows(n, seed).with_columns(
        y=pl.Series(truth.astype(int)), p=pl.Series(1 / (1 + np.exp(-seen))), q=pl.Series(1 / (1 + np.exp(-noisy))),
        who=pl.Series([f"client {number}" for number in who]))


@contextmanager
def undiagnosed() -> Iterator[None]:
    """Leave out the measures that findings alone rest on: two of them fit a line in each replicate of clusters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolve, "DIAGNOSTICS", resolve.DIAGNOSTICS | {"binary": ()})
        yield


# By day more clusters than there are groups; 200, which are drawn as 40 and 500 are, are run below with other keys.
@pytest.fixture(scope="module", params=[*(pytest.param(few, marks=pytest.mark.nightly) for few in (40, 500)), 4000])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Results]:
    path = write(clustered(5000, request.param), tmp_path_factory.mktemp("clustered") / "d", [1700, 1])
    keys: dict[str, Any] = {
        "cluster": "who", "slices": ["s"], "compare": {"baseline": "q"}, "intervals": {"replicates": REPLICATES},
        "metrics": ["accuracy", "sensitivity", "brier", "roc_auc", "ece"], "calibration": None}
    with undiagnosed():
        return run(path, "grid", **keys), run(path, "exact", **keys)


def wide(row: Any) -> float:
    return float(row.upper - row.lower)


def test_intervals_are_as_wide_as_those_of_held_clusters(both: tuple[Results, Results]) -> None:
    streamed, held = both
    widths = []
    for row, exact in zip(streamed.rows, held.rows, strict=True):
        assert (row.metric, row.model, row.slice, row.n, row.events, row.status, row.method, row.reason) == (
            exact.metric, exact.model, exact.slice, exact.n, exact.events, exact.status, exact.method, exact.reason)
        assert row.value == pytest.approx(exact.value, abs=(row.error_bound or 0) + 1e-12)
        if exact.method in ("percentile", "cluster_t"):
            widths.append(wide(row) / wide(exact))
    # The width between the quantiles of 1,000 replicates has a standard error of 3 %, that of two draws 4 %, and random
    # groups add half of 4.4 %; 4.9 % in all.
    assert np.median(widths) == pytest.approx(1, abs=0.05)
    assert max(np.abs(np.log(widths))) < 4 * 0.049


def test_differences_are_as_wide_as_those_of_held_clusters(both: tuple[Results, Results]) -> None:
    streamed, held = both
    pairs = [*zip(streamed.comparisons, held.comparisons, strict=True),
             *zip(streamed.slice_differences, held.slice_differences, strict=True)]
    for row, exact in pairs:
        assert (row.metric, row.slice, row.test, row.status) == (exact.metric, exact.slice, exact.test, exact.status)
        assert row.difference == pytest.approx(exact.difference, abs=2e-4)
        if exact.test is not None:
            # The standard error of 1,000 replicates is known to 2.2 %, the ratio of two to 3.2 %, of groups to 3.9 %.
            assert wide(row) / wide(exact) == pytest.approx(1, abs=4 * 0.039)
    assert len(pairs) > 20


@pytest.mark.parametrize("clusters", [pytest.param(500, marks=pytest.mark.nightly), 2500])  # by day those in groups
def test_noise_in_bins_is_that_of_held_clusters(tmp_path: Path, clusters: int) -> None:
    path = write(clustered(8000, clusters), tmp_path / "d", [])
    keys: dict[str, Any] = {
        "cluster": "who", "models": {"p": MODELS["p"]}, "intervals": {"replicates": REPLICATES},
        "metrics": ["ks", "ece", "ace", "brier_reliability", "brier_resolution"]}
    with undiagnosed():
        streamed, held = (run(path, mode, **keys) for mode in ("grid", "exact"))
    for row, exact in zip(streamed.rows, held.rows, strict=True):
        assert (row.method, row.status, row.reason) == (exact.method, exact.status, exact.reason)
        # Quantiles of 1,000 replicates are known to 2 % of the width of their interval, the difference of two to 3 %.
        # Groups also tell the noise that is taken off with an error of 4 %: over eight samples limits moved by 6 %.
        allowed = 4 * (0.03 if clusters <= GROUPS else 0.06) * wide(exact)
        assert abs(row.lower - exact.lower) < allowed, row.metric
        assert abs(row.upper - exact.upper) < allowed, row.metric


def test_bands_about_the_calibration_are_as_wide(both: tuple[Results, Results]) -> None:
    streamed, held = both
    for name in ("calibration_logistic", "calibration_spline"):
        (curve, exact), = [
            (curve, exact) for curve, exact in zip(streamed.curves, held.curves, strict=True)
            if curve.curve == exact.curve == name and curve.model == "p"]
        # Sandwich errors of the same clusters; of groups they have an error of 2.2 %.
        ratios = [np.subtract(points.upper, points.lower) for points in (curve.points, exact.points)]
        allowed = 0.08 if streamed.intervals.draws[0].mode == "groups" else 5e-3
        assert np.median(ratios[0] / ratios[1]) == pytest.approx(1, abs=allowed)


def test_the_observed_prevalence_has_the_limits_of_its_clusters(both: tuple[Results, Results]) -> None:
    (row,), (exact,) = (results.observed for results in both)
    grouped = both[0].intervals.draws[0].mode == "groups"
    # The variance of so many groups has a standard error of 4.4 %, the width half of that.
    assert wide(row) == pytest.approx(wide(exact), rel=4 * 0.022 if grouped else 1e-9)


@pytest.mark.parametrize("keys", [
    pytest.param({"slices": ["s", ["s", "h"]], "slice_rules": {"reference": "rest"}, "compare": {"baseline": "q"}},
                 id="rest"),
    pytest.param({
        "models": {"p": {"probability": "p"}, "hard": {"prediction": "label"}}, "metrics": ["accuracy", "f1"],
        "compare": {"baseline": "p"}, "outcome": {"column": "y", "event": 1, "levels": [1, 0]}}, id="classes beside"),
    pytest.param({"intervals": {"replicates": 300, "resampling": "poisson"}}, id="poisson"),
    pytest.param({
        "gates": [{"metric": "brier", "max": 0.5}, {"metric": "roc_auc", "min": 0.99},
                  {"metric": "brier", "max_increase": 0.5, "against": "baseline"}],
        "compare": {"baseline": "q"}, "metrics": ["brier", "roc_auc"]}, id="gates"),
    pytest.param({"equivocal": {"below": 0.1, "above": 0.05}}, id="equivocal", marks=pytest.mark.nightly),
    pytest.param({"models": {"hard": {"prediction": "label"}}, "metrics": ["accuracy", "kappa"], "threshold": None},
                 id="classes alone", marks=pytest.mark.nightly),
    pytest.param({"prevalence": {"beta": [20, 80]}, "metrics": ["ppv", "npv"]}, id="prior", marks=pytest.mark.nightly),
    pytest.param({"intervals": {"replicates": 300, "method": "bca"}, "metrics": ["brier", "roc_auc"]}, id="bca",
                 marks=pytest.mark.nightly),
    pytest.param({"profit": {"benefit": 50, "cost": 5, "fixed": 0, "groups": 10}, "metrics": ["brier"]}, id="profit",
                 marks=pytest.mark.nightly),
])
def test_what_works_on_held_clusters_works_alike(tmp_path: Path, keys: dict[str, Any]) -> None:
    path = write(clustered(3000, 200), tmp_path / "d", [1000])
    keys = {"cluster": "who", "metrics": ["accuracy", "brier"], "intervals": {"replicates": 300},
            "compare": {"pairs": "none"}, **keys}
    with undiagnosed():
        streamed, held = run(path, "grid", **keys), run(path, "exact", **keys)
    assert [gate.verdict for gate in streamed.gates] == [gate.verdict for gate in held.gates]
    pairs = [pair for name in ("rows", "comparisons", "slice_differences", "profit")
             for pair in zip(getattr(streamed, name), getattr(held, name), strict=True)]
    widths = []
    for row, exact in pairs:
        assert getattr(row, "status", "ok") == getattr(exact, "status", "ok")
        if exact.lower is not None and exact.upper > exact.lower:
            widths.append(wide(row) / wide(exact))
    # The width between quantiles of 300 replicates has a standard error of 6 %, that of two draws 8 %.
    assert np.median(widths) == pytest.approx(1, abs=0.16)


def test_results_say_what_was_drawn(both: tuple[Results, Results]) -> None:
    streamed, held = both
    (draw,), clusters = streamed.intervals.draws, held.datasets[0].clusters
    assert 0 < draw.lost < 1e-3
    assert not [warning for warning in streamed.warnings if warning.code == "not-gridded"]
    if clusters <= GROUPS:
        assert (draw.mode, draw.units, draw.reason) == ("clusters", clusters, "clusters are drawn whole")
        assert streamed.datasets[0].clusters_error is None
        assert streamed.datasets[0].clusters == clusters
        return
    known = streamed.datasets[0].clusters
    assert known == pytest.approx(clusters, rel=4 * streamed.datasets[0].clusters_error)
    assert draw.mode == "groups"
    assert draw.variance_error == pytest.approx((2 / (draw.units - 1)) ** 0.5)
    assert list(draw_sentences(streamed)) == [(
        f"Replicates of d are drawn in random groups of whole clusters: about {known:,} clusters are more than 1,024, "
        f"and {draw.units:,} groups tell a variance with a standard error of {100 * draw.variance_error:.2g}%. At most "
        f"{100 * draw.lost:.2g}% of the variance of any model’s predictions lies within cells.")]


@pytest.mark.parametrize("clusters", [200, pytest.param(5000, marks=pytest.mark.nightly)])
def test_parts_of_any_size_and_order_give_the_same_bytes(tmp_path: Path, clusters: int) -> None:
    frame = clustered(3000, clusters).with_columns(season=pl.col("s"))
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    keys: dict[str, Any] = {"cluster": "who", "slices": ["s"], "metrics": ["accuracy", "brier", "roc_auc"]}
    expected = run(write(frame, tmp_path / "one", []), **keys)
    assert expected.intervals.draws[0].mode == ("clusters" if clusters == 200 else "groups")
    few = run(write(shuffled, tmp_path / "few", [1100, 1, 600], row_group=100), **keys)
    assert numbers(few) == numbers(expected)
    many = run(write(shuffled.reverse(), tmp_path / "many", [1] * 20 + [300] * 5), **keys)
    assert numbers(many) == numbers(expected)


def test_batches_of_one_part_give_the_same_bytes(tmp_path: Path) -> None:
    # The first batches have fewer clusters than are counted each, later ones more.
    frame = clustered(60_000, 3000).sort("who")
    path = write(frame, tmp_path / "d", [])
    keys: dict[str, Any] = {"cluster": "who", "metrics": ["brier"], "intervals": {"replicates": 100}}
    little, plenty = (
        run(path, **keys, engine={"mode": "grid", "workers": 2, "memory": memory}) for memory in ("340MB", "4GB"))
    assert numbers(little) == numbers(plenty)


def test_clusters_are_the_same_by_name_or_number(tmp_path: Path) -> None:
    frame = clustered(1500, 80)
    as_numbers = frame.with_columns(pl.col("who").str.extract(r"(\d+)").cast(pl.Int32))
    as_text = frame.with_columns(pl.col("who").str.extract(r"(\d+)"))
    keys: dict[str, Any] = {"cluster": "who", "metrics": ["accuracy", "brier"]}
    first, second = (run(write(part, tmp_path / name, [700]), **keys) for part, name in (
        (as_numbers, "numbers"), (as_text, "texts")))
    assert numbers(first) == numbers(second)


def test_frequency_weights_are_copies_in_clusters_too(tmp_path: Path) -> None:
    frame = clustered(1000, 60)
    copies = frame[np.repeat(np.arange(1000), frame["times"].to_numpy())]
    weighed = run(write(frame, tmp_path / "w", []), cluster="who", weight={"column": "times", "kind": "frequency"})
    copied = run(write(copies, tmp_path / "c", [400]), cluster="who")
    for row, other in zip(weighed.rows, copied.rows, strict=True):
        assert (row.value, row.lower, row.upper, row.status) == (other.value, other.lower, other.upper, other.status)


@pytest.mark.parametrize(("frame", "reason"), [
    (lambda frame: frame.with_columns(who=pl.lit("a")), "all rows are in one cluster, so the uncertainty is unknown"),
    (lambda frame: frame.with_columns(who=pl.int_range(pl.len()) % 2),
     "2 clusters, fewer than 3: limits from so few cover the true value less often than 95%"),
], ids=["one", "few"])
def test_few_clusters_are_told(tmp_path: Path, frame: Callable[[pl.DataFrame], pl.DataFrame], reason: str) -> None:
    path = write(frame(clustered(1000, 60)), tmp_path / "d", [400])
    streamed, held = (run(path, mode, cluster="who", metrics=["brier"], slices=["s"]) for mode in ("grid", "exact"))
    assert {(row.status, row.reason) for row in streamed.rows} == {("degenerate", reason)}
    assert [warning.message for warning in streamed.warnings] == [warning.message for warning in held.warnings]


@pytest.mark.parametrize(("method", "used", "reason"), [
    ("auto", "cluster_t", None),
    ("percentile", "percentile",
     "15 clusters, fewer than 20: limits from so few cover the true value less often than 95%"),
])
def test_few_clusters_of_a_slice_are_told(tmp_path: Path, method: str, used: str, reason: str | None) -> None:
    frame = clustered(3000, 400).with_columns(
        s=pl.when(pl.col("who").is_in([f"client {number}" for number in range(15)])).then(pl.lit("few")).otherwise("s"))
    path = write(frame, tmp_path / "d", [1000])
    keys: dict[str, Any] = {
        "cluster": "who", "metrics": ["brier"], "slices": ["s"], "intervals": {"method": method, "replicates": 200}}
    streamed, held = (run(path, mode, **keys) for mode in ("grid", "exact"))
    told = [[(row.slice, row.status, row.method, row.reason) for row in results.rows] for results in (streamed, held)]
    assert told[0] == told[1]
    assert ({"s": "few"}, "ok" if reason is None else "degenerate", used, reason) in told[0]


def test_a_row_without_a_cluster_is_told_as_of_held_rows(tmp_path: Path) -> None:
    frame = clustered(300, 60).with_columns(
        who=pl.when(pl.int_range(pl.len()) == 211).then(None).otherwise(pl.col("who")))
    path = write(frame, tmp_path / "d", [100])
    found = []
    for mode in ("grid", "exact"):
        with pytest.raises(DataError) as error:
            run(path, mode, cluster="who")
        (problem,) = error.value.problems
        found.append((problem.code, problem.message, problem.hint, [row for row, _ in problem.rows]))
    assert found[0] == found[1]
    assert found[0][0] == "missing-cluster"


@pytest.mark.parametrize(("keys", "what"), [
    ({"metrics": ["misclassifications", "brier"]},
     "the interval of misclassifications, which grows with the rows, over clusters"),
    ({"metrics": [{"metric": "brier_reliability", "digits": 3}]},
     "brier_reliability of probabilities of 3 digits over clusters"),
    ({"threshold": {"maximize": "youden", "on": "c"}, "metrics": ["youden"], "models": {"p": MODELS["p"]}},
     "the interval of the chosen threshold of model 'p' over clusters"),
    ({"recalibrate": {"methods": ["isotonic_bagged"], "fit_on": "c"}},
     "the recalibrator isotonic_bagged, which draws clusters,"),
])
def test_what_would_need_more_of_clusters_is_refused(tmp_path: Path, keys: dict[str, Any], what: str) -> None:
    path = str(write(rows(50), tmp_path / "d", []))
    datasets = {"d": {"path": path}} | ({} if "metrics" in keys and "threshold" not in keys else {
        "c": {"path": path, "role": "calibrate"}})
    with pytest.raises(SpecError) as error:
        run(Path(path), cluster="who", datasets=datasets, **keys)
    (problem,) = error.value.problems
    assert problem.code == "needs-all-rows"
    assert problem.message == f"{what} needs all rows at once, but engine.mode is grid, which reads them part by part"


def test_a_chosen_threshold_without_limits_is_that_of_held_rows(tmp_path: Path) -> None:
    datasets = {"d": {"path": str(write(clustered(2000, 90), tmp_path / "d", []))},
                "c": {"path": str(write(clustered(2000, 90, 4), tmp_path / "c", [])), "role": "calibrate"}}
    keys: dict[str, Any] = {"datasets": datasets, "threshold": {"maximize": "youden", "on": "c"}, "cluster": "who",
                            "metrics": ["youden"], "intervals": {"method": "none"}}
    streamed, held = (run(tmp_path, mode, **keys) for mode in ("grid", "exact"))
    for row, exact in zip(streamed.thresholds, held.thresholds, strict=True):
        # A threshold lies midway between two scores, or two cells of 2^-16.
        assert row.value == pytest.approx(exact.value, abs=1e-3)
    assert [dataset.clusters for dataset in streamed.datasets] == [dataset.clusters for dataset in held.datasets]


def test_the_plan_says_what_is_drawn(tmp_path: Path) -> None:
    path = str(write(rows(50), tmp_path / "d", []))
    planned = plan({
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "cluster": "who",
        "datasets": {"d": {"path": path}}, "models": MODELS, "engine": {"mode": "grid"}})
    assert drawing_plan(planned).words == (
        "replicates draw whole clusters: up to 1,024 of them, and of more as many random groups, which tell a variance "
        "with a standard error of 4.4%")
