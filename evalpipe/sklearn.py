"""A card of a fitted scikit-learn estimator: its predictions on rows, evaluated as any others are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.arrays import table
from evalpipe.errors import UsageError
from evalpipe.levels import level_text
from evalpipe.spelling import closest

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from evalpipe.results import Results

TWO = 2
"""Classes of a binary outcome."""


def card(
    estimator: Any, X: Any, y: Any, *, event: str | bool | float | None = None,  # noqa: N803 - as scikit-learn names it
    out: str | os.PathLike[str] | None = None, columns: Mapping[str, Any] | None = None, **keys: Any,
) -> Results:
    """Evaluate a fitted classifier or regressor on rows ``X`` with outcomes ``y`` [n], and return the results.

    With ``out`` the output folder is written too, with the card. Of two classes, ``event`` names the one that is
    predicted; it is never guessed. ``columns`` are further arrays [n] by name that keys of the spec refer to, such as
    those of ``slices``, ``cluster`` or ``weight``; ``keys`` are keys of the spec, such as ``metrics`` or ``gates``.
    Raises UsageError where scikit-learn is not installed, the estimator is not fitted or no classifier or regressor,
    or the event is not named; SpecError and DataError as a run does.
    """
    from evalpipe.run import run

    model, task, outcome, predictions = _predicted(estimator, X, event)
    frame = table({"truth": y, **predictions, **(columns or {})}, {"truth": "y"})
    name = type(getattr(estimator, "steps", [(None, estimator)])[-1][1]).__name__
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": name, "task": task, "outcome": {"column": "truth", **outcome},
        "datasets": {"data": {"path": "memory"}}, "models": {name: model}, **keys}
    return run(spec, out=out, frames={"data": frame})


def _predicted(
    estimator: Any, rows: Any, event: object
) -> tuple[dict[str, Any], str, dict[str, Any], dict[str, Any]]:
    """Return the model as a spec has it, the task, the keys of the outcome, and the columns of the predictions."""
    try:
        from sklearn.base import is_classifier, is_regressor
        from sklearn.exceptions import NotFittedError
    except ModuleNotFoundError:
        message = "evalpipe.sklearn needs the library scikit-learn, which is not installed"
        raise UsageError.of("missing-library", message, "pip install scikit-learn") from None
    try:
        if is_regressor(estimator):
            _refuse_event(event, "a regressor predicts numbers")
            return {"prediction": "prediction"}, "regression", {}, {"prediction": estimator.predict(rows)}
        if is_classifier(estimator):
            return _classified(estimator, rows, event)
    except NotFittedError:
        message = f"the {type(estimator).__name__} is not fitted"
        raise UsageError.of("not-fitted", message, "call its fit(X, y) first, on other rows than these") from None
    message = f"{type(estimator).__name__} is neither a classifier nor a regressor of scikit-learn"
    raise UsageError.of("wrong-estimator", message, "give its predictions to evalpipe.evaluate")


def _classified(
    estimator: Any, rows: Any, event: object
) -> tuple[dict[str, Any], str, dict[str, Any], dict[str, Any]]:
    """Return the same of a classifier: probabilities where it gives them, else scores, else its classes."""
    chances = estimator.predict_proba(rows) if hasattr(estimator, "predict_proba") else None
    scores = estimator.decision_function(rows) if chances is None and hasattr(estimator, "decision_function") else None
    given = {"prediction": "prediction"}, {"prediction": estimator.predict(rows)}
    levels = estimator.classes_.tolist()
    if len(levels) != TWO:
        _refuse_event(event, f"the estimator has {len(levels)} classes")
        if chances is not None:
            columns = {f"p.{level_text(level)}": chances[:, place] for place, level in enumerate(levels)}
            given = {"probabilities": "p.{level}"}, columns
        return given[0], "multiclass", {"levels": levels}, given[1]
    place = _place(levels, event)
    if chances is not None:
        given = {"probability": "probability"}, {"probability": chances[:, place]}
    elif scores is not None:
        given = {"score": "score"}, {"score": scores if place else -scores}
    return given[0], "binary", {"event": event, "levels": levels}, given[1]


def _place(levels: list[Any], event: object) -> int:
    """Return the place of the event among two classes; raises UsageError where it is none of them."""
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
    if event is not None:
        raise UsageError.of("unused-event", f"'event' has no effect: {why}", "remove it")
