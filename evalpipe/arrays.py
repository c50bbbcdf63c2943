"""Evaluation of arrays, without files: the same engine behind a call, with problems that name its arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from evalpipe.base.levels import level_text
from evalpipe.base.origin import path_keys
from evalpipe.errors import EvalpipeError, Problem, UsageError

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.results import Results


Keys = Mapping[str, object]
"""Keys of a spec, or arrays by name. Both are anything that a caller may give: the spec and the data refuse what they
cannot use, in one place."""

TABLE_DIMENSIONS = 2
"""The dimensions of a table."""


def evaluate(
    truth: object, probability: object = None, *, task: str = "binary", event: str | bool | float | None = None,
    levels: Sequence[str | bool | float] | None = None, probabilities: object = None, score: object = None,
    scale: str | None = None, prediction: object = None, rate: object = None, exposure: object = None,
    loo_prediction: object = None, leverage: object = None, metrics: Sequence[str | Keys] | None = None,
    weight: object = None, weight_kind: str | None = None, cluster: object = None, slices: Keys | None = None,
    threshold: float | Keys | None = None, equivocal: float | Keys | None = None,
    prevalence: float | Keys | None = None, costs: Sequence[Keys] | None = None, profit: Keys | None = None,
    intervals: Keys | None = None, no_information: bool | Keys = False, compare: Keys | None = None,
    reference_rates: Sequence[Keys] | None = None, desirability: Sequence[Keys] | None = None,
    gates: Sequence[Keys] | None = None, engine: Keys | None = None, complete_case: str | None = None, seed: int = 0,
) -> Results:
    """Evaluate predictions held in arrays of one length: numpy, polars, pandas, lists, or Arrow PyCapsule objects.

    ``probability`` of the ``event``, ``score``, ``prediction`` (levels, numbers, or expected counts), ``rate`` (of a
    count, per unit of ``exposure`` [n]), ``loo_prediction`` and ``leverage`` (of a linear fit) are arrays [n], or
    mappings of model name to array; ``probabilities`` of all ``levels``, in their order, an array [n, K] or such a
    mapping; ``scale`` holds for every score; ``threshold`` is of the probability or, where no model gives one, of the
    scores in their own units;
    ``slices`` maps names to arrays [n] of levels, each a way to slice.
    The other arguments are the spec's keys. Raises SpecError, DataError or UsageError as a run does.
    """
    rows = {"truth": truth, "weight": weight, "exposure": exposure, "cluster": cluster}
    predictions = {"probability": probability, "score": score, "prediction": prediction, "rate": rate,
             "loo_prediction": loo_prediction, "leverage": leverage, "probabilities": probabilities}
    keys = {"task": task, "seed": seed, "metrics": metrics, "prevalence": prevalence, "costs": costs, "profit": profit,
            "intervals": intervals, "equivocal": equivocal, "threshold": threshold, "compare": compare, "gates": gates,
            "no_information": None if no_information is False else no_information, "desirability": desirability,
            "reference_rates": reference_rates, "engine": engine, "complete_case": complete_case}
    return _evaluated(rows, predictions, keys, event, levels, slices, scale, weight_kind)


def _evaluated(
    rows: Keys, predictions: Keys, keys: Keys, event: object, levels: Any, slices: Keys | None, scale: str | None,
    weight_kind: str | None,
) -> Results:
    """Evaluate arrays: ``rows`` by column, ``predictions`` by kind, under ``keys`` of the spec."""
    columns = _without_none(rows)
    columns |= _slices(slices, columns)
    levels = _as_list(levels)
    models, predicted = _models_and_columns(predictions, levels, scale)
    if not models:
        raise _no_predictions(str(keys["task"]))
    if isinstance(levels, str):
        raise UsageError.of("not-a-list", "'levels' is a text, not a list of levels", hint="give levels=[…, …]")
    _refuse_unused_arguments(models, {**keys, "scale": scale, "weight_kind": weight_kind}, columns)
    optional_keys: dict[str, object] = {
        **keys, "threshold": _threshold_of_raw_scores(keys["threshold"], models), "slices": [*(slices or ())] or None,
        "weight": _without_none({"column": "weight", "kind": weight_kind}) if "weight" in columns else None,
        **{name: name for name in ("cluster", "exposure") if name in columns},
    }
    spec = {
        # A dataset needs a path; its rows are given to the run under its name, so none is looked for.
        "evalpipe": 1, "name": "evaluation", "datasets": {"data": {"path": "memory"}}, "models": models,
        "outcome": _without_none({"column": "truth", "event": event, "levels": levels}), "report": {"formats": []},
        **_without_none(optional_keys),
    }
    arguments = _argument_names(models, levels)
    return _run(_lists_and_dicts(spec), table(columns | predicted, arguments), arguments)


def _refuse_unused_arguments(models: Mapping[str, Keys], keys: Keys, columns: Keys) -> None:
    """Raise UsageError where an argument among ``keys`` has no effect.

    That depends on the entries of ``models`` in the spec, by name, and on the arrays in ``columns``.
    """
    has_score = any("score" in model for model in models.values())
    all_give_classes = str(keys["task"]) == "binary" and all("prediction" in model for model in models.values())
    reasons = {  # of each argument: why it may have no effect, the way out, and whether it is so
        "scale": ("there is no 'score'", "give the scores as score=…, or remove it", not has_score),
        "weight_kind": ("there is no 'weight'", "give weight=…, or remove it", "weight" not in columns),
        "threshold": ("'prediction' gives the predicted classes", "remove one of the two",
                      all_give_classes and not isinstance(keys["threshold"], Mapping)),  # a rule gets its own error
    }
    problems = [Problem(f"unused-{key.replace('_', '-')}", f"'{key}' has no effect: {why}", hint=hint)
                for key, (why, hint, unused) in reasons.items() if unused and keys[key] is not None]
    if problems:
        raise UsageError(*problems)


def _run(spec: Mapping[str, object], frame: pl.DataFrame, arguments: Mapping[str, str]) -> Results:
    """Run a spec on the columns of ``frame``; errors name ``arguments`` of the call in place of these columns."""
    from evalpipe.run import run

    try:
        return run(spec, frames={"data": frame})
    except EvalpipeError as error:
        raise type(error)(*(_in_arguments(problem, arguments) for problem in error.problems)) from None


def _argument_names(models: Mapping[str, Keys], levels: Sequence[object] | None) -> dict[str, str]:
    """Return the argument of `evaluate` that messages name for each column: "score['a']" for "a.score".

    A kind is the name of an argument with predictions; the only model is not named.
    """
    is_single = list(models) == ["model"]
    arguments = {name: name for name in ("truth", "weight", "exposure", "cluster")}
    for name, model in models.items():
        for kind in model:
            argument = kind if is_single or kind == "scale" else f"{kind}[{name!r}]"
            arguments |= dict.fromkeys((f"{name}.{kind}", _column(name, kind)), argument)
            if kind == "probabilities":
                arguments |= {f"{_column(name, 'probability')}.{level_text(level)}": f"{argument}[:, {index}]"
                          for index, level in enumerate(levels or ())}
    return arguments


def _no_predictions(task: str) -> UsageError:
    """Return the error of a call without predictions, with the arguments that a task takes."""
    arguments = {"binary": "probability=…, score=… or prediction=…", "regression": "prediction=…",
             "count": "prediction=…, or rate=… with exposure=…"}
    hint = f"give {arguments.get(task, 'probabilities=… or prediction=…')}"
    return UsageError.of("no-predictions", "there are no predictions to evaluate", hint)


def _without_none(mapping: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in mapping.items() if value is not None}


def _slices(slices: object, used_names: Mapping[str, object]) -> dict[str, object]:
    """Return the columns to slice by; raises UsageError for names that are no text, or among ``used_names``."""
    if slices is None:
        return {}
    if not isinstance(slices, Mapping):
        message = f"'slices' is a value of type {type(slices).__name__}, not a mapping of names to arrays"
        raise UsageError.of("not-a-mapping", message, hint="name each array: slices={'group': values}")
    for name in slices:
        if not isinstance(name, str) or not name:
            message = f"slices cannot be called {name!r}: the name is no text"
            raise UsageError.of("bad-name", message, hint="name each array by a text: slices={'group': values}")
        if name in used_names:
            hint = "give the array another name"
            raise UsageError.of("taken-name", f"slices cannot be called '{name}'", hint)
    return dict(slices)


def _models_and_columns(
    predictions: Keys, levels: object, scale: str | None
) -> tuple[dict[str, dict[str, object]], dict[str, object]]:
    """Return the spec's entries of models by name, and the columns of their predictions by name.

    ``predictions`` are the arguments of `evaluate` by name, "score" or another kind: an array, or arrays by model.
    """
    models: dict[str, dict[str, object]] = {}
    columns: dict[str, object] = {}
    for kind, arrays in predictions.items():
        for name, values in _by_model(arrays).items():
            column = _column(name, kind)
            if kind == "probabilities":
                columns |= _by_level(name, values, levels)
                column = _column(name, "probability") + ".{level}"
            else:
                columns[column] = values
            models.setdefault(name, {})[kind] = column
            if kind == "score" and scale is not None:
                models[name]["scale"] = scale
    return models, columns


def _threshold_of_raw_scores(threshold: object, models: dict[str, dict[str, object]]) -> object:
    """Move a numeric threshold into the models where all have raw scores; return what is left for the spec's key."""
    if threshold is None or isinstance(threshold, Mapping):
        return threshold
    score_models = [model for model in models.values() if "score" in model and "prediction" not in model]
    if not score_models or any({"probability", "scale"} & set(model) for model in models.values()):
        return threshold
    for model in score_models:
        model["threshold"] = threshold
    return None


def _by_level(name: str, table: Any, levels: object) -> dict[str, object]:
    """Split the probabilities of a model [n, K] into a column for each level."""
    import numpy as np

    try:
        values, shape = np.asarray(table), f"are of shape {list(np.shape(table))}"
    except (TypeError, ValueError):
        values, shape = np.empty(0), "are rows of different lengths"
    if not isinstance(levels, list) or values.ndim != 2 or values.shape[1] != len(levels):
        expected = f"[n, {len(levels)}]" if isinstance(levels, list) else "[n, K] with a column for each of the levels"
        message = f"probabilities of '{name}' {shape}, not {expected}"
        hint = "give a column of probabilities for each of 'levels', in their order" if levels is not None else (
            "name the levels, in the order of the columns, as levels=[…]; of a binary outcome, give the probability of "
            "the event alone as probability=…")
        raise UsageError.of("not-a-table", message, hint=hint)
    return {f"{_column(name, 'probability')}.{level_text(level)}": values[:, k] for k, level in enumerate(levels)}


def _column(model: str, kind: str) -> str:
    """Return the column name of a model's predictions of a kind, without "{level}", which would make it a pattern."""
    return f"{model}.{kind}".replace("{level}", "(level)")


def _as_list(values: Any) -> Any:
    """Return an array or another series of levels as a list; other values unchanged, for the spec to refuse."""
    if values is None or isinstance(values, str | bytes | Mapping):
        return values
    try:
        return [*values]
    except TypeError:
        return values


def _by_model(predictions: object) -> dict[str, object]:
    """Return predictions by the model's name: "model" for a single array; none for None."""
    if predictions is None:
        return {}
    return dict(predictions) if isinstance(predictions, Mapping) else {"model": predictions}


def _lists_and_dicts(value: Any) -> Any:
    """Return a value with all sequences and mappings in it as lists and dicts, as a spec has them."""
    if isinstance(value, Mapping):
        return {key: _lists_and_dicts(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_lists_and_dicts(item) for item in value]
    return value


def table(columns: Mapping[str, object], arguments: Mapping[str, str]) -> pl.DataFrame:
    """Return arrays as a table with these ``columns``; messages call them by ``arguments``, names by column."""
    import polars as pl

    series = [_series(name, values, arguments.get(name, name)) for name, values in columns.items()]
    lengths = {column.name: len(column) for column in series}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{arguments.get(name, name)} {length:,}" for name, length in lengths.items())
        message = f"the arrays have different lengths: {listed}"
        raise UsageError.of("lengths", message, hint="give one value a row")
    return pl.DataFrame(series)


def _series(name: str, values: Any, argument: str) -> pl.Series:
    """Return an array as a column; raises UsageError, which names the ``argument``, for what is none."""
    import polars as pl

    if hasattr(values, "to_numpy") and not isinstance(values, pl.Series) and not hasattr(values, "__arrow_c_array__"):
        # A pandas column has the Arrow interface only where pyarrow is installed; its numpy form always works. An array
        # of Arrow has none without a copy where it holds texts, truth values or nulls.
        values = values.to_numpy()
    # Such an array holds the NaN, NA or NaT of pandas among its values; polars knows None alone as missing.
    if str(getattr(values, "dtype", "")) == "object" and values.ndim == 1:
        values = [None if _is_missing(value) else value for value in values]
    try:
        series = pl.Series(name, values).rename(name)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        floats = _floats(values)
        if floats is None:
            kinds = sorted({type(value).__name__ for value in values}) if isinstance(values, list | tuple) else []
            reason = f"its entries are of type {' and '.join(kinds)}" if kinds else str(error).partition("\n")[0]
            raise _not_a_column(argument, values, reason) from None
        series = pl.Series(name, floats)
    if series.dtype.is_nested():
        raise _not_a_column(argument, values, f"its entries are of type {series.dtype.base_type()}")
    return series


def _floats(values: object) -> list[float | None] | None:
    """Return a list of numbers as floats; None for other values, or where a number is too large for a float."""
    if not isinstance(values, list | tuple) or not all(isinstance(value, Real | None) for value in values):
        return None
    try:
        return [None if value is None else float(value) for value in values]
    except OverflowError:
        return None


def _is_missing(value: object) -> bool:
    """Tell whether an object stands for a missing value: None, NaN, or the NA and NaT of pandas."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, float) and value != value)  # noqa: PLR0124 - NaN alone differs from itself


def _not_a_column(argument: str, values: Any, reason: str) -> UsageError:
    """Return the error of an argument that is no array of shape [n], with the ``reason`` or its shape."""
    import numpy as np

    kind, bracket, _ = argument.partition("[")
    called = argument if bracket else f"'{argument}'"
    try:
        shape = np.shape(values)
    except ValueError:
        shape = ()
    if len(shape) < TABLE_DIMENSIONS:
        reason = reason if shape or isinstance(values, list | tuple) else f"it is of type {type(values).__name__}"
        message = f"{called} is not an array of values: {reason}"
        return UsageError.of("not-a-column", message, hint="give one value a row, in an array of shape [n]")
    message = f"{called} is of shape {list(shape)}, not [n]"
    return UsageError.of("not-a-column", message, hint=_column_hint(kind, shape))


def _column_hint(kind: str, shape: tuple[int, ...]) -> str:
    """Return a hint for an argument of a wrong shape: which of its columns, or which argument, was probably meant."""
    if len(shape) == TABLE_DIMENSIONS and shape[1] == 1:
        return "give its only column: array[:, 0]"
    if kind == "probability" and len(shape) == TABLE_DIMENSIONS:
        several = "; of more than two levels, give probabilities=… with levels=[…] in the order of the columns"
        return ("give the event's column alone: predict_proba(X)[:, 1] where the event is the second of the model's "
                f"classes_{several if shape[1] > TABLE_DIMENSIONS else ''}")
    if kind in ("truth", "prediction") and len(shape) == TABLE_DIMENSIONS:
        return "give one value a row; of a column for each level, the level: such as array.argmax(axis=1)"
    return "give one value a row, in an array of shape [n]"


_KEYS = {
    "outcome.event": "event", "outcome.levels": "levels", "outcome.column": "truth", "weight.kind": "weight_kind",
    "weight.column": "weight", "exposure.column": "exposure",
}
"""Keys of the spec that are arguments of another name."""

PHRASES = {
    r"with where: '.*'": "of every array",
    r", or leave those out with 'where'": ", or leave those out of every array",
    r"merge them in the data, or choose two with 'where'": "merge them, or leave the rows of the others out",
    r"declare the two under outcome\.levels": "give the two as levels=[…]",
    r"list both under outcome\.levels": "list both in levels",
    r"not among outcome\.levels": "not among levels",
    r"costs name levels, but 'outcome\.levels' is missing": "costs name levels, but 'levels' is missing",
    r"add 'levels: \[…, …\]' to the outcome": "give levels=[…, …]",
    r"(outcome: )?missing key '(event|levels)'": r"missing argument '\2'",
    r"^add '(event|levels): …' here": r"give \1=…",
    r"name the column under 'score' and add 'scale: logit'": "give them as score=…, with scale='logit'",
    r"add 'scale: percent' to the model": "divide them by 100",
    r"name the column under 'scores'": "turn them into probabilities by the softmax function first",
    r", or set 'renormalise: true' to divide by their sum": ", or divide each row by its sum",
    r"name the columns of all levels under 'probabilities'": "give an array of shape [n, K] as probabilities=…",
    r"name the column of the predicted number under 'prediction'": "give the predicted numbers as prediction=…",
    r"^the model '.*' has no 'prediction'": "there is no 'prediction'",
    r"^add 'prediction: …'": "give prediction=…",
    r"the model 'model' gives a rate, but no exposure is declared": "there is a rate, but no exposure",
    r"name the column of the expected count of each row under 'prediction'": "give the expected counts as prediction=…",
    r"with 'complete_case: all' at the top of the spec": "with complete_case='all'",
    r"for other weights write kind: importance": "for other weights give weight_kind='importance'",
    r"name a column of 'probability', or add a 'scale' to the score": "give probability=…, or a scale=… with the score",
    r"or give the model a 'scale', a 'threshold' or a 'prediction'": "or give scale=…, threshold=… or prediction=…",
    r"or name their column under 'loo_prediction'": "or give loo_prediction=…",
    r", or the leverages of a linear fit under 'leverage'": " or leverage=…",
    r"give a dataset 'role: calibrate', or cross-fit: \{folds: 10\}": "cross-fit: on={'folds': 10}",
    r"no dataset is called '(.*)'": r"there are no rows called '\1'",
    r"add 'compare: \{baseline: …\}' to the spec": "give compare={'baseline': …}",
    r"add '(\w+): (.*)' to the spec": r"give \1=\2",
    r"^add it under 'characteristics' of .*": "remove this goal: models given as arrays have no characteristics",
    r"^dataset 'data' has no rows": "the arrays are empty",
    r"^write it again: it has names of columns, and no row$": "give one value a row",
    r"use 'task: regression'": "give task='regression'",
    r"write it as a column of numbers": "give an array of numbers",
}
"""Replacements of phrases about a spec in messages and hints, by pattern, where there is no spec but a call."""


def _in_arguments(problem: Problem, arguments: Mapping[str, str]) -> Problem:
    """Return a problem that names arguments of the call in place of columns and keys of a spec."""
    notes = []
    for note in problem.notes:
        path = re.fullmatch(r"named at the spec, (.*)", note)
        notes.append(_without_spec(note) if path is None else f"argument {_argument(path[1], arguments)}")
    return replace(problem, message=_message(problem.message, arguments), notes=tuple(notes), place=None,
                   hint=None if problem.hint is None else _without_spec(problem.hint))


def _message(text: str, arguments: Mapping[str, str]) -> str:
    """Return a message with arguments in place of the path in the spec it begins with, and of columns in it."""
    path = re.match(r'([a-z_]+(?:[\w.\[\] -]|"(?:[^"]|"")*")*): ', text)
    if path is not None:
        argument = _argument(path[1], arguments)
        text = f"{argument}: {text[path.end():]}" if argument else text[path.end():]
    # The longest first, for the name of a column may begin with that of another.
    names = "|".join(re.escape(column) for column in sorted(arguments, key=len, reverse=True))
    text = re.sub(rf"(the (outcome|prediction|weight|exposure|cluster) )?column '({names}|.*?)'( of dataset 'data')?",
                  lambda match: name if "[" in (name := arguments.get(match[3], match[3])) else f"'{name}'", text)
    return _without_spec(text).replace(" of dataset 'data'", "").replace("of model 'model' ", "")


def _argument(path: str, arguments: Mapping[str, str]) -> str:
    """Return the argument of `evaluate` that corresponds to a path in the spec, such as 'models.a.score', for an error.

    Empty where no single argument does: 'outcome', 'models', or one model. ``arguments`` has the names of arguments by
    model and kind of column, such as "a.score"; for other columns of models the kind, "score", is the argument.
    """
    # Keys of the spec that an argument has another name for.
    renamed_key = next((key for key in _KEYS if path.startswith(key)), None)
    if renamed_key is not None:
        return _KEYS[renamed_key] + path.removeprefix(renamed_key)
    if path == "outcome":
        return ""
    if re.match(r"models(\.|$)", path) is None:  # another key of the spec is an argument of the same name
        return path
    _, *names = path_keys(path)  # of the model, and of the kind of its column
    return arguments.get(f"{names[0]}.{names[-1]}", names[-1]) if len(names) > 1 else ""


def _without_spec(text: str) -> str:
    """Replace the `PHRASES` about a spec in a message or a hint."""
    for pattern, instead in PHRASES.items():
        text = re.sub(pattern, instead, text)
    return text
