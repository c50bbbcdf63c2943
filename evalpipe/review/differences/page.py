"""The comparison in sections of blocks, from which the terminal, Markdown and the page are written alike."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.card.page import (
    Aside,
    Bullets,
    Code,
    Column,
    Facts,
    Group,
    Line,
    Number,
    Row,
    Section,
    Table,
    Text,
    Verdict,
    plain,
)
from evalpipe.card.summary import SIGNS
from evalpipe.card.wording import LIMITS, VERDICTS, Names, capital, joined
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.review.differences.changes import text_of, without_null, worsening_key
from evalpipe.version import VERSION
from evalpipe.words import numbers
from evalpipe.words.spelling import clipped, counted, legible, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.contents import Card
    from evalpipe.card.page import Block, Cell
    from evalpipe.results import InputFile, Results
    from evalpipe.review.differences.records import (
        Difference,
        FindingChange,
        GateChange,
        InputChange,
        NumberChange,
        NumberSide,
        Run,
    )


REST = "the output of --format json"
"""Where the rows are that a table leaves out."""

OVERLAP = {True: "overlap", False: "apart", None: "–"}
"""What is said of two intervals."""


def numbers_table(title: str, names: Names, changes: Sequence[NumberChange], most: int | None) -> Table:
    """Return a table of numbers that differ, grouped by model and rows; the largest differences come first."""
    ordered = sorted(changes, key=prominence, reverse=True)
    groups: dict[str, list[NumberChange]] = {}
    for change in ordered:
        groups.setdefault(scope(names, change), []).append(change)
    rows: list[Row | Group] = []
    for heading, group_changes in groups.items():
        rows += [Group(heading), *(_number_row(names, change) for change in group_changes)]
    paired = any(change.paired is not None for change in changes)
    any_value_differs = any(change.difference != 0 for change in changes)
    any_counted_alone = any(change.counted_alone for change in changes)
    columns = (
        Column(capital(ordered[0].kind) if ordered[0].kind == "threshold" else "Measure", style="what"),
        Column("A", "num"), Column("B", "num"), Column("B − A", "num", shown=any_value_differs),
        Column("Intervals", "num", shown=any_value_differs), Column("Paired B − A", "num", shown=paired),
        Column("Differs in", shown=any_counted_alone))
    return Table(title, columns, tuple(rows), "compact before", stacked=True, most=most, rest=REST)


def prominence(change: NumberChange) -> tuple[bool, float]:
    """Return a sort key: whether a side is missing or the intervals are apart, then the size of the difference.

    The size is in half widths of the intervals, which are added where both sides have one; plain without intervals.
    """
    if change.difference is None or change.a is None or change.b is None:
        return True, 0.0
    widths = [side.upper - side.lower for side in (change.a, change.b)
              if side.lower is not None and side.upper is not None]
    half_widths = sum(widths) / 2
    size = abs(change.difference) / half_widths if half_widths > 0 else abs(change.difference)
    return change.intervals_overlap is False, size


def scope(names: Names, change: NumberChange) -> str:
    """Return the model, dataset and slice of a number: "Logistic regression on test, season = a"."""
    dataset = "" if change.dataset is None else f" on {change.dataset}"
    slice_text = "" if change.slice is None else f", {names.slice(change.slice)}"
    return f"{names.model(change.model, change.variant)}{dataset}{slice_text}"


def measure(names: Names, change: NumberChange) -> str:
    """Return the name of what differs: a measure with its options, a threshold, or a desirability."""
    if change.kind == "threshold":
        return "Threshold"
    if change.goal is not None:
        return "Overall desirability" if change.goal == "overall" else f"Desirability of {change.goal}"
    return capital(names.measure(change.metric or "", change.params, change.average, change.class_))


def _number_row(names: Names, change: NumberChange) -> Row:
    """Return the row of a number that differs: measure, both sides, differences, intervals and aspects."""
    least = decimals(change)
    sides = [side(number, least, given=change.kind == "threshold") for number in (change.a, change.b)]
    aspects: list[str] = [aspect for aspect in change.differs_in if aspect != "details"]
    aspects += [name.replace("_", " ") for name in change.details]
    return Row((measure(names, change), *sides, difference(change), OVERLAP[change.intervals_overlap], _paired(change),
                ", ".join(aspects)))


def side(number: NumberSide | None, least: int, *, given: bool) -> Cell:
    """Return the cell of a number in one run with ``least`` decimals or more; unrounded if a spec has ``given`` it."""
    if number is None:
        return "–"
    note = None if number.status == "ok" else number.status
    if number.value is None:
        return Number(f"{number.status}: {number.reason}" if number.reason else number.status)
    exact = numbers.exact(number.value)
    limits = None
    shown = numbers.number(number.value, least)
    if number.lower is not None and number.upper is not None:
        shown, limits = numbers.interval(number.value, number.lower, number.upper, least=least)
    return Number(numbers.given(number.value) if given else shown, limits, note, exact)


def decimals(change: NumberChange) -> int:
    """Return how many decimals to show so that two numbers that differ also look different, as far as possible."""
    sides = [(number.value, number.lower, number.upper) for number in (change.a, change.b) if number is not None]
    usual_decimals = numbers.most_decimals(sides)
    gaps = [abs(change.difference)] if change.difference else []
    if not gaps and change.a is not None and change.b is not None:  # the values are the same: their limits differ
        limits = ((change.a.lower, change.b.lower), (change.a.upper, change.b.upper))
        gaps = [abs(b - a) for a, b in limits if a is not None and b is not None and a != b]
    needed_decimals = numbers.significant(max(gaps), 1) if gaps else 0
    return min(max(usual_decimals, needed_decimals), numbers.MOST_DECIMALS)


def difference(change: NumberChange) -> Cell:
    """Return the cell of the difference of two numbers with its sign; a tiny one has an exponent."""
    if change.difference is None:
        return "–"
    digits = max(numbers.significant(change.difference, 2), decimals(change)) if change.difference else decimals(change)
    needs_exponent = digits > numbers.MOST_DECIMALS + 1
    sign = "+" if change.difference > 0 else ""
    text = f"{sign}{numbers.exact(float(f'{change.difference:.2g}'))}" if needs_exponent else numbers.signed(
        change.difference, digits)
    return Number(text, exact=numbers.exact(change.difference))


def _paired(change: NumberChange) -> Cell:
    pair = change.paired
    if pair is None or pair.difference is None:
        return "–"
    note = None if pair.status == "ok" else pair.status
    shown = numbers.signed_interval(pair.difference, pair.lower, pair.upper)
    return Number(*shown, note, numbers.exact(pair.difference))


OVERLAPPING = ("Intervals that overlap do not prove that two values are the same. A paired difference, where there is "
               "one, is of the same rows in both runs: its interval says more than the two intervals beside it.")
SAME_ROWS = "Paired differences take thresholds and recalibrations as they are."


def names_of_both(a: Results, b: Results) -> Names:
    """Return the names of models, measures and slices of both runs; the second run's where they differ."""
    from evalpipe.card.wording import names_of

    forms: dict[str, set[str]] = {}
    for row in (*a.rows, *b.rows):
        forms.setdefault(row.metric, set()).add(text_of(row.params))
    first, second = names_of(a), names_of(b)
    return Names({**first.titles, **second.titles}, {**first.labels, **second.labels},
                 first.conditions | second.conditions,
                 frozenset(metric for metric, params in forms.items() if len(params) == 1),
                 first.counts | second.counts)


def facts(difference: Difference) -> Facts:
    """Return the facts of a comparison: both runs, the tolerance, and what is not counted."""
    entries: list[tuple[str, Cell]] = []
    for name, run in (("A", difference.a), ("B", difference.b)):
        day = "" if run.as_of is None else f", as of {run.as_of}"
        evidence = Code(run.evidence_sha256[:EVIDENCE_DIGITS], run.evidence_sha256)
        entries.append((name, (_safe_code(run.source), f": {run.name}{day}, evalpipe {run.evalpipe_version}, evidence ",
                               evidence)))
    if not difference.identical:
        given = difference.tolerance
        parts = [f"{numbers.plain(given.absolute)} absolute"] if given.absolute else []
        parts += [f"{numbers.plain(given.relative)} of the larger value"] if given.relative else []
        parts += [f"{numbers.plain(value)} for {metric}" for metric, value in given.by_metric.items()]
        entries.append(("Tolerance", ", ".join(parts) or "none: every difference counts"))
        if difference.ignored:
            entries.append(("Not counted", joined(difference.ignored)))
    return Facts(tuple(entries))


def _safe_code(text: str) -> Code:
    """Return text from a spec or a path as code, without control characters for a terminal."""
    return Code(printable(legible(text)))


def sections(difference: Difference, names: Names, most: int | None = None) -> Iterator[Section]:
    """Yield a section for each kind of difference; tables show at ``most`` so many rows, None for all."""
    if difference.gates:
        columns: tuple[Column, ...] = (
            Column("Verdict", style="said"), Column("Gate", style="what"), Column("A"), Column("B"))
        rows = tuple(Row((
            _verdict_change(change),
            (change.name or capital(names.subject(change)), Aside(_limits(change), "limit"),
             Aside(f"of {names.scope(change)}", "definition")),
            *("not there" if side is None else side.reason for side in (change.a, change.b))))
            for change in difference.gates)
        yield Section("gates", "Gates", (Table("Gates that differ, those that got worse most first", columns, rows,
                                               stacked=True, heading=1, most=most, rest=REST),))
    yield from _estimate_sections(difference, names, most)
    if difference.findings:
        blocks: list[Block] = [Bullets(tuple(map(_finding, difference.findings)), "findings")]
        restated = difference.counts.restated
        if restated:
            verb = "says" if restated == 1 else "say"
            blocks.append(Text(
                f"{counted(restated, 'further finding')} {verb} the same with other numbers or words.", "small"))
        yield Section("findings", "Findings", tuple(blocks))
    for title, caption, changes in (("Thresholds", "Thresholds that differ", difference.thresholds),
                                    ("Desirability", "Desirability that differs", difference.desirability)):
        if changes:
            yield Section(title.lower(), title, (numbers_table(caption, names, changes, most),))
    yield from _input_sections(difference, most)
    if difference.other:
        columns = (
            Column("Part", style="what"), Column("Rows in A", "num"), Column("Rows in B", "num"),
            Column("Differ", "num"),
            Column("In A alone", "num", shown=any(part.only_a for part in difference.other)),
            Column("In B alone", "num", shown=any(part.only_b for part in difference.other)))
        rows = tuple(Row((_safe_code(change.part), *(numbers.count(count) for count in (
            change.rows_a, change.rows_b, change.differ, change.only_a, change.only_b))))
            for change in difference.other)
        yield Section("other", "Other parts of the results", (
            Table("Parts that differ, counted and not listed", columns, rows, stacked=True),))


def _input_sections(difference: Difference, most: int | None) -> Iterator[Section]:
    """Yield the sections of differences between the inputs of the runs: specs, data and versions."""
    sides = Column("A"), Column("B")
    if difference.spec:
        rows = tuple(Row((_safe_code(change.key), _spec_value(change.a), _spec_value(change.b)))
                     for change in difference.spec)
        columns: tuple[Column, ...] = (Column("Key", style="what"), *sides)
        yield Section("spec", "Spec", (
            Table("Keys of the resolved specs that differ", columns, rows, stacked=True, most=most, rest=REST),))
    if difference.data:
        rows = tuple(Row((change.dataset, _file_facts(change.a), _file_facts(change.b), _file_aspects(change)))
                     for change in difference.data)
        columns = (Column("Dataset", style="what"), *sides, Column("Differs in"))
        yield Section("data", "Data", (
            Table("Files of data that differ", columns, rows, stacked=True, most=most, rest=REST),))
    if difference.versions:
        rows = tuple(Row((change.library, change.a or "–", change.b or "–")) for change in difference.versions)
        yield Section("versions", "Versions", (
            Table("Libraries of other versions", (Column("Library"), *sides), rows, stacked=True),))


def _verdict_change(change: GateChange) -> Cell:
    """Return the cell with a gate's verdict in the first and the second run, in the style of the second."""
    sides = [None if side is None else side.kind for side in (change.a, change.b)]
    words = ["none" if kind is None else VERDICTS[kind].word for kind in sides]
    kind = sides[1]
    sign, style = ("–", "skipped") if kind is None else (VERDICTS[kind].sign, kind)
    text = f"{words[1]}, other limit" if sides[0] == sides[1] else " → ".join(words)
    return Verdict(text, sign, f"outcome {style}")


def _limits(change: GateChange) -> str:
    """Return the limits of a gate in both runs as text, with what it is judged by and its severity."""
    texts = []
    for side in (change.a, change.b):
        if side is not None:
            limits = " and ".join(f"{LIMITS[key]} {numbers.plain(value)}" for key, value in side.limit.items())
            basis = {"interval": "", "sequence": " by the evidence of all nights", "check": "is required"}.get(
                side.on, f" by its {side.on}")
            texts.append(f"{limits}{basis}{', severity warn' if side.severity == 'warn' else ''}")
    return " → ".join(dict.fromkeys(texts))


def _estimate_sections(difference: Difference, names: Names, most: int | None) -> Iterator[Section]:
    """Yield the section on estimates: values that differ, then intervals or details, then lone estimates."""
    differing = [change for change in difference.estimates
              if not change.counted_alone and "presence" not in change.differs_in]
    counted_alone = [change for change in difference.estimates if change.counted_alone]
    blocks: list[Block] = []
    if differing:
        blocks += [Text(OVERLAPPING, "lead"), numbers_table("Estimates that differ", names, differing, most)]
        blocks += [Text(SAME_ROWS, "small")] if any(change.paired for change in differing) else []
        reasons = tuple(_unpaired_reason(names, why) for why in difference.unpaired)
        blocks += [Bullets(reasons)] if reasons else []
    if counted_alone:
        title = "Estimates whose value is the same, and whose interval or details differ"
        blocks.append(numbers_table(title, names, counted_alone, most))
    in_one_run = list(_in_one_run(difference, names))
    blocks += [Bullets(tuple(in_one_run))] if in_one_run else []
    if difference.counts.within_tolerance:
        count = difference.counts.within_tolerance
        blocks.append(Text(f"{counted(count, 'further estimate')} {'differs' if count == 1 else 'differ'} by less than "
                           "the tolerance.", "small"))
    if blocks:
        yield Section("estimates", "Estimates", tuple(blocks))


def _unpaired_reason(names: Names, unpaired: Any) -> str:
    """Return the sentence that says which estimates have no paired difference, and the reason."""
    if unpaired.model is None:
        return f"No paired difference{' in slices' if unpaired.slices else ''}: {unpaired.reason}."
    measures = ", ".join(names.titles.get(metric, metric) for metric in unpaired.metrics)
    subject = f" of {measures}" if measures else ""
    model = names.model(unpaired.model, unpaired.variant or "original")
    return f"No paired difference{subject} of {model} on {unpaired.dataset}: {unpaired.reason}."


def _in_one_run(difference: Difference, names: Names) -> Iterator[str]:
    """Yield a sentence for each dataset, model or metric in one run alone, then counts of further estimates there."""
    for subject in difference.subjects:
        name = {"metric": names.titles, "model": names.labels}.get(subject.kind, {}).get(subject.name, subject.name)
        yield f"In {subject.only_in.upper()} alone: the {subject.kind} {name}."
    lone_subjects = {(subject.kind, subject.name) for subject in difference.subjects}
    counts: Counter[tuple[str, str]] = Counter()
    for change in difference.estimates:
        keys = {("dataset", change.dataset), ("model", change.model), ("metric", change.metric)}
        if "presence" in change.differs_in and not keys & lone_subjects:
            subset = f"{names.model(change.model, change.variant)} on {change.dataset}"
            slice_text = "" if change.slice is None else f", {names.slice(change.slice)}"
            counts["B" if change.a is None else "A", subset + slice_text] += 1
    for (run, subset), count in counts.items():
        yield f"In {run} alone: {counted(count, 'estimate')} of {subset}."


def _finding(change: FindingChange) -> Cell:
    """Return a finding that is gone, new or of another kind, with the sign of its kind in the second run."""
    if change.b is None:
        return Verdict("", "–", "finding"), "" if change.a is None else f"Gone: {change.a.text}"
    sign, style = SIGNS[change.b.kind]
    text = f"New: {change.b.text}" if change.a is None else f"Turned: {change.b.text} Before: {change.a.text}"
    return Verdict("", sign, f"finding {style}"), text


def _spec_value(value: Any) -> Cell:
    """Return the cell of a value in a spec: its JSON as code, shortened; "not set" for None."""
    return "not set" if value is None else _safe_code(clipped(text_of(without_null(value))))


def _file_facts(file: InputFile | None) -> Cell:
    """Return the cell on an input file in one run: path, rows and sha256, or "not read"."""
    if file is None:
        return "not read"
    digits = "" if file.sha256 is None else f", sha256 {file.sha256[:EVIDENCE_DIGITS]}"
    rows = f"{numbers.count(file.rows)} rows, {numbers.count(file.used_rows)} used{digits}"
    return (_safe_code(file.path), f": {rows}") if file.path is not None else rows


def _file_aspects(change: InputChange) -> str:
    """Return the aspects in which an input file differs, with the columns that one run alone read."""
    aspect_names = {"presence": "only one run reads it", "used_rows": "rows used"}
    parts = [aspect_names.get(aspect, aspect) for aspect in change.differs_in]
    if change.a is not None and change.b is not None:
        gone = [name for name in change.a.columns if name not in change.b.columns]
        new = [name for name in change.b.columns if name not in change.a.columns]
        parts += [f"column {name} in A alone" for name in gone] + [f"column {name} in B alone" for name in new]
    return ", ".join(part for part in parts if part != "columns")


WIDEST = 44
"""The widest cell of words; longer ones go on in the next line."""


def text(verdict: str, facts: Facts, sections: Iterable[Section]) -> str:
    """Return a comparison as plain text for a terminal: the verdict, the compared runs, then the sections."""
    compared = [[term, shown(plain(cell))] for term, cell in facts.entries]  # type: ignore[arg-type]  # words, no blocks
    lines = [shown(verdict), "", *_columns(compared, set(), None)]
    for section in sections:
        lines += ["", shown(plain(section.title)).upper()]
        for index, block in enumerate(section.blocks):
            lines += [""] if index and isinstance(block, Table) else []
            lines += _block(block)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def shown(text: str) -> str:
    """Return a text on one line, with control characters, which would steer a terminal, replaced by visible marks."""
    return printable(legible(" ".join(text.split())))


def _block(block: Block) -> Iterator[str]:
    """Yield the lines of a block: text and bullets wrapped, a table in columns; nothing of other kinds."""
    if isinstance(block, Text):
        yield from wrapped(shown(plain(block.text)), 100)
    elif isinstance(block, Bullets):
        for item in block.items:
            first, *more = wrapped(shown(plain(item)).strip(), 98)  # type: ignore[arg-type]  # words, no blocks
            yield f"- {first}"
            yield from (f"  {line}" for line in more)
    elif isinstance(block, Table):
        yield from _table(block)


def _table(table: Table) -> Iterator[str]:
    """Yield the lines of a table: caption, column heads, rows under headings of groups, and how many are left out."""
    yield shown(plain(table.caption))
    columns = [table.columns[index] for index in table.shown]
    right_aligned = {index for index, column in enumerate(columns) if column.align == "num"}
    rows: list[list[str] | str] = [[column.head for column in columns]]
    for group, kept in table.bodies(None):
        rows += [shown(plain(group.heading))] if isinstance(group, Group) else []
        rows += [["\n".join(map(shown, _words(cell.content).split("\n"))) for cell in table.line(row)] for row in kept]
    yield from _columns(rows, right_aligned)
    if table.kept(None) < table.whole:
        yield f"  The table shows {table.kept(None):,} of {table.whole:,} rows; the rest is in {table.rest}."


def _words(cell: Cell) -> str:
    """Return the content of a cell as text: a number with its note, a verdict behind its sign, asides after commas."""
    if isinstance(cell, tuple):
        return "".join(f", {plain(part).strip()}" if isinstance(part, Aside) else f"\n{plain(part).strip()}" if
                       isinstance(part, Line) else plain(part) for part in cell)
    if isinstance(cell, Number):
        return f"{cell.text} {cell.note}" if cell.note else cell.text
    return f"{cell.sign} {cell.text}" if isinstance(cell, Verdict) else plain(cell)


def _columns(rows: Sequence[list[str] | str], right_aligned: set[int], max_width: int | None = WIDEST) -> Iterator[str]:
    """Yield the lines of rows set in columns; a row that is a single text is a heading over the rows below.

    Columns whose index is in ``right_aligned`` hold numbers; other cells are wrapped at ``max_width``, None for never.
    """
    split_rows = [row if isinstance(row, str) else [
        [cell] if index in right_aligned or max_width is None else
        [line for text in cell.split("\n") for line in wrapped(text, max_width)]
        for index, cell in enumerate(row)] for row in rows]
    cell_rows = [row for row in split_rows if not isinstance(row, str)]
    widths = [max(max(map(width, row[index])) for row in cell_rows) for index in range(max(map(len, cell_rows)))]
    for row in split_rows:
        if isinstance(row, str):
            yield f"  {row}"
            continue
        for line_index in range(max(map(len, row))):
            parts = (cell[line_index] if line_index < len(cell) else "" for cell in row)
            cells = []
            for index, part in enumerate(parts):
                space = " " * (widths[index] - width(part))
                cells.append(space + part if index in right_aligned else part + space)
            yield f"  {'  '.join(cells)}"


def width(text: str) -> int:
    """Return how many terminal columns a text takes: two for wide characters, none for combining ones."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def wrapped(text: str, most: int) -> list[str]:
    """Return a text in lines of at ``most`` so many columns, broken at spaces; a longer word is not broken."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and width(longer) > most:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


Format = Literal["text", "json", "markdown", "html"]

MOST_ROWS = 50
"""The rows of a table in a terminal or in a comment, which holds some 65,000 characters."""

MOST_ON_PAGE = 500
"""The rows of a table on the page."""


def write(difference: Difference, a: Run, b: Run, form: Format) -> str:
    """Return the comparison as text in the format ``form``: "json", "html", "markdown" and so on."""
    names = names_of_both(a.results, b.results)
    if form == "json":
        return json.dumps(difference.model_dump(by_alias=True), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if form == "html":
        from evalpipe.card.html import write_sections

        return write_sections(_card(difference, a, b)).decode("utf-8")
    if form == "markdown":
        from evalpipe.card.edition import Edition
        from evalpipe.card.markdown import block_paragraphs, escaped, inline

        edition = Edition(b.results)
        lines = [f"**{escaped(difference.verdict)}**", *block_paragraphs(edition, facts(difference))]
        for section in sections(difference, names, MOST_ROWS):
            lines.append(f"### {inline(section.title)}")
            lines += [paragraph for block in section.blocks for paragraph in block_paragraphs(edition, block)]
        return "\n\n".join(line for line in lines if line.strip()) + "\n"
    if difference.identical:
        return f"{shown(difference.verdict)}\n"
    return text(difference.verdict, facts(difference), sections(difference, names, MOST_ROWS))


def _card(difference: Difference, a: Run, b: Run) -> Card:
    """Return the contents of the HTML page of a comparison: verdict box, what was compared, then the sections."""
    from evalpipe.card.contents import Card

    # Failed where a gate got worse, open where else anything differs.
    worse = any(worsening_key(change)[0] > 0 for change in difference.gates)
    style, sign = ("pass", "✓") if difference.same else ("fail", "✗") if worse else ("inconclusive", "?")
    title = b.results.title if a.results.title == b.results.title else f"{a.results.title} and {b.results.title}"
    box = Section("verdict", Verdict(difference.verdict, sign), (), f"gates {style}")
    return Card(
        title=title, generator=f"evalpipe {VERSION}", description=difference.verdict,
        identity=("Two runs compared", Aside(f"A: {difference.a.source}"), Aside(f"B: {difference.b.source}")),
        masthead=(box, facts(difference)),
        sections=tuple(sections(difference, names_of_both(a.results, b.results), MOST_ON_PAGE)),
        foot=f"evalpipe {VERSION}. All differences, with all digits, are in the output of --format json.")
