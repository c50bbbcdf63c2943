"""What a ledger keeps of results."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalpipe.base.databases import DatabaseUri
from evalpipe.base.digests import json_sha256, text_sha256
from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy import URL

    from evalpipe.results import Estimate, Gate, GateEvidence, Results


FILE = "ledger.sqlite"
"""The file of the ledger beside output folders where the spec names no other."""


OPTION = "--ledger"
"""The option of the commands that take a ledger."""


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """A ``file`` of SQLite, or the ``uri`` of a database, which may hold a password."""

    file: Path | None = None
    uri: DatabaseUri | None = None

    @classmethod
    def of(cls, text: str) -> LedgerPlace:
        """Return the place that a text names: a URI of SQLAlchemy, or the path of a file.

        Raises UsageError where it names none, without the text, which may hold a password.
        """
        uri = DatabaseUri(text)
        if uri.no_ledger is not None:
            message, hint = uri.no_ledger
            raise UsageError.of("bad-uri", f"{OPTION}: {message}", hint)
        return cls._from_uri(uri)

    @classmethod
    def _from_uri(cls, uri: DatabaseUri) -> LedgerPlace:
        """Return the place of a parsed URI: a database, or a file where the text has no scheme."""
        return cls(uri=uri) if uri.scheme else cls(file=Path(uri.text).absolute())

    @classmethod
    def default_for(cls, out: Path) -> LedgerPlace:
        """Return the default ledger of an output folder: the file `FILE` beside it."""
        return cls(file=out.absolute().parent / FILE)

    @classmethod
    def named(cls, ledger: DatabaseUri | bool, out: Path) -> LedgerPlace | None:  # noqa: FBT001 - as a plan has it
        """Return the ledger that a plan names, True for the default one of output folder ``out``; None for False."""
        if ledger is False:
            return None
        return cls.default_for(out) if ledger is True else cls._from_uri(ledger)

    def found(self) -> LedgerPlace:
        """Return this place; raises UsageError where it is a file that does not exist."""
        file = self.file if self.uri is None else Path(self.uri.file) if self.uri.file else None
        if file is not None and not file.exists():
            hint = f"the first 'evalpipe run' begins one; name another ledger with {OPTION}"
            raise UsageError.of("no-ledger", f"there is no ledger at '{self.shown}'", hint)
        return self

    @property
    def address(self) -> URL:
        """The database URL for SQLAlchemy; raises ValueError where it cannot be parsed."""
        from sqlalchemy import URL, make_url
        from sqlalchemy.exc import ArgumentError

        if self.uri is None:
            return URL.create("sqlite", database=str(self.file))
        try:
            url = make_url(self.uri.address)
        except ArgumentError:
            raise ValueError("it is no URL of a database") from None
        # psycopg is the driver that the extra installs; SQLAlchemy would look for the one before it.
        return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgresql", "postgres") else url

    @property
    def shown(self) -> str:
        """The path or URI as shown in messages, without a password; relative to the working folder if inside it."""
        if self.file is None:
            return "" if self.uri is None else self.uri.without_password
        here = Path.cwd()
        return str(self.file.relative_to(here)) if self.file.is_relative_to(here) else str(self.file)

    def hidden(self, message: str) -> str:
        """Return an error message of a database driver with the password removed."""
        return message if self.uri is None else self.uri.hidden(message)

    def path_of(self, folder: str) -> Path:
        """Return the path of an output folder from its text in the ledger: from the ledger's file, or absolute."""
        return Path(folder) if self.file is None else Path(os.path.normpath(self.file.parent / folder))

    def folder(self, out: Path) -> str:
        """Return the text by which the ledger identifies an output folder: its path relative to the ledger's file.

        Of a ledger in a database it is the absolute path.
        """
        if self.file is None:
            return out.absolute().as_posix()
        return Path(os.path.relpath(out.absolute(), self.file.parent)).as_posix()


OF_ESTIMATE = (
    "dataset", "model", "variant", "metric", "params", "average", "value", "lower", "upper", "level", "method", "n",
    "events", "status",
)
SUBJECT = ("metric", "desirability", "params", "average", "class", "dataset", "model", "variant", "slice")
OF_GATE = ("gate", "name", "limit", "verdict", "severity", "observed", "lower", "upper", "reason")

OF_EVIDENCE = ("sequence", "family", "basis", "data_sha256", "against", "kept", "value", "error", "rows", "support",
               "former")

DIGITS = 8
"""Digits of the sha256 of a value of the spec: enough to tell it from what it was."""

OF_THE_DAY = "as_of"
"""The key of the spec that is different every night."""

WITH_PATHS = ("datasets", "models", "candidates", "gates")
"""The keys of the spec whose paths may have the day in them; elsewhere a day is a text of its own."""

EMPTY: tuple[object, ...] = (None, [], {})
"""Values of the spec that are as good as none."""

Row = dict[str, Any]
Digests = str | list[str] | dict[str, str]
"""The digest of a value of the spec, of each entry of a list, or of each key of a mapping."""


def run_row(results: Results) -> Row:
    """Return the row of a run in the table of runs, without its folder and times."""
    return {
        "name": results.name, "as_of": results.as_of,
        "results_sha256": results.evidence_sha256, "spec_sha256": results.spec_sha256,
        "evalpipe_version": results.evalpipe_version, "verdict": results.verdict,
        "renamed": results.renamed or None, "inputs_sha256": inputs_sha256(results),
        "facts": facts(results),
    }


def facts(results: Results) -> Row:
    """Return what the next run is compared with: rows and events by dataset, and digests of each key of the spec.

    Where outcomes come late, also how many rows of each dataset were not settled, which trends draw apart.
    """
    unsettled = {row.dataset: row.unsettled for row in results.label_arrival}
    return {
        **({"unsettled": unsettled} if unsettled else {}),
        "datasets": [{"dataset": dataset.name, "rows": dataset.n, "events": dataset.events}
                     for dataset in results.datasets],
        "spec": {key: _digests(value, results.as_of if key in WITH_PATHS else None)
                 for key, value in results.spec.items() if key != OF_THE_DAY and value not in EMPTY}}


def _digests(value: object, day: str | None) -> Digests:
    if isinstance(value, dict):
        return {str(key): _digest(item, day) for key, item in value.items() if item not in EMPTY}
    return [_digest(item, day) for item in value] if isinstance(value, list) else _digest(value, day)


def _digest(value: object, day: str | None) -> str:
    """Return a short digest of a value; where ``day`` occurs in it, it counts as ``${date}``, the same every day."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text_sha256(text if day is None else text.replace(day, "${date}"))[:DIGITS]


def inputs_sha256(results: Results) -> str | None:
    """Return a sha256 over the data files of a run; None where some data were in memory and have no sha256."""
    files = sorted((file.dataset, file.sha256 or "") for file in results.inputs)
    return json_sha256(files) if all(sha256 for _, sha256 in files) else None


def estimate_rows(results: Results) -> list[Row]:
    """Return the headline estimates as rows of the table of estimates."""
    return [{"place": place, **_fields(estimate, OF_ESTIMATE)} for place, estimate in enumerate(results.headline)]


def verdict_rows(results: Results) -> list[Row]:
    """Return the verdicts of all gates, on slices and classes too, as rows of the table of verdicts."""
    return [
        {"place": place, **_fields(gate, OF_GATE), "reason": gate.reason.code,
         "subject": _fields(gate, SUBJECT if gate.check is None else (*SUBJECT, "check"))}
        for place, gate in enumerate(results.gates)]


def evidence_rows(results: Results) -> list[Row]:
    """Return the evidence on limits of gates `on: sequence` as rows of its table; none for a run without a day."""
    evidence = results.evidence if results.as_of is not None else ()
    return [{"place": place, **_fields(row, OF_EVIDENCE)} for place, row in enumerate(evidence)]


def _fields(record: Estimate | Gate | GateEvidence, names: tuple[str, ...]) -> Row:
    """Return the fields of a record with these names, as JSON values."""
    document = record.model_dump(mode="json", by_alias=True)
    return {name: document.get(name) for name in names}
