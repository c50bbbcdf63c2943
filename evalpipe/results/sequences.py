"""Sequences of nightly evidence: which earlier nights continue in the evidence of a run, and whether they changed."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import json_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalpipe.results import GateEvidence, Results

    Night = Mapping[str, Any]


def nights_by_sequence(evidence: Sequence[GateEvidence], nights: Iterable[Night]) -> dict[str, list[Night]]:
    """Return the earlier nights by the hash of their sequence, in the order of days, of gates that have ``evidence``.

    Where a model was renamed, the nights under its former name belong to the sequence under its new name, and the
    nights of another model that had the new name before do not.
    """
    families = {row.family for row in evidence}
    new_sequences: dict[str, str] = {row.former: row.sequence for row in evidence if row.former is not None}
    earlier: dict[str, list[Night]] = defaultdict(list)
    by_day: dict[str, list[Night]] = defaultdict(list)
    for night in nights:
        by_day[str(night["as_of"])].append(night)
    # From the newest day back, so that a model that was renamed twice is followed.
    for _, same_day in sorted(by_day.items(), reverse=True):
        taken_over = {new_sequences[night["sequence"]] for night in same_day if night["sequence"] in new_sequences}
        for night in same_day[::-1]:
            sequence = str(night["sequence"])
            if sequence in new_sequences or (night["family"] in families and sequence not in taken_over):
                record = {key: item for key, item in night.items() if key != "former"}
                earlier[new_sequences.get(sequence, sequence)].append(record)
        new_sequences |= {night["former"]: new_sequences.get(night["sequence"], night["sequence"])
                    for night in same_day if night.get("former") is not None}
    return {sequence: rows[::-1] for sequence, rows in earlier.items()}


def nights_sha256(rows: Iterable[GateEvidence], earlier: Mapping[str, Sequence[Night]]) -> str:
    """Return the hash of the earlier nights that some records of evidence add to, by which a change of them is seen."""
    return json_sha256([earlier.get(row.sequence, ()) for row in rows])


def changed_sequences(results: Results, nights: Sequence[Night]) -> list[int]:
    """Return the numbers of gates, from 1, whose evidence of earlier nights has changed in the ledger since the run.

    ``nights`` is that evidence as the ledger has it now, in the order of days; the results keep a hash of the evidence
    that each gate was judged by.
    """
    earlier = nights_by_sequence(results.evidence, nights)
    rows_of: dict[tuple[object, ...], list[GateEvidence]] = defaultdict(list)
    for row in results.evidence:
        rows_of[row.gate, row.key].append(row)
    changed = {gate.gate for gate in results.gates if gate.sequence is not None
               and gate.sequence.nights_sha256 != nights_sha256(rows_of[gate.gate, gate.key], earlier)}
    return sorted(changed)


def begins_anew(results: Results) -> bool:
    """Tell whether accepting a run restarts the sequences of its spec: it has a day and gates `on: sequence`."""
    return results.as_of is not None and any(gate.on == "sequence" for gate in results.gates)
