"""What a register of many cards costs: every night of many models is run, some are signed, and the page is made.

    python benchmarks/register.py                         prints the table, in about a quarter of an hour
    python benchmarks/register.py --models 6 --nights 8   a quick look
    python benchmarks/register.py --postgresql URL        also from a ledger in an empty database there
    python benchmarks/register.py --keep FOLDER           keeps the folders and the page

Every model is approved on its first night. Then one is rejected, one expires, one is never signed, one drifts, one
fails its gate, one ends early, and a file of one is changed after its run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml
from processes import figures, spent, typical

import evalpipe

RUNS, ROWS = 3, 400
FIRST = date(2026, 10, 1)
HEADER = ("| register of | wall | processor | peak memory |", "|---|---|---|---|")
CASES = ("rejected", "expired", "unsigned", "drifting", "failed", "stopped", "changed")


def spec_of(name: str) -> dict[str, Any]:
    """Return the spec of a nightly card."""
    return {
        "evalpipe": 1, "name": name, "title": f"Claims of region {name.removeprefix('claims_')}", "task": "binary",
        "outcome": {"column": "y", "event": 1}, "datasets": {"tonight": {"path": f"data/{name}-${{date}}.parquet"}},
        "models": {"model": {"probability": "p"}}, "metrics": ["roc_auc", "brier"], "intervals": {"replicates": 200},
        "trend": {"metrics": ["roc_auc"]}, "report": {"formats": ["html"]},
        "gates": [{"name": "Ranks claims", "metric": "roc_auc", "min": 0.75, "on": "value"}]}


def rows_of(seed: int, spread: float) -> pl.DataFrame:
    """Return the outcomes and probabilities of a night; of a smaller ``spread`` they rank worse."""
    generator = np.random.default_rng(seed)
    log_odds = generator.normal(-0.5, 2, ROWS)
    y = (generator.random(ROWS) < 1 / (1 + np.exp(-log_odds))).astype(int)
    blurred = spread * log_odds + generator.normal(0, 1, ROWS)
    return pl.DataFrame({"y": y, "p": 1 / (1 + np.exp(-blurred))})


def spread_of(case: str, night: int, nights: int) -> float:
    """Return how well a model ranks on a night: worse at the end of one that drifts, and of one that fails."""
    falls = night >= nights - 3 and case == "drifting"
    return 0.45 if falls else 0.15 if night == nights - 1 and case == "failed" else 1.2


def run_nights(folder: Path, models: int, nights: int) -> None:
    """Run the nights of all models into a folder with one ledger, and sign their cards."""
    (folder / "data").mkdir()
    for model in range(models):
        name, case = f"claims_{model + 1:02}", dict(enumerate(CASES)).get(model, "")
        spec = folder / f"{name}.yaml"
        spec.write_text(yaml.safe_dump(spec_of(name)), encoding="utf-8")
        for night in range(nights - 10 if case == "stopped" else nights):
            day = (FIRST + timedelta(night)).isoformat()
            rows_of(1000 * model + night, spread_of(case, night, nights)).write_parquet(
                folder / "data" / f"{name}-{day}.parquet")
            out = folder / "reports" / f"{name}-{day}"
            evalpipe.run(evalpipe.load(spec, as_of=day), out=out)
            if night == 0 and case != "unsigned":
                expires = {"expires": (FIRST + timedelta(10 if case == "expired" else 200)).isoformat()}
                for role, person in (("validator", "Ada Quist"), ("approver", "Ben Okafor")):
                    evalpipe.sign(out, role=role, name=person, decision="approved", date=day, **expires)
        if case == "rejected":
            evalpipe.sign(out, role="validator", name="Ada Quist", decision="rejected", date=day)
        if case == "changed":
            page = out / "card.html"
            page.write_text(page.read_text(encoding="utf-8").replace("0.8", "0.9"), encoding="utf-8")


def copy_to(address: str, folder: Path) -> None:
    """Record all runs in a ledger of a database."""
    from evalpipe.ledger.entries import LedgerPlace
    from evalpipe.ledger.store import Ledger

    ledger = Ledger.open(LedgerPlace.of(address))
    for results in sorted(folder.glob("reports/*/results.json")):
        ledger.record(evalpipe.Results.read(results), results.parent)


def table(folder: Path, models: int, nights: int, postgresql: str | None) -> list[str]:
    """Return the lines of the table: a register of folders and their ledger, and of ledgers alone."""
    run_nights(folder, models, nights)
    reports = folder / "reports"
    sources = {"folders and ledger in SQLite": str(reports), "ledger in SQLite": str(reports / "ledger.sqlite")}
    if postgresql is not None:
        copy_to(postgresql, folder)
        sources["ledger in PostgreSQL"] = postgresql
    lines = list(HEADER)
    for what, source in sources.items():
        command = [sys.executable, "-m", "evalpipe", "register", source, "--out", str(folder / "register.html")]
        cost = typical([spent(command)[0] for _ in range(RUNS)])
        lines.append(f"| {' | '.join([f'{models} models, {nights} nights: {what}', *figures(cost)])} |")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=30)
    parser.add_argument("--nights", type=int, default=40)
    parser.add_argument("--postgresql")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) if options.keep is None else options.keep.absolute()
        folder.mkdir(exist_ok=True)
        print("\n".join(table(folder, options.models, options.nights, options.postgresql)))


if __name__ == "__main__":
    main()
