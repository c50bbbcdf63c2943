"""The corpus of specs in tests/corpus/specs.

Beside each bad spec stands the whole text of its error, NAME.expected. To write those files again after a message has
changed, run this file with EVALPIPE_REWRITE_EXPECTED=1, then read what changed. A bad spec whose fault a JSON Schema
cannot express says so in its first line: ``# not in schema: reason``.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from corpus_environment import ENVIRONMENT
from evalpipe.errors import SpecError
from evalpipe.spec.load import load
from evalpipe.spec.schema import json_schema, resolved, spec_sha256
from evalpipe.spec.spec import Spec
from evalpipe.spec.tree import SpecText, flatten
from evalpipe.spec.yaml import parse

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

CORPUS = Path(__file__).parent.parent / "corpus" / "specs"
GOOD = sorted((CORPUS / "good").glob("*.yaml"))
BAD = sorted((CORPUS / "bad").glob("*.yaml"))
REWRITE = os.environ.get("EVALPIPE_REWRITE_EXPECTED") == "1"


def unread(path: Path) -> Any:
    """Return a file's values as they stand in it: references kept, nothing extended."""
    text = re.sub(
        r"\$\$\{|\$\{", lambda found: "$$" + found[0].removeprefix("$$"), path.read_text(encoding="utf-8-sig")
    )
    document = parse(SpecText(path.name, text), {})
    assert document.root is not None
    return flatten(document.root, None, {}).data


@cache
def validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # whose grammar of addresses takes seconds to import

    return Draft202012Validator(json_schema())


def first_line(path: Path) -> str:
    return path.read_bytes().split(b"\n")[0].decode()


IN_SCHEMA = [path for path in BAD if not first_line(path).startswith("# not in schema: ")]


def test_the_corpus_is_large_enough() -> None:
    assert len(GOOD) >= 15
    assert len(BAD) >= 50
    assert len(IN_SCHEMA) >= 20


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_specs_load(path: Path) -> None:
    spec = load(path, environment=ENVIRONMENT)
    again = load(resolved(spec), environment={})
    assert isinstance(spec, Spec)
    assert resolved(again) == resolved(spec)
    assert spec_sha256(again) == spec_sha256(spec)


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_specs_give_exactly_the_expected_text(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with pytest.raises(SpecError) as caught:
        load(path.name, environment=ENVIRONMENT)
    text = f"{caught.value}\n"
    expected = path.with_suffix(".expected")
    if REWRITE:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")
    assert caught.value.exit_code == 2
    assert "hunter" not in text


def test_no_expected_text_is_left_over() -> None:
    assert {path.stem for path in (CORPUS / "bad").glob("*.expected")} == {path.stem for path in BAD}


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_the_schema_accepts_good_specs(path: Path) -> None:
    errors = [error.message for error in validator().iter_errors(unread(path))]
    assert errors == []


@pytest.mark.parametrize("path", IN_SCHEMA, ids=lambda path: path.stem)
def test_the_schema_refuses_bad_specs(path: Path) -> None:
    assert not validator().is_valid(unread(path))


def test_every_code_is_shown_by_the_corpus_or_another_test(root: Path) -> None:
    files = (path for room in ("spec", "chapters") for path in (root / "evalpipe" / room).rglob("*.py"))
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    codes = set(re.findall(r"""\b(?:problem|idle|refer)\([^"']*"([a-z0-9-]+)", """, source))
    shown = {code for path in BAD for code in re.findall(r"^error\[(.+?)\]", expected_of(path), re.MULTILINE)}
    tests = "".join(path.read_text(encoding="utf-8") for path in (root / "tests").rglob("test_*.py"))
    assert len(codes) > 80
    assert {code for code in codes - shown if f"[{code}]" not in tests} == set()


def expected_of(path: Path) -> str:
    return path.with_suffix(".expected").read_text(encoding="utf-8")
