from __future__ import annotations

import contextlib
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.base.levels import level_text
from evalpipe.errors import SpecError, UsageError
from evalpipe.metrics import metric, registry
from evalpipe.spec.load import load
from evalpipe.spec.schema import json_schema, resolved, spec_sha256

SPEC: dict[str, Any] = {
    "evalpipe": 1,
    "name": "a",
    "task": "binary",
    "outcome": {"column": "y", "event": "1"},
    "datasets": {"test": {"path": "x.csv"}},
    "models": {"m": {"probability": "p"}},
}
WRITE_IT = (
    "write it as in --set intervals.level=0.9; put a key with a dot or a space in double quotes, as in --set "
    "'models.\"Model 1.2\".threshold=0.4'"
)
TEXT = """evalpipe: 1
name: a
task: binary
outcome: {column: y, event: "1"}
datasets: {test: {path: x.csv}}
models: {m: {probability: p}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def error(source: Any, *overrides: str, **environment: str) -> str:
    with pytest.raises(SpecError) as caught:
        load(source, overrides, environment)
    return str(caught.value)


def test_a_mapping_is_a_spec() -> None:
    spec = load(SPEC)
    assert spec.models["m"].probability == "p"
    assert spec.origin.place("models") is None


def test_what_python_has_and_yaml_has_not_is_taken() -> None:
    spec = load(
        {
            **SPEC,
            "seed": np.int64(3),
            "threshold": np.float64(0.25),
            "metrics": ("f1",),
            "datasets": {"d": {"path": Path("x")}},
        }
    )
    assert (spec.seed, spec.threshold, spec.datasets["d"].path) == (3, 0.25, "x")


def test_without_a_place_the_message_names_the_path() -> None:
    assert error(
        {**SPEC, "metrics": [{"metric": "f_beta", "beta": "2"}], "modles": {}, "outcome": {"column": "y"}}
    ) == (
        "error[unknown-key]: modles: unknown key 'modles'\n  = help: did you mean 'models'?\n\n"
        "error[missing-key]: outcome: missing key 'event'\n  = event: the level that counts as the event\n"
        "  = help: add 'event: …' here\n\n"
        "error[wrong-type]: metrics[0].beta: expected a number above 0 and below 1,000,000, got the text '2'\n"
        "  = help: remove the quotes"
    )


def test_a_mapping_is_not_searched_for_references() -> None:
    assert load({**SPEC, "title": "${env:HOME}"}).title == "${env:HOME}"


def test_a_mapping_may_extend_a_file(folder: Path) -> None:
    (folder / "base.yaml").write_text(TEXT)
    assert load({"extends": "base.yaml", "seed": 4}).seed == 4


def test_a_spec_is_loaded_again_with_its_places(folder: Path) -> None:
    (folder / "a.yaml").write_text(TEXT)
    spec = load("a.yaml")
    again = load(spec, ["threshold=0.3"])
    assert again.threshold == 0.3
    assert again.origin.place("name") == spec.origin.place("name")
    assert again.origin.folder_of("datasets", "test", "path") == Path()


def test_what_is_no_spec_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^error\[wrong-type\]: a spec is a path, a mapping or a Spec, not int$"):
        load(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", ["no/such.yaml", "", "a\0b", "x" * 5000])
@pytest.mark.usefixtures("folder")
def test_a_path_that_leads_nowhere_is_a_problem(source: str) -> None:
    assert error(source).startswith(("error[missing-file]", "error[unreadable-file]"))


def test_a_missing_file_names_its_neighbour(folder: Path) -> None:
    (folder / "credit.yaml").write_text(TEXT)
    assert error("credti.yaml") == (
        "error[missing-file]: there is no file credti.yaml\n  = help: did you mean 'credit.yaml'?"
    )


def test_folders_are_those_of_the_files_that_name_paths(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "base.yaml").write_text(TEXT)
    (folder / "a.yaml").write_text("extends: sub/base.yaml\ndatasets: {more: {path: y.csv}}\n")
    spec = load(folder / "a.yaml", ["datasets.third.path=z.csv"])
    origin = spec.origin
    assert origin.folder_of("datasets", "test", "path") == folder / "sub"
    assert origin.folder_of("datasets", "more", "path") == folder
    assert origin.folder_of("datasets", "third", "path") == folder
    assert list(spec.datasets) == ["test", "more", "third"]


def test_an_impossible_path_is_a_problem(folder: Path) -> None:
    (folder / "a.yaml").write_text('extends: "a\\0b"\n' + TEXT)
    assert error("a.yaml").startswith("error[unreadable-file]: cannot read a")


def test_maps_merge_deeply_and_lists_replace(folder: Path) -> None:
    (folder / "base.yaml").write_text(TEXT + "metrics: [f1, accuracy]\nintervals: {level: 0.9, replicates: 100}\n")
    (folder / "a.yaml").write_text("extends: base.yaml\nmetrics: [ks]\nintervals: {replicates: 200}\n")
    spec = load("a.yaml")
    assert [choice.metric for choice in spec.metrics or ()] == ["ks"]
    assert (spec.intervals.level, spec.intervals.replicates) == (0.9, 200)
    assert "extends" not in resolved(spec)


def test_a_linked_folder_is_shown_by_a_path_that_exists(folder: Path) -> None:
    (folder / "real" / "deep").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "real" / "deep")
    (folder / "real" / "base.yaml").write_text("seed: x\n")
    (folder / "link" / "a.yaml").write_text("extends: ../base.yaml\n" + TEXT)
    assert "--> link/../base.yaml:1:7" in error("link/a.yaml")


@pytest.mark.parametrize(
    ("override", "path", "value"),
    [
        ("seed=012", ("seed",), 12),
        ("title=no", ("title",), "no"),
        ('title="1"', ("title",), "1"),
        ("title=", ("title",), None),
        ("title=a=b", ("title",), "a=b"),
        ("intervals.level=0.5", ("intervals", "level"), 0.5),
        ("prevalence={value: 0.2, source: x}", ("prevalence", "source"), "x"),
        ("metrics.0=recall", ("metrics", 0), "sensitivity"),
        ("metrics.1={metric: f_beta, beta: 2}", ("metrics", 1, "beta"), 2.0),
        ("metrics=[ks]", ("metrics",), ["ks"]),
        ('models.m.characteristics."a.b"=${env:X}', ("models", "m", "characteristics", "a.b"), 5),
        ('models.m.characteristics."a ""b"""=1', ("models", "m", "characteristics", 'a "b"'), 1),
    ],
)
def test_overrides_are_typed_as_in_yaml(override: str, path: tuple[str | int, ...], value: object) -> None:
    found: Any = resolved(load({**SPEC, "metrics": ["accuracy"]}, [override], {"X": "5"}))
    for part in path:
        found = found[part]
    assert found == value
    assert type(found) is type(value)


def test_later_overrides_win() -> None:
    assert load(SPEC, ["seed=1", "seed=2"]).seed == 2


@pytest.mark.parametrize(
    ("override", "message", "caret", "hint"),
    [
        ("seed", "an override is a path of keys, '=' and a value", "^^^^", WRITE_IT),
        ("", "an override is a path of keys, '=' and a value", "^", WRITE_IT),
        ("models.Model 1.threshold=0.4", "an override is a path of keys, '=' and a value", "^" * 28, WRITE_IT),
        ("extends=x", "'extends' cannot be set here", "^^^^^^^", "write it in the file"),
        ("name.x=1", "'name' is a text, which has no key 'x'", "     ^", "set 'name' as a whole"),
        (
            "metrics.7=f1",
            "'metrics' is a list of 1 and has no entry '7'",
            "        ^",
            "entries count from 0; 1 adds one at the end",
        ),
        (
            "title=a: b",
            "YAML reads this value as a mapping or a list",
            "      ^^^^",
            "put a text in quotes, or write {key: value} or [a, b]",
        ),
        ("title=a #1", "what follows ' #' is a comment in YAML", "      ^^^^", "put the value in quotes"),
        (
            "title=#1",
            "what follows '#' is a comment in YAML, so there is no value",
            "      ^^",
            "put the value in quotes",
        ),
    ],
)
def test_overrides_that_cannot_be_applied(override: str, message: str, caret: str, hint: str) -> None:
    column = len(caret) - len(caret.lstrip()) + 1
    assert error({**SPEC, "metrics": ["accuracy"]}, override) == (
        f"error[bad-override]: {message}\n --> --set:1:{column}\n  |\n1 | {override}\n  | {caret} {hint}"
    )


def test_a_wrong_value_of_an_override_is_shown_in_it() -> None:
    assert error(SPEC, "seed=1", "intervals.level=95") == (
        "error[out-of-range]: expected a number above 0 and below 1, got 95\n"
        " --> --set:2:17\n  |\n2 | intervals.level=95\n  |                 ^^ did you mean 0.95?"
    )


@pytest.mark.parametrize(("key", "value", "expected"), [
    ("costs", [{"truth": "yes", "predicted": "no", "cost": 1e308}], "a number of 0 or more, got 1e+308"),
    ("profit", {"benefit": 5, "cost": 1e-300}, "a number of 0 or more, got 1e-300"),
    ("prevalence", {"beta": [1e308, 2]}, "a number above 0, got 1e+308"),
    ("compare", {"baseline": "m", "margins": {"brier": 1e99}}, "a number above 0, got 1e+99"),
    ("equivocal", 1e-61, "a number of 0 or more or a mapping with 'below', 'above' and 'min_probability', got 1e-61"),
    ("gates", [{"metric": "brier", "max": -1e99}], "a number, got -1e+99"),
    ("gates", [{"metric": "brier", "max_increase": 1e99, "against": "last"}], "a number of 0 or more, got 1e+99"),
    ("desirability", [{"metric": "brier", "minimize": {"low": 0, "high": 1e300}}], "a number, got 1e+300"),
    ("desirability", [{"metric": "brier", "minimize": {"low": 0, "high": 1}, "weight": 1e70}],
     "a number above 0, got 1e+70"),
    ("reference_rates", [{"name": "before", "metric": "brier", "value": 10**61}], f"a number, got {'1' + '0' * 56}..."),
])
def test_a_number_that_cannot_be_computed_with_is_refused(key: str, value: object, expected: str) -> None:
    text = error({**SPEC, "metrics": ["brier"], key: value})
    assert text.startswith(f"error[out-of-range]: {key}"), text
    assert f": expected {expected}\n  = help: numbers from 1e-60 to 1e+60 in size can be computed with" in text


def test_a_name_in_an_error_breaks_no_line_and_turns_no_text(folder: Path) -> None:
    (folder / "a.yaml").write_text(TEXT + 'extends: "b\\n\\e[31m\\u202ec.yaml"\n')
    assert error("a.yaml").splitlines()[0] == (
        "error[missing-file]: there is no file b\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[31m"
        "\N{REPLACEMENT CHARACTER}c.yaml")


def test_an_unknown_key_of_an_override_is_shown_in_it() -> None:
    assert error(SPEC, "intervals.levl=0.9") == (
        "error[unknown-key]: unknown key 'levl'\n"
        " --> --set:1:11\n  |\n1 | intervals.levl=0.9\n  |           ^^^^ did you mean 'level'?"
    )


def test_yaml_errors_of_an_override_are_shown_in_it() -> None:
    assert error(SPEC, "metrics=[f1") == (
        "error[yaml-syntax]: this list is not closed, or a ',' is missing in it\n"
        " --> --set:1:9\n  |\n1 | metrics=[f1\n  |         ^ end it with ']'"
    )


def test_an_empty_variable_counts_as_unset_where_there_is_a_default(folder: Path) -> None:
    (folder / "a.yaml").write_text(TEXT + "seed: ${env:S:-7}\ntitle: '${env:T}|${env:S:-}|$${env:S}|$'\n")
    spec = load("a.yaml", environment={"S": "", "T": ""})
    assert (spec.seed, spec.title) == (7, "||${env:S}|$")
    assert spec.origin.environment == {("seed",), ("title",)}


def test_quotes_keep_a_variable_a_text(folder: Path) -> None:
    (folder / "a.yaml").write_text(TEXT + 'threshold: "${env:T}"\n')
    assert error("a.yaml", T="0.123") == (
        "error[wrong-type]: expected a number from 0 to 1 or a mapping with 'maximize', 'minimize', 'subject_to', 'on' "
        "and 'bayes', got a text from ${env:T}\n"
        ' --> a.yaml:7:12\n  |\n7 | threshold: "${env:T}"\n  |            ^^^^^^^^^^'
    )


def test_resolved_is_canonical() -> None:
    spec = load(
        {
            **SPEC,
            "prevalence": 0.2,
            "metrics": ["recall", "f_meas", {"metric": "ppv"}, {"metric": "npv", "prevalence": 1}],
        }
    )
    assert resolved(spec)["metrics"] == [
        "sensitivity",
        {"metric": "f_beta", "beta": 1.0},
        "ppv",
        {"metric": "npv", "prevalence": 1.0},
    ]
    assert resolved(spec)["prevalence"] == {
        "value": 0.2, "beta": None, "levels": None, "dirichlet": None, "source": None}
    same = load(
        {
            **SPEC,
            "prevalence": {"value": 0.2},
            "metrics": ["sensitivity", "f_beta", "ppv", {"metric": "npv", "prevalence": 1.0}],
        }
    )
    assert spec_sha256(same) == spec_sha256(spec)
    assert spec_sha256(load(SPEC)) != spec_sha256(spec)


def test_a_new_metric_is_known_to_the_schema_and_the_checks() -> None:
    def toy(tp: Any, *, power: int = 2) -> Any:
        """Nothing."""
        return tp**power

    metric(needs="labels", direction="none", range=(0, 1), undefined="never", ref="none")(toy)
    try:
        assert load({**SPEC, "metrics": [{"metric": "toy", "power": 3}]}).metrics
        assert "'toy'" in str(json_schema()["$defs"]["metric"])
        assert "did you mean 'power'?" in error({**SPEC, "metrics": [{"metric": "toy", "pwer": 3}]})
    finally:
        registry.remove("toy")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (1, "1"),
        (1.0, "1"),
        (1.5, "1.5"),
        ("yes", "yes"),
        (np.int8(2), "2"),
        (np.bool_(1), "true"),
    ],
)
def test_levels_are_compared_by_their_text(value: object, text: str) -> None:
    assert level_text(value) == text


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=8)
        | st.sampled_from(["metric", "f1", "p"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        *SPEC,
                        "metrics",
                        "metric",
                        "prevalence",
                        "levels",
                        "event",
                        "role",
                        "threshold",
                        "prediction",
                        "weight",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_no_mapping_raises_anything_else(value: Any) -> None:
    if isinstance(value, dict):
        for source in ({**SPEC, **value}, {key: item for key, item in value.items() if key != "evalpipe"}):
            with contextlib.suppress(SpecError):
                assert math.isfinite(load(source).threshold)


@given(st.text(max_size=30))
def test_no_override_raises_anything_else(text: str) -> None:
    with contextlib.suppress(SpecError):
        assert load(SPEC, [text], {}).name


def test_heavy_libraries_are_not_imported() -> None:
    code = (
        "import sys, evalpipe.spec.load, evalpipe.spec.schema; "
        "print(sorted({'polars', 'scipy', 'matplotlib', 'weasyprint', 'rich', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
