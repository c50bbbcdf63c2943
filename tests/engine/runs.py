"""Runs on data in memory, for the tests of what is drawn, compared and sliced."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl

import evalpipe
from evalpipe.data.catalog import look
from evalpipe.data.read import read
from evalpipe.data.sample import Sample
from evalpipe.plan.resolve import plan
from evalpipe.plan.sources import sources
from evalpipe.results import Results
from evalpipe.run import load

BINARY = {"task": "binary", "outcome": {"column": "y", "event": 1}, "models": {"p": {"probability": "p"}}}
BOTH = {"p": {"probability": "p"}, "q": {"probability": "q"}}


def people(n: int, seed: int = 0, digits: int = 2) -> pl.DataFrame:
    """Return n rows of a binary outcome with two models, p and a noisier q, rounded so that scores tie, and groups."""
    generator = np.random.default_rng(seed)
    logit = generator.normal(-0.7, 1.5, n)
    truth = generator.random(n) < 1 / (1 + np.exp(-logit))
    noisy = logit + generator.normal(0, 1, n)
    return pl.DataFrame({
        "y": truth.astype(int),
        "p": np.round(1 / (1 + np.exp(-logit)), digits),
        "q": np.round(1 / (1 + np.exp(-noisy)), digits),
        "s": generator.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
        "h": generator.choice(["x", "z"], n),
        "age": generator.normal(50, 10, n),
        "times": generator.integers(1, 5, n),
        "heavy": generator.gamma(2, 1, n),
        "who": generator.integers(0, max(2, n // 6), n),
    })


def run(frames: Any, **keys: Any) -> Results:
    """Run a spec of these keys over the defaults of `BINARY`; ``frames`` is one dataset, d, or several by name.

    Smooth calibration curves are lines unless the keys say otherwise; see `with_line`.
    """
    spec, given = _given(frames, with_line(BINARY | keys))
    return evalpipe.run(spec, frames=given)


def read_sample(frame: pl.DataFrame, **keys: Any) -> Sample:
    """Return the rows of a run as the engine gets them, in their order."""
    spec, given = _given(frame, keys)
    loaded = load(spec)
    return read(plan(loaded, look(sources(loaded), given)), given)[0]


def _given(frames: Any, keys: dict[str, Any]) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    given = frames if isinstance(frames, dict) else {"d": frames}
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "x", "datasets": {name: {"path": "memory"} for name in given},
        "report": {"formats": []},
    }
    return spec | BINARY | keys, given


def with_line(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a spec whose smooth calibration curves are lines where it says nothing of them.

    A spline takes half the time of a small run, and few tests look at one: they say ``calibration=None``.
    """
    scored = any({"probability", "scale"} & model.keys() for model in spec.get("models", {}).values())
    if "calibration" in spec:
        return {key: value for key, value in spec.items() if (key, value) != ("calibration", None)}
    return spec | {"calibration": {"smoother": "logistic"}} if scored and spec["task"] == "binary" else spec


def intervals(replicates: int, **keys: Any) -> dict[str, Any]:
    """Return the spec's intervals with so many replicates and no bands."""
    return {"replicates": replicates, "bands": False, **keys}


def numbers(results: Results) -> str:
    """Return results as text without the spec that they are of."""
    document = json.loads(results.to_json())
    return json.dumps({key: value for key, value in document.items() if key not in ("spec", "spec_sha256")})
