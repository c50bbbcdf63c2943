"""What is stated, as later steps hold it, and the number that each reference in a text is to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evalpipe.base.levels import level_text
from evalpipe.chapters.prevalence.plan import prevalence_plan
from evalpipe.errors import SpecError
from evalpipe.words.card_fields import FIELDS, WHERE, NumberReference, references
from evalpipe.words.sentences import NEEDS
from evalpipe.words.spelling import closest, joined, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Place, Problem
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import ModelPlan
    from evalpipe.spec.spec import Spec
    from evalpipe.spec.tree import ProseText


@dataclass(frozen=True, slots=True)
class ReferredPlan:
    """The number that a reference is to, by what tells it from others, and where the text stands in the spec."""

    reference: str
    entry: MetricPlan
    params: Mapping[str, Any]
    class_: str | None
    dataset: str
    model: str
    variant: str
    slice: Mapping[str, str] | None
    place: Place | None


@dataclass(frozen=True, slots=True)
class StatementPlan:
    """What is stated: values by the keys of `results.statement`, and the numbers that texts refer to."""

    values: Mapping[str, Any]
    numbers: tuple[ReferredPlan, ...]


def statement_plan(spec: Spec, metrics: Sequence[MetricPlan], models: Mapping[str, ModelPlan]) -> StatementPlan:
    """Return what the spec states; raises SpecError with every reference that is to no number, or to several."""
    numbers: dict[str, ReferredPlan] = {}
    problems: list[Problem] = []
    for loc, prose in spec.texts.items():
        for reference in references(prose.text):
            if isinstance(reference, NumberReference):
                try:
                    numbers[reference.written] = _ReferenceSearch(spec, metrics, models, loc, prose, reference).number()
                except SpecError as error:
                    problems += error.problems
    if problems:
        raise SpecError(*problems)
    return StatementPlan(MappingProxyType(_stated_values(spec)), tuple(numbers.values()))


def _stated_values(spec: Spec) -> dict[str, Any]:
    """Return what people wrote for the card, by the keys of `results.statement`, with the texts of files."""
    texts = {loc[1:]: prose.text for loc, prose in spec.texts.items()}
    card = spec.card
    return {
        "id": card.id, "status": card.status,
        **{key: texts[key,] for key in FIELDS if (key,) in texts},
        "limits": [texts["limits", index] for index in range(len(card.limits))],
        "changes": [{"date": change.date, "text": texts["changes", index, "text"]}
                    for index, change in enumerate(card.changes)],
        "files": [{"path": prose.path, "sha256": prose.sha256}
                  for prose in {prose.path: prose for prose in spec.texts.values() if prose.path}.values()],
    }


@dataclass(frozen=True, slots=True)
class _ReferenceSearch:
    """The search for the number that a reference in a text is to; the names in it have been checked."""

    spec: Spec
    metrics: Sequence[MetricPlan]
    models: Mapping[str, ModelPlan]
    loc: Loc
    prose: ProseText
    reference: NumberReference

    def number(self) -> ReferredPlan:
        """Return the number that the reference is to; raises SpecError where there is none, or several."""
        entry, class_ = self.entry(), None
        model, dataset = self.single("model", list(self.models)), self.single("dataset", self.evaluated)
        params = entry.shown
        if entry.average == "none":
            levels = [level_text(level) for level in self.spec.outcome.levels or ()]
            class_ = self.single("class", levels)
            params = entry.shown_of(levels.index(class_))
        lacking = entry.lacking(self.models[model].gives)
        if lacking is not None:
            message = f"{model} has no {entry.metric.name}: it gives {NEEDS[lacking]}"
            raise self.error("not-asked-for", message, "name another model")
        labels = self.reference.options.get("slice")
        return ReferredPlan(
            self.reference.written, entry, params, class_, dataset, model,
            str(self.reference.options.get("variant", "original")),
            {name: level_text(label) for name, label in labels.items()} if isinstance(labels, Mapping) else None,
            self.spec.origin.place(*self.loc))

    @property
    def evaluated(self) -> list[str]:
        """The datasets that are evaluated."""
        return [name for name, dataset in self.spec.datasets.items() if dataset.role == "evaluate"]

    def error(self, code: str, message: str, hint: str) -> SpecError:
        """Return the error of the reference."""
        start, written = self.reference.start, self.reference.written
        return SpecError(self.prose.problem(
            self.spec.origin, self.loc, code, message, hint, (start, start + len(written)), written))

    def single(self, name: str, defined: Sequence[str]) -> str:
        """Return the value of ``name`` in the reference or, where it names none, the only one ``defined``."""
        value = self.reference.options.get(name)
        if value is None and len(defined) == 1:
            return defined[0]
        if value is None:
            raise self.error("ambiguous-reference", f"which {name} is meant, {listed(defined)}?", f'add {name}="…"')
        # Names of models and datasets have been checked with the spec; a level has not.
        label = level_text(value) if name == "class" else str(value)
        if label in defined:
            return label
        guess = closest(label, defined)
        hint = f"did you mean '{guess}'?" if guess else f"choose one of {listed(defined)}"
        raise self.error("unknown-level", f"{quoted(label)} is not one of the levels", hint)

    def entry(self) -> MetricPlan:
        """Return the measure, with its options, that the reference is to: one of the metrics of the spec."""
        metric = self.spec.measures[self.reference.metric]
        of_metric = [entry for entry in self.metrics if entry.metric == metric]
        fitting = [entry for entry in of_metric if self.fits(entry)]
        averaged = [entry for entry in fitting if entry.average != "none"]
        of_classes = "class" in self.reference.options or self.reference.options.get("average") == "none"
        meant = [entry for entry in fitting if entry.average == "none"] if of_classes else averaged or fitting
        if self.spec.alone:
            raise self.error("not-asked-for", "without predictions no measure is computed that a text could refer to",
                             "write the number itself")
        if not of_metric:
            raise self.error("not-asked-for", f"{metric.name} is not in 'metrics'", "list it in 'metrics'")
        labels = joined([entry.label for entry in of_metric], "and")
        if not meant:
            verb = "is" if len(of_metric) == 1 else "are"
            message = f"{metric.name} is not in 'metrics' in this form: {labels} {verb}"
            raise self.error("not-asked-for", message, "add it to 'metrics', or refer to one that is")
        if len(meant) > 1:
            message = f"which number is meant, {joined([entry.label for entry in meant], 'or')}?"
            raise self.error("ambiguous-reference", message, "name the options that tell them apart")
        return meant[0]

    def fits(self, entry: MetricPlan) -> bool:
        """Tell whether a measure has the average and the options that the reference names."""
        named_options = {name: value for name, value in self.reference.options.items() if name not in WHERE}
        prevalence = named_options.pop("prevalence", None) if "prevalence" not in entry.params else None
        average = self.reference.options.get("average")
        has_options = all(entry.params.get(name) == value for name, value in named_options.items())
        has_average = average in (None, entry.average)
        return has_options and has_average and (prevalence is None or self.taken_at(entry, prevalence))

    def taken_at(self, entry: MetricPlan, prevalence: object) -> bool:
        """Tell whether a measure is at a ``prevalence``: "sample", "declared" or a number."""
        if prevalence == "sample":
            return entry.prior.asked is None
        declared = prevalence_plan(self.spec)
        shares = None if declared is None else declared.shares
        return entry.prior.asked is not None and (
            entry.prior.asked == shares if prevalence == "declared" else entry.prior.shown == prevalence)


PARTS = (statement_plan,)
