"""The records of scores of items."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, OfModel, Record, Scalar


class LogRun(Record):
    """What a log says of one run of a model on a task; null where it says nothing."""

    dataset: str
    model: str
    """The model's name in the log."""
    task: str
    file: str
    tool: str
    version: str | None
    """The version of the tool, as the log has it."""
    task_version: str | None
    benchmark: str | None
    """The dataset that the task is of, as the log has it."""
    started: str | None
    ended: str | None
    status: str | None
    samples: int
    """Items times epochs in the log."""
    planned: int | None
    errors: int
    """Samples without any score because of an error."""
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    """In the log's currency."""
    options: dict[str, Scalar] = Field(default_factory=dict)
    """The options of the model that are plain values."""


class ScoredModel(OfModel):
    """How many items and epochs the scores of a model are of."""

    items: int
    fewest_epochs: int
    most_epochs: int
    missing: dict[str, int] = Field(default_factory=dict)
    """Missing scores, by the reason."""
    lacking: int = 0
    """Items without any score of the model, which are left out for every model."""


class ScoreError(OfModel):
    """The mean score of a model and its error, by what is random; null where that is not known."""

    value: float
    benchmark_error: float | None
    """The standard error of the score on this benchmark: its items are fixed, and epochs alone are random."""
    benchmark_lower: float | None
    benchmark_upper: float | None
    items_error: float | None
    """The standard error for items like these, or clusters of them, of which the benchmark has a sample."""
    level: float
    items_variance: float | None
    """The variance of the items' expected scores."""
    epochs_variance: float | None
    """The variance of one epoch about its item's expected score."""
    correlation: float | None
    """The intraclass correlation of one epoch: the share of the first in the sum of both."""


class JudgedModel(OfModel):
    """How the judges of a model's answers differ; null where that is not known."""

    judges: int
    """How many judges score each answer."""
    variance: float | None
    """The variance of the judges' expected scores."""
    error: float | None
    """The standard error of the mean by the choice of judges, which no other error here contains."""
    agreement: float | None
    """ICC(2,1) of Shrout & Fleiss (1979): the share of items in the variance of one judge's scores."""


class ScorePair(Record):
    """The difference of two models' mean scores: how sure it is, what it would take, and which items carry it."""

    dataset: str
    model: str
    other: str
    difference: float
    benchmark_error: float | None
    items_error: float | None
    correlation: float | None
    """Of the two models' item scores."""
    smallest: float | None
    """The smallest true difference that the benchmark shows with the power, for items like these."""
    items: int | None
    """How many items like these would show a difference of `wanted` with the power, at the present epochs."""
    epochs: int | None
    """How many epochs of each item would, on as many items; null where no number does, or none is known."""
    wanted: float
    power: float
    carriers: int | None
    """The smallest number of items that add up to half of the difference."""
    turning: list[str] = Field(default_factory=list)
    """The clusters without which the difference is zero or has the other sign."""


class TiedModels(Record):
    """The models that the differences of mean scores do not tell apart, in sets, the best first."""

    dataset: str
    ranked: list[str]
    """The models from the best mean down."""
    sets: list[list[str]]
    """Each the largest set of models of which no two are told apart; a model may be in several."""
    complete: bool
    """Whether the sets are listed; otherwise there are more than 200, and `sets` is empty."""


class DecidingItem(Record):
    """An item on which models differ, and their scores on it."""

    dataset: str
    item: str
    share: float
    """Its part in the variance across models, summed over all items."""
    scores: dict[str, float]


class ItemAgreement(Record):
    """On how many items models differ at all."""

    dataset: str
    items: int
    alike: float | None
    """The share of items on which all models have the same score."""
    all_solve: int | None
    """Items on which all models have the best score of the range; null without a range."""
    none_solve: int | None
    """Items on which all models have the worst score of the range."""


class Strength(OfModel):
    """The Bradley-Terry strength of a model; null where it wins, or loses, against all that it is connected with."""

    log_strength: float | None
    """The log odds of a win are the difference of two of these; their mean is 0."""
    lower: float | None
    upper: float | None
    level: float
    against_average: float | None
    """The probability of a win against a model of log strength 0."""
    win_rate: float | None
    """The share of wins in all comparisons, ties half."""


class LeakedItems(Record):
    """How many items of a dataset have a text that is also in another one, and what they do to mean scores."""

    dataset: str
    other: str
    items: int
    without_text: int
    """Items without a text, which were not looked for."""
    same: int
    """Items whose text is also a text of the other dataset."""
    leaked: int
    """These, and items that share a run of 13 words with a text of the other dataset."""
    names: list[str]
    """The first 20 of them by name."""
    means: dict[str, float]
    """The mean score of all items, by model."""
    means_without: dict[str, float]
    """The mean score of the other items, by model; empty where there is none."""


class ScoresFields(Record):
    """What the results hold of it."""

    log_runs: Annotated[list[LogRun], UNWRITTEN] = Field(default_factory=list)
    """What logs say of the runs that scores are of; absent of other tasks."""
    scored: Annotated[list[ScoredModel], UNWRITTEN] = Field(default_factory=list)
    """The items and epochs of each model; absent of other tasks."""
    score_errors: Annotated[list[ScoreError], UNWRITTEN] = Field(default_factory=list)
    """The error of each mean score on this benchmark, and for items like these; absent of other tasks."""
    judges: Annotated[list[JudgedModel], UNWRITTEN] = Field(default_factory=list)
    """How judges differ; absent where answers have no judges."""
    score_pairs: Annotated[list[ScorePair], UNWRITTEN] = Field(default_factory=list)
    """What it takes to tell two models apart; absent of other tasks."""
    tied_sets: Annotated[list[TiedModels], UNWRITTEN] = Field(default_factory=list)
    """Which models are not told apart; absent of other tasks."""
    deciding_items: Annotated[list[DecidingItem], UNWRITTEN] = Field(default_factory=list)
    """The items on which models differ most; absent of other tasks."""
    item_agreement: Annotated[list[ItemAgreement], UNWRITTEN] = Field(default_factory=list)
    """On how many items models differ; absent of other tasks."""
    strengths: Annotated[list[Strength], UNWRITTEN] = Field(default_factory=list)
    """The strengths of models, where the spec asks for them; absent where it does not."""
    leaked_items: Annotated[list[LeakedItems], UNWRITTEN] = Field(default_factory=list)
    """Items whose text is also in a reference dataset; absent where no key names their texts."""
