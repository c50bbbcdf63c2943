"""The checks of keys of scores, and what the plan says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import Problem
from evalpipe.spec.datasets import LOG_KEYS, LogDataset
from evalpipe.spec.rules_measures import check_measure
from evalpipe.tasks import SCORES
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.scores.spec import Ranking, ScoreScale
    from evalpipe.plan.plan import Plan
    from evalpipe.plan.sources import Catalog
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.datasets import AnyDataset
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


def score_plan(spec: Spec) -> ScoreScale | None:
    """Return what a score means; None where rows have an outcome."""
    return spec.score


def rank_plan(spec: Spec) -> Ranking | None:
    """Return how models are ranked beside their means; None where they are not."""
    return spec.rank


PARTS = (score_plan, rank_plan)


def columns(spec: Spec) -> Iterator[tuple[Loc, str]]:
    """Yield the column of texts, after its place in the spec."""
    if spec.text is not None:
        yield ("text",), spec.text


def score_range(plan: Plan) -> tuple[float, float] | None:
    """Return the lowest and the highest score that there can be; None where the spec does not say."""
    scale = plan.part(score_plan)
    return None if scale is None or scale.range is None else (float(scale.range[0]), float(scale.range[1]))


def higher_is_better(plan: Plan) -> bool:
    """Tell whether higher scores are better."""
    scale = plan.part(score_plan)
    return scale is None or scale.better == "higher"


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of scores: of what they mean, of the datasets they are in, and of where each model's are."""
    of_scores = draft.spec.task in SCORES
    for loc, dataset in draft.entries(draft.spec.datasets, "datasets"):
        yield from _dataset(draft, loc, dataset, of_scores=of_scores)
    if not of_scores:
        return
    misspelt = draft.misspelt((), ("score",), type(draft.spec).model_fields)
    if draft.spec.score is None and draft.readable("score") and not misspelt:
        yield draft.tree.problem("missing-key", "'score' is missing, which says which scores are better", "task",
                                 hint="add 'score: {better: higher}', and its 'range' where it has one")
    yield from _scale(draft)
    yield from _rankings(draft)
    yield from _usage(draft)
    if draft.spec.text is not None and draft.spec.datasets and not draft.role("reference"):
        message = "'text' has no effect: no dataset has the role 'reference'"
        yield draft.tree.idle("unused-key", message, "text", key=True,
                              hint="add a dataset of texts with 'role: reference', or remove it")
    forms = {_form(dataset) for _, dataset in draft.entries(draft.spec.datasets, "datasets")
             if dataset.role != "reference"}
    for loc, model in draft.entries(draft.models, "models"):
        for form in sorted(forms):
            yield from _model(draft, loc, model, form)
        yield from _idle_keys(draft, loc, model, forms)
    if draft.spec.epoch is not None and forms == {"logs"}:
        message = "'epoch' has no effect: every dataset is logs, which number epochs themselves"
        yield draft.tree.idle("unused-key", message, "epoch", key=True, hint="remove it")
    if draft.spec.judge is not None and forms == {"logs"}:
        yield draft.tree.idle("unused-key", "'judge' has no effect: every dataset is logs, whose scorers are judges",
                              "judge", key=True, hint="list the scorers under 'log', as in 'scorer: [a, b]'")
    elif draft.spec.judge is not None and draft.spec.item is None and draft.readable("item"):
        yield draft.tree.problem("missing-key", "'judge' needs 'item', which names what judges score", "judge",
                                 key=True, hint="name the column of items under 'item'")


def _dataset(draft: Draft, loc: Loc, dataset: AnyDataset, *, of_scores: bool) -> Iterator[Problem]:
    """Report a dataset that does not go with the task, or that names logs of several tools."""
    if isinstance(dataset, LogDataset):
        keys = [key for key in LOG_KEYS if getattr(dataset, key) is not None]
        if not of_scores:
            message = f"logs of a tool hold scores of items, and the task is {draft.spec.task}"
            yield draft.tree.problem("not-for-task", message, *loc, keys[0], key=True, hint="write 'task: score'")
        elif len(keys) > 1:
            message = f"'{loc[-1]}' names logs of several tools: {listed(keys, 'and')}"
            yield draft.tree.problem("several-logs", message, *loc, keys[1], key=True, hint="make a dataset of each")
    elif dataset.long is not None and not of_scores:
        message = f"'long' is of scores of items, and the task is {draft.spec.task}"
        yield draft.tree.problem("not-for-task", message, *loc, "long", key=True, hint="remove it")
    if of_scores and dataset.role in ("calibrate", *(["reference"] if isinstance(dataset, LogDataset) else [])):
        message = f"'{loc[-1]}' has the role '{dataset.role}', which scores of items do not have"
        yield draft.tree.problem("not-for-task", message, *loc, "role", hint="remove it")
    elif of_scores and dataset.role == "reference" and draft.spec.text is None and draft.readable("text"):
        message = f"items are to be looked for in '{loc[-1]}', and no key names their texts"
        yield draft.tree.problem("missing-key", message, *loc, "role",
                                 hint="add 'text' with the column of texts that both have")


def _scale(draft: Draft) -> Iterator[Problem]:
    """Report a range whose ends are in the wrong order, and scores outside it."""
    scale = draft.spec.score
    if scale is None or scale.range is None or not draft.readable("score", "range"):
        return
    low, high = scale.range
    if low >= high:
        message = f"the range {draft.tree.show('score', 'range')} does not begin with its lower end"
        hint = "write the lowest score first, as in [0, 1]"
        yield draft.tree.problem("wrong-range", message, "score", "range", hint=hint)
        return
    for key, score in (("success", scale.success), ("missing", scale.missing)):
        if isinstance(score, int | float) and draft.readable("score", key) and not low <= score <= high:
            message = f"'{key}' is {draft.tree.show('score', key)}, outside the range {low:g} to {high:g}"
            yield draft.tree.problem("wrong-range", message, "score", key, hint="correct it or the range")


def _rankings(draft: Draft) -> Iterator[Problem]:
    """Report rankings of some models alone, and a score of queries that is no measure of ranked lists, or has none."""
    models = draft.models.items()
    ranked = [name for name, model in models if model.ranking is not None]
    others = [name for name, model in models if model.ranking is None and draft.readable("models", name, "ranking")]
    measure = None if draft.spec.score is None else draft.spec.score.of
    if ranked and draft.spec.item is None and draft.readable("item"):
        yield draft.tree.problem("no-query", "models have rankings, and no column names the query", "models", ranked[0],
                                 "ranking", key=True, hint="name the column of queries under 'item'")
    for key in ("epoch", "judge") if ranked else ():
        if getattr(draft.spec, key) is not None:
            yield draft.tree.problem("ranking-with-epochs", f"models have rankings, and a ranked list has no {key}s",
                                     key, key=True, hint="remove it")
    if ranked and others:
        message = f"the model '{ranked[0]}' has a ranking, and '{others[0]}' has none"
        yield draft.tree.problem("ranking-of-some", message, "models", others[0], key=True,
                                 hint="give every model a 'ranking', or make a spec of each kind")
    elif ranked and measure is None and draft.readable("score", "of"):
        message = "models have rankings, and 'score' does not say which measure of a list is the score of a query"
        yield draft.tree.problem("missing-key", message, "score", hint="add 'of: {metric: ndcg, k: 10}', say")
    elif measure is not None and not ranked and models:
        message = "'of' has no effect: no model has a ranking"
        yield draft.tree.idle("unused-key", message, "score", "of", key=True, hint="remove it")
    if measure is None or not ranked or others:
        return
    entry, problems = check_measure(draft, ("score", "of"), measure)
    yield from problems
    if entry is not None and entry.metric.needs != "ranked_lists":
        message = f"{entry.metric.name} is no measure of a ranked list"
        yield draft.tree.problem("wrong-score", message, *entry.named,
                                 hint="name one of those, such as ndcg; `evalpipe metrics` lists all of them")
    elif entry is not None and draft.spec.score is not None and draft.spec.score.better == "lower":
        message = f"higher values of {entry.metric.name} are better"
        yield draft.tree.problem("wrong-score", message, "score", "better", hint="write 'better: higher'")


def _usage(draft: Draft) -> Iterator[Problem]:
    """Report models that do not say of the same things how much of them they used."""
    names = {name: list(model.usage or ()) for name, model in draft.models.items()
             if draft.readable("models", name, "usage")}
    for name, uses in names.items():
        first = next(iter(names))
        lacking = [use for use in names[first] if use not in uses] or [use for use in uses if use not in names[first]]
        if lacking:
            has, lacks = (first, name) if lacking[0] in names[first] else (name, first)
            message = f"the model '{lacks}' has no usage called '{lacking[0]}', which '{has}' has"
            place = ("models", lacks, "usage") if names[lacks] else ("models", lacks)
            yield draft.tree.problem("usage-of-some", message, *place, key=True,
                                     hint=f"add '{lacking[0]}: COLUMN' under 'usage' of '{lacks}'")


def _form(dataset: AnyDataset) -> str:
    """Return how a dataset holds scores: "logs", "a long table" or "a wide table"."""
    if isinstance(dataset, LogDataset):
        return "logs"
    return "a wide table" if dataset.long is None else "a long table"


def _model(draft: Draft, loc: Loc, model: Model, form: str) -> Iterator[Problem]:
    """Report a model whose scores in datasets of a form cannot be told."""
    if not (draft.readable(*loc, "log") and draft.readable(*loc, "score")):
        return
    name = loc[-1]
    if model.ranking is not None:
        if form != "a wide table":
            message = f"the model '{name}' has a ranking, and {form} of scores have no documents"
            yield draft.tree.problem("no-scores", message, *loc, "ranking", key=True,
                                     hint="name a table with a row for each document of a query")
    elif form == "a wide table" and model.score is None:
        hint = "name its column, as in 'score: a_correct', or say under 'datasets' which columns are 'long'"
        message = f"the model '{name}' names no column of scores"
        yield draft.tree.problem("no-scores", message, *loc, key=True, hint=hint)
    elif form != "a wide table" and model.log is None:
        scorer = ", scorer: …" if form == "logs" else ""
        hint = f"add 'log: {{model: …{scorer}}}'"
        message = f"the model '{name}' does not say which model of {form} it is"
        yield draft.tree.problem("no-scores", message, *loc, key=True, hint=hint)


def _idle_keys(draft: Draft, loc: Loc, model: Model, forms: set[str]) -> Iterator[Problem]:
    """Report keys of a model that say where scores are in datasets of a form that there is none of."""
    if model.score is not None and forms and "a wide table" not in forms:
        message = f"'score' of the model '{loc[-1]}' has no effect: no dataset has a column for each model"
        yield draft.tree.idle("unused-key", message, *loc, "score", key=True, hint="remove it")
    for key in ("scorer", "task") if model.log is not None and forms and "logs" not in forms else ():
        if getattr(model.log, key) is not None:
            message = f"'{key}' of the model '{loc[-1]}' has no effect: no dataset is logs of a tool"
            yield draft.tree.idle("unused-key", message, *loc, "log", key, key=True, hint="remove it")
    if model.log is not None and forms == {"a wide table"}:
        message = f"'log' of the model '{loc[-1]}' has no effect: every dataset has a column for each model"
        yield draft.tree.idle("unused-key", message, *loc, "log", key=True, hint="remove it")


def problems(spec: Spec, catalog: Catalog) -> Iterator[Problem]:
    """Yield a problem for each column that the spec names and that differs between the rows of one item."""
    from evalpipe.plan.datasets import required_columns

    for name, loc in required_columns(spec).items() if spec.task in SCORES else ():
        for dataset, table in catalog.tables.items():
            if table.scores is not None and name in table.scores.varying:
                message = f"column '{name}' of dataset '{dataset}' differs between the rows of one item"
                yield Problem("column-differs", message, spec.origin.place(*loc),
                              "name a column that is of the item, not of an answer to it")
