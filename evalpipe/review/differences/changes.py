"""What two runs differ in: keys of the spec, files, numbers, gates, findings, and further parts of results."""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from evalpipe.base.origin import path_text
from evalpipe.card.junit import test_cases
from evalpipe.review.differences.records import (
    NUMBER,
    Aspect,
    Counts,
    FindingChange,
    GateChange,
    GateSide,
    InputChange,
    NumberChange,
    NumberSide,
    PartChange,
    SpecChange,
    StatedFinding,
    SubjectChange,
    VersionChange,
)
from evalpipe.words.sentences import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.base.records import Record
    from evalpipe.results import Estimate, Gate, Individual, InputFile, Overall, Results, Threshold
    from evalpipe.results.document import Finding
    from evalpipe.review.differences.records import Tolerance


T = TypeVar("T")


def text_of(value: object) -> str:
    """Return a value as JSON text with sorted keys, so that equal values have equal texts."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def matched_pairs(a: Iterable[T], b: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[tuple[T | None, T | None]]:
    """Yield pairs of rows of ``a`` and ``b`` with equal keys, in the order of ``a``, then unpaired rows of ``b``.

    None stands for a missing row. Where several rows have one key, they are paired in their order.
    """
    unmatched_b: dict[Hashable, deque[T]] = defaultdict(deque)
    for row in b:
        unmatched_b[key(row)].append(row)
    for row in a:
        others = unmatched_b[key(row)]
        yield row, others.popleft() if others else None
    for others in unmatched_b.values():
        yield from ((None, row) for row in others)


def matched_twice(
    a: Iterable[T], b: Iterable[T], exact: Callable[[T], Hashable], key: Callable[[T], Hashable]
) -> list[tuple[T | None, T | None]]:
    """Return pairs of rows that agree by the key ``exact``, then of the others, which may have changed, by ``key``."""
    pairs = matched_pairs(a, b, exact)
    both, left, right = _split(pairs)
    return [*both, *matched_pairs(left, right, key)]


def _split(pairs: Iterable[tuple[T | None, T | None]]) -> tuple[list[tuple[T, T]], list[T], list[T]]:
    """Return the pairs that have both rows, the rows of the first run alone, and those of the second alone."""
    both: list[tuple[T, T]] = []
    only_a: list[T] = []
    only_b: list[T] = []
    for first, second in pairs:
        if first is not None and second is not None:
            both.append((first, second))
        elif first is not None:
            only_a.append(first)
        elif second is not None:
            only_b.append(second)
    return both, only_a, only_b


def spec_changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[SpecChange]:
    """Return the keys of two resolved specs that differ, in their order; a key that is null counts as missing."""
    return list(_key_changes((), without_null(a), without_null(b)))


def without_null(value: Any) -> Any:
    """Return a value of a resolved spec without keys that are null, which nobody set, at any depth."""
    if isinstance(value, dict):
        return {key: without_null(part) for key, part in value.items() if part is not None}
    return [without_null(part) for part in value] if isinstance(value, list) else value


def _key_changes(loc: Loc, a: Any, b: Any) -> Iterator[SpecChange]:
    """Yield the keys under path ``loc`` in which two values of specs differ; None where a spec lacks the key."""
    if text_of(a) == text_of(b):
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            yield from _key_changes((*loc, key), a.get(key), b.get(key))
    elif isinstance(a, list) and isinstance(b, list):
        yield from _list_changes(loc, a, b)
    else:
        change = "added" if a is None else "removed" if b is None else "changed"
        yield SpecChange.model_validate({"change": change, "key": path_text(loc), "a": a, "b": b})


def _list_changes(loc: Loc, a: Sequence[Any], b: Sequence[Any]) -> Iterator[SpecChange]:
    """Yield the keys that differ between two lists: items that both have are skipped, the others compared in order."""
    only_a, only_b = _items_lacking(a, b), _items_lacking(b, a)
    if not only_a and not only_b:
        yield SpecChange(change="changed", key=path_text(loc), a=list(a), b=list(b))  # the order alone
    for index in range(max(len(only_a), len(only_b))):
        first, second = (items[index] if index < len(items) else None for items in (only_a, only_b))
        either = second or first  # each the index of an item and the item
        if either is not None:
            yield from _key_changes((*loc, either[0]), first and first[1], second and second[1])


def _items_lacking(items: Sequence[Any], others: Sequence[Any]) -> list[tuple[int, Any]]:
    """Return the items, with their index, that the other list lacks; repeated items as often as they are lacking."""
    count_in_others = Counter(map(text_of, others))
    lacking = []
    for index, item in enumerate(items):
        count_in_others[text_of(item)] -= 1
        if count_in_others[text_of(item)] < 0:
            lacking.append((index, item))
    return lacking


def input_changes(a: Results, b: Results) -> list[InputChange]:
    """Return how the input files of two runs differ, matched by dataset and role; a moved file is no difference.

    Of data in memory, which have no sha256, only rows and columns can be compared.
    """
    pairs = matched_twice(a.inputs, b.inputs, lambda file: (file.dataset, file.role, file.path, file.sha256, file.rows,
                          file.used_rows, tuple(file.columns)), lambda file: (file.dataset, file.role))
    return [change for first, second in pairs for change in _input_change(first, second)]


def _input_change(a: InputFile | None, b: InputFile | None) -> Iterator[InputChange]:
    """Yield the change of an input file, where there is one; None stands for a run that did not read it."""
    if a is None or b is None:
        either_file = a or b
        if either_file is not None:
            yield InputChange(dataset=either_file.dataset, differs_in=["presence"], a=a, b=b)
        return
    alike = {"content": a.sha256 == b.sha256, "rows": a.rows == b.rows, "used_rows": a.used_rows == b.used_rows,
             "columns": sorted(a.columns) == sorted(b.columns)}
    aspects = [aspect for aspect, same in alike.items() if not same]
    if aspects:
        yield InputChange.model_validate({"dataset": a.dataset, "differs_in": aspects, "a": a, "b": b})


def version_changes(a: Mapping[str, str], b: Mapping[str, str]) -> list[VersionChange]:
    """Return the libraries whose versions differ between two runs; None stands for a version that a run lacks."""
    return [VersionChange(library=name, a=a.get(name), b=b.get(name))
            for name in [*a, *(name for name in b if name not in a)] if a.get(name) != b.get(name)]


def subject_changes(a: Results, b: Results) -> list[SubjectChange]:
    """Return the evaluated datasets, the models and the metrics that one run alone has."""
    names: dict[Literal["dataset", "model", "metric"], list[list[str]]] = {
        "dataset": [[row.name for row in run.datasets if row.role == "evaluate"] for run in (a, b)],
        "model": [[model.name for model in run.models] for run in (a, b)],
        "metric": [[*dict.fromkeys(row.metric for row in run.rows)] for run in (a, b)],
    }
    changes = []
    for kind, (names_a, names_b) in names.items():
        changes += [SubjectChange(kind=kind, name=name, only_in="a") for name in names_a if name not in names_b]
        changes += [SubjectChange(kind=kind, name=name, only_in="b") for name in names_b if name not in names_a]
    return changes


if TYPE_CHECKING:
    Compared = Estimate | Individual | Overall | Threshold

NumberKind = Literal["estimate", "threshold", "desirability"]

SUBJECT_FIELDS: dict[NumberKind, tuple[str, ...]] = {
    "estimate": ("dataset", "model", "variant", "slice", "metric", "params", "average", "class"),
    "threshold": ("dataset", "model", "variant"),
    "desirability": ("dataset", "model", "variant", "goal"),
}
"""What tells a number from others of its kind, as far as it has it."""


def estimate_changes(a: Results, b: Results, tolerance: Tolerance) -> tuple[list[NumberChange], Counts]:
    """Return the estimates that differ beyond the tolerance, and counts of all that were compared."""
    counted = dict.fromkeys(("estimates", "differ", "intervals_alone", "within_tolerance", "only_a", "only_b"), 0)
    changes = []
    for first, second in matched_pairs(a.rows, b.rows, lambda row: text_of(row.about)):
        change = _number_change("estimate", first, second, tolerance)
        if first is None or second is None:
            counted["only_b" if first is None else "only_a"] += 1
        else:
            counted["estimates"] += 1
            differs = change is not None and not change.counted_alone
            counted["differ"] += differs
            counted["intervals_alone"] += change is not None and change.counted_alone
            counted["within_tolerance"] += not differs and first.value != second.value
        if change is not None:
            changes.append(change)
    return changes, Counts(**counted)


def number_changes(
    kind: NumberKind, a: Sequence[Compared], b: Sequence[Compared], tolerance: Tolerance
) -> list[NumberChange]:
    """Return the thresholds or desirabilities (``kind``) of two runs that differ beyond the tolerance."""
    def subject(row: Compared) -> str:
        return text_of([getattr(row, name, None) for name in ("dataset", "model", "variant", "goal")])

    changes = (_number_change(kind, first, second, tolerance) for first, second in matched_pairs(a, b, subject))
    return [change for change in changes if change is not None]


def _number_change(
    kind: NumberKind, a: Compared | None, b: Compared | None, tolerance: Tolerance
) -> NumberChange | None:
    """Return the change of a number from row ``a`` to ``b``, None of a run without it; None where it is the same."""
    aspects: list[Aspect] = ["presence"]
    details: list[str] = []
    difference = overlap = None
    side_fields = ("lower", "upper", "level", "method", "n", "events", "reason")
    first, second = (None if row is None else NumberSide(
        value=getattr(row, _value_field(kind, row)), status=row.status,
        **{name: getattr(row, name, None) for name in side_fields}) for row in (a, b))
    if a is not None and b is not None and first is not None and second is not None:
        metric = getattr(a, "metric", None) if kind == "estimate" else None
        details_a, details_b = _compared_details(kind, a), _compared_details(kind, b)
        details = [name for name in details_a if not tolerance.alike(details_a[name], details_b.get(name))]
        alike: dict[Aspect, bool] = {
            "value": tolerance.covers_both(first.value, second.value, metric),
            "status": a.status == b.status,
            "interval": (tolerance.covers_both(a.lower, b.lower, metric)
                         and tolerance.covers_both(a.upper, b.upper, metric)),
            "details": not details,
        }
        aspects = [aspect for aspect, same in alike.items() if not same]
        if not aspects:
            return None
        overlap = overlapping(first, second)
        if first.value is not None and second.value is not None:
            difference = second.value - first.value
    fields = (a or b).model_dump(by_alias=True)  # type: ignore[union-attr]  # one of the two is there
    subject = {name: fields[name] for name in SUBJECT_FIELDS[kind] if name in fields}
    if kind == "desirability":
        subject.setdefault("goal", "overall")
    return NumberChange(kind=kind, differs_in=aspects, details=details, a=first, b=second, difference=difference,
                        intervals_overlap=overlap, **subject)


def overlapping(a: NumberSide, b: NumberSide) -> bool | None:
    """Tell whether two intervals have a number in common; None where a limit is missing."""
    if a.lower is None or a.upper is None or b.lower is None or b.upper is None:
        return None
    return a.lower <= b.upper and b.lower <= a.upper


def _value_field(kind: NumberKind, row: Compared) -> str:
    """Return the name of the field with a row's number: "desirability" of a single goal, else "value"."""
    return "desirability" if kind == "desirability" and hasattr(row, "goal") else "value"


def _compared_details(kind: NumberKind, row: Compared) -> dict[str, Any]:
    """Return a row's further fields, in words: all but its subject, value, limits and status."""
    compared = {*SUBJECT_FIELDS[kind], _value_field(kind, row), "lower", "upper", "status"}
    return {name: in_words(field) for name, field in row.model_dump(by_alias=True).items() if name not in compared}


if TYPE_CHECKING:
    GatePairs = Sequence[tuple[Gate | None, Gate | None]]
    FindingPairs = Sequence[tuple[Finding | None, Finding | None]]

KINDS = ("pass", "skipped", "inconclusive", "warn", "fail")
"""What may become of a gate, from the best to the worst."""


def gate_pairs(a: Results, b: Results) -> GatePairs:
    """Return pairs of gates of two runs: with the same name, reference and measure, if possible the same limits."""
    def subject(gate: Gate) -> list[Any]:
        return [gate.name, gate.against, gate.key]

    return matched_twice(a.gates, b.gates, lambda gate: text_of([subject(gate), gate.on, gate.limit]),
                         lambda gate: text_of(subject(gate)))


def gate_changes(runs: tuple[Results, Results], pairs: GatePairs) -> list[GateChange]:
    """Return the gates whose verdict, limit or severity differs, or that one run lacks; the worst turns first."""
    reasons = {id(check.gate): check.reason for run in runs for check in test_cases(run)}
    changes = [change for pair in pairs for change in _gate_change(reasons, pair)]
    return sorted(changes, key=worsening_key, reverse=True)


def worsening_key(change: GateChange) -> tuple[int, int]:
    """Return a sort key: the number of steps by which a gate's verdict got worse, and its present step in `KINDS`.

    A gate that is gone got as much worse as a gate that failed; a new gate counts as passed before.
    """
    before, now = (KINDS.index(side.kind) if side else 0 for side in (change.a, change.b))
    return (now if change.b else len(KINDS) - 1) - before, now


def _gate_change(reasons: Mapping[int, str], pair: tuple[Gate | None, Gate | None]) -> Iterator[GateChange]:
    """Yield the change of a gate, where there is one; ``reasons`` are those of verdicts, by `id` of the gate."""
    a, b = pair
    either_gate = a or b
    if either_gate is None:
        return
    aspects = ["presence"] if a is None or b is None else gate_aspects(a, b)
    if aspects:
        subject = {name: getattr(either_gate, name) for name in (
            "metric", "desirability", "check", "params", "average", "class_", "dataset", "model", "variant", "slice",
            "name", "against")}
        sides = {side: gate and GateSide.of(gate, reasons[id(gate)]) for side, gate in zip("ab", pair, strict=True)}
        yield GateChange.model_validate(subject | {"differs_in": aspects, **sides})


def gate_aspects(a: Gate, b: Gate) -> list[str]:
    """Return the aspects in which a gate differs between two runs: "verdict", "limit", "judged" (basis, severity)."""
    alike = {"verdict": a.kind == b.kind, "limit": a.limit == b.limit,
             "judged": (a.on, a.severity) == (b.on, b.severity)}
    return [aspect for aspect, same in alike.items() if not same]


def finding_pairs(a: Results, b: Results) -> FindingPairs:
    """Return pairs of findings of two runs: with the same text, or else in one section about the same estimates."""
    def subject(finding: Finding) -> str:
        """Return a text of what a finding is about: its estimates, or its sentence whatever the numbers in it."""
        about = sorted(text_of(part.about) for part in finding.estimates) or NUMBER.sub("#", finding.text)
        return text_of([finding.section, finding.plugin, about])

    # What is of one kind belongs together; what is left over may have turned from one kind into another.
    pairs = matched_twice(a.findings, b.findings, lambda finding: (finding.kind, finding.section, finding.text),
                          lambda finding: (finding.kind, subject(finding)))
    both, only_a, only_b = _split(pairs)
    return [*both, *matched_twice(only_a, only_b, subject, subject)]


def finding_changes(pairs: FindingPairs) -> list[FindingChange]:
    """Return the findings that appeared, went or changed their kind, sorted by weight, the highest first."""
    def with_sentence(finding: Finding | None) -> StatedFinding | None:
        return None if finding is None else StatedFinding(**dict(finding))

    changes = [FindingChange(change="appeared" if first is None else "went" if second is None else "turned",
                             a=with_sentence(first), b=with_sentence(second))
               for first, second in pairs if first is None or second is None or first.kind != second.kind]
    return sorted(changes, key=lambda change: -max(side.weight for side in (change.a, change.b) if side is not None))


def count_restated(pairs: FindingPairs) -> int:
    """Count the findings that say the same in other words or digits."""
    return sum(first is not None and second is not None and first.kind == second.kind and first.text != second.text
               for first, second in pairs)


APART = {
    "schema_version", "evalpipe_version", "name", "title", "as_of", "spec", "spec_sha256", "inputs", "estimates",
    "thresholds", "gates", "findings",
}
"""The parts of results that are compared elsewhere; the name, the title and the day are keys of the spec."""

IDENTITY = (
    "dataset", "model", "variant", "baseline", "baseline_variant", "baseline_dataset", "slice", "metric", "params",
    "average", "class", "curve", "name", "code", "goal", "slicing", "level",
)
"""The fields that tell a row of any part from others, as far as it has them; a confidence level is none of them."""


def part_changes(
    a: Results, b: Results, gates: GatePairs, findings: FindingPairs, tolerance: Tolerance
) -> list[PartChange]:
    """Return the further parts of results, such as curves, whose rows differ by more than the tolerance.

    Of gates and findings, only pairs count that no other list has: their numbers or words differ, not their verdict
    or kind.
    """
    left, right = (_compared_parts(results, tolerance) for results in (a, b))
    changes = [_part_change(part, left.get(part), right.get(part), tolerance)
               for part in [*left, *(part for part in right if part not in left)]]
    skipped = {"gate", "reason"} if tolerance.is_exact else {"gate", "reason", "against_sha256"}
    of_gates = [(_fields_without(first, skipped), _fields_without(second, skipped)) for first, second in gates
                if first is not None and second is not None and not gate_aspects(first, second)]
    of_findings = [(_finding_fields(first), _finding_fields(second)) for first, second in findings
                   if first is not None and second is not None and first.kind == second.kind]
    changes += [_pair_change("gates", of_gates, tolerance), _pair_change("findings", of_findings, tolerance)]
    return [change for change in changes if change.differ or change.only_a or change.only_b]


def _compared_parts(results: Results, tolerance: Tolerance) -> dict[str, Any]:
    """Return the parts of results that no specific comparison covers, by name, with codes written out in words.

    `schema_version` 1 has no codes. The sha256 of a file of rows counts only without a tolerance: it does not tell how
    far its numbers differ.
    """
    parts = {name: part for name, part in results.model_dump(by_alias=True).items() if name not in APART}
    desirability = parts.pop("desirability")
    parts |= {f"desirability.{name}": rows for name, rows in desirability.items() if name in {"goals", "sensitivity"}}
    warnings = parts.pop("warnings")
    parts = in_words(parts) | {"warnings": [{"code": row["code"], "text": in_words(row)} for row in warnings]}
    if not tolerance.is_exact and parts.get("row_file"):
        parts["row_file"] = parts["row_file"] | {"sha256": None}
    return dict(parts)


def _fields_without(record: Record, skipped_fields: set[str]) -> dict[str, Any]:
    """Return the fields of a record as JSON values, but for the skipped fields."""
    return {name: value for name, value in record.model_dump(by_alias=True).items() if name not in skipped_fields}


def _finding_fields(finding: Finding) -> dict[str, Any]:
    """Return the compared fields of a finding, with its sentence, as results of `schema_version` 1 have no codes."""
    return _fields_without(finding, {"code"}) | {"text": finding.text}


def _part_change(part: str, in_a: Any, in_b: Any, tolerance: Tolerance) -> PartChange:
    """Return the numbers of rows of a part that differ, and of rows that only one run has; rows match by identity."""
    # A single value is one row, None is no row.
    a, b = (value if isinstance(value, list) else [] if value is None else [value] for value in (in_a, in_b))

    def identity(row: Any) -> str:
        """Return a text of the fields that tell a row from others; a level that is a number is of its interval."""
        if not isinstance(row, dict):
            return ""
        return text_of({name: row[name] for name in IDENTITY if name in row and not isinstance(row[name], float)})

    differ = only_a = only_b = 0
    for first, second in matched_pairs(a, b, identity):
        if first is None or second is None:
            only_a, only_b = only_a + (second is None), only_b + (first is None)
        else:
            differ += not tolerance.alike(first, second)
    return PartChange(part=part, rows_a=len(a), rows_b=len(b), differ=differ, only_a=only_a, only_b=only_b)


def _pair_change(part: str, pairs: Sequence[tuple[object, object]], tolerance: Tolerance) -> PartChange:
    differ = sum(not tolerance.alike(first, second) for first, second in pairs)
    return PartChange(part=part, rows_a=len(pairs), rows_b=len(pairs), differ=differ, only_a=0, only_b=0)
