"""How a recalibrator is declared: a class that fits parameters and applies them, with what people should know of it.

``fit`` takes a `Training`; its keyword-only parameters are the options a user may set in the spec, with pydantic types.
``apply`` maps predictions by the parameters alone, which are plain JSON: what was written and read again gives the same
bytes. The class inherits from `RecalibrationMethod`, which says what else it may tell. The decorator has the words of a
card and of the documentation, so that a recalibrator is added in one place.
"""

from __future__ import annotations

import inspect
import json
import keyword
import math
import re
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from evalpipe.arithmetic import expit, softmax
from evalpipe.base.lazy_numpy import np
from evalpipe.tasks import Task
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Values

Parameters = dict[str, Any]
Shapes = Mapping[str, str | tuple[str, ...]]
ActsOn = Literal["log_odds", "order", "probability"]


class Unfit(Exception):  # noqa: N818 - a finding about the data, not a fault
    """A recalibrator cannot be fitted to these rows; the text says why, fit to follow "cannot be fitted: "."""


class RecalibrationMethod(ABC):
    """The base of recalibration methods: how a fit is applied and described; a method overrides what differs."""

    of_scores: ClassVar[bool] = False
    """Whether it makes probabilities of a raw score, a rank on any scale, as well as of probabilities."""

    @staticmethod
    @abstractmethod
    def apply(parameters: Parameters, prediction: Floats) -> Floats:
        """Return recalibrated predictions of the same shape as ``prediction``: [n], or [n, K] of K levels."""

    @staticmethod
    def acts_on(parameters: Parameters) -> ActsOn:  # noqa: ARG004 - one signature for all
        """Return what the map takes where a model gives scores: "probability" by default, "log_odds" or "order".

        "log_odds": the log odds, which ``log_odds(parameters, log_odds)`` maps to others. "order": scores serve as
        well as probabilities, for only their order counts.
        """
        return "probability"

    @staticmethod
    def direction(parameters: Parameters) -> float | None:  # noqa: ARG004 - one signature for all
        """Return a number above 0 where the map rises everywhere, below where it falls, 0 where it is constant.

        None where it may have steps, so that equal results are ties.
        """
        return None

    @staticmethod
    def clips(parameters: Parameters, prediction: Floats) -> int:  # noqa: ARG004 - one signature for all
        """Return the number of rows whose probability of 0 or 1 is clipped before a logarithm: 0 by default."""
        return 0

    @staticmethod
    def check(parameters: Parameters) -> str | None:  # noqa: ARG004 - one signature for all
        """Return what is wrong with parameters read from a file, beyond their shapes; None where nothing is."""
        return None


@dataclass(frozen=True)
class Training:
    """The rows a recalibrator learns from, n of them.

    ``truth`` [n]: whether a row is an event, the index of its level, or its number. ``prediction``: [n] probabilities
    of the event, [n, K] probabilities of the levels, or [n] numbers. ``weight`` [n], all above 0. ``resampled`` returns
    the weights of a number of bootstrap resamples of these rows, in batches [b, n]. ``score``: the source of the
    probabilities, log odds [n] of the event or, up to a constant a row, of the levels [n, K]; None where the model
    gives probabilities themselves. It tells predictions apart that round to the same probability. ``raw`` says that
    the score only ranks rows, and that ``prediction`` is this score too, and no probability.
    """

    truth: Values
    prediction: Floats
    weight: Floats
    resampled: Callable[[int], Iterable[Floats]]
    score: Floats | None = None
    raw: bool = False

    def ordering(self) -> Floats:
        """Return the scores, or else the predictions, for a method that depends only on their order."""
        return self.prediction if self.score is None else self.score


@dataclass(frozen=True)
class Fitted:
    """A fitted recalibrator: its method, options and parameters, all plain JSON.

    ``clipped`` counts the rows it was fitted to whose probability was moved off 0 or 1 for a logarithm.
    """

    method: str
    options: dict[str, Any]
    parameters: Parameters
    clipped: int = 0

    def __call__(self, prediction: Floats | None, score: Floats | None = None) -> Floats:
        """Return recalibrated predictions, [n] or [n, K], of the same shape as ``prediction``.

        ``score`` is the source of the probabilities, as in the `Training`, or None; a method that takes it needs no
        ``prediction``. Raises ValueError where the fit was for another number of levels.
        """
        log_odds = self.log_odds(score)
        if log_odds is not None:
            return np.asarray(expit(log_odds)) if log_odds.ndim == 1 else softmax(log_odds)
        argument = score if score is not None and self.acts_on == "order" else prediction
        return np.asarray(registry[self.method].method.apply(self.parameters, np.asarray(argument, float)), float)

    @property
    def acts_on(self) -> ActsOn:
        """The input of the map where there are scores: "log_odds", "order" (of scores), or "probability"."""
        return registry[self.method].method.acts_on(self.parameters)

    @property
    def direction(self) -> int | None:
        """1 where the map rises everywhere, -1 where it falls, 0 where it is constant; None where it may have steps."""
        direction = registry[self.method].method.direction(self.parameters)
        return None if direction is None else int(np.sign(direction))

    def log_odds(self, score: Floats | None) -> Floats | None:
        """Return the recalibrated log odds of scores, of levels up to a constant; None where the method has none."""
        if score is None or self.acts_on != "log_odds":
            return None
        method: Any = registry[self.method].method
        return np.asarray(method.log_odds(self.parameters, np.asarray(score, float)), float)

    def clips(self, prediction: Floats, score: Floats | None = None) -> int:
        """Return how many of these rows have a probability that is clipped for a logarithm."""
        if score is not None and self.acts_on == "log_odds":
            return 0
        return registry[self.method].method.clips(self.parameters, np.asarray(prediction, float))


@dataclass(frozen=True)
class Recalibrator:
    """One declared recalibrator. Built by `recalibrator`; everything that lists, checks or prints them reads it.

    ``text`` says in a sentence or two of a card what it does, ``reference`` who says so.
    """

    name: str
    title: str
    text: str
    reference: str
    tasks: frozenset[Task]
    method: type[RecalibrationMethod]
    shapes: Shapes | None

    @property
    def definition(self) -> str:
        """What the method does, in words: the docstring of its class."""
        return " ".join((inspect.getdoc(self.method) or "").split())

    @cached_property
    def options(self) -> type[BaseModel]:
        """The pydantic model of the options: frozen, strict about unknown keys."""
        fit = typing.cast("Any", self.method).fit
        hints = typing.get_type_hints(fit, include_extras=True)
        parameters = inspect.signature(fit).parameters.values()
        fields: dict[str, Any] = {  # a parameter named as a keyword of Python, such as `from`, has a "_" at its end
            p.name.removesuffix("_"): (hints[p.name], p.default)
            for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY
        }
        config = ConfigDict(extra="forbid", frozen=True, strict=True)
        return create_model(f"{self.name}_options", __config__=config, **fields)

    def fit(self, training: Training, **options: Any) -> Fitted:
        """Fit to the rows; raises `Unfit` where that is impossible, ValueError where an option is wrong."""
        chosen = self._validated(options)
        # The option "from" is the parameter "from_", as it is a keyword of Python.
        keywords = {f"{name}_" if keyword.iskeyword(name) else name: value for name, value in chosen.items()}
        learnt = typing.cast("Any", self.method).fit(training, **keywords)
        fitted = Fitted(self.name, chosen, {name: _plain(value) for name, value in learnt.items()})
        return replace(fitted, clipped=fitted.clips(training.prediction, training.score))

    def fault(self, parameters: Any) -> str | None:
        """Return what is wrong with the names, shapes or values of parameters read from a file; else None."""
        wrong_shape = None if self.shapes is None else _shape_fault(self.shapes, parameters)
        return wrong_shape or self.method.check(parameters)

    def _validated(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with defaults filled in; raises ValueError where one is wrong."""
        try:
            return self.options(**options).model_dump()
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{self.name}: option {place}: {first['msg']}") from error


_declared: dict[str, Recalibrator] = {}

registry: Mapping[str, Recalibrator] = MappingProxyType(_declared)
"""Every recalibrator by name, in the order of declaration."""


def recalibrator(
    *, title: str, text: str, tasks: tuple[Task, ...], ref: str, parameters: Shapes | None, name: str | None = None
) -> Callable[[type[RecalibrationMethod]], Recalibrator]:
    """Declare the decorated class as a recalibrator, under ``name``, or its own in small letters with underscores.

    ``title`` and ``text`` are its words; ``ref`` is the source (author, year). ``parameters`` gives the shape of each:
    a string with a letter for each axis, where one letter means one length, or the words it may be; None where
    ``check`` knows. Raises ValueError when the name is taken.
    """

    def declare(method: type[RecalibrationMethod]) -> Recalibrator:
        key = name or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", method.__name__).lower()
        if key in _declared:
            raise ValueError(f"the name {key!r} of a recalibrator is taken")
        _declared[key] = Recalibrator(key, title, text, ref, frozenset(tasks), method, parameters)
        return _declared[key]

    return declare


def fitted_from(method: str, options: Mapping[str, Any], parameters: Mapping[str, Any], clipped: int = 0) -> Fitted:
    """Return the fitted recalibrator that these values, read from JSON, describe.

    Raises ValueError, with a text that names the method and what is wrong, for an unknown method or option and for
    parameters that are missing, unknown, not finite or of the wrong shape.
    """
    if method not in registry:
        near = closest(str(method), registry)
        raise ValueError(f"no recalibrator is called {method!r}" + (f"; did you mean {near!r}?" if near else ""))
    entry = registry[method]
    chosen, fault = entry._validated(options), entry.fault(parameters)  # noqa: SLF001 - this function is its other half
    if fault is not None:
        raise ValueError(f"{method}: {fault}")
    return Fitted(method, chosen, dict(parameters), clipped)


def _shape_fault(shapes: Shapes, parameters: object) -> str | None:
    """Return what is wrong with the names or the shapes of parameters; None where nothing is."""
    if not isinstance(parameters, Mapping):
        return f"the parameters are {parameters!r}, which is no map"
    for word, names in (("lacks", set(shapes) - set(parameters)), ("knows no", set(parameters) - set(shapes))):
        if names:
            return f"{word} the parameter {min(names)!r}" if word == "lacks" else f"{word} parameter {min(names)!r}"
    lengths: dict[str, int] = {}
    faults = (_value_fault(name, shape, parameters[name], lengths) for name, shape in shapes.items())
    return next((fault for fault in faults if fault is not None), None)


def _value_fault(name: str, shape: str | tuple[str, ...], value: object, lengths: dict[str, int]) -> str | None:
    """Return what is wrong with a parameter's value for its shape; ``lengths`` collects the length of each axis.

    A ``shape`` is the words that the value may be, or a letter for each axis, where one letter means one length.
    """
    if isinstance(shape, tuple):
        return None if value in shape else f"{name} is {value!r}, which is none of {', '.join(shape)}"
    if not shape:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return None if is_number else f"{name} holds {_shown(value)}, which is no finite number"
    if not isinstance(value, list) or not value:
        return f"{name} holds {_shown(value)}, which is no list of values"
    if len(value) != lengths.setdefault(shape[0], len(value)):
        return f"{name} has {len(value)} values, and {lengths[shape[0]]} belong there"
    return next((fault for part in value if (fault := _value_fault(name, shape[1:], part, lengths)) is not None), None)


def _shown(value: object) -> str:
    """Return a value read from a file as JSON, cut to 40 characters."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _plain(value: object) -> object:
    """Return a value as plain JSON holds it: numpy's arrays and numbers as lists and Python's numbers, -0 as 0."""
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(np.asarray(value) + 0).tolist()
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
