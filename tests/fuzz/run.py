"""Runs many cases and tells how they ended.

python tests/fuzz/run.py --specs 20000 --data 2000 --calls 2000 --reports 2000 --seed 1 --workers 2
python tests/fuzz/run.py --case spec:1:417 --save folder      one case again: its files, what it printed, its fault
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.bases import prepare
from fuzz.cases import KINDS, Cases, Outcome
from fuzz.reports import prepare_report

MEMORY = 6 * 2**30
"""Bytes of address space beyond which a worker gets a MemoryError, which is a fault."""

NUMBERS = (("specs", "spec"), ("data", "data"), ("calls", "call"), ("reports", "report"))
"""The option of the number of cases of each kind."""

SLACK = 120
"""Seconds without a word after which a worker is ended: a case hangs where no signal reaches it."""


def main() -> int:
    """Run what the command line asks for; the exit code is 1 where a case has a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (*((name, 0) for name, _ in NUMBERS), ("seed", 1), ("workers", 1), ("first", 0)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--case", help="KIND:SEED:NUMBER, one case again")
    parser.add_argument("--save", type=Path, help="the folder that takes the files of the case")
    parser.add_argument("--share", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        return _again(asked.case, asked.save)
    wanted = {"spec": asked.specs, "data": asked.data, "call": asked.calls, "report": asked.reports}
    if asked.share:
        return _work(wanted, asked.seed, asked.first, asked.share)
    return _report(list(_outcomes(wanted, asked.seed, asked.workers)))


def _again(case: str, save: Path | None) -> int:
    kind, seed, number = case.split(":")
    with tempfile.TemporaryDirectory() as place:
        outcome = Cases(prepare(Path(place)), int(seed), prepare_report(Path(place))).run(kind, int(number), save)
    print(outcome.printed)
    used = f"{outcome.seconds:.2f} s, {outcome.peak / 2**20:,.0f} MB"
    print(f"exit {outcome.code}, {used}, fault: {outcome.fault}")
    return int(outcome.fault is not None)


def _listed(wanted: dict[str, int]) -> list[tuple[str, int]]:
    return [(kind, number) for kind in KINDS for number in range(wanted[kind])]


def _work(wanted: dict[str, int], seed: int, first: int, share: str) -> int:
    """Run every n-th case from ``first`` on, a line each, in a process that may die of one."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    offset, step = map(int, share.split("/"))
    with tempfile.TemporaryDirectory() as place:
        cases = Cases(prepare(Path(place)), seed, prepare_report(Path(place)))
        for kind, number in _listed(wanted)[offset + first * step :: step]:
            print("begin", f"{kind}:{seed}:{number}", file=out)
            made = cases.run(kind, number)
            fault = (made.fault or "").replace("\n", " ")
            print("end", made.code, f"{made.seconds:.3f}", made.peak, fault, file=out)
    return 0


def _outcomes(wanted: dict[str, int], seed: int, workers: int) -> Iterator[Outcome]:
    """Run the cases in workers; one that dies or hangs is started again behind the case that did it."""
    import threading

    found: list[Outcome] = []
    threads = [
        threading.Thread(target=_share, args=(wanted, seed, share, workers, found)) for share in range(workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield from found


def _share(wanted: dict[str, int], seed: int, share: int, workers: int, found: list[Outcome]) -> None:
    total, done = len(_listed(wanted)[share::workers]), 0
    counts = [f"--{name}={wanted[kind]}" for name, kind in NUMBERS]
    while done < total:
        line = [sys.executable, __file__, *counts, f"--seed={seed}", f"--first={done}", f"--share={share}/{workers}"]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        done += _listen(process, found, total - done)


def _listen(process: subprocess.Popen[str], found: list[Outcome], total: int) -> int:
    """Gather what a worker says until it ends; return how many cases it has dealt with."""
    import threading

    assert process.stdout is not None
    case, done = "", 0
    guard = threading.Timer(SLACK, process.kill)
    guard.start()
    for line in process.stdout:
        guard.cancel()
        guard = threading.Timer(SLACK, process.kill)
        guard.start()
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "begin":
            case, began = rest, time.perf_counter()
        else:
            code, seconds, peak, fault = rest.split(" ", 3)
            ended = None if code == "None" else int(code)
            found.append(Outcome(case, ended, fault or None, float(seconds), int(peak)))
            case, done = "", done + 1
    guard.cancel()
    process.wait()
    if case:
        found.append(
            Outcome(case, None, f"the process died or hung (exit {process.returncode})", time.perf_counter() - began)
        )
        return done + 1
    return done or total


def _report(found: list[Outcome]) -> int:
    """Print counts by exit code, each fault with how to see it again, and the slowest cases."""
    for kind in KINDS:
        of_kind = [made for made in found if made.case.startswith(kind)]
        codes = Counter("fault" if made.fault else str(made.code) for made in of_kind)
        if of_kind:
            seconds = sum(made.seconds for made in of_kind)
            listed = ", ".join(f"{code}: {count:,}" for code, count in sorted(codes.items()))
            rate = len(of_kind) / seconds * 60
            print(f"{kind}: {len(of_kind):,} cases in {seconds:,.0f} s ({rate:,.0f} a minute); by exit code {listed}")
    faults: dict[str, list[Outcome]] = {}
    for made in found:
        if made.fault:
            faults.setdefault(made.fault.split(": ")[0] if " at " in made.fault else made.fault, []).append(made)
    print(f"distinct faults: {len(faults)}")
    for cases in sorted(faults.values(), key=len, reverse=True):
        print(f"  {len(cases)} × {cases[0].fault}\n      python tests/fuzz/run.py --case {cases[0].case}")
    print(
        "slowest:",
        ", ".join(f"{made.case} {made.seconds:.1f} s" for made in sorted(found, key=lambda m: -m.seconds)[:5]),
    )
    largest = sorted(found, key=lambda m: -m.peak)[:5]
    print("most memory:", ", ".join(f"{made.case} {made.peak / 2**20:,.0f} MB" for made in largest))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
