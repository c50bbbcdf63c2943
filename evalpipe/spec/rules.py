"""Checks that concern several keys of a spec: of its outcome, rows and models here, of its chapters in their rules.

One walk over a draft checks the marks on fields: names that a key refers to, and keys that it needs or excludes. What
says more than a mark can is in the rules.
"""

from __future__ import annotations

import math
import unicodedata
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, RootModel

from evalpipe.base.levels import level_text, meant_level
from evalpipe.base.records import default_of
from evalpipe.chapters import functions
from evalpipe.spec.core_keys import gives
from evalpipe.spec.draft import check_task, level_problems, refer, unknown_level
from evalpipe.spec.field_types import EachLevel, Excludes, KeyRelation, OfRole, Only, Refers, Renamed, Unique, is_number
from evalpipe.spec.measures import located_items
from evalpipe.spec.rules_measures import check_expressions, check_metrics, unknown_metric
from evalpipe.spec.spec import ANY_NAME, applies
from evalpipe.tasks import CLASSES, MANY, NUMBERS, SCORES
from evalpipe.words.sentences import DEPRECATED
from evalpipe.words.spelling import choose, closest, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.draft import Draft


BEYOND_LIMIT = 2
"""The replicates that must lie beyond each limit, which else is an extreme of the draws."""

LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u0410\u0412\u0415\u041a\u041c\u041d\u041e"
    "\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1"
    "\u03a4\u03a5\u03a7\u03bf\u03bd",
    "aeopcyxijsdhABEKMHOPCTYXIJSABEZHIKMNOPTYXov")
"""Letters of the Cyrillic and the Greek alphabet that look like Latin ones, by these (Unicode TS 39)."""

_BINARY = 2
_KINDS = ("probability", "probabilities", "score", "scores", "prediction", "rate", "loo_prediction", "leverage")


def rule_problems(draft: Draft) -> list[Problem]:
    """Return the problems that concern several keys of a spec: of outcome, datasets, models, metrics and chapters."""
    core = chain(
        check_relations(draft), check_task(draft), _idle_bands(draft), _too_few_replicates(draft), _level_count(draft),
        _unknown_event(draft), _lookalikes(draft), _nothing_evaluated(draft), _check_models(draft),
        _former_names(draft), _outcome_as_input(draft), check_metrics(draft), check_expressions(draft),
        _unfit_files(draft), _recalibrated_exposure(draft))
    return [*core, *chain.from_iterable(rules(draft) for rules in functions("plan", "rules"))]


def _idle_bands(draft: Draft) -> Iterator[Problem]:
    """Report 'bands: false' where it has no effect: bands are drawn about curves of a binary outcome alone."""
    intervals = draft.spec.intervals
    if not intervals.bands and draft.spec.task != "binary" and draft.readable("task"):
        message = "'bands' has no effect: they are drawn about the curves of a binary outcome alone"
        yield draft.tree.idle("not-for-task", message, "intervals", "bands", key=True, hint="remove it")


def _too_few_replicates(draft: Draft) -> Iterator[Problem]:
    """Report a level whose limits would be the extremes of the replicates: `BEYOND_LIMIT` must lie beyond each."""
    intervals = draft.spec.intervals
    level, written = intervals.level, draft.tree.get("intervals", "replicates")
    number = written if is_number(written) else intervals.replicates  # a number that is refused as too small counts too
    if math.isnan(level) or intervals.method == "none":
        return
    # Rounded, for 1 - 0.9 is a little less than 0.1, and the ceiling would ask for one replicate more.
    needed = math.ceil(round(2 * BEYOND_LIMIT / (1 - level), 6)) + 1
    if 1 <= number < needed:
        here = ("intervals", "replicates" if "replicates" in intervals.model_fields_set else "level")
        message = f"{number:,} replicates are too few for level {level:g}: the most extreme of them would be the limits"
        hint = f"ask for at least {needed:,} replicates, or for a lower level"
        yield draft.tree.problem("too-few-replicates", message, *here, hint=hint)


def _level_count(draft: Draft) -> Iterator[Problem]:
    """Report more or fewer levels than the task has."""
    here, texts, task, problem = ("outcome", "levels"), draft.levels, draft.spec.task, draft.tree.problem
    declared = draft.spec.outcome.levels
    # There are fewer texts than declared levels, none, where a level cannot be read.
    if declared is None or len(texts) != len(declared) or not draft.readable(*here):
        return
    if task in MANY:
        if len(texts) < _BINARY:
            message = f"a {task} outcome has 2 levels or more, but {len(texts)} is listed"
            yield problem("level-count", message, *here, hint="name all levels that can occur, in their order")
    elif len(set(texts)) != _BINARY and len(texts) != _BINARY:
        count = "no level is" if not texts else "1 level is" if len(texts) == 1 else f"{len(texts)} levels are"
        hint = ("merge them in the data, or choose two with 'where'" if len(texts) > _BINARY
                else "name both, or remove the key")
        yield problem("level-count", f"a binary outcome has 2 levels, but {count} listed", *here, hint=hint)


def _unknown_event(draft: Draft) -> Iterator[Problem]:
    """Report an event that is none of the declared levels."""
    levels, event, here = draft.levels, draft.spec.outcome.event, ("outcome", "event")
    if draft.spec.task in MANY or not levels or event is None or not draft.readable(*here):
        return
    if level_text(event) not in levels:
        guess = None if draft.tree.secret(*here) else meant_level(level_text(event), levels)
        secret = any(draft.tree.secret("outcome", "levels", index) for index in range(len(levels)))
        hint = f"did you mean '{guess}'?" if guess else f"the levels are {listed(levels, 'and')}"
        message = f"the event {draft.tree.show(*here)} is not one of the declared levels"
        yield draft.tree.problem("unknown-event", message, *here, hint=None if secret else hint)


def _lookalikes(draft: Draft) -> Iterator[Problem]:
    """Report names of datasets and of models that look the same as an earlier name but have other characters."""
    for key, names in (("datasets", draft.spec.datasets), ("models", draft.models)):
        first_of_look: dict[str, str] = {}
        for name in names:
            other = first_of_look.setdefault(unicodedata.normalize("NFKC", name).translate(LOOKALIKES), name)
            if other == name:
                continue
            index = next(index for index, pair in enumerate(zip(name, other, strict=False)) if len({*pair}) > 1)
            letter, instead = (unicodedata.name(text[index], "unknown") for text in (name, other))
            message = f"{quoted(name)} looks like {quoted(other)}: its letter {index + 1} is {letter}, there {instead}"
            hint = "give it a name that looks different"
            yield draft.tree.problem("names-alike", message, key, name, key=True, hint=hint)


def _nothing_evaluated(draft: Draft) -> Iterator[Problem]:
    """Report that no dataset is evaluated."""
    roles = {dataset.role for dataset in draft.spec.datasets.values()}
    if roles and roles <= {"calibrate", "reference"}:
        message = "no dataset has the role 'evaluate', so there is nothing to compute"
        yield draft.tree.problem("nothing-to-evaluate", message, "datasets", key=True,
                                 hint="give one of them 'role: evaluate'")


def _check_models(draft: Draft) -> Iterator[Problem]:
    """Report models without predictions, and keys of models that go ill together."""
    for name, model in draft.models.items() if draft.spec.task not in SCORES else ():
        here: Loc = ("models", name)
        if all(getattr(model, kind) is None for kind in _KINDS):
            yield from _no_columns(draft, here)
        elif draft.spec.task in NUMBERS and model.prediction is None and model.rate is None:
            message = f"the model '{name}' has no 'prediction'"
            yield draft.tree.problem("no-predictions", message, *here, key=True, hint="add 'prediction: …'")
        else:
            yield from _scores_and_scale(draft, here, model)
            yield from _threshold(draft, here, model)


def _former_names(draft: Draft) -> Iterator[Problem]:
    """Report former names of models that are in use: by the model itself, by another, or as the former name of two."""
    first: dict[str, str] = {}
    for name, former in ((name, model.was) for name, model in draft.models.items() if model.was is not None):
        here = ("models", name, "was")
        if former == name:
            message = f"the model '{name}' was not called '{former}' before: that is its name"
            hint = "name what it was called, or remove this"
            yield draft.tree.problem("former-name", message, *here, hint=hint)
        elif former in draft.models:
            message = f"'{former}' is still the name of a model, so '{name}' cannot take over what is known of it"
            hint = f"rename or remove the model '{former}', or remove this"
            notes = draft.tree.noted("that model is at", "models", former)
            yield draft.tree.problem("former-name", message, *here, hint=hint, notes=notes)
        elif former in first:
            message = f"two models cannot both have been called '{former}' before"
            notes = draft.tree.noted("the other one is at", "models", first[former], "was")
            yield draft.tree.problem("former-name", message, *here, hint="remove one of them", notes=notes)
        first.setdefault(former, name)


def _no_columns(draft: Draft, here: Loc) -> Iterator[Problem]:
    """Report a model that names no column, unless it does under a misspelt key, which is reported."""
    if draft.misspelt(here, [*_KINDS, "predictions"]):
        return
    task = draft.spec.task
    if any(kind in draft.tree.get(*here) for kind in _KINDS):
        hint = "name the column"
    elif task in NUMBERS:
        exposed = task == "count" and draft.spec.exposure is not None
        hint = "add 'prediction: …' or 'rate: …'" if exposed else "add 'prediction: …'"
    else:
        several = "'probabilities: …'" if task in MANY else "'probability: …', 'score: …'"
        hint = f"add {several} or 'prediction: …'"
    message = f"the model '{here[1]}' names no column of predictions"
    yield draft.tree.problem("no-predictions", message, *here, key=True, hint=hint)


def _scores_and_scale(draft: Draft, here: Loc, model: Model) -> Iterator[Problem]:
    """Report a score beside a probability, and keys that say how to read predictions which are not there."""
    name = here[1]
    kinds = ("probability", "probabilities", "score", "scores")
    named = [kind for kind in kinds
             if getattr(model, kind) is not None and applies(("models", ANY_NAME, kind), draft.spec.task)]
    if len(named) > 1:
        message = f"the model '{name}' has both '{named[0]}' and '{named[1]}'"
        yield draft.tree.problem("two-scores", message, *here, named[1], key=True, hint="remove one of the two")
        return
    if model.scale == "percent":
        if model.probability is None and model.probabilities is None:
            several = "probabilities" if draft.spec.task in MANY else "probability"
            message = f"the model '{name}' has no '{several}', of which 'scale: percent' says that it is in percent"
            hint = f"name the column under '{several}', or remove it"
            yield draft.tree.problem("wrong-scale", message, *here, "scale", hint=hint)
    elif model.scale is not None and model.score is None:
        hint = "rename 'probability' to 'score'" if model.probability is not None else "remove it"
        message = f"the scale of the model '{name}' has no effect: it has no 'score'"
        yield draft.tree.idle("unused-scale", message, *here, "scale", key=True, hint=hint)


def _threshold(draft: Draft, here: Loc, model: Model) -> Iterator[Problem]:
    """Report a threshold beside predicted classes, and one of probabilities that is no probability."""
    key_loc, threshold = (*here, "threshold"), model.threshold
    if threshold is not None and model.prediction is not None:
        message = f"the threshold of the model '{here[1]}' has no effect: 'prediction' gives its predicted classes"
        yield draft.tree.idle("unused-threshold", message, *key_loc, key=True, hint="remove one of the two")
    elif is_number(threshold) and (threshold < 0 or threshold > 1) and "probabilities" in gives(model):
        hint = f"did you mean {threshold / 100:g}?" if 2 <= threshold <= 100 else None
        scaled = " the probability that 'scale' makes of the score," if model.score is not None else ""
        message = f"expected{scaled} a number from 0 to 1, got {draft.tree.show(*key_loc)}"
        yield draft.tree.problem("out-of-range", message, *key_loc, hint=hint)


def _outcome_as_input(draft: Draft) -> Iterator[Problem]:
    """Report the outcome's column where it is named as a prediction, a weight or an exposure."""
    spec = draft.spec
    named: dict[Loc, object] = {
        ("models", name, kind): getattr(model, kind)
        for name, model in draft.models.items() if model.predictions is None for kind in _KINDS
    }
    for key, part in (("weight", spec.weight), ("exposure", spec.exposure)):
        named[(key,) if draft.tree.get(key, "column") is None else (key, "column")] = part and part.column
    for loc, column in named.items():
        if column and column == spec.outcome.column:
            yield draft.tree.problem("outcome-as-input", f"{draft.tree.show(*loc)} is the outcome's column", *loc,
                                     hint="name another column")


def _recalibrated_exposure(draft: Draft) -> Iterator[Problem]:
    """Yield the problem of counts with an exposure that are to be recalibrated."""
    if draft.spec.task == "count" and draft.spec.exposure is not None and draft.spec.recalibrate is not None:
        message = "counts with an exposure cannot be recalibrated: the recalibrators see no exposure"
        yield draft.tree.problem("recalibrated-exposure", message, "recalibrate", key=True,
                                 hint="remove one of the two")


def _unfit_files(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of files of predictions that do not fit the datasets."""
    datasets = draft.spec.datasets
    predicted = [name for name, dataset in datasets.items() if dataset.role != "reference"]
    what = "evaluated or to calibrate on" if draft.role("calibrate") else "evaluated"
    if not predicted or not all(draft.readable("datasets", name) for name in datasets):
        return
    for name in draft.models:
        yield from _prediction_files(draft, name, predicted, what)


def _prediction_files(draft: Draft, name: str, predicted: list[str], what: str) -> Iterator[Problem]:
    """Yield the problems of a model's files: one for several datasets, strange datasets, datasets without a file."""
    here, problem = ("models", name, "predictions"), draft.tree.problem
    match draft.models[name].predictions:
        case str(path) if path and len(predicted) > 1:
            message = f"the model '{name}' has one file of predictions, but {len(predicted)} datasets are {what}"
            example = ", ".join(f"{dataset}: …" for dataset in predicted[:2])
            hint = f"name one for each: {{{example}{', …' if len(predicted) > 2 else ''}}}"
            yield problem("missing-predictions", message, *here, hint=hint)
        case dict(files) if files:
            lacking = [dataset for dataset in predicted if dataset not in files]
            for dataset in files:
                yield from refer(
                    draft, (*here, dataset), predicted, "unknown-dataset", f"no dataset called '{dataset}' is {what}",
                    f"the datasets that are {what}: {listed(predicted, 'and')}", key=True,
                    meant=lambda name, _: closest(name, lacking))
            if lacking and not any(closest(dataset, lacking) for dataset in files if dataset not in predicted):
                message = f"the model '{name}' has no file of predictions for {listed(lacking, 'and')}"
                hint = f"name one for each dataset that is {what}"
                yield problem("missing-predictions", message, *here, key=True, hint=hint)


def check_relations(draft: Draft, part: BaseModel | None = None, loc: Loc = ()) -> Iterator[Problem]:
    """Yield the problems of keys, of ``part`` of the spec at ``loc`` and within, by the marks on their fields.

    Keys that the task does not have are skipped: another check reports them. A key that lacks a key it needs, or
    excludes another, gets no further problem.
    """
    part = draft.spec if part is None else part
    for name, field in type(part).model_fields.items():
        here, value, task = (*loc, field.alias or name), getattr(part, name), draft.spec.task
        not_for_task = task and any(isinstance(mark, Only) and task not in mark.tasks for mark in field.metadata)
        if value is None or not_for_task:
            continue
        usual = value == default_of(type(part), name)
        problems = [] if usual else list(_check_other_keys(draft, here, part, field.metadata))
        yield from problems
        if problems:
            continue
        for mark in field.metadata:
            yield from _check_value(draft, here, value, mark)
        for place, inner in _entries(draft, here, value):
            if isinstance(inner, BaseModel) and not isinstance(inner, RootModel):
                yield from check_relations(draft, inner, place)


def _entries(draft: Draft, here: Loc, value: Any) -> Iterator[tuple[Loc, Any]]:
    """Yield each item of a list or value of a mapping with its location; a single value stands there itself."""
    if isinstance(value, dict):
        yield from (((*here, key), item) for key, item in value.items())
    elif isinstance(value, tuple) and value and isinstance(draft.tree.get(*here), dict):  # a list of one entry
        yield here, value[0]
    else:
        yield from located_items(here, value)


def _check_other_keys(draft: Draft, here: Loc, part: BaseModel, marks: list[Any]) -> Iterator[Problem]:
    """Report a key without the keys that it needs, or beside one that it excludes; only the latter if both."""
    excluded = False
    for mark in (mark for mark in marks if isinstance(mark, KeyRelation)):
        owner, loc = (draft.spec, ()) if mark.of_spec else (part, here[:-1])
        values = [getattr(owner, other) for other in mark.others]
        present = mark.equal in values if mark.equal is not None else any(
            value is not None and value is not False for value in values)
        if isinstance(mark, Excludes):
            wrong = excluded = present
        else:
            readable = all(draft.readable(*loc, other) for other in mark.others)
            misspelt = draft.misspelt(loc, mark.others, type(owner).model_fields)
            wrong = readable and not (present or misspelt or excluded)
        if wrong:
            message = mark.message.replace("{name}", str(here[1])) if len(here) > 1 else mark.message
            report = draft.tree.idle if mark.idle else draft.tree.problem
            yield report(mark.code, message, *here, key=True, hint=mark.hint)


def _check_value(draft: Draft, here: Loc, value: Any, mark: object) -> Iterator[Problem]:
    """Yield the problems of the names and levels in the value of a key, by one of its marks."""
    match mark:
        case Refers():
            yield from _unknown_names(draft, here, value, mark)
        case OfRole() if isinstance(value, str):
            yield from _wrong_role(draft, here, value, mark)
        case EachLevel() if draft.spec.task in CLASSES and isinstance(value, dict | tuple) and draft.readable(*here):
            yield from level_problems(draft, here, value, mark)
        case Renamed() if (former := str(draft.tree.get(*here))) in mark.now:
            problem = draft.tree.problem(
                "renamed-value", str(DEPRECATED[former]), *here, hint=f"write '{mark.now[former]}'")
            yield replace(problem, severity="warning")
        case Unique():
            texts = [level_text(item) for item in value]
            for index, text in enumerate(texts):
                if draft.readable(*here, index) and text in texts[:index]:
                    message = mark.message.replace("{}", draft.tree.show(*here, index))
                    yield draft.tree.problem(mark.code, message, *here, index, hint=mark.hint)


def _unknown_names(draft: Draft, here: Loc, value: Any, mark: Refers) -> Iterator[Problem]:
    """Report names that nothing of the spec has."""
    for loc, item in _entries(draft, here, value):
        if mark.to == "measure":
            yield from unknown_metric(draft, loc, key=isinstance(value, dict))
        elif mark.to == "level":
            known = draft.levels if draft.spec.task in CLASSES and draft.readable(*loc) else []
            if known and level_text(item) not in known:
                yield unknown_level(draft, loc, level_text(item))
        elif draft.readable("models" if mark.to == "model" else "datasets"):
            known, shown = list(draft.spec.models), draft.tree.show(*loc)
            code, message = "unknown-model", f"no model is called {shown}"
            if mark.to == "evaluated dataset":
                role = ", because its role is not 'evaluate'" if value in draft.spec.datasets else ""
                known, code = draft.role("evaluate"), "unknown-dataset"
                message = f"no dataset called {shown} is evaluated{role}"
            hint = None if mark.hint is None else mark.hint(known)
            yield from refer(draft, loc, known, mark.code or code, message, hint)


def _wrong_role(draft: Draft, here: Loc, name: str, mark: OfRole) -> Iterator[Problem]:
    """Report a name that no dataset has, or one of another role."""
    known = draft.role(mark.role)
    if name in known or not draft.readable("datasets"):
        return
    code, message = "unknown-dataset", f"no dataset is called {draft.tree.show(*here)}"
    if name in draft.spec.datasets:
        code, role = "wrong-role", draft.spec.datasets[name].role
        why = ", so its predictions are not read" if role == "reference" and mark.role == "calibrate" else mark.why
        message = f"{draft.tree.show(*here)} has the role '{role}'{why}"
    yield from refer(draft, here, known, code, message, choose(known, mark.otherwise))
