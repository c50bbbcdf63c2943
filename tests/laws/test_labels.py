"""Laws of rows of which some have an outcome and all have labels of a judge, for every metric of two levels.

Labels are multiples of 1/4 and shares of 1/2, so that what must cancel does to the last bit; tolerances are those of
two orders of summing a hundred terms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evalpipe.metrics import registry
from evalpipe.statistics import Rows, Summary
from evalpipe.statistics.labels import KNOWN, combined_weights, source_of_judge
from laws import samples

CLOSE = 1e-12
BINARY = [case for case in samples.CASES if case[2] == "binary"]
every_binary_metric = pytest.mark.parametrize(("name", "options"), [case[:2] for case in BINARY], ids=[
    identity for identity, case in zip(samples.IDS, samples.CASES, strict=True) if case in BINARY])
KNOWN_ROWS = np.arange(97) % 3 > 0
"""Which of the 97 rows have an outcome."""
LABELS = np.random.default_rng(8).integers(0, 5, 97) / 4


def with_labels(data: Any, known: Any, *judges: Any) -> tuple[Any, Any]:
    """Return rows with an outcome and with the labels of judges, and the weight of each."""
    def pseudo_rows(rows: Any, labels: Any, source: int) -> tuple[Any, Any]:
        both = samples.take(data, np.concatenate([rows, rows]))
        event = np.repeat([True, False], len(rows))
        return (replace(both, truth=event, source=np.full(len(event), source)),
                np.concatenate([labels[rows], 1 - labels[rows]]))

    rows, everyone = np.flatnonzero(known), np.arange(len(known))
    parts = [(replace(samples.take(data, rows), source=np.full(len(rows), KNOWN)), np.ones(len(rows)))]
    for judge, labels in enumerate(judges):
        parts.append(pseudo_rows(rows, labels, source_of_judge(judge, all_rows=False)))
        parts.append(pseudo_rows(everyone, labels, source_of_judge(judge, all_rows=True)))
    fields = ("truth", "predicted", "probability", "source")
    joined = Rows(**{name: np.concatenate([getattr(part, name) for part, _ in parts]) for name in fields})
    return joined, np.concatenate([weight for _, weight in parts])


def value(name: str, options: dict[str, Any], labelled: tuple[Any, Any], *shares: float) -> Any:
    """Compute a metric in which judges take part by their shares."""
    metric = registry[name]
    summary = Summary(*labelled).with_judges(shares)
    return summary.value(metric, samples.filled(metric, options))


@every_binary_metric
def test_a_judge_that_is_right_everywhere_gives_the_value_of_all_rows(name: str, options: dict[str, Any]) -> None:
    data = samples.rows()
    labelled = with_labels(data, KNOWN_ROWS, data.truth.astype(float))
    np.testing.assert_allclose(
        value(name, options, labelled, 1.0), samples.value(name, options, data, np.ones(97)), rtol=CLOSE, atol=CLOSE)


@every_binary_metric
def test_where_all_outcomes_are_known_a_judge_changes_nothing(name: str, options: dict[str, Any]) -> None:
    data = samples.rows()
    labelled = with_labels(data, np.ones(97, bool), LABELS)
    np.testing.assert_allclose(
        value(name, options, labelled, 0.5), samples.value(name, options, data, np.ones(97)), rtol=CLOSE, atol=CLOSE)


@every_binary_metric
def test_a_share_of_zero_is_rows_with_an_outcome_brought_to_the_weight_of_all(
    name: str, options: dict[str, Any]
) -> None:
    data, rows = samples.rows(), np.flatnonzero(KNOWN_ROWS)
    alone = samples.value(name, options, samples.take(data, rows), np.full(len(rows), 97 / len(rows)))
    labelled = with_labels(data, KNOWN_ROWS, LABELS)
    np.testing.assert_allclose(value(name, options, labelled, 0.0), alone, rtol=CLOSE, atol=CLOSE)


@every_binary_metric
def test_two_judges_that_say_the_same_are_one_with_the_sum_of_their_shares(name: str, options: dict[str, Any]) -> None:
    data = samples.rows()
    both = value(name, options, with_labels(data, KNOWN_ROWS, LABELS, LABELS), 0.25, 0.5)
    np.testing.assert_allclose(
        value(name, options, with_labels(data, KNOWN_ROWS, LABELS), 0.75), both, rtol=1e-9, atol=1e-9)


def test_weights_of_all_rows_are_those_of_the_judge_for_every_share() -> None:
    rows, weight = with_labels(samples.rows(), KNOWN_ROWS, LABELS)
    for share in (0.0, 0.3, 1.0):
        assert combined_weights(weight, rows.source, [share]).sum() == pytest.approx(97, rel=CLOSE)


def test_without_a_row_with_an_outcome_nothing_is_defined() -> None:
    rows, weight = with_labels(samples.rows(), KNOWN_ROWS, LABELS)
    weight[rows.source == KNOWN] = 0
    assert np.isnan(combined_weights(weight, rows.source, [0.5])).all()
    assert np.isnan(value("accuracy", {}, (rows, weight), 0.5))
