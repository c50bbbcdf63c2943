"""Gates: the limits that results must keep, and what they are on, as far as that is known before data are seen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from evalpipe.base.levels import level_text
from evalpipe.chapters.gates.spec import BOUNDED, F_MEASURES, LARGE_NIGHTS, AgainstEarlier, SequenceRule
from evalpipe.plan.measures import entries
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.chapters.gates.spec import GateRule
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class EarlierPlan:
    """The results of an earlier run: where they are, the path as it is written, and what that is relative to.

    ``relative`` is the end of a sentence, such as " (relative to spec.yaml)"; empty of an absolute path.
    """

    path: Path
    written: str
    relative: str


@dataclass(frozen=True, slots=True)
class GatePlan:
    """A gate: its ``rule`` as it is written, and what that is on.

    It is on the measures ``entries``, of the class ``class_`` where that is one; on all rows, on the ``slice`` with
    these labels, or on every slice by ``slices``: ("all",) or names of columns. A change is ``against`` the model
    ``baseline``, the last run of the output folder, or the results of an ``earlier`` run.
    """

    rule: GateRule
    entries: tuple[MetricPlan, ...]
    class_: str | None
    slice: Mapping[str, str] | None
    slices: tuple[str, ...] | None
    against: Literal["baseline", "last", "results"] | None
    baseline: str | None
    earlier: EarlierPlan | None

    @property
    def reference(self) -> str | None:
        """What a change is from, as results tell it: the baseline's model, "last", or the path of an earlier run."""
        if self.earlier is not None:
            return self.earlier.written
        return self.baseline if self.against == "baseline" else self.against

    @property
    def words(self) -> str:
        """What it is on, its limits, and what a change is from: "brier max 0.2, of every model on test"."""
        if self.rule.check is not None:
            return f"the check {self.rule.check}"
        measures = " and ".join(entry.label for entry in self.entries)
        subject = measures if self.rule.desirability is None else f"desirability {self.rule.desirability}"
        subject += "" if self.class_ is None else f" of class {self.class_}"
        limits = " and ".join(f"{key} {limit:g}" for key, limit in self.rule.limit.items())
        change = "" if self.reference is None else f" against {self.reference}"
        variant = {"original": "", "all": " and its variants"}.get(
            self.rule.variant, f" recalibrated by {self.rule.variant}")
        scope = f"{self.rule.model or 'every model'}{variant} on {self.rule.dataset or 'every dataset'}"
        nights = ", by the evidence of all nights" if self.rule.on == "sequence" else ""
        return f"{subject} {limits}{change}, of {scope}{self._slices_text}{nights}"

    @property
    def document(self) -> dict[str, object]:
        """What it is on, as JSON values, as far as known before data are seen; null where it is on each there is."""
        rule = self.rule
        check: dict[str, object] = {} if rule.check is None else {"check": rule.check}
        return {
            "name": rule.name, "measures": [entry.document for entry in self.entries],
            "desirability": rule.desirability, "class": self.class_, "dataset": rule.dataset, "model": rule.model,
            "variant": rule.variant, "slice": None if self.slice is None else dict(self.slice),
            "slices": None if self.slices is None else list(self.slices), "limit": rule.limit,
            "against": self.reference, "on": rule.on, "undefined": rule.undefined, "severity": rule.severity,
            **check,
        }

    @property
    def _slices_text(self) -> str:
        """Which slices it is on, as the end of a sentence; nothing where it is on all rows."""
        if self.slice is not None:
            return f", in the slice {', '.join(f'{column}={level}' for column, level in self.slice.items())}"
        if self.slices is None:
            return ""
        return ", in every slice" if self.slices == ("all",) else f", in every slice by {' × '.join(self.slices)}"


def gates_plan(spec: Spec) -> tuple[GatePlan, ...]:
    """Return the plans of the gates of a spec, in order; none where it declares none."""
    return tuple(_gate_plan(spec, number, gate) for number, gate in enumerate(spec.gates or ()))


def sequence_plan(spec: Spec) -> SequenceRule:
    """Return the settings of all gates `on: sequence`, or their defaults."""
    return spec.sequence or SequenceRule()


def evidence_kind(entry: MetricPlan) -> Literal["rows", "losses", "cells"] | None:
    """Return what the bets on a measure are on, where its evidence can be exact; None where it cannot.

    "rows" are successes and failures of a proportion, "losses" those within bounds whose mean it is, "cells" those of
    the confusion matrix whose ratio it is.
    """
    if entry.metric.interval == "proportion" and entry.metric.needs == "labels":
        return "rows"
    if entry.metric.name in BOUNDED:
        return "losses"
    return "cells" if entry.metric.name in F_MEASURES else None


def least_night(entries: Iterable[MetricPlan]) -> int:
    """Return how many rows of the rarer outcome a night must be expected to have, to be evidence on measures.

    0 where the mean of each over nights is its value, however few rows they have.
    """
    return max(LARGE_NIGHTS.get(entry.metric.name, 0) for entry in entries)


def _gate_plan(spec: Spec, index: int, gate: GateRule) -> GatePlan:
    """Return the plan of a gate of a spec, by its number from 0."""
    declared = gate.against
    against = "results" if isinstance(declared, AgainstEarlier) else declared
    labels = None if gate.slice is None else {column: level_text(level) for column, level in gate.slice.items()}
    return GatePlan(
        gate, () if gate.metric is None else tuple(entries(spec, gate.metric)),
        None if gate.class_ is None else level_text(gate.class_),
        slice=None if labels is None else MappingProxyType(labels),
        slices=(gate.slices,) if isinstance(gate.slices, str) else gate.slices,
        against=against,
        baseline=spec.compare.baseline if against == "baseline" and spec.compare is not None else None,
        earlier=_earlier_run(spec, index, declared.results) if isinstance(declared, AgainstEarlier) else None,
    )


def _earlier_run(spec: Spec, index: int, declared_path: str) -> EarlierPlan:
    """Return the plan of the earlier run whose results a gate names, by their path as in the spec."""
    loc = ("gates", index, "against", "results")
    place = spec.origin.place(*loc)
    file = place.file if place is not None and place.file in spec.origin.folders else spec.origin.path
    relative = "" if Path(declared_path).is_absolute() else (
        " (relative to the working folder)" if file is None else f" (relative to {Path(file).name})")
    return EarlierPlan(spec.origin.folder_of(*loc) / declared_path, declared_path, relative)


def looks_back(plan: Plan) -> Iterator[Literal["evidence", "reference"]]:
    """Yield what gates read of earlier nights: the evidence of each, and the reference that they left."""
    gates = plan.part(gates_plan)
    if any(gate.rule.on == "sequence" for gate in gates):
        yield "evidence"
    if any(gate.against == "last" for gate in gates):
        yield "reference"


def lines(plan: Plan) -> Iterator[str]:
    """Yield the number of gates, and a line for each."""
    gates = plan.part(gates_plan)
    if gates:
        yield f"judged by {counted(len(gates), 'gate')}"
        yield from (f"  gate {number}: {gate.words}" for number, gate in enumerate(gates, 1))


def document(plan: Plan) -> dict[str, object]:
    """Return the gates, as JSON values."""
    return {"gates": [{"gate": number, **gate.document} for number, gate in enumerate(plan.part(gates_plan), 1)]}


PARTS = (gates_plan, sequence_plan)
