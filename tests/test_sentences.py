"""docs/sentences.py lists every sentence that people can read."""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    "evalpipe/cli/app.py": '''
"""A module, not printed."""
LIMIT = 5
"""Not printed: of a constant."""
NAMES = ["one_word", "two words"]


def said(count: int, name: str) -> str:
    """Not printed: of a function."""
    verb = "are rows" if count > 1 else "is one"  # not printed: a comment
    text = (f"The model {name} {verb} too few. "
            f"Add {count + 1} rows; see {', '.join(['the manual', 'x'])}.")
    return text + " That is all." + " " + name


@app.command(short_help="Run it all.")
def run() -> None:
    """Run the whole pipeline.

    It ends with 1 where a gate fails.
    """


@rule
def skill(results: object) -> None:
    """Whether a model has skill.

    Not printed: only the first line is.
    """


class Row(Record):
    """A row of results."""

    value: float
    """The value, with no
    further words."""


@dataclass
class Inner(Base):
    """Not printed: no model."""
''',
    "evalpipe/metrics/labels.py": '''
@rate
def recall(tp: int) -> float:
    r"""Share of the events found, $\\frac{TP}{P}$. Events only."""


def helper() -> None:
    """Not printed: no metric."""
''',
    "templates/card.html": """{# a comment here #}<p title="Exact value here">
{% if x %}All {{ n }} rows are drawn.{% endif %}</p>
<style>p { color: red }</style><p>Read
 this first.</p>""",
    "docs/methods.md": """# How it works

It is fast. It is
right, e.g. here.

```
no sentence of code
```

- first point
- second point

| the name | 5 |
""",
    "docs/spec.md": "Generated from the code.\n",
    "configs/a.yaml": """# Who survived?
#
#     evalpipe run it now
#
# Two
# models.
name: a  # its short name
b: '#no comment'
""",
}
EXPECTED = """\
evalpipe/cli/app.py:5: two words
evalpipe/cli/app.py:10: are rows
evalpipe/cli/app.py:10: is one
evalpipe/cli/app.py:11: The model {name} {verb} too few.
evalpipe/cli/app.py:11: Add {count + 1} rows; see {…}.
evalpipe/cli/app.py:12: the manual
evalpipe/cli/app.py:13: {…} That is all.
evalpipe/cli/app.py:16: Run it all.
evalpipe/cli/app.py:18: Run the whole pipeline.
evalpipe/cli/app.py:19: It ends with 1 where a gate fails.
evalpipe/cli/app.py:26: Whether a model has skill.
evalpipe/cli/app.py:33: A row of results.
evalpipe/cli/app.py:36: The value, with no further words.
evalpipe/metrics/labels.py:4: Share of the events found, $\\frac{TP}{P}$.
evalpipe/metrics/labels.py:4: Events only.
templates/card.html:1: Exact value here
templates/card.html:2: All {n} rows are drawn.
templates/card.html:3: Read this first.
docs/methods.md:1: How it works
docs/methods.md:3: It is fast.
docs/methods.md:3: It is right, e.g. here.
docs/methods.md:10: first point
docs/methods.md:11: second point
docs/methods.md:13: the name
configs/a.yaml:1: Who survived?
configs/a.yaml:5: Two models.
configs/a.yaml:7: its short name
"""


@cache
def lister() -> ModuleType:
    """Return docs/sentences.py as a module."""
    spec = importlib.util.spec_from_file_location("sentences", ROOT / "docs" / "sentences.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sentences"] = module
    spec.loader.exec_module(module)
    return module


def test_every_kind_of_text_is_listed_with_its_place(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    assert "".join(f"{s.file}:{s.line}: {s.text}\n" for s in lister().everything(tmp_path)) == EXPECTED


@pytest.mark.parametrize(("text", "words"), [
    ("Two words", 2), ("The {len(rows) + 1} rows of `a b c`, $x + 1$.", 6), ("a {b} c", 3),
])
def test_a_value_a_formula_and_a_piece_of_code_are_one_word_each(text: str, words: int) -> None:
    assert lister().Sentence("", 1, text).words == words


def test_the_command_prints_the_sentences_of_a_folder_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    lister().main("evalpipe/findings/")
    lines = capsys.readouterr().out.splitlines()

    assert len(lines) > 50
    assert all(line.startswith("evalpipe/findings/") for line in lines)
    assert lines == sorted(lines, key=lambda line: (line.split(":")[0], int(line.split(":")[1])))


MOST_WORDS = 40
"""The most words of a sentence. A reader at three in the morning has read its end before forgetting its beginning."""

DIALECT = (
    "reaches from", "tells? as much", "weightings", "rows that choose(?! the)", "bears? out", "came upon", "timid",
    "chance adds", "of which the first", "nothing tells", "knows no error", "would change nothing", "hangs? on",
    "found by searching", "left to wish for", "share of the way", "wrong way round", "rightly", "moved off",
    "on the whole", "very rows", "at (?:its|their) word", "in the mean", "told as", "less (?:the|that|those) (?!than)",
    "asked for twice", "parts all", "bend away", "takes? the noise out", "is so in", "are so in", "1 is right",
    "and so there", "nor do", "shared among", "lies? apart", "on new rows", "ingredients?", "neither end",
)
"""Phrases of a private dialect that were rewritten in the field's words, and may not return."""


@cache
def listed() -> list[Any]:
    """Return the sentences of the project, but for the titles of works that it cites."""
    return [sentence for sentence in lister().everything() if sentence.file != "evalpipe/card/bibliography.py"]


def test_no_sentence_is_longer_than_a_reader_can_hold() -> None:
    assert [(s.words, f"{s.file}:{s.line}: {s.text}") for s in listed() if s.words > MOST_WORDS] == []


@pytest.mark.parametrize("phrase", DIALECT)
def test_no_phrase_of_the_private_dialect_returns(phrase: str) -> None:
    pattern = re.compile(rf"\b{phrase}\b", re.IGNORECASE)

    found = [s for s in listed() if pattern.search(re.sub(r"`[^`]*`|\{[^{}]*\}", "", s.text))]
    assert [f"{s.file}:{s.line}: {s.text}" for s in found] == []


STANDARD = (
    "The interval includes {missed}, so these data do not decide.", "There were no ties.", "Expected from chance",
    "Worst of {count} groups searched; p-values are corrected for that.", "{context.level} interval at each point.",
    "{context.level} band for the whole curve.", "true positives minus false positives, the latter weighted by the",
    "Net benefit per case:", "given probability 0 did occur", "would be infinite, so", "; on new data {",
)
"""Rewrites that were asked for by name, each as it stands in the code."""


@pytest.mark.parametrize("words", STANDARD)
def test_each_rewrite_that_set_the_standard_is_in_place(words: str) -> None:
    assert any(words in sentence.text for sentence in listed())
