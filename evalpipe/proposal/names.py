"""Guess from the name of a column what it has and of which outcome; its values decide, names are hints."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from evalpipe.base.levels import find_level
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook


OUTCOME = frozenset({
    "y", "truth", "true", "target", "label", "outcome", "class", "actual", "observed", "obs", "response", "event",
    "status", "gold", "ground", "value", "flag", "is", "n", "count", "counts",
})
"""The words that names of outcomes consist of."""

ANSWERS = frozenset({
    "y", "truth", "true", "target", "label", "outcome", "class", "actual", "observed", "obs", "response", "event",
    "status", "gold",
})
"""The words of which a name of an outcome has at least one."""

SURE = ANSWERS - {"class", "event", "status"}
"""Words that other columns rarely have in their names: a class may be that of a cabin."""

SCORES = frozenset({"score", "scores", "margin", "logit", "logits", "logodds", "decision", "lp"})
PERCENTS = frozenset({"pct", "percent", "percents", "percentage", "perc"})
LEFT_OUT = frozenset({"loo", "leave"})
PREDICTED = frozenset({
    "p", "pr", "prob", "probs", "proba", "probability", "probabilities", "pred", "preds", "prediction", "predictions",
    "predicted", "hat", "yhat", "phat", "pd", "fitted", "fit", "estimate", "estimated", "forecast", "risk",
    "likelihood", "posterior", "prognosis", "expected", "mu",
}) | SCORES | LEFT_OUT | PERCENTS
"""Words in the names of predictions."""

METHODS = frozenset({
    "regression", "logistic", "linear", "logreg", "glm", "gam", "lm", "lasso", "ridge", "elastic", "net", "forest",
    "rf", "tree", "boost", "boosting", "boosted", "xgb", "xgboost", "gbm", "lgbm", "lightgbm", "catboost", "svm",
    "bayes", "nb", "knn", "nn", "mlp", "cnn", "rnn", "lstm", "neural", "network", "transformer", "bert", "ensemble",
    "stack", "model", "baseline", "champion", "challenger",
})
"""Words for models."""

IDS = frozenset({"id", "ids", "uuid", "guid", "key", "identifier"})
ROWS = IDS | {"row", "index", "idx", "nr", "no", "number", "record", "case", "rowid", "rownames", "unnamed"}
WEIGHTS = frozenset({"weight", "weights", "wt", "wgt", "w", "freq", "frequency"})
EXPOSURES = frozenset({"exposure", "exposures"})

_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PARTS = re.compile(r"[\s_.:/\-]+")


def words(name: str) -> list[str]:
    """Return the words and numbers in a name, in small letters: `predProb_2` is pred, prob, 2."""
    return [word.casefold() for part in _CAMEL.split(name) for word in _WORD.findall(part)]


def like_outcome(name: str) -> bool:
    """Tell whether a name consists of words for outcomes."""
    name_words = set(words(name))
    return bool(name_words & ANSWERS) and name_words <= OUTCOME


def like_prediction(name: str) -> bool:
    """Tell whether a name has a word for predictions or scores, or for a kind of model."""
    return bool(set(words(name)) & (PREDICTED | METHODS))


def like_id(name: str) -> bool:
    """Tell whether a name is like that of an id, of rows or of the groups that they belong to."""
    name_words = set(words(name))
    return bool(name_words & IDS) or (bool(name_words) and name_words <= ROWS)


def has_word(name: str, vocabulary: frozenset[str]) -> bool:
    """Tell whether a name has a word of a vocabulary."""
    return bool(set(words(name)) & vocabulary)


def normalised(text: str) -> str:
    """Return a name or a level in small letters, its words and numbers joined by `_`."""
    return "_".join(words(text))


def subject(name: str) -> tuple[str, ...]:
    """Return the words of a name that are not for outcomes or predictions: ("a",) for `prob_a` and `label_a`."""
    return tuple(word for word in words(name) if word not in PREDICTED | METHODS | OUTCOME)


def mentions(name: str, level: str) -> bool:
    """Tell whether a name has the words of a level, one after the other."""
    level_words = words(level)
    name_words = words(name)
    return bool(level_words) and any(
        name_words[start:start + len(level_words)] == level_words for start in range(len(name_words)))


def model_name(name: str, level: str = "") -> str:
    """Return a model's name from the name of its column, without the words for predictions.

    Words of the ``level`` that the column predicts are removed too. Empty where nothing is left.
    """
    level_words = words(level)
    parts = [part for part in _PARTS.split(name) if part and not set(words(part)) <= PREDICTED | {"class", "label"}]
    text = "_".join(parts)
    if level_words and normalised(text).endswith("_".join(level_words)):
        parts = parts[: len(parts) - len([part for part in _PARTS.split(level) if part])]
        text = "_".join(parts)
    return text.strip(" -_=@.")


MOST_SPECS = 8
"""The most commands for further outcomes that are shown."""


def named_after(outcome: ColumnLook, columns: Mapping[str, ColumnLook]) -> list[str]:
    """Return the columns of predictions whose names have the outcome's words, as `prob_a` for the outcome `a`."""
    name_words = subject(outcome.name)
    if not name_words or like_prediction(outcome.name) or not outcome.usable:
        return []
    return [name for name, look in columns.items() if name != outcome.name and like_prediction(name)
            and (look.kind == "number" or look.levels) and subject(name) == name_words]


def named_after_others(outcome: ColumnLook, columns: Mapping[str, ColumnLook], used: Iterable[str]) -> dict[str, str]:
    """Return the columns of predictions named after another outcome, with the name of that, except ``used`` ones.

    A column that is named after the levels of the outcome is of that outcome, whatever else has the name of a level.
    """
    excluded = {*used, *named_after(outcome, columns)}
    return {name: look.name for look in columns.values() if look.name != outcome.name
            for name in named_after(look, columns) if name not in excluded}


def further_spec_notes(
    others: Iterable[str], event: str | None, columns: Mapping[str, ColumnLook], paths: Sequence[str]
) -> tuple[str, ...]:
    """Return a note for each other outcome: the command that writes its spec."""
    notes: list[str] = []
    for name in list(dict.fromkeys(others))[:MOST_SPECS]:
        has_event = event is not None and find_level(event, tuple(columns[name].levels)) is not None
        target = f"{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}.yaml"
        command = ["evalpipe", "init", *paths, "--outcome", name, *(["--event", str(event)] if has_event else []),
                   "-o", target]
        notes.append(f"{quoted(name)} has predictions of its own; a spec for it: {shlex.join(command)}")
    return tuple(notes)
