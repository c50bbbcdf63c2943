"""A key that nobody wrote is in no resolved spec, and so in no hash of one, except those that were from the start.

The hash of a spec is what runs are compared by. A new key that enters it where nobody wrote it makes every night look
as if its spec had changed: `evalpipe.spec.schema.resolved` leaves such a key out. Keys that are in already stay, for
the same reason: `UNWRITTEN` has them by the class that they are keys of. Every class of the spec is in one of `SPECS`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import RootModel

from evalpipe.spec.core_keys import Model
from evalpipe.spec.field_types import SpecPart
from evalpipe.spec.schema import resolved
from evalpipe.spec.spec import Spec, kind_of_spec
from evalpipe.tasks import Task

SMALL: dict[str, Any] = {"evalpipe": 1, "name": "small", "datasets": {"d": {"path": "d.csv"}}}
PROBABILITIES = {"outcome": {"column": "y"}, "models": {"m": {"probabilities": "{level}"}}}
PREDICTION = {"outcome": {"column": "y"}, "models": {"m": {"prediction": "p"}}}
MINIMAL: dict[str, Any] = {
    "binary": SMALL | {"outcome": {"column": "y"}, "models": {"m": {"probability": "p"}}},
    "multiclass": SMALL | PROBABILITIES, "ordinal": SMALL | PROBABILITIES,
    "regression": SMALL | PREDICTION, "count": SMALL | PREDICTION,
    "score": SMALL | {"score": {"better": "higher"}, "models": {"m": {"score": "s"}}},
}
SPECS = [
    *({"task": task} | spec for task, spec in MINIMAL.items()),
    MINIMAL["binary"] | {
        "task": "binary", "sequence": {}, "threshold": {"on": {"folds": 2}, "subject_to": {"sensitivity": {}}},
        "trend": {"control": {"baseline": {"first": "2026-10-01", "last": "2026-10-31"}}}, "exposure": {"column": "t"},
        "weight": {"column": "w"}, "prevalence": {}, "equivocal": {}, "profit": {"benefit": 2.0, "cost": 1.0},
        "costs": [{"truth": "1", "predicted": "0", "cost": 1.0}], "slices": [{"column": "t", "cuts": [1]}, {
            "name": "late", "where": "t > 3"}, {"column": "t", "by": "month"}], "no_information": {"permutations": 10},
        "worst_slices": {"metric": "brier", "columns": ["g"]},
        "curves": {"relations": {"measures": ["ppv", "npv"]}, "residuals": {}}, "calibration": {},
        "compare": {}, "margins": {}, "checks": {"silence": {"unchecked": "known"}},
        "recalibrate": {"fit_on": {"folds": 2}, "methods": ["isotonic"]}, "standards": [{"profile": "nist_ai_rmf"}],
        "steps": {"metrics": ["brier"]}, "words": {}, "card": {"design": {"file": "design.md"}, "changes": [{
            "date": "2026-11-21", "text": "new"}], "sign_off": {
                "required": ["owner"], "distinct": True}}, "report": {"theme": {}, "confusion": {}},
        "metrics": ["brier", {"name": "ratio", "expression": "sensitivity / specificity"}],
        "reference_rates": [{"name": "last", "metric": "brier", "value": 0.2}],
        "gates": [{"metric": "brier", "max_increase": 0.1, "against": {"results": "old"}}],
        "datasets": {"d": {"path": "d.csv", "csv": {}}, "q": {"sql": "SELECT 1", "uri": "sqlite:///d.db"}},
        "models": {"m": {"probability": "p", "csv": {}, "step": {"column": "s"}, "fitted": {
            "on": "d", "parameters": 2}, "optimism": {"predictions": "b-*.csv", "drawn": "d"}}},
        "desirability": [
            {"metric": "brier", "minimize": {"low": 0, "high": 1}}, {"metric": "brier", "box": {"low": 0, "high": 1}},
            {"metric": "brier", "custom": {"values": [0, 1], "desirability": [1, 0]}},
            {"metric": "brier", "target": {"low": 0, "target": 0.5, "high": 1}}],
        "candidates": {"path": "c.csv", "id": ["c"], "long": {"metric": "m", "value": "v"}},
    },
    MINIMAL["binary"] | {"task": "binary", "calibration": {"window": {"recalibrated": {}}}},
    MINIMAL["binary"] | {"task": "binary", "labels": {
        "selected": {"probability": "c"}, "judge": [{"column": "j"}],
        "arrive": {"column": "k", "since": "t", "within": "9d"}}},
    MINIMAL["score"] | {"task": "score", "rank": {"method": "bradley_terry"}, "models": {
        "m": {"log": {"model": "a"}}}, "datasets": {
        "d": {"inspect": "a.eval"}, "e": {"path": "d.csv", "long": {"model": "m", "score": "s"}}}},
    MINIMAL["score"] | {"task": "score", "models": {"m": {"ranking": {"relevance": "r", "score": "s"}}}},
    MINIMAL["score"] | {"task": "score", "models": {"m": {"score": "s", "usage": {"cost": "c"}}}},
    {"evalpipe": 1, "name": "small", "task": "binary", "candidates": {"path": "c.csv", "id": ["c"]},
     "desirability": [{"metric": "brier", "minimize": {"low": 0, "high": 1}}]},
]
OF_EVERY_TASK = (
    "as_of", "title", "card", "standards", "seed", "prevalence", "weight", "exposure", "cluster", "id",
    "complete_case", "equivocal", "metrics", "intervals", "no_information", "costs", "profit", "slices",
    "worst_slices", "calibration", "recalibrate", "compare", "desirability", "gates", "report", "engine")
"""The keys of a spec in which nothing is written that need not be; a binary one has its threshold too."""
OF_SCORES = (
    "as_of", "title", "card", "standards", "seed", "weight", "cluster", "metrics", "intervals", "slices",
    "worst_slices", "compare", "desirability", "gates", "report", "engine")
"""The same keys of a spec of scores."""
OF_A_MODEL = {
    "binary": "csv equivocal fitted prediction predictions scale score threshold",
    "multiclass": "csv equivocal fitted prediction predictions renormalise scores",
    "ordinal": "csv equivocal fitted prediction predictions renormalise scores",
    "regression": "csv loo_prediction predictions", "count": "csv loo_prediction predictions rate", "score": "",
}
"""Those of its model, beside what every model has."""

UNWRITTEN = {
    "Calibration": "bins interval rug smoother strategy window", "CandidateSpec": "as_of card report standards title",
    "CandidateTable": "columns std_err", "Compare": "baseline baseline_dataset margins", "ConfusionTable": "rows",
    "Control": "min_nights sigma",
    "Csv": "decimal null separator types", "Custom": "extrapolate", "Dataset": "csv role where",
    "Engine": "memory mode", "Equivocal": "above below min_probability", "Exposure": "unit",
    "GateRule": "class dataset desirability max max_decrease min min_decrease min_increase model name on optional "
                "severity slice slices undefined variant",
    "GoalRule": "weight", "Intervals": "bands level method replicates resampling stratify",
    "LogDataset": "role where",
    "Model": "characteristics csv equivocal fitted label loo_prediction prediction predictions rate renormalise scale "
             "score scores threshold",
    "Outcome": "event levels unit", "Prevalence": "beta dirichlet levels source value", "ProfitRule": "fixed groups",
    "QueryDataset": "driver parameters role timeout where", "Ramp": "scale", "ReferenceRate": "lower upper",
    "Relations": "prevalences", "Report": "formats pdf_variant what_if", "SequenceRule": "between_nights level",
    "ScoreSpec": " ".join(OF_SCORES),
    "SliceRules": "disparities max_levels min_rows reference",
    "Spec": f"{' '.join(OF_EVERY_TASK)} threshold slice_rules",
    "StandardRule": "not_applicable require", "Statement": "changes limits status", "Target": "scale_high scale_low",
    "Theme": "accent paper", "TrendRule": "nights", "Weight": "kind", "Window": "step width",
    "WorstSlices": "depth top",
}
"""The keys, by class, that a resolved spec holds although nobody wrote them. To add one changes the hash of every spec
that could have it: of all runs that are recorded."""


def parts(part: object, document: object) -> Iterator[tuple[SpecPart, dict[str, Any]]]:
    """Yield every mapping of keys in a spec with what the resolved spec holds of it."""
    part = part.root if isinstance(part, RootModel) else part
    if isinstance(part, SpecPart) and isinstance(document, dict):
        yield part, document
        part = {field.alias or name: getattr(part, name) for name, field in type(part).model_fields.items()}
    if isinstance(part, dict) and isinstance(document, dict):
        for key in part.keys() & document.keys():
            yield from parts(part[key], document[key])
    if isinstance(part, tuple) and isinstance(document, list):
        for item, written in zip(part, document, strict=True):
            yield from parts(item, written)


def unwritten(written: dict[str, Any]) -> Iterator[tuple[type[SpecPart], set[str]]]:
    """Yield the class of every mapping in a spec, and the keys that it has in the resolved spec and nobody wrote."""
    spec = kind_of_spec(written).model_validate(written)
    for part, document in parts(spec, resolved(spec)):
        keys = {field.alias or name for name, field in type(part).model_fields.items()
                if name not in part.model_fields_set}
        yield type(part), keys & document.keys()


def classes(base: type[SpecPart] = SpecPart) -> Iterator[type[SpecPart]]:
    """Yield every class of mappings that a spec is made of, those that others are made from left out."""
    for child in base.__subclasses__():
        yield from classes(child)
        if child is Spec or not child.__subclasses__():
            yield child


def test_only_known_keys_enter_a_resolved_spec_where_nobody_wrote_them() -> None:
    found = defaultdict[str, set[str]](set)
    for spec in SPECS:
        for part, keys in unwritten(spec):
            found[part.__name__] |= keys
    assert {name: keys for name, keys in found.items() if keys} == {
        name: set(keys.split()) for name, keys in UNWRITTEN.items()}
    ours = {part.__name__ for part in classes() if part.__module__.startswith("evalpipe.")}
    assert ours - found.keys() == set(), "give a spec of SPECS a key of each"


@pytest.mark.parametrize("task", MINIMAL)
def test_a_spec_with_nothing_but_what_it_needs_holds_the_same_keys(task: str) -> None:
    found = dict(unwritten({"task": task} | MINIMAL[task]))
    of_task = OF_SCORES if task == "score" else OF_EVERY_TASK
    kind = kind_of_spec({"task": task} | MINIMAL[task])
    assert found[kind] == {*of_task, *(["threshold"] if task == "binary" else [])}
    assert found[Model] == {"characteristics", "label", *OF_A_MODEL[task].split()}


def test_every_task_has_a_spec() -> None:
    assert tuple(MINIMAL) == get_args(Task)
