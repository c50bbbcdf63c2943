"""The JSON Schema of what each command prints with `--format json`.

A table says the keys of each document and their types; those of results are the records of `results.json`. A test holds
what the commands print to these schemas, in which no other key is allowed.
"""

from __future__ import annotations

from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, TypeAdapter, WithJsonSchema, create_model

from evalpipe.results import Results
from evalpipe.results.comments import Comment
from evalpipe.results.signatures import Signature
from evalpipe.review.differences.records import Difference
from evalpipe.spec.schema import json_schema

if TYPE_CHECKING:
    from evalpipe.spec.messages import Schema

DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}

Number = int | float
Text = str | None
Values = Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]
"""A mapping whose keys are names of the spec or the ledger, or whose keys a chapter adds."""

Rows = list[Values]


def list_of(kind: Any) -> Any:
    """Return the type of a list of a type that is made here."""
    return GenericAlias(list, (kind,))


def keys_of(name: str, about: str, /, *left_out: str, **keys: Any) -> Any:
    """Return the type of a mapping of these keys alone, of which those ``left_out`` may be missing."""
    fields: dict[str, Any] = {key: (kind, None if key in left_out else ...) for key, kind in keys.items()}
    return create_model(name, __doc__=about, __config__=ConfigDict(extra="forbid"), **fields)


def of_results(name: str) -> Any:
    """Return the type of a table of the results by its name."""
    return Results.model_fields[name].annotation


def row_of(table: str) -> Any:
    """Return the type of a row of a table of the results."""
    return of_results(table).__args__[0]


def with_key(table: str, key: str) -> Any:
    """Return the type of a list of rows of a table of the results, each with a text under a further ``key``."""
    schema = TypeAdapter(row_of(table)).json_schema()
    schema["properties"] = {**schema.get("properties", {}), key: {"type": "string"}}
    schema["required"] = sorted({*schema.get("required", []), key})
    return list_of(Annotated[dict[str, Any], WithJsonSchema(_in_place(schema))])


def row_in_words(table: str) -> Any:
    """Return the type of a row of a table of the results in which each sentence is a text, as `in_words` writes it."""
    schema = TypeAdapter(row_of(table)).json_schema(mode="serialization")
    return Annotated[dict[str, Any], WithJsonSchema(_in_place(schema, in_words=True))]


def _in_place(schema: Schema, *, in_words: bool = False) -> Schema:
    """Return a schema without `$defs`: each reference is replaced by what it refers to, a sentence maybe by a text."""
    definitions = schema.get("$defs", {})

    def resolved(part: Any) -> Any:
        if isinstance(part, list):
            return [resolved(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return resolved(definitions[part["$ref"].rpartition("/")[2]])
        if in_words and "code" in part.get("properties", {}):
            return {"type": "string"}
        return {key: resolved(value) for key, value in part.items() if key != "$defs"}

    inner: Schema = resolved(schema)
    return inner


PROBLEM = keys_of(
    "Problem", "A fault, or a warning: its code, its place in a file, the way out.",
    severity=Literal["error", "warning"], code=str, message=str, file=Text, line=int | None, column=int | None,
    rows=list_of(keys_of("ProblemRow", "A row of the data and the value in it.", row=int, value=Any)), hint=Text,
    notes=list[str])
RUN = keys_of(
    "Run", "What a run came to.", name=str, as_of=Text, spec_sha256=str, evidence_sha256=str,
    verdict=Literal["fail", "warn", "inconclusive", "pass", "none"], gates=with_key("gates", "text"),
    standards=of_results("standards"), findings=with_key("finding_rows", "text"), checks=of_results("checks"),
    warnings=with_key("warnings", "message"), files=list[str], ran=bool, signatures_moved=Text, comments_moved=Text,
    no_pdf=Text)
PLANNED = keys_of(
    "PlannedEstimate", "An estimate that a run makes, and how its interval is made.", "expression", dataset=str,
    model=str, variant=str, expression=Text, metric=str, params=Values, average=Text, method=str, reason=str)
PLAN = keys_of(
    "Plan", "What a run would do. Chapters of the spec have keys of their own.", name=str, as_of=Text, task=str,
    spec_sha256=str, seed=int, datasets=Rows, estimates=list_of(PLANNED),
    not_served=list_of(keys_of("NotServed", "A measure that a model cannot have.", model=str, metric=str, reason=str)),
    prevalence=Values | None, permutations=int, replicates=int, level=Number, cost=int | None, drawing=Values,
    rows=Values, exposure=Values | None, thresholds=Rows, zones=Rows, marks=list[Any], gain_groups=int | None,
    residuals=Values | None, relations=Values | None, calibration=Values, slices=list[str], worst_slices=Values | None,
    folds=Text, recalibration=Values | None, compare=Values | None, standards=list[Any], fitted=Values,
    reference_rates=list[Any], goals=list[Any], candidates=Values | None, steps=Values | None, further_columns=Values,
    gates=Rows, trend=Values | None, row_file=Text, parts=Values,
    expected=keys_of("Expected", "What to expect of the gates, by simulation.", margin=Number, drop=Number, gates=Rows))
VERSIONS = keys_of("Versions", "What computed it.", evalpipe=str, python=Text, libraries=Values | None,
                   git=Values | None)
TRACE = keys_of(
    "Trace", "An estimate, and all that it was made from.", address=str,
    estimate=row_in_words("rows"), measure=row_in_words("metrics"),
    interval=keys_of("TracedInterval", "How the interval was made.", method=str, title=str, reason=Text, planned=Text,
                     replicates=int | None, seed=int | None, resampling=Text, drawn=Values | None),
    columns=dict[str, list[str]], dataset=Values, inputs=Rows, threshold=Values | None, prevalence=Values | None,
    recalibration=Values | None, as_of=Text, spec_sha256=str, spec_key=Text, evidence_sha256=str, versions=VERSIONS)
ADDRESS = keys_of("Addressed", "An estimate and its address.", address=str, value=Number | None, lower=Number | None,
                  upper=Number | None, status=str)
VERIFIED = keys_of(
    "Verified", "What of a card agrees with what is recorded of it.", ok=bool, folder=str, sign_off=str,
    files=list_of(keys_of("VerifiedFile", "A file.", kind=str, file=str,
                       status=Literal["same", "same numbers", "differs", "not checked"], reason=str, notes=list[str])))
SIGNED = keys_of("Signed", "A signature and what it changed.", status=str, signature=Signature, files=list[str],
                 unchecked=list[str])
COMMENTED = keys_of("Commented", "A comment and what it changed.", status=str, comment=Comment, files=list[str],
                    unchecked=list[str])
ESTIMATE = keys_of(
    "RecordedEstimate", "An estimate that a ledger has.", dataset=str, model=str, variant=str, metric=str,
    params=Values, average=Text, value=Number | None, lower=Number | None, upper=Number | None, level=Number | None,
    method=str, n=int, events=int | None, status=str)
VERDICT = keys_of(
    "RecordedVerdict", "A verdict that a ledger has.", gate=int, name=Text, subject=Values, limit=Values, verdict=str,
    severity=str, observed=Number | None, lower=Number | None, upper=Number | None, reason=str)
HISTORY = keys_of(
    "History", "The runs of a folder, or of a name.", "name", schema_version=Literal[1], folder=str, name=Text,
    ledger=str, runs=list_of(keys_of(
        "RecordedRun", "A run; its folder where the runs are of a name.", "folder", name=str, folder=Text,
        as_of=Text, first_recorded=str, last_recorded=str, times=int, results_sha256=str,
        spec_sha256=str, evalpipe_version=str, verdict=str, renamed=Values | None,
        estimates=list_of(ESTIMATE), verdicts=list_of(VERDICT))))
MEASURE = keys_of(
    "Measure", "A measure as it is declared.", name=str, title=str, family=str, aliases=list[str], definition=str,
    formula=Text, needs=str, tasks=list[str], averaged=bool, range=list[Number | None], direction=str, undefined=str,
    options=Values, interval=str, standard=list[str], reference=str)
DOCTOR = keys_of("Doctor", "Whether this machine can run evalpipe.", ok=bool, checks=list_of(keys_of(
    "Probe", "A check of the machine.", name=str, state=Literal["ok", "note", "failed"], text=str, hint=Text)))
CACHE = keys_of("Cache", "What the cache of an output folder holds.", folder=str, entries=list_of(keys_of(
    "CacheEntry", "The tables of a part of a file.", key=str, dataset=str, file=str, file_sha256=str, first_row=int,
    rows=int | None, bytes=int, used=bool | None)))
REGISTER = keys_of(
    "Register", "All cards by what needs a person.", schema_version=Literal[1], as_of=Text, summary=str,
    ledgers=list[str], folders=int, entries=list_of(keys_of(
        "RegisterEntry", "A card.", name=str, title=str, models=list[str], as_of=Text,
        needs=list_of(keys_of("Need", "What to look at.", kind=str, text=str)), verdict=Text, headline=str,
        finding=Text, changes=list[str], status=str, signatures=list[Signature], signed_as_of=Text,
        expires=Text, runs=int,
        folder=Text, card=Text)))

LABELS = keys_of(
    "Labels", "Which rows to label next, and how many more labels verdicts need; null where it was not asked.",
    queue=keys_of("Queue", "The file of rows, and how many of them are to be labelled next.", file=str, rows=int,
                  next=int) | None,
    needed=list_of(keys_of(
        "NeededLabels", "A number and how many more rows need an outcome for a verdict on it.",
        kind=Literal["gate", "comparison", "slice"], about=str, dataset=str, slice=Values | None, value=Number | None,
        lower=Number | None, upper=Number | None, known=int, rows=int, more=int | None,
        beyond=bool)) | None)
WRITTEN = keys_of("Written", "What is printed of a comparison that goes to the file of --out.", verdict=str, same=bool,
                  file=str)

DOCUMENTS: dict[str, Any] = {
    "results": Results, "diff": Difference, "diff-out": WRITTEN, "run": RUN,
    "validate": keys_of("Valid", "A spec without faults, and its warnings.", ok=Literal[True], exit_code=Literal[0],
                        problems=list_of(PROBLEM)),
    "plan": PLAN, "show": TRACE | list_of(ADDRESS), "verify": VERIFIED, "sign": SIGNED, "comment": COMMENTED,
    "history": HISTORY, "labels": LABELS,
    "metrics": MEASURE | list_of(MEASURE), "doctor": DOCTOR, "cache": CACHE, "register": REGISTER,
    "error": keys_of("Failed", "Why a command ended with another exit code than 0 and 1.", ok=Literal[False],
                     exit_code=int, problems=list_of(PROBLEM)),
}
"""What each command prints with `--format json`, and every one of them where it fails."""


def json_schema_of(kind: str) -> Schema:
    """Return the JSON Schema of the spec, or of a document by its name in `DOCUMENTS`."""
    if kind == "spec":
        return json_schema()
    return {**DIALECT, **TypeAdapter(DOCUMENTS[kind]).json_schema(by_alias=True, mode="serialization")}
