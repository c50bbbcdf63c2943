"""The file of a proposed spec: its text with the reason for each key, a trial of it, and writing it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.origin import Origin
from evalpipe.data.files import SUFFIXES
from evalpipe.data.formats import SEPARATORS
from evalpipe.errors import InternalError, SpecError, UsageError
from evalpipe.proposal.models import range_text
from evalpipe.proposal.yaml_text import SpecLine, key, lines_as_text, scalar, yaml_level, yaml_mapping
from evalpipe.runs.folder import refuse_to_replace
from evalpipe.spec.load import load
from evalpipe.spec.messages import bad_plain_name
from evalpipe.spec.schema import json_schema
from evalpipe.spec.tree import SpecText, plain_value
from evalpipe.spec.yaml import parse
from evalpipe.tasks import CLASSES
from evalpipe.words.spelling import clipped, counted, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.plan.plan import Plan
    from evalpipe.proposal.columns import ColumnLook, DataLook
    from evalpipe.proposal.propose import OtherColumns, Proposal


NOT_HERE = "-"
"""The target that stands for the standard output."""

SCHEMA = "evalpipe.schema.json"
"""The file of the JSON Schema of specs, by which editors complete and check the specs beside it."""

BY_SCHEMA = f"# yaml-language-server: $schema={SCHEMA}\n"
"""The first line of a spec that editors are to complete and check by the schema beside it."""


def spec_name(target: str, data_path: str) -> str:
    """Return the name of the evaluation: the stem of the spec's file, else of the file of predictions."""
    stem = Path(data_path if target == NOT_HERE else target).name
    stem = stem.partition(".")[0] or stem
    hint = bad_plain_name(stem, quoted(stem))[1]  # how to write it, where it can be no name as it is
    valid_name = (hint or "").removeprefix("write '").removesuffix("'")
    return valid_name or "evaluation"


def spec_text(proposal: Proposal, target: str) -> str:
    """Return the text of the spec; paths in it are relative to the folder of ``target``, its file."""
    outcome, datasets = proposal.outcome, proposal.looked.datasets
    lines = [
        *head_lines(target, datasets[0].path, outcome.task, outcome.task_reason, proposal.notes),
        *_outcome_lines(proposal), *_row_lines(proposal),
        *dataset_lines(datasets, target, proposal.used, outcome.column), *_model_lines(proposal),
        *further_lines(proposal.others),
    ]
    return lines_as_text(lines)


def head_lines(
    target: str, data_path: str, task: str, reason: str, notes: Sequence[str], seen: str = "columns",
) -> Iterator[SpecLine]:
    """Yield the comment at the top (how to run the spec, the notes of the proposal), and the first keys."""
    name = spec_name(target, data_path)
    shown = "SPEC" if target == NOT_HERE else clipped(Path(target).name)
    yield SpecLine(comment=f"A spec of evalpipe, proposed by `evalpipe init` from the {seen} of the data. Run it:")
    yield SpecLine(comment=" ")
    yield SpecLine(comment=f"    evalpipe run {shown}")
    yield SpecLine(comment=" ")
    yield SpecLine(comment="Each comment is the reason for its key: check it, and change what is not so.")
    for note in notes:
        yield SpecLine(comment=f"Note: {note}.")
    yield SpecLine()
    yield SpecLine("evalpipe: 1", "the version of this file's format")
    yield SpecLine(f"name: {scalar(name)}", f"also the name of the output folder, reports/{name}")
    yield SpecLine(f"task: {task}", reason)
    yield SpecLine()


def _outcome_lines(proposal: Proposal) -> Iterator[SpecLine]:
    """Yield the lines of the key ``outcome``: column, event and levels."""
    column, levels = proposal.outcome.column, proposal.levels
    yield SpecLine("outcome:")
    range_note = "" if proposal.outcome.task in CLASSES else f"; values {range_text(column)}"
    yield SpecLine(f"  column: {scalar(column.name)}", f"{proposal.outcome.reason}{range_note}")
    if levels.event is not None:
        count = column.levels[levels.event]
        yield SpecLine(f"  event: {yaml_level(levels.event)}",
                   f"your answer: {count:,} of {counted(column.rows - column.missing, 'row')}")
    if proposal.outcome.task in CLASSES:
        listed = ", ".join(yaml_level(text) for text in levels.levels)
        why = "in the order that you gave" if levels.answered and levels.event is None else "as they are in the data"
        yield SpecLine(f"  levels: [{listed}]", f"{why}; any other value is an error")
    yield SpecLine()


def _row_lines(proposal: Proposal) -> list[SpecLine]:
    """Return the keys of rows (id, complete_case, weights, …), as comments where a person may switch them on."""
    others, answered = proposal.others, dict(proposal.keys)
    lines = [] if others.id is None else [SpecLine(f"id: {scalar(others.id[0])}", others.id[1])]
    if any(look.missing for look in proposal.predicted):
        most = max(proposal.predicted, key=lambda look: look.missing)
        reason = f"{counted(most.missing, 'row')} without {clipped(most.name)}: left out, and counted on the card"
        lines.append(SpecLine("complete_case: all", reason))
    lines += [SpecLine(f"{name}: {scalar(column)}", "your answer") for name, column in proposal.keys]
    optional_keys = {"cluster": others.clusters, "weight": others.weights}
    optional_keys |= {"exposure": others.exposures} if proposal.outcome.task == "count" else {}
    lines += [SpecLine(f"# {name}: {scalar(column)}", why)
              for name, columns in optional_keys.items() if name not in answered for column, why in columns[:3]]
    return [*lines, SpecLine()] if lines else []


def path_in_spec(path: str, target: str) -> str:
    """Return a path as the spec ``target`` has it, relative to its folder."""
    folder = Path() if target == NOT_HERE else Path(target).parent
    return scalar(os.path.relpath(path, folder).replace(os.sep, "/"))


def dataset_lines(
    datasets: Sequence[DataLook], target: str, used: Iterable[ColumnLook], outcome: ColumnLook | None = None,
    *, is_long: bool = False,
) -> Iterator[SpecLine]:
    """Yield the lines of the key ``datasets``, with paths relative to the folder of ``target``.

    ``used`` are the columns that the spec names; rows without the ``outcome`` are left out. Of a table that
    ``is_long`` the columns `model` and `score` have the scores.
    """
    yield SpecLine("datasets:", "paths start from the folder of this file")
    for dataset in datasets:
        rows = "" if dataset.rows is None else f"{counted(dataset.rows, 'row')}, "
        yield SpecLine(f"  {key(dataset.name)}:")
        yield SpecLine(f"    path: {path_in_spec(dataset.path, target)}",
                       f"{rows}{counted(len(dataset.table.columns), 'column')}")
        if dataset.encoding_note is not None:
            yield SpecLine(f"    encoding: {dataset.csv.encoding}", dataset.encoding_note)
        csv_keys = _csv_keys(dataset, used)
        if csv_keys:
            yield SpecLine(f"    csv: {yaml_mapping(csv_keys)}", "how the file is written" + (
                "; null: what counts as missing" if "null" in csv_keys else ""))
        if outcome is not None and outcome.missing:
            name = '"{}"'.format(outcome.name.replace('"', '""'))
            condition = f"{name} IS NOT NULL" + (f" AND {name} <> ''" if outcome.blank else "")
            yield SpecLine(f"    where: {scalar(condition)}", f"{counted(outcome.missing, 'row')} without an outcome")
        if is_long:
            yield SpecLine("    long: {model: model, score: score}", "a row for each model and item")
    yield SpecLine()


def _csv_keys(dataset: DataLook, used: Iterable[ColumnLook]) -> dict[str, str]:
    """Return the keys under ``csv`` for a dataset, with their values in YAML."""
    if not dataset.separated:
        return {}
    plan, keys = dataset.csv, dict[str, str]()
    if plan.separator is not None and plan.separator != SEPARATORS[dataset.table.format]:
        keys["separator"] = {"\t": '"\\t"'}.get(plan.separator, f'"{plan.separator}"')
    if plan.decimal != ".":
        keys["decimal"] = f'"{plan.decimal}"'
    nulls = {key(look.name): f"[{', '.join(map(scalar, look.nulls))}]" for look in used if look.nulls}
    if nulls:
        keys["null"] = yaml_mapping(nulls)
    return keys


def _model_lines(proposal: Proposal) -> Iterator[SpecLine]:
    """Yield the lines of the key ``models``, and of ``threshold`` where probabilities need one."""
    yield SpecLine("models:")
    for model in proposal.models:
        yield SpecLine(f"  {key(model.name)}:")
        for line in model.lines:
            if isinstance(line.value, dict):
                yield SpecLine(f"    {line.key}:", line.reason)
                yield from (SpecLine(f"      {key(name)}: {scalar(column)}") for name, column in line.value.items())
            else:
                yield SpecLine(f"    {line.key}: {as_yaml(line.value)}", line.reason)
    yield SpecLine()
    keys_of_models = [{line.key for line in model.lines} for model in proposal.models]
    has_probabilities_alone = any({"probability", "probabilities"} & keys and "prediction" not in keys
                                  for keys in keys_of_models)
    if proposal.outcome.task == "binary" and has_probabilities_alone:
        yield SpecLine("threshold: 0.5", "rows with probability >= 0.5 are predicted as events")
        yield SpecLine()


def as_yaml(value: object) -> str:
    """Return the value of a model's key as YAML: a text, a number, or a tuple of levels as a list."""
    return f"[{', '.join(map(yaml_level, value))}]" if isinstance(value, tuple) else scalar(value)


def further_lines(others: OtherColumns) -> Iterator[SpecLine]:
    """Yield the last lines of the spec: slices to switch on, and columns that are not used, as comments."""
    slices, periods = others.slices, others.periods
    if slices or periods:
        reason = "periods of dates, columns of few levels; each measure is then given for each of them too"
        yield SpecLine("# slices:", reason if periods else
                       "columns of few levels; each measure is then given for each level too")
        for column, why in (*periods, *slices):
            yield SpecLine(f"#   - {column}", why)
        yield SpecLine()
    if others.left_out:
        yield SpecLine(comment="Not used:")
        for line in others.left_out:
            yield SpecLine(comment=f"- {line}")


def try_spec(text: str, target: str) -> Plan:
    """Try a proposed spec, so that it runs at once: read its text as from the file ``target``, plan it, check its data.

    Returns the plan. Raises DataError for problems of the data, and InternalError where the spec is refused.
    """
    from evalpipe.run import plan, read_all

    document = parse(SpecText(target, text), os.environ)
    path = Path("spec.yaml") if target == NOT_HERE else Path(target)
    if document.root is None or document.problems:
        raise InternalError(*document.problems)
    try:
        planned = plan(load(plain_value(document.root), origin=Origin(path)))
    except SpecError as error:
        raise InternalError(*error.problems) from None
    read_all(planned)
    return planned


def target_path(out: str | None, data: str) -> str:
    """Return the path to write the spec to: ``out``, else a name after the data in the working folder."""
    if out is not None:
        return out
    name = Path(data).name
    ending = next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")
    return f"{spec_name(name[:len(name) - len(ending)] or 'evaluation', data)}.yaml"


def refuse_existing(target: str, *, force: bool) -> None:
    """Raise UsageError for a file that exists (unless ``force``), or whose folder does not."""
    if target == NOT_HERE:
        return
    path = Path(target)
    if path.is_dir():
        raise UsageError.of("not-a-file", f"'{target}' is a folder", "name a file, as in -o spec.yaml")
    if os.path.lexists(target) and not force:
        raise UsageError.of("spec-exists", f"'{target}' exists, and nothing was written",
                            "name another file with -o, or replace this one with --force")
    refuse_to_replace(target)
    if not path.parent.is_dir():
        raise UsageError.of("missing-folder", f"there is no folder '{path.parent}'", "make it first")


def refuse_schema(target: str) -> None:
    """Raise UsageError where a file beside the spec ``target`` has the schema's name and is none of evalpipe's."""
    path = Path(target).with_name(SCHEMA)
    if os.path.lexists(path) and json_schema()["$id"] not in path.read_text(encoding="utf-8", errors="replace"):
        raise UsageError.of("schema-exists", f"'{path}' is no schema of evalpipe, and nothing was written",
                            "rename it, or leave the schema out with --no-schema")


def write_schema(target: str) -> None:
    """Write the JSON Schema of specs beside the spec ``target``; raises UsageError where that fails."""
    path = Path(target).with_name(SCHEMA)
    _write(path, json.dumps(json_schema(), ensure_ascii=False, separators=(",", ":")) + "\n")


def write_spec_file(target: str, text: str, *, force: bool) -> None:
    """Write a spec's file atomically; raises UsageError where that fails, or would replace a file without ``force``."""
    refuse_existing(target, force=force)
    _write(Path(target), text)


def _write(path: Path, text: str) -> None:
    """Write a file atomically; raises UsageError where that fails."""
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".new-", encoding="utf-8", newline="\n",
                                         delete=False) as temporary:
            temporary.write(text)
        mask = os.umask(0)  # of new files, which a temporary file does not follow
        os.umask(mask)
        try:
            Path(temporary.name).chmod(0o666 & ~mask)
            Path(temporary.name).replace(path)
        finally:
            Path(temporary.name).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError.of("unwritable", f"cannot write '{path}': {error.strerror or error}",
                            "name a file that can be written with -o") from None
