"""What the card says of the run before: three lines below the findings, and the same in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import Bullets, Strong
from evalpipe.card.tables import evaluated
from evalpipe.card.wording import joined, names_of, nouns_of
from evalpipe.findings.words import on_dataset
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.words import numbers
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.since.records import ChangedKey, ChangedMeasure, DatasetBefore, Since
    from evalpipe.results import Results
    from evalpipe.results.document import DatasetSummary

MOST_KEYS = 5
"""The changed keys of the spec that are named."""


def after_findings(results: Results) -> Iterator[Bullets]:
    """Yield a line each on data, numbers and spec; nothing where the ledger has no run before."""
    since = results.since
    if since is None:
        return
    run = f"the last run ({since.results_sha256[:EVIDENCE_DIGITS]})" if since.results_sha256 else since.as_of
    version = "" if since.evalpipe_version == results.evalpipe_version else (
        f"; evalpipe {since.evalpipe_version} → {results.evalpipe_version}")
    yield Bullets((
        (Strong(f"Data since {run}: "), f"{_data_text(results, since)}."),
        (Strong("Numbers: "), f"{_numbers_text(results, since)}."),
        (Strong("Spec: "), f"{_spec_text(since.spec)}{version}."),
    ), "findings more small")


def _data_text(results: Results, since: Since) -> str:
    """Return what is different in the data: rows and events of each evaluated dataset, and rows of the others."""
    evaluated_names = [dataset.name for _, dataset in evaluated(results)]
    if since.same_files:
        rows = sum(dataset.n for dataset in results.datasets if dataset.name in evaluated_names)
        return f"the same {nouns_of(results).counted_rows(rows)}"
    if since.datasets is None:
        return "not compared; the ledger does not have the rows of that run"
    before = {dataset.dataset: dataset for dataset in since.datasets}
    parts = []
    for dataset in results.datasets:
        then = before.pop(dataset.name, None)
        label = f"{dataset.name}: " if len(results.datasets) > 1 else ""
        if then is None:
            parts.append(f"{dataset.name} is new")
        elif dataset.name in evaluated_names or then.rows != dataset.n:
            parts.append(f"{label}{_dataset_text(results, dataset, then)}")
    parts += [f"{name} is gone" for name in before]
    return "; ".join(parts)


def _dataset_text(results: Results, dataset: DatasetSummary, then: DatasetBefore) -> str:
    """Return how a dataset differs: "412 more rows (5,695 → 6,107), events 31% → 29%"."""
    nouns, more = nouns_of(results), dataset.n - then.rows
    if more:
        noun = nouns.row if abs(more) == 1 else nouns.rows
        text = (f"{numbers.count(abs(more))} {'more' if more > 0 else 'fewer'} {noun} ({numbers.count(then.rows)} → "
                f"{numbers.count(dataset.n)})")
    else:
        text = f"{nouns.counted_rows(dataset.n)} as before, in other files"
    if dataset.events is None or then.events is None:
        return text
    shares = (numbers.percent(then.events, then.rows), numbers.percent(dataset.events, dataset.n))
    return f"{text}, {nouns.events} {shares[0] if shares[0] == shares[1] else ' → '.join(shares)}"


def _numbers_text(results: Results, since: Since) -> str:
    """Return which measures moved by more than both intervals explain, with earlier and present value; or that none."""
    if not since.compared:
        return "no measure has an interval in both runs"
    if since.unchanged == since.compared:
        return "the same" if since.compared == 1 else f"all {since.compared:,} measures are the same"
    changes = [_change_text(results, measure) for measure in since.measures]
    if not since.moved:
        return f"no measure moved by more than the intervals explain; the most: {changes[0]}"
    lead = ": " if since.moved <= len(changes) else "; the most: "
    return (f"{since.moved:,} of {counted(since.compared, 'measure')} moved by more than the intervals explain{lead}"
            f"{joined(changes)}")


def _change_text(results: Results, measure: ChangedMeasure) -> str:
    """Return a measure with its value before and that of now: "ROC AUC of Forest 0.87 → 0.57 (0.50–0.64)"."""
    names = names_of(results)
    row = next(row for row in results.rows if row.about == measure.about)
    of_model = f" of {names.model_of(row)}" if len(results.models) > 1 or row.variant != "original" else ""
    name = names.measure(row.metric, row.params, row.average)
    value = row.value or 0.0
    least = next((digits for digits in range(numbers.MOST_DECIMALS)
                  if numbers.fixed(value, digits) != numbers.fixed(measure.before, digits)), numbers.MOST_DECIMALS)
    now = numbers.with_limits(value, row.lower, row.upper, least=least)
    digits = len(now.partition(" ")[0].partition(".")[2])
    return f"{name}{of_model}{on_dataset(results, row.dataset)} {numbers.fixed(measure.before, digits)} → {now}"


def _spec_text(keys: Sequence[ChangedKey] | None) -> str:
    """Return which keys of the spec are different: "differs in gates (1 new), seed and slices (new)"."""
    if keys is None:
        return "not compared; the ledger does not have the keys of that run"
    if not keys:
        return "the same"
    shown = [_key_text(key) for key in keys[:MOST_KEYS]]
    more = [f"{len(keys) - MOST_KEYS} more"] if len(keys) > MOST_KEYS else []
    return f"differs in {joined([*shown, *more])}"


def _key_text(key: ChangedKey) -> str:
    """Return a key of the spec, with what became of it: new, gone, or so many entries of its list new or gone."""
    counts = [f"{count} {word}" for count, word in ((key.added, "new"), (key.removed, "gone")) if count]
    return f"{key.key} ({', '.join(counts)})" if counts else key.key if key.change == "changed" else (
        f"{key.key} ({key.change})")
