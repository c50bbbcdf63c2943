"""What the name of a column says it may hold, and of which outcome; a hint beside its values, never instead of them."""

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
"""Words of which alone the names of outcomes are made."""

ANSWERS = frozenset({
    "y", "truth", "true", "target", "label", "outcome", "class", "actual", "observed", "obs", "response", "event",
    "status", "gold",
})
"""Words of which the name of an outcome has one."""

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
    """Tell whether a name is that of an outcome."""
    name_words = set(words(name))
    return bool(name_words & ANSWERS) and name_words <= OUTCOME


def like_prediction(name: str) -> bool:
    """Tell whether a name says prediction or score, or names a kind of model."""
    return bool(set(words(name)) & (PREDICTED | METHODS))


def like_id(name: str) -> bool:
    """Tell whether a name is that of a row or of what a row belongs to."""
    name_words = set(words(name))
    return bool(name_words & IDS) or (bool(name_words) and name_words <= ROWS)


def has_word(name: str, vocabulary: frozenset[str]) -> bool:
    """Tell whether a name has a word of a vocabulary."""
    return bool(set(words(name)) & vocabulary)


def normalised(text: str) -> str:
    """Return a name or a level without capitals, with one `_` for all that is no letter and no digit."""
    return "_".join(words(text))


def subject(name: str) -> tuple[str, ...]:
    """Return the words of a name that say of what it is the outcome or the prediction: `prob_a`, `label_a` are of a."""
    return tuple(word for word in words(name) if word not in PREDICTED | METHODS | OUTCOME)


def mentions(name: str, level: str) -> bool:
    """Tell whether a name has the words of a level, one after the other."""
    inner = words(level)
    outer = words(name)
    return bool(inner) and any(outer[at:at + len(inner)] == inner for at in range(len(outer)))


def model_name(name: str, level: str = "") -> str:
    """Return what the model is called whose predictions a column has: its name without the words for predictions.

    Words of the ``level`` that the column is about are taken away too. Empty where nothing is left.
    """
    inner = words(level)
    kept = [part for part in _PARTS.split(name) if part and not set(words(part)) <= PREDICTED | {"class", "label"}]
    text = "_".join(kept)
    if inner and normalised(text).endswith("_".join(inner)):
        kept = kept[: len(kept) - len([part for part in _PARTS.split(level) if part])]
        text = "_".join(kept)
    return text.strip(" -_=@.")


MOST_SPECS = 8
"""The commands for further outcomes that are shown."""


def named_after(outcome: ColumnLook, columns: Mapping[str, ColumnLook]) -> list[str]:
    """Return the columns of predictions that are named after an outcome."""
    name_words = subject(outcome.name)
    if not name_words or like_prediction(outcome.name) or not outcome.usable:
        return []
    return [name for name, look in columns.items() if name != outcome.name and like_prediction(name)
            and (look.kind == "number" or look.levels) and subject(name) == name_words]


def named_after_others(outcome: ColumnLook, columns: Mapping[str, ColumnLook], used: Iterable[str]) -> dict[str, str]:
    """Return the columns of predictions that are named after another outcome, with its name; none that are ``used``.

    A column that is named after the levels of the outcome is of that outcome, whatever else has the name of a level.
    """
    without = {*used, *named_after(outcome, columns)}
    return {name: look.name for look in columns.values() if look.name != outcome.name
            for name in named_after(look, columns) if name not in without}


def further_specs(
    others: Iterable[str], event: str | None, columns: Mapping[str, ColumnLook], paths: Sequence[str]
) -> tuple[str, ...]:
    """Return a note for each other outcome: the command that writes its spec."""
    notes: list[str] = []
    for name in list(dict.fromkeys(others))[:MOST_SPECS]:
        same = event is not None and find_level(event, tuple(columns[name].levels)) is not None
        target = f"{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}.yaml"
        command = ["evalpipe", "init", *paths, "--outcome", name, *(["--event", str(event)] if same else []),
                   "-o", target]
        notes.append(f"{quoted(name)} has predictions of its own; a spec for it: {shlex.join(command)}")
    return tuple(notes)
