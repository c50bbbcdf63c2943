"""The further parts of results, such as curves: by how many of their rows they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.review.differences.matching import matched, text_of
from evalpipe.review.differences.records import PartChange
from evalpipe.review.differences.verdicts import gate_aspects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.records import Record
    from evalpipe.results import Results
    from evalpipe.review.differences.tolerance import Tolerance
    from evalpipe.review.differences.verdicts import FindingPairs, GatePairs

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
    """Return the parts that differ by more than the tolerance.

    Of gates and findings, it is those that are listed nowhere else: with other numbers or words alone.
    """
    left, right = (_parts(results, tolerance) for results in (a, b))
    changes = [_part_change(part, _rows(left.get(part)), _rows(right.get(part)), tolerance)
               for part in [*left, *(part for part in right if part not in left)]]
    apart = {"gate"} if tolerance.is_exact else {"gate", "against_sha256"}
    of_gates = [(_plain(first, apart), _plain(second, apart)) for first, second in gates
                if first is not None and second is not None and not gate_aspects(first, second)]
    of_findings = [(_plain(first, set()), _plain(second, set())) for first, second in findings
                   if first is not None and second is not None and first.kind == second.kind]
    changes += [_of_pairs("gates", of_gates, tolerance), _of_pairs("findings", of_findings, tolerance)]
    return [change for change in changes if change.differ or change.only_a or change.only_b]


def _parts(results: Results, tolerance: Tolerance) -> dict[str, Any]:
    """Return what is compared here. The sha256 of a file of rows tells nothing of how far its numbers differ."""
    parts = {name: part for name, part in results.model_dump(by_alias=True).items() if name not in APART}
    desirability = parts.pop("desirability")
    parts |= {f"desirability.{name}": rows for name, rows in desirability.items() if name in {"goals", "sensitivity"}}
    if not tolerance.is_exact and parts.get("row_file"):
        parts["row_file"] = parts["row_file"] | {"sha256": None}
    return parts


def _plain(record: Record, apart: set[str]) -> dict[str, Any]:
    return {name: value for name, value in record.model_dump(by_alias=True).items() if name not in apart}


def _rows(part: Any) -> list[Any]:
    """Return a part as rows; what is no list is one row, and what is not there none."""
    return part if isinstance(part, list) else [] if part is None else [part]


def _part_change(part: str, a: list[Any], b: list[Any], tolerance: Tolerance) -> PartChange:
    differ = only_a = only_b = 0
    for first, second in matched(a, b, _identity):
        if first is None or second is None:
            only_a, only_b = only_a + (second is None), only_b + (first is None)
        else:
            differ += not tolerance.alike(first, second)
    return PartChange(part=part, rows_a=len(a), rows_b=len(b), differ=differ, only_a=only_a, only_b=only_b)


def _identity(row: Any) -> str:
    if not isinstance(row, dict):
        return ""
    return text_of({name: row[name] for name in IDENTITY if name in row and not isinstance(row[name], float)})


def _of_pairs(part: str, pairs: Sequence[tuple[object, object]], tolerance: Tolerance) -> PartChange:
    differ = sum(not tolerance.alike(first, second) for first, second in pairs)
    return PartChange(part=part, rows_a=len(pairs), rows_b=len(pairs), differ=differ, only_a=0, only_b=0)
