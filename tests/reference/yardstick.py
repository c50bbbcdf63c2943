"""Reads the numbers that yardstick's own tests assert, and turns each two-class call into rows for evalpipe.

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
from evalpipe.statistics import Rows

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "reference" / "yardstick"
R_EPSILON = 2.220446049250313e-16
"""Where yardstick clips probabilities: R's .Machine$double.eps."""

CURVES = ("roc_curve", "pr_curve", "lift_curve", "gain_curve")


class NotApplicable(Exception):  # noqa: N818 - not an error: the reason a case is set aside
    """A case that evalpipe does not compute, and why."""


@dataclass(frozen=True)
class Case:
    """One asserted number (or curve) with the rows it came from."""

    metric: str
    options: dict[str, Any]
    rows: Rows
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
    truth, predicted, probability, weights = _data(case, call)
    options: dict[str, Any] = {"epsilon": R_EPSILON} if name == "log_loss" else {}
    for option in ("beta", "prevalence"):
        if found := re.search(rf"{option} = ([\d.]+)", call):
            options[option] = float(found.group(1))
    if "prevalence" not in options:
        name = {"ppv": "precision", "npv": "npv_sample"}.get(name, name)
    return Case(name, options, Rows(truth, predicted, probability), weights, expected, "tolerance" in case)


def _expected(case: dict[str, Any]) -> Any:
    """Return the asserted number; raises NotApplicable for what is no number of ours."""
    call, expected = case["object"], case.get("expected")
    if isinstance(expected, dict) and ".estimate" in expected:
        expected = expected[".estimate"]
    reasons = {
        "asserts NA or NaN of inputs that were not recorded, or of missing values": expected in (None, "NaN"),
        "the inputs were not recorded": "(" not in call,
        "a sum of losses, not their mean": "sum = TRUE" in call,
        "its literal .87744 is not the value 230/262 = .87786; its tolerance of .001 hides that": (
            "scan_na" in call and expected == 0.87744
        ),
        "weighted kappa": "weighting" in call,
    }
    if found := [reason for reason, holds in reasons.items() if holds]:
        raise NotApplicable(found[0])
    return expected


def _metric(case: dict[str, Any]) -> str:
    name = case.get("metric") or re.sub(r"^test-(class|prob|probcurve|num|orderedprob|surv)-|\.R$", "", case["file"])
    if name in CURVES:
        return str(name)
    if name not in registry:
        raise NotApplicable(f"no metric '{name}' yet")
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


def _frame(call: str, inputs: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Read calls such as ``f(df, truth, estimate, case_weights = w)`` and ``f_vec(df$truth, df$off)``."""
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
        truth, estimate = columns[names[0]], columns[names[1]]
    except (KeyError, IndexError, TypeError):
        raise NotApplicable("the inputs were not recorded") from None
    if not isinstance(truth, dict) or len(truth["levels"]) != 2:
        raise NotApplicable("more than two classes")
    if "NA" in truth["values"] or (isinstance(estimate, dict) and "NA" in estimate.get("values", ())):
        raise NotApplicable("missing values, which evalpipe refuses")
    event = truth["levels"][0]
    is_event = np.array([value == event for value in truth["values"]])[:slice_end]
    weights = np.ones(len(is_event)) if weights_name is None else np.array(columns[weights_name.group(1)], float)
    if isinstance(estimate, dict):
        return is_event, np.array([value == event for value in estimate["values"]]), None, weights
    probability = np.array(estimate, float)[:slice_end]
    return is_event, probability >= 0.5, probability, weights
