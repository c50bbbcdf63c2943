"""List every sentence that the card, the command line, the errors and the documents can print.

    python docs/sentences.py                one sentence a line: its file, its line, its words
    python docs/sentences.py evalpipe/cli   the sentences of the files whose path begins with evalpipe/cli

Sentences are read from the code and are not run: texts and f-strings of `evalpipe/`, with their values as {name};
docstrings that are printed; the templates; README, CHANGELOG and docs; the comments of configs.
"""

from __future__ import annotations

import ast
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PRINTED = {"rule": 1, "recalibrator": None, "command": None, "group": None}
"""Decorators that print the docstring of what they stand above, and how many of its lines; None for all."""

GENERATED = {"metrics.md", "intervals.md", "recalibrators.md", "findings.md", "spec.md", "cli.md"}
"""Pages of docs/ whose sentences stand in the code, as do those of docs/build.py."""

RECORDS = {"NamedTuple", "TypedDict", "ABC", "Exception", "Protocol"}
"""Bases of classes that print no docstring, unlike the models of the spec and of the results."""

END = re.compile(r"(?<=[a-zà-ÿ\d)\]}`'\"%*…$²⁻ᵈ⁵⁶][.!?])\s+(?=[\W\d]*[A-ZÀ-Þ]|[\"'`({\d])")
WORD = re.compile(r"[^\W\d_][^\W\d_'’-]+")
COMMENT = re.compile(r"(?:^|(?<=\s))#")
MARKUP = re.compile(r"^\s*(?:[-*#>|]+|\d+\.)\s+")


class Sentence(NamedTuple):
    """A sentence and where it is written."""

    file: str
    line: int
    text: str

    @property
    def words(self) -> int:
        """The number of words; a value, a formula or a piece of code is one."""
        text = re.sub(r"\{[^{}]*\}|`[^`]*`|\$[^$]*\$", "x", self.text)
        return sum(any(map(str.isalnum, word)) for word in text.split())


def sentences(text: str) -> Iterator[str]:
    """Cut a text into its sentences; what holds no two words is none."""
    for part in END.split(" ".join(text.replace("\0", " ").split()).strip("| ")):
        if len(WORD.findall(re.sub(r"\{[^{}]*\}|\\\w+", " ", part))) > 1 and " " in part:
            yield part


def written(node: ast.AST) -> str | None:
    """Return a text of the code with its values as {name}; None where the node is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{" + value(part) + "}"
                       for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = written(node.left), written(node.right)
        if left is not None or right is not None:
            return (left if left is not None else "{…}") + (right if right is not None else "{…}")
    return None


def value(part: ast.AST) -> str:
    """Name a value within a text: by its code where that is short."""
    code = ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else "…"
    return code if len(code) <= 40 and "'" not in code else "…"


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the texts below a node, each with its line; those within the values of an f-string too."""
    text = written(node)
    if text is not None:
        yield node.lineno, text
    yield from printed(node)
    for below in ast.iter_child_nodes(node):
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            continue
        if isinstance(below, ast.FormattedValue):
            yield from texts(below.value)
        elif text is None or written(below) is None:
            yield from texts(below)
        else:
            yield from (found for found in texts(below) if found[1] not in text)


def printed(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the docstring of a function or class that prints it, and those of the fields of a model."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return
    lines = lines_printed(node)
    if lines != 0 and (docstring := ast.get_docstring(node)):
        for number, line in enumerate(paragraphs("\n".join(docstring.split("\n")[:lines]))):
            yield node.body[0].lineno + (number and 1), line
    if isinstance(node, ast.ClassDef) and is_model(node):
        for before, after in zip(node.body, node.body[1:], strict=False):
            if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr) and (text := written(after.value)):
                yield after.lineno, text


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text."""
    return [part for part in re.split(r"\n\s*\n|\n\s+(?=[-`\d])", text) if part.strip()]


def lines_printed(node: ast.FunctionDef | ast.ClassDef) -> int | None:
    """Return how many lines of a docstring are printed, None for all."""
    if isinstance(node, ast.ClassDef) and is_model(node):
        return None
    names = [ast.unparse(mark.func if isinstance(mark, ast.Call) else mark) for mark in node.decorator_list]
    for name in names:
        if name.rpartition(".")[2] in PRINTED:
            return PRINTED[name.rpartition(".")[2]]
    return 0


def is_model(node: ast.ClassDef) -> bool:
    """Say whether a class is a model of the spec or the results, whose descriptions stand in a schema."""
    bases = {ast.unparse(base).partition("[")[0] for base in node.bases}
    return bool(bases) and not bases & RECORDS and not node.decorator_list


def of_code(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module; in the catalogue of metrics, every docstring of a decorated function is printed."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    metric = file.parent.name == "metrics"
    for node in tree.body:
        if metric and isinstance(node, ast.FunctionDef) and node.decorator_list:
            yield node.body[0].lineno, ast.get_docstring(node) or ""
    yield from texts(tree)


class Template(HTMLParser):
    """The words of a template, and the attributes that are read aloud or shown."""

    def __init__(self) -> None:
        """Begin with no words."""
        super().__init__()
        self.parts: list[tuple[int, str]] = []

    def handle_data(self, data: str) -> None:
        """Take the words between tags."""
        blank = data[:len(data) - len(data.lstrip())]
        self.parts.append((self.getpos()[0] + blank.count("\n"), data))

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the words of a tag."""
        spoken = (text for name, text in attrs if name in ("alt", "title", "aria-label", "content") and text)
        self.parts.extend((self.getpos()[0], text) for text in spoken)


def of_template(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a template; its expressions are values, its statements are left out."""
    source = file.read_text(encoding="utf-8")
    for pattern in (r"\{#.*?#\}", r"\{%.*?%\}", r"<(style|script)\b.*?</\1>"):
        source = re.sub(pattern, lambda match: "\n" * match[0].count("\n"), source, flags=re.DOTALL)
    template = Template()
    template.feed(re.sub(r"\{\{\s*(.*?)\s*\}\}", lambda match: "{" + re.sub(r"[<>\"]", "", match[1]) + "}", source))
    yield from template.parts


def of_markdown(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs, list items and rows of a Markdown file, without its code."""
    yield from of_page(file.read_text(encoding="utf-8"))


def of_builder(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of docs/build.py, which are Markdown too."""
    for line, text in of_code(file):
        yield from ((line, part) for _, part in of_page(text))


def of_page(page: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs, list items and rows of Markdown, each with its line."""
    lines = re.sub(r"^```.*?^```", lambda match: "\n" * match[0].count("\n"), page,
                   flags=re.DOTALL | re.MULTILINE).split("\n")
    begun, text = 1, ""
    for number, line in enumerate([*lines, ""], 1):
        if not line.strip() or MARKUP.match(line) or line.startswith("|"):
            yield begun, text
            text = ""
        begun = begun if text.strip() else number
        if line.startswith("|"):
            yield from ((number, cell) for cell in line.split(" | "))
        else:
            text += " " + MARKUP.sub("", line)


def of_comments(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments of a YAML file; lines of comment that follow each other are one text, but for commands."""
    begun, text = 0, ""
    for number, line in enumerate([*file.read_text(encoding="utf-8").split("\n"), ""], 1):
        before, words = COMMENT.split(line, maxsplit=1) if COMMENT.search(line) else (line, "")
        if text and (not words.strip() or before.strip() or words.startswith("   ")):
            yield begun, text
            text = ""
        begun = begun if text else number
        text += "" if words.startswith("   ") else words
        if before.strip():
            yield begun, text
            text = ""


def everything(root: Path = ROOT) -> Iterator[Sentence]:
    """Yield every sentence of the project at ``root``, in the order of files and lines."""
    readers = {
        "evalpipe/**/*.py": of_code, "docs/build.py": of_builder, "templates/*.html": of_template, "*.md": of_markdown,
        "docs/*.md": of_markdown, "configs/*.md": of_markdown, "configs/*.yaml": of_comments,
        "configs/data/*.md": of_markdown, "benchmarks/*.md": of_markdown,
    }
    for pattern, read in readers.items():
        for file in sorted(root.glob(pattern)):
            if file.parent.name == "docs" and file.name in GENERATED:
                continue
            place = file.relative_to(root).as_posix()
            listed = dict.fromkeys(Sentence(place, line, part) for line, text in read(file) for part in sentences(text))
            yield from sorted(listed, key=lambda sentence: sentence.line)


def main(begin: str) -> None:
    """Print the sentences of the files whose path begins so."""
    for sentence in everything():
        if sentence.file.startswith(begin):
            print(f"{sentence.file}:{sentence.line}: {sentence.text}")


if __name__ == "__main__":
    main("".join(sys.argv[1:2]))
