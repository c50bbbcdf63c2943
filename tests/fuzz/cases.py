"""A case: made from its kind, a seed and a number alone, so that it can be made, run and saved again."""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import evalpipe
from fuzz import arguments
from fuzz.bases import Base
from fuzz.files import data_case
from fuzz.nodes import pool
from fuzz.reports import report_case
from fuzz.specs import spec_case
from fuzz.watch import MOST_BYTES, Ended, called, command, measured, run_spec, sound, timed, valid_json

KINDS = ("spec", "data", "call", "report")


@dataclass(frozen=True)
class Outcome:
    """What came of a case: its exit code (None after an exception), its fault, its seconds, memory and messages.

    ``peak`` is the most memory that the process held meanwhile, in bytes, that of others with it.
    """

    case: str
    code: int | None
    fault: str | None
    seconds: float
    peak: int = 0
    printed: str = ""


class Cases:
    """Makes and runs the cases of one seed from the specs of a workspace.

    ``others`` is the memory that the process holds for something else, in bytes; it counts for no case.
    """

    def __init__(self, bases: Sequence[Base], seed: int, report: Path, others: int = 0) -> None:
        self.bases = bases
        self.others = others
        self.report = report
        self.seed = seed
        self.values = pool(base.tree for base in bases if base.tree is not None)

    def run(self, kind: str, number: int, save: Path | None = None) -> Outcome:
        """Run case ``number`` of a kind; ``save``: a folder that takes the files it is made of."""
        rng = random.Random(f"{kind}:{self.seed}:{number}")  # noqa: S311 - chance that can be repeated
        run = {"spec": self._spec, "data": self._data, "call": self._call,
               "report": self._report}[kind]
        ((ended, fault), seconds), peak = measured(lambda: timed(lambda: run(rng, save)))
        if fault is None and peak - self.others > MOST_BYTES:
            fault = f"more than {MOST_BYTES // 2**20:,} MB of memory"
        return Outcome(f"{kind}:{self.seed}:{number}", ended.code, fault, seconds, peak, ended.out + ended.err)

    def _spec(self, rng: random.Random, save: Path | None) -> tuple[Ended, str | None]:
        base, text = spec_case(self.bases, self.values, rng)
        return self._ran(base, {"case.yaml": text}, rng, save)

    def _data(self, rng: random.Random, save: Path | None) -> tuple[Ended, str | None]:
        base, text, name, raw = data_case(self.bases, rng)
        return self._ran(base, {"case.yaml": text, name: raw}, rng, save)

    def _report(self, rng: random.Random, save: Path | None) -> tuple[Ended, str | None]:
        return report_case(self.report, rng, save)

    def _ran(
        self, base: Base, files: dict[str, bytes], rng: random.Random, save: Path | None
    ) -> tuple[Ended, str | None]:
        written = [base.folder / name for name in files]
        try:
            for file, content in zip(written, files.values(), strict=True):
                file.write_bytes(content)
            if save is not None:
                shutil.copytree(base.folder, save, dirs_exist_ok=True)
            if rng.random() < 0.2:
                asked = rng.choice([["validate", "case.yaml"], ["plan", "case.yaml"]])
                checked = valid_json(base.folder, asked)
                if checked[1] is not None:
                    return checked
            proposed = [name for name in files if name != "case.yaml"]
            if proposed and rng.random() < 0.1:
                return _proposed(base.folder, proposed[0], rng)
            return run_spec(base.folder, "case.yaml")
        finally:
            for file in written:
                file.unlink(missing_ok=True)

    def _call(self, rng: random.Random, save: Path | None) -> tuple[Ended, str | None]:
        made = arguments.call(rng)
        if save is not None:
            save.mkdir(parents=True, exist_ok=True)
            (save / "call.txt").write_text(
                "".join(f"{name} = {value!r}\n" for name, value in made.items()), encoding="utf-8"
            )
        results: list[evalpipe.Results] = []
        truth = made.pop("truth")
        ended = called(lambda: results.append(evalpipe.evaluate(truth, **made)))
        fault = ended.fault
        if fault is None and results:
            told = called(lambda: results[0].estimates)
            fault = told.fault or sound(results[0].to_json())
        return ended, fault


def _proposed(folder: Path, data: str, rng: random.Random) -> tuple[Ended, str | None]:
    """Let `evalpipe init` propose a spec for a file, which it prints."""
    event = rng.choice([[], ["--event", rng.choice(["1", "yes", "poisonous", "", "é"])]])
    with contextlib.chdir(folder):
        ended = command(["init", data, "-o", "-", *event])
    return ended, ended.fault
