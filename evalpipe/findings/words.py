"""The words that findings share: numbers with their limits, and what they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from evalpipe.base.records import Measured
from evalpipe.card.wording import (
    MOST_NAMED,
    NUMBER_WORDS,
    capital,
    is_weighted,
    joined,
    names_of,
    nouns_of,
    number_word,
)
from evalpipe.results.document import Finding
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from evalpipe.base.records import Scalar, Slice
    from evalpipe.results import Results
    from evalpipe.results.document import FindingKind

R = TypeVar("R")

MOST_VALUES = 3
"""The most values that one sentence gives with their limits; of more it gives the range."""


BEGIN = frozenset({"all", "the", "overall", "desirability", *NUMBER_WORDS})
"""Words that a sentence about several models, or about a measure, begins with; other texts begin with a name."""


def finding(kind: FindingKind, weight: float, text: str, section: str, rows: Sequence[Any] = ()) -> Finding:
    """Return a finding with ``rows`` of the results as evidence; a word of `BEGIN` at its beginning gets a capital."""
    capitalised = capital(text) if text.partition(" ")[0] in BEGIN else text  # and no name is written as it is not
    return Finding(kind=kind, weight=weight, text=capitalised, section=section,
                   estimates=[measured(row) for row in rows if getattr(row, "metric", None)])


def measured(row: Any) -> Measured:
    """Return the key of a row of the results: its dataset, model, metric, options and so on, without numbers."""
    return Measured(**{name: getattr(row, name) for name in Measured.model_fields if hasattr(row, name)})


def with_limits(row: Any, *apart: float) -> str:
    """Return a row's value with limits, "0.56 (0.50–0.62)"; no limit is rounded to 0, 1 or ``apart``."""
    value = row.value if hasattr(row, "value") else row.difference
    if value is None:
        return "undefined"
    return numbers.with_limits(value, row.lower, row.upper, apart=(0, 1, *apart))


def difference_of(row: Any) -> str:
    """Return the difference of a row with limits, "+0.012 (−0.002 to +0.027)", and its margin if undecided."""
    if row.difference is None:
        return "undefined"
    text = numbers.signed_with_limits(row.difference, row.lower, row.upper)
    is_open = getattr(row, "margin_verdict", None) == "undecided"
    return f"{text[:-1]}; perhaps within the margin of {numbers.plain(row.margin)})" if is_open else text


def verb_form(rows: Sequence[Any], of_one: str, of_several: str) -> str:
    """Return ``of_one`` or ``of_several``, the form of a verb that agrees with the models of ``rows``."""
    return of_one if len(rows) == 1 or _is_one_model(rows) else of_several


def of_models(results: Results, rows: Sequence[Any]) -> str:
    """Return the labels of the models of rows: "Forest and Logistic regression"; with datasets if there are several."""
    if _is_one_model(rows):
        return f"{names_of(results).model_of(rows[0])}{' and'.join(on_dataset(results, row.dataset) for row in rows)}"
    labels = list(dict.fromkeys(of_model(results, row) for row in rows))
    if len(labels) > MOST_VALUES and len(labels) == len(results.models):
        return f"all {number_word(len(labels))} models"
    return joined(labels) if len(labels) <= MOST_NAMED else f"{number_word(len(labels))} models"


def _is_one_model(rows: Sequence[Any]) -> bool:
    datasets = {row.dataset for row in rows}
    return len({(row.model, row.variant) for row in rows}) == 1 and len(rows) == len(datasets) > 1


def with_verb(results: Results, rows: Sequence[Any], of_one: str, of_several: str) -> str:
    """Return the models of rows with their verb: "Forest and Tree are"."""
    return f"{of_models(results, rows)} {verb_form(rows, of_one, of_several)}"


def of_model(results: Results, row: Any) -> str:
    """Return the label of the model of a row, with its dataset where several are evaluated."""
    return f"{names_of(results).model_of(row)}{on_dataset(results, row.dataset)}"


def on_dataset(results: Results, dataset: str) -> str:
    """Return " on " and the name of a dataset where several are evaluated; empty of the only one."""
    return f" on {dataset}" if sum(other.role == "evaluate" for other in results.datasets) > 1 else ""


def first_of(items: Sequence[str], more: str = "") -> str:
    """Return the first `MOST_VALUES` of a list in words, and how many others there are, with a noun ``more``."""
    left_out = len(items) - MOST_VALUES
    if left_out <= 0:
        return joined(items)
    noun = more and f" {more}{'' if left_out == 1 else 's'}"
    return f"{', '.join(items[:MOST_VALUES])} and {numbers.count(left_out)} more{noun}"


def counted_rate(results: Results, row: Any, labels: Slice | None) -> str | None:
    """Return a rate of the model of a row, in a slice or on all rows, as counts: "finds 25 of 141 survivors".

    None of a measure that is no rate of the confusion matrix of a binary outcome, and where its cells are no whole
    rows: with weights, or an equivocal zone.
    """
    table = next((table for table in results.confusion if (table.dataset, table.model, table.variant, table.slice) == (
        row.dataset, row.model, row.variant, labels)), None)
    if table is None or results.task != "binary" or is_weighted(results) or table.equivocal or row.class_:
        return None
    nouns, count, ((tp, fn), (fp, tn)) = nouns_of(results), numbers.count, table.counts
    return {
        "sensitivity": f"finds {count(tp)} of {count(tp + fn)} {nouns.events}",
        "specificity": f"is right on {count(tn)} of {count(fp + tn)} {nouns.others}",
        "precision": f"is right on {count(tp)} of {count(tp + fp)} {nouns.named}",
        "accuracy": f"is right on {count(tp + tn)} of {nouns.counted_rows(tp + fn + fp + tn)}",
    }.get(row.metric)


def values_of(results: Results, rows: Sequence[Any], text_of: Callable[[Any], str] = with_limits) -> str:
    """Return the values of rows with limits, each with its model if there are several; of many rows the range.

    ``text_of`` writes the value of a row with its limits.
    """
    if len(rows) == 1:
        return text_of(rows[0])
    if len(rows) <= MOST_VALUES:
        if _is_one_model(rows):
            return joined([f"{text_of(row)}{on_dataset(results, row.dataset)}" for row in rows])
        return joined([f"{text_of(row)} for {of_model(results, row)}" for row in rows])
    low, high = (numbers.number(extreme(row.value for row in rows)) for extreme in (min, max))
    return f"from {low} to {high}"


def on_all_rows(results: Results, metric: str, prevalence: float | None = None) -> Iterator[Any]:
    """Yield the estimates of a measure on all rows, without class, that have limits and status "ok".

    They are at the ``prevalence``, or without it at that of the rows.
    """
    for row in (*results.rows, *results.diagnostics):
        is_reliable = row.value is not None and row.lower is not None and row.status == "ok"
        if is_reliable and row.metric == metric and row.slice is None and row.class_ is None and (
                row.params.get("prevalence") == prevalence):
            yield row


def measures(
    results: Results, metric: str, options: Mapping[str, Scalar] | None = None, prevalence: float | None = None
) -> list[Any]:
    """Return the estimates of a metric on all rows, for each dataset and original model the first with ``options``.

    They are those of `on_all_rows`: with limits, status "ok" and without a class.
    """
    rows: dict[tuple[str, str], Any] = {}
    for row in on_all_rows(results, metric, prevalence):
        if row.variant == "original" and (options or {}).items() <= row.params.items():
            rows.setdefault((row.dataset, row.model), row)
    return list(rows.values())


def at_better_prevalence(results: Results, metric: str, loss: Callable[[Any], float]) -> list[Any]:
    """Return a row for each model and dataset, at the sample's or the declared prevalence, whichever has less ``loss``.

    A model may be meant for either: rows may be enriched with events, and a prevalence that is declared be another's.
    """
    prior = results.prevalence
    declared = {} if prior is None or prior.value is None else {
        (row.dataset, row.model): row for row in measures(results, metric, prevalence=prior.value)}
    return [min((row, declared.get((row.dataset, row.model), row)), key=loss) for row in measures(results, metric)]


def by_prevalence(rows: Sequence[Any], *, of_dataset: bool = False) -> Iterator[list[Any]]:
    """Yield lists of the rows that share a prevalence and, with ``of_dataset``, a dataset."""
    return grouped(rows, lambda row: (row.dataset if of_dataset else None, row.params.get("prevalence")))


def anchor(results: Results, row: Any, of: str = "dataset") -> str:
    """Return the anchor of the section on a row's dataset, such as "dataset-1"; ``of`` is the kind of section."""
    names = [dataset.name for dataset in results.datasets]
    return f"{of}-{names.index(row.dataset) + 1}"


def grouped(rows: Sequence[R], key: Callable[[R], Hashable]) -> Iterator[list[R]]:
    """Yield the rows of each key as a list, keys in the order of their first rows."""
    groups: dict[Hashable, list[R]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    yield from groups.values()


def by_dataset(rows: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the rows of each dataset as a list."""
    return grouped(rows, lambda row: row.dataset)


def rows_of(results: Results, row: Any) -> int:
    """Return the number of rows of the dataset, or of the slice, to which a row of the results refers."""
    if row.slice is None:
        return next(dataset.n for dataset in results.datasets if dataset.name == row.dataset)
    return next(part.n for part in results.slices if (part.dataset, part.slice) == (row.dataset, row.slice))


def earlier_range(values: Sequence[float | None], digits: int) -> str:
    """Return the range of earlier nights, with so many decimals: "0.87 to 0.96 on 23 nights"; empty without any."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    nights = f"on {numbers.count(len(known))} night{'' if len(known) == 1 else 's'}"
    low, high = (numbers.fixed(end(known), digits) for end in (min, max))
    return f"{low} {nights}" if low == high else f"{low} to {high} {nights}"


def moved_to(tonight: float, earlier: Sequence[float | None]) -> str:
    """Return "fell to" or "rose to" where the value of tonight is beyond all earlier ones, else "is"."""
    known = [value for value in earlier if value is not None]
    if known and tonight < min(known):
        return "fell to"
    return "rose to" if known and tonight > max(known) else "is"
