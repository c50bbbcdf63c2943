"""The keys of a benchmark: what a score is, what names an item, and where a model's scores are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictFloat, StrictInt, StrictStr

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import (
    COMPUTABLE,
    ColumnName,
    Excludes,
    Identifier,
    Number,
    OneOrMore,
    Only,
    Shown,
    Sparse,
    SpecPart,
    Unique,
)
from evalpipe.spec.measures import MeasureOfSpec
from evalpipe.tasks import SCORES

Score = Annotated[StrictFloat | StrictInt, COMPUTABLE]


class ScoreScale(Sparse):
    """What a score means."""

    better: Literal["higher", "lower"]
    """Which scores are better. Required, never guessed."""
    range: Annotated[tuple[Score, ...], Field(min_length=2, max_length=2)] | None = None
    """The lowest and the highest score that there can be, as in `[0, 1]`. A score outside is an error. Intervals of
    means stay within it, and gates `on: sequence` need it."""
    success: Number | None = None
    """The score from which on an epoch is a success, for `pass_at`, `pass_all` and `flip_rate`; the better end of
    `range` where absent. Where lower is better, it is the score up to which."""
    missing: Annotated[
        Literal["leave_out", "fail"] | Annotated[Score, Field(title="A score")] | None, UNWRITTEN] = None
    """What a score counts that is missing, as where the model or its tool failed. Required where one is missing. A
    number, such as `0`: that score. `leave_out`: its epoch is left out, and an item without any for a model is left out
    for every model. `fail`: the run ends with an error."""
    unit: Shown | None = None
    """The unit of the scores, shown with their values."""
    of: Annotated[MeasureOfSpec | None, UNWRITTEN] = None
    """The measure of a ranked list that is the score of a query, as `{metric: ndcg, k: 10}`, where models have a
    `ranking`. A query without a relevant document has no score: `missing` says what it counts."""

    @property
    def success_from(self) -> float | None:
        """The score from which on, or up to which where lower is better, an epoch succeeds; None if not known."""
        if self.success is not None or self.range is None:
            return self.success
        return self.range[self.better == "higher"]


class ScoreLog(Sparse):
    """Which entries of a log, or of a long table, are a model's scores."""

    model: StrictStr
    """The model's name in the log, as the tool writes it, or in the model column of a long table."""
    scorer: Annotated[Annotated[tuple[StrictStr, ...], Field(min_length=1), OneOrMore()] | None, Unique(
        "duplicate-scorer", "the scorer {} is listed twice")] = None
    """The scorer whose numbers are the scores; may be absent where a log has one scorer. Those of a list, as
    `[judge_a, judge_b]`, are judges, and the score of an answer is their mean."""
    task: StrictStr | None = None
    """The task in the log; may be absent where the logs are of one task."""


class RankedDocuments(Sparse):
    """The columns of the documents that a model ranks for a query: a row of the table is a document of a query."""

    relevance: ColumnName
    """The column with the relevance of the document to the query, from 0. An empty cell is no judgement, and such a
    document is not relevant."""
    score: ColumnName
    """The column with the model's score of the document, the highest first. A document with an empty cell was not
    retrieved."""


class Ranking(Sparse):
    """How models are ranked beside their means."""

    method: Literal["bradley_terry"]
    """`bradley_terry`: strengths that make the wins of one model over another on items most likely, with intervals."""


class ScoresKeys(SpecPart):
    """Keys of a spec."""

    score: Annotated[ScoreScale | None, After("task"), Only(*SCORES), UNWRITTEN] = None
    """What a score means: which end is better, its range, and what a missing one counts."""
    item: Annotated[ColumnName | None, After("cluster"), Only(*SCORES), UNWRITTEN] = None
    """The column that names an item, by which the scores of models are paired. Logs of tools have names of their own;
    in a table without this key each row is an item."""
    epoch: Annotated[ColumnName | None, After("item"), Only(*SCORES), UNWRITTEN] = None
    """The column that numbers the epochs of an item, where a table has several rows for one; logs number them
    themselves."""
    judge: Annotated[ColumnName | None, After("epoch"), Only(*SCORES), UNWRITTEN] = None
    """The column that names the judge, a person or a model, where a table has a row for each judge of an answer. The
    score of an epoch is the mean over its judges; a judge that an answer lacks is a missing score (`score.missing`)."""
    text: Annotated[ColumnName | None, After("judge"), Only(*SCORES), UNWRITTEN] = None
    """The column with the text of an item, by which items are looked for in datasets with `role: reference`. Such a
    dataset is a table of texts without scores, such as training data, examples in prompts or an older benchmark, and
    has this column too. See [Items in other data](scores.md#items-in-other-data)."""
    rank: Annotated[Ranking | None, After("compare"), Only(*SCORES), UNWRITTEN] = None
    """How models are ranked beside their means, as `{method: bradley_terry}`."""


class ScoresModelKeys(SpecPart):
    """Keys of a model."""

    log: Annotated[ScoreLog | None, After("score"), Only(*SCORES), UNWRITTEN] = None
    """Which entries of the logs, or of a long table, are this model's scores."""
    usage: Annotated[
        dict[Identifier, ColumnName] | None, After("log"), Only(*SCORES), UNWRITTEN, Field(min_length=1),
        Excludes(("ranking",), "usage-of-rankings", "the model '{name}' has a ranking, and 'usage' too",
                 "remove one of the two"),
    ] = None
    """What an epoch of an item used, such as `{cost: a_cost, seconds: a_seconds}`: a name, and the column of a table or
    a log that says it, a number from 0 in each row. Every model of the spec has the same names. `mean_usage` and
    `usage_per_success` are measures of it."""
    ranking: Annotated[
        RankedDocuments | None, After("log"), Only(*SCORES), UNWRITTEN,
        Excludes(("score", "log"), "two-scores", "the model '{name}' has a ranking, and a score or a log too",
                 "remove one of the two"),
    ] = None
    """The columns of the documents that this model ranks for each query; `item` is the column of the query. Every model
    of the spec has a ranking, or none."""
