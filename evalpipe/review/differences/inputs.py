"""What went into two runs beside their specs: files of data, libraries, and what they evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evalpipe.review.differences.matching import matched, matched_twice
from evalpipe.review.differences.records import InputChange, SubjectChange, VersionChange

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.results import InputFile, Results


def input_changes(a: Results, b: Results) -> list[InputChange]:
    """Return the files that differ. A file that moved is the same; a dataset of one file is compared whatever its path.

    Of data held in memory, which have no sha256, only rows and columns can be compared.
    """
    pairs = matched_twice(a.inputs, b.inputs, lambda file: (file.dataset, file.role, file.path, file.sha256, file.rows,
                          file.used_rows, tuple(file.columns)), lambda file: (file.dataset, file.role))
    return [change for first, second in pairs for change in _input_change(first, second)]


def _input_change(a: InputFile | None, b: InputFile | None) -> Iterator[InputChange]:
    if a is None or b is None:
        present = a or b
        if present is not None:
            yield InputChange(dataset=present.dataset, differs_in=["presence"], a=a, b=b)
        return
    alike = {"content": a.sha256 == b.sha256, "rows": a.rows == b.rows, "used_rows": a.used_rows == b.used_rows,
             "columns": sorted(a.columns) == sorted(b.columns)}
    aspects = [aspect for aspect, same in alike.items() if not same]
    if aspects:
        yield InputChange.model_validate({"dataset": a.dataset, "differs_in": aspects, "a": a, "b": b})


def version_changes(a: Mapping[str, str], b: Mapping[str, str]) -> list[VersionChange]:
    """Return the libraries whose versions differ; one that a run does not name is null."""
    return [VersionChange(library=name, a=a.get(name), b=b.get(name))
            for name in [*a, *(name for name in b if name not in a)] if a.get(name) != b.get(name)]


def subject_changes(a: Results, b: Results) -> list[SubjectChange]:
    """Return the evaluated datasets, the models and the metrics that one run alone has."""
    return list(_subjects(a, b))


def _subjects(a: Results, b: Results) -> Iterator[SubjectChange]:
    names: dict[Literal["dataset", "model", "metric"], tuple[list[str], list[str]]] = {
        "dataset": (_evaluated(a), _evaluated(b)),
        "model": ([model.name for model in a.models], [model.name for model in b.models]),
        "metric": ([*dict.fromkeys(row.metric for row in a.rows)], [*dict.fromkeys(row.metric for row in b.rows)]),
    }
    for kind, (left, right) in names.items():
        for first, second in matched(left, right, str):
            if first is None and second is not None:
                yield SubjectChange(kind=kind, name=second, only_in="b")
            elif second is None and first is not None:
                yield SubjectChange(kind=kind, name=first, only_in="a")


def _evaluated(results: Results) -> list[str]:
    return [dataset.name for dataset in results.datasets if dataset.role == "evaluate"]
