"""What docs/stability.md promises: no name goes or changes without a warning for two minor versions."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import evalpipe
from evalpipe.errors import DataError, InternalError, SpecError, UsageError
from stability.names import stable_names

LIST = Path(__file__).parent / "names.json"
"""The names of the newest release, or of the one that is to come."""

WRITE = "EVALPIPE_REWRITE_EXPECTED"


def test_no_name_has_gone_and_new_ones_are_listed() -> None:
    names = stable_names()
    if os.environ.get(WRITE):
        LIST.write_text(json.dumps(names, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    listed = json.loads(LIST.read_text(encoding="utf-8"))

    gone = {kind: sorted(set(listed[kind]) - set(names[kind])) for kind in listed}
    assert {kind: some for kind, some in gone.items() if some} == {}, (
        "these names have gone: keep each for two minor versions with a warning that names the new one, "
        "see docs/stability.md")
    new = {kind: sorted(set(names[kind]) - set(listed.get(kind, ()))) for kind in names}
    assert {kind: some for kind, some in new.items() if some} == {}, (
        f"these names are new and become promises: run this test with {WRITE}=1 and commit the list")


def test_the_page_names_what_is_promised() -> None:
    page = (Path(__file__).parents[2] / "docs" / "stability.md").read_text(encoding="utf-8")
    functions = {name.removeprefix("evalpipe.").removesuffix("()") for name in stable_names()["python"]
                 if name.startswith("evalpipe.") and name.endswith("()") and name.count(".") == 1}

    assert [name for name in sorted(functions) if f"`{name}`" not in page and f"`evalpipe.{name}`" not in page] == []
    codes = {error.exit_code for error in (UsageError, SpecError, DataError, InternalError)}
    assert re.findall(r"(\d+) \w", next(line for line in page.splitlines() if line.startswith("| exit codes"))) == [
        "0", "1", *map(str, sorted(codes)), "130", "143"]


def test_a_former_word_works_and_warns_with_the_new_one(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("y,p\n1,0.8\n0,0.3\n1,0.6\n0,0.4\n", encoding="utf-8")
    (tmp_path / "spec.yaml").write_text("""\
evalpipe: 1
name: former
task: binary
outcome: {column: y, event: 1}
datasets: {d: {path: data.csv}}
models: {m: {probability: p}}
metrics: [accuracy]
gates: [{metric: accuracy, min: 0.1, undefined: indeterminate}]
""", encoding="utf-8")
    warnings = [str(warning) for warning in evalpipe.plan(tmp_path / "spec.yaml").warnings]

    assert any("'indeterminate' is called 'inconclusive' now" in warning for warning in warnings)
