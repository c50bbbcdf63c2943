"""The comparison in each of its formats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from evalpipe.review.differences.page import facts, names_of_both, sections

if TYPE_CHECKING:
    from evalpipe.card.contents import Card
    from evalpipe.review.differences.reading import Run
    from evalpipe.review.differences.records import Difference

Format = Literal["text", "json", "markdown", "html"]

MOST_ROWS = 50
"""The rows of a table in a terminal or in a comment, which holds some 65,000 characters."""

MOST_ON_PAGE = 500
"""The rows of a table on the page."""


def write(difference: Difference, a: Run, b: Run, form: Format) -> str:
    """Return the comparison in a format; it ends with a new line."""
    if form == "json":
        return json.dumps(difference.model_dump(by_alias=True), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if form == "text":
        return _text(difference, a, b)
    return _markdown(difference, a, b) if form == "markdown" else _html(difference, a, b)


def _text(difference: Difference, a: Run, b: Run) -> str:
    from evalpipe.review.differences.text import shown, text

    if difference.identical:
        return f"{shown(difference.verdict)}\n"
    names = names_of_both(a.results, b.results)
    return text(difference.verdict, facts(difference), sections(difference, names, MOST_ROWS))


def _markdown(difference: Difference, a: Run, b: Run) -> str:
    from evalpipe.card.edition import Edition
    from evalpipe.card.markdown import escaped, inline, written

    edition = Edition(b.results)
    lines = [f"**{escaped(difference.verdict)}**", *written(edition, facts(difference))]
    for section in sections(difference, names_of_both(a.results, b.results), MOST_ROWS):
        lines.append(f"### {inline(section.title)}")
        for block in section.blocks:
            lines += written(edition, block)
    return "\n\n".join(line for line in lines if line.strip()) + "\n"


def _html(difference: Difference, a: Run, b: Run) -> str:
    from evalpipe.card.html import write_sections

    return write_sections(_card(difference, a, b), "difference.html").decode("utf-8")


def _card(difference: Difference, a: Run, b: Run) -> Card:
    """Return the comparison as a page: the verdict in its box, what was compared, then the sections."""
    from evalpipe.card.contents import Card
    from evalpipe.card.page import Aside, Section, Verdict
    from evalpipe.version import VERSION

    style, sign = _look(difference)
    title = b.results.title if a.results.title == b.results.title else f"{a.results.title} and {b.results.title}"
    box = Section("verdict", Verdict(difference.verdict, sign), (), f"gates {style}")
    return Card(
        title=title, generator=f"evalpipe {VERSION}", description=difference.verdict,
        identity=("Two runs compared", Aside(f"A: {difference.a.source}"), Aside(f"B: {difference.b.source}")),
        masthead=(box, facts(difference)),
        sections=tuple(sections(difference, names_of_both(a.results, b.results), MOST_ON_PAGE)),
        foot=f"evalpipe {VERSION}. All differences, with all digits, are in the output of --format json.")


def _look(difference: Difference) -> tuple[str, str]:
    """Return the style and the sign of the verdict: failed where a gate got worse, open where else anything differs."""
    from evalpipe.review.differences.verdicts import loudness

    if difference.same:
        return "pass", "✓"
    return ("fail", "✗") if any(loudness(change)[0] > 0 for change in difference.gates) else ("indeterminate", "?")
