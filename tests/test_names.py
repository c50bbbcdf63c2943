"""Models, datasets and variants are called as people call them, from the spec to every file that a run writes."""

from __future__ import annotations

import contextlib
import json
import re
import string
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import junitparser
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

import evalpipe
from evalpipe.base.origin import path_keys, path_text
from evalpipe.cli.app import app
from evalpipe.errors import DataError, SpecError, UsageError
from evalpipe.spec.field_types import Key
from evalpipe.spec.messages import bad_key, is_key

DATASET, FITTED = "Prüfung 2024/Q1", "cal. set"
FOREST, LIKE, ODD = "Random forest", "random-forest", "Modèle v1.2, «x» & <b> \"Bob's\" {level} $x$ [b]"
VARIANT = "beta (a b)"
SPEC = f"""evalpipe: 1
name: names
task: binary
outcome: {{column: y, event: 1}}
datasets:
  {DATASET}: {{path: test.csv}}
  {FITTED}: {{path: cal.csv, role: calibrate}}
models:
  {FOREST}: {{probability: p}}
  {json.dumps(ODD)}: {{probability: q}}
  {LIKE}: {{probability: r}}
metrics: [roc_auc, brier, sensitivity]
intervals: {{replicates: 100}}
recalibrate: {{fit_on: {FITTED}, methods: [{{method: beta, name: {VARIANT}}}]}}
compare: {{baseline: {FOREST}}}
desirability: [{{metric: roc_auc, maximize: {{low: 0.5, high: 1}}}}]
gates:
  - {{metric: roc_auc, min: 0.5, model: {json.dumps(ODD)}, dataset: {DATASET}}}
  - {{metric: brier, max: 0.5, model: {json.dumps(ODD)}, variant: {VARIANT}}}
  - {{metric: roc_auc, against: baseline, max_decrease: 1}}
"""

PICTURE, INSIDE = "<svg", "(?:[^<]|<(?!/?svg))"
"""Where a picture begins, and what may stand in it; a dot plot holds pictures of one level more."""


def rows(seed: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    y = (generator.random(80) < 0.4).astype(int)
    columns = {name: np.clip(0.25 + 0.35 * y + generator.normal(0, spread, 80), 0.01, 0.99)
               for name, spread in (("p", 0.15), ("q", 0.2), ("r", 0.3))}
    return pl.DataFrame({"y": y, **columns})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run, of the command line with an override of a model whose name has spaces."""
    folder = tmp_path_factory.mktemp("names")
    rows(1).write_csv(folder / "test.csv")
    rows(2).write_csv(folder / "cal.csv")
    (folder / "names.yaml").write_text(SPEC, encoding="utf-8")
    path = path_text(("models", FOREST, "threshold"))
    with contextlib.chdir(folder):
        done = CliRunner().invoke(app, ["run", "names.yaml", "--out", "out", "--no-progress", "--set", f"{path}=0.45"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"{LIKE} ({VARIANT})" in done.stdout
    return folder / "out"


def test_results_and_estimates_hold_the_names(written: Path) -> None:
    results = evalpipe.Results.read(written / "results.json")
    assert [model.name for model in results.models] == [FOREST, ODD, LIKE]
    assert results.spec["models"][FOREST]["threshold"] == 0.45
    assert {(row.model, row.variant) for row in results.rows} == {
        (model, variant) for model in (FOREST, ODD, LIKE) for variant in ("original", VARIANT)}
    assert {row.baseline for row in results.comparisons} >= {FOREST}
    table = pl.read_csv(written / "estimates.csv")
    assert table["model"].unique(maintain_order=True).to_list() == [FOREST, ODD, LIKE]
    assert table["dataset"].unique().to_list() == [DATASET]


def test_the_card_escapes_names_and_its_ids_are_unique(written: Path) -> None:
    card = (written / "card.html").read_text(encoding="utf-8")
    ids = re.findall(r'\sid="([^"]*)"', card)
    assert [name for name, count in Counter(ids).items() if count > 1 or not re.fullmatch(r"[\w.-]+", name)] == []
    assert set(re.findall(r'href="#([^"]*)"', card)) <= set(ids)
    assert "& <b>" not in card
    assert ODD in unescape(card)
    assert f"evalpipe recalibrate RESULTS '{FOREST}+{VARIANT}' DATA -o OUT" in unescape(card)
    for drawn in re.findall(rf"{PICTURE}(?:{INSIDE}|{PICTURE}{INSIDE}*</svg>)*</svg>", card):
        ET.fromstring(drawn)  # noqa: S314 - our own card
    assert (written / "card.pdf").read_bytes().startswith(b"%PDF")


def test_junit_holds_the_names(written: Path) -> None:
    cases = [(case.classname, case.name) for suite in junitparser.JUnitXml.fromfile(str(written / "junit.xml"))
             for case in suite]
    assert cases == [
        (f"{DATASET}.{ODD}", "ROC AUC at least 0.5"),
        (f"{DATASET}.{ODD}+{VARIANT}", "Brier score at most 0.5"),
        (f"{DATASET}.{ODD}", f"ROC AUC falls by at most 1 against {FOREST}"),
        (f"{DATASET}.{LIKE}", f"ROC AUC falls by at most 1 against {FOREST}"),
    ]


def test_a_variant_of_such_a_model_recalibrates(written: Path) -> None:
    name = f"{ODD}+{VARIANT}"
    again = evalpipe.recalibrate(written, name, rows(1))
    results = evalpipe.Results.read(written / "results.json")
    brier = next(row.value for row in results.rows
                 if (row.model, row.variant, row.metric) == (ODD, VARIANT, "brier"))
    # As many digits as two orders of adding 80 squares can agree in.
    errors = again[name].to_numpy() - again["y"].to_numpy()
    assert (errors**2).mean() == pytest.approx(brier, rel=1e-12)


@pytest.mark.parametrize("name", [FOREST, ODD, "v1.2", "模型", "a\\b", "100%", "#1", "a, b", "a:b"])
def test_evaluate_takes_such_names_and_says_them_back(name: str) -> None:
    truth, found = rows(1)["y"].to_numpy(), rows(1)["p"].to_numpy()
    options: dict[str, Any] = {"metrics": ["brier"], "intervals": {"method": "none"}}
    results = evalpipe.evaluate(truth, {name: found}, event=1, **options)
    assert results.rows[0].model == name
    levels = evalpipe.evaluate(truth, task="multiclass", levels=[0, 1], probabilities={
        name: np.stack([1 - found, found], axis=1)}, **options)
    assert levels.rows[0].value == pytest.approx(results.rows[0].value, rel=1e-12)
    with pytest.raises(DataError) as caught:
        evalpipe.evaluate(truth, {name: np.where(np.arange(80) == 4, np.nan, found)}, event=1, **options)
    assert str(caught.value) == (
        f"error[missing-probability]: 1 row has no probability in probability[{name!r}]\n"
        "  |\n  | row 5: NaN\n"
        f"  = argument probability[{name!r}]\n"
        "  = help: fill them, or leave such rows out for every model with complete_case='all'")
    with pytest.raises(UsageError, match=re.escape(f"probability[{name!r}] is of shape [40, 2], not [n]")):
        evalpipe.evaluate(truth, {name: found.reshape(40, 2)}, event=1)


def test_a_refused_name_is_said_in_the_words_of_evaluate() -> None:
    with pytest.raises(SpecError) as caught:
        evalpipe.evaluate([1, 0], {"ridge+lasso": [0.5, 0.5], "v1\x1b": [0.5, 0.5]}, event=1)
    assert str(caught.value) == (
        "error[bad-name]: the name 'ridge+lasso' holds '+', which stands between a model and its recalibrated variant\n"
        "  = help: write 'ridge_lasso'\n\n"
        "error[bad-name]: the name 'v1\\x1b' holds the character U+001B, which cannot be seen\n"
        "  = help: write 'v1'")


CHARACTERS = string.printable + "é\u0301\u00a0\u200b\ufeff\u2028«模😀\x85"


@given(st.text(st.sampled_from(CHARACTERS)) | st.text(), st.integers(0, 90))
def test_a_name_is_refused_where_a_reason_can_be_given_and_a_fix_is_a_name(text: str, more: int) -> None:
    name = text + "n" * more
    if re.search("[\ud800-\udfff]", name):
        return
    try:
        TypeAdapter(Key).validate_python(name)
    except ValidationError:
        assert not is_key(name)
        message, hint = bad_key(name, "it")
        assert message.startswith(("a name ", "the name it "))
        if hint is not None and hint.startswith("write '"):
            assert is_key(hint.removeprefix("write '")[:-1])
    else:
        assert is_key(name)


@given(st.lists(st.text(min_size=1), min_size=1))
def test_a_path_is_read_as_it_was_written(keys: list[str]) -> None:
    printable = ["".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in key) for key in keys]
    assert path_keys(path_text(tuple(keys))) == printable
