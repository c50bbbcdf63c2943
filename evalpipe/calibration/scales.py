"""What recalibration methods share: rows at distinct predictions, what methods of one scale share, and Newton's method.

Ties and the order of rows change nothing. Methods act on the log odds, choose their scale, or use order alone. No
library splits the sums of a likelihood among threads.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from evalpipe import arithmetic
from evalpipe.arithmetic import expit, log, log_expits
from evalpipe.base.constants import LOG_ODDS_CLIP
from evalpipe.base.lazy_numpy import np
from evalpipe.calibration.declare import ActsOn, Parameters, RecalibrationMethod, Training, Unfit

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Values, Wholes


class Events(NamedTuple):
    """Distinct predictions ascending and the weight of events and of others at each, all [m]."""

    at: Floats
    events: Floats
    others: Floats

    @property
    def total(self) -> Floats:
        """The weight at each distinct prediction."""
        return self.events + self.others


class WeightedTruths(NamedTuple):
    """Distinct predictions ascending, the total of weight times truth and the weight at each, all [m]."""

    at: Floats
    sums: Floats
    total: Floats


class Runs(NamedTuple):
    """The order [n] that sorts rows by prediction and where each distinct prediction, in ``at`` [m], starts in it."""

    order: Wholes
    starts: Wholes
    at: Floats

    def totals(self, values: Values) -> Floats:
        """Return the totals [..., m] at each distinct prediction of values of rows [..., n]."""
        ordered = np.asarray(values)[..., self.order]
        tied = len(self.starts) < len(self.order)
        return np.asarray(np.add.reduceat(ordered, self.starts, axis=-1) if tied else ordered, float)


def clipped(probability: Floats) -> Floats:
    """Return probabilities with those nearer than `LOG_ODDS_CLIP` to 0 or 1 moved that far away."""
    return np.asarray(np.clip(np.asarray(probability, float), LOG_ODDS_CLIP, 1 - LOG_ODDS_CLIP))


def rows_clipped(probability: Floats) -> int:
    """Return how many rows, [n] or [n, K], have a probability that `clipped` moves."""
    moved = (probability < LOG_ODDS_CLIP) | (probability > 1 - LOG_ODDS_CLIP)
    return int(np.count_nonzero(moved if moved.ndim == 1 else moved.any(axis=tuple(range(1, moved.ndim)))))


def logit(probability: Floats) -> Floats:
    """Return the log odds of probabilities, clipped first."""
    return np.asarray(arithmetic.logit(clipped(probability)))


def runs(prediction: Floats, truth: Values, weight: Floats) -> Runs:
    """Return the order that sorts rows by prediction and the runs of equal predictions in it.

    Equal predictions are sorted by truth and weight where the order could change the last bit of a sum. Sums of whole
    numbers are exact in any order, so that counting events costs one plain sort.
    """
    values, weight, truth = np.asarray(prediction, float) + 0.0, np.asarray(weight, float), np.asarray(truth)
    order = np.argsort(values)
    at = values[order]
    is_first = np.r_[True, at[1:] != at[:-1]]
    if not is_first.all() and not (truth.dtype.kind == "b" and np.array_equal(weight, np.rint(weight))):
        order = np.lexsort((weight, truth, values))
    starts = np.flatnonzero(is_first)
    return Runs(order, starts, at[starts])


def events_of(training: Training, prediction: Floats | None = None) -> Events:
    """Return the weight of events and others at each distinct prediction, or value of ``prediction`` instead.

    Raises `Unfit` where all rows are events or none is.
    """
    return totals_of_events(training, runs(training.prediction if prediction is None else prediction,
                                           training.truth, training.weight))


def events_by_log_odds(training: Training) -> Events:
    """Return the weight of events and others at each distinct log odds: scores, or else of `clipped` probabilities."""
    if training.score is not None:
        return events_of(training, training.score)
    table = events_of(training, clipped(training.prediction))
    return table._replace(at=logit(table.at))


def totals_of_events(training: Training, tied: Runs) -> Events:
    """Return the weight of events and others in runs of equal predictions; raises `Unfit` where a class is absent."""
    event, weight = np.asarray(training.truth, bool), np.asarray(training.weight, float)
    if event.all() or not event.any():
        raise Unfit("all rows are events" if event.all() else "no row is an event")
    return Events(tied.at, tied.totals(np.where(event, weight, 0.0)), tied.totals(np.where(event, 0.0, weight)))


def numbers_of(training: Training) -> WeightedTruths:
    """Return the total weight and weighted truth at each distinct prediction."""
    truth, weight = np.asarray(training.truth, float), np.asarray(training.weight, float)
    tied = runs(training.prediction, truth, weight)
    return WeightedTruths(tied.at, tied.totals(weight * truth), tied.totals(weight))


def require_distinct(at: Floats, least: int, purpose: str) -> None:
    """Raise `Unfit` where fewer than ``least`` predictions [m] are distinct, too few for ``purpose`` ("a line")."""
    if len(at) == 1 and least > 1:
        raise Unfit("all predictions are equal")
    if len(at) < least:
        raise Unfit(f"{len(at)} distinct predictions are too few for {purpose}")


def separated(table: Events, middle: float | None = None) -> bool:
    """Tell whether some cut, or the cut at ``middle``, separates all events from all others, but for rows at the cut.

    Then a logistic curve fits the better the steeper it is, and none fits best (Albert & Anderson 1984).
    """
    events, others = table.at[table.events > 0], table.at[table.others > 0]
    if middle is not None:
        return bool(events[0] >= middle >= others[-1])
    return bool(events[0] >= others[-1] or others[0] >= events[-1])


SCALES = ("logit", "probability", "score")
"""The words that the parameter ``on`` may be; a raw score is on none of the others."""


class OnEither(RecalibrationMethod):
    """A curve whose heights are log odds, over the log odds or the probability, as its parameter ``on`` says."""

    @staticmethod
    def acts_on(parameters: Parameters) -> ActsOn:
        """Return "log_odds" where the curve was fitted on log odds or scores (``on``), else "probability"."""
        return "log_odds" if parameters.get("on") in ("logit", "score") else "probability"

    @staticmethod
    @abstractmethod
    def log_odds(parameters: Parameters, at: Floats) -> Floats:
        """Return recalibrated log odds [n], the heights of the curve, of ``at`` on the scale that it is fitted on."""

    @classmethod
    def clips(cls, parameters: Parameters, prediction: Floats) -> int:
        """Count the rows whose probability is moved off 0 or 1, which a curve over the log odds needs."""
        return rows_clipped(prediction) if cls._on_logit(parameters) else 0

    @classmethod
    def apply(cls, parameters: Parameters, prediction: Floats) -> Floats:
        """Return recalibrated probabilities [n] of the event, from the model's or from raw scores."""
        return expit(cls.log_odds(parameters, logit(prediction) if cls._on_logit(parameters) else prediction))

    @classmethod
    def _on_logit(cls, parameters: Parameters) -> bool:
        """Tell whether the curve's input is the log odds of a probability, rather than a score or a probability."""
        return cls.acts_on(parameters) == "log_odds" and parameters.get("on") != "score"


class OnLogOdds(OnEither):
    """A method that is a function of the log odds, [n] of the event or [n, K] of the levels up to a constant."""

    @staticmethod
    def acts_on(parameters: Parameters) -> ActsOn:  # noqa: ARG004 - one signature for all
        """Return "log_odds": the map is always of log odds."""
        return "log_odds"


class OfOrder(RecalibrationMethod):
    """A method that sees the order of predictions alone: steps between levels ``value`` at predictions ``at``."""

    of_scores: ClassVar[bool] = True

    @staticmethod
    def acts_on(parameters: Parameters) -> ActsOn:  # noqa: ARG004 - one signature for all
        """Return "order": the map sees the order of predictions alone, of scores as well as of probabilities."""
        return "order"

    @staticmethod
    def check(parameters: Parameters) -> str | None:
        """Return what is wrong with levels read from a file; None where nothing is."""
        return fault_of_steps(parameters)


def fault_of_steps(parameters: Parameters) -> str | None:
    """Return what is wrong with steps: predictions ``at`` that do not ascend, or levels that fall; else None."""
    at, value = (np.asarray(parameters[name], float) for name in ("at", "value"))
    if not np.all(np.diff(at) > 0):
        return "at does not ascend"
    return None if bool(np.all(np.diff(value) >= 0)) else "value descends"


def events_on(training: Training, on: str) -> Events:
    """Return the weight of events and others at each distinct prediction, as log odds where ``on`` is "logit".

    Raises `Unfit` where a class is absent.
    """
    return events_by_log_odds(training) if on == "logit" else events_of(training)


SETTLED = 1e-16
"""The squared length of a last step, in units of log likelihood for each unit of weight."""

NEARLY = 1e-10
"""The squared length of a last step where digits are rounded away: the next step would be far below `SETTLED`."""

STEPS = 200
HALVINGS = 40

UNDETERMINED = "the predictions do not determine all coefficients"


class Slope(NamedTuple):
    """The gradient [k] and the information (minus the Hessian) [k, k] of a log likelihood, for a Newton step."""

    gradient: Floats
    information: Floats


def maximise(
    value: Callable[[Floats], float], slope: Callable[[Floats], Slope], start: Floats, weight: float,
    *, rough: bool = False,
) -> Floats:
    """Return the coefficients [k] at which a concave log likelihood is largest, to about the last bits.

    ``value`` returns the log likelihood, ``slope`` its derivatives. Steps are halved until the value does not fall;
    ``weight`` is the total of the rows, for the scale of the value. ``rough`` coefficients, to be rounded afterwards,
    are right to about ten digits, in half of the time. Raises `Unfit` where rows do not determine the coefficients.
    """
    settled = NEARLY if rough else SETTLED
    coefficients, best = start, value(start)
    for _ in range(STEPS):
        gradient, information = slope(coefficients)
        step = solve(information, gradient)
        gain = float(np.sum(gradient * step))
        if gain <= settled * weight:
            return coefficients + step
        higher, best = _first_not_lower(value, coefficients, step, best)
        if higher is coefficients:
            break
        coefficients = higher
    return coefficients


def _first_not_lower(
    value: Callable[[Floats], float], coefficients: Floats, step: Floats, best: float
) -> tuple[Floats, float]:
    """Return the coefficients after the first of ever shorter steps at which the value has not fallen, and the value.

    Falls within the last bits of sums do not count; the same coefficients where every step falls.
    """
    for _ in range(HALVINGS):
        higher = coefficients + step
        reached = value(higher)
        if reached >= best - 1e-13 * abs(best):
            return higher, reached
        step = step / 2
    return coefficients, best


def solve(matrix: Floats, right: Floats) -> Floats:
    """Solve ``matrix`` x = ``right`` for a symmetric positive definite matrix; raises `Unfit` where it is singular."""
    try:
        return arithmetic.solve(matrix, right)
    except arithmetic.SingularError:
        raise Unfit(UNDETERMINED) from None


def log_likelihood(log_odds: Floats, events: Floats, others: Floats) -> float:
    """Return the binomial log likelihood of weights of events and others [m] under log odds [m]."""
    event, other = log_expits(log_odds)
    return float(np.sum(events * event + others * other))


def logistic_fit(
    columns: Floats | Sequence[Floats], events: Floats, others: Floats, *, intercept: bool = True
) -> Floats:
    """Return the weighted maximum-likelihood coefficients of a logistic regression, the intercept (if any) first.

    ``columns`` [k, m] are covariates at m values, ``events`` and ``others`` [m] the weights there. Raises `Unfit` where
    the columns do not determine the coefficients; whether the likelihood has a maximum is for the caller to know.
    """
    columns, total = np.asarray(columns, float), events + others
    weight = float(np.sum(total))
    centre = np.sum(columns * total, axis=1) / weight * intercept
    centred = columns - centre[:, None]
    spread = np.sqrt(np.sum(centred**2 * total, axis=1) / weight)
    # Centred and of unit spread the information is nearly diagonal, and the steps are few.
    scaled = centred / np.where(spread > 0, spread, 1.0)[:, None]
    design = np.vstack([np.ones_like(total), scaled]) if intercept else scaled

    start = np.zeros(len(design))
    if intercept:
        start[0] = log(np.sum(events) / np.sum(others))

    def log_odds(coefficients: Floats) -> Floats:
        return np.asarray(np.sum(coefficients[:, None] * design, axis=0))

    def slope(coefficients: Floats) -> Slope:
        """Return the gradient and the information of the log likelihood."""
        probability = expit(log_odds(coefficients))
        variance = total * probability * (1 - probability)
        information = [[np.sum(variance * row * column) for column in design] for row in design]
        return Slope(np.sum(design * (events - total * probability), axis=1), np.array(information))

    best = maximise(lambda coefficients: log_likelihood(log_odds(coefficients), events, others), slope, start, weight)
    if not intercept:
        return np.asarray(best / spread)
    slopes = best[1:] / spread
    return np.asarray(np.r_[best[0] - np.sum(slopes * centre), slopes])
