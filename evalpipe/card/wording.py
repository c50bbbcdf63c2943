"""The words of the card: names of methods, directions, measures, models and slices, each written once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.intervals.declare import registry
from evalpipe.words import numbers
from evalpipe.words.spelling import clipped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from evalpipe.chapters.gates.records import Subject
    from evalpipe.results import ChosenMethod, Confusion, MetricSummary, Results, Scalar, Slice


MISSING = "MISSING"
"""What stands where people have stated nothing."""

BETTER = {"maximize": "higher", "minimize": "lower", "none": "neither"}
"""Which values of a metric are better."""


def better(end: str) -> str:
    """Say which values are better, given a word of `BETTER`: "higher is better"."""
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
    """Say how many of so many models a sentence does not name; empty where it names all."""
    rest = count - MOST_NAMED
    return f"{before}{numbers.count(rest)} more model{'' if rest == 1 else 's'}" if rest > 0 else ""


NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def number_word(count: int) -> str:
    """Write a count within a sentence: in words up to twelve."""
    return NUMBER_WORDS[count] if count < len(NUMBER_WORDS) else numbers.count(count)


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]


def joined(items: Sequence[str], word: str = "and") -> str:
    """Write a list in words: "a, b and c"."""
    return f" {word} ".join(part for part in (", ".join(items[:-1]), items[-1]) if part)


def method(name: str) -> str:
    """Name an interval method."""
    return registry[name].title if name in registry else name


def cautions(names: Iterable[str]) -> str:
    """Say what speaks against interval methods that are drawn, after a sentence; nothing where nothing does."""
    return "".join(f" {registry[name].caution}" for name in names if name in registry and registry[name].caution)


def short_method(name: str) -> str:
    """Name an interval method where there is little room."""
    return registry[name].short if name in registry else name


def level(value: float) -> str:
    """Write a confidence level in per cent."""
    return f"{100 * value:.10g}%"


def scalar(value: Scalar) -> str:
    """Write a value of the spec as people do."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else numbers.plain(value)


def group(value: Scalar) -> str:
    """Write the value of a column that tells a group of rows, which may be any text."""
    return clipped(value) if isinstance(value, str) else scalar(value)


COLUMNS = {"loo_prediction": "leave-one-out prediction"}
"""What a column of a model holds, where its key does not say it plainly."""

AVERAGES = {
    "macro": "mean over classes", "macro_weighted": "mean over classes by size", "micro": "classes pooled",
}
"""What each average over classes is called."""


def share(value: float) -> str:
    """Write a declared prevalence, the same wherever it stands."""
    return numbers.given(value)


def observed_share(value: float, lower: float | None, upper: float | None) -> str:
    """Write an observed prevalence with its limits, the same wherever it stands: "0.322 (0.291–0.353)"."""
    return numbers.with_limits(value, lower, upper, least=numbers.USUAL_DIGITS)


def at_prevalence(prevalence: Scalar) -> str:
    """Write the prevalence that a measure is taken at: a number, or a text of the shares of levels."""
    return f"at prevalence {prevalence if isinstance(prevalence, str) else share(prevalence)}"


WEIGHED = "Each class is first reweighted to its share at this prevalence."
"""What is said of a measure at a prevalence that its own definition does not speak of."""


def metric_title(title: str, params: Mapping[str, Scalar]) -> str:
    """Return a metric's title, which does not say that it is of the sample where this is weighed to a prevalence."""
    return title.removesuffix(" (sample)") if "prevalence" in params else title


def definition(metric: MetricSummary, params: Mapping[str, Scalar]) -> str:
    """Return what a metric means, and how it is taken at a prevalence that is not that of the sample."""
    if "prevalence" not in params or metric.own_prevalence:
        return metric.definition
    return f"{metric.definition} {WEIGHED}"


def options(params: Mapping[str, Scalar], average: str | None = None) -> str:
    """List a metric's options and its average, such as ``beta = 2``."""
    parts = []
    for name, value in params.items():
        parts.append(at_prevalence(value) if name == "prevalence" else f"{name} = {scalar(value)}")
    if average in AVERAGES:
        parts.append(AVERAGES[average])
    return ", ".join(parts)


def measure(title: str, params: Mapping[str, Scalar], average: str | None = None) -> str:
    """Name a metric with its options and its average, such as ``F-beta (beta = 2)``."""
    choice, name = options(params, average), metric_title(title, params)
    return f"{name} ({choice})" if choice else name


def slice_name(labels: Mapping[str, Scalar], conditions: Collection[str] = ()) -> str:
    """Name a slice, such as ``season = a, habitat = d``; one by a condition in ``conditions`` by its name alone."""
    parts = []
    for name, value in labels.items():
        text = group(value)
        sign = " " if text.startswith(("< ", ">= ")) else " = "
        parts.append(name if name in conditions else f"{name}{sign}{text}")
    return ", ".join(parts)


def chosen_methods(chosen: Iterable[ChosenMethod]) -> str:
    """Name the methods of a measure with the reason for each: "Clopper-Pearson (a proportion of rows, …)"."""
    return "; ".join(f"{method(choice.method)} ({choice.reason.rstrip('.')})" for choice in chosen)


def undefined(metric: MetricSummary) -> str:
    """Say when a metric has no value."""
    if not metric.undefined:
        return "Always defined."
    return f"Undefined when {'there are ' if metric.undefined.startswith('no ') else ''}{metric.undefined}."


def prediction_rule(confusion: Confusion, called: str = "probability") -> str:
    """Say how rows were predicted as events; ``called`` is what the threshold is set on."""
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
                    f"{_at_threshold(confusion, 'it')}")
        return (f"Outside the equivocal zone, predicted as {event} when the {called} is above the threshold of the "
                f"row's fold, {cuts}.")
    if confusion.threshold is None:
        return "Predicted levels as given by the model."
    return (f"Predicted as {event} when the {called} is at least {numbers.given(confusion.threshold)}. "
            f"{_at_threshold(confusion, 'this threshold')}")


def _at_threshold(confusion: Confusion, threshold: str) -> str:
    """Say how many rows are at the threshold, how many of them events, and what labels drawn at random would change."""
    rows, events, event = confusion.at_threshold, confusion.events_at_threshold, confusion.levels[0]
    if not rows:
        return f"No row is exactly at {threshold}."
    if rows == 1:
        return (f"1 row is exactly at {threshold}; its true level is {event if events else 'not ' + event}. A label "
                "drawn at random would move it every other time.")
    return (f"{numbers.count(rows)} rows are exactly at {threshold}; {numbers.count(events) if events else 'none'} of "
            f"them {'has' if events == 1 else 'have'} the true level {event}. Labels drawn at random would move half "
            "of them, on average.")


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a run: ``titles`` of metrics, ``labels`` of models, and the slices that are ``conditions``.

    ``single`` are the metrics that occur with one choice of options, which goes without saying but for a prevalence;
    ``counts`` those that may be a number of rows.
    """

    titles: Mapping[str, str]
    labels: Mapping[str, str]
    conditions: frozenset[str]
    single: frozenset[str]
    counts: frozenset[str]

    def measure(
        self, metric: str, params: Mapping[str, Scalar], average: str | None = None, class_: str | None = None
    ) -> str:
        """Name a measure, with the class it is of where there is one."""
        shown_params = params if metric not in self.single else {k: v for k, v in params.items() if k == "prevalence"}
        name = measure(self.titles.get(metric, metric), shown_params, average)
        return name if class_ is None else f"{name}, {class_}"

    def column_title(self, column: str) -> str:
        """Name a measure by its column in a curve, such as ``f_beta(beta=2)``, with its options."""
        metric, _, options = column.partition("(")
        return self.titles.get(metric, metric) + (f" ({options.replace('=', ' = ')}" if options else "")

    def other_options(self, metric: str, params: Mapping[str, Scalar]) -> str:
        """List the options that the name of a measure leaves out: those of a metric with one choice of them."""
        left_out = {name: value for name, value in params.items() if name != "prevalence"}
        return options(left_out) if metric in self.single else ""

    def model(self, model: str, variant: str = "original") -> str:
        """Name a model, with its variant where it is not the original."""
        label = self.labels.get(model, model)
        return label if variant == "original" else f"{label} ({variant})"

    def measure_of(self, row: Any) -> str:
        """Name the measure of a row, with the class it is of where there is one."""
        return self.measure(row.metric, row.params, row.average, row.class_)

    def model_of(self, row: Any) -> str:
        """Name the model of a row, with its variant where it is not the original."""
        return self.model(row.model, row.variant)

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
        return slice_name(labels, self.conditions)

    def is_condition(self, labels: Slice) -> bool:
        """Tell whether a slice is by a condition of its own."""
        return self.conditions.issuperset(labels)

    def label(self, labels: Slice) -> str:
        """Name a slice where its slicing is named already, by its labels alone: ``a, d``."""
        if self.is_condition(labels):
            return self.slice(labels)
        return ", ".join(group(value) for value in labels.values())


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
        counts=frozenset(metric.name for metric in results.metrics if metric.is_whole),
    )
