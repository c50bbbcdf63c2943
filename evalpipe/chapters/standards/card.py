"""What the card says of standards: how much of each is answered, what is missing, where the rest stands; findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import Aside, Column, Heading, Link, Row, Section, Strong, Table, Text, Verdict
from evalpipe.card.wording import VerdictLine, VerdictLines, joined
from evalpipe.chapters.standards.evidence import EVIDENCE, answering_anchor
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule, unless_key
from evalpipe.findings.words import finding
from evalpipe.words import numbers
from evalpipe.words.card_fields import FIELDS, LISTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.junit import Case
    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.standards.records import StandardCompleteness, StandardItem
    from evalpipe.results import Results
    from evalpipe.results.document import Finding


LEAD = (
    "This card documents evidence for the standards below; it is no statement of conformity. What their items ask for "
    "is told in our words: the standards themselves decide. An item is present where each of its parts is answered, be "
    "it stated or computed; whether the answers are right is for the reader to judge. No item counts signatures, which "
    "follow the results: they stand under Sign-off."
)

CROSSWALK = (
    "Every field and every piece of evidence that a standard above asks for, where it stands on this card, and the "
    "items that ask for it."
)


def run_verdict(results: Results) -> Iterator[tuple[str, str]]:
    """Yield a sign and a sentence on standards of which a smaller share is answered than the spec requires."""
    short = [standard for standard in results.standards if standard.verdict == "fail"]
    if short:
        shares = [f"{standard.title} is answered to {numbers.floored_percent(standard.completeness)}, required "
                  f"{numbers.given_percent(standard.require or 0)}" for standard in short]
        yield "✗", "; ".join(shares)


def sections(results: Results) -> Iterator[Section]:
    """Yield the sections on how complete the evidence for each standard is, and on which item is answered where."""
    if results.standards:
        gaps = tuple(block for standard in results.standards for block in _gap_blocks(standard))
        yield Section("standards", "Evidence for standards",
                      (Text(LEAD, "lead"), _completeness_table(results.standards), *gaps), part="sign_off")
        yield Section("cross-walk", "Cross-walk of standards", (
            Text(CROSSWALK, "lead"), _crosswalk_table(results), *_answered_tables(results)), part="appendix")


def _completeness_table(standards: Sequence[StandardCompleteness]) -> Table:
    """Return the table of how many items of each standard are answered, and whether the required share is reached."""
    columns = (Column("Standard"), Column("Present", "num"), Column("Missing", "num"), Column("Not applicable", "num"),
               Column("Complete", "num"), Column("Required", style="said"))
    rows = []
    for standard in standards:
        required: Cell = "not set"
        if standard.require is not None and standard.verdict is not None:
            sign, word = ("✗", "not reached") if standard.verdict == "fail" else ("✓", "reached")
            required = (f"{numbers.given_percent(standard.require)} ",
                        Verdict(word, sign, f"outcome {standard.verdict}"))
        rows.append(Row((
            (standard.title, Aside(standard.edition, "definition")), f"{standard.present}", f"{standard.missing}",
            f"{standard.not_applicable}", numbers.floored_percent(standard.completeness), required)))
    return Table("Completeness of the evidence, item by item", columns, tuple(rows), "standards", label="Completeness")


def _gap_blocks(standard: StandardCompleteness) -> Iterator[Block]:
    """Yield a table of a standard's missing items, with what each lacks and what of it is answered."""
    yield Heading(standard.title)
    if standard.remark:
        yield Text(standard.remark, "small")
    gaps: list[tuple[StandardItem, Cell]] = []
    for item in standard.with_status("missing"):
        answered = [need for need in item.needs if need not in item.missing]
        missing = Strong(_titles_of_needs(item.missing), "missing")
        gaps.append((item, (missing, Aside(f"There: {_titles_of_needs(answered)}", "definition"))
                     if answered else missing))
    if gaps:
        yield _items_table(f"Missing for {standard.title}", "Missing", gaps)
    else:
        yield Text("Every item that applies is answered; the cross-walk in the annex says where.")


def _items_table(caption: str, head: str, items: Iterable[tuple[StandardItem, Cell]]) -> Table:
    """Return a table of a standard's items: label, what it asks for and, under ``head``, the given cell."""
    columns = (Column("Item", style="item"), Column("Asks for", style="what"), Column(head))
    rows = tuple(Row((item.label, item.asks, content)) for item, content in items)
    return Table(caption, columns, rows, "items", stacked=True)


def _titles_of_needs(needs: Sequence[str]) -> str:
    """Return the titles of what items ask for; alternatives, written with " | ", are joined by "or"."""
    return "; ".join(joined([need_title(name) for name in need.split(" | ")], "or") for need in needs)


def need_title(name: str) -> str:
    """Return the title of what an item asks for, such as "card.risks": a stated field or a kind of evidence."""
    kind, _, key = name.partition(".")
    return EVIDENCE[key].title if kind == "evidence" else (FIELDS | LISTED)[key].title


def _answered_tables(results: Results) -> Iterator[Table]:
    """Yield tables of the answered items of each standard, with links to the answers, and of those not applicable."""
    for standard in results.standards:
        answers = []
        for item in standard.with_status("present"):
            anchors = {name: answering_anchor(results, name) for need in item.needs for name in need.split(" | ")}
            links = (Link(need_title(name), anchor) for name, anchor in anchors.items() if anchor is not None)
            with_commas = [piece for link in links for piece in (", ", link)]
            answers.append((item, tuple(with_commas[1:])))
        if answers:
            yield _items_table(f"Present of {standard.title}", "Answered by", answers)
        if left_out := standard.with_status("not_applicable"):
            yield _items_table(f"Not applicable of {standard.title}", "Reason",
                               ((item, item.reason or "") for item in left_out))


def _crosswalk_table(results: Results) -> Table:
    """Return the table of what answers standards: for each field or evidence the items that ask for it."""
    asking: dict[str, dict[str, list[str]]] = {}
    for standard in results.standards:
        for item in standard.items:
            for name in (name for need in item.needs for name in need.split(" | ")):
                asking.setdefault(name, {}).setdefault(standard.profile, []).append(item.id)
    order = [*(f"card.{key}" for key in FIELDS | LISTED), *(f"evidence.{key}" for key in EVIDENCE)]
    columns = (Column("What"), Column("Where"), *(Column(standard.title) for standard in results.standards))
    rows = []
    for name in (name for name in order if name in asking):
        anchor = answering_anchor(results, name)
        where = Strong("missing", "missing") if anchor is None else Link(
            "stated" if name.startswith("card") else "computed", anchor)
        items = (", ".join(dict.fromkeys(asking[name].get(standard.profile, []))) or "–"
                 for standard in results.standards)
        rows.append(Row((need_title(name), where, *items)))
    return Table("What answers which item", columns, tuple(rows), "crosswalk", label="Cross-walk")


def checks(results: Results) -> Iterator[Case]:
    """Yield a test case for each standard of which a share is required."""
    from evalpipe.card.junit import Case

    for standard in results.standards:
        if standard.verdict is not None:
            yield Case("standards", f"Evidence for {standard.title}", standard.verdict, completeness_text(standard))


MOST_GAPS = 6
"""The gaps of a standard that the terminal names."""

WORDS = {"fail": "failed", "pass": "held", None: "documented"}
"""What became of a standard, by its verdict."""


def verdict_lines(results: Results) -> Iterator[VerdictLines]:
    """Yield what the terminal says of each standard: its verdict, how many items are answered, which are missing."""
    if results.standards:
        yield VerdictLines("\nevidence for standards, which is no statement of conformity:", tuple(
            VerdictLine("standard", standard.profile, WORDS[standard.verdict], completeness_text(standard, MOST_GAPS),
                        ("standards", index), "error" if standard.verdict == "fail" else None,
                        title=f"{standard.title}: ")
            for index, standard in enumerate(results.standards)))


def completeness_text(standard: StandardCompleteness, most: int | None = None) -> str:
    """Return how much of a standard is answered, for the terminal and `junit.xml`, with at most ``most`` gaps."""
    left_out = f", {standard.not_applicable} not applicable" if standard.not_applicable else ""
    required = "" if standard.require is None else f"; required {numbers.given_percent(standard.require)}"
    missing = [item.label for item in standard.with_status("missing")]
    more = "" if most is None or len(missing) <= most else f" and {len(missing) - most} more"
    gaps = f"; missing: {', '.join(missing[:most])}{more}" if missing else ""
    return (f"{standard.present} of {standard.applicable} items answered "
            f"({numbers.floored_percent(standard.completeness)}){left_out}{required}{gaps}")


STANDARDS = "standards"
"""The anchor of the section on standards."""

MOST_LABELS = 4
"""Items that a sentence names; of more it gives the number."""


@rule("fails", "passes", "note", unless=(unless_key("no-standards", "standards"),))
def standards(results: Results) -> Iterator[Claim]:
    """Whether the card answers what the chosen standards ask for."""
    for standard in results.standards:
        if standard.verdict is not None:
            yield Claim(standard, short if standard.verdict == "fail" else met_standard_findings)
        elif standard.missing:
            yield Claim(standard, gaps)


def short(_: Results, rows: Sequence[StandardCompleteness]) -> Iterator[Finding]:
    """Yield findings on standards of which a smaller share of items is answered than is required."""
    for row in rows:
        required = numbers.given_percent(row.require or 0)
        text = f"{_answered_share(row)}; required {required}. Missing: {_missing_labels(row)}."
        yield finding("fails", weights.STANDARD_SHORT, text, STANDARDS)


def met_standard_findings(_: Results, rows: Sequence[StandardCompleteness]) -> Iterator[Finding]:
    """Yield findings on standards of which the required share of items is answered."""
    for row in rows:
        missing_text = f" Missing: {_missing_labels(row)}." if row.missing else ""
        text = f"{_answered_share(row)}; required {numbers.given_percent(row.require or 0)}.{missing_text}"
        yield finding("passes", weights.STANDARD_REACHED, text, STANDARDS)


def gaps(_: Results, rows: Sequence[StandardCompleteness]) -> Iterator[Finding]:
    """Yield findings on standards with unanswered items, where the spec requires no share of them."""
    for row in rows:
        yield finding("note", weights.UNCHECKED, f"{_answered_share(row)}. Missing: {_missing_labels(row)}.", STANDARDS)


def _answered_share(row: StandardCompleteness) -> str:
    """Return how many items of a standard are answered, as text."""
    share = numbers.floored_percent(row.completeness)
    return f"{row.title}: {row.present} of {row.applicable} items answered ({share})"


def _missing_labels(row: StandardCompleteness) -> str:
    """Return the labels of the first missing items of a standard, and how many more there are."""
    labels = [item.label for item in row.with_status("missing")]
    more = [f"{len(labels) - MOST_LABELS} more"] if len(labels) > MOST_LABELS else []
    return joined([*labels[:MOST_LABELS], *more])
