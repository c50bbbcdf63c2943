from __future__ import annotations

from typing import Any

import pytest

from card.blocks import column, facts, heads, lines, paragraphs, table, tables
from evalpipe.card import appendix, data, dataset_results, method
from evalpipe.card.appendix import gain_blocks
from evalpipe.card.contents import masthead
from evalpipe.card.dataset_results import confusion_blocks, measure_tables
from evalpipe.card.page import Number, plain
from evalpipe.card.tables import MEASURES_ABREAST, evaluated, shown
from evalpipe.card.wording import capital
from evalpipe.intervals.declare import registry
from evalpipe.results import Estimate, Matched, Results

ESTIMATE: dict[str, Any] = {
    "dataset": "d", "model": "m", "metric": "precision", "params": {}, "value": 0.78461, "lower": 0.77611,
    "upper": 0.79312, "level": 0.95, "method": "exact", "n": 100, "events": 40, "status": "ok",
}


def test_an_estimate_is_its_value_with_its_interval() -> None:
    assert shown(Estimate(**ESTIMATE)).text == "0.785 (0.776–0.793)"


def test_an_undefined_estimate_says_why() -> None:
    missing = {"value": None, "lower": None, "upper": None, "status": "undefined", "reason": "no predicted events"}
    assert shown(Estimate(**{**ESTIMATE, **missing})).text == "undefined: no predicted events"


def test_a_degenerate_estimate_keeps_its_value_and_says_what_is_wrong() -> None:
    estimate = Estimate(**{**ESTIMATE, "status": "degenerate", "reason": "undefined in 9 of 100 replicates: no events"})
    assert shown(estimate).text == "0.785 (0.776–0.793)"
    assert shown(estimate).note == "degenerate: undefined in 9 of 100 replicates: no events"


def test_a_few_undefined_replicates_are_noted() -> None:
    assert shown(Estimate(**{**ESTIMATE, "undefined_replicates": 1200})).note == "undefined in 1,200 replicates"


def test_a_value_without_interval_stands_alone() -> None:
    alone = Estimate(**{**ESTIMATE, "lower": None, "upper": None, "method": "none"})
    assert shown(alone) == Number("0.785", None, None, "0.78461")


def test_rows_are_metrics_and_columns_are_models(results: Results) -> None:
    (measures,) = measure_tables(results, "validation")
    labels = [model.label for model in results.models]
    assert heads(measures) == ["Measure", *labels, "Better", "n", "Interval"]
    titles = column(measures, "Measure")
    assert titles[3][0] == "Precision"
    assert plain(titles[4]).startswith("F-beta (beta = 2) ")
    assert lines(measures)[0][-3:] == ["higher", "6,107", "Clopper-Pearson"]


@pytest.mark.parametrize("models", [3, 5])
def test_of_more_than_two_models_rows_are_models_and_columns_are_measures(build: Any, models: int) -> None:
    results = build(datasets=1, models=models)
    tables = list(measure_tables(results, "validation"))
    estimates = [e for e in results.rows if e.model == "model_0" and e.slice is None]
    assert sum(len(heads(table)) - 1 for table in tables) == len(estimates)
    assert max(len(heads(table)) for table in tables) <= 1 + MEASURES_ABREAST
    for each in tables:
        assert column(each, "Model") == [model.label for model in results.models]
        assert [row.cells[0] for row in each.foot] == ["Better", "n", "Interval"]
        assert {len(row.cells) for row in each.foot} == {len(heads(each))}
    assert plain(column(tables[0], "Accuracy")[0]).startswith(shown(estimates[0]).value[:4])
    assert [row.cells[1] for row in tables[0].foot] == ["higher", "6,107", "Clopper-Pearson"]
    assert tables[0].caption.startswith("Measures on validation, Accuracy to ")


def test_numbers_of_a_column_have_the_same_decimals(build: Any) -> None:
    results = build(datasets=1, models=5)
    some = [e for e in results.rows if e.metric == "accuracy"]
    others = [e for e in results.rows if e.metric != "accuracy"]
    limits = [(0.81, 0.79, 0.83), (0.8123, 0.8101, 0.8145), (0.7, 0.5, 0.9), (0.75, 0.71, 0.79), (0.997, 0.98, 1.0)]
    changed = [e.model_copy(update=dict(zip(("value", "lower", "upper"), of, strict=True)))
               for e, of in zip(some, limits, strict=True)]
    (first, *_) = measure_tables(results.model_copy(update={"rows": [*changed, *others]}), "validation")
    assert [plain(cell) for cell in column(first, "Accuracy")] == [
        "0.810 (0.790–0.830)", "0.812 (0.810–0.815)", "0.700 (0.500–0.900)", "0.750 (0.710–0.790)",
        "0.997 (0.980–1.000)"]  # most support two, with which 0.997 would read as 1


def test_measures_from_minus_one_to_one_share_their_decimals_in_a_column_of_measures(results: Results) -> None:
    (measures,) = measure_tables(results, "validation")
    bounded = [metric.title for metric in results.metrics if None not in metric.range and max(metric.range) <= 1]
    places = {len(cell.value.partition(".")[2]) for row in measures.rows for cell in row.cells[1:3]
              if plain(row.cells[0]).startswith(tuple(bounded))}
    assert len(bounded) > 5
    assert len(places) == 1


def test_the_confusion_matrix_has_shares_of_all_and_of_the_row(results: Results) -> None:
    found = next(c for c in results.confusion if c.dataset == "validation")
    matrix = table(confusion_blocks(results, "validation"), "Naive Bayes")
    (tp, fn), (fp, tn) = found.counts
    assert lines(matrix)[0][2] == (
        f"{int(fn):,} FN, type II error {100 * fn / (tp + fn + fp + tn):.1f}% of all "
        f"{100 * fn / (tp + fn):.1f}% of row")
    assert plain(matrix.caption).endswith(
        " Predicted as poisonous when the probability is at least 0.5. 55 rows are exactly at this threshold; "
        f"{found.events_at_threshold} of them have the true level poisonous. Labels drawn at random would move half of "
        "them, on average.")


def test_predicted_levels_without_threshold_say_so(results: Results) -> None:
    bare = [found.model_copy(update={"threshold": None}) for found in results.confusion]
    matrix = table(confusion_blocks(results.model_copy(update={"confusion": bare}), "validation"), "Naive Bayes")
    assert plain(matrix.caption).endswith(" Predicted levels as given by the model.")


AT = "exactly at this threshold"
MOVED = "Labels drawn at random would move half of them, on average."


@pytest.mark.parametrize(("rows", "events", "text"), [
    (0, 0, f"No row is {AT}."),
    (1, 0, f"1 row is {AT}; its true level is not poisonous. A label drawn at random would move it every other time."),
    (1, 1, f"1 row is {AT}; its true level is poisonous. A label drawn at random would move it every other time."),
    (2, 0, f"2 rows are {AT}; none of them have the true level poisonous. {MOVED}"),
    (2, 1, f"2 rows are {AT}; 1 of them has the true level poisonous. {MOVED}"),
    (1200, 1100, f"1,200 rows are {AT}; 1,100 of them have the true level poisonous. {MOVED}"),
])
def test_the_rows_at_the_threshold_are_counted(results: Results, rows: int, events: int, text: str) -> None:
    update = {"at_threshold": rows, "events_at_threshold": events}
    tied = [confusion.model_copy(update=update) for confusion in results.confusion]
    matrix = table(confusion_blocks(results.model_copy(update={"confusion": tied}), "validation"), "Naive Bayes")
    assert plain(matrix.caption).endswith(f"at least 0.5. {text}")


def test_only_interval_methods_that_were_used_are_described(results: Results) -> None:
    names = set(facts(method.sections(results)))
    assert names & {capital(entry.title) for entry in registry.values()} == {"Clopper-Pearson", "Percentile bootstrap"}


def test_measures_say_when_they_are_undefined(results: Results) -> None:
    said = paragraphs(appendix.definition_sections(results))
    about = {title: said[said.index(title) + 2] for title in ("Precision precision", "MCC mcc", "Log loss log_loss")}
    precision, method_ = about["Precision precision"], "Clopper-Pearson (a proportion of counts)"
    assert f" Undefined when there are no predicted events. Interval: {method_}" in precision
    assert " Undefined when a class is absent from the truth or from the predictions. " in about["MCC mcc"]
    assert about["Log loss log_loss"].startswith("Range 0 or more. ")


def test_weights_are_explained(build: Any) -> None:
    known = facts(masthead(build(datasets=1, weight="frequency")))
    assert known["Case weights"] == "column case_weight, frequency weights: a row stands for that many identical rows"
    unweighted = build(datasets=1)
    assert "Case weights" not in facts(masthead(unweighted))
    assert facts(method.sections(unweighted))["Weights"] == "Case weights: none; every row counts once."


def test_a_reference_dataset_is_described_but_not_evaluated(results: Results) -> None:
    extra = results.datasets[0].model_copy(update={"name": "training", "role": "reference"})
    changed = results.model_copy(update={"datasets": [*results.datasets, extra]})
    assert [dataset.name for _, dataset in evaluated(changed)] == [dataset.name for dataset in results.datasets]
    assert "training (not evaluated)" in paragraphs(data.data_sections(changed))
    assert "Results on training" not in [section.title for section in dataset_results.sections(changed)]


def test_the_declared_prevalence_names_its_source(results: Results) -> None:
    assert facts(masthead(results))["Declared prevalence"] == "0.555 (source: training set)"
    bare = results.model_copy(update={"prevalence": None})
    assert facts(masthead(bare))["Declared prevalence"] == "not declared"


def test_the_gain_table_writes_what_the_results_hold(results: Results) -> None:
    gains = tables(gain_blocks(results, "validation"))[0]
    points = next(c.points for c in results.curves if (c.dataset, c.curve) == ("validation", "gain_table"))
    assert heads(gains) == ["Group", "Rows", "Events", "Random", "Perfect", "Lift",
                            "Rows", "Events", "Random", "Perfect", "Lift", "Separation"]
    assert column(gains, "Group") == [str(group) for group in range(1, 11)]
    assert lines(gains)[0][7].endswith(f" {100 * points.cumulative_captured[0]:.1f}%")  # type: ignore[operator]
    assert lines(gains)[9][7].endswith(" 100.0%")


def with_gain_points(results: Results, **columns: list[float | None]) -> Results:
    """Return the results with other columns in the gain table of the first model."""
    place, curve = next((k, c) for k, c in enumerate(results.curves)
                        if (c.dataset, c.curve) == ("validation", "gain_table"))
    changed = curve.model_copy(update={"points": curve.points.model_copy(update=columns)})
    return results.model_copy(update={"curves": [*results.curves[:place], changed, *results.curves[place + 1:]]})


@pytest.mark.parametrize(("columns", "style"), [
    ({}, "gain even"),
    ({"population_so_far": [999_999.0] * 10}, "gain even"),
    ({"population_so_far": [1_000_000.0] * 10}, "gain"),
    ({"profit": [1.0] * 10, "profit_random": [1.0] * 10, "profit_wizard": [1.0] * 10}, "gain"),
])
def test_the_columns_of_a_gain_table_are_of_one_width_where_every_number_fits(
    columns: dict[str, list[float | None]], style: str, results: Results
) -> None:
    assert tables(gain_blocks(with_gain_points(results, **columns), "validation"))[0].style == style


def test_the_gain_table_has_the_profit_where_one_is_declared_and_says_how_many_groups(results: Results) -> None:
    profits = dict.fromkeys(("profit", "profit_random", "profit_wizard"), [1200.4, -2.0] + [None] * 8)
    blocks = list(gain_blocks(with_gain_points(results, **profits), "validation"))
    assert lines(tables(blocks)[0])[0][-3:] == ["1,200"] * 3
    assert lines(tables(blocks)[0])[2][-1] == "–"
    assert "cut into ten groups; tied rows are divided in proportion" in " ".join(paragraphs(blocks))
    assert " ".join(paragraphs(blocks)).endswith("at the benefit and the costs under Costs and profit.")


def test_the_facts_of_a_dataset_say_how_files_of_predictions_were_matched(build: Any) -> None:
    results = build(datasets=1)
    first, second = (model.label for model in results.models)
    by_id = [Matched(model=model.name, by="id") for model in results.models]
    assert matched_facts(results, by_id) == {f"File of predictions of {first}, {second}": "rows matched by id"}
    agree = Matched(model=results.models[0].name, by="position", agree=["age", "ward"])
    alone = Matched(model=results.models[1].name, by="position")
    unchecked = "rows matched by position; no shared column confirms the match"
    assert matched_facts(results, [agree, alone]) == {
        f"File of predictions of {first}": (
            "rows matched by position; 2 shared columns agree in every row (age, ward)"),
        f"File of predictions of {second}": unchecked,
    }
    assert matched_facts(results, []) == {}


def matched_facts(results: Results, matched: list[Matched]) -> dict[str, str]:
    """Return the facts on files of predictions that the card gives."""
    (dataset,) = results.datasets
    changed = results.model_copy(update={"datasets": [dataset.model_copy(update={"matched": matched})]})
    known = facts(data.data_sections(changed))
    return {head: fact for head, fact in known.items() if head.startswith("File of predictions")}


def test_of_many_files_those_of_the_datasets_come_first(results: Results) -> None:
    first = results.inputs[0].model_copy(update={"role": "evaluate", "path": "rows.csv"})
    fits = [first.model_copy(update={"role": "predictions", "path": f"fit-{k}.csv"}) for k in range(100)]
    listed = data.files_read(results.model_copy(update={"inputs": [*fits, first]}))

    assert [cell.text for cell in column(listed, "File")[:2]] == ["rows.csv", "fit-0.csv"]  # type: ignore[union-attr]
    assert (listed.whole, listed.kept(None)) == (101, 12)
