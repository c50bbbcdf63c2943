"""in-toto: what gates and standards came to, as an attestation of a test result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.review.exports.declare import Export, Files, json_text, judged

if TYPE_CHECKING:
    from evalpipe.review.exports.declare import ExportedRun

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"

RESULTS = {"pass": "PASSED", "inconclusive": "WARNED", "warn": "WARNED", "fail": "FAILED"}
"""The result of the test run by the verdict of all gates and standards."""

LISTS = {"pass": "passedTests", "inconclusive": "warnedTests", "warn": "warnedTests", "fail": "failedTests"}
"""The list that a test stands in by what became of it."""


def write(exported: ExportedRun) -> Files:
    """Return the statement. Raises SpecError where nothing was judged: no test can have passed."""
    results = exported.results
    if not results.judged:
        raise exported.lacking("the format tells what tests came to, and these results have no gate to judge",
                               "declare 'gates' in the spec, and run again")
    lists: dict[str, list[str]] = {name: [] for name in dict.fromkeys(LISTS.values())}
    for test in judged(exported):
        if test.kind in LISTS:
            lists[LISTS[test.kind]].append(test.title)
    subjects = [
        *(_descriptor(str(file.path) if file.query_sha256 is None else f"rows of {file.path}", file.sha256)
          for file in results.inputs if file.role == "evaluate" and file.sha256 is not None),
        *(_descriptor(name, sha256) for name, sha256 in exported.files.items())]
    predicate = {"result": RESULTS[results.verdict], "configuration": _configuration(exported), **lists}
    return {EXPORT.file: json_text({
        "_type": STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": predicate})}


def _configuration(exported: ExportedRun) -> list[dict[str, Any]]:
    """Return descriptors of what the tests depend on: the resolved spec, its files, and other files that were read."""
    spec = _descriptor("spec (resolved)", exported.results.spec_sha256)
    if exported.manifest is None:
        return [spec]
    evaluated_sha256 = {file.sha256 for file in exported.results.inputs if file.role == "evaluate"}
    # Names are those that `evalpipe verify` shows.
    files: list[tuple[str | None, str | None]] = [(file.path, file.sha256) for file in exported.manifest.spec_files]
    files += [(f"{file.kind} of {file.path}" if file.kind in ("query", "rows") else file.path, file.sha256)
              for file in exported.manifest.inputs]
    return [spec, *(_descriptor(name or "standard input", sha256) for name, sha256 in files
                    if sha256 is not None and sha256 not in evaluated_sha256)]


def _descriptor(name: str, sha256: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": sha256}}


EXPORT = Export(
    name="in-toto", title="in-toto attestation with the predicate test-result", version="0.1",
    file="test-result.intoto.json", media_type="application/vnd.in-toto+json",
    holds="What gates and standards came to, bound to the sha256 of the data and of the files of the card, for "
          "policies on supply chains; sign it with a tool of in-toto or Sigstore.",
    reference="https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md",
    validator="in-toto-attestation: `Statement.validate`, and the protobuf of the predicate",
    places={
        "`subject`": "the evaluated files of `inputs`, evaluated rows of queries, and the files of `manifest.json`, "
                     "each with its sha256",
        "`predicate.result`": "the verdict: pass is PASSED; warn and inconclusive are WARNED; fail is FAILED",
        "`predicate.configuration`": "the resolved spec, the files of the spec, queries, and what else was read, each "
                                     "with its sha256",
        "`predicate.passedTests`, `warnedTests`, `failedTests`": "`gates` and `standards`, by the names that junit.xml "
                                                                "gives them; inconclusive gates are warned tests",
    },
    lacks=(
        "numbers: estimates, intervals, limits and reasons; `results.json`, a subject, holds them",
        "whether a warned test was inconclusive, or failed with severity warn",
        "gates that were skipped: they are in none of the lists",
        "data held in memory, which have no sha256",
        "signatures: the statement is not signed",
    ),
    write=write, models="all",
)
