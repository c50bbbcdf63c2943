"""Data sets with one fault each, made so that the fault is known, and the finding that must name it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from evalpipe.results.document import FindingKind

N = 600
REPLICATES = 200
Spec = dict[str, Any]
Frames = dict[str, pl.DataFrame]


class Planted(NamedTuple):
    """A fault: what a run is given, and the kind, section and words of the finding that names it.

    ``nights`` are the frames of the nights before, the oldest first, of a fault that shows only beside them; ``before``
    are the keys of the spec that are others on these. ``early``: it is among the first findings.
    """

    spec: Spec
    frames: Frames
    kind: FindingKind
    section: str
    words: tuple[str, ...]
    nights: Sequence[Frames] = ()
    before: Spec | None = None
    early: bool = True


def spec_of(frames: Frames, task: str, models: dict[str, Spec], **keys: Any) -> Spec:
    """Return a spec of these frames, of which "reference" and "calibration" have roles of their own."""
    roles = {"reference": "reference", "calibration": "calibrate"}
    datasets = {name: {"path": "memory"} | ({"role": roles[name]} if name in roles else {}) for name in frames}
    outcome: Spec = {"column": "y"} | ({"event": 1} if task == "binary" else {})
    return {
        "evalpipe": 1, "name": "planted", "task": task, "outcome": outcome, "models": models, "datasets": datasets,
        "report": {"formats": []},
        "intervals": {"replicates": REPLICATES} | ({"bands": False} if task == "binary" else {}),
    } | keys


def expit(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def events(seed: int, n: int = N, level: float = -0.4, spread: float = 1.5) -> pl.DataFrame:
    """Return rows whose probability p is that of their event, with groups that do not matter."""
    rng = np.random.default_rng(seed)
    x = rng.normal(level, spread, n)
    return pl.DataFrame({
        "y": (rng.random(n) < expit(x)).astype(int), "x": x, "p": expit(x), "id": np.arange(n) + n * seed,
        "g": rng.choice(["a", "b", "c"], n), "h": rng.choice(["s", "t"], n),
    })


def amounts(seed: int, n: int = N) -> pl.DataFrame:
    """Return rows whose prediction p is the mean of their outcome, with errors of one spread."""
    rng = np.random.default_rng(seed)
    p = rng.normal(20, 4, n)
    return pl.DataFrame({"y": p + rng.normal(0, 3, n), "p": p, "id": np.arange(n) + n * seed,
                         "g": rng.choice(["a", "b", "c"], n)})


def counts(seed: int, n: int = N) -> pl.DataFrame:
    """Return rows whose prediction p is the mean of their Poisson count."""
    rng = np.random.default_rng(seed)
    p = rng.gamma(4, 0.6, n) + 0.2
    return pl.DataFrame({"y": rng.poisson(p), "p": p, "id": np.arange(n) + n * seed,
                         "g": rng.choice(["a", "b", "c"], n)})


def levels(seed: int, n: int = N, names: Sequence[str] = ("low", "mid", "top")) -> pl.DataFrame:
    """Return rows of several levels with their probabilities."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, (n, len(names)))
    chances = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    picked = (rng.random(n)[:, None] > chances[:, :-1].cumsum(axis=1)).sum(axis=1)
    return pl.DataFrame({"y": np.array(names)[picked], **{name: chances[:, k] for k, name in enumerate(names)},
                         "id": np.arange(n) + n * seed})


BINARY = {"p": {"probability": "p"}}
NUMBERS = {"p": {"prediction": "p"}}
LEVELS = {"p": {"probabilities": {level: level for level in ("low", "mid", "top")}}}
COST = [{"truth": 1, "predicted": 0, "cost": 1}, {"truth": 0, "predicted": 1, "cost": 1}]


def binary(frame: pl.DataFrame | Frames, expected: tuple[FindingKind, str, tuple[str, ...]], **keys: Any) -> Planted:
    frames = frame if isinstance(frame, dict) else {"d": frame}
    return Planted(spec_of(frames, "binary", keys.pop("models", BINARY), **keys), frames, *expected)


def numbers(
    frame: pl.DataFrame | Frames, expected: tuple[FindingKind, str, tuple[str, ...]], task: str = "regression",
    **keys: Any,
) -> Planted:
    frames = frame if isinstance(frame, dict) else {"d": frame}
    early = keys.pop("early", True)
    return Planted(spec_of(frames, task, keys.pop("models", NUMBERS), **keys), frames, *expected, early=early)
