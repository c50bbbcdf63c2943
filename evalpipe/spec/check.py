"""Checks that concern several keys of a spec; they work on what was written, however wrong other keys are."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Any

from evalpipe.levels import LEVEL, level_text, meant_level
from evalpipe.spec.check_compare import check_compare
from evalpipe.spec.check_desirability import check_desirability
from evalpipe.spec.check_equivocal import check_equivocal
from evalpipe.spec.check_exposure import check_exposure
from evalpipe.spec.check_gates import check_gates
from evalpipe.spec.check_metrics import check_metrics
from evalpipe.spec.check_predictions import check_predictions
from evalpipe.spec.check_prevalence import check_prior
from evalpipe.spec.check_profit import check_profit
from evalpipe.spec.check_recalibrate import check_recalibrate
from evalpipe.spec.check_slices import check_slices
from evalpipe.spec.check_task import check_task
from evalpipe.spec.check_thresholds import check_thresholds
from evalpipe.spec.parts import Intervals, gives
from evalpipe.spelling import closest, listed
from evalpipe.tasks import MANY, NUMBERS

if TYPE_CHECKING:
    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.tree import Tree

BEYOND = 2
"""The replicates that must lie beyond each limit, which else is an extreme of the draws."""

_DRAWN = ("level", "replicates")
_BINARY = 2
_KINDS = ("probability", "probabilities", "score", "scores", "prediction", "rate", "loo_prediction")


def check(draft: Draft) -> list[Problem]:
    """Return the problems of a spec's meaning: outcome, datasets, models and metrics."""
    tree = draft.tree
    return list(chain(
        check_task(tree), _resampling(tree), _draws(tree), _levels(tree), _event(tree), _datasets(tree), _models(tree),
        _columns(tree), check_prior(tree), check_metrics(tree), check_slices(tree), check_predictions(tree),
        check_compare(draft), check_recalibrate(tree), check_equivocal(tree), check_profit(tree),
        check_exposure(tree), check_desirability(tree), check_gates(tree), check_thresholds(tree),
    ))


def _readable(tree: Tree) -> list[Any] | None:
    """Return the declared levels, None where there are none or one of them is not a level."""
    levels = tree.get("outcome", "levels")
    good = isinstance(levels, list) and all(isinstance(level, LEVEL) for level in levels)
    return levels if good else None


def _resampling(tree: Tree) -> list[Problem]:
    """Report levels to be resampled apart where clusters are resampled whole: a cluster may hold several levels."""
    if tree.get("cluster") is None or tree.get("intervals", "stratify") is not True:
        return []
    message = "clusters are resampled whole, so the rows of each level cannot be resampled apart"
    here = ("intervals", "stratify")
    return [tree.problem("two-resamplings", message, *here, key=True, hint="remove this or 'cluster'")]


def _draws(tree: Tree) -> list[Problem]:
    """Report a level whose limits would be the extremes of the replicates: `BEYOND` must lie beyond each of them."""
    given = {key: tree.get("intervals", key) for key in _DRAWN}
    level, number = (Intervals.model_fields[key].default if one is None else one for key, one in given.items())
    written = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (level, number))
    if not written or not 0 < level < 1 or number < 1 or tree.get("intervals", "method") == "none":
        return []
    needed = math.ceil(round(2 * BEYOND / (1 - level), 6)) + 1
    if number >= needed:
        return []
    here = ("intervals", "replicates" if tree.get("intervals", "replicates") is not None else "level")
    message = f"{number:,} replicates are too few for level {level:g}: the most extreme of them would be the limits"
    hint = f"ask for at least {needed:,} replicates, or for a lower level"
    return [tree.problem("too-few-replicates", message, *here, hint=hint)]


def _levels(tree: Tree) -> list[Problem]:
    levels = _readable(tree)
    if levels is None:
        return []
    here = ("outcome", "levels")
    texts = [level_text(level) for level in levels]
    problems = [
        tree.problem(
            "duplicate-level", f"the level {tree.show(*here, index)} is listed twice", *here, index, hint="remove it"
        )
        for index, text in enumerate(texts)
        if text in texts[:index]
    ]
    if tree.get("task") in MANY:
        if len(set(texts)) < _BINARY and not problems:
            message = f"a {tree.get('task')} outcome has 2 levels or more, but {len(texts)} is listed"
            hint = "name all levels that can occur, in their order"
            problems.append(tree.problem("level-count", message, *here, hint=hint))
    elif len(set(texts)) != _BINARY and not (problems and len(texts) == _BINARY):
        count = "no level is" if not texts else "1 level is" if len(texts) == 1 else f"{len(texts)} levels are"
        hint = (
            "merge them in the data, or choose two with 'where'"
            if len(texts) > _BINARY
            else "name both, or remove the key"
        )
        problems.append(
            tree.problem("level-count", f"a binary outcome has 2 levels, but {count} listed", *here, hint=hint)
        )
    return problems


def _event(tree: Tree) -> list[Problem]:
    levels, event = _readable(tree), tree.get("outcome", "event")
    if tree.get("task") in MANY:
        return []
    if not levels or not isinstance(event, LEVEL):
        return []
    texts = [level_text(level) for level in levels]
    if level_text(event) in texts:
        return []
    guess = None if tree.secret("outcome", "event") else meant_level(level_text(event), texts)
    secret = any(tree.secret("outcome", "levels", index) for index in range(len(levels)))
    hint = None if secret else f"did you mean '{guess}'?" if guess else f"the levels are {listed(texts, 'and')}"
    message = f"the event {tree.show('outcome', 'event')} is not one of the declared levels"
    return [tree.problem("unknown-event", message, "outcome", "event", hint=hint)]


def _datasets(tree: Tree) -> list[Problem]:
    datasets = tree.get("datasets")
    if not isinstance(datasets, dict) or not datasets or not all(isinstance(d, dict) for d in datasets.values()):
        return []
    if any(dataset.get("role", "evaluate") not in ("calibrate", "reference") for dataset in datasets.values()):
        return []
    message = "no dataset has the role 'evaluate', so there is nothing to compute"
    return [
        tree.problem("nothing-to-evaluate", message, "datasets", key=True, hint="give one of them 'role: evaluate'")
    ]


def _models(tree: Tree) -> list[Problem]:
    models = tree.get("models")
    problems: list[Problem] = []
    for name, model in models.items() if isinstance(models, dict) else ():
        if isinstance(model, dict):
            problems += _model(tree, name, model)
    return problems


def _model(tree: Tree, name: str, model: dict[str, Any]) -> list[Problem]:
    if all(model.get(kind) is None for kind in _KINDS):
        meant = next((key for key in model if closest(key, _KINDS) and key != "predictions"), None)
        if meant is not None and meant not in _KINDS:
            return []
        message = f"the model '{name}' names no column of predictions"
        hint = "name the column" if meant else f"add {_columns_of(tree)}"
        return [tree.problem("no-predictions", message, "models", name, key=True, hint=hint)]
    if tree.get("task") in NUMBERS and model.get("prediction") is None and model.get("rate") is None:
        message = f"the model '{name}' has no 'prediction'"
        return [tree.problem("no-predictions", message, "models", name, key=True, hint="add 'prediction: …'")]
    return [*_scores(tree, name, model), *_threshold(tree, name, model)]


def _columns_of(tree: Tree) -> str:
    """Return the keys under which a model of the task may name its predictions."""
    task = tree.get("task")
    if task in NUMBERS:
        exposed = task == "count" and tree.get("exposure") is not None
        return "'prediction: …' or 'rate: …'" if exposed else "'prediction: …'"
    several = "'probabilities: …'" if task in MANY else "'probability: …', 'score: …'"
    return f"{several} or 'prediction: …'"


def _scores(tree: Tree, name: str, model: dict[str, Any]) -> list[Problem]:
    """Report a score beside a probability, and a scale without a score."""
    for chance, score in (("probability", "score"), ("probabilities", "scores")):
        if model.get(score) is not None and model.get(chance) is not None:
            message = f"the model '{name}' has both '{chance}' and '{score}'"
            return [tree.problem("two-scores", message, "models", name, score, key=True, hint="remove one of the two")]
    if model.get("renormalise") is True and model.get("probabilities") is None and tree.get("task") in MANY:
        message = f"'renormalise' of the model '{name}' would change nothing: it has no 'probabilities'"
        here = ("models", name, "renormalise")
        return [tree.idle("unused-renormalise", message, *here, key=True, hint="remove it")]
    if model.get("scale") is not None and model.get("score") is None:
        message = f"the scale of the model '{name}' would change nothing: it has no 'score'"
        hint = "rename 'probability' to 'score'" if model.get("probability") is not None else "remove it"
        return [tree.idle("unused-scale", message, "models", name, "scale", key=True, hint=hint)]
    return []


def _threshold(tree: Tree, name: str, model: dict[str, Any]) -> list[Problem]:
    threshold, here = model.get("threshold"), ("models", name, "threshold")
    if threshold is not None and model.get("prediction") is not None:
        message = f"the threshold of the model '{name}' would change nothing: 'prediction' gives its predicted classes"
        return [tree.idle("unused-threshold", message, *here, key=True, hint="remove one of the two")]
    if not isinstance(threshold, int | float) or isinstance(threshold, bool):
        return []
    if 0 <= threshold <= 1 or "probabilities" not in gives(model):
        return []
    hint = f"did you mean {threshold / 100:g}?" if 2 <= threshold <= 100 else None
    scaled = " the probability that 'scale' makes of the score," if model.get("scale") is not None else ""
    message = f"expected{scaled} a number from 0 to 1, got {tree.show(*here)}"
    return [tree.problem("out-of-range", message, *here, hint=hint)]


def _columns(tree: Tree) -> list[Problem]:
    """Report the outcome's column where it is named as a prediction, a weight or an exposure."""
    outcome, models = tree.get("outcome", "column"), tree.get("models")
    places: list[Loc] = [
        ("models", name, kind)
        for name in (models if isinstance(models, dict) else ())
        for kind in _KINDS
        if tree.get("models", name, "predictions") is None
    ]
    places += [(key, "column") if isinstance(tree.get(key), dict) else (key,) for key in ("weight", "exposure")]
    return [
        tree.problem("outcome-as-input", f"{tree.show(*loc)} is the outcome's column", *loc, hint="name another column")
        for loc in places
        if outcome is not None and tree.get(*loc) == outcome
    ]
