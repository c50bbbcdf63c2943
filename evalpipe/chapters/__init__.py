"""The chapters: what a user switches on with keys of the spec, each a folder with its keys, rules, numbers and words.

A chapter's files are named by their role, and each role has functions and classes that the seven steps call:

| file | function or class | called in |
|---|---|---|
| `spec.py` | `…Keys`, `…ModelKeys` and `…ReportKeys` have its keys of a spec, of a model and of `report` | step 1 |
| `plan.py` | `rules(draft)` yields the problems across keys | step 1 |
| `plan.py` | `taken_names()` returns names that no expression may have, each with what it is of | step 1 |
| `plan.py` | `columns(spec)` yields columns of the evaluated rows to read, each after its place in the spec | step 2 |
| `plan.py` | `problems(spec, catalog)` yields what the data lack for it | step 2 |
| `plan.py` | `PLANNED` are functions by the field of `Plan` that each decides, which several steps use | step 2 |
| `plan.py` | `PARTS` are functions, each of which decides a part of the plan: `plan.part(function)` | step 2 |
| `plan.py` | `looks_back(plan)` yields what of earlier nights it reads: `evidence`, `reference` | step 3 |
| `plan.py` | `lines(plan)` yields what `evalpipe plan` says of it | `evalpipe plan` |
| `plan.py` | `document(plan)` returns what `evalpipe plan --format json` says of it, by key | `evalpipe plan` |
| `compute.py` | `changed(plan, samples)` returns samples with other predictions, and fields of `Results` | step 4 |
| `compute.py` | `tables(plan, evaluated)` returns fields of `Results` by name, of all evaluated datasets | step 4 |
| `compute.py` | `warnings(plan, evaluated)` yields what to warn of | step 4 |
| `records.py` | `…Fields` has its fields of `Results`, each with what it is where there is nothing | step 5 |
| `card.py` | functions with `@rule`, which claim what the results say | step 5 |
| `card.py` | `run_verdict(results)` yields the sign and the sentence of the verdict on the whole | step 6 |
| `card.py` | `in_headline(results)` yields findings that only repeat the verdict on the whole | step 6 |
| `card.py` | `outcome(results)` yields pairs of term and text about the outcome, for the head of the card | step 6 |
| `card.py` | `glance(results)` yields what stands on the first screen, below the dot plots | step 6 |
| `card.py` | `ranked(results, rows)` returns the rows of a dot plot in order, each with a mark, and a note | step 6 |
| `card.py` | `after_findings(results)` yields lists for below the first findings, in the terminal too | step 6 |
| `card.py` | `sections(results)` yields sections of the card | step 6 |
| `card.py` | `facts(results, model)` yields pairs of term and text about a model | step 6 |
| `card.py` | `reading(results, dataset)` yields what to know before reading a dataset's measures | step 6 |
| `card.py` | `matrix(results, confusion, ruled_by)` yields what to say of a confusion matrix | step 6 |
| `card.py` | `compared(results)` yields what to know of differences on the same rows | step 6 |
| `card.py` | `markers(results, dataset)` yields what the captions of curves say of points on them | step 6 |
| `card.py` | `beneath(results)` yields blocks that stand beneath the first screen | step 6 |
| `card.py` | `procedures(results)` yields how its numbers were made, for the section on methods | step 6 |
| `card.py` | `checks(results)` yields the test cases of `junit.xml`, which exports have too | step 6 |
| `card.py` | `lines(results, dataset)` yields what to print of a dataset or, of None, below all | `evalpipe run` |
| `card.py` | `verdict_lines(results)` yields what to print of verdicts, which annotate the spec | `evalpipe run` |

A chapter has those that it has something to say in. A class has its chapter's name before it, as in `CompareFields`.
What changes predictions before statistics are taken is called in the order of `CHANGING`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    Role = Literal["spec", "plan", "compute", "records", "card"]
    Function = Literal[
        "rules", "taken_names", "columns", "problems", "PLANNED", "PARTS", "looks_back", "lines", "document", "changed",
        "tables", "warnings", "run_verdict", "in_headline", "outcome", "glance", "ranked", "after_findings", "sections",
        "facts", "reading", "matrix", "compared", "markers", "beneath", "procedures", "checks", "verdict_lines",
    ]
    Fields = Literal["Keys", "ModelKeys", "ReportKeys", "Fields"]

CHAPTERS = (
    "standards", "statement", "labels", "scores", "prevalence", "thresholds", "curves", "equivocal", "costs",
    "deviance", "recalibrate", "compare", "folds", "repeats", "optimism", "reference_rates", "desirability", "slices",
    "steps", "what_if", "row_contents", "gates", "checks", "trend", "appearance", "row_file",
)
"""The names of the chapters, in the order in which their sections stand within a part of the card."""

CHANGING = ("labels", "recalibrate", "thresholds", "repeats")
"""The chapters that change samples: rows without an outcome get labels before anything is fitted to rows, a variant has
a threshold too, and further fits are classified as the first."""


@cache
def functions(role: Role, name: Function, *chapters: str) -> tuple[Callable[..., Any], ...]:
    """Return the functions of a name, such as `sections`, in files of a role: of all chapters, in order, or of some."""
    modules = [module for _, module in _modules(role, chapters or CHAPTERS)]
    return tuple(getattr(module, name) for module in modules if hasattr(module, name))


def composed(role: Role, name: Fields) -> type:
    """Return a class with the fields of each chapter's class of this name, such as `CompareFields`, in files of a role.

    Type checkers cannot read bases from a tuple: beside each call stands a class with the same bases, for them alone.
    """
    classes = [(f"{chapter.title().replace('_', '')}{name}", module) for chapter, module in _modules(role, CHAPTERS)]
    bases = [getattr(module, class_name) for class_name, module in classes if hasattr(module, class_name)]
    # Pydantic takes the fields of the last base first.
    return type(f"{name}OfChapters", tuple(reversed(bases)), {"__module__": __name__})


def _modules(role: Role, chapters: Iterable[str]) -> Iterator[tuple[str, ModuleType]]:
    """Yield the chapters that have a file of a role, each with the module of that file."""
    for chapter in chapters:
        module = _module(f"{__name__}.{chapter}.{role}")
        if module is not None:
            yield chapter, module


@cache
def _module(path: str) -> ModuleType | None:
    """Return the module at a path, imported; None where there is none."""
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return None
