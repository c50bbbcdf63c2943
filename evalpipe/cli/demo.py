"""`evalpipe demo`: packaged predictions and a spec, run at once, and the lines of the spec to change next."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from evalpipe.errors import UsageError

PACKAGED = Path(__file__).parents[1] / "demo"
SPEC, DATA = "visits.yaml", "visits.csv"
CHANGES = {
    "where": "delete this line: all people in the file are evaluated, and the requirement is met",
    "min": "ask for 0.60 instead: a limit that the first 600 people can show",
}
"""What to do with the line of the spec in which a key stands; each alone settles the undecided requirement."""


@click.command(short_help="Make a first card from packaged data.")
@click.argument("folder", default="evalpipe-demo", type=click.Path())
@click.option("--open", "opens", is_flag=True, help="Open the card in the browser.")
@click.option("--force", is_flag=True, help="Replace a spec and data that an earlier demo wrote.")
def demo(folder: str, *, opens: bool, force: bool) -> None:
    """Write a spec and predictions to FOLDER, run them, and say where the card is and what to change next.

    Two models predict whether each of 2,000 people sees a doctor in a year. The people are of the RAND Health Insurance
    Experiment; the data are in the public domain. One requirement of the spec is undecided, and two lines are named of
    which each settles it.
    """
    from evalpipe.cli.run import RunOptions, run_spec

    path = Path(folder)
    text = write_demo(path, force=force)
    out = path / "reports" / "visits"
    run_spec(str(path / SPEC), RunOptions(
        out=str(out), overrides=(), as_of=None, fail_on="never", form="text", no_progress=False, no_cache=False,
        if_changed=False, log_file=None, timeout=None, key=None))
    click.echo(f"\n{next_steps(folder, text)}")
    if opens:
        click.launch(str(out / "card.html"))


def write_demo(folder: Path, *, force: bool) -> str:
    """Write the packaged files to a folder and return the text of the spec.

    Raises UsageError where one of them exists, unless ``force``, or cannot be written.
    """
    existing = [name for name in (SPEC, DATA) if (folder / name).exists()]
    if existing and not force:
        raise UsageError.of(
            "demo-exists", f"'{folder / existing[0]}' exists, and nothing was written",
            "name another folder, as in: evalpipe demo my-demo; or replace it with --force")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (DATA, SPEC):
            (folder / name).write_bytes((PACKAGED / name).read_bytes())
    except OSError as error:
        raise UsageError.of("demo-folder", f"cannot write the demo to '{folder}': {error.strerror}",
                            "name a folder that can be written") from None
    return (PACKAGED / SPEC).read_text(encoding="utf-8")


def next_steps(folder: str, text: str) -> str:
    """Return what to do after the demo: the lines of the spec's ``text`` to change, how to run it, and what follows."""
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    steps = [f"One requirement is undecided. Each of these two changes of {Path(folder) / SPEC} settles it:"]
    for key, change in CHANGES.items():
        number = next(number for number, line in enumerate(lines) if f"{key}: " in line)
        steps += ["", f"  line {number + 1}   {lines[number]}", f"            {change}"]
    return "\n".join([
        *steps, "", "Run it again:", "", f"  cd {shlex.quote(folder)} && evalpipe run {SPEC}", "",
        "Then take your own predictions:", "", "  evalpipe init predictions.csv"])
