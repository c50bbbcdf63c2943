"""Reads the values that yardstick's own tests assert, and turns each call on classes or on numbers into rows.

Source: yardstick 1.4.0.9000 (commit fa91f90c), tests/testthat; the data sets are its own. A case that is not
applicable says why.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evalpipe.metrics import registry
from evalpipe.statistics import ClassRows, NumberRows, Rows

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "reference" / "yardstick"
R_EPSILON = 2.220446049250313e-16
"""Where yardstick clips probabilities: R's .Machine$double.eps."""

OTHERS = {
    "mase": "mase depends on the order of rows, as no measure here does",
    "test-auc": "a helper that integrates by trapezoids, no measure",
    "test-misc": "a helper of tables, moments and quantiles, no measure",
    "test-fair-aaa": "of a group within its data set hpc_cv, which is not at hand",
}
"""What is no measure of evalpipe, or of data that are not at hand, and why."""

CURVES = ("roc_curve", "pr_curve", "lift_curve", "gain_curve")


class NotApplicable(Exception):  # noqa: N818 - not an error: the reason a case is set aside
    """A case that evalpipe does not compute, and why."""


@dataclass(frozen=True)
class Case:
    """One asserted number (or curve) with the rows it came from."""

    metric: str
    options: dict[str, Any]
    rows: Rows | ClassRows | NumberRows
    weights: Any
    expected: Any
    loose: bool
    """Whether yardstick compares with a wide tolerance, as it does with literals of few digits."""


def read_cases() -> list[dict[str, Any]]:
    """Return the raw cases."""
    cases: list[dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())
    return cases


def convert(case: dict[str, Any]) -> Case:
    """Return the case in evalpipe's terms; raises NotApplicable."""
    name, call = _metric(case), case["object"]
    expected = _expected(case)
    loose, inputs = "tolerance" in case, case.get("inputs") or {}
    if name in registry and registry[name].sees == "numbers":
        return Case(name, {}, *_numbers(name, case), expected, loose)
    if (levels := _levels(inputs)) is not None:
        name = {"roc_auc": "hand_till_auc"}.get(name, name)  # its way with more than two classes, where none is asked
        return Case(name, _options(name, call, inputs, levels), *_many(call, inputs, levels), expected, loose)
    truth, predicted, probability, weights = _data(case, call)
    if name == "log_loss" and "sum = TRUE" in call:
        name, expected = "log_likelihood", -expected
    levels = _frame_of(inputs).get("obs", {}).get("levels")
    options = _options(name, call, inputs, levels)
    if "prevalence" not in options:
        name = {"ppv": "precision", "npv": "npv_sample"}.get(name, name)
    rows: Rows | ClassRows = Rows(truth, predicted, probability)
    if "weighting" in call:
        name, rows = "weighted_kappa", ClassRows(np.where(truth, 0, 1), 2, np.where(predicted, 0, 1))
    return Case(name, options, rows, weights, expected, loose)


def _options(name: str, call: str, inputs: dict[str, Any], levels: list[str] | None) -> dict[str, Any]:
    """Read the options of a call; those that evalpipe takes under another name, or by default otherwise, too."""
    options: dict[str, Any] = {"epsilon": R_EPSILON} if name in ("log_loss", "log_likelihood") else {}
    for option in ("beta", "prevalence"):
        if found := re.search(rf"{option} = ([\d.]+)", call):
            options[option] = float(found.group(1))
    if found := re.search(r'weighting = "(\w+)"', call):
        options["weights"] = found.group(1)
    if name == "expected_cost" and levels is not None:
        options["costs"] = _costs(inputs, levels)
    return options


def _costs(inputs: dict[str, Any], levels: list[str]) -> tuple[tuple[float, ...], ...]:
    """Return the named costs, 0 where none is; without any each wrong class costs 1."""
    table = inputs.get("costs") or inputs.get("costs_partial")
    if table is None:
        return tuple(tuple(float(true != other) for other in levels) for true in levels)
    named = dict(zip(zip(table["truth"], table["estimate"], strict=True), table["cost"], strict=True))
    return tuple(tuple(float(named.get((true, other), 0)) for other in levels) for true in levels)


def _expected(case: dict[str, Any]) -> Any:
    """Return the asserted number; raises NotApplicable for what is no number of ours."""
    call, expected = case["object"], case.get("expected")
    if isinstance(expected, dict) and ".estimate" in expected:
        expected = expected[".estimate"]
    reasons = {
        "asserts NA or NaN of inputs that were not recorded, or of missing values": expected in (None, "NaN"),
        "the inputs were not recorded": "(" not in call,
        "its literal .87744 is not the value 230/262 = .87786; its tolerance of .001 hides that": (
            "scan_na" in call and expected == 0.87744
        ),
        "infinite for exact predictions, where evalpipe says undefined": expected == "Inf",
    }
    if found := [reason for reason, holds in reasons.items() if holds]:
        raise NotApplicable(found[0])
    return expected


def _metric(case: dict[str, Any]) -> str:
    name = case.get("metric") or re.sub(r"^test-(class|prob|probcurve|num|orderedprob|surv)-|\.R$", "", case["file"])
    if name in CURVES:
        return str(name)
    if name in OTHERS:
        raise NotApplicable(OTHERS[name])
    return registry[name].name


def _data(case: dict[str, Any], call: str) -> tuple[Any, Any, Any, Any]:
    inputs = case.get("inputs") or {}
    if case["dataset"] == "pathology":
        return _pathology(call)
    if case["dataset"] == "two_class_example":
        return _two_class_example(call)
    table = next((inputs[name] for name in ("path_tbl", "path_mat", "x") if _is_table(inputs.get(name))), None)
    if table is not None and re.search(r"\((path_tbl|path_mat|x)\)", call):
        tp, fn, fp, tn = table["data"]
        return _cells(tp, fn, fp, tn)
    return _frame(call, inputs)


def _frame_of(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the recorded data frame of probabilities; where there is none, all that was recorded."""
    frame: dict[str, Any] = inputs.get("df") or inputs.get("ll_dat") or inputs
    return frame


def _levels(inputs: dict[str, Any]) -> list[str] | None:
    """Return the levels of an outcome with more than two of them; None for any other."""
    frame = _frame_of(inputs)
    truth = frame.get("obs", frame.get("truth"))
    levels: list[str] = truth.get("levels", []) if isinstance(truth, dict) else []
    return levels if len(levels) > 2 else None


def _many(call: str, inputs: dict[str, Any], levels: list[str]) -> tuple[ClassRows, Any]:
    """Return rows of several classes and their weights; rows with a blank are left out, as na_rm = TRUE does."""
    frame = _frame_of(inputs)
    truth = frame.get("obs", frame.get("truth"))["values"]
    matrix = next((inputs[name] for name in ("estimate", "perfect_estimate") if name in inputs), None)
    if matrix is None and not set(levels) <= set(frame):
        raise NotApplicable("the inputs were not recorded")
    columns = np.column_stack([frame[level] for level in levels]) if matrix is None else (
        np.reshape(matrix["data"], matrix["dim"], order="F"))  # R fills a matrix column by column
    kept = np.array(["NA" not in row for row in columns.tolist()])
    chances = columns[kept].astype(float)
    codes = np.array([levels.index(value) for value in truth])[kept]
    weights = np.array(frame["weight"], float) if "case_weights" in call else np.ones(len(truth))
    return ClassRows(codes, len(levels), chances.argmax(axis=1), chances), weights[kept]


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and value.get("dim") == [2, 2]


def _cells(tp: int, fn: int, fp: int, tn: int) -> tuple[Any, Any, None, Any]:
    truth = np.array([True, True, False, False])
    return truth, np.array([True, False, True, False]), None, np.array([tp, fn, fp, tn], float)


def _pathology(call: str) -> tuple[Any, Any, None, Any]:
    with (FOLDER / "pathology.csv").open() as file:
        rows = [(row["pathology"], row["scan"]) for row in csv.DictReader(file)]
    event = "norm" if "second" in call and "df$" not in call else "abnorm"
    truth = np.array([pathology == event for pathology, _ in rows])
    predicted = np.array([scan == event for _, scan in rows])
    weights = np.ones(len(rows))
    if "scan_na" in call:
        # Its helper blanks three predictions, one each of the cells TP, FN and TN; evalpipe refuses blanks, so the
        # rows are left out, as yardstick's na_rm = TRUE does.
        for cell in (truth & predicted, truth & ~predicted, ~truth & ~predicted):
            weights[np.flatnonzero(cell)[0]] = 0
    return truth, predicted, None, weights


def _two_class_example(call: str) -> tuple[Any, Any, Any, Any]:
    with (FOLDER / "two_class_example.csv").open() as file:
        rows = list(csv.DictReader(file))
    weights = np.ones(len(rows))
    if "case_weights" in call:
        with (FOLDER / "weights-two-class-example.csv").open() as file:
            weights = np.array([float(row[".weight"]) for row in csv.DictReader(file)])
    truth = np.array([row["truth"] == "Class1" for row in rows])
    predicted = np.array([row["predicted"] == "Class1" for row in rows])
    return truth, predicted, np.array([float(row["Class1"]) for row in rows]), weights


def _numbers(name: str, case: dict[str, Any]) -> tuple[NumberRows, Any]:
    """Return rows of numbers and their weights; rows with a blank are left out, as na_rm = TRUE does."""
    if case["dataset"] == "solubility_test":
        if name in {"rpd", "rpiq"}:
            raise NotApplicable("takes weights for other than counts of rows: see the test of the two ratios")
        rows, weights = solubility()
        kept = rows.truth != 0 if "not_zero" in case["object"] else np.full(len(weights), fill_value=True)
        return NumberRows(rows.truth[kept], rows.predicted[kept]), weights[kept]
    truth, estimate, weights, _ = _columns(case["object"], case.get("inputs") or {})
    weights = np.ones(len(truth)) if weights is None else np.array(weights, float)
    kept = np.array(["NA" not in pair for pair in zip(truth, estimate, strict=True)])
    truth, estimate = (np.array(values, object)[kept].astype(float) for values in (truth, estimate))
    return NumberRows(truth, estimate), weights[kept]


def solubility() -> tuple[NumberRows, Any]:
    """Return the solubility data and their weights."""
    with (FOLDER / "solubility_test.csv").open() as file:
        rows = [(float(row["solubility"]), float(row["prediction"])) for row in csv.DictReader(file)]
    with (FOLDER / "weights-solubility-test.csv").open() as file:
        weights = np.array([float(row[".weight"]) for row in csv.DictReader(file)])
    truth, predicted = np.array(rows).T
    return NumberRows(truth, predicted), weights


def _columns(call: str, inputs: dict[str, Any]) -> tuple[Any, Any, Any, int | None]:
    """Read calls such as ``f(df, truth, estimate, case_weights = w)`` and ``f_vec(df$truth, df$off)``.

    Returns truth, estimate, the weights or None, and the number of rows where not all are meant.
    """
    inner = call[call.index("(") + 1 : call.rindex(")")]
    arguments = [re.sub(r"^\w+ = ", "", part.strip()) for part in inner.split(",") if "case_weights" not in part]
    arguments = [part for part in arguments if not re.match(r"(na_rm|event_level)", part)]
    weights_name = re.search(r"case_weights = (?:\w+\$)?(\w+)", inner)
    slice_end = None
    if found := re.match(r"(\w+)\[1:(\d+)", arguments[0]):
        arguments = [found.group(1), *[part for part in arguments[1:] if part and part != "]"]]
        slice_end = int(found.group(2))
    frame = inputs.get(arguments[0]) if "$" not in arguments[0] and arguments[0] not in ("truth", "x_truth") else None
    if frame is not None and "levels" not in frame:
        columns, names = frame, arguments[1:3]
    else:
        columns = inputs.get(arguments[0].split("$")[0], {}) if "$" in arguments[0] else inputs
        names = [part.split("$")[-1] for part in arguments[:2]]
    try:
        weights = None if weights_name is None else columns[weights_name.group(1)]
        return columns[names[0]], columns[names[1]], weights, slice_end
    except (KeyError, IndexError, TypeError):
        raise NotApplicable("the inputs were not recorded") from None


def _frame(call: str, inputs: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    truth, estimate, weights, slice_end = _columns(call, inputs)
    if "NA" in truth["values"] or (isinstance(estimate, dict) and "NA" in estimate.get("values", ())):
        raise NotApplicable("missing values, which evalpipe refuses")
    event = truth["levels"][0]
    is_event = np.array([value == event for value in truth["values"]])[:slice_end]
    weights = np.ones(len(is_event)) if weights is None else np.array(weights, float)
    if isinstance(estimate, dict):
        return is_event, np.array([value == event for value in estimate["values"]]), None, weights
    probability = np.array(estimate, float)[:slice_end]
    return is_event, probability >= 0.5, probability, weights
