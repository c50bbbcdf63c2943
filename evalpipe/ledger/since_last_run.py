"""What has changed since the run whose output is in a folder: all that its output depends on, and its files."""

from __future__ import annotations

import json
from itertools import chain, zip_longest
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import file_sha256, text_sha256
from evalpipe.base.formats import KEY_SIGNATURE, MANIFEST, REFERENCE, RESULTS
from evalpipe.base.origin import path_text
from evalpipe.data.databases import libraries_of
from evalpipe.data.files import find
from evalpipe.errors import DataError, Problem, UsageError
from evalpipe.ledger.history import (
    ledger_to_read,
    previous_run,
    recorded_nights,
    runs_charted,
    since_run_before,
    warnings_of_ledger,
)
from evalpipe.ledger.nights import evidence_before
from evalpipe.plan.sources import sources
from evalpipe.results.document import OF_LEDGER
from evalpipe.results.observed import EarlierRun
from evalpipe.results.sequences import changed_sequences
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.runs.folder import NO_NIGHTS, RunFolder
from evalpipe.runs.manifest import libraries
from evalpipe.runs.record import overrides_of
from evalpipe.runs.references import Tonight, has_another_reference, reference_for
from evalpipe.spec.schema import resolved, spec_sha256
from evalpipe.version import VERSION
from evalpipe.words.spelling import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.base.ed25519 import Signer
    from evalpipe.base.origin import Loc
    from evalpipe.ledger.store import Ledger
    from evalpipe.results import FailOn, Results
    from evalpipe.runs.manifest import Manifest
    from evalpipe.spec.spec import Spec


MOST = 3
"""The changes of one kind that are named; of more only the number is."""


def changes(
    spec: Spec, folder: Path, fail_on: FailOn = "fail", by: Signer | None = None
) -> tuple[Results | None, list[str]]:
    """Return the results in an output folder, and what has changed since their run, in words.

    What a run that begins now would read is compared with what that one read, and the files in the folder with what it
    wrote and, with a key, signed ``by`` it. The results are None where none can be compared.
    """
    earlier_run = RunFolder(folder)
    if not earlier_run.has(RESULTS):
        return None, ["there is no earlier run"]
    try:
        results, manifest = earlier_run.results, earlier_run.manifest
    except DataError as error:
        return None, [error.problems[0].message]
    if manifest is None:
        return None, [f"the earlier run left no {MANIFEST}"]
    changes_by_kind = (
        _changed_spec(spec, results, manifest), _changed_versions(manifest, spec, results),
        _changed_data(spec, results), _changed_texts(spec, results), _changed_earlier_results(spec, results),
        changed_reference(spec, folder, results, fail_on), _changed_ledger(spec, results, folder),
        earlier_run.changed_files(manifest), _changed_key(earlier_run, by))
    return results, [reason for reasons in changes_by_kind for reason in _first_few(list(reasons))]


def _first_few(reasons: list[str]) -> list[str]:
    """Return the first `MOST` reasons of a kind, and a line that counts the others."""
    more = len(reasons) - MOST
    return reasons if more <= 0 else [*reasons[:MOST], f"{more} more like this"]


def _changed_spec(spec: Spec, results: Results, manifest: Manifest) -> Iterator[str]:
    """Yield the keys of the resolved spec whose values changed; without any, that its text or `--set` changed."""
    if spec_sha256(spec) != results.spec_sha256:
        now = json.loads(json.dumps(resolved(spec)))
        keys = [path_text(loc) for loc in _differing_keys(now, results.spec, ())]
        yield f"the spec: {joined(_first_few(keys), 'and')}" if keys else "the spec"
    elif [file.sha256 for file in spec.origin.files] != [file.sha256 for file in manifest.spec_files]:
        yield "the text of the spec, which means the same"  # the manifest has the sha256 of its files
    elif overrides_of(spec) != manifest.overrides:
        yield "--set, which means the same"


def _differing_keys(now: Any, then: Any, loc: Loc) -> Iterator[Loc]:
    """Yield the paths of the leaves in which two JSON values differ; ``loc`` is the path of both."""
    if isinstance(now, dict) and isinstance(then, dict):
        for key in {**now, **then}:
            yield from _differing_keys(now.get(key), then.get(key), (*loc, key))
    elif isinstance(now, list) and isinstance(then, list):
        for index, (left, right) in enumerate(zip_longest(now, then)):
            yield from _differing_keys(left, right, (*loc, index))
    elif now != then:
        yield loc


def _changed_versions(manifest: Manifest, spec: Spec, results: Results) -> Iterator[str]:
    """Yield evalpipe, Python, each library and each plugin whose version changed since the run."""
    now = {"evalpipe": VERSION, "Python": python_version(), **libraries(libraries_of(sources(spec))),
           **_plugins(spec.plugins)}
    then = {"evalpipe": manifest.evalpipe_version, "Python": manifest.python, **manifest.libraries,
            **_plugins(results.appearance.plugins)}
    for name in {**now, **then}:
        if now.get(name) != then.get(name):
            yield f"{name} is {now.get(name, 'gone')}, was {then.get(name, 'not there')}"


def _plugins(plugins: Iterable[Any]) -> dict[str, str]:
    """Return the package and version of each plugin, by a name for messages."""
    return {f"the plugin {plugin.name}": f"{plugin.package} {plugin.version}" for plugin in plugins}


def _changed_data(spec: Spec, results: Results) -> Iterator[str]:
    """Yield each data file that is new, gone or changed, and each query, whose rows may have changed."""
    now: dict[str, str | None] = {}
    declared_data = sources(spec)
    candidates = [] if declared_data.candidates is None else [declared_data.candidates]
    for declared in (*declared_data.datasets.values(), *candidates):
        if declared.source.query is not None:
            yield f"{declared.name} is a query, whose rows may be others now"
        for named in declared.named_files:
            located = find(spec.origin, named)
            if isinstance(located, Problem):
                yield located.message
                return
            now |= {f"{declared.name}: {shown}": _sha256_if_readable(path) for path, shown in located.files}
    then = {f"{file.dataset}: {file.path or 'data in memory'}": file.sha256 for file in results.inputs
            if file.query_sha256 is None}
    yield from _changed_hashes(now, then)


def _changed_texts(spec: Spec, results: Results) -> Iterator[str]:
    """Yield each text file and each template of the card that is new, gone or changed."""
    now = {prose.path: prose.sha256 for prose in spec.texts.values() if prose.path is not None}
    yield from _changed_hashes(now, {file.path: file.sha256 for file in results.statement.files})
    templates = {} if spec.templates is None else spec.templates.texts
    yield from _changed_hashes({f"template {name}": text_sha256(text) for name, text in templates.items()},
                               {f"template {record.name}": record.sha256 for record in results.appearance.templates})


def _changed_earlier_results(spec: Spec, results: Results) -> Iterator[str]:
    """Yield each gate that is compared with a file of earlier results which has changed."""
    then = {gate.gate: gate.against_sha256 for gate in results.gates}
    for number, gate in enumerate(spec.gates or (), 1):
        if gate.against is None or isinstance(gate.against, str):
            continue
        path = spec.origin.folder_of("gates", number - 1, "against", "results") / gate.against.results
        if RunFolder.named(path).sha256_if_readable(RESULTS) != then.get(number):
            yield f"the results that gate {number} is against"


def _changed_ledger(spec: Spec, results: Results, folder: Path) -> Iterator[str]:
    """Yield how the ledger's earlier nightly runs differ from those that the run read, or why it cannot be read."""
    try:
        yield from changed_in_ledger(spec, results, folder)
    except UsageError as error:
        yield error.problems[0].message


def _changed_key(earlier_run: RunFolder, by: Signer | None) -> Iterator[str]:
    """Yield a reason where the manifest is not signed by the key ``by``, as that of a new run would be."""
    if by is not None:
        signature = earlier_run.content(KEY_SIGNATURE) if earlier_run.file(KEY_SIGNATURE).is_file() else None
        if signature != by.signature(earlier_run.content(MANIFEST)):
            yield f"{MANIFEST} is not signed by this key"


def _changed_hashes(now: Mapping[str, str | None], then: Mapping[str, str | None]) -> Iterator[str]:
    """Yield each file that is gone, new or changed, from sha256 by name; a file that cannot be read now is changed."""
    for name in chain(then, (name for name in now if name not in then)):
        if name not in now:
            yield f"{name} is gone"
        elif name not in then:
            yield f"{name} is new"
        elif now[name] != then[name] or now[name] is None:
            yield f"{name} has other bytes"


def _sha256_if_readable(path: Path) -> str | None:
    """Return the sha256 of a file; None where it cannot be read."""
    try:
        return file_sha256(path)
    except OSError:
        return None


def changed_in_ledger(spec: Spec, results: Results, out: Path) -> list[str]:
    """Return, in words, how the ledger's earlier nightly runs differ from those that the run of ``results`` read.

    ``out`` is the output folder, beside which the ledger is where the spec names none. It is read only where the
    results may rest on earlier nights. Raises UsageError where it cannot be.
    """
    former_warnings = [warning for warning in results.warnings if warning.code in OF_LEDGER]
    ledger = ledger_to_read(spec, out) if former_warnings or spec.as_of is not None else None
    if ledger is None:
        return []
    changed = [] if warnings_of_ledger(ledger, results, out) == former_warnings else ["what the run before it had"]
    if spec.as_of is None:
        return changed
    changed += _changed_night_before(results, ledger, out)
    changed += changed_nights(spec, results, ledger)
    if any(gate.sequence for gate in results.gates):
        evidence = evidence_before(ledger, spec.name, spec.as_of)
        changed += [f"the evidence of earlier nights on gate {number}"
                    for number in changed_sequences(results, evidence)]
    reference_gates = [gate for gate in results.gates if gate.against == "last"]
    nights = recorded_nights(ledger, results, out) if reference_gates else NO_NIGHTS
    reference = reference_for(Tonight.of(results), out, "", nights) if reference_gates else None
    if isinstance(reference, EarlierRun) and reference.sha256 != reference_gates[0].against_sha256:
        then_sha256 = reference_gates[0].against_sha256 or "none"
        changed.append(f"the reference is the run as of {reference.results.as_of} with a sha256 that begins with "
                       f"{reference.sha256[:EVIDENCE_DIGITS]}, not {then_sha256[:EVIDENCE_DIGITS]}")
    return changed


def _changed_night_before(results: Results, ledger: Ledger, out: Path) -> list[str]:
    """Return, in words and as a list, that the night before this run's is now another; empty if it is the same.

    A night that `evalpipe gc` has forgotten is the same.
    """
    if since_run_before(ledger, results, out) == results.since:
        return []
    night = previous_run(ledger, results, out, forgotten=True)
    now, then = None if night is None else night["as_of"], None if results.since is None else results.since.as_of
    if now != then:
        return [f"the night before is that of {now}, not of {then}" if then else f"the night of {now} is before it now"]
    return [] if night is None or night["forgotten"] else [f"the night of {now} has other rows, numbers or keys"]


def changed_reference(spec: Spec, folder: Path, results: Results, fail_on: FailOn) -> Iterator[str]:
    """Yield a reason where the folder's reference is not the one that the run left, as after `evalpipe accept`."""
    without_ledger = spec.as_of is None or spec.ledger is False
    if has_another_reference(folder, results, fail_on, without_ledger=without_ledger):
        yield f"{REFERENCE} is not the one that the run left"


def changed_nights(spec: Spec, results: Results, ledger: Ledger) -> list[str]:
    """Return, in words, each earlier night in the trend of ``results`` whose run in the ledger is another one now.

    Empty where the trend has no nights from a ledger. Raises UsageError where it cannot be read.
    """
    trend = spec.asked_trend
    if trend is None or spec.as_of is None or results.trend.sha256 is None:
        return []
    baseline = None if trend.limits is None else trend.limits.baseline
    period = None if baseline is None else (baseline.first, baseline.last)
    then = {night.as_of: night.results_sha256 for night in results.trend.nights}
    runs = runs_charted(ledger, spec.name, spec.as_of, trend.nights, period, results.renamed, then)
    now = {run["as_of"]: run["results_sha256"] for run in runs}
    changed = []
    for day in sorted(day for day in {**now, **then} if now.get(day) != then.get(day)):
        if day not in then or day not in now:
            change = "was not there" if day not in then else "is no longer there"
        else:
            digits = now[day][:EVIDENCE_DIGITS], then[day][:EVIDENCE_DIGITS]
            change = f"has results with a sha256 that begins with {digits[0]}, not {digits[1]}"
        changed.append(f"the night of {day} {change}")
    return changed
