"""What the card says of items whose text is also in another dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Row, Section, Table, Text
from evalpipe.card.wording import names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import NOT_SCORES, Claim, rule, unless_key
from evalpipe.findings.words import finding
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.leaks.records import LeakedItems
    from evalpipe.results import Results
    from evalpipe.results.document import Finding

SECTION = "leaks"
COLUMNS = (Column("Model", style="what"), Column("Mean score", "num"), Column("Without these items", "num"))


@rule("fails", "passes", unless=(NOT_SCORES, unless_key("no-text", "text")))
def items_leaked(results: Results) -> Iterator[Claim]:
    """Whether the text of an item is also in a reference dataset, whole or by a run of 13 words."""
    yield from (Claim(row, leaked if row.leaked else not_leaked) for row in results.leaked_items)


def leaked(results: Results, rows: Sequence[LeakedItems]) -> Iterator[Finding]:
    """Yield findings on items that another dataset has, with the model whose mean score they change most."""
    for row in rows:
        text = f"The text of {_count(row)} is also in {row.other}."
        if row.means_without:
            model = max(row.means, key=lambda name: abs(row.means[name] - row.means_without[name]))
            text += (f" Without them the mean score of {names_of(results).model(model)} is "
                     f"{numbers.number(row.means_without[model])}, and {numbers.number(row.means[model])} with them.")
        yield finding("fails", weights.ITEMS_LEAKED, text, SECTION)


def not_leaked(_: Results, rows: Sequence[LeakedItems]) -> Iterator[Finding]:
    """Yield findings that no item is in another dataset."""
    for row in rows:
        looked_for = numbers.count(row.items - row.without_text)
        text = f"No text of {looked_for} items of {row.dataset} is also in {row.other}."
        yield finding("passes", weights.CHECKED, text, SECTION)


def _count(row: LeakedItems) -> str:
    """Return how many items are leaked, of how many, as "3 of 200 items of d (1.5%)"."""
    return (f"{numbers.count(row.leaked)} of {numbers.count(row.items)} items of {row.dataset} "
            f"({numbers.percent(row.leaked, row.items)})")


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on items in other data: how many, which, and the mean scores with and without them."""
    blocks: list[Text | Table] = []
    for row in results.leaked_items:
        text = (f"Also in {row.other}: {_count(row)}, {numbers.count(row.same)} with the same text and "
                f"{numbers.count(row.leaked - row.same)} with a run of 13 words.")
        text += f" Without a text, and not looked for: {numbers.count(row.without_text)}." if row.without_text else ""
        more = f" and {numbers.count(row.leaked - len(row.names))} more" if row.leaked > len(row.names) else ""
        blocks.append(Text(f"{text} They are {', '.join(row.names)}{more}." if row.names else text))
        if row.leaked:
            blocks.append(Table(f"Mean scores on {row.dataset} without items in {row.other}", COLUMNS, tuple(
                Row((names_of(results).model(name), numbers.number(mean), numbers.number(row.means_without[name])
                     if row.means_without else "–")) for name, mean in row.means.items())))
    if blocks:
        yield Section(SECTION, "Items in other data", tuple(blocks), part="results")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how items were looked for in other data."""
    if results.leaked_items:
        yield Procedure("Items in other data", (
            "An item is in another dataset where the words of its text are those of a text there, or where 13 words in "
            "a row are that at most 10 items have; more share those of a prompt. Words are compared in Unicode's form "
            "NFKC without case, spaces and punctuation. A paraphrase is not found, and a text of less than 13 words "
            "only where it is the whole text there."),
            "Brown, T. B. et al. (2020). Language models are few-shot learners. Advances in Neural Information "
            "Processing Systems 33, 1877–1901, appendix C.")
