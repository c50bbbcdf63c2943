"""Each format's own validator, as a function of the files of an export: what it finds wrong, which should be nothing.

The schemas of CHAI and of OpenLineage are in no package. They are in the folder `schemas`, byte for byte as their
authors publish them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import distribution, distributions
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

from evalpipe.base.digests import bytes_sha256

Files = Mapping[str, str]


class Published(NamedTuple):
    """A schema as its authors publish it."""

    url: str
    sha256: str


LINEAGE = "https://openlineage.io/spec"
PUBLISHED = {
    "chai-0.2.xsd": Published(
        "https://mc.chai.org/v0.2/schema.xsd", "68c189141e157c221945cae2a2abc63602c34b6de3623060339c67d41850ff3d"),
    "OpenLineage.json": Published(
        f"{LINEAGE}/2-0-2/OpenLineage.json", "69f68bee00b9beac88a87059c0102410e7bb05f3f43c46d02a0409831eceb0d2"),
    "TestRunFacet.json": Published(
        f"{LINEAGE}/facets/1-0-1/TestRunFacet.json",
        "7f3bc75dcd91da63d0abc7dbcf94fe79195bc42808632db9322ef66c5a638c6b"),
    "ProcessingEngineRunFacet.json": Published(
        f"{LINEAGE}/facets/1-1-1/ProcessingEngineRunFacet.json",
        "7cc28d9996802685f484dcd5d4be48517f5a23a4c9ab00837e9936b769f68e10"),
    "SchemaDatasetFacet.json": Published(
        f"{LINEAGE}/facets/1-2-0/SchemaDatasetFacet.json",
        "50236a779aa64baa0bad0055391838bd22fcb36ce667c41d60ada80915e899b6"),
    "DatasetVersionDatasetFacet.json": Published(
        f"{LINEAGE}/facets/1-0-1/DatasetVersionDatasetFacet.json",
        "91f57b67bc6d639bb6d600e26b827dac551e3520a233d1785d65870da263dc34"),
    "InputStatisticsInputDatasetFacet.json": Published(
        f"{LINEAGE}/facets/1-0-0/InputStatisticsInputDatasetFacet.json",
        "39229ddd334bea16e35942e01cd59b7acb178d50688d4227894e01f39da8a669"),
}


@cache
def published(name: str) -> str:
    """Return a schema as its authors publish it."""
    content = (Path(__file__).parent / "schemas" / name).read_bytes()
    assert bytes_sha256(content) == PUBLISHED[name].sha256, name
    return content.decode()


def only(files: Files) -> str:
    """Return the text of the only file."""
    (text,) = files.values()
    return text


def cyclonedx(files: Files) -> list[str]:
    """Return what the strict validator of CycloneDX 1.7 finds."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    found = JsonStrictValidator(SchemaVersion.V1_7).validate_str(only(files))
    return [] if found is None else [str(found)]


def in_toto(files: Files) -> list[str]:
    """Return what in-toto finds: the statement by its own check, the predicate by its protobuf, unknown keys too."""
    from google.protobuf import json_format
    from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
    from in_toto_attestation.v1 import statement_pb2
    from in_toto_attestation.v1.statement import Statement

    try:
        statement = json_format.Parse(only(files), statement_pb2.Statement())
        Statement.copy_from_pb(statement).validate()
        json_format.ParseDict(json.loads(only(files))["predicate"], test_result_pb2.TestResult())
    except (ValueError, json_format.ParseError) as error:
        return [str(error)]
    return []


def lineage_classes(files: Files) -> list[str]:
    """Return what the classes find that OpenLineage generates from its specification: keys, times, UUIDs, types."""
    from openlineage.client import event_v2, facet_v2

    document = json.loads(only(files))
    facets = {"test": facet_v2.test_run, "processing_engine": facet_v2.processing_engine_run}
    names = {"test": "TestRunFacet", "processing_engine": "ProcessingEngineRunFacet"}
    try:
        made = {}
        for name, facet in document["run"]["facets"].items():
            fields = {key: value for key, value in facet.items() if not key.startswith("_")}
            if name == "test":
                fields["tests"] = [facet_v2.test_run.TestExecution(**test) for test in fields["tests"]]
            made[name] = getattr(facets[name], names[name])(**fields, producer=facet["_producer"])
            if made[name]._schemaURL != facet["_schemaURL"]:
                return [f"{facet['_schemaURL']} is not {made[name]._schemaURL}"]
        event_v2.RunEvent(
            eventTime=document["eventTime"], producer=document["producer"],
            eventType=event_v2.RunState[document["eventType"]],
            run=event_v2.Run(runId=document["run"]["runId"], facets=made), job=event_v2.Job(**document["job"]),
            inputs=[event_v2.InputDataset(**entry) for entry in document["inputs"]],
            outputs=[event_v2.OutputDataset(**entry) for entry in document["outputs"]])
    except (TypeError, ValueError, KeyError) as error:
        return [repr(error)]
    return []


def openlineage(files: Files) -> list[str]:
    """Return what the JSON Schemas of the event and of each facet find."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    schemas = {name: json.loads(published(name)) for name in PUBLISHED if name.endswith(".json")}
    registry: Any = Registry().with_contents([(schema["$id"], schema) for schema in schemas.values()])

    def errors(document: Any, url: str) -> Iterator[str]:
        checker = Draft202012Validator.FORMAT_CHECKER
        found = Draft202012Validator({"$ref": url}, registry=registry, format_checker=checker).iter_errors(document)
        yield from (error.message for error in found)

    document = json.loads(only(files))
    data = [*document["inputs"], *document["outputs"]]
    facets = [*document["run"]["facets"].values(), *(facet for entry in data for facet in entry["facets"].values()),
              *(facet for entry in document["inputs"] for facet in entry["inputFacets"].values())]
    return [*errors(document, document["schemaURL"]),
            *(error for facet in facets for error in errors(facet, facet["_schemaURL"]))]


def lineage(files: Files) -> list[str]:
    """Return what the classes and the schemas of OpenLineage find."""
    return lineage_classes(files) + openlineage(files)


def chai(files: Files) -> list[str]:
    """Return what the XSD of CHAI finds."""
    import xmlschema

    schemas = Path(xmlschema.__file__).parent / "schemas" / "DSIG"
    schema = xmlschema.XMLSchema(published("chai-0.2.xsd"), locations={
        "http://www.w3.org/2000/09/xmldsig#": str(schemas / "xmldsig-core-schema.xsd")})
    return [str(error) for error in schema.iter_errors(only(files))]


def model_index(files: Files) -> list[str]:
    """Return what huggingface_hub finds: whether the results are the same there and back."""
    from huggingface_hub import ModelCard
    from huggingface_hub.repocard_data import eval_results_to_model_index, model_index_to_eval_results

    data = ModelCard(only(files)).data
    document = data.to_dict()["model-index"]
    if not data.eval_results:
        return ["the Hub sees no results"]
    back = eval_results_to_model_index(*model_index_to_eval_results(document))
    return [] if back == document else [f"{back} is not {document}"]


def every_eval_ever(files: Files, folder: Path) -> list[str]:
    """Return what the validator of Every Eval Ever finds: errors of its schema, and what it warns of."""
    validation = pytest.importorskip(
        "every_eval_ever.validator.validation_core", reason="every-eval-ever is not here: `make test` installs it")

    from jsonschema import Draft7Validator

    file, document = folder / "b9a6d1a4-4c8c-4d1c-9a55-2a3f1d6b7c10.json", json.loads(only(files))
    file.write_text(only(files), encoding="utf-8")
    schemas = Path(validation.__file__).parents[1] / "schemas"
    schema = json.loads((schemas / "eval.schema.json").read_text(encoding="utf-8"))
    report = validation.validate_aggregate(file)
    warned = [*validation.check_score_metadata(document), *validation.check_model_deployment(document)]
    found = [error.message for error in Draft7Validator(schema).iter_errors(document)]
    return [*map(str, report.errors), *warned, *found]


def openmetrics(files: Files) -> list[str]:
    """Return what the parsers of OpenMetrics, and of the format that the node exporter reads, find."""
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as new
    from prometheus_client.parser import text_string_to_metric_families as old

    readers: list[Callable[[str], Any]] = [new, old]
    found = []
    for read in readers:
        try:
            kinds = {family.type for family in read(only(files))}
        except ValueError as error:
            found.append(str(error))
        else:
            found += [] if kinds == {"gauge"} else [f"{kinds} are not gauges alone"]
    return found


def dvc(files: Files, folder: Path) -> list[str]:
    """Return what `dvc` says in a repository with these files, where it does not show all metrics and plots."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / ".dvc").mkdir()
    (folder / ".dvc" / "config").write_text("[core]\n    no_scm = True\n", encoding="utf-8")  # as `dvc init` does
    plots = [f"  - {name}" for name in files if name != "evalpipe-metrics.json"]
    (folder / "dvc.yaml").write_text(
        "\n".join(["metrics:", "  - evalpipe-metrics.json", "plots:", *plots]) + "\n", encoding="utf-8")

    def told(*line: str) -> str:
        done = subprocess.run([sys.executable, "-m", "dvc", *line], cwd=folder, capture_output=True, text=True,
                              check=False, env=os.environ | {"DVC_NO_ANALYTICS": "1"})
        return done.stdout if done.returncode == 0 else f"dvc {' '.join(line)}: {done.stderr}"

    shown = told("metrics", "show", "--json")
    metrics = json.loads(shown)[""]["data"]["evalpipe-metrics.json"] if shown.startswith("{") else {}
    if "data" not in metrics:
        return [shown]
    drawn = told("plots", "show", "--json")
    missing = [name for name in plots if name.removeprefix("  - ") not in drawn]
    same = metrics["data"] == json.loads(files["evalpipe-metrics.json"])
    return ([] if same else [shown]) + [f"no plot of {name}: {drawn}" for name in missing]


class Validator(NamedTuple):
    """What a format's own validator finds in its files, given an empty folder too, and what it must refuse.

    ``broken`` is replaced in an export, by what follows it, so that it is none of the format.
    """

    finds: Callable[[Files, Path], list[str]]
    broken: tuple[str, str]


VALIDATORS = {
    "cyclonedx": Validator(lambda files, _: cyclonedx(files), ('"value": ', '"worth": ')),
    "chai": Validator(lambda files, _: chai(files), ("DeveloperContact>", "Contact>")),
    "model-index": Validator(lambda files, _: model_index(files), ("type: brier\n", "type: [brier\n")),
    "openlineage": Validator(lambda files, _: lineage(files), ('"status": ', '"state": ')),
    "in-toto": Validator(lambda files, _: in_toto(files), ('"result": ', '"outcome": ')),
    "every-eval-ever": Validator(every_eval_ever, ('"evaluation_id": ', '"id": ')),
    "openmetrics": Validator(lambda files, _: openmetrics(files), ("# EOF\n", "")),
    "dvc": Validator(dvc, ('"verdict": ', '"verdict" ')),
}
"""The validator of each format."""


def packages_named(words: str) -> set[str]:
    """Return the installed packages that a sentence names."""
    installed = {distribution.name for distribution in distributions()}
    return installed & set(re.findall(r"[a-z][\w-]+", words))


def packages_run(packages: Iterable[str], check: Callable[[], object]) -> set[str]:
    """Return those of the packages of which a check calls functions, beyond importing them, or that it starts."""
    of_file = {str(file.locate()): name for name in packages for file in distribution(name).files or ()}
    run: set[str] = set()

    def called(frame: FrameType | None, event: str, _: object) -> None:
        code = frame.f_code if frame is not None and event == "call" else None
        if code is subprocess.Popen.__init__.__code__:
            run.update(frame.f_locals["args"][2:3])
        name = None if code is None else of_file.get(code.co_filename)
        if name is None or name in run:
            return
        while frame is not None and "importlib._bootstrap" not in frame.f_code.co_filename:
            frame = frame.f_back
        if frame is None:
            run.add(name)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        check()
    finally:
        sys.setprofile(before)
    return run & set(packages)
