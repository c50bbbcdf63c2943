"""What a declaration makes of a function: its options, its words, its default place in tasks and sets."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import Field, ValidationError

from evalpipe.metrics import FromSpec, Metric, Proportion, metric, ratio, registry
from evalpipe.tasks import CLASSES, NUMBERS


def declared(function: Any, **facts: Any) -> Metric:
    """Declare a function and forget it again."""
    needed = {"needs": "labels", "direction": "maximize", "range": (0.0, 1.0), "undefined": "never", "ref": "I (2000)"}
    entry = metric(**(needed | facts))(function)
    registry.remove(entry.name)
    return entry


def plain_share(tp: Any, fp: Any) -> Any:
    r"""Share of some rows, told in
    two lines, $\frac{a}
    {b}$. And a word on it $c$."""
    return ratio(tp, fp)


def told(
    tp: Any, *, rate: Annotated[float, Field(gt=0), FromSpec("prevalence")],
    table: Annotated[int, FromSpec("costs", alone=True)], size: int = 3,
) -> Any:
    """Nothing."""
    return tp * rate * table * size


def test_what_is_not_said_is_filled_in() -> None:
    entry = declared(plain_share)
    assert (entry.name, entry.title, entry.sees) == ("plain_share", "Plain share", "event")
    assert (entry.tasks, entry.standard, entry.aliases, entry.interval) == (CLASSES, (), (), None)
    assert (entry.extensive, entry.every_class, entry.matrix, entry.check) == (False, False, None, None)
    assert entry.statistics == ("tp", "fp")
    assert "plain_share" not in registry


def test_what_is_said_is_kept() -> None:
    def check(options: Any) -> str | None:
        return "too large" if options.size > 5 else None

    def matrix(_: Any, levels: int) -> tuple[str, Any]:
        return "m", levels

    facts = {
        "title": "T", "sees": "numbers", "standard": True, "aliases": ("other",), "extensive": True,
        "every_class": True, "matrix": matrix, "check": check, "range_of": lambda options: (0.0, options["size"]),
    }
    entry = declared(told, **facts)
    assert {name: getattr(entry, name) for name in facts} == facts | {"standard": NUMBERS}
    assert (entry.tasks, entry.bounds({"size": 9})) == (NUMBERS, (0.0, 9))
    one = declared(told, sees="numbers", tasks=("count",), standard=True)
    assert (one.tasks, one.standard) == (("count",), ("count",))
    assert declared(told, standard=("binary",)).standard == ("binary",)
    with pytest.raises(ValidationError, match="too large"):
        entry.options(rate=0.5, table=1, size=6)


def test_options_are_strict() -> None:
    entry = declared(told)
    filled = entry.options(rate=0.5, table=1)
    assert filled.model_dump() == {"rate": 0.5, "table": 1, "size": 3}
    for wrong in ({"rate": "0.5"}, {"rate": 0.0}, {"size": 2.0}, {"size": True}, {"more": 1}):
        with pytest.raises(ValidationError):
            entry.options(**({"rate": 0.5, "table": 1} | wrong))
    with pytest.raises(ValidationError):
        filled.size = 4  # type: ignore[attr-defined]
    for missing in ({"rate": 0.5}, {"table": 1}):
        with pytest.raises(ValidationError):
            entry.options(**missing)
    assert (entry.from_spec, entry.alone) == ({"rate": "prevalence", "table": "costs"}, {"table"})


def test_the_words_are_those_of_the_docstring() -> None:
    entry = declared(plain_share)
    assert entry.definition == "Share of some rows, told in two lines. And a word on it."
    assert entry.formula == r"\frac{a} {b}"
    assert (declared(told).definition, declared(told).formula) == ("Nothing.", "")


@pytest.mark.parametrize(("direction", "best"), [("maximize", 1.0), ("minimize", -2.0), ("none", None)])
def test_the_best_value_is_an_end_of_the_range(direction: str, best: float | None) -> None:
    entry = declared(plain_share, direction=direction, range=(-2.0, 1.0))
    assert (entry.best, entry.bounds({})) == (best, (-2.0, 1.0))


def test_only_a_proportion_has_successes_and_trials() -> None:
    accuracy, kappa = registry["accuracy"], registry["kappa"]
    assert accuracy.proportion(np.array(5.0), np.array(3.0)) == Proportion(3.0, 5.0)
    assert float(accuracy(np.array(5.0), np.array(3.0))) == 0.6
    with pytest.raises(TypeError, match="kappa is declared as a proportion but does not return one"):
        kappa.proportion(np.eye(2))


def test_a_ratio_broadcasts_either_way_and_has_no_value_over_zero() -> None:
    assert ratio(1, [2, 0, 4]).tolist()[::2] == [0.5, 0.25]
    assert np.isnan(ratio(1, [2, 0, 4])[1])
    assert ratio([[1], [2]], [1, 2]).tolist() == [[1.0, 0.5], [2.0, 1.0]]
    assert ratio([1, 2], 2).tolist() == [0.5, 1.0]
    assert ratio(np.array([1]), 2).dtype == np.float64


def test_a_value_is_an_array_of_numbers() -> None:
    counted = declared(whole_number)
    found = counted(np.array([2, 4]))
    assert (found.dtype, found.tolist()) == (np.float64, [2.0, 4.0])
    assert isinstance(counted(3), np.ndarray)


def whole_number(tp: Any) -> Any:
    """Count."""
    return tp
