"""What models, measures and slices are called in sections that name many of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card import wording

if TYPE_CHECKING:
    from evalpipe.chapters.gates.records import Subject
    from evalpipe.results import Results, Scalar, Slice


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a run: ``titles`` of metrics, ``labels`` of models, and the slices that are ``conditions``.

    ``single`` are the metrics that occur with one choice of options, which goes without saying but for a prevalence.
    """

    titles: Mapping[str, str]
    labels: Mapping[str, str]
    conditions: frozenset[str]
    single: frozenset[str]

    def measure(
        self, metric: str, params: Mapping[str, Scalar], average: str | None = None, class_: str | None = None
    ) -> str:
        """Name a measure, with the class it is of where there is one."""
        said = params if metric not in self.single else {k: v for k, v in params.items() if k == "prevalence"}
        name = wording.measure(self.titles.get(metric, metric), said, average)
        return name if class_ is None else f"{name}, {class_}"

    def unsaid(self, metric: str, params: Mapping[str, Scalar]) -> str:
        """List the options that the name of a measure leaves out."""
        left = {name: value for name, value in params.items() if name != "prevalence"}
        return wording.options(left) if metric in self.single else ""

    def model(self, model: str, variant: str = "original") -> str:
        """Name a model, with its variant where it is not the original."""
        label = self.labels.get(model, model)
        return label if variant == "original" else f"{label} ({variant})"

    def subject(self, subject: Subject, *, whole: bool = False) -> str:
        """Name what a gate judges: a measure, with its class unless it is meant as a ``whole``, or desirability."""
        if subject.metric is None:
            goal = subject.desirability
            return "overall desirability" if goal == "overall" else f"desirability of {goal}"
        return self.measure(subject.metric, subject.params, subject.average, None if whole else subject.class_)

    def scope(self, subject: Subject) -> str:
        """Name where a number was taken, such as ``Logistic regression (platt) on test, season = a``."""
        inside = "" if subject.slice is None else f", {self.slice(subject.slice)}"
        return f"{self.model(subject.model, subject.variant)} on {subject.dataset}{inside}"

    def slice(self, labels: Slice) -> str:
        """Name a slice, such as ``season = a, habitat = d``; a condition by its name."""
        return wording.slice_name(labels, self.conditions)

    def is_condition(self, labels: Slice) -> bool:
        """Tell whether a slice is by a condition of its own."""
        return self.conditions.issuperset(labels)

    def label(self, labels: Slice) -> str:
        """Name a slice where its slicing is named already, by its labels alone: ``a, d``."""
        if self.is_condition(labels):
            return self.slice(labels)
        return ", ".join(wording.group(value) for value in labels.values())


def names_of(results: Results) -> Names:
    """Gather the names of a run."""
    asked = results.spec.get("slices") or ()
    forms: dict[str, set[tuple[object, ...]]] = {}
    for e in results.rows:
        forms.setdefault(e.metric, set()).add(tuple(e.params.items()))
    return Names(
        titles={metric.name: metric.title for metric in results.metrics},
        labels={model.name: model.label for model in results.models},
        conditions=frozenset(
            str(slicing["name"]) for slicing in asked if isinstance(slicing, dict) and slicing.get("where") is not None
        ),
        single=frozenset(metric for metric, params in forms.items() if len(params) == 1),
    )
