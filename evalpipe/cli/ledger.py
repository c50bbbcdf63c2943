"""`evalpipe history` and `evalpipe gc`: the runs that a ledger has of a folder or of a name, and how old ones go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evalpipe.base.constants import LARGEST
from evalpipe.words import numbers
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.ledger.store import Ledger


name_option = click.option(
    "--name", help="The nights of this name, in whatever folders.  [default: where FOLDER holds a ledger, the only "
    "name in it]")
ledger_option = click.option(
    "--ledger", "address", help="The ledger: a file or a URL.  [default: ledger.sqlite in FOLDER or beside it]")


def ledger_and_name(folder: str, name: str | None, address: str | None) -> tuple[Ledger, str | None]:
    """Return the ledger opened for reading, and the name of the evaluation whose runs are meant.

    The ledger is that at ``address``, a file or a URL; else that in ``folder``; else that beside it. The name is
    ``name``; else the only name of a ledger in ``folder``; else None, where the runs of the output folder are meant.
    Raises UsageError without a ledger, or where a ledger in ``folder`` has several names, or none.
    """
    from evalpipe.ledger.entries import FILE, LedgerPlace
    from evalpipe.ledger.store import Ledger

    folder_path = Path(folder)
    is_ledger_folder = (folder_path / FILE).is_file()
    ledger_place = LedgerPlace.of(address) if address is not None else (
        LedgerPlace(file=(folder_path / FILE).absolute()) if is_ledger_folder else LedgerPlace.default_for(folder_path))
    ledger = Ledger.read(ledger_place)
    return ledger, name or (_only_name(ledger) if is_ledger_folder and address is None else None)


def _only_name(ledger: Ledger) -> str:
    """Return the only name in a ledger; raises UsageError where there are several, or none."""
    from evalpipe.errors import UsageError
    from evalpipe.ledger.nights import names_in
    from evalpipe.words.spelling import listed

    names = names_in(ledger)
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError.of("no-ledger", f"the ledger '{ledger.place.shown}' has no runs yet",
                            "the next evalpipe run is recorded in it")
    message = f"the ledger '{ledger.place.shown}' has runs of {len(names):,} names"
    hint = f"choose one of {listed(names[:12])} with --name, or an output folder"
    raise UsageError.of("several-names", message, hint)


Run = dict[str, Any]


@click.command(short_help="List the runs of an output folder, or the nights of a name.")
@click.argument("folder", type=click.Path())
@name_option
@click.option("--metric", help="The measure to show.  [default: the first of the newest run]")
@click.option("--last", type=click.IntRange(min=1), default=30, show_default=True, help="How many runs, the newest.")
@ledger_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def history(folder: str, name: str | None, metric: str | None, last: int, address: str | None, form: str) -> int:
    """List the runs of an output folder, the oldest first: day, verdict, and a measure of each model.

    Of a FOLDER that holds a ledger and an output folder for each night, it lists the nights of a name: the run of each
    day that was recorded last. The json has all estimates and verdicts that the ledger has.
    """
    from evalpipe.ledger.nights import nights

    ledger, chosen = ledger_and_name(folder, name, address)
    runs = (ledger.runs(Path(folder), last) if chosen is None
            else ledger.with_numbers(nights(ledger, chosen, last=last)))
    subject = folder if chosen is None else chosen
    if form == "json":
        left_out = {"run", "forgotten", "inputs_sha256", "facts", *(("folder",) if chosen is None else ())}
        document = {
            "schema_version": 1, "folder": folder, **({} if chosen is None else {"name": chosen}),
            "ledger": ledger.place.shown,
            "runs": [{key: value for key, value in run.items() if key not in left_out} | {"verdict": _verdict(run)}
                     for run in runs]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    elif not runs:
        click.echo(f"{ledger.place.shown} has no run of {subject}" + ("" if chosen is None else " that states its day"))
    else:
        _print_table(subject, "run" if chosen is None else "night", ledger.place.shown, runs, metric)
    return 0


def _verdict(run: Run) -> str:
    """Return the verdict of a run; "none" where an earlier ledger has null because nothing was judged."""
    return run["verdict"] or "none"


def _print_table(subject: str, kind: str, ledger: str, runs: list[Run], metric: str | None) -> None:
    """Print a line for each run: its day, verdict, the measure ``metric`` of each model, and the results' sha256.

    ``subject`` is the folder or the name whose runs these are, ``kind`` is "run" or "night".
    """
    from evalpipe.ledger.nights import measure_of, names_now, under_new_names

    name = measure_of(runs, metric)
    runs = [{**run, "estimates": under_new_names(run["estimates"], names)}
            for run, names in zip(runs, names_now(runs, {}), strict=True)]
    columns = _series_names([estimate for run in runs for estimate in run["estimates"] if estimate["metric"] == name])
    lines = [("day", "verdict", *columns.values(), "results")]
    for run in runs:
        values = {_series_key(estimate): estimate for estimate in run["estimates"] if estimate["metric"] == name}
        lines.append((
            run["as_of"] or run["last_recorded"][:10], _verdict(run),
            *(_value_text(values.get(key)) for key in columns), run["results_sha256"][:8]))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    click.echo(f"{subject}: {counted(len(runs), kind)} in {ledger}; {name} with its interval")
    for line in lines:
        click.echo("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _series_names(estimates: list[dict[str, Any]]) -> dict[str, str]:
    """Return a column title for each series of estimates, by its key: the model, and what tells it from others."""
    keys = list(dict.fromkeys(map(_series_key, estimates)))
    parts = [[str(part) for part in json.loads(key)] for key in keys]  # the first, always shown, is the model
    differing = [0, *(index for index, column in enumerate(zip(*parts, strict=True)) if index and len(set(column)) > 1)]
    return {key: ", ".join(texts[index] for index in differing if texts[index]) for key, texts in
            zip(keys, parts, strict=True)}


def _series_key(estimate: dict[str, Any]) -> str:
    """Return the key of the series of an estimate over runs: its model, dataset, average and options as a JSON list."""
    variant = "" if estimate["variant"] == "original" else f"+{estimate['variant']}"
    options = " ".join(f"{key} {value}" for key, value in estimate["params"].items())
    return json.dumps([f"{estimate['model']}{variant}", estimate["dataset"], estimate["average"] or "", options])


def _value_text(estimate: dict[str, Any] | None) -> str:
    """Return a value with its interval as text; its status without a value, a dash without an estimate."""
    from evalpipe.words.numbers import decimals, fixed, ranged

    if estimate is None or estimate["value"] is None:
        return "—" if estimate is None else estimate["status"]
    numbers = [estimate[key] for key in ("value", "lower", "upper") if estimate[key] is not None]
    digits = decimals(*numbers)
    value, *interval = (fixed(number, digits) for number in numbers)
    return f"{value} ({ranged(*interval)})" if len(interval) == 2 else value


@click.command(short_help="Remove old runs from the ledger.")
@click.argument("folder", type=click.Path())
@name_option
@click.option("--keep-runs", type=click.IntRange(min=1), help="Keep so many runs, or nights of a name, the newest.")
@click.option("--keep-days", type=click.IntRange(min=0), help="Keep runs whose day is so near that of the newest run.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@ledger_option
def gc(
    folder: str, name: str | None, keep_runs: int | None, keep_days: int | None, address: str | None, *, dry_run: bool
) -> int:
    """Remove the runs of an output folder from the ledger that neither --keep-runs nor --keep-days keeps.

    Of a FOLDER that holds a ledger and an output folder for each night, the nights of a name are removed, each with all
    runs of its day. The days are those that the cards are about, not those of the clock: the newest run is always kept.
    The output folders stay as they are, and so do the hash and the evidence of each run, on which runs that are kept
    rest. Hidden files and folders that killed runs left in FOLDER are removed.
    """
    from evalpipe.errors import UsageError
    from evalpipe.ledger.store import Keep, Ledger, forget_nights, forget_runs
    from evalpipe.runs.record import sweep_killed

    if keep_runs is None and keep_days is None:
        raise UsageError.of("usage", "nothing says which runs to keep", "give --keep-runs, --keep-days or both")
    keep = Keep(keep_runs, keep_days)
    read, chosen = ledger_and_name(folder, name, address)  # which begins none where there is none
    ledger = Ledger.open(read.place)
    gone, kept = (forget_runs(ledger, Path(folder), keep, dry=dry_run) if chosen is None
                  else forget_nights(ledger, chosen, keep, dry=dry_run))
    verb, what = "would remove" if dry_run else "removed", counted(gone, "run" if chosen is None else "night")
    subject = folder if chosen is None else chosen
    click.echo(f"{read.place.shown}: {verb} {what} of {subject}; {kept:,} {'stay' if kept != 1 else 'stays'}")
    killed = 0 if dry_run else sweep_killed(Path(folder))
    if killed:
        click.echo(f"{folder}: removed what killed runs left of {counted(killed, 'output folder')}")
    return 0


MARGIN = 0.01
"""How far inside its limit a true value is taken to stand, where the command line says nothing."""

DROP = 0.05
"""By how much it is taken to fall then."""

Command = TypeVar("Command", bound="Callable[..., object]")


def margin_and_drop(command: Command) -> Command:
    """Add to a command the options `--margin` and `--drop`, by which true values are set in simulations of gates."""
    margin = click.option("--margin", type=click.FloatRange(min=0), default=MARGIN, show_default=True,
                          callback=_computable, help="How far inside their limits true values stand.")
    drop = click.option("--drop", type=click.FloatRange(min=0, min_open=True), default=DROP, show_default=True,
                        callback=_computable, help="By how much they fall then.")
    return margin(drop(command))


def _computable(_context: click.Context, _option: click.Parameter, value: float) -> float:
    """Return the value of an option; raise click.BadParameter for NaN and for numbers above `LARGEST`."""
    if not value <= LARGEST:
        raise click.BadParameter(f"{value:g} is no number up to {LARGEST:g}.")
    return value


def expected_lines(expected: Mapping[str, Any]) -> list[str]:
    """Return the lines on what to expect of each gate, from the forecast in JSON values; empty without gates."""
    gates = expected["gates"]
    if not gates:
        return []
    heading = (f"expected of nights like the latest in the ledger, with true values {expected['margin']:g} inside "
               f"their limits that then fall by {expected['drop']:g} ({gates[0]['years']} simulated years)")
    return ["", heading, *(f"  gate {gate['gate']}: {_gate_text(gate)}" for gate in gates),
            "  two runs of the same bytes disagree: never"]


def _gate_text(gate: Mapping[str, Any]) -> str:
    """Return the false alarms a year and the median delay of a gate as text, or why they are not known."""
    if gate["false_alarms_a_year"] is None:
        return f"not known: {gate['reason']}"
    nights = gate["median_delay"]
    delay = "over a year" if nights is None else "1 night" if nights == 1 else f"{numbers.count(nights)} nights"
    alarms = f"{gate['false_alarms_a_year']:.2g} false alarms a year (standard error {gate['standard_error']:.1g})"
    if gate["checks"] == 1:
        return f"{alarms}, median delay {delay}"
    return f"{alarms} in {gate['checks']} checks, median delay of the slowest {delay}"
