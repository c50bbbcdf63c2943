"""Every measure of outcomes with more than two levels against an independent source, on random weighted data.

The sources are scikit-learn and scipy; what they lack is spelled out as plain loops over rows, or is the source of the
binary measure, asked of each class against the rest. Data sets have 3 to 6 classes, every other one has tied scores
and probabilities of zero. Tolerance 1e-12, absolute and relative: both sides sum up to a few hundred float64 terms in
different orders. What is undefined is not compared, and the number of comparisons is checked.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk
from sklearn.preprocessing import label_binarize

from evalpipe.engine.averages import values
from evalpipe.metrics import registry
from evalpipe.metrics.declare import AVERAGES
from evalpipe.plan.measures import MetricPlan
from evalpipe.statistics import ClassRows, Summary
from evalpipe.tasks import MANY
from reference.test_calibration import AGAINST_THE_REST
from reference.test_plain import PLAIN, true_rates
from reference.test_sklearn import EPSILON, PEERS, middle

CLOSE = 1e-12
every_set = pytest.mark.parametrize("sets", [10, pytest.param(30, marks=pytest.mark.nightly)])
"""Every 30 data sets hold each combination of what `draw` varies: ties, kinds of weights, a class never predicted."""
CLIP = {"epsilon": EPSILON}
KIND = {"macro": "macro", "macro_weighted": "weighted", "micro": "micro", "none": None}
"""scikit-learn's word for each way of averaging."""


class Data(NamedTuple):
    """Places of the true and the predicted classes, probabilities [n, k], weights, and a cost of each pair [k, k]."""

    y: Any
    d: Any
    p: Any
    w: Any
    costs: Any

    @property
    def k(self) -> int:
        return int(self.p.shape[1])

    @property
    def share(self) -> Any:
        """The weighted shares of the true classes."""
        return np.bincount(self.y, self.w, self.k) / self.w.sum()

    @property
    def constant(self) -> Any:
        """The forecast that always gives these shares."""
        return np.tile(self.share, (len(self.y), 1))

    @property
    def tied(self) -> bool:
        """Whether a row gives another class the probability of the true one."""
        return bool(((self.p == self.p[np.arange(len(self.y)), self.y][:, None]).sum(axis=1) > 1).any())

    def each(self) -> Data:
        """Repeat each row as often as its weight, taken as a whole number, says."""
        times = np.ceil(self.w).astype(int)
        y, d, p = (np.repeat(array, times, axis=0) for array in (self.y, self.d, self.p))
        return Data(y, d, p, np.ones(len(y)), self.costs)


@cache
def draw(seed: int) -> Data:
    """Return a data set: of odd seeds with ties, of every third with whole weights, of every fifth without class 1."""
    generator = np.random.default_rng(seed)
    n, k = int(generator.integers(15, 160)), int(generator.integers(3, 7))
    y = generator.choice(k, n, p=generator.dirichlet(np.full(k, 3.0)))
    y[:k] = np.arange(k)  # every class, where scikit-learn is of use
    p = generator.dirichlet(np.full(k, 0.7), n)
    p[np.arange(n), y] += 0.2
    p = np.round(p, 1) if seed % 2 else p
    p /= p.sum(axis=1, keepdims=True)
    d = np.where(generator.random(n) < 0.2, generator.integers(0, k, n), p.argmax(axis=1))
    d = np.where(d == 1, 0, d) if seed % 5 == 0 else d  # a class that is never predicted
    w = generator.gamma(1.0, 2.0, n) + 0.01 if seed % 3 else generator.integers(1, 5, n).astype(float)
    return Data(y, d, p, w, tuple(map(tuple, generator.integers(0, 20, (k, k)).astype(float).tolist())))


def value(name: str, options: Any, average: str | None, data: Data) -> Any:
    """Compute a measure as the engine does; ``options`` are those of each class, or the same for all."""
    entry, several = registry[name], isinstance(options, list)
    filled = [entry.options(**one).model_dump() for one in (options if several else [options] * data.k)]
    plan = MetricPlan(entry, filled[0], "none", "", average, () if average is None else tuple(filled))
    return values(Summary(ClassRows(data.y, data.k, data.d, data.p), data.w), plan)


def scored(function: Any, **more: Any) -> Any:
    """Ask scikit-learn's ``function`` of the true classes and the probabilities."""
    return lambda x: function(x.y, x.p, sample_weight=x.w, labels=range(x.k), **more)


def labelled(function: Any, **more: Any) -> Any:
    """Ask scikit-learn's ``function`` of the true and the predicted classes."""
    return lambda x: function(x.y, x.d, sample_weight=x.w, **more)


def nagelkerke(x: Data) -> float:
    null, model = (sk.log_loss(x.y, p, sample_weight=x.w, labels=range(x.k)) for p in (x.constant, x.p))
    return (1 - math.exp(2 * (model - null))) / (1 - math.exp(-2 * null))


def in_top(x: Data, k: int) -> float:
    """Return the share of rows whose class stands among the first k when the levels are sorted, the earlier first."""
    ranked = [sorted(range(x.k), key=lambda level: (-row[level], level)) for row in x.p]
    return float(sum(w for y, order, w in zip(x.y, ranked, x.w, strict=True) if y in order[:k]) / x.w.sum())


def untied_top(k: int) -> Any:
    """Ask scikit-learn, of data without ties, which it breaks the other way, and of more than k classes."""
    return lambda x: np.nan if x.tied or k >= x.k else scored(sk.top_k_accuracy_score, k=k)(x)


def ovo(x: Data, average: str) -> float:
    """Ask scikit-learn, which takes no weights here, of rows repeated."""
    rows = x.each()
    return float(sk.roc_auc_score(rows.y, rows.p, multi_class="ovo", average=average))


def hand_till(x: Data, *, by_size: bool) -> float:
    """Return the mean over pairs of classes of the share of pairs of rows ranked rightly."""
    areas, sizes = [], []
    for i in range(x.k):
        for j in range(i):
            both = np.isin(x.y, (i, j))
            sides = [sk.roc_auc_score(x.y[both] == a, x.p[both, a], sample_weight=x.w[both]) for a in (i, j)]
            areas.append(np.mean(sides))
            sizes.append(x.w[both].sum())
    return float(np.average(areas, weights=sizes if by_size else None))


def paid(x: Data) -> float:
    return sum(w * x.costs[y][d] for y, d, w in zip(x.y, x.d, x.w, strict=True)) / x.w.sum()


def saved(x: Data) -> float:
    return min(sum(w * x.costs[y][k] for y, w in zip(x.y, x.w, strict=True)) for k in range(x.k)) / x.w.sum() - paid(x)


def expected(x: Data) -> float:
    rows = zip(x.y, x.p, x.w, strict=True)
    return sum(w * p[j] * x.costs[y][j] for y, p, w in rows for j in range(x.k)) / x.w.sum()


def ranked_probability(x: Data) -> float:
    """Return the mean Brier score of the events of being at or below each level but the last."""
    below = np.cumsum(x.p, axis=1).clip(0, 1)
    cuts = [sk.brier_score_loss(x.y <= k, below[:, k], sample_weight=x.w) for k in range(x.k - 1)]
    return float(np.mean(cuts))


def ranked_probability_by_row(x: Data) -> float:
    found = 0.0
    for y, p, w in zip(x.y, x.p, x.w, strict=True):
        found += w * sum((p[: k + 1].sum() - (y <= k)) ** 2 for k in range(x.k - 1))
    return float(found / (x.w.sum() * (x.k - 1)))


def kappa(weights: str | None) -> Any:
    return lambda x: sk.cohen_kappa_score(x.y, x.d, sample_weight=x.w, labels=range(x.k), weights=weights)


def entropy(base: float) -> Any:
    return lambda x: stats.entropy(x.share, base=base)


def constant_brier(x: Data) -> float:
    """Return the Brier score, as a sum over classes, of the forecast that always gives their shares."""
    return float(sk.brier_score_loss(x.y, x.constant, sample_weight=x.w, labels=range(x.k), scale_by_half=False))


def shortfall(x: Data) -> Any:
    """Return how far the probability of each row's class is below 1."""
    return np.array([1 - p[y] for y, p in zip(x.y, x.p, strict=True)])


def null_log_loss(x: Data) -> float:
    """Return the total log loss of the forecast that always gives the shares of the classes."""
    return float(sk.log_loss(x.y, x.constant, sample_weight=x.w, labels=range(x.k), normalize=False))


WHOLE: dict[str, list[tuple[Any, Any]]] = {
    "accuracy": [({}, labelled(sk.accuracy_score))],
    "error_rate": [({}, labelled(sk.zero_one_loss))],
    "misclassifications": [({}, labelled(sk.zero_one_loss, normalize=False))],
    "balanced_accuracy": [({}, labelled(sk.balanced_accuracy_score))],
    "kappa": [({}, kappa(None))],
    "mcc": [({}, labelled(sk.matthews_corrcoef))],
    "log_loss": [(CLIP, scored(sk.log_loss)), (CLIP | {"base": 2}, lambda x: scored(sk.log_loss)(x) / math.log(2)),
                 (CLIP | {"base": 10}, lambda x: scored(sk.log_loss)(x) / math.log(10))],
    "brier": [({}, scored(sk.brier_score_loss, scale_by_half=True)),
              ({"scale": "sum"}, scored(sk.brier_score_loss, scale_by_half=False)),
              ({"scale": "classes"}, lambda x: scored(sk.brier_score_loss, scale_by_half=False)(x) / x.k)],
    "log_likelihood": [(CLIP, lambda x: -scored(sk.log_loss, normalize=False)(x))],
    "deviance": [(CLIP, lambda x: 2 * scored(sk.log_loss, normalize=False)(x)),
                 (CLIP | {"scale": "mean"}, lambda x: 2 * scored(sk.log_loss)(x))],
    "nagelkerke_r2": [(CLIP, nagelkerke)],
    "mcfadden_r2": [(CLIP, scored(sk.d2_log_loss_score))],
    "brier_skill": [({}, scored(sk.d2_brier_score))],
    "top_k_accuracy": [({"k": 2}, untied_top(2)), ({"k": 3}, untied_top(3)), ({"k": 1}, lambda x: in_top(x, 1)),
                       ({"k": 2}, lambda x: in_top(x, 2)), ({"k": 9}, lambda x: in_top(x, 9))],
    "hand_till_auc": [({}, lambda x: hand_till(x, by_size=False)),
                      ({"pairs": "by_size"}, lambda x: hand_till(x, by_size=True))],
    "gini_impurity": [({}, constant_brier)],
    "majority_error": [({}, lambda x: 1 - x.share.max())],
    "null_deviance": [({}, lambda x: 2 * null_log_loss(x)),
                      ({"scale": "mean"}, lambda x: 2 * null_log_loss(x) / x.w.sum())],
    "deviance_reduction": [
        (CLIP, lambda x: 2 * (null_log_loss(x) - scored(sk.log_loss, normalize=False)(x))),
        (CLIP | {"scale": "mean"}, lambda x: 2 * (null_log_loss(x) / x.w.sum() - scored(sk.log_loss)(x)))],
    "predicted_gini": [({}, lambda x: np.average([sum(p * (1 - p)) for p in x.p], weights=x.w))],
    "predicted_entropy": [
        ({}, lambda x: np.average(stats.entropy(x.p, axis=1), weights=x.w)),
        ({"base": 10}, lambda x: np.average(stats.entropy(x.p, axis=1, base=10), weights=x.w))],
    "confidence_gap": [({}, lambda x: np.average(
        (x.d == x.y) - np.take_along_axis(x.p, x.d[:, None], axis=1)[:, 0], weights=x.w))],
    "predicted_error": [({}, lambda x: np.average([1 - max(p) for p in x.p], weights=x.w))],
    "probability_rmse": [({}, lambda x: math.sqrt(np.average(shortfall(x) ** 2, weights=x.w)))],
    "probability_mae": [({}, lambda x: np.average(shortfall(x), weights=x.w))],
    "probability_mad": [({}, lambda x: middle(shortfall(x), x.w))],
    "entropy": [({}, entropy(2)), ({"base": "e"}, entropy(math.e)), ({"base": 10}, entropy(10))],
    "cost": [("costs", paid)],
    "cost_saved": [("costs", saved)],
    "expected_cost": [("costs", expected)],
    "weighted_kappa": [({"weights": "linear"}, kappa("linear")), ({"weights": "quadratic"}, kappa("quadratic")),
                       ({}, kappa("quadratic"))],
    "rps": [({}, ranked_probability), ({}, ranked_probability_by_row)],
    "ordinal_mae": [({}, labelled(sk.mean_absolute_error))],
    "ordinal_mse": [({}, labelled(sk.mean_squared_error))],
    "ordinal_rmse": [({}, labelled(sk.root_mean_squared_error))],
}
"""Measures that see all classes at once, each with options and a source; "costs" stands for the costs of the data."""

CASES = [(name, number) for name, sources in WHOLE.items() for number in range(len(sources))]


@every_set
@pytest.mark.parametrize(("name", "number"), CASES, ids=[f"{name}-{number}" for name, number in CASES])
def test_a_measure_of_all_classes(name: str, number: int, sets: int) -> None:
    (options, source), compared = WHOLE[name][number], 0
    for seed in range(sets):
        data = draw(seed)
        ours = float(value(name, {"costs": data.costs} if options == "costs" else options, None, data))
        theirs = float(source(data))
        assert math.isfinite(ours)
        if not math.isnan(theirs):
            compared += 1
            assert ours == pytest.approx(theirs, rel=CLOSE, abs=CLOSE), f"data set {seed}"
    assert compared >= (sets // 3 if name == "top_k_accuracy" and number < 2 else sets)


@pytest.mark.metrics("hand_till_auc")
@every_set
@pytest.mark.parametrize(("pairs", "average"), [("equal", "macro"), ("by_size", "weighted")])
def test_scikit_learn_agrees_on_hand_and_till(pairs: str, average: str, sets: int) -> None:
    for seed in range(sets):
        data = draw(seed)
        repeated = data._replace(w=np.ceil(data.w))
        ours = float(value("hand_till_auc", {"pairs": pairs}, None, repeated))
        assert ours == pytest.approx(ovo(repeated, average), rel=CLOSE, abs=CLOSE), f"data set {seed}"


def counted(function: Any, **more: Any) -> Any:
    """Ask of the classes, where what is undefined is NaN and left out of a mean."""
    return lambda x, average: function(
        x.y, x.d, average=average, sample_weight=x.w, labels=range(x.k), zero_division=np.nan, **more
    )


def jaccard(x: Data, average: str | None) -> Any:
    return sk.jaccard_score(x.y, x.d, average=average, sample_weight=x.w)  # every class occurs, so all is defined


def against_the_rest(x: Data, average: str | None) -> Any:
    return sk.roc_auc_score(x.y, x.p, multi_class="ovr", average=average, sample_weight=x.w)


def precisions(x: Data, average: str | None) -> Any:
    return sk.average_precision_score(
        label_binarize(x.y, classes=range(x.k)), x.p, average=average, sample_weight=x.w
    )


SHARED: dict[str, list[tuple[dict[str, Any], Any]]] = {
    "precision": [({}, counted(sk.precision_score))],
    "sensitivity": [({}, counted(sk.recall_score))],
    "f1": [({}, counted(sk.f1_score))],
    "f_beta": [({"beta": 2.0}, counted(sk.fbeta_score, beta=2)), ({"beta": 0.5}, counted(sk.fbeta_score, beta=0.5))],
    "critical_success_index": [({}, jaccard)],
    "roc_auc": [({}, against_the_rest)],
    "average_precision": [({}, precisions)],
}
"""Measures that scikit-learn averages over classes."""

AVERAGED = [(name, number, average) for name, sources in SHARED.items() for number in range(len(sources))
            for average in AVERAGES]


@every_set
@pytest.mark.parametrize(("name", "number", "average"), AVERAGED, ids=["-".join(map(str, one)) for one in AVERAGED])
def test_scikit_learn_agrees_on_averages(name: str, number: int, average: str, sets: int) -> None:
    (options, source), compared, classes = SHARED[name][number], 0, 0
    for seed in range(sets):
        data = draw(seed)
        ours, theirs = np.atleast_1d(value(name, options, average, data)), np.atleast_1d(source(data, KIND[average]))
        assert (np.isnan(ours) == np.isnan(theirs)).all()
        defined = ~np.isnan(ours)
        compared += int(defined.sum())
        classes += data.k if average == "none" else 1
        np.testing.assert_allclose(ours[defined], theirs[defined], CLOSE, CLOSE, err_msg=f"data set {seed}")
    # Only the precision of the one class that every fifth data set never predicts is undefined, and chance adds few.
    assert compared >= (classes - 9 if (name, average) == ("precision", "none") else classes)


def concordance(y: Any, d: Any, w: Any) -> float:
    """Return the pairs of rows that truth and prediction order alike less those ordered unlike, of all they order."""
    alike = np.subtract.outer(y * 1.0, y) * np.subtract.outer(d * 1.0, d) * np.outer(w, w)
    return float(alike.sum() / np.abs(alike).sum())


ALONE: dict[str, tuple[dict[str, Any], Any]] = {
    "accuracy_ovr": ({}, lambda y, d, p, w: sk.accuracy_score(y, d, sample_weight=w)),
    "bal_accuracy_ovr": ({}, lambda y, d, p, w: sk.balanced_accuracy_score(y, d, sample_weight=w)),
    "yule_q": ({}, lambda y, d, p, w: concordance(y, d, w)),
}
OF_ONE = {
    name: source for name, source in (PEERS | PLAIN | ALONE).items()
    if registry[name].sees == "event" and name not in SHARED
}
"""Measures of one class against the rest that scikit-learn does not average: the source of the binary measure."""


def brought_together(found: Any, defined: Any, average: str, data: Data) -> Any:
    """Average as the words say: plainly or by the shares of the true classes, over those with a value."""
    if average == "none":
        return found
    return np.average(found[defined], weights=None if average == "macro" else data.share[defined])


def of_each(source: Any, data: Data, defined: Any) -> Any:
    """Ask a binary source of each class that has a value."""
    return np.array([
        source(data.y == k, data.d == k, np.ascontiguousarray(data.p[:, k]), data.w) if defined[k] else np.nan
        for k in range(data.k)
    ], float)


def of_all(source: Any, data: Data) -> float:
    """Ask a binary source of the rows of all classes, one below the other."""
    one = np.eye(data.k, dtype=bool)
    return float(source(one[data.y].T.ravel(), one[data.d].T.ravel(), data.p.T.ravel(), np.tile(data.w, data.k)))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # within scikit-learn, of lines without a slope
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")  # of a ratio that is zero by zero
@pytest.mark.parametrize("sets", [8, pytest.param(25, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", OF_ONE)
def test_a_measure_of_one_class_against_the_rest(name: str, sets: int) -> None:
    (options, source), compared = OF_ONE[name], 0
    for seed in range(sets):
        data = draw(seed)
        ours = {average: value(name, options, average, data) for average in AVERAGES}
        defined = ~np.isnan(ours["none"])
        found = of_each(source, data, defined)
        compared += int(defined.sum())
        for average in ("none", "macro", "macro_weighted"):
            theirs = brought_together(found, defined, average, data)
            np.testing.assert_allclose(ours[average], theirs, CLOSE, CLOSE, err_msg=f"{average}, data set {seed}")
        assert ours["micro"] == pytest.approx(of_all(source, data), rel=CLOSE, abs=CLOSE), f"data set {seed}"
    assert compared >= sum(draw(seed).k for seed in range(sets)) - 6


@pytest.mark.metrics("ppv", "npv")
@every_set
def test_predictive_values_take_each_class_s_prior(sets: int) -> None:
    for seed in range(sets):
        data = draw(seed)
        prior = np.random.default_rng(seed).dirichlet(np.ones(data.k))
        rates = [true_rates(data.y == k, data.d == k, data.w) for k in range(data.k)]
        options = [{"prevalence": float(one)} for one in prior]
        theirs = {
            "ppv": [s * q / (s * q + (1 - c) * (1 - q)) if s or c < 1 else np.nan
                    for (s, c), q in zip(rates, prior, strict=True)],
            "npv": [c * (1 - q) / (c * (1 - q) + (1 - s) * q) for (s, c), q in zip(rates, prior, strict=True)],
        }
        for name, each in theirs.items():
            found = np.array(each)
            for average in ("none", "macro", "macro_weighted"):
                mean = brought_together(found, ~np.isnan(found), average, data)
                np.testing.assert_allclose(value(name, options, average, data), mean, CLOSE, CLOSE)


ELSEWHERE = {*AGAINST_THE_REST, "top_label_ece", "reportable_rate", "ppv", "npv"}
"""Measures whose source of several levels is no table here: of `test_calibration.py`, `test_equivocal.py`, or above."""


def test_every_measure_has_a_source_of_several_levels() -> None:
    named = [*WHOLE, *SHARED, *OF_ONE, *ELSEWHERE]
    assert len(named) == len(set(named))
    assert {entry.name for entry in registry if set(MANY) & set(entry.tasks)} - set(named) == set(), (
        "add a source to WHOLE of a measure of all classes, to PLAIN of `test_plain.py` of one against the rest")
    assert all(set(MANY) & set(registry[name].tasks) for name in named)
