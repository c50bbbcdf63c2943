"""The nights of a name in a ledger: the latest run of each day, its measures, and the evidence for its gates.

All that reads a ledger raises UsageError where it cannot be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from evalpipe.errors import UsageError
from evalpipe.ledger.store import ESTIMATES, EVIDENCE, KEPT, RESTARTS, RUNS, VERDICTS
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger


def nights(
    ledger: Ledger, name: str, before: str | None = None, last: int | None = None, *, forgotten: bool = False
) -> list[Row]:
    """Return the nightly runs of an evaluation ``name``: the last recorded run of each day, the oldest day first.

    They come without estimates and facts. Runs whose results have no day are left out. ``before`` is a day as in
    ``"2026-11-21"``: only runs of earlier days are returned. ``last`` is how many, the newest. With ``forgotten`` also
    days of which `evalpipe gc` has forgotten all runs are returned.
    """
    newest_first = (KEPT.desc(), RUNS.c.last_recorded.desc(), RUNS.c.run.desc())
    rank = func.row_number().over(partition_by=RUNS.c.as_of, order_by=newest_first).label("rank")
    dated_runs = select(RUNS, rank).where(RUNS.c.name == name, RUNS.c.as_of.is_not(None))
    dated_runs = dated_runs if forgotten else dated_runs.where(KEPT)
    runs = (dated_runs if before is None else dated_runs.where(RUNS.c.as_of < before)).subquery()
    newest = select(*(runs.c[column.name] for column in RUNS.c if column is not RUNS.c.facts)).where(runs.c.rank == 1)
    return ledger.read_rows(newest.order_by(runs.c.as_of.desc()).limit(last))[::-1]


def runs_by_name(ledger: Ledger) -> list[Row]:
    """Return all runs in a ledger by name, the oldest of each first, without estimates and facts.

    Runs of a day come in the order in which they were recorded, those without a day before all others.
    """
    columns = [column for column in RUNS.c if column is not RUNS.c.facts]
    oldest_first = (RUNS.c.name, func.coalesce(RUNS.c.as_of, ""), RUNS.c.last_recorded, RUNS.c.run)
    return ledger.read_rows(select(*columns).where(KEPT).order_by(*oldest_first))


def names_now(runs: Sequence[Row], renamed: Mapping[str, str]) -> list[dict[str, str]]:
    """Return for each run, the oldest first, a mapping of names of its models that changed later to those of now.

    ``renamed`` maps models after all runs to their former names, as ``run["renamed"]`` does at the time of each run. A
    name that was given up and is that of another model later stays apart.
    """
    current_name_of = {former_name: name for name, former_name in renamed.items()}
    names_of_runs: list[dict[str, str]] = []
    for run in reversed(runs):
        names_of_runs.append(current_name_of)
        earlier = {former: current_name_of.get(name, name) for name, former in (run["renamed"] or {}).items()}
        current_name_of = current_name_of | earlier
    return names_of_runs[::-1]


def under_new_names(rows: Iterable[Row], names: Mapping[str, str]) -> list[Row]:
    """Return the estimates of a run with its models' names of now; ``names`` maps those in the rows to them.

    Where a model took over the name of another one of the run, the rows of that one are left out.
    """
    all_rows = list(rows)
    used_names = {names[row["model"]] for row in all_rows if row["model"] in names}
    return [{**row, "model": names.get(row["model"], row["model"])} for row in all_rows
            if row["model"] in names or row["model"] not in used_names]


def runs_in(ledger: Ledger, out: Path) -> list[Row]:
    """Return the runs of an output folder in the order they were recorded; without their estimates."""
    of_folder = select(RUNS).where(RUNS.c.folder == ledger.place.folder(out))
    return ledger.read_rows(of_folder.order_by(RUNS.c.last_recorded, RUNS.c.run))


def has_model(ledger: Ledger, name: str, model: str, before: str | None) -> bool:
    """Tell whether a run of an evaluation ``name`` has estimates of a model; only before a day, if there is one."""
    runs_with_model = select(ESTIMATES.c.run).join(RUNS).where(RUNS.c.name == name, ESTIMATES.c.model == model).limit(1)
    return bool(ledger.read_rows(runs_with_model if before is None else runs_with_model.where(RUNS.c.as_of < before)))


def facts_of(ledger: Ledger, run: int) -> Row | None:
    """Return the facts on data and spec that the ledger has of a run; None for a run of an earlier format."""
    facts: Row | None = ledger.read_rows(select(RUNS.c.facts).where(RUNS.c.run == run))[0]["facts"]
    return facts


def unsettled_of(ledger: Ledger, runs: Iterable[int]) -> dict[int, dict[str, int]]:
    """Return how many rows of each dataset were not settled in runs, by number of run; only of runs that had some."""
    rows = ledger.read_rows(select(RUNS.c.run, RUNS.c.facts).where(RUNS.c.run.in_(list(runs))))
    unsettled = {row["run"]: (row["facts"] or {}).get("unsettled", {}) for row in rows}
    return {run: datasets for run, datasets in unsettled.items() if any(datasets.values())}


def names_in(ledger: Ledger) -> list[str]:
    """Return the evaluation names that a ledger has runs of, sorted."""
    return [row["name"] for row in ledger.read_rows(select(RUNS.c.name).where(KEPT).distinct().order_by(RUNS.c.name))]


def estimates_of(ledger: Ledger, runs: Iterable[int], metrics: Iterable[str] | None = None) -> dict[int, list[Row]]:
    """Return the estimates of runs, by number of run, in the order of the results; only of ``metrics``, if any."""
    conditions = [] if metrics is None else [ESTIMATES.c.metric.in_(sorted(set(metrics)))]
    return ledger.rows_of(ESTIMATES, runs, *conditions)


def verdicts_of(ledger: Ledger, run: int) -> list[Row]:
    """Return the verdicts of a run, in the order of the results."""
    return ledger.rows_of(VERDICTS, [run])[run]


def evidence_supports(ledger: Ledger, run: int) -> list[float | None]:
    """Return the support of each row of evidence of a run: its rows of the rarer outcome; None where unknown."""
    return [row["support"] for row in ledger.rows_of(EVIDENCE, [run])[run]]


def evidence_before(ledger: Ledger, name: str, day: str) -> list[Row]:
    """Return the rows of evidence of a name's nightly runs before a day, sorted by day; each row has its ``as_of``.

    Only nights after the last day on which the sequences began anew are returned, also those that `evalpipe gc` has
    forgotten.
    """
    last_restart = select(func.max(RESTARTS.c.as_of).label("since"))
    last_restart = last_restart.where((RESTARTS.c.name == name) & (RESTARTS.c.as_of < day))
    since = ledger.read_rows(last_restart)[0]["since"] or ""
    day_of = {night["run"]: night["as_of"] for night in nights(ledger, name, day, forgotten=True)
              if night["as_of"] > since}
    evidence = select(EVIDENCE).order_by(EVIDENCE.c.run, EVIDENCE.c.place)
    rows = ledger.read_rows(evidence.where(EVIDENCE.c.run.in_(day_of)))
    dated_rows = ({"as_of": day_of[row.pop("run")], **row} for row in rows)
    return sorted(dated_rows, key=lambda row: (row["as_of"], row.pop("place")))


def measure_of(runs: Sequence[Row], metric: str | None) -> str:
    """Return ``metric`` if a run has it, for None the first metric of the newest run; else raises UsageError."""
    names = list(dict.fromkeys(str(row["metric"]) for run in reversed(runs) for row in run["estimates"]))
    if metric is None and names:
        return names[0]
    if metric in names:
        return str(metric)
    if not names:
        raise UsageError.of("unknown-metric", "the runs in the ledger have no measures", "see --format json")
    near = closest(str(metric), names)
    hint = f"did you mean '{near}'?" if near else f"measures of these runs: {', '.join(names)}"
    raise UsageError.of("unknown-metric", f"no run in the ledger has the measure '{metric}'", hint)
