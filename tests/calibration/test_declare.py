"""What the registry holds, and how options and parameters that were read are refused."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import ValidationError

from calibration.trainings import CASES, sample
from evalpipe.calibration import fitted_from, recalibrator, registry

METHODS = [
    "isotonic", "isotonic_bagged", "histogram", "multinomial", "one_vs_rest", "linear", "logistic",
    "logistic_probability", "platt", "beta", "logistic_spline", "prior_shift", "temperature", "venn_abers",
]


def test_the_registry_holds_the_methods() -> None:
    assert sorted(registry) == sorted(METHODS)
    assert [entry.name for entry in registry.values()] == list(registry)


def test_the_laws_are_tried_on_every_method_task_and_value_of_an_option() -> None:
    tried = {(method, name, str(value)) for method, options, _ in CASES for name, value in options.items()}
    choices = {
        (entry.name, name, str(value))
        for entry in registry.values() for name, field in entry.options.model_fields.items()
        if get_origin(field.annotation) is Literal for value in get_args(field.annotation)
    }

    assert len(choices) == 15
    assert choices <= tried
    assert {(entry.name, task) for entry in registry.values() for task in entry.tasks} - {
        (method, task) for method, _, task in CASES
    } == {(m, "ordinal") for m in ("temperature", "prior_shift")} | {("multinomial", "multiclass")}  # their twins are


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_words_a_source_and_an_entry_in_the_documentation(root: Path, name: str) -> None:
    entry = registry[name]
    page = (root / "docs" / "recalibrators.md").read_text(encoding="utf-8")
    section = page.split(f"## {name}\n")[1].split("\n## ")[0]

    assert entry.text.endswith(".")
    assert re.search(r"\d{4}", entry.reference)
    for words in (entry.title, entry.definition.replace("``", "`"), entry.reference, *entry.tasks):
        assert words in section
    for option, field in entry.options.model_fields.items():
        assert f"- `{option}`: {field.description}" in section


def test_a_card_takes_the_words_of_recalibrators_without_numpy() -> None:
    code = "import sys, evalpipe.card, evalpipe.calibration as c; print(len(c.registry), 'numpy' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    assert printed == f"{len(METHODS)} False\n"


def test_options_are_those_of_the_declaration() -> None:
    options = registry["isotonic_bagged"].options

    assert options().model_dump() == {"bags": 1000}
    with pytest.raises(ValidationError, match="greater than or equal to 10"):
        options(bags=9)
    with pytest.raises(ValidationError, match="Extra inputs"):
        options(bag=10)


def test_a_wrong_option_is_named() -> None:
    with pytest.raises(ValueError, match=re.escape("isotonic_bagged: option bags: Input should be a valid integer")):
        registry["isotonic_bagged"].fit(sample("binary"), bags="many")


def test_a_name_is_taken_once() -> None:
    class Logistic:
        """Nothing."""

    with pytest.raises(ValueError, match="the name 'logistic' of a recalibrator is taken"):
        recalibrator(title="", text="", tasks=("binary",), ref="", parameters={})(Logistic)


LINE = {"intercept": 0.0, "slope": 1.0}
STEPS = {"at": [0.1, 0.5], "value": [0.2, 0.6]}
CURVE = {"on": "logit", "at": [0.0, 1.0, 2.0], "log_odds": [0.0, 1.0, 2.0], "lambda": 1.0, "edf": 2.0}
WRONG: list[tuple[str, Any, Any, str]] = [
    ("logistc", {}, LINE, "no recalibrator is called 'logistc'; did you mean 'logistic'?"),
    ("x", {}, LINE, "no recalibrator is called 'x'"),
    ("logistic", {"on": "logit"}, LINE, "logistic: option on: Extra inputs are not permitted"),
    ("platt", {"on": "odds"}, LINE, "platt: option on: Input should be 'logit' or 'probability'"),
    ("logistic", {}, [0.0, 1.0], "logistic: the parameters are [0.0, 1.0], which is no map"),
    ("logistic", {}, {"slope": 1.0}, "logistic: lacks the parameter 'intercept'"),
    ("logistic", {}, {**LINE, "m": 1.0}, "logistic: knows no parameter 'm'"),
    ("logistic", {}, {**LINE, "slope": "1"}, 'logistic: slope holds "1", which is no finite number'),
    ("logistic", {}, {**LINE, "slope": True}, "logistic: slope holds true, which is no finite number"),
    ("logistic", {}, {**LINE, "slope": float("nan")}, "logistic: slope holds NaN, which is no finite number"),
    ("logistic", {}, {**LINE, "slope": [0.1] * 20},
     "logistic: slope holds [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,…, which is no finite number"),
    ("platt", {}, {**LINE, "on": "odds"}, "platt: on is 'odds', which is none of logit, probability, score"),
    ("histogram", {}, {**STEPS, "at": 0.1}, "histogram: at holds 0.1, which is no list of values"),
    ("histogram", {}, {**STEPS, "at": []}, "histogram: at holds [], which is no list of values"),
    ("histogram", {}, {**STEPS, "value": [0.1]}, "histogram: value has 1 values, and 2 belong there"),
    ("histogram", {}, {**STEPS, "value": [0.1, None]}, "histogram: value holds null, which is no finite number"),
    ("histogram", {}, {**STEPS, "at": [0.5, 0.5]}, "histogram: at does not ascend"),
    ("isotonic_bagged", {}, {**STEPS, "at": [0.6, 0.5]}, "isotonic_bagged: at does not ascend"),
    ("isotonic_bagged", {}, {**STEPS, "value": [0.6, 0.5]}, "isotonic_bagged: value descends"),
    ("isotonic", {}, {**STEPS, "interpolate": "cubic"},
     "isotonic: interpolate is 'cubic', which is none of step, linear"),
    ("isotonic", {}, {"interpolate": "step", "at": [0.6, 0.5], "value": [0.0, 1.0]}, "isotonic: at does not ascend"),
    ("temperature", {}, {"temperature": 0.0}, "temperature: temperature is not above 0"),
    ("logistic_spline", {}, {**CURVE, "at": [0.0, 2.0, 1.0]},
     "logistic_spline: at does not ascend over three knots or more"),
    ("venn_abers", {}, {"at_0": [0.1], "value_0": [0.0], "at_1": [0.1, 0.2], "value_1": [1.0, 0.5]},
     "venn_abers: value_1 descends"),
    ("multinomial", {}, {"coefficients": [[0.0, 1.0], [1.0, 2.0]]},
     "multinomial: coefficients has 2 columns, and 4 belong there"),
    ("multinomial", {}, {"coefficients": [[0.0, 1.0, 2.0, 3.0], [1.0, 2.0]]},
     "multinomial: coefficients has 2 values, and 4 belong there"),
    ("one_vs_rest", {}, LINE, "one_vs_rest: lacks the method of its levels"),
    ("one_vs_rest", {}, {"each": "logistic", "intercept": [0.0, 0.0], "slope": [1.0]},
     "one_vs_rest: its parameters are not one for each level"),
    ("one_vs_rest", {}, {"each": "logistic", "intercept": [0.0, 0.0], "slope": [1.0, "1"]},
     'one_vs_rest: level 2: slope holds "1", which is no finite number'),
]


@pytest.mark.parametrize(("method", "options", "parameters", "text"), WRONG)
def test_what_was_read_is_checked(method: str, options: Any, parameters: Any, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        fitted_from(method, options, parameters)


@pytest.mark.parametrize(("method", "task"), [("multinomial", "multiclass"), ("one_vs_rest", "multiclass")])
def test_another_number_of_levels_is_refused(method: str, task: str) -> None:
    fitted = registry[method].fit(sample(task))

    with pytest.raises(ValueError, match=re.escape("the fit is for [n, 3] probabilities, and these are [300, 2]")):
        fitted(sample(task).prediction[:, :2])
