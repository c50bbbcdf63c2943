"""The columns that are neither outcome nor prediction: id, and what may be a cluster, a weight or a slice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.data.problems import counted
from evalpipe.data.slices import periods
from evalpipe.data.values import days
from evalpipe.proposal.names import EXPOSURES, WEIGHTS, has, like_id
from evalpipe.proposal.yaml_text import inline, scalar
from evalpipe.words.spelling import clipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalpipe.proposal.columns import ColumnLook

    Fits = Callable[[ColumnLook], bool]
    Note = Callable[[ColumnLook], str]

FEW = 10
"""The levels that a column has at most to be proposed as a slice."""

MOST_MONTHS = 24
"""The months of dates that are proposed as slices at most; of more, the years are."""

MOST_SLICES = 8
"""The slices that are proposed at most."""

SHOWN = 4
"""The names of columns that a line shows."""


@dataclass(frozen=True, slots=True)
class OtherColumns:
    """What the other columns may be: each with its reason; ``left_out`` are lines on those that are not used.

    ``slices`` are columns of levels and ``periods`` those of dates, each as the spec has it under `slices`.
    """

    id: tuple[str, str] | None
    clusters: tuple[tuple[str, str], ...]
    weights: tuple[tuple[str, str], ...]
    exposures: tuple[tuple[str, str], ...]
    slices: tuple[tuple[str, str], ...]
    periods: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def id_candidates(columns: Mapping[str, ColumnLook], used: Iterable[str]) -> list[str]:
    """Return the columns whose values may name rows: different in all of them, and called so."""
    taken = set(used)
    return [name for name, look in columns.items() if name not in taken and look.unique and like_id(name)
            and look.kind in ("number", "text") and (look.kind == "text" or look.whole)]


def other_columns(
    columns: Mapping[str, ColumnLook], used: Sequence[str], row_id: ColumnLook | None, refused: Mapping[str, str],
    within: str,
) -> OtherColumns:
    """Sort the columns that are not used; ``within`` says in which rows they were looked at."""
    rest = {name: look for name, look in columns.items() if name not in {*used, *refused}}
    identity = None
    if row_id is not None:
        identity = row_id.name, f"a different value in each of {counted(row_id.rows, 'row')}"
        rest.pop(row_id.name, None)
    clusters = _take(rest, lambda look: like_id(look.name) and look.kind in ("number", "text") and not look.missing
                     and 1 < look.distinct < look.rows and (look.kind == "text" or look.whole))
    weights = _take(rest, lambda look: look.kind == "number" and has(look.name, WEIGHTS) and look.low >= 0
                    and not look.constant and not look.missing)
    exposures = _take(rest, lambda look: look.kind == "number" and has(look.name, EXPOSURES) and look.low > 0)
    slices = _take(rest, lambda look: bool(look.levels) and 1 < look.written_levels <= FEW
                   and (look.kind in ("text", "boolean") or (look.kind == "number" and look.whole)))
    few = {scalar(look.name): counted(look.written_levels, "level") for look in slices[:MOST_SLICES]}
    dated = _take(rest, lambda look: _period(look) is not None)
    periods = {inline({"column": scalar(look.name), "by": period}): counted(count, period)
               for look in dated[:MOST_SLICES] for period, count in [_period(look) or ("", 0)]}
    return OtherColumns(
        identity,
        _noted(clusters, lambda look: f"{counted(look.distinct, 'value')} in {within}: if rows that share one belong "
               "together, intervals resample these"),
        _noted(weights, lambda look: f"from {look.low:.4g} to {look.high:.4g}: if rows count more or less than others"),
        _noted(exposures, lambda look: f"from {look.low:.4g} to {look.high:.4g}: if counts were counted in so much"),
        tuple(few.items()), tuple(periods.items()), tuple(_left_out(rest, refused, slices[MOST_SLICES:])))


def _period(look: ColumnLook) -> tuple[str, int] | None:
    """Return the periods that slice a column of dates, and how many they are; None where it has none or one."""
    read = days(look.texts)
    if look.kind != "date" or read.null_count() > look.texts.null_count():
        return None
    months, years = (len(set(periods(read.drop_nulls(), length))) for length in ("month", "year"))
    period = ("month", months) if months <= MOST_MONTHS else ("year", years)
    return period if period[1] > 1 else None


def _take(rest: dict[str, ColumnLook], fits: Fits) -> list[ColumnLook]:
    """Take the columns that fit out of the rest."""
    taken = [look for look in rest.values() if fits(look)]
    for look in taken:
        del rest[look.name]
    return taken


def _noted(columns: Sequence[ColumnLook], note: Note) -> tuple[tuple[str, str], ...]:
    return tuple((look.name, note(look)) for look in columns)


def _left_out(
    rest: Mapping[str, ColumnLook], refused: Mapping[str, str], more_slices: Sequence[ColumnLook]
) -> Iterable[str]:
    """Yield a line for each reason why columns are not used."""
    reasons: dict[str, list[str]] = {}
    for name, reason in refused.items():
        reasons.setdefault(reason, []).append(name)
    if more_slices:
        reasons["few levels, as the slices above"] = [look.name for look in more_slices]
    for look in rest.values():
        reasons.setdefault(_reason(look), []).append(look.name)
    for reason, names in reasons.items():
        shown = ", ".join(clipped(name) for name in names[:SHOWN])
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        yield f"{counted(len(names), 'column')} ({reason}): {shown}{more}"


def _reason(look: ColumnLook) -> str:
    """Say why a column is not used."""
    if look.kind in ("nested", "list", "empty"):
        return "no values" if look.kind == "empty" else "lists or mappings"
    if look.constant:
        return "the same value in each row"
    if look.kind == "date":
        return "dates; 'where' can keep a period"
    if look.kind == "number":
        inside = look.within(0, 1) and not look.whole
        return "numbers from 0 to 1; if they are predictions, name them under models" if inside else (
            "numbers; a slice needs cuts: {column: …, cuts: [18, 65]}")
    return f"texts of more than {FEW} values"
