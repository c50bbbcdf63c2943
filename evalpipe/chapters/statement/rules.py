"""Checks of what people state: that texts say something, and refer to numbers that a spec can ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from evalpipe.chapters.statement.spec import TextFile
from evalpipe.errors import Problem
from evalpipe.spec.measures import common_keys
from evalpipe.spec.rules_measures import LISTS_ALL
from evalpipe.spec.tree import LONGEST, ProseText, read_prose
from evalpipe.words.card_fields import WHERE, NumberReference, ReferenceFault, references
from evalpipe.words.spelling import closest, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.metrics import Metric
    from evalpipe.spec.draft import Draft


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
