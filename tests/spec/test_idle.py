"""Keys that change nothing: an error where they were written for one run, a warning where files share them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import evalpipe
from evalpipe.errors import SpecError
from evalpipe.spec.load import load

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d.csv"}}, "models": {"m": {"probability": "p"}}, "metrics": ["brier"],
    "intervals": {"replicates": 100}, "report": {"formats": []},
}
CLASSES = {"m": {"probability": None, "prediction": "c"}}
LEVELS = {"column": "y", "event": None, "levels": ["a", "b", "c"]}
IDLE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("unused-rules", {"slice_rules": {"min_rows": 9}}, {}),
    ("unused-rules", {"slice_rules": {"reference": "rest"}}, {"worst_slices": {"metric": "brier", "columns": ["s"]}}),
    ("unused-margin", {"compare": {"baseline": "m", "margins": {"mcc": 0.1}}}, {"models": {"n": {"probability": "q"}}}),
    ("nothing-to-compare", {"compare": {"baseline": "m"}}, {}),
    ("nothing-to-compare", {"compare": {"baseline_dataset": "d"}}, {}),
    ("unused-scale", {"models": {"m": {"scale": "logit"}}}, {}),
    ("unused-threshold", {"models": {"m": {"threshold": 0.3}}}, {"models": CLASSES, "metrics": ["accuracy"]}),
    ("unused-equivocal", {"equivocal": 0.1}, {"models": CLASSES, "metrics": ["accuracy"]}),
    ("unused-equivocal", {"models": {"m": {"equivocal": 0.1}}}, {"models": CLASSES, "metrics": ["accuracy"]}),
    ("unused-threshold", {"threshold": {"maximize": "j_index", "on": {"folds": 2}}},
     {"models": CLASSES, "metrics": ["accuracy"]}),
    ("nothing-to-rank", {"profit": {"benefit": 2, "cost": 1}}, {"models": CLASSES, "metrics": ["accuracy"]}),
    ("unused-dataset", {"datasets": {"c": {"path": "c.csv", "role": "calibrate"}}}, {}),
]
DATA = "y,p,q,c,s\n" + "".join(
    f"{i % 2},{(i * 7 % 10) / 10},{(i * 3 % 10) / 10},{(i // 3) % 2},{'ab'[i % 5 > 2]}\n" for i in range(80))


def merged(*parts: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            both = isinstance(value, dict) and isinstance(out.get(key), dict)
            out[key] = merged(out[key], value) if both else value
    return out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(DATA)
    (tmp_path / "c.csv").write_text(DATA.replace("\n", "1\n").replace("s1", "s"))
    return tmp_path


def write(name: str, spec: dict[str, Any]) -> str:
    Path(name).write_text(yaml.safe_dump(spec, sort_keys=False))
    return name


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("code", "idle", "rest"), IDLE, ids=[f"{i} {case[0]}" for i, case in enumerate(IDLE)])
def test_a_shared_key_that_changes_nothing_is_a_warning(code: str, idle: dict[str, Any], rest: dict[str, Any]) -> None:
    alone = write("alone.yaml", merged(SPEC, idle, rest))
    with pytest.raises(SpecError) as caught:
        load(alone)
    assert [problem.code for problem in caught.value.problems] == [code]
    write("base.yaml", merged(SPEC, idle))
    shared = write("shared.yaml", {"extends": "base.yaml", **rest})
    for spec in (load(shared), load(alone, ["title=another"]), load(load(shared))):
        (warning,) = spec.warnings
        assert (warning.code, warning.severity) == (code, "warning")
    (told,) = [found for found in evalpipe.run(shared).warnings if found.code == code]
    assert "(base.yaml, line " in told.message


@pytest.mark.usefixtures("folder")
def test_a_key_that_changes_nothing_is_an_error_where_it_was_set() -> None:
    spec = write("spec.yaml", SPEC)
    with pytest.raises(SpecError) as caught:
        load(spec, ["slice_rules.min_rows=9"])
    assert str(caught.value) == (
        "error[unused-rules]: 'slice_rules' has no effect: there are no slices\n --> --set:1:1\n  |\n1 | "
        "slice_rules.min_rows=9\n  | ^^^^^^^^^^^ add 'slices: […]', or remove it")


@pytest.mark.usefixtures("folder")
def test_a_warning_names_its_place_and_how_it_got_there() -> None:
    write("base.yaml", SPEC | {"slice_rules": {"min_rows": 9}})
    spec = load(write("shared.yaml", {"extends": "base.yaml"}))
    (warning,) = spec.warnings
    assert str(warning) == (
        "warning[unused-rules]: 'slice_rules' has no effect: there are no slices\n  --> base.yaml:19:1\n   |\n19 | "
        "slice_rules:\n   | ^^^^^^^^^^^ add 'slices: […]', or remove it\n   = included from: shared.yaml:1 -> "
        "base.yaml")


@pytest.mark.usefixtures("folder")
def test_a_word_of_before_is_read_as_that_of_now_with_a_warning() -> None:
    gate = {"metric": "brier", "max": 0.2, "undefined": "indeterminate"}
    path = write("spec.yaml", SPEC | {"gates": [gate]})
    spec = load(path)
    (warning,) = spec.warnings
    assert str(warning) == (
        "warning[renamed-value]: 'indeterminate' is called 'inconclusive' now; evalpipe 2.0 no longer reads it\n"
        "  --> spec.yaml:22:14\n   |\n"
        "22 |   undefined: indeterminate\n   |              ^^^^^^^^^^^^^ write 'inconclusive'")
    results = evalpipe.run(path)
    (told,) = [found for found in results.warnings if found.code == "renamed-value"]
    assert told.message.startswith("'indeterminate' is called 'inconclusive' now")
    assert results.spec["gates"][0]["undefined"] == "inconclusive"
    now = load(write("now.yaml", SPEC | {"gates": [gate | {"undefined": "inconclusive"}]}))
    assert (now.warnings, now.gates) == ((), spec.gates)


LISTS = {
    "gates": [{"metric": "brier", "max": 0.2}], "slices": ["s"],
    "costs": [{"truth": "1", "predicted": "0", "cost": 2}],
    "desirability": [{"metric": "brier", "minimize": {"low": 0, "high": 1}}],
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("nothing", ["[]", "{}", "null", "~", ""])
@pytest.mark.parametrize("key", LISTS)
def test_nothing_can_be_set_for_a_list(key: str, nothing: str) -> None:
    outcome = {"outcome": {"column": "y", "event": "1", "levels": ["0", "1"]}}
    spec = write("spec.yaml", SPEC | outcome | {key: LISTS[key]})
    assert getattr(load(spec), key) is not None
    assert getattr(load(spec, [f"{key}={nothing}"]), key) is None


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("key", LISTS)
def test_an_empty_list_of_a_file_takes_that_of_its_base_away(key: str) -> None:
    outcome = {"outcome": {"column": "y", "event": "1", "levels": ["0", "1"]}}
    write("base.yaml", SPEC | outcome | {key: LISTS[key]})
    spec = load(write("shared.yaml", {"extends": "base.yaml", key: []}))
    assert getattr(spec, key) is None
    assert spec == load(spec)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("nothing", ["{}", "null"])
@pytest.mark.parametrize(
    ("key", "value"),
    [("intervals", {"level": 0.9}), ("slice_rules", {"min_rows": 9}), ("report", {"formats": []}),
     ("engine", {"workers": 1}), ("compare", {"baseline": "m"}), ("profit", {"benefit": 2, "cost": 1}),
     ("recalibrate", {"fit_on": {"folds": 2}, "methods": ["isotonic"]}), ("threshold", 0.3), ("title", "t"),
     ("metrics", ["mcc"]), ("no_information", True)],
)
def test_nothing_can_be_set_for_a_key_whose_default_then_holds(key: str, value: object, nothing: str) -> None:
    models = {"m": {"probability": "p"}, "n": {"probability": "q"}}
    spec = write("spec.yaml", SPEC | {"models": models, "slices": ["s"]} | {key: value})
    default = load({k: v for k, v in (SPEC | {"models": models, "slices": ["s"]}).items() if k != key})
    assert getattr(load(spec, [f"{key}={nothing}"]), key) == getattr(default, key)


@pytest.mark.usefixtures("folder")
def test_null_takes_a_nested_key_away_and_a_required_one_is_missed() -> None:
    spec = write("spec.yaml", merged(SPEC, {"models": {"n": {"probability": "q"}}}))
    assert list(load(spec, ["models.n=null"]).models) == ["m"]
    assert load(spec, ["intervals.replicates=null"]).intervals.replicates == 2000
    assert load(spec, ["report.formats=[]"]).report.formats == ()
    with pytest.raises(SpecError) as caught:
        load(spec, ["models=null"])
    assert [problem.code for problem in caught.value.problems] == ["missing-key"]
    with pytest.raises(SpecError) as caught:
        load(spec, ["modles=null"])
    assert str(caught.value) == (
        "error[unknown-key]: unknown key 'modles'\n --> --set:1:1\n  |\n1 | modles=null\n"
        "  | ^^^^^^ did you mean 'models'?")
