"""Write docs/books.md: what five texts on evaluation show, made by running the specs of configs/books.

    python docs/books.py            run the specs; write the page and its pictures
    python docs/books.py --check    change nothing; name what is stale and end with 1

What the texts show is listed in docs/books/*.yaml; `book_items.py` says how. A number that is not the printed one and
has no reason for it is an error.
"""

from __future__ import annotations

import json
import sys
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl
from book_items import Compared, Item, Text, UnfitItemError, Values, check_reasons, compared_column, read_text, value_of
from book_page import Shown, items_table, page, values_table
from book_pictures import picture

import evalpipe
from evalpipe.card.edition import Edition
from evalpipe.card.page import Figures, Section
from evalpipe.errors import EvalpipeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.figures.svg import Drawing

__all__ = [
    "Builder", "Compared", "Text", "UnfitItemError", "items_table", "main", "read_text", "stale", "value_of",
    "values_table",
]

ROOT = Path(__file__).resolve().parents[1]
ITEMS, CONFIGS, PAGE = ROOT / "docs" / "books", ROOT / "configs" / "books", ROOT / "docs" / "books.md"


class Evaluated:
    """A spec that was run: its results as results.json holds them, its rows, and the figures of its card."""

    def __init__(self, config: str) -> None:
        """Run the spec of this name."""
        self.config = config
        path = CONFIGS / f"{config}.yaml"
        if not path.is_file():
            raise UnfitItemError(f"there is no configs/books/{config}.yaml")
        with TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            self._results = evalpipe.run(path, out=out, overrides=["report.formats=[]"])
            self.document: dict[str, Any] = json.loads(self._results.to_json()) | _rows(out)

    @cached_property
    def figures(self) -> dict[str, tuple[str, Drawing]]:
        """Each figure of the card by its key, with the title of the section that it stands in."""
        edition = Edition(self._results)
        top = [block for block in edition.card.masthead if isinstance(block, Section)]
        sections = [*top, *(section for _, part in edition.card.parts for section in part)]
        return {drawing.key: (str(section.title), drawing) for section in sections
                for block in _figures(section) for _, drawing in edition.drawn(block)}

    def figure(self, key: str) -> tuple[str, Drawing]:
        """Return a figure of the card and the title of its section."""
        if key not in self.figures:
            raise UnfitItemError(f"the card of {self.config} has no figure {key}; it has {', '.join(self.figures)}")
        return self.figures[key]


def _rows(out: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of the row-level file in the order of their ids, where the spec asks for one in csv."""
    file = out / "rows.csv"
    if not file.is_file():
        return {}
    return {"rows": pl.read_csv(file, infer_schema_length=None).sort("id", maintain_order=True).to_dicts()}


def _figures(block: Any) -> Iterator[Figures]:
    """Yield the blocks of figures in a block, however deep."""
    if isinstance(block, Figures):
        yield block
    for inner in getattr(block, "blocks", ()):
        yield from _figures(inner)


class Builder:
    """Runs each spec once, finds what the items show, and gathers the faults of all."""

    def __init__(self) -> None:
        """Begin without specs run."""
        self.pictures: dict[str, str] = {}
        self.faults: list[str] = []
        self._evaluated: dict[str, Evaluated] = {}
        self._broken: set[str] = set()

    def text(self, name: str, text: Text) -> list[Shown]:
        """Return the items of a text with what is shown of them."""
        shown = []
        for item in text.items:
            try:
                shown.append(self._shown(item))
            except UnfitItemError as fault:
                self.faults.append(f"docs/books/{name}.yaml, {item.at}, {item.item}: {fault}")
        return shown

    def _shown(self, item: Item) -> Shown:
        if item.config is None:
            return Shown(item)
        run = self._run(item.config)
        if item.figure is not None:
            section, drawing = run.figure(item.figure)
            file = f"{item.config}-{item.figure}.svg"
            self.pictures[file] = picture(drawing)
            return Shown(item, section=section, drawing=drawing, file=file)
        if item.table is not None:
            rows = len(item.table.rows)
            values = [Values(column, compared_column(run.document, column, rows), bool(item.input or column.input))
                      for column in item.table.columns]
            check_reasons(item, values)
            return Shown(item, values=values)
        value = value_of(run.document, item.number or {})
        if isinstance(value, list | dict):
            raise UnfitItemError(f"{item.number} is no single value")
        values = [Values(item, [Compared(value=value, printed=item.printed, original=item.original)],
                         bool(item.input))]
        check_reasons(item, values)
        return Shown(item, values=values)

    def _run(self, config: str) -> Evaluated:
        """Run a spec when it is first needed; one that does not run is told with the first of its items."""
        if config in self._broken:
            raise UnfitItemError(f"configs/books/{config}.yaml does not run, as said above")
        if config not in self._evaluated:
            try:
                self._evaluated[config] = Evaluated(config)
            except EvalpipeError as error:
                self._broken.add(config)
                raise UnfitItemError(f"configs/books/{config}.yaml does not run:\n{error}") from None
        return self._evaluated[config]


def build() -> dict[Path, str]:
    """Return every file that this script writes, with its text; raises UnfitItemError with every fault."""
    builder = Builder()
    texts = {file.stem: read_text(file) for file in sorted(ITEMS.glob("*.yaml"))}
    shown = {name: builder.text(name, text) for name, text in texts.items()}
    if builder.faults:
        raise UnfitItemError("\n".join(builder.faults))
    return {PAGE: page(texts, shown)} | {ITEMS / name: svg for name, svg in sorted(builder.pictures.items())}


def stale(files: dict[Path, str]) -> list[str]:
    """Name the files that are not what they should be, and the pictures that no item shows."""
    old = [path for path, text in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    return [path.relative_to(ROOT).as_posix() for path in (*old, *unused(files))]


def unused(files: dict[Path, str]) -> list[Path]:
    """Return the pictures that no item shows."""
    return [path for path in sorted(ITEMS.glob("*.svg")) if path not in files]


def main(check: bool) -> int:  # noqa: FBT001 - the only argument of the command
    """Write the files, or compare them; return the exit code."""
    try:
        files = build()
    except UnfitItemError as faults:
        print(faults, file=sys.stderr)
        return 1
    if check:
        old = stale(files)
        print(f"stale: {', '.join(old)}; run `make books` and commit the result" if old else "docs/books.md is fresh")
        return int(bool(old))
    for path in unused(files):
        path.unlink()
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    print(f"wrote docs/books.md and {len(files) - 1} pictures in docs/books")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
