"""The words of the card: names of methods, directions, measures, models and slices, each written once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalpipe.intervals.declare import registry
from evalpipe.words import numbers, spelling
from evalpipe.words.sentences import Sentence
from evalpipe.words.spelling import clipped, listed, plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.base.records import Subject
    from evalpipe.results import ChosenMethod, Confusion, Gate, MetricSummary, Results, Scalar, Slice, Warned
    from evalpipe.results.document import Kind


MISSING = "MISSING"
"""What stands where people have stated nothing."""

BETTER = {"maximize": "higher", "minimize": "lower", "none": "neither"}
"""Which values of a metric are better."""


def better(end: str) -> str:
    """Return "higher is better" for the word "higher" of `BETTER`, and so on."""
    return f"{end} is better"


BETTER_SENTENCES = {
    "maximize": "Higher is better.",
    "minimize": "Lower is better.",
    "none": "Neither higher nor lower is better.",
}

KEY_MEASURES = (
    "roc_auc", "hand_till_auc", "brier", "log_loss", "accuracy", "balanced_accuracy", "kappa", "weighted_kappa", "rps",
    "ordinal_mae", "sensitivity", "specificity", "precision", "ppv", "npv", "mcc", "reportable_rate",
    "rmse", "mae", "median_absolute_error", "r2", "c_index", "poisson_deviance", "pearson_dispersion",
)
"""The measures shown in the summary, where the run has them."""

ROLES = {
    "evaluate": "evaluation", "calibrate": "calibration: for recalibrators and thresholds",
    "reference": "reference: not evaluated", "candidates": "candidates with finished metrics",
}
"""What the files of a dataset are for."""

ASIDES = {"calibrate": "for recalibrators and thresholds; not evaluated"}
"""What is said beside the name of a dataset that is not evaluated, where it is more than that."""


MOST_NAMED = 6
"""The most models that one sentence names; of more it gives the number."""


def more_models(before: str, count: int) -> str:
    """Return ``before`` with the number of models beyond `MOST_NAMED`: ", 2 more models"; empty where none is."""
    remaining = count - MOST_NAMED
    return f"{before}{numbers.count(remaining)} more model{'' if remaining == 1 else 's'}" if remaining > 0 else ""


NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def number_word(count: int) -> str:
    """Write a count within a sentence: in words up to twelve."""
    return NUMBER_WORDS[count] if count < len(NUMBER_WORDS) else numbers.count(count)


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]


def variant_name(variant: str) -> str:
    """Return the name of a recalibrated variant as people read it: that of a method without underscores."""
    return variant.replace("_", " ")


def joined(items: Sequence[str], word: str = "and") -> str:
    """Write a list in words: "a, b and c"; "a; b, of d; and c" where an item has a comma outside of brackets."""
    if len(items) > 2 and any(", " in re.sub(r"\([^)]*\)", "", item) for item in items):
        return f"{'; '.join(items[:-1])}; {word} {items[-1]}"
    return spelling.joined(items, word)


def interval_method_title(name: str) -> str:
    """Return the title of an interval method; its name where it is unknown."""
    return registry[name].title if name in registry else name


def cautions(names: Iterable[str]) -> str:
    """Return the cautions of interval methods as sentences that follow another; empty without any."""
    return "".join(f" {registry[name].caution}" for name in names if name in registry and registry[name].caution)


def short_method(name: str) -> str:
    """Return the short title of an interval method; its name where it is unknown."""
    return registry[name].short if name in registry else name


def level(value: float) -> str:
    """Write a confidence level in per cent."""
    return f"{100 * value:.10g}%"


def scalar(value: Scalar) -> str:
    """Return a value of the spec as text: "yes" or "no", a number without noise, or the text itself."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else numbers.plain(value)


def slice_value_text(value: Scalar) -> str:
    """Return a value of the column that defines a slice as text, shortened where it is long."""
    return clipped(value) if isinstance(value, str) else scalar(value)


COLUMNS = {"loo_prediction": "leave-one-out prediction"}
"""What a column of a model holds, where its key does not say it plainly."""

AVERAGES = {
    "macro": "mean over classes", "macro_weighted": "mean over classes by size", "micro": "classes pooled",
}
"""What each average over classes is called."""


def share(value: float) -> str:
    """Return a prevalence that was declared as text, with its digits as given."""
    return numbers.given(value)


def observed_share(value: float, lower: float | None, upper: float | None) -> str:
    """Return an observed prevalence with its limits: "0.322 (0.291–0.353)"."""
    return numbers.with_limits(value, lower, upper, least=numbers.USUAL_DIGITS)


def at_prevalence(prevalence: Scalar) -> str:
    """Return "at prevalence …" for the prevalence of a measure, a number or a text of the shares of levels."""
    return f"at prevalence {prevalence if isinstance(prevalence, str) else share(prevalence)}"


WEIGHED = "Each class is first reweighted to its share at this prevalence."
"""What is said of a measure at a prevalence that its own definition does not speak of."""


def metric_title(title: str, params: Mapping[str, Scalar]) -> str:
    """Return a metric's title, without " (sample)" where its options weight the sample to another prevalence.

    A word of the title that is the name of an option stands for its value: "Pass at k" is "Pass at 2" where k is 2.
    """
    named = title.removesuffix(" (sample)") if "prevalence" in params else title
    values = {name: scalar(params[name]) for name in _title_options(title, params)}
    filled = " ".join(values.get(word.lower(), word) for word in named.split(" "))
    return capital(filled) if named[:1].isupper() else filled


def _title_options(title: str, params: Mapping[str, Scalar]) -> set[str]:
    """Return the names of the options that words of a metric's title stand for."""
    return set(params) & set(title.lower().split(" "))


def unnamed_options(title: str, params: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the options that no word of a metric's title stands for."""
    return {name: value for name, value in params.items() if name not in _title_options(title, params)}


def definition(metric: MetricSummary, params: Mapping[str, Scalar]) -> str:
    """Return the definition of a metric; at a prevalence other than the sample's it says how classes are reweighted."""
    if "prevalence" not in params or metric.own_prevalence:
        return metric.definition
    return f"{metric.definition} {WEIGHED}"


def options(params: Mapping[str, Scalar], average: str | None = None) -> str:
    """Return a metric's options and its average as a list in words, such as ``beta = 2``."""
    parts = []
    for name, value in params.items():
        parts.append(at_prevalence(value) if name == "prevalence" else f"{name} = {scalar(value).replace('_', ' ')}")
    if average in AVERAGES:
        parts.append(AVERAGES[average])
    return ", ".join(parts)


def measure(title: str, params: Mapping[str, Scalar], average: str | None = None) -> str:
    """Return a metric's title with its options and its average, such as ``F-beta (beta = 2)``."""
    choice, name = options(unnamed_options(title, params), average), metric_title(title, params)
    return f"{name} ({choice})" if choice else name


def slice_name(labels: Mapping[str, Scalar], conditions: Collection[str] = ()) -> str:
    """Return the name of a slice by its labels, such as ``season = a, habitat = d``; a condition by name alone."""
    parts = []
    for name, value in labels.items():
        text = slice_value_text(value)
        sign = " " if text.startswith(("< ", ">= ")) else " = "
        parts.append(name if name in conditions else f"{name}{sign}{text}")
    return ", ".join(parts)


MOST_SLICES = 8
"""Slices that an error about one that does not exist lists at most."""


def absent_slice(
    dataset: str, labels: Mapping[str, str], slices: Iterable[Mapping[str, str]]
) -> tuple[str, str] | None:
    """Return the message that no row is in a slice of a dataset, and a hint at its ``slices``; None where a row is."""
    alike = [known for known in slices if set(known) == set(labels)]
    if labels in alike:
        return None
    more = ", …" if len(alike) > MOST_SLICES else ""
    return (f"no row of dataset '{dataset}' is in the slice {slice_name(labels)}",
            f"its slices are {listed([slice_name(known) for known in alike[:MOST_SLICES]], 'and')}{more}")


def chosen_methods(chosen: Iterable[ChosenMethod]) -> str:
    """Return the interval methods of a measure with their reasons: "Clopper-Pearson (a proportion of rows, …)"."""
    return "; ".join(f"{interval_method_title(choice.method)} ({choice.reason.rstrip('.')})" for choice in chosen)


def undefined(metric: MetricSummary) -> str:
    """Return a sentence that says when a metric has no value."""
    if not metric.undefined:
        return "Always defined."
    return f"Undefined when {'there are ' if metric.undefined.startswith('no ') else ''}{metric.undefined}."


def prediction_rule(confusion: Confusion, called: str = "probability") -> str:
    """Return how the levels of a matrix were predicted; ``called`` is "level", or names what the threshold is on."""
    event = confusion.levels[0]
    if confusion.threshold is None and called == "level":
        ties = {0: "There were no ties.", 1: "1 row had a tie: the first level in order is predicted."}.get(
            confusion.tied, f"{numbers.count(confusion.tied)} rows had ties: the first level in order is predicted.")
        return f"The most probable level is predicted. {ties}"
    if confusion.zone is not None and confusion.threshold is not None:  # the zone holds the threshold
        return (f"Outside the equivocal zone, predicted as {event} when the {called} is above "
                f"{numbers.given(confusion.threshold)}.")
    if confusion.cuts:
        cuts = numbers.ranged(*map(numbers.given, (confusion.cuts[0], confusion.cuts[-1])))
        if confusion.zone is None:
            return (f"Predicted as {event} when the {called} is at least the threshold of the row's fold, {cuts}. "
                    f"{_rows_at_threshold(confusion, 'it')}")
        return (f"Outside the equivocal zone, predicted as {event} when the {called} is above the threshold of the "
                f"row's fold, {cuts}.")
    if confusion.threshold is None:
        return "Predicted levels as given by the model."
    return (f"Predicted as {event} when the {called} is at least {numbers.given(confusion.threshold)}. "
            f"{_rows_at_threshold(confusion, 'this threshold')}")


def _rows_at_threshold(confusion: Confusion, threshold: str) -> str:
    """Return how many rows are exactly at ``threshold``, how many are events, and what random labels would change."""
    rows, events, event = confusion.at_threshold, confusion.events_at_threshold, confusion.levels[0]
    if not rows:
        return f"No row is exactly at {threshold}."
    if rows == 1:
        return (f"1 row is exactly at {threshold}; its true level is {event if events else 'not ' + event}. A label "
                "drawn at random would move it every other time.")
    return (f"{numbers.count(rows)} rows are exactly at {threshold}; {numbers.count(events) if events else 'none'} of "
            f"them {'has' if events == 1 else 'have'} the true level {event}. Labels drawn at random would move half "
            "of them, on average.")


class VerdictWords(NamedTuple):
    """What is said of a verdict: the sign before its word, and the word in tables."""

    sign: str
    word: str


VERDICTS: dict[Kind, VerdictWords] = {
    "fail": VerdictWords("✗", "failed"), "warn": VerdictWords("▲", "failed (warning)"),
    "inconclusive": VerdictWords("?", "inconclusive"), "skipped": VerdictWords("–", "skipped"),
    "pass": VerdictWords("✓", "held"),
}
"""What is said of each verdict, from the worst to the best."""

LIMITS = {
    "min": "at least", "max": "at most", "max_increase": "rises by at most", "max_decrease": "falls by at most",
    "min_increase": "rises by at least", "min_decrease": "falls by at least",
}
"""Each key of `Gate.limit` in words."""

@dataclass(frozen=True, slots=True)
class Names:
    """The names of a run: ``titles`` of metrics, ``labels`` of models, and the slices that are ``conditions``.

    ``single`` are the metrics with one choice of options in the run, which names leave out, but for a prevalence and
    those that words of the title stand for;
    ``counts`` are the metrics whose values may be numbers of rows.
    """

    titles: Mapping[str, str]
    labels: Mapping[str, str]
    conditions: frozenset[str]
    single: frozenset[str]
    counts: frozenset[str]

    def measure(
        self, metric: str, params: Mapping[str, Scalar], average: str | None = None, class_: str | None = None
    ) -> str:
        """Return the name of a measure with those options that tell it from others, and its class, if any."""
        title = self.titles.get(metric, metric)
        left_out = unnamed_options(title, params) if metric in self.single else {}
        name = measure(title, {k: v for k, v in params.items() if k not in left_out or k == "prevalence"}, average)
        return name if class_ is None else f"{name}, {class_}"

    def column_title(self, column: str) -> str:
        """Return the name of a measure by its column in a curve, such as ``f_beta(beta=2)``."""
        metric, _, options = column.partition("(")
        return self.titles.get(metric, metric) + (f" ({options.replace('=', ' = ')}" if options else "")

    def other_options(self, metric: str, params: Mapping[str, Scalar]) -> str:
        """Return the options that `measure` leaves out of the name; empty where it leaves out none."""
        left_out = unnamed_options(self.titles.get(metric, metric), params)
        left_out.pop("prevalence", None)
        return options(left_out) if metric in self.single else ""

    def model(self, model: str, variant: str = "original") -> str:
        """Return the label of a model, with its variant where it is recalibrated."""
        label = self.labels.get(model, model)
        return label if variant == "original" else f"{label} ({variant_name(variant)})"

    def warning(self, warning: Warned) -> str:
        """Return the sentence of a warning, with the label of its model and the title of its measure for their keys."""
        parts = dict(warning.message.numbers)
        if "dataset" in parts:
            if "metric" in parts:
                parts["metric"] = self.titles.get(parts["metric"], parts["metric"])
            if "model" in parts:
                # The engine measures a model, or its variant in the form "forest+platt".
                entry = parts["model"]
                name, plus, variant = entry.rpartition("+")
                is_variant = plus and entry not in self.labels and name in self.labels
                parts["model"] = self.model(name, variant) if is_variant else self.labels.get(entry, entry)
        return str(Sentence(warning.message.code, parts))

    def measure_of(self, row: Any) -> str:
        """Return the name of a row's measure, with its class, if any."""
        return self.measure(row.metric, row.params, row.average, row.class_)

    def model_of(self, row: Any) -> str:
        """Return the label of a row's model, with its variant where it is recalibrated."""
        return self.model(row.model, row.variant)

    def subject(self, subject: Subject, *, whole: bool = False) -> str:
        """Return what a gate judges: a measure (``whole`` without its class), a desirability or a check."""
        if subject.check is not None:
            return f"check {subject.check}"
        if subject.metric is None:
            goal = subject.desirability
            return "overall desirability" if goal == "overall" else f"desirability of {goal}"
        return self.measure(subject.metric, subject.params, subject.average, None if whole else subject.class_)

    def scope(self, subject: Subject) -> str:
        """Return model, dataset and slice of a number: ``Logistic regression (platt) on test, season = a``."""
        if subject.check is not None:
            return "the whole run"
        inside = "" if subject.slice is None else f", {self.slice(subject.slice)}"
        return f"{self.model(subject.model, subject.variant)} on {subject.dataset}{inside}"

    def gate(self, gate: Gate) -> str:
        """Return the name of a gate, if it has one, with model, dataset and slice of the number it judges."""
        return f"{'' if gate.name is None else f'{gate.name}, '}{self.scope(gate)}"

    def slice(self, labels: Slice) -> str:
        """Return the name of a slice, such as ``season = a, habitat = d``; the name alone of a condition."""
        return slice_name(labels, self.conditions)

    def is_condition(self, labels: Slice) -> bool:
        """Tell whether a slice is defined by a condition, not by columns."""
        return self.conditions.issuperset(labels)

    def label(self, labels: Slice) -> str:
        """Return a slice's values without the names of columns, such as ``a, d``; a condition by its name."""
        if self.is_condition(labels):
            return self.slice(labels)
        return ", ".join(slice_value_text(value) for value in labels.values())


@dataclass(frozen=True, slots=True)
class Nouns:
    """What the reader calls a row, rows, the events among them, and non-events that are predicted as events.

    ``event_words`` end the sentence "322 in 1,000 are …", ``named`` are rows that are predicted as events, ``others``
    rows that are none.
    """

    row: str
    rows: str
    events: str
    others: str
    event_words: str
    alarms: str
    named: str

    def counted_rows(self, number: float) -> str:
        """Return a number of rows with its noun, such as "883 people"."""
        return f"{numbers.count(number)} {self.row if number == 1 else self.rows}"


def is_weighted(results: Results) -> bool:
    """Tell whether rows count unequally: by a case weight, or by how they were chosen for their outcome."""
    return results.weight is not None or any(row.selected != "random" for row in results.labelled)


def nouns_of(results: Results) -> Nouns:
    """Return the nouns for rows and events, from the key `words` of the spec, or general ones without it.

    With `words: {event: survivor}` events are survivors.
    """
    declared = results.spec.get("words") or {}
    row = declared.get("row") or ("item" if results.task == "score" else "row")
    level = f"'{clipped(results.event or '')}'"
    event, predicted = declared.get("event"), declared.get("predicted")
    return Nouns(
        row, plural(row), *((plural(event), "others", plural(event)) if event else ("events", "non-events", level)),
        f"others {predicted}" if predicted else "false alarms",
        f"{plural(row)} {predicted or f'predicted as {level}'}")


def names_of(results: Results) -> Names:
    """Return the names of the metrics, models and slices in results."""
    declared = results.spec.get("slices") or ()
    options_by_metric: dict[str, set[tuple[object, ...]]] = {}
    for e in results.rows:
        options_by_metric.setdefault(e.metric, set()).add(tuple(e.params.items()))
    return Names(
        titles={metric.name: metric.title for metric in results.metrics},
        labels={model.name: model.label for model in results.models},
        conditions=frozenset(
            str(entry["name"]) for entry in declared if isinstance(entry, dict) and entry.get("where") is not None
        ),
        single=frozenset(metric for metric, params in options_by_metric.items() if len(params) == 1),
        counts=frozenset(metric.name for metric in results.metrics if metric.is_whole),
    )


class VerdictLine(NamedTuple):
    """What the terminal says of one verdict, and an annotation of the spec: "gate 3 failed: …"."""

    what: Literal["gate", "standard"]
    name: str
    word: str
    reason: str
    place: Loc
    """Where the spec asks for it."""
    severity: Literal["error", "warning", "notice"] | None
    """That of the annotation; None without one."""
    title: str = ""
    """What the annotation begins with, which tells no name."""
    gate: Gate | None = None
    """The gate that it is of."""

    @property
    def text(self) -> str:
        """The line as text: "gate 3 failed: …"."""
        return f"{self.what} {self.name} {self.word}: {self.reason}"


class VerdictLines(NamedTuple):
    """What the terminal says of the verdicts of a chapter: a head, and the lines below it."""

    head: str
    lines: tuple[VerdictLine, ...]
