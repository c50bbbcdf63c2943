"""What is stated, as later steps hold it: the checks of texts, and the number that each reference in them is to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evalpipe.base.levels import level_text
from evalpipe.chapters.prevalence.plan import prevalence_plan
from evalpipe.chapters.statement.spec import TextFile
from evalpipe.errors import Problem, SpecError
from evalpipe.spec.measures import common_keys
from evalpipe.spec.rules_measures import LISTS_ALL
from evalpipe.spec.tree import LONGEST, ProseText, read_prose
from evalpipe.words.card_fields import FIELDS, WHERE, NumberReference, ReferenceFault, references
from evalpipe.words.sentences import NEEDS
from evalpipe.words.spelling import closest, joined, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Place
    from evalpipe.metrics import Metric
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import ModelPlan
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


PLACEHOLDERS = {"tbd", "tba", "tbc", "todo", "fixme", "xxx", "n/a"}
"""Texts that stand for one that is still to be written; an item of a standard may be `not_applicable` with a reason."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of stated texts; each text, read from its file where it has one, is stored in the draft."""
    for loc, declared in draft.spec.card.prose if draft.readable("card") else ():
        if not draft.readable(*loc):
            continue
        if isinstance(declared, TextFile) and not draft.readable(*loc, "file"):
            continue
        prose = ProseText(declared) if isinstance(declared, str) else read_prose(
            draft.tree, (*loc, "file"), declared.file)
        if isinstance(prose, Problem):
            yield prose
        else:
            draft.texts[loc] = prose
            yield from _check_text(draft, loc, prose)
    if draft.readable("card", "sign_off", "required"):
        sign_off = draft.spec.card.sign_off
        if sign_off is not None and sign_off.required == ("developer",):
            message = "the developer alone would make the card final"
            yield draft.tree.problem("no-second-reader", message, "card", "sign_off", "required",
                                     hint="add a role that did not build the model, such as 'validator'")


def _check_text(draft: Draft, loc: Loc, prose: ProseText) -> Iterator[Problem]:
    """Check one text: that it is neither empty nor too long, and the references to numbers in it."""
    if not any(character.isalnum() for character in prose.text):
        hint = "write it, or remove the key"
        yield prose.problem(draft.tree.origin, loc, "empty-value", "this text says nothing", hint, (0, 1))
    if prose.text.strip(" .!?*_").casefold() in PLACEHOLDERS:
        hint = "write it, or remove the key: the card then says that it is missing"
        yield prose.problem(draft.tree.origin, loc, "empty-value", "this text is a placeholder", hint, (0, 1))
    if len(prose.text) > LONGEST:
        message = f"this text has {len(prose.text):,} characters; at most {LONGEST:,} are allowed"
        yield prose.problem(
            draft.tree.origin, loc, "too-large", message, "shorten it, and say where the rest is", (0, 1))
    for reference in references(prose.text):
        if isinstance(reference, ReferenceFault):
            span, message = (reference.start, reference.end), reference.message
            yield prose.problem(draft.tree.origin, loc, "bad-reference", message, reference.hint, span)
        else:
            yield from _ReferenceCheck(draft, loc, prose, reference).problems()


@dataclass(frozen=True, slots=True)
class _ReferenceCheck:
    """The check of the names in one reference to a number, in the text at ``loc``."""

    draft: Draft
    loc: Loc
    prose: ProseText
    reference: NumberReference

    def problems(self) -> Iterator[Problem]:
        """Yield the problems of names that the spec does not have."""
        measures = self.draft.measures
        if self.reference.metric not in measures:
            advice = measures.advice(self.reference.metric)
            message = f"unknown metric {quoted(self.reference.metric)}"
            problem = self.problem("unknown-metric", message, None, advice.hint or LISTS_ALL)
            yield replace(problem, notes=(*problem.notes, *advice.notes))
        else:
            yield from self.check_options(measures[self.reference.metric])
        yield from self.check_place()
        yield from self.check_slice()

    def problem(self, code: str, message: str, guess: str | None, hint: str) -> Problem:
        """Return a problem at the place of the reference in its text; a ``guess`` of a name replaces the hint."""
        start, written = self.reference.start, self.reference.written
        hint = f"did you mean '{guess}'?" if guess else hint
        span = start, start + len(written)
        return self.prose.problem(self.draft.tree.origin, self.loc, code, message, hint, span, written)

    def check_options(self, metric: Metric) -> Iterator[Problem]:
        """Check the names beside the measure: those of places, and options of the metric."""
        known_names = [name for name in metric.option_types if name not in metric.alone]
        known_names += [name for name in common_keys(metric.name) if name == "prevalence"]
        named_options = {name: value for name, value in self.reference.options.items() if name not in WHERE}
        for name in (name for name in named_options if name not in known_names):
            message = f"unknown name {quoted(name)}"
            hint = f"the names here are {listed([*WHERE, *known_names], 'and')}"
            yield self.problem("unknown-key", message, closest(name, [*WHERE, *known_names]), hint)
        try:
            options = {name: value for name, value in named_options.items() if name in metric.option_types}
            metric.options.model_validate(options)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_context=False, include_input=False):
                if detail["type"] != "missing" and detail["loc"][0] in options:
                    name = str(detail["loc"][0])
                    message = f"{metric.name} takes no {name} of {quoted(options[name])}"
                    hint = f"`evalpipe metrics {metric.name}` says what it takes"
                    yield self.problem("wrong-type", message, None, hint)

    def check_place(self) -> Iterator[Problem]:
        """Check the names of the model, the dataset and the variant."""
        draft, spec = self.draft, self.draft.spec
        methods = () if spec.recalibrate is None else spec.recalibrate.methods
        variants = ["original", *(choice.name for choice in methods)]
        if draft.readable("models"):
            yield from self.check_name("model", list(spec.models), "unknown-model", "no model is called {}")
        if draft.readable("datasets"):
            message = "no dataset called {} is evaluated"
            yield from self.check_name("dataset", draft.role("evaluate"), "unknown-dataset", message)
        if draft.readable("recalibrate") and all(variants):
            yield from self.check_name("variant", variants, "unknown-variant", "no variant is called {}")

    def check_name(self, name: str, defined: Sequence[str], code: str, message: str) -> Iterator[Problem]:
        """Report a value of ``name`` in the reference that is not among the names defined."""
        value = self.reference.options.get(name)
        if value is not None and value not in defined:
            guess = closest(str(value), defined)
            yield self.problem(code, message.format(quoted(value)), guess, f"choose one of {listed(defined)}"
                               if len(defined) > 1 else f"write '{''.join(defined)}'")

    def check_slice(self) -> Iterator[Problem]:
        """Check that the columns of a slice are those of some entry of the spec's slices."""
        labels, spec = self.reference.options.get("slice"), self.draft.spec
        if labels is None or not self.draft.readable("slices"):
            return
        if isinstance(labels, str | bool | int | float):
            message = f"a slice is a mapping of column to label, not {quoted(labels)}"
            yield self.problem("wrong-type", message, None, 'write slice={"column": "label"}')
            return
        combinations = [tuple(slicing.columns or (slicing.title,)) for slicing in spec.slices or ()]
        if set(labels) not in map(set, combinations) and all(map(all, combinations)):
            columns, texts = " × ".join(labels), [" × ".join(combination) for combination in combinations]
            hint = f"the slices are by {listed(texts, 'and')}" if texts else "add 'slices: […]' to the spec"
            message = f"no entry of 'slices' is by {quoted(columns)}"
            yield self.problem("unknown-slice", message, closest(columns, texts), hint)


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
        """Return the number that the reference means; raises SpecError where there is none, or several."""
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
        """The names of the evaluated datasets."""
        return [name for name, dataset in self.spec.datasets.items() if dataset.role == "evaluate"]

    def error(self, code: str, message: str, hint: str) -> SpecError:
        """Return a SpecError that points at the reference in its text."""
        start, written = self.reference.start, self.reference.written
        return SpecError(self.prose.problem(
            self.spec.origin, self.loc, code, message, hint, (start, start + len(written)), written))

    def single(self, name: str, defined: Sequence[str]) -> str:
        """Return the value that the reference gives for ``name``, or else the only one ``defined``.

        Raises SpecError where several are possible, or where the value is none of them.
        """
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
        """Return the measure, with its options, that the reference means; raises SpecError if none, or several."""
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
        return has_options and has_average and (prevalence is None or self.is_at_prevalence(entry, prevalence))

    def is_at_prevalence(self, entry: MetricPlan, prevalence: object) -> bool:
        """Tell whether a measure is at this prevalence: "sample", "declared" or a number."""
        if prevalence == "sample":
            return entry.prior.asked is None
        declared = prevalence_plan(self.spec)
        shares = None if declared is None else declared.shares
        return entry.prior.asked is not None and (
            entry.prior.asked == shares if prevalence == "declared" else entry.prior.shown == prevalence)


PARTS = (statement_plan,)
