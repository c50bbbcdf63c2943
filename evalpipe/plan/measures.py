"""The measures of an evaluation with their options, and the interval method that each gets, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from evalpipe.chapters.costs.plan import costs_plan
from evalpipe.chapters.prevalence.plan import (
    SAMPLE,
    PriorPlan,
    UnreadShares,
    prior_plan,
    unread_prevalence,
)
from evalpipe.intervals.declare import EVERY, FEW_CLUSTERS, UNLIKE_ROWS, registry
from evalpipe.intervals.declare import registry as interval_methods
from evalpipe.metrics.expressions import ExpressionMetric
from evalpipe.plan.datasets import levels
from evalpipe.tasks import MANY
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.intervals.declare import IntervalMethod, Obstacle
    from evalpipe.metrics import Metric
    from evalpipe.spec.measures import MetricChoice
    from evalpipe.spec.spec import Spec
    from evalpipe.words.sentences import Sentence


FALLBACK = "percentile"
"""The method of a measure for which none is declared, or for which its own does not hold."""

JUDGED = "judged_t", sentence("judges-label-rows")
"""The method of a measure that labels of judges take part in, and why; a proportion has `JUDGED_SHARE`."""

JUDGED_SHARE = "judged_score", sentence("judges-label-rows")

UNEQUAL = sentence("chosen-unequally")
"""Why rows that were chosen unequally for their outcome have `JUDGED`, too; their proportions have `UNEQUAL_SHARE`."""

UNEQUAL_SHARE = "weighted_score"

CLUSTERED = "cluster_t", sentence("student-clusters", few=FEW_CLUSTERS)
"""The method of a measure of rows in clusters, where none is asked for by name, and why."""


def choose_interval(
    spec: Spec, entry: Metric, average: str | None, params: Mapping[str, Any], prior: PriorPlan
) -> tuple[str, Sentence]:
    """Return the interval method of a metric with its options, average and prevalence, and the reason."""
    bins_of_equal_count = params.get("strategy") == "quantile" or entry.name == "ace"
    possible: dict[Obstacle, bool] = {
        "uncertain": prior.uncertain, "clusters": spec.cluster is not None, "reweighted": prior.shares is not None,
        "averaged": average not in (None, "none"), "weights": spec.importance,
        "weighted_even_bins": spec.importance and bins_of_equal_count,
    }
    obstacles = [obstacle for obstacle, present in possible.items() if present]
    chosen = choose(_interval_kinds(entry, params), spec.intervals.method, obstacles)
    asked = spec.intervals.method
    from_replicates = registry[chosen[0]].insists or (chosen[0] == asked and EVERY in registry[asked].for_)
    if not (spec.judged or spec.chosen_unequally) or chosen[0] == "none" or from_replicates:
        return chosen
    method, reason = JUDGED_SHARE if entry.interval == "proportion" and average in (None, "none") else JUDGED
    if spec.importance and method == JUDGED_SHARE[0]:
        method = UNEQUAL_SHARE
    return method, UNEQUAL if spec.chosen_unequally else reason


def choose_expression_interval(
    spec: Spec, parts: Sequence[tuple[Metric, Mapping[str, Any]]], *, uncertain: bool
) -> tuple[str, Sentence]:
    """Return the interval method of an expression, and the reason.

    ``parts`` are its measures with their options; ``uncertain`` says that each replicate draws a prevalence for them.
    """
    requested = spec.intervals.method
    general = registry[requested].for_.get(EVERY) if requested in registry else None
    if general is not None and requested == "none":
        return requested, general
    for metric, params in parts:
        methods = [(method, method.for_[kind]) for method in registry.values()
                   for kind in _interval_kinds(metric, params) if kind in method.for_]
        # A measure whose percentiles miss its value, or that has no limits at all, leaves an expression without them.
        if methods and (methods[0][0].insists or methods[0][0].name == "none"):
            return "none", sentence("expression-unlimited", metric=metric.name, because=methods[0][1])
    if uncertain:
        return FALLBACK, UNLIKE_ROWS["uncertain"]
    if general is not None:
        return requested, general
    if spec.judged or spec.chosen_unequally:
        return JUDGED if spec.judged else (JUDGED[0], UNEQUAL)
    return (FALLBACK, sentence("expression")) if spec.cluster is None else CLUSTERED


def _interval_kinds(entry: Metric, params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the kinds of measure by which interval methods name a metric: its own, and its norm of gaps."""
    if entry.interval is None:
        return ()
    return (entry.interval, entry.norm(params)) if entry.of_gaps else (entry.interval,)


def proportion_method(spec: Spec) -> str:
    """Return the interval method of a proportion of rows in a curve, such as the event rate of a bin."""
    obstacles: list[Obstacle] = ["clusters"] if spec.cluster is not None else []
    chosen = choose(("proportion",), spec.intervals.method, [*obstacles, "weights"] if spec.importance else obstacles)
    return FALLBACK if chosen == CLUSTERED else chosen[0]


def choose(kinds: Collection[str], requested: str, obstacles: Collection[Obstacle]) -> tuple[str, Sentence]:
    """Return the interval method for a measure, of those that are declared for its ``kinds``, and the reason.

    ``requested`` is the method that the spec names, or "auto"; ``obstacles`` are circumstances, such as weights, in
    which some methods do not hold.
    """
    methods = [(method, method.for_[kind]) for method in registry.values() for kind in kinds if kind in method.for_]
    general = registry[requested].for_.get(EVERY) if requested in registry else None
    if methods and methods[0][0].name == "none":
        return "none", methods[0][1]
    if general is not None and requested == "none":
        return requested, general
    from_replicates = [(method.name, reason) for method, reason in methods if method.drawn]
    in_closed_form = [pair for pair in methods if not pair[0].drawn]
    # Before what the spec asks for: noise makes such a measure larger, and other limits would exclude its value.
    if methods and methods[0][0].insists:
        name, reason = _choose_insisting(in_closed_form, from_replicates, obstacles)
        return name, reason if general is None else sentence("asked-would-miss", because=reason, asked=requested)
    if "uncertain" in obstacles:
        return FALLBACK, UNLIKE_ROWS["uncertain"]
    if general is not None:
        return requested, general
    return from_replicates[0] if from_replicates else _choose_closed_form(in_closed_form, requested, obstacles)


def _choose_insisting(
    in_closed_form: list[tuple[IntervalMethod, Sentence]], from_replicates: list[tuple[str, Sentence]],
    obstacles: Collection[Obstacle],
) -> tuple[str, Sentence]:
    """Return the method of a measure for which only the methods declared for it hold: in closed form, else replicates.

    ``in_closed_form`` and ``from_replicates`` are its methods in closed form and from replicates, with reasons.
    """
    if not in_closed_form:
        return from_replicates[0]
    method, reason = in_closed_form[0]
    failure = _why_it_fails(method.fails, obstacles)
    if failure is None:
        return method.name, reason
    return from_replicates[0][0], sentence("no-closed-form", because=from_replicates[0][1], obstacle=failure)


def _choose_closed_form(
    in_closed_form: list[tuple[IntervalMethod, Sentence]], requested: str, obstacles: Collection[Obstacle]
) -> tuple[str, Sentence]:
    """Return a method in closed form where it holds, else Student's for clusters and percentiles for rows."""
    if "clusters" in obstacles:
        return CLUSTERED
    if not in_closed_form:
        failure = _why_it_fails(UNLIKE_ROWS, obstacles)
        return FALLBACK, failure or sentence("no-proportion")
    method, reason = next((pair for pair in in_closed_form if pair[0].name == requested), in_closed_form[0])
    failure = _why_it_fails(method.fails, obstacles)
    if method.effective and method.name == requested and failure == method.fails.get("weights"):
        return requested, sentence("effective-rows", title=method.short)
    return (method.name, reason) if failure is None else (FALLBACK, failure)


def _why_it_fails(fails: Mapping[Obstacle, Sentence], obstacles: Collection[Obstacle]) -> Sentence | None:
    """Return the reason of the first obstacle for which a method ``fails``; None where it holds."""
    return next((reason for obstacle, reason in fails.items() if obstacle in obstacles), None)


RATE = "reportable_rate"
"""The measure that is added where the spec has an equivocal zone."""


@dataclass(frozen=True, slots=True)
class MetricPlan:
    """A metric with its checked options and its interval ``method``, with the ``reason`` for this method.

    ``average`` is how it is averaged over classes: "macro", "macro_weighted", "micro", "none" (one value a class), or
    None where there is only one value. ``of_class`` holds the options of each class, some of which differ. ``prior`` is
    the prevalence at which it is taken. ``parts`` are the measures of an expression, by their names in it.
    """

    metric: Metric
    params: Mapping[str, Any]
    method: str
    reason: Sentence | None
    average: str | None = None
    of_class: tuple[Mapping[str, Any], ...] = ()
    prior: PriorPlan = SAMPLE
    parts: tuple[tuple[str, MetricPlan], ...] = ()

    @property
    def leaves(self) -> tuple[MetricPlan, ...]:
        """The measures that an expression is computed from; the measure itself where it is no expression."""
        return tuple(part for _, part in self.parts) or (self,)

    @property
    def uncertain(self) -> bool:
        """Whether every replicate draws its own prevalence."""
        return any(entry.prior.uncertain for entry in self.leaves)

    def lacking(self, needs_met: Collection[str]) -> str | None:
        """Return the first need, such as "labels", that is not among ``needs_met``; None where all are met."""
        return next((entry.metric.needs for entry in self.leaves if entry.metric.needs not in needs_met), None)

    def unlimited(self, noise: str) -> Sentence | None:
        """Return why the spread over refits can give the measure no limits; None where it can.

        Noise makes some measures larger, and each refit has its own: ``noise`` is the code of the sentence for these.
        """
        if self.method == "none":
            return self.reason
        return sentence(noise) if any(interval_methods[part.method].insists for part in (self, *self.leaves)) else None

    @property
    def judged(self) -> bool:
        """Whether labels of judges take part, where there are any: not in what noise makes larger, such as gaps."""
        return self.drawn and not interval_methods[self.method].insists

    @property
    def drawn(self) -> bool:
        """Whether the interval comes from bootstrap replicates."""
        return interval_methods[self.method].drawn

    @property
    def shown(self) -> dict[str, Any]:
        """The options that can be printed beside a value, and the prevalence where the sample's does not apply."""
        return self._printed(self.params)

    def shown_of(self, k: int) -> dict[str, Any]:
        """Return the options of the k-th class that can be printed beside a value, and its prevalence, if any."""
        return self._printed(self.of_class[k])

    def _printed(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return options without None and those too long to print, such as a matrix of costs; with the prevalence."""
        prevalence = {} if self.prior.shown is None else {"prevalence": self.prior.shown}
        printed = {name: value for name, value in params.items() if value is not None and not isinstance(value, tuple)}
        return printed | prevalence

    @property
    def label(self) -> str:
        """The measure with its options, such as ``f_beta(beta=2.0, average=macro)``."""
        options = self.shown if self.average is None else self.shown | {"average": self.average}
        option_texts = ", ".join(f"{name}={value}" for name, value in options.items())
        return f"{self.metric.name}({option_texts})" if option_texts else self.metric.name

    def short_label(self, among: Sequence[MetricPlan] = ()) -> str:
        """Return the name with the options that are not its defaults: "f_beta(beta=2)".

        An option that the spec may give, such as a prevalence, is named where the metric occurs ``among`` others twice.
        """
        fields, of_spec = self.metric.options.model_fields, set(self.metric.from_spec)
        if sum(other.metric == self.metric for other in among) > 1:
            of_spec = set()
        options = [f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
                   for name, value in self.shown.items()
                   if name not in fields or (name not in of_spec and value != fields[name].default)]
        return f"{self.metric.name}({', '.join(options)})" if options else self.metric.name

    @property
    def document(self) -> dict[str, Any]:
        """The metric, options, average and expression as JSON values."""
        expression = {"expression": self.metric.text} if isinstance(self.metric, ExpressionMetric) else {}
        return {"metric": self.metric.name, "params": self.shown, "average": self.average, **expression}

    @property
    def words(self) -> str:
        """The label; of an expression its text and measures: ``f2 / recall, with f2 = f_beta(beta=2.0)``."""
        if not isinstance(self.metric, ExpressionMetric):
            return self.label
        parts = [f"{name} = {part.label}" for name, part in self.parts if name != part.label]
        return f"{self.metric.text}, with {', '.join(parts)}" if parts else self.metric.text

    @property
    def undefined(self) -> Sentence:
        """The sentence that says when the measure has no value."""
        if isinstance(self.metric, ExpressionMetric):
            because = sentence("undefined", when=self.metric.undefined)
            return sentence("undefined-expression", expression=self.metric.text, because=because)
        code = "undefined" if self.prior.shares is None else "undefined-at-prior"
        return sentence(code, when=self.metric.undefined)

    def under(self, shares: Floats) -> MetricPlan:
        """Return the measure at other prevalences than its options declare: ``shares`` [..., K] of levels, as drawn."""
        names = [name for name, key in self.metric.from_spec.items() if key == "prevalence"]
        first_share = dict.fromkeys(names, shares[..., 0])
        class_options = tuple(
            {**options, **dict.fromkeys(names, shares[..., k])} for k, options in enumerate(self.of_class))
        return replace(self, params={**self.params, **first_share}, of_class=class_options)


def standard_metrics(spec: Spec) -> tuple[MetricChoice, ...]:
    """Return the metrics of the task's standard set for which some model of the spec gives what they need."""
    from evalpipe.metrics import registry
    from evalpipe.spec.measures import MetricChoice

    needs_met = frozenset[str]().union(
        *map(spec.gives_with_variants, spec.models.values()))
    return tuple(
        MetricChoice(entry.name)
        for entry in registry
        if spec.task in entry.standard
        and entry.needs in needs_met
        and all(getattr(spec, key) is not None for key in entry.from_spec.values())
    )


def requested_metrics(spec: Spec) -> tuple[MetricPlan, ...]:
    """Return the measures that the spec asks for, each once: those it lists, or else the task's standard set.

    After them come the reportable rate, where there is an equivocal zone, and the measures of the goals of
    desirability, of gates and of the trend. Empty where there are no predictions.
    """
    if spec.alone:  # the values of candidates are in their table
        return ()
    choices = spec.choices or standard_metrics(spec)
    listed = [entry for choice in (*choices, *_reportable_rate(spec, choices)) for entry in entries(spec, choice)]
    gates = [entry for gate in spec.gates or () if gate.metric is not None for entry in entries(spec, gate.metric)]
    trend = spec.asked_trend
    trend_entries = [entry for choice in (trend and trend.metrics) or () for entry in entries(spec, choice)]
    distinct: list[MetricPlan] = []
    for entry in (*listed, *filter(None, goal_entries(spec)), *gates, *trend_entries):
        distinct += [entry] if entry not in distinct else []
    return tuple(distinct)


def goal_entries(spec: Spec) -> tuple[MetricPlan | None, ...]:
    """Return the measure of each goal of desirability, None for one of a characteristic."""
    return tuple(None if goal.metric is None else next(entries(spec, goal.metric)) for goal in spec.desirability or ())


def _reportable_rate(spec: Spec, choices: tuple[MetricChoice, ...]) -> tuple[MetricChoice, ...]:
    """Return the reportable rate where an equivocal zone is declared, all models give classes and it is not listed."""
    from evalpipe.spec.core_keys import gives
    from evalpipe.spec.measures import MetricChoice

    models = spec.models.values()
    declared = spec.equivocal is not None or any(model.equivocal is not None for model in models)
    listed = any(choice.metric == RATE for choice in choices)
    if listed or not declared or any("labels" not in gives(model) for model in models):
        return ()
    return (MetricChoice(RATE),)


def entries(spec: Spec, choice: MetricChoice) -> Iterator[MetricPlan]:
    """Yield the measures of one metric that the spec chooses, one for each of its averages and prevalences."""
    entry = spec.measures[choice.metric]
    if isinstance(entry, ExpressionMetric):
        yield _expression_plan(spec, entry)
        return
    classes = levels(spec) if spec.task in MANY else []
    spec_options = [_options_from_spec(spec, entry, level) for level in classes or (None,)]
    by_level = tuple(_all_options(entry, options | dict(choice.options)) for options in spec_options)
    # What the spec gives may differ by level, as priors do; then it is no option of the measure of all levels.
    differ = {name for name, value in by_level[0].items() if any(options[name] != value for options in by_level)}
    params = {name: value for name, value in by_level[0].items() if name not in differ}
    averages = (choice.averages or ("macro",)) if classes and entry.sees == "event" else (None,)
    for average, prevalence in product(averages, choice.prevalences):
        priors = prior_plan(spec, entry, choice, prevalence)
        method, reason = choose_interval(spec, entry, average, by_level[0], priors)
        yield MetricPlan(entry, params, method, reason, average, by_level if average is not None else (), priors)


def _expression_plan(spec: Spec, entry: ExpressionMetric) -> MetricPlan:
    """Return the plan of an expression: the measures that it is computed from, and its interval method."""
    choices = spec.expressions[entry.name].choices
    parts = tuple((name, next(entries(spec, choice))) for name, choice in choices.items())
    method, reason = choose_expression_interval(
        spec, [(part.metric, part.params) for _, part in parts],
        uncertain=any(part.prior.uncertain for _, part in parts))
    return MetricPlan(entry, {}, method, reason, parts=parts)


def _all_options(entry: Metric, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a metric with defaults filled in; a share that is still unread is checked as 0.5."""
    unread = {name: value for name, value in declared.items() if isinstance(value, UnreadShares)}
    return entry.options(**{**declared, **dict.fromkeys(unread, 0.5)}).model_dump() | unread


def _options_from_spec(spec: Spec, entry: Metric, level: str | None) -> dict[str, Any]:
    """Return the options of a metric that stand elsewhere in the spec: costs, and the prevalence of a ``level``."""
    options: dict[str, Any] = {}
    for option, key in entry.from_spec.items():
        if key == "costs" and (costs := costs_plan(spec)) is not None:
            options[option] = costs.matrix
        elif key == "prevalence" and spec.prevalence is not None:
            mean, level_index = spec.prevalence.mean, 0 if level is None else levels(spec).index(level)
            # Before its dataset is read, a prevalence has no mean.
            options[option] = unread_prevalence(spec, level_index) or (
                mean[level] if level is not None and isinstance(mean, dict) else mean)
    return options
