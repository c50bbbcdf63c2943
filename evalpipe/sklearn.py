"""A card of a fitted scikit-learn estimator: its predictions on rows, evaluated as any others are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.arrays import table
from evalpipe.base.levels import level_text
from evalpipe.errors import UsageError
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from evalpipe.results import Results

BINARY_CLASSES = 2
"""The classes of a binary outcome."""

AS_FITTED = "give it rows with the columns that it was fitted on; a search needs refit=True"

SCORE = "decision_function"
"""The column of the distances from the boundary, higher for the event; at 0 the estimator changes its class."""


def card(
    estimator: Any, X: Any, y: Any, *, event: str | bool | float | None = None,  # noqa: N803 - as scikit-learn names it
    out: str | os.PathLike[str] | None = None, columns: Mapping[str, Any] | None = None, **keys: Any,
) -> Results:
    """Evaluate a fitted classifier or regressor on rows ``X`` with outcomes ``y`` [n], and return the results.

    With ``out`` the output folder is written too, with the card. Predicted classes are those of ``predict``, ties and
    tuned cuts as it decides them; a ``threshold`` among the keys makes them instead, in the units of the scores where
    there are no probabilities. Of two classes, ``event`` names the one that is
    predicted; it is never guessed. ``columns`` are further arrays [n] by name that keys of the spec refer to, such as
    those of ``slices``, ``cluster`` or ``weight``; ``keys`` are keys of the spec, such as ``metrics`` or ``gates``.
    Raises UsageError where scikit-learn is not installed, the estimator is not fitted, is no classifier or regressor,
    predicts several outcomes or cannot predict these rows, or the event is not named; SpecError and DataError as a run
    does.
    """
    from evalpipe.run import run

    model, task, outcome, predictions = _predicted(estimator, X, event)
    if "threshold" in keys and len(model) > 1:
        del model["prediction"]  # the threshold makes the classes instead
        if "score" in model and isinstance(keys["threshold"], int | float):
            model["threshold"] = keys.pop("threshold")
    frame = table({"truth": y, **predictions, **(columns or {})}, {"truth": "y"})
    last_step = getattr(estimator, "steps", [(None, estimator)])[-1][1]  # of a pipeline
    name = type(last_step).__name__
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": name, "task": task, "outcome": {"column": "truth", **outcome},
        "datasets": {"data": {"path": "memory"}}, "models": {name: model}, **keys}
    return run(spec, out=out, frames={"data": frame})


def _predicted(
    estimator: Any, rows: Any, event: object
) -> tuple[dict[str, Any], str, dict[str, Any], dict[str, Any]]:
    """Return the spec's entry of the model, the task, the outcome's keys, and the columns of predictions by name."""
    try:
        from sklearn.base import is_classifier, is_regressor
        from sklearn.exceptions import NotFittedError
    except ModuleNotFoundError:
        message = "evalpipe.sklearn needs the library scikit-learn, which is not installed"
        raise UsageError.of("missing-library", message, "pip install scikit-learn") from None
    try:
        if is_regressor(estimator):
            _refuse_event(event, "a regressor predicts numbers")
            return {"prediction": "prediction"}, "regression", {}, {"prediction": _predicted_outcome(estimator, rows)}
        if is_classifier(estimator):
            return _classified(estimator, rows, event)
    except NotFittedError:
        message = f"the {type(estimator).__name__} is not fitted"
        raise UsageError.of("not-fitted", message, "call its fit(X, y) first, on other rows than these") from None
    except (ValueError, TypeError, AttributeError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        message = f"the {type(estimator).__name__} cannot predict these rows: {reason}"
        raise UsageError.of("cannot-predict", message, AS_FITTED) from error
    message = f"{type(estimator).__name__} is neither a classifier nor a regressor of scikit-learn"
    raise UsageError.of("wrong-estimator", message, "give its predictions to evalpipe.evaluate")


def _predicted_outcome(estimator: Any, rows: Any) -> Any:
    """Return an estimator's predictions for the rows, [n]; raises UsageError where it predicts several outcomes."""
    predicted = np.asarray(estimator.predict(rows))
    if predicted.ndim > 1 and predicted.shape[1] > 1:
        name, count = type(estimator).__name__, predicted.shape[1]
        message = f"the {name} predicts {count} outcomes of each row, and a card is of one"
        raise UsageError.of("several-outcomes", message, "give the predictions of each to evalpipe.evaluate")
    return predicted.reshape(len(predicted))


def _classified(
    estimator: Any, rows: Any, event: object
) -> tuple[dict[str, Any], str, dict[str, Any], dict[str, Any]]:
    """Return a classifier's entry in a spec, the task, the outcome's keys, and the columns of predictions by name.

    The columns are the predicted classes, and the probabilities; without these, of two classes, the scores.
    """
    predicted = _predicted_outcome(estimator, rows)
    probabilities = estimator.predict_proba(rows) if hasattr(estimator, "predict_proba") else None
    has_scores = probabilities is None and hasattr(estimator, "decision_function")
    scores = estimator.decision_function(rows) if has_scores else None
    model, columns = {"prediction": "prediction"}, {"prediction": predicted}
    levels = np.asarray(estimator.classes_).tolist()
    if len(levels) < BINARY_CLASSES:
        message = f"the {type(estimator).__name__} was fitted on one class, {levels[0]!r}, alone"
        raise UsageError.of("one-class", message, "fit it on rows of all classes")
    if len(levels) != BINARY_CLASSES:
        _refuse_event(event, f"the estimator has {len(levels)} classes")
        if probabilities is not None:
            model["probabilities"] = "p.{level}"
            columns |= {f"p.{level_text(level)}": probabilities[:, k] for k, level in enumerate(levels)}
        return model, "multiclass", {"levels": levels}, columns
    position = _event_position(levels, event)
    if probabilities is not None:
        model["probability"], columns["probability"] = "probability", probabilities[:, position]
    elif scores is not None:  # which rise with the second class
        model["score"], columns[SCORE] = SCORE, scores if position else -scores
    return model, "binary", {"event": event, "levels": levels}, columns


def _event_position(levels: list[Any], event: object) -> int:
    """Return the index of the event among two classes; raises UsageError where it is none of them."""
    listed = " and ".join(map(repr, levels))
    if event is None:
        raise UsageError.of("no-event", f"which of the classes {listed} is the event is not said",
                            f"give it, as in event={levels[-1]!r}")
    if event not in levels:
        near = closest(str(event), [str(level) for level in levels])
        hint = f"did you mean '{near}'?" if near else "name one of them"
        raise UsageError.of("unknown-level", f"the event {event!r} is none of the classes {listed}", hint)
    return levels.index(event)


def _refuse_event(event: object, why: str) -> None:
    """Raise UsageError where an event is given, which has no effect; ``why`` not."""
    if event is not None:
        raise UsageError.of("unused-event", f"'event' has no effect: {why}", "remove it")
