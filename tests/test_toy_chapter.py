"""A chapter is declared in its folder, and its name in one tuple switches it on; everything else knows it."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import pytest
from pydantic import BaseModel

import evalpipe
from evalpipe.base.records import After, Record, order_fields
from evalpipe.chapters import CHAPTERS
from evalpipe.results.document import CoreFields, Document, FieldsOfChapters
from evalpipe.spec.core_keys import ChapterKeys, ModelKeys, ReportKeys

FILES = {
    "__init__.py": '"""Toys for each model."""\n',
    "spec.py": '''"""The key of toys."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import SpecPart


class Toys(SpecPart):
    """How many toys there are."""

    each: Annotated[StrictInt, Field(ge=1)]
    """How many each model gets."""


class ToysKeys(SpecPart):
    """Keys of a spec."""

    toys: Annotated[Toys | None, After("complete_case"), UNWRITTEN] = None
    """Toys for every model."""
''',
    "plan.py": '''"""The rule of toys, and their plan."""

from __future__ import annotations


def rules(draft):
    """Yield the problem of toys that not every model can carry."""
    toys = draft.spec.toys
    if toys is not None and toys.each > 9:
        yield draft.tree.problem("too-many-toys", f"no model carries {toys.each} toys", "toys", "each", hint="write 9")


def toys_plan(spec):
    """Return how many toys each model gets; None without toys."""
    return None if spec.toys is None else spec.toys.each


PARTS = (toys_plan,)


def lines(plan):
    """Say how many toys each model gets."""
    if plan.part(toys_plan) is not None:
        yield f"toys for each model: {plan.part(toys_plan)}"


def document(plan):
    """Return how many toys each model gets."""
    return {"toys": plan.part(toys_plan)}
''',
    "compute.py": '''"""The toys of each model, and the events to play with."""

from __future__ import annotations

import numpy as np

from evalpipe.chapters.toys.plan import toys_plan
from evalpipe.chapters.toys.records import ModelToys


def tables(plan, evaluated):
    """Return the toys of every model on every dataset."""
    each = plan.part(toys_plan)
    samples = [dataset.sample for dataset in evaluated if each is not None]
    return {"toys": [ModelToys(dataset=sample.dataset, model=model, toys=each, events=int(np.sum(sample.truth)))
                     for sample in samples for model in sample.models]}
''',
    "records.py": '''"""The rows of toys."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, OfModel, Record


class ModelToys(OfModel):
    """The toys of a model."""

    toys: int
    events: int


class ToysFields(Record):
    """What the results hold of it."""

    toys: Annotated[list[ModelToys], UNWRITTEN] = Field(default_factory=list)
''',
    "card.py": '''"""What the card says of toys, and their figure."""

from __future__ import annotations

from functools import partial

from evalpipe.card.figures.axes import number_axis
from evalpipe.card.figures.panel import panel
from evalpipe.card.figures.svg import Sheet, drawing
from evalpipe.card.page import Column, Figures, Row, Section, Table


def sections(results):
    """Write the section, where there are toys."""
    if results.toys:
        rows = tuple(Row((row.model, str(row.toys), str(row.events))) for row in results.toys)
        columns = (Column("Model"), Column("Toys", "num"), Column("Events", "num"))
        yield Section("toys", "Toys of the models", (
            Table("Toys", columns, rows), Figures(partial(drawings, results))), part="decisions")


def drawings(results):
    """Draw the toys of every model."""
    toys = [float(row.toys) for row in results.toys]
    sheet = Sheet()
    drawn = panel(sheet, number_axis("Model", range(len(toys))), number_axis("Toys", toys, zero=True))
    drawn.marks([float(place) for place in range(len(toys))], toys, "ink", name="toys")
    return [drawing("toys-figure", "Toys by model", ("All have toys.", "Toys.", "Toys of the models."), [sheet])]
''',
}

SPEC = """evalpipe: 1
name: toyshop
task: binary
outcome: {column: y, event: true}
datasets: {a: {path: a.parquet}}
models: {m: {probability: p}}
metrics: [accuracy]
intervals: {replicates: 200}
report: {formats: [html]}
ledger: false
"""


@pytest.fixture(scope="module")
def house(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package with one folder more, and one entry more in the tuple of chapters."""
    house = tmp_path_factory.mktemp("house")
    for room in ("evalpipe", "templates"):
        shutil.copytree(root / room, house / room)  # with what is compiled
    chapters = house / "evalpipe" / "chapters"
    (chapters / "toys").mkdir()
    for name, text in FILES.items():
        (chapters / "toys" / name).write_text(text, encoding="utf-8")
    written = (chapters / "__init__.py").read_text(encoding="utf-8")
    last = f'"{CHAPTERS[-1]}",\n)'
    assert written.count(last) == 1
    (chapters / "__init__.py").write_text(written.replace(last, f'"{CHAPTERS[-1]}", "toys",\n)'), encoding="utf-8")
    return house


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    y = generator.random(200) < 0.5
    pl.DataFrame({"y": y, "p": np.clip(0.3 + 0.4 * y, 0, 1)}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "plain.yaml").write_text(SPEC)
    (tmp_path / "toys.yaml").write_text(f"{SPEC}toys: {{each: 3}}\n")
    (tmp_path / "many.yaml").write_text(f"{SPEC}toys: {{each: 12}}\n")
    return tmp_path


def run(place: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the package that lies in a place."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from evalpipe.cli import main; main(sys.argv[1:])"
    return subprocess.run([sys.executable, "-c", code, str(place), *arguments], cwd=folder, capture_output=True,
                          text=True, check=False)


def test_a_declared_chapter_is_known_everywhere(house: Path, folder: Path) -> None:
    schema = json.loads(run(house, folder, "schema").stdout)
    keys = list(schema["properties"])
    assert keys[keys.index("toys") - 1] == "complete_case"
    assert schema["properties"]["toys"]["description"] == "Toys for every model."

    wrong = run(house, folder, "validate", "many.yaml")
    assert wrong.returncode == 2
    assert "error[too-many-toys]: no model carries 12 toys\n  --> many.yaml:11:14\n" in wrong.stderr

    assert "\ntoys for each model: 3\n" in run(house, folder, "plan", "toys.yaml").stdout
    assert json.loads(run(house, folder, "plan", "toys.yaml", "--format", "json").stdout)["toys"] == 3

    done = run(house, folder, "run", "toys.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    text = (folder / "out" / "results.json").read_text(encoding="utf-8")
    results = json.loads(text)
    assert results["toys"] == [
        {"dataset": "a", "model": "m", "variant": "original", "toys": 3, "events": results["datasets"][0]["events"]}]
    assert list(results)[-2:] == ["row_file", "toys"]
    assert results["spec"]["toys"] == {"each": 3}
    card = (folder / "out" / "card.html").read_text(encoding="utf-8")
    assert 'id="toys"' in card
    assert "Toys of the models" in card
    assert "Toys by model" in card

    code = ("import sys; sys.path.insert(0, sys.argv[1]); from evalpipe.results import Results\n"
            "results = Results.read('out')\n"
            "print(results.frame('toys').to_dicts(), results.to_json() == open('out/results.json').read())")
    read = subprocess.run([sys.executable, "-c", code, str(house)], cwd=folder, capture_output=True, text=True,
                          check=True)
    assert "'toys': 3" in read.stdout
    assert read.stdout.endswith("True\n")


def test_a_spec_without_its_key_has_the_same_bytes_as_before(house: Path, folder: Path) -> None:
    evalpipe.run(folder / "plain.yaml", out=folder / "before")
    assert run(house, folder, "run", "plain.yaml", "--out", "after").returncode == 0
    for name in ("results.json", "card.html", "estimates.csv"):
        assert (folder / "before" / name).read_bytes() == (folder / "after" / name).read_bytes()


@pytest.mark.parametrize(("file", "role", "composed"), [
    ("spec/core_keys.py", "spec", {"ChapterKeys": "Keys", "ModelKeys": "ModelKeys", "ReportKeys": "ReportKeys"}),
    ("results/document.py", "records", {"FieldsOfChapters": "Fields"}),
])
def test_the_classes_for_types_are_those_of_the_chapters(
    root: Path, file: str, role: str, composed: dict[str, str]
) -> None:
    package = root / "evalpipe"
    classes = [node for node in ast.walk(ast.parse((package / file).read_text(encoding="utf-8")))
               if isinstance(node, ast.ClassDef)]
    for name, ending in composed.items():
        (bases,) = [[ast.unparse(base) for base in node.bases] for node in classes if node.name == name]
        declared = []
        for chapter in CHAPTERS:
            source = package / "chapters" / chapter / f"{role}.py"
            wanted = f"{chapter.title().replace('_', '')}{ending}"
            if source.is_file() and f"class {wanted}(" in source.read_text(encoding="utf-8"):
                declared.append(wanted)
        assert bases == declared, f"name them in {name} of evalpipe/{file}, in the order of CHAPTERS"


def test_fields_of_results_are_those_of_the_core_and_then_of_the_chapters_in_their_order() -> None:
    last_first = FieldsOfChapters.__bases__
    of_chapters = [name for declared in reversed(last_first) for name in declared.__annotations__]

    assert [declared.__module__.split(".")[2] for declared in reversed(last_first)] == [
        chapter for chapter in CHAPTERS if f"evalpipe.chapters.{chapter}.records" in {
            declared.__module__ for declared in last_first}]
    assert list(Document.model_fields) == [*CoreFields.model_fields, *of_chapters]


@pytest.mark.parametrize("composed", [ChapterKeys, ModelKeys, ReportKeys])
def test_every_chapter_says_where_its_fields_stand(composed: type[BaseModel]) -> None:
    for declared in composed.__bases__:
        assert issubclass(declared, BaseModel)
        first = next(iter(declared.__annotations__))
        assert any(isinstance(mark, After) for mark in declared.model_fields[first].metadata), declared


class Early(Record):
    b: Annotated[int, After("a")] = 2
    c: int = 3


class Late(Record):
    d: Annotated[int, After("b")] = 4
    e: Annotated[int, After("a")] = 5


def test_fields_of_chapters_stand_where_they_say() -> None:
    @order_fields
    class Whole(Late, Early):  # the last base is the first chapter
        a: int = 1
        f: int = 6

    assert "".join(Whole.model_fields) == "abdcef"
    assert list(Whole().model_dump().values()) == [1, 2, 4, 3, 5, 6]


def test_a_field_that_stands_after_none_is_refused() -> None:
    class Alone(Early):
        f: int = 6

    with pytest.raises(ValueError, match=r"^Alone has no field 'a' after which others could stand$"):
        order_fields(Alone)
