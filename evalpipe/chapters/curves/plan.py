"""The thresholds that are marked on curves, the groups of a gain table, and what is shown of residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.chapters.curves.spec import ResidualDiagnostics
from evalpipe.plan.measures import MetricPlan, entries
from evalpipe.spec.measures import MetricChoice
from evalpipe.tasks import CLASSES

if TYPE_CHECKING:
    from evalpipe.base.origin import Loc
    from evalpipe.chapters.curves.spec import ResidualFigure, ResidualKind
    from evalpipe.spec.spec import Spec

RESIDUALS: Loc = ("curves", "residuals")
MIN_ROWS = 30
"""The fewest rows of a group of residuals where the spec says nothing, as of a slice."""

GROUPS = 10
"""The groups of a gain table where the spec says nothing: tenths."""


def marks_plan(spec: Spec) -> tuple[float, ...]:
    """Return the marked thresholds, ascending; none where the spec marks none."""
    if spec.task != "binary" or spec.curves is None:
        return ()
    return tuple(sorted(map(float, spec.curves.marks or ())))


@dataclass(frozen=True, slots=True)
class ResidualsPlan:
    """What is shown of residuals beside those that numbers always have.

    They are ``of`` probabilities or of numbers. ``kinds`` have quantiles and are drawn against the prediction; ``kind``
    is the one that ``figures`` are of, where "raw" is truth - prediction. ``against`` are columns of the data, and
    ``order`` is the one in whose order residuals are shown, both in groups of at least ``min_rows`` rows.
    """

    of: Literal["probabilities", "numbers"]
    kinds: tuple[ResidualKind, ...]
    kind: ResidualKind | Literal["raw"]
    figures: tuple[ResidualFigure, ...]
    against: tuple[str, ...]
    order: str | None
    min_rows: int

    @property
    def columns(self) -> tuple[tuple[Loc, str], ...]:
        """The columns of the data that are read for them, each once, with the place in the spec that names it."""
        loc_of_column: dict[str, Loc] = {}
        for index, column in enumerate(self.against):
            loc_of_column.setdefault(column, (*RESIDUALS, "against", index))
        if self.order is not None:
            loc_of_column.setdefault(self.order, (*RESIDUALS, "order"))
        return tuple((loc, column) for column, loc in loc_of_column.items())


def columns(spec: Spec) -> tuple[tuple[Loc, str], ...]:
    """Return the columns of the data to read, each with its place in the spec."""
    residuals = residuals_plan(spec)
    return () if residuals is None else residuals.columns


def residuals_plan(spec: Spec) -> ResidualsPlan | None:
    """Return which residuals are shown beside the usual ones; None where the spec requests none."""
    diagnostics = None if spec.curves is None else spec.curves.residuals
    if diagnostics is None or diagnostics is False:
        return None
    if diagnostics is True:
        diagnostics = ResidualDiagnostics()
    kinds, figures = diagnostics.kinds or (), diagnostics.figures or ()
    of: Literal["probabilities", "numbers"] = "probabilities" if spec.task in CLASSES else "numbers"
    return ResidualsPlan(of, kinds, "raw" if spec.task == "regression" else next(iter(kinds), "deviance"), figures,
                         diagnostics.against or (), diagnostics.order, diagnostics.min_rows or MIN_ROWS)


def groups_plan(spec: Spec) -> int:
    """Return the number of groups of a gain table."""
    return GROUPS if spec.curves is None or spec.curves.groups is None else spec.curves.groups


@dataclass(frozen=True, slots=True)
class RelationsPlan:
    """Measures that are set against the prevalence and against each other, the latter at ``prevalences``."""

    measures: tuple[MetricPlan, ...]
    prevalences: tuple[float, ...]


def relations_plan(spec: Spec) -> RelationsPlan | None:
    """Return the measures related to each other and to the prevalence; None where the spec requests none."""
    relations = None if spec.curves is None else spec.curves.relations
    if spec.task != "binary" or relations is None:
        return None
    return RelationsPlan(tuple(next(entries(spec, MetricChoice(name))) for name in relations.measures),
                         tuple(map(float, relations.prevalences)))


PLANNED = {
    "marks": marks_plan, "gain_groups": groups_plan, "residuals": residuals_plan, "relations": relations_plan,
}
