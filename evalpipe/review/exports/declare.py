"""What an export is, and what exports are written from: results, manifest, and verdicts as tests.

What it reads is imported when an export is written, for the command line takes the declarations for its help.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Self
from uuid import NAMESPACE_URL, uuid5

from evalpipe.base.formats import RESULTS
from evalpipe.errors import DataError, Place, Problem, SpecError, UsageError
from evalpipe.words.spelling import closest, listed, quoted

if TYPE_CHECKING:
    import os

    from evalpipe.card.addresses import Addresses
    from evalpipe.card.junit import Case
    from evalpipe.card.wording import Names
    from evalpipe.results import Estimate, Results, Scalar, Slice
    from evalpipe.runs.manifest import Manifest


Files = Mapping[str, str]
"""The texts of files by their names."""


class Export(NamedTuple):
    """A format of others; the command line, its help and docs/export.md read these declarations.

    ``models``: whether a file is of `one` model, of `any` that are asked for, or of the run as a whole (`all`).
    """

    name: str
    title: str
    version: str
    file: str
    """The usual name of its file; of a format of several files, the usual name of their folder."""
    media_type: str
    holds: str
    """What it is for and what is written in it, in one sentence."""
    reference: str
    validator: str
    """What reads it in the tests, by the names of the packages that do."""
    places: Mapping[str, str]
    """What goes where: what of the results, by its place in the format."""
    lacks: tuple[str, ...]
    """What of the results it cannot hold."""
    write: Callable[[ExportedRun], Files]
    """Returns its files by name. Raises SpecError with everything that the format requires and nobody stated."""
    models: Literal["one", "any", "all"] = "any"
    folder: bool = False
    """Whether it is a folder of several files."""
    asks_evaluator: bool = False
    """Whether it requires the relationship of the evaluator to the model, which no results tell."""


ORIGINAL = "original"
"""The variant of predictions as they were given."""


class Predictor(NamedTuple):
    """A model, or a recalibrated variant of it."""

    model: str
    variant: str

    @property
    def name(self) -> str:
        """The model's name with its recalibration, such as ``forest+isotonic``; without any, the model's alone."""
        return self.model if self.variant == ORIGINAL else f"{self.model}+{self.variant}"


@dataclass(frozen=True)
class ExportedRun:
    """The results of a run, as exports see them.

    ``place`` is the path of `results.json` for messages; ``chosen`` the only model to export, None for all;
    ``evaluator`` is the relationship of the evaluator to the model.
    """

    results: Results
    manifest: Manifest | None
    place: str
    chosen: Predictor | None = None
    evaluator: str | None = None

    @classmethod
    def read(cls, folder: str | os.PathLike[str], model: str | None = None, evaluator: str | None = None) -> Self:
        """Return the run in an output folder or a `results.json`, restricted to ``model`` where that is not None.

        Raises DataError where it cannot be read, was changed, or is of another version, UsageError for an unknown
        model.
        """
        from evalpipe.runs.folder import RunFolder

        run = RunFolder.named(folder)
        results, manifest = run.results, run.manifest
        if manifest is not None and manifest.sha256_of.get(RESULTS) != results.evidence_sha256:
            message = f"{run.results_file} is not the file that its run wrote, by its manifest"
            raise DataError.of("changed-file", message, hint="restore it, or run again; `evalpipe verify` tells more")
        exported = cls(results, manifest, str(run.results_file), evaluator=evaluator)
        return exported if model is None else replace(exported, chosen=exported.predictor(model))

    @property
    def files(self) -> dict[str, str]:
        """The sha256 of results.json and of the files that the manifest lists, by file name."""
        listed = {} if self.manifest is None else self.manifest.sha256_of
        return {RESULTS: self.results.evidence_sha256} | listed

    @cached_property
    def names(self) -> Names:
        """The names of models, measures and slices."""
        from evalpipe.card.wording import names_of

        return names_of(self.results)

    @cached_property
    def addresses(self) -> Addresses:
        """The addresses of the estimates."""
        from evalpipe.card.addresses import Addresses

        return Addresses(self.results)

    @cached_property
    def predictors(self) -> tuple[Predictor, ...]:
        """The models with estimates and their variants, in the order of the results; or only the chosen one."""
        all_predictors = dict.fromkeys(Predictor(row.model, row.variant) for row in self.results.rows)
        return tuple(all_predictors) if self.chosen is None else (self.chosen,)

    def predictor(self, name: str) -> Predictor:
        """Return the model or variant of a name such as ``forest+isotonic``; raises UsageError for an unknown name."""
        by_name = {predictor.name: predictor for predictor in self.predictors}
        if name not in by_name:
            near = closest(name, by_name)
            hint = f"did you mean '{near}'?" if near else f"name {listed(by_name)}" if by_name else None
            raise UsageError.of("unknown-model", f"{self.place} has no estimates of {quoted(name)}", hint)
        return by_name[name]

    @property
    def at_least_one(self) -> tuple[Predictor, ...]:
        """The models with estimates and their variants, or the chosen one; raises SpecError where there is none."""
        if not self.predictors:
            raise self.lacking("these results are of candidates alone: no model has estimates",
                               "export the run of a spec with models")
        return self.predictors

    @property
    def only(self) -> Predictor:
        """The chosen model, or the only one; raises UsageError where there are several, and SpecError where none."""
        if len(self.at_least_one) > 1:
            names = [predictor.name for predictor in self.at_least_one]
            raise UsageError.of("several-models", f"the format is of one model, and {self.place} has {len(names):,}",
                                hint=f"choose with --model: {listed(names)}")
        return self.at_least_one[0]

    def rows(self, predictor: Predictor) -> list[Estimate]:
        """Return the estimates of a model or variant, those of slices and classes too."""
        return [row for row in self.results.rows if (row.model, row.variant) == predictor]

    @property
    def headline(self) -> list[Estimate]:
        """The headline estimates of the exported models: on all rows, and not of a single class."""
        return [row for row in self.results.headline if (row.model, row.variant) in self.predictors]

    @property
    def day(self) -> datetime:
        """The day as of which the results are, as midnight UTC; raises SpecError where none is stated."""
        if self.results.as_of is None:
            raise SpecError(self.missing_day_problem)
        return datetime.fromisoformat(self.results.as_of).replace(tzinfo=UTC)

    @property
    def missing_day_problem(self) -> Problem:
        """The problem of results without a day, for a format that requires a time."""
        return self.problem("the format requires a time, and the results state no day",
                            "set 'as_of' in the spec, or run again with --as-of DAY")

    def lacking(self, message: str, hint: str) -> SpecError:
        """Return a SpecError with the one problem that results lack what a format requires."""
        return SpecError(self.problem(message, hint))

    def problem(self, message: str, hint: str) -> Problem:
        """Return the problem of results that lack what a format requires."""
        return Problem("not-stated", message, Place(self.place), hint=hint)

    def stated(self, key: str) -> str | None:
        """Return the text of a field of `card:`, with its references to numbers filled in; None where it is empty."""
        from evalpipe.card.statements import with_numbers

        text: str | None = getattr(self.results.statement, key)
        return None if text is None else with_numbers(self.results, text)

    @property
    def limits(self) -> list[str]:
        """The texts of `card.limits`, with their references to numbers filled in."""
        from evalpipe.card.statements import with_numbers

        return [with_numbers(self.results, text) for text in self.results.statement.limits]

    def uuid(self, kind: str) -> str:
        """Return a UUID for a ``kind`` of document, which depends only on the sha256 of these results."""
        return str(uuid5(NAMESPACE_URL, f"sha256:{self.results.evidence_sha256}#{kind}"))

    @cached_property
    def several_datasets(self) -> bool:
        """Whether several datasets were evaluated."""
        return len({row.dataset for row in self.results.rows}) > 1


def rows_name(exported: ExportedRun, row: Estimate) -> str:
    """Return the name of the rows of an estimate: its slice, after the dataset where there are several."""
    slice_text = "" if row.slice is None else exported.names.slice(row.slice)
    return ", ".join(filter(None, (row.dataset if exported.several_datasets else "", slice_text)))


def measure_name(row: Estimate) -> str:
    """Return the name of a measure with its options and average: ``f_beta(beta=2,average=macro)``."""
    average = [] if row.average is None else [f"average={row.average}"]
    option_text = ",".join(filter(None, [options(row.params), *average]))
    return f"{row.metric}({option_text})" if option_text else row.metric


def options(params: dict[str, Scalar] | Slice) -> str:
    """Return options of a measure, or labels of a slice, as text: ``beta=2,prevalence=0.1``."""
    return ",".join(f"{name}={value if isinstance(value, str) else json.dumps(value)}"
                    for name, value in params.items())


def interval_text(row: Estimate) -> dict[str, str]:
    """Return level, method, n, events, status and reason of an estimate as texts, without those that are None."""
    facts = {"level": row.level, "method": row.method, "n": row.n, "events": row.events, "status": row.status,
             "reason": row.reason}
    return {name: value if isinstance(value, str) else json.dumps(value)
            for name, value in facts.items() if value is not None}


def json_text(document: object) -> str:
    """Return a document as JSON with a line for each value, which a version control can compare."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def judged(exported: ExportedRun, predictor: Predictor | None = None) -> list[Case]:
    """Return every verdict of a gate, and of a standard of which a share is required; names are those of junit.xml.

    With a ``predictor``, only gates on that model and variant are among them.
    """
    from evalpipe.card.junit import test_cases

    gates_first = sorted(test_cases(exported.results), key=lambda check: check.gate is None)
    return [check for check in gates_first
            if check.gate is None or predictor is None or (check.gate.model, check.gate.variant) == predictor]
