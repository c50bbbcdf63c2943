"""What is wrong with a text that people state is told with its place and the way out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

import evalpipe
from evalpipe.errors import DataError, EvalpipeError, SpecError

SPEC = """evalpipe: 1
name: told
task: binary
outcome: {column: y, event: 1}
datasets: {test: {path: test.csv}}
models: {a: {probability: p}, b: {probability: q}}
metrics: [roc_auc, {metric: f_beta, beta: 2}, {metric: f_beta, beta: 1}, {metric: ppv, prevalence: 0.2}, accuracy]
slices: [sex]
intervals: {replicates: 100}
report: {formats: []}
"""
ROWS = "y,p,q,sex\n" + "".join(f"{n % 3 % 2},{n % 7 / 7},{n % 5 / 5},{'mf'[n % 2]}\n" for n in range(90))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path


def error(folder: Path, card: str, kind: type[EvalpipeError] = SpecError) -> list[str]:
    """Return the messages of a spec with this card, as people read them, without the folder."""
    (folder / "spec.yaml").write_text(f"{SPEC}card:\n{card}", encoding="utf-8")
    with pytest.raises(kind) as caught:
        evalpipe.run(folder / "spec.yaml")
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


FAULTS = {
    'value("roc_acu", model="a")': ("unknown-metric", "unknown metric 'roc_acu'", "did you mean 'roc_auc'?"),
    'value("sparkle", model="a")': (
        "unknown-metric", "unknown metric 'sparkle'", "`evalpipe metrics` lists all of them"),
    'value("roc_auc", model="c")': ("unknown-model", "no model is called 'c'", "choose one of 'a' or 'b'"),
    'value("roc_auc", model="a", dataset="tset")': (
        "unknown-dataset", "no dataset called 'tset' is evaluated", "did you mean 'test'?"),
    'value("roc_auc", model="a", variant="platt")': (
        "unknown-variant", "no variant is called 'platt'", "write 'original'"),
    'value("roc_auc", model="a", slice={"age": "9"})': (
        "unknown-slice", "no entry of 'slices' is by 'age'", "the slices are by 'sex'"),
    'value("roc_auc", model="a", slice="sex")': (
        "wrong-type", "a slice is a mapping of column to label, not 'sex'", 'write slice={"column": "label"}'),
    'value("roc_auc", modle="a")': ("unknown-key", "unknown name 'modle'", "did you mean 'model'?"),
    'value("f_beta", model="a", beta="two")': (
        "wrong-type", "f_beta takes no beta of 'two'", "`evalpipe metrics f_beta` says what it takes"),
    'value("roc_auc")': ("ambiguous-reference", "which model is meant, 'a' or 'b'?", 'add model="…"'),
    'value("f_beta", model="a")': (
        "ambiguous-reference", "which number is meant, f_beta(beta=2.0) or f_beta(beta=1.0)?",
        "name the options that tell them apart"),
    'value("brier", model="a")': ("not-asked-for", "brier is not in 'metrics'", "list it in 'metrics'"),
    'value("f_beta", model="a", beta=3)': (
        "not-asked-for", "f_beta is not in 'metrics' in this form: f_beta(beta=2.0) and f_beta(beta=1.0) are",
        "add it to 'metrics', or refer to one that is"),
    'value("accuracy", model="a", average="macro")': (
        "not-asked-for", "accuracy is not in 'metrics' in this form: accuracy is",
        "add it to 'metrics', or refer to one that is"),
}


@pytest.mark.parametrize("reference", FAULTS)
def test_a_reference_to_no_number_is_told_at_the_key_of_the_spec(folder: Path, reference: str) -> None:
    code, message, hint = FAULTS[reference]
    written = f"{{{{ {reference} }}}}"
    text = f"  risks: 'It is {written}.'"

    assert error(folder, f"{text}\n") == [
        (f"error[{code}]: {written}: {message}\n  --> spec.yaml:12:10\n   |\n12 | {text}\n   |"
        f"          {'^' * (len(text) - 9)} {hint}")]


@pytest.mark.parametrize("reference", FAULTS)
def test_and_in_a_file_at_its_line_and_column(folder: Path, reference: str) -> None:
    code, message, hint = FAULTS[reference]
    written = f"{{{{ {reference} }}}}"
    (folder / "risks.md").write_text(f"# Risks\n\nIt is {written}.\n", encoding="utf-8")

    assert error(folder, "  risks: {file: risks.md}\n") == [
        (f"error[{code}]: {message}\n --> risks.md:3:7\n  |\n3 | It is {written}.\n"
         f"  |       {'^' * len(written)} {hint}\n"
        "  = named at spec.yaml:12:17")]


def test_a_reference_that_cannot_be_read_is_told_where_it_goes_wrong(folder: Path) -> None:
    (folder / "risks.md").write_text('It is {{ value("roc_auc" model) }}.', encoding="utf-8")

    assert error(folder, "  risks: {file: risks.md}\n") == [
        ("error[bad-reference]: this reference to a number cannot be read: expected ',' or ')', got 'model'\n"
        ' --> risks.md:1:26\n  |\n1 | It is {{ value("roc_auc" model) }}.\n'
        '  |                          ^^^^^ write {{ value("roc_auc", model="…") }}\n  = named at spec.yaml:12:17')]


def test_a_slice_that_no_row_is_in_is_told_when_the_data_are_read(folder: Path) -> None:
    text = """  risks: '{{ value("roc_auc", model="a", slice={"sex": "x"}) }}'"""

    assert error(folder, f"{text}\n", DataError) == [
        ('error[unknown-slice]: {{ value("roc_auc", model="a", slice={"sex": "x"}) }}: no row of dataset '
        f"'test' is in the slice sex = x"
        f"\n  --> spec.yaml:12:10\n   |\n12 | {text}\n   |          {'^' * (len(text) - 9)} "
        "its slices are 'sex = f' and 'sex = m'")]


@pytest.mark.parametrize(("card", "message"), [
    ("  risks: {file: risk.md}\n",
     ("error[missing-file]: there is no file 'risk.md'\n  --> spec.yaml:12:17\n   |\n12 |   risks: {file: risk.md}\n"
     "   |                 ^^^^^^^ did you mean 'risks.md'?")),
    ("  risks: {file: zzz}\n",
     ("error[missing-file]: there is no file 'zzz'\n  --> spec.yaml:12:17\n   |\n12 |   risks: {file: zzz}\n"
     "   |                 ^^^ the path is relative to the file that names it")),
    ("  risks: {file: .}\n",
     ("error[unreadable-file]: '.' is a folder, not a file\n  --> spec.yaml:12:17\n   |\n12 |   risks: {file: .}\n"
     "   |                 ^ name a text file")),
    ("  risks: {file: latin.md}\n",
     ("error[not-utf8]: the file is not UTF-8 text: byte 0xe9 in line 2"
      "\n --> latin.md:2\n  = named at spec.yaml:12:17\n"
     "  = help: save it as UTF-8")),
    ("  risks: {file: long.md}\n",
     ("error[too-large]: 'long.md' is larger than 100,000 bytes\n  --> spec.yaml:12:17\n   |\n"
     "12 |   risks: {file: long.md}\n   |                 ^^^^^^^ shorten it, and say where the rest is")),
    ("  risks: {file: blank.md}\n",
     ("error[empty-value]: this text says nothing\n --> blank.md:1:1\n  |\n1 | --\n  | ^ write it, or remove the key\n"
     "  = named at spec.yaml:12:17")),
    ("  risks: '...'\n",
     ("error[empty-value]: this text says nothing\n  --> spec.yaml:12:10\n   |\n12 |   risks: '...'\n"
     "   |          ^^^^^ write it, or remove the key")),
    ("  risks: Todo.\n",
     ("error[empty-value]: this text is a placeholder\n  --> spec.yaml:12:10\n   |\n12 |   risks: Todo.\n"
     "   |          ^^^^^ write it, or remove the key: the card then says that it is missing")),
    ("  limits: [a, '']\n",
     ("error[empty-value]: this text must not be empty\n  --> spec.yaml:12:15\n   |\n12 |   limits: [a, '']\n"
     "   |               ^^ fill it in")),
    ("  risks: {fil: risks.md}\n",
     ("error[unknown-key]: unknown key 'fil'\n  --> spec.yaml:12:11\n   |\n12 |   risks: {fil: risks.md}\n"
     "   |           ^^^ did you mean 'file'?")),
    ("  version: 1.2\n",
     ("error[wrong-type]: expected a text or a mapping with 'file', got 1.2\n  --> spec.yaml:12:12\n   |\n"
     "12 |   version: 1.2\n   |            ^^^ put a text in quotes: '1.2'")),
    ("  risk: much\n",
     ("error[unknown-key]: unknown key 'risk'\n  --> spec.yaml:12:3\n   |\n12 |   risk: much\n"
     "   |   ^^^^ did you mean 'risks'?")),
])
def test_a_text_that_cannot_be_shown_is_refused(folder: Path, card: str, message: str) -> None:
    for name, content in {"risks.md": b"Few.", "latin.md": b"One\ncaf\xe9", "long.md": b"a" * 100_001,
                          "blank.md": b"--\n"}.items():
        (folder / name).write_bytes(content)

    assert error(folder, card) == [message]


def test_a_text_that_is_too_long_is_refused(folder: Path) -> None:
    (message,) = error(folder, f"  risks: {'a' * 20_001}\n")

    assert message == ("error[too-large]: this text has 20,001 characters; at most 20,000 are allowed\n"
                       " --> spec.yaml:12:10\n"
                       "  = help: shorten it, and say where the rest is")


def test_a_mapping_has_no_places_and_the_message_names_the_key(folder: Path) -> None:
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "told", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"test": {"path": str(folder / "test.csv")}}, "models": {"a": {"probability": "p"}},
        "metrics": ["roc_auc"], "card": {"limits": ["{{ value('brier') }}"]}}
    with pytest.raises(SpecError) as caught:
        evalpipe.run(spec)

    assert str(caught.value) == (
        "error[not-asked-for]: card.limits[0]: {{ value('brier') }}: brier is not in 'metrics'\n  = help: list it in "
        "'metrics'")


def test_what_is_right_is_resolved_and_kept_beside_the_text(folder: Path) -> None:
    (folder / "texts").mkdir()
    (folder / "texts" / "base.yaml").write_text("card:\n  risks: {file: risks.md}\n", encoding="utf-8")
    (folder / "texts" / "risks.md").write_text(
        "\ufeffOf women {{ value('recall', model='b', slice={'sex': 'f'}) }}", encoding="utf-8")
    (folder / "spec.yaml").write_text(
        f"{SPEC.replace('accuracy]', 'sensitivity]')}extends: texts/base.yaml\n"
        "card: {limits: ['{{ value(\"f1\", model=\"a\") }}'], version: '{{ value(\"ppv\", model=\"a\") }}'}\n",
        encoding="utf-8")
    with pytest.raises(SpecError, match="f1 is not in 'metrics'"):
        evalpipe.run(folder / "spec.yaml")
    wrong = (folder / "spec.yaml").read_text(encoding="utf-8")
    (folder / "spec.yaml").write_text(wrong.replace('"f1", ', '"f_beta", beta=1, '), encoding="utf-8")
    stated = evalpipe.run(folder / "spec.yaml").statement

    assert stated.risks == "Of women {{ value('recall', model='b', slice={'sex': 'f'}) }}"
    assert [(file.path, file.sha256) for file in stated.files] == [
        ("risks.md", hashlib.sha256((folder / "texts" / "risks.md").read_bytes()).hexdigest())]
    assert [(number.metric, number.model, number.params, number.slice) for number in stated.numbers] == [
        ("ppv", "a", {"prevalence": 0.2}, None), ("sensitivity", "b", {}, {"sex": "f"}),
        ("f_beta", "a", {"beta": 1.0}, None)]


def test_who_must_sign_is_several_roles_or_one_that_did_not_build_the_model(folder: Path) -> None:
    (alone,) = error(folder, "  sign_off: {required: [developer]}\n")
    assert alone == (
        "error[no-second-reader]: the developer alone would make the card final\n  --> spec.yaml:12:24\n   |\n"
        "12 |   sign_off: {required: [developer]}\n"
        "   |                        ^^^^^^^^^^^ add a role that did not build the model, such as 'validator'")
    assert [line.partition("\n")[0] for line in error(folder, "  sign_off: {required: [owner, owner]}\n")] == [
        "error[duplicate-role]: the role 'owner' is listed twice"]
    (folder / "spec.yaml").write_text(f"{SPEC}card: {{sign_off: {{required: [owner, developer]}}}}\n")
    results = evalpipe.run(folder / "spec.yaml")
    assert results.spec["card"]["sign_off"] == {"required": ["owner", "developer"]}
