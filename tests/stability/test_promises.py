"""What 1.0 promises is there, and the file that lists it is that of the code."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path

import pytest

from evalpipe.version import VERSION
from evalpipe.words.sentences import DEPRECATED
from stability.promised import FILE, METHODS, Promises, broken, promised, text_of

REWRITE = "names were added: python tests/stability/promised.py writes the list again"


@pytest.fixture(scope="module")
def now() -> Promises:
    return promised()


def test_what_was_promised_is_there_and_the_list_is_that_of_now(now: Promises) -> None:
    assert broken(json.loads(FILE.read_text(encoding="utf-8")), now) == []
    assert FILE.read_text(encoding="utf-8") == text_of(now), REWRITE


def test_the_list_has_all_that_the_page_names(now: Promises) -> None:
    some = {"key of the spec": "models.*.probability", "key of results.json": "estimates[].lower",
            "Python name": "evalpipe.run(out)", "command": "run --fail-on", "code": "sentence few-rows",
            "exit code": "DataError", "measure": "roc_auc", "key of --format json": "run: gates[].text"}
    assert {part: name in now[part] for part, name in some.items()} == dict.fromkeys(now, True)
    assert {part: len(names) > 5 for part, names in now.items()} == dict.fromkeys(now, True)


@pytest.mark.parametrize(("part", "name", "kinds", "sentence"), [
    ("key of results.json", "estimates[].lower", None,
     "the key of results.json 'estimates[].lower' of 1.0 is gone: deprecate it first, docs/stability.md"),
    ("key of the spec", "seed", ["string", "optional"],
     "the key of the spec 'seed' of 1.0 is no longer integer: deprecate it first, docs/stability.md"),
    ("command", "run --fail-on", ["optional", '"fail"', "fail", "never", "warn"],
     "the command 'run --fail-on' of 1.0 is no longer inconclusive: deprecate it first, docs/stability.md"),
    ("exit code", "DataError", ["5"],
     "the exit code 'DataError' of 1.0 is no longer 3: deprecate it first, docs/stability.md"),
    ("Python name", "evalpipe.run(x)", ["by name", "by place"],
     "the Python name 'evalpipe.run(x)' is new and not optional, but callers of 1.0 do not give it: give it a default"),
    ("Python name", "evalpipe.run(x)", ["by name", "optional"], None),
    ("Python name", "evalpipe.draw", ["callable"], None),
    ("key of the spec", "owner", ["string"],
     "the key of the spec 'owner' is new and not optional, but callers of 1.0 do not give it: give it a default"),
    ("key of results.json", "owner", ["string"], None),
])
def test_what_breaks_a_promise_is_named_in_a_sentence(
    now: Promises, part: str, name: str, kinds: list[str] | None, sentence: str | None
) -> None:
    changed = deepcopy(now)
    if kinds is None:
        del changed[part][name]
    else:
        changed[part][name] = kinds
    assert broken(now, changed) == ([] if sentence is None else [sentence])


def test_each_deprecated_name_is_on_the_page_and_goes_with_a_major_version(root: Path) -> None:
    page = (root / "docs" / "stability.md").read_text(encoding="utf-8")
    for row in DEPRECATED.values():
        assert re.search(rf"^\| `{row.old}`.* \| `{row.new}` \| {row.since} \| {row.until} \|$", page, re.MULTILINE)
        assert f"{row}\n" in page
        since, until, now = ([int(part) for part in text.split(".")] for text in (row.since, row.until, VERSION))
        assert (until[0] > since[0], until[1]) == (True, 0)
        assert now < until, f"remove '{row.old}': this version no longer reads it"


def test_the_page_names_the_public_names_of_results(root: Path) -> None:
    page = (root / "docs" / "stability.md").read_text(encoding="utf-8")
    (names,) = re.findall(r"these of `Results`: (.*?)\. ", page, re.DOTALL)
    assert re.findall(r"`(\w+)`", names) == list(METHODS)
