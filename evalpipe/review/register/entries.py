"""What a register says of each card: its newest run, what is judged of it, who signed, and what needs a person.

No clock is read: approvals and silences are judged on a day that is given, or on the newest one that anything states.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from evalpipe.base.formats import FORMATS, MANIFEST, RESULTS, SIGNATURES
from evalpipe.card.page import plain
from evalpipe.card.sign_off import required_roles, status_text
from evalpipe.card.summary import SIGNS, first_findings, texts_after_findings, verdict
from evalpipe.errors import DataError, UsageError
from evalpipe.results.comments import is_answered
from evalpipe.results.signatures import SIGNATURE_LIST, newest
from evalpipe.review.ledger_records import LEDGER_FILE, LedgerPlace, RecordedRun, changed_keys, recorded_runs
from evalpipe.runs.folder import RunFolder
from evalpipe.words.spelling import counted, joined, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Results
    from evalpipe.results.document import RunVerdict
    from evalpipe.results.signatures import Signature

NeedKind = Literal[
    "rejected", "failed", "expired", "changed", "unreadable", "missing", "drifting", "stopped", "challenged", "warned",
    "unsigned", "amended", "inconclusive", "unverified", "expires",
]
"""What needs a person, the most urgent first."""

SOON = 30
"""Days before its end in which an approval is said to expire."""

FEW_RUNS, LONG_SILENCE = 4, 3
"""Days with a run from which on their usual distance is known, and how many times that a silence is long."""

DRIFTS = {("control", "fails"), ("shift", "note"), ("performance-drift", "fails")}
"""The code and kind of findings that say that a model drifts."""


@dataclass(frozen=True, slots=True)
class Need:
    """A reason why a person must look at a card, in a sentence."""

    kind: NeedKind
    text: str


@dataclass(frozen=True, slots=True)
class CardEntry:
    """A line of the register: an evaluation by its ``name``, as its newest run has it.

    ``folder`` is its output folder, ``card`` the file of the card in it; both are None where the run is known from a
    ledger alone. ``verdict`` is that of the run, or None where nothing can be read, and ``headline`` says it.
    ``finding`` is the first finding of the card, ``changes`` what is different since the run before. ``signed_as_of``
    is the day of the card that was signed, where that is another one. ``runs`` counts those in ledgers.
    """

    name: str
    title: str
    models: tuple[str, ...] = ()
    as_of: str | None = None
    folder: Path | None = None
    card: str | None = None
    verdict: RunVerdict | None = None
    headline: str = ""
    finding: str | None = None
    changes: tuple[str, ...] = ()
    status: str = ""
    signatures: tuple[Signature, ...] = ()
    signed_as_of: str | None = None
    runs: int = 0
    needs: tuple[Need, ...] = ()

    @property
    def urgency(self) -> tuple[int, str]:
        """What entries are sorted by: the most urgent need, then the name."""
        kinds = get_args(NeedKind)
        return min((kinds.index(need.kind) for need in self.needs), default=len(kinds)), self.name


@dataclass(frozen=True, slots=True)
class Register:
    """Entries, the most urgent first, the day they are judged on, and how much was read."""

    as_of: str | None
    entries: tuple[CardEntry, ...]
    ledgers: tuple[str, ...]
    folders: int

    @property
    def needy(self) -> tuple[CardEntry, ...]:
        """The entries that need a person."""
        return tuple(entry for entry in self.entries if entry.needs)


@dataclass(slots=True)
class _Evaluation:
    """All that is known of a name: its output folders with their days, and its runs in ledgers."""

    name: str
    folders: list[tuple[str, RunFolder]] = field(default_factory=list)
    runs: list[RecordedRun] = field(default_factory=list)


def register(reports: Sequence[str], as_of: str | None = None) -> Register:
    """Return the register of ``reports``: folders, searched for output folders and ledgers, and ledgers by file or URI.

    Approvals are judged on the day ``as_of``, by default the newest day of a run or a signature. Raises UsageError for
    what is no folder and no ledger, for a ledger that cannot be read, and where there is no run.
    """
    paths, places = _sources(reports)
    evaluations = _evaluations(paths, [run for place in places.values() for run in recorded_runs(place)])
    if not evaluations:
        raise UsageError.of("no-runs", f"there is no run in {listed(reports)}",
                            "name a folder of output folders, such as reports, or a ledger")
    cards = [_Card(evaluation) for _, evaluation in sorted(evaluations.items())]
    day = as_of or max((day for card in cards for day in card.days), default=None)
    entries = sorted((card.entry(day) for card in cards), key=lambda entry: entry.urgency)
    return Register(day, tuple(entries), tuple(places),
                    sum(len(evaluation.folders) for evaluation in evaluations.values()))


def _sources(reports: Sequence[str]) -> tuple[dict[str, Path], dict[str, LedgerPlace]]:
    """Return the output folders by their absolute paths, and the places of ledgers by how they are shown."""
    folders: dict[str, Path] = {}
    places: dict[str, LedgerPlace] = {}
    for report in reports:
        if not Path(report).is_dir():
            if "://" not in report and not Path(report).exists():
                raise UsageError.of("no-reports", f"there is no folder and no ledger '{report}'",
                                    "name a folder of output folders, a ledger's file, or its URI")
            place = LedgerPlace.of(report)
            places[place.shown] = place
            continue
        for path, inner, files in os.walk(report):
            if RESULTS in files or MANIFEST in files:
                folders[os.path.abspath(path)] = Path(path)  # noqa: PTH100 - without following links
                inner.clear()
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            if LEDGER_FILE in files:
                place = LedgerPlace.of(str(Path(path) / LEDGER_FILE))
                places[place.shown] = place
    return folders, places


def _evaluations(paths: dict[str, Path], runs: Sequence[RecordedRun]) -> dict[str, _Evaluation]:
    """Return what folders and ledgers have of each name; folders that a ledger names are added to ``paths``."""
    evaluations: dict[str, _Evaluation] = {}
    for run in runs:
        evaluations.setdefault(run.name, _Evaluation(run.name)).runs.append(run)
        if str(run.folder) not in paths and RunFolder(run.folder).holds_run:
            paths[str(run.folder)] = run.folder
    for path in paths.values():
        name, day = _name_and_day(RunFolder(path))
        evaluations.setdefault(name, _Evaluation(name)).folders.append((day, RunFolder(path)))
    for evaluation in evaluations.values():
        evaluation.folders.sort(key=lambda folder: (folder[0], str(folder[1].path)))
        evaluation.runs.sort(key=lambda run: (run.as_of or "", run.last_recorded))
    return evaluations


def _name_and_day(folder: RunFolder) -> tuple[str, str]:
    """Return the name of the evaluation in an output folder and its day, "" without; its path where all is unreadable.

    The manifest is read where there is one, which is small.
    """
    try:
        manifest = folder.manifest
        if manifest is not None:
            return manifest.name, manifest.as_of or ""
    except DataError:
        pass
    try:
        return folder.results.name, folder.results.as_of or ""
    except DataError:
        return str(folder.path), ""


class _Card:
    """The newest run of an evaluation, and all signatures of its runs."""

    def __init__(self, evaluation: _Evaluation) -> None:
        """Find the newest run among the output folders and the runs in ledgers."""
        self.name, self.runs = evaluation.name, evaluation.runs
        self.folders = [folder for _, folder in evaluation.folders]
        self.dates = sorted({run.as_of for run in self.runs if run.as_of})
        run = self.runs[-1] if self.runs else None
        newest_day = evaluation.folders[-1][0] if evaluation.folders else None
        self.folder = None
        if newest_day is not None and (run is None or (run.as_of or "") <= newest_day):
            of_day = [folder for day, folder in evaluation.folders if day == newest_day]
            recorded = [folder for folder in of_day if run and folder.sha256_if_readable(RESULTS) ==
                        run.results_sha256] if len(of_day) > 1 else []
            self.folder = (recorded or of_day)[-1]
        self.newest_day = newest_day if run is None or self.folder is not None else run.as_of

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        """The signatures of all runs, sorted by day."""
        signatures: list[Signature] = []
        for folder in self.folders:
            signatures += folder.earlier_signatures
            if folder.has(SIGNATURES):
                try:
                    signatures += folder.all_signatures
                except DataError:
                    continue  # the newest folder says so among its needs
        return tuple(sorted(signatures, key=lambda signature: signature.date))

    @property
    def days(self) -> list[str]:
        """The days that runs are about and that signatures were given on."""
        return [*self.dates, *filter(None, [self.newest_day]), *(signature.date for signature in self.signatures)]

    def entry(self, day: str | None) -> CardEntry:
        """Return the entry of the newest run, judged on a day."""
        needs = [*_needs_of_signatures(self.signatures, day), *_silence(self.dates, day)]
        if self.folder is None:
            return self._entry_of_ledger(needs)
        try:
            results = self.folder.results
        except DataError as error:
            needs.append(Need("unreadable", f"{error.problems[0].message}."))
            return CardEntry(self.name, self.name, folder=self.folder.path, runs=len(self.runs), needs=_sorted(needs))
        words = plain(verdict(results).title).partition(" ")[2]  # without its sign
        finding = next((f"{SIGNS[finding.kind][0]} {finding.text}" for finding in first_findings(results)), None)
        needs += [*_needs_of_output(self.folder, results), *_needs_of_verdict(results.verdict, words), *_drift(results),
                  *_challenges(self.folder), *_missing_approvals(results, self.signatures), *self._amended(results)]
        file = next((FORMATS[name].file for name in self.folder.formats if name in ("html", "pdf")), None)
        on_day = results.model_copy(update={"as_of": day or results.as_of})
        return CardEntry(
            self.name, results.title, tuple(model.label for model in results.models), results.as_of, self.folder.path,
            file, results.verdict, words, finding, tuple(texts_after_findings(results)),
            status_text(on_day, self.signatures), tuple(newest(self.signatures).values()), self._day_signed(results),
            len(self.runs), _sorted(needs))

    def _day_signed(self, results: Results) -> str | None:
        """Return the day of the card that the newest signature is of, where it is not that of ``results``."""
        if not self.signatures or self.signatures[-1].evidence_sha256 == results.evidence_sha256:
            return None
        signed = self._signed_run
        return "another day" if signed is None else signed.as_of or signed.last_recorded[:10]

    @property
    def _signed_run(self) -> RecordedRun | None:
        """The run in a ledger that the newest signature is of; None where no ledger has it, or nobody signed."""
        evidence = self.signatures[-1].evidence_sha256 if self.signatures else None
        return next((run for run in self.runs if run.results_sha256 == evidence), None)

    def _amended(self, results: Results) -> Iterator[Need]:
        """Yield that the spec of ``results`` is not the one that the newest signature is of, with the changed keys."""
        signed = self._signed_run
        keys = [] if signed is None else changed_keys(signed, results)
        if keys:
            yield Need("amended", f"Since it was signed, the spec differs in {joined(keys, 'and')}.")

    def _entry_of_ledger(self, needs: list[Need]) -> CardEntry:
        """Return the entry of a run that a ledger alone has: its verdict, without findings."""
        run = self.runs[-1]
        verdicts = run.limits()
        words = {"fail": "failed", "inconclusive": "inconclusive"}
        worst = next((word for word in words if word in verdicts), None)
        limits = counted(len(verdicts), "limit")
        headline = "No gates" if not verdicts else f"All of {limits} held" if worst is None else (
            f"{verdicts.count(worst)} of {limits} {words[worst]}")
        day = f" of {run.as_of}" if run.as_of else ""
        needs += [Need("missing", f"The run{day} is in the ledger, and its card is not in '{run.folder}'."),
                  *_needs_of_verdict(run.verdict, headline)]
        return CardEntry(self.name, self.name, as_of=run.as_of, verdict=run.verdict, headline=headline,
                         signatures=tuple(newest(self.signatures).values()), runs=len(self.runs), needs=_sorted(needs))


def _sorted(needs: Sequence[Need]) -> tuple[Need, ...]:
    """Return needs in their order, the most urgent first."""
    kinds = get_args(NeedKind)
    return tuple(sorted(needs, key=lambda need: kinds.index(need.kind)))


def _needs_of_output(folder: RunFolder, results: Results) -> Iterator[Need]:
    """Yield what is wrong with the files of an output folder: changed after the run, or not to be verified."""
    try:
        folder.records_of(SIGNATURE_LIST, results.evidence_sha256)
        if folder.manifest is None:
            yield Need("unverified", f"There is no {MANIFEST}, by which its files could be verified.")
            return
        changed = list(folder.changed_files(folder.manifest))
        if changed:
            yield Need("changed", f"{joined(changed[:3], 'and')}: see evalpipe verify {folder.path}.")
    except DataError as error:
        yield Need("changed", f"{error.problems[0].message}.")


def _challenges(folder: RunFolder) -> Iterator[Need]:
    """Yield how many comments on the card nobody else has answered, and what the first of them is on."""
    try:
        comments = folder.comments
    except DataError as error:
        yield Need("changed", f"{error.problems[0].message}.")
        return
    asked = [comment for comment in comments if comment.reply_to is None and not is_answered(comment, comments)]
    if asked:
        without = f"{counted(len(asked), 'comment')} {'has' if len(asked) == 1 else 'have'} no answer"
        yield Need("challenged", f"{without}: {asked[0].name} on {asked[0].on}.")


def _needs_of_verdict(run_verdict: RunVerdict, headline: str) -> Iterator[Need]:
    """Yield that gates did not hold, if they did not."""
    kinds: dict[RunVerdict, NeedKind] = {"fail": "failed", "warn": "warned", "inconclusive": "inconclusive"}
    if run_verdict in kinds:
        yield Need(kinds[run_verdict], f"{headline}.")


def _drift(results: Results) -> Iterator[Need]:
    """Yield the first finding that says that a model drifts."""
    drift = next((finding for finding in results.findings if (finding.code, finding.kind) in DRIFTS), None)
    if drift is not None:
        yield Need("drifting", drift.text)


def _needs_of_signatures(signatures: Sequence[Signature], day: str | None) -> Iterator[Need]:
    """Yield rejections, and approvals that expired or soon will."""
    roles_by_end: dict[str, list[str]] = {}
    for role, signature in newest(signatures).items():
        if signature.decision == "rejected":
            yield Need("rejected", f"{signature.name} ({role}) rejected it on {signature.date}.")
        elif signature.expires is not None:
            roles_by_end.setdefault(signature.expires, []).append(role)
    for end, roles in sorted(roles_by_end.items()):
        left = SOON + 1 if day is None else (date.fromisoformat(end) - date.fromisoformat(day)).days
        if left < 0:
            yield Need("expired", f"The approval by {joined(roles, 'and')} expired on {end}.")
        elif left <= SOON:
            ends = f"expires on {end}, in {counted(left, 'day')}"
            yield Need("expires", f"The approval by {joined(roles, 'and')} {ends}.")


def _missing_approvals(results: Results, signatures: Sequence[Signature]) -> Iterator[Need]:
    """Yield the roles that must approve and have not."""
    latest = newest(signatures)
    missing = [role for role in required_roles(results) if role not in latest or latest[role].decision == "reviewed"]
    if missing:
        yield Need("unsigned", f"Not approved by {joined(missing, 'and')}.")


def _silence(dates: Sequence[str], day: str | None) -> Iterator[Need]:
    """Yield that runs have stopped: none for three times as long as the usual distance between two of them."""
    if day is None or len(dates) < FEW_RUNS:
        return
    days = [date.fromisoformat(text) for text in dates]
    distances = sorted((later - earlier).days for earlier, later in pairwise(days))
    usual, silent = distances[len(distances) // 2], (date.fromisoformat(day) - days[-1]).days
    if silent > LONG_SILENCE * usual:
        rhythm = "day" if usual == 1 else f"{usual:,} days"
        yield Need("stopped", f"No run since {dates[-1]}, for {counted(silent, 'day')}; they came every {rhythm}.")
