"""Cases of reports: an output folder whose files are mutated, and a command that reads it."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evalpipe
from fuzz.files import broken
from fuzz.watch import Ended, command

SPEC = {
    "evalpipe": 1, "name": "small", "as_of": "2026-11-21", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"test": {"path": "test.csv"}}, "models": {"a": {"probability": "p"}, "b": {"probability": "q"}},
    "metrics": ["brier", "accuracy"], "slices": ["g"], "slice_rules": {"min_rows": 1}, "intervals": {"replicates": 100},
    "compare": {"baseline": "a"}, "gates": [{"metric": "brier", "max": 0.5, "on": "value"}],
    "report": {"formats": ["html", "markdown", "junit"], "rows": "csv"},
}
COMMANDS = (
    ["verify", "out"], ["verify", "out", "--format", "json"], ["diff", "out", "other"],
    ["diff", "other", "out", "--format", "json"], ["diff", "out", "other", "--format", "html", "--out", "diff.html"],
    ["show", "out", "brier@a"], ["show", "out", "accuracy", "--format", "json"],
    ["render", "out", "--format", "markdown"], ["render", "out", "--format", "junit"], ["accept", "out"],
    ["sign", "out", "--role", "approver", "--name", "A", "--date", "2026-11-21", "--decision", "approved"],
    ["comment", "out", "No.", "--reply-to", "1", "--by", "A", "--date", "2026-11-21"],
    ["run", "spec.yaml", "--out", "out", "--if-changed", "--no-progress"], ["history", "out"],
)
"""What is asked of a folder; all but the last two read its results."""

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, -0.0, 10**30, "", "x", "../../etc/passwd", "\u202e", "a" * 10_000, [], {}, [[]],
    {"": None}, "2026-02-30", [None] * 100, {"a": {"b": []}},
)


def prepare_report(workspace: Path) -> Path:
    """Make a folder with a spec, its data and two runs of it, the first with a comment, and return it."""
    place = workspace / "report"
    place.mkdir()
    rows = [f"{i % 2},{(i * 37 % 101) / 101},{(i * 53 % 97) / 97},{'ab'[i % 3 > 0]}" for i in range(60)]
    (place / "test.csv").write_text("\n".join(["y,p,q,g", *rows]) + "\n", encoding="utf-8")
    (place / "spec.yaml").write_text(json.dumps(SPEC), encoding="utf-8")
    for name in ("out", "other"):
        evalpipe.run(place / "spec.yaml", out=place / name)
    evalpipe.comment(place / "out", "Why?", on="gate 1", name="B", date="2026-11-20")
    return place


def report_case(report: Path, rng: random.Random, save: Path | None) -> tuple[Ended, str | None]:
    """Mutate files of a copy of the report and run a command on it; say what is wrong with how it ended."""
    import contextlib

    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "report"
        shutil.copytree(report, copy)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            _mutate(rng.choice(sorted((copy / "out").iterdir())), rng)
        if save is not None:
            shutil.copytree(copy, save, dirs_exist_ok=True)
        asked = rng.choice(COMMANDS)
        if save is not None:
            (save / "command.txt").write_text(" ".join(asked), encoding="utf-8")
        with contextlib.chdir(copy):
            ended = command(asked)
    return ended, ended.fault


def _mutate(file: Path, rng: random.Random) -> None:
    """Change a file: a value of its JSON, its bytes, or what it is."""
    if not file.is_file() or file.is_symlink():
        return
    chance = rng.random()
    if chance < 0.05:
        file.unlink()
        links = [lambda: file.symlink_to("nowhere"), lambda: file.symlink_to("/dev/null")]
        rng.choice([lambda: None, file.mkdir, *links])()
        return
    try:
        changed = _changed(json.loads(file.read_bytes()), rng).encode() if chance < 0.75 else b""
    except (ValueError, IndexError, RecursionError):  # it is no JSON, or holds nothing
        changed = b""
    file.write_bytes(changed or broken(file.read_bytes(), rng))


def _changed(document: Any, rng: random.Random) -> str:
    spots = list(_spots(document))
    holder, key = rng.choice(spots)
    change: Callable[[], object] = rng.choice([
        lambda: holder.__setitem__(key, rng.choice(VALUES)), lambda: holder.__setitem__(key, rng.choice(VALUES)),
        lambda: holder.__delitem__(key), lambda: holder.__setitem__(key, [holder[key]]),
        lambda: holder.__setitem__(key, rng.choice(spots)[0]),
    ])
    change()
    try:
        return json.dumps(document, indent=rng.choice([None, 1]))
    except ValueError:  # it holds itself by now
        return "[" * 5000


def _spots(value: Any) -> Any:
    """Yield each place of a document: what holds it, and its key there."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield value, key
        yield from _spots(inner)
