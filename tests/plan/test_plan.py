"""The plan holds all that later steps need, with the parts of the spec that it hands over; they read it alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import evalpipe
from evalpipe.card import render
from evalpipe.chapters import functions
from evalpipe.chapters.gates.compute import judged
from evalpipe.chapters.gates.earlier_runs import look_back
from evalpipe.chapters.gates.plan import gates_plan
from evalpipe.chapters.recalibrate.spec import MethodChoice
from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.engine.evaluate import evaluate, gather
from evalpipe.plan import resolve
from evalpipe.plan.measures import MetricPlan
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.runs.manifest import Manifest, versions
from evalpipe.runs.record import Recorder
from evalpipe.spec.core_keys import Exposure, Weight
from evalpipe.spec.field_types import SpecPart
from evalpipe.spec.load import load
from evalpipe.spec.measures import MetricChoice
from evalpipe.spec.schema import resolved
from evalpipe.spec.spec import Spec
from few_by_day import few_by_day

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))
FAST = ["intervals.replicates=100", "report.formats=[junit]"]


def held(value: Any, path: str = "plan", *, in_models: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield every value that a plan holds, with the path that leads to it; with ``in_models`` those in parts of a spec.
    """
    yield path, value
    items: list[tuple[str, Any]] = []
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = [(f".{field.name}", getattr(value, field.name)) for field in dataclasses.fields(value)]
    elif isinstance(value, BaseModel) and in_models:
        items = [(f".{name}", getattr(value, name)) for name in type(value).model_fields]
    elif isinstance(value, Mapping):
        items = [(f"[{key!r}]", item) for key, item in value.items()]
    elif isinstance(value, tuple | list | set | frozenset):
        items = [(f"[{number}]", item) for number, item in enumerate(value)]
    for name, item in items:
        yield from held(item, path + name, in_models=in_models)


def of_the_core(value: Any) -> bool:
    """Tell whether a value is the spec, or a part of its core that a plan resolves: none of chapters, weight, exposure.
    """
    return type(value).__module__.startswith("evalpipe.spec") and not isinstance(value, Weight | Exposure)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_a_plan_holds_frozen_parts_of_chapters_and_no_more_of_the_spec(config: Path) -> None:
    made = evalpipe.plan(config)
    values = dict(held(made))

    assert len(values) > 100
    assert [path for path, value in values.items() if of_the_core(value)] == []
    assert all(value.model_config["frozen"] for value in values.values() if isinstance(value, BaseModel))


def test_more_of_the_spec_in_a_plan_would_be_found() -> None:
    config = next(path for path in CONFIGS if path.stem == "titanic")
    spec = load(config)
    broken = dataclasses.replace(evalpipe.plan(config), workers=spec.engine, marks=(MetricChoice("brier"), spec))

    found = [path for path, value in held(broken) if of_the_core(value)]
    assert found == ["plan.workers", "plan.marks[0]", "plan.marks[1]"]


def test_a_chapter_adds_a_part_by_a_function_that_names_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def toy_plan(spec: Spec, metrics: Sequence[MetricPlan]) -> tuple[str, int]:
        return spec.name, len(metrics)

    toys = {"PARTS": ((toy_plan,),)}
    monkeypatch.setattr(resolve, "functions", lambda role, name: (*functions(role, name), *toys.get(name, ())))
    made = evalpipe.plan(CONFIGS[0].parent / "titanic.yaml")

    assert made.part(toy_plan) == ("titanic", len(made.metrics))
    assert made.part(gates_plan)


@pytest.mark.parametrize("name", few_by_day(
    ["campaign", "desirability", "randhie", "recalibration", "slices", "thresholds", "titanic"],
    {"randhie", "slices", "thresholds"}))
def test_no_step_after_the_plan_reads_the_spec(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load(next(path for path in CONFIGS if path.stem == name), FAST)
    planned, written = plan(spec, look(sources(spec))), resolved(spec)
    handed_over = {id(value) for _, value in held(planned, in_models=True)}
    kept_back = {id(value) for _, value in held(spec, in_models=True)} - handed_over

    def poisoned(part: object, key: str) -> Any:
        if id(part) in kept_back:
            raise AssertionError(f"'{key}' of {object.__getattribute__(part, '__class__').__name__} was read")
        return object.__getattribute__(part, key)

    for kind in (SpecPart, MetricChoice, MethodChoice):
        monkeypatch.setattr(kind, "__getattribute__", poisoned)
    with pytest.raises(AssertionError, match="'seed' of Spec was read"):
        _ = spec.seed

    samples = read(planned)
    earlier = look_back(planned, samples)
    results = judged(planned, gather(planned, samples, evaluate(planned, samples, lambda _: None), written), earlier)
    with Recorder(tmp_path / "out") as folder:
        # The manifest names the spec's own files, and so is made of the spec.
        manifest = Manifest(name=name, **versions(), spec_sha256=planned.spec_sha256)
        folder.write(results, render(results, planned.formats), {}, {}, manifest)

    assert (tmp_path / "out" / "results.json").exists()
    assert results.rows


@pytest.mark.parametrize("method", ["auto", "percentile", "bca", "studentised"])
def test_findings_alone_need_no_fit_of_a_line_in_every_replicate(method: str) -> None:
    made = evalpipe.plan(CONFIGS[0].parent / "titanic.yaml", [f"intervals.method={method}"])
    methods = {entry.metric.name: entry.method for entry in made.diagnosed}
    assert {methods[name] for name in ("calibration_in_the_large", "calibration_slope")} == {"robust"}
