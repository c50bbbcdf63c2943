"""The models: which columns hold their predictions, what these give, and how classes are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from evalpipe.base.levels import level_text
from evalpipe.chapters.equivocal.plan import probability_zone_plan, zone_plan
from evalpipe.chapters.thresholds.plan import threshold_plan
from evalpipe.errors import Problem, SpecError
from evalpipe.plan.datasets import level_columns, model_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalpipe.chapters.equivocal.plan import ZonePlan
    from evalpipe.chapters.thresholds.plan import ThresholdPlan
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """One model.

    ``columns`` are its columns by what they hold, such as "probability" or "score of a"; ``level_columns`` the columns
    of probabilities of all levels, or of their raw ``scores`` where that is set. Where one ``list_column`` has lists of
    these, they are its parts, and ``order`` are the levels in the order of the lists. ``percents`` are the columns of
    probabilities in percent. ``norm`` is what the score is divided by. ``has_own_files`` tells whether the columns are
    in files of predictions; ``step`` is the column there that numbers the steps of a fit, where they hold these, and
    ``shown_step`` the step that the card shows, None for the last; ``draw_count_column`` is the column of its bootstrap
    fits that says how often a row was drawn. ``gives`` are the needs of measures that the model can serve. ``zone`` is
    the equivocal zone of its own classes, ``variant_zone`` the zone of classes made of recalibrated probabilities.
    ``former_name`` is the name that it had before.
    """

    name: str
    label: str
    columns: Mapping[str, str]
    level_columns: Mapping[str, str]
    scores: bool
    list_column: str | None
    order: tuple[str, ...]
    percents: frozenset[str]
    scale: Literal["logit", "margin"] | None
    norm: float | None
    renormalise: bool
    has_own_files: bool
    step: str | None
    shown_step: int | None
    draw_count_column: str | None
    gives: frozenset[str]
    threshold: ThresholdPlan
    zone: ZonePlan | None
    variant_zone: ZonePlan | None
    characteristics: Mapping[str, str | bool | float]
    former_name: str | None

    @property
    def probability(self) -> str | None:
        """The column of the probability of the event."""
        return self.columns.get("probability")

    @property
    def score(self) -> str | None:
        """The column of the score."""
        return self.columns.get("score")

    @property
    def prediction(self) -> str | None:
        """The column of the predicted level or number."""
        return self.columns.get("prediction")

    @property
    def rate(self) -> str | None:
        """The column of the predicted rate of a count."""
        return self.columns.get("rate")

    @property
    def loo_prediction(self) -> str | None:
        """The column of the prediction of a model that had not seen the row."""
        return self.columns.get("loo_prediction")

    @property
    def leverage(self) -> str | None:
        """The column of the leverage of each row in a linear fit."""
        return self.columns.get("leverage")

    @property
    def raw(self) -> bool:
        """Whether its score only ranks rows: no scale turns it into a probability."""
        return self.score is not None and self.scale is None

    def lacking(self, metrics: Iterable[MetricPlan]) -> tuple[MetricPlan, ...]:
        """Return those of some measures for which the model has no value, as it lacks what they need."""
        return tuple(entry for entry in metrics if entry.lacking(self.gives) is not None)


def models_plan(spec: Spec) -> Mapping[str, ModelPlan]:
    """Return the models of a spec by name, in order; raises SpecError for a column in percent for only one of two."""
    models = {name: _model_plan(spec, name) for name in spec.models}
    for name, model in models.items():
        for other in models.values():
            twice = sorted(model.percents & ({*other.columns.values()} - other.percents))
            if twice and not model.has_own_files and not other.has_own_files:
                message = (f"the column '{twice[0]}' is in percent for the model '{name}', and is not for the model "
                           f"'{other.name}'")
                hint = "say the same of both, or give each a column of its own"
                raise SpecError(Problem("two-scales", message, spec.origin.place("models", name, "scale"), hint))
    return MappingProxyType(models)


def _model_plan(spec: Spec, name: str) -> ModelPlan:
    """Resolve a model of the spec, with defaults: its columns, what these give measures, its threshold and zones."""
    from evalpipe.spec.core_keys import gives

    model = spec.models[name]
    columns_of_levels = level_columns(spec, model)
    percents = {*columns_of_levels.values(), *filter(None, [model.probability])} if model.scale == "percent" else ()
    return ModelPlan(
        name=name, label=model.label or name, columns=MappingProxyType(model_columns(spec, model)),
        level_columns=MappingProxyType(columns_of_levels), scores=model.scores is not None,
        list_column=model.list_column,
        order=tuple(level_text(level) for level in model.order or spec.outcome.levels or ()),
        percents=frozenset(percents), scale=_scale(spec, model), norm=model.norm,
        renormalise=model.renormalise, has_own_files=model.predictions is not None,
        step=None if model.step is None else model.step.column,
        shown_step=None if model.step is None else model.step.at,
        draw_count_column=None if model.optimism is None else model.optimism.drawn,
        gives=gives(model, spec.threshold), threshold=threshold_plan(spec, name), zone=zone_plan(spec, model),
        variant_zone=probability_zone_plan(spec, model), characteristics=MappingProxyType(dict(model.characteristics)),
        former_name=model.was,
    )


def _scale(spec: Spec, model: Model) -> Literal["logit", "margin"] | None:
    """Return how the score of the event becomes a probability; None where it does not.

    Of raw scores of both levels the difference is the log odds.
    """
    if spec.task == "binary" and model.scores is not None:
        return "logit"
    return None if model.scale == "percent" else model.scale
