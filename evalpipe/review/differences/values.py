"""Estimates, thresholds and desirability of two runs: which are the same numbers, and by how much they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from evalpipe.review.differences.matching import matched, text_of
from evalpipe.review.differences.records import Aspect, Counts, NumberChange, NumberSide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Estimate, Individual, Overall, Results, Threshold
    from evalpipe.review.differences.tolerance import Tolerance

    Compared = Estimate | Individual | Overall | Threshold

NumberKind = Literal["estimate", "threshold", "desirability"]

PLACE: dict[NumberKind, tuple[str, ...]] = {
    "estimate": ("dataset", "model", "variant", "slice", "metric", "params", "average", "class"),
    "threshold": ("dataset", "model", "variant"),
    "desirability": ("dataset", "model", "variant", "goal"),
}
"""What tells a number from others of its kind, as far as it has it."""


def estimate_changes(a: Results, b: Results, tolerance: Tolerance) -> tuple[list[NumberChange], Counts]:
    """Return the estimates that differ, and how many were compared."""
    counted = dict.fromkeys(("estimates", "differ", "intervals_alone", "within_tolerance", "only_a", "only_b"), 0)
    changes = []
    for first, second in matched(a.rows, b.rows, lambda row: text_of(row.about)):
        change = _change("estimate", first, second, tolerance)
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


def threshold_changes(a: Results, b: Results, tolerance: Tolerance) -> list[NumberChange]:
    """Return the thresholds that differ."""
    return list(_changes("threshold", a.thresholds, b.thresholds, tolerance))


def desirability_changes(a: Results, b: Results, tolerance: Tolerance) -> list[NumberChange]:
    """Return the desirability that differs: overall, then by goal."""
    return [*_changes("desirability", a.desirability.overall, b.desirability.overall, tolerance),
            *_changes("desirability", a.desirability.individual, b.desirability.individual, tolerance)]


def _changes(
    kind: NumberKind, a: Sequence[Compared], b: Sequence[Compared], tolerance: Tolerance
) -> Iterator[NumberChange]:
    def key(row: Compared) -> str:
        return text_of([getattr(row, name, None) for name in ("dataset", "model", "variant", "goal")])

    changes = (_change(kind, first, second, tolerance) for first, second in matched(a, b, key))
    return (change for change in changes if change is not None)


def _change(kind: NumberKind, a: Compared | None, b: Compared | None, tolerance: Tolerance) -> NumberChange | None:
    """Return in what a number of two runs differs; None where it does not."""
    if a is None or b is None:
        return _record(kind, a, b, ["presence"])
    metric = getattr(a, "metric", None) if kind == "estimate" else None
    left, right = _details(kind, a), _details(kind, b)
    details = [name for name in left if not tolerance.alike(left[name], right.get(name))]
    alike: dict[Aspect, bool] = {
        "value": tolerance.covers_both(_value(kind, a), _value(kind, b), metric),
        "status": a.status == b.status,
        "interval": (tolerance.covers_both(a.lower, b.lower, metric)
                     and tolerance.covers_both(a.upper, b.upper, metric)),
        "details": not details,
    }
    aspects = [aspect for aspect, same in alike.items() if not same]
    return _record(kind, a, b, aspects, details) if aspects else None


def _record(
    kind: NumberKind, a: Compared | None, b: Compared | None, aspects: list[Aspect], details: Sequence[str] = ()
) -> NumberChange:
    fields = (a or b).model_dump(by_alias=True)  # type: ignore[union-attr]  # one of the two is there
    where = {name: fields[name] for name in PLACE[kind] if name in fields}
    if kind == "desirability":
        where.setdefault("goal", "overall")
    first, second = (None if row is None else _side(kind, row) for row in (a, b))
    difference = overlap = None
    if first is not None and second is not None:
        overlap = overlapping(first, second)
        if first.value is not None and second.value is not None:
            difference = second.value - first.value
    return NumberChange(kind=kind, differs_in=aspects, details=list(details), a=first, b=second, difference=difference,
                        intervals_overlap=overlap, **where)


def overlapping(a: NumberSide, b: NumberSide) -> bool | None:
    """Tell whether two intervals have a number in common; None where there are not two."""
    if a.lower is None or a.upper is None or b.lower is None or b.upper is None:
        return None
    return a.lower <= b.upper and b.lower <= a.upper


def _value(kind: NumberKind, row: Compared) -> float | None:
    """Return the number itself: of a goal its desirability, which is not the value of its measure."""
    value: float | None = getattr(row, "desirability" if kind == "desirability" and hasattr(row, "goal") else "value")
    return value


def _side(kind: NumberKind, row: Compared) -> NumberSide:
    fields = {name: getattr(row, name, None) for name in ("lower", "upper", "level", "method", "n", "events", "reason")}
    return NumberSide(value=_value(kind, row), status=row.status, **fields)


def _details(kind: NumberKind, row: Compared) -> dict[str, Any]:
    """Return what else a run tells of a number."""
    value = "desirability" if kind == "desirability" and hasattr(row, "goal") else "value"
    compared = {*PLACE[kind], value, "lower", "upper", "status"}
    return {name: field for name, field in row.model_dump(by_alias=True).items() if name not in compared}
