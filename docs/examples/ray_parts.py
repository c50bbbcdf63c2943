"""Parts of files summed up by the workers of a Ray cluster, and merged here: the same bytes as if all were read here.

    pip install ray
    python docs/examples/ray_parts.py SPEC [ADDRESS]

A task is text and its answer bytes, so any system that calls a function elsewhere can stand for Ray. Without ADDRESS
two workers are started on this machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

import ray

import evalpipe
from evalpipe.plan.plan import Plan
from evalpipe.spec.load import to_text
from evalpipe.streams.cache import decode, encode
from evalpipe.streams.tables import File, Part, Tables, parts_of, stamp, table_layout
from evalpipe.streams.tally import tally_part
from evalpipe.streams.task import answered, run_task, tables_task


def files_of(plan: Plan) -> list[tuple[Part, File]]:
    """Return the parts of all datasets, each with its file as it is now."""
    return [
        (part, File(path, shown, stamp(path, shown), plan.places.place(*dataset.table.named.loc)))
        for dataset in plan.datasets for part in parts_of(dataset) for path, shown in [dataset.table.files[part.file]]]


def main(path: str, address: str | None = None) -> None:
    """Sum up the parts of a spec on the cluster and here, and compare."""
    ray.init(address, num_cpus=None if address else 2, include_dashboard=False, log_to_driver=False)
    spec = evalpipe.load(path)
    plan, text = evalpipe.plan(spec), to_text(spec)
    parts = files_of(plan)

    on_cluster = ray.remote(run_task)
    tasks = [tables_task(plan, text, part, file) for part, file in parts]
    answers = ray.get([on_cluster.remote(task) for task in tasks])

    merged, here = Tables(table_layout(plan)), Tables(table_layout(plan))
    sent = 0
    for (part, file), answer in zip(parts, answers, strict=True):
        tables = answered(answer, file.place)  # raises the problems of the data, as a run does
        sent += len(tables)
        merged.merge(decode(tables).of_file(part.file))
        here.merge(tally_part(plan, part, merged.layout).of_file(part.file))
    rows = sum(count for name, count in merged.rows.items() if name.startswith("read "))
    size = sum(file.path.stat().st_size for file in {file for _, file in parts})
    print(f"Ray {ray.__version__}: {len(parts)} parts of {rows:,} rows, {size:,} bytes in {Path(path).name}'s files")
    print(f"tasks of {sum(map(len, tasks)) // len(tasks):,} characters, answers of {sent // len(parts):,} bytes each")
    print(f"the merged tables are {'the same bytes' if encode(merged) == encode(here) else 'OTHER bytes'} as here")
    ray.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
