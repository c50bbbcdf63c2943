"""`evalpipe verify` and `evalpipe sign`, and what other commands say of the signature of a manifest."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from evalpipe.base.formats import KEY_SIGNATURE
from evalpipe.cli.output import printing
from evalpipe.words.spelling import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.review.checking import Verification


HEADINGS = {"output": "the folder", "spec": "the spec", "input": "the inputs", "ledger": "the ledger",
            "recomputed": "run again"}


@click.command(short_help="Check a card and what it was made from.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--spec", type=click.Path(), help="The spec file, where it is not where the run found it.")
@click.option("--inputs", is_flag=True, help="End with 1 also where the spec, an input or the ledger is not here to be "
              "checked.")
@click.option("--recompute", is_flag=True, help="Run the spec again in a temporary folder, and compare bytes and "
              "numbers.")
@click.option("--public-key", type=click.Path(), help="PEM file of the ed25519 key that must have signed the manifest.")
@click.option("--template", type=click.Path(), help="Folder of templates that the card was rendered with, where they "
              "are not those of the spec.")
@click.option("--ledger", metavar="PLACE", help="The ledger that has the run: a file or a URL.  [default: that of the "
              "spec, or ledger.sqlite beside DIR]")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def verify(
    folder: str, spec: str | None, inputs: bool, recompute: bool, public_key: str | None, template: str | None,
    ledger: str | None, form: str,
) -> int:
    """Check the card in the output folder DIR, and the spec and the inputs that it was made from.

    Each file is the same, differs, or is not checked, and why. The bytes of each are compared with DIR/manifest.json;
    the numbers of the card, its attachments and its signatures also with results.json, and these with the ledger.
    Nothing is written to DIR.

    A file of a run again has the same numbers where its bytes differ, but no number by more than 1e-12, and nothing
    else: another processor, system or version may give other last digits.

    The exit code is 0 where nothing differs but in last digits. It is 1 where a file differs or is missing from DIR, or
    the ledger has other results, or the run cannot be repeated that --recompute asks for. It is 1 too where another
    version drew the PDF, so that its pages cannot be compared, and no --public-key vouches for it. It is 3 where DIR
    cannot be read.
    """
    from evalpipe.review.checking import verify as verify_folder

    progress = None
    if recompute:
        from evalpipe.cli.progress import Lines

        progress = Lines()
    verification = verify_folder(
        folder, spec=spec, public_key=public_key, recompute=recompute, template=template, ledger=ledger,
        progress=progress)
    holds = verification.holds(inputs=inputs)
    with printing():
        if form == "json":
            files = [{"kind": file.kind, "file": file.file, "status": file.status, "reason": file.reason,
                      "notes": list(file.notes)} for file in verification.files]
            document = {"ok": holds, "folder": verification.folder, "sign_off": verification.sign_off, "files": files}
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            _print(verification)
    return 0 if holds else 1


def _print(verification: Verification) -> None:
    """Print a line for each checked file, under a heading for its kind, then how many have each status."""
    widest = max(len(printable(file.file)) for file in verification.files)
    indent = len("same numbers" if verification.count("same numbers") else "not checked")
    kind = None
    for file in verification.files:
        if file.kind != kind:
            kind = file.kind
            click.echo(HEADINGS[kind])
        # A folder of somebody else may have files whose names would steer the terminal.
        name, reason = printable(file.file), f"  {printable(file.reason)}" if file.reason else ""
        click.echo(f"  {file.status:<{indent}}  {name:<{widest if reason else 0}}{reason}")
        for note in file.notes:
            click.echo(f"{'':>{indent + 2}}  = {note}")
    same_count, close_count, differing_count, unchecked_count = (
        verification.count(status) for status in ("same", "same numbers", "differs", "not checked"))
    numbers = f"{close_count} the same numbers, " if close_count else ""
    differs = f"{differing_count} {'differs' if differing_count == 1 else 'differ'}"
    click.echo(f"\n{verification.folder}: {same_count} the same, {numbers}{differs}, {unchecked_count} not checked")
    click.echo(f"sign-off: {printable(verification.sign_off)}")


@contextmanager
def telling_lost_signature(folder: str) -> Iterator[None]:
    """Print on stderr that the manifest is no longer signed, where the block removed its signature by a key."""
    from evalpipe.runs.folder import RunFolder

    signature = RunFolder(folder).file(KEY_SIGNATURE)
    was_signed = signature.exists()
    yield
    if was_signed and not signature.exists():
        click.echo(f"the manifest has changed, and is no longer signed: sign it with --key; {signature} was removed",
                   err=True)


def sign_folder(folder: str, fields: dict[str, Any], form: str) -> None:
    """Sign the card in a folder, and print its new status, the sha256 of the results and the files written."""
    from evalpipe.review.signing import sign

    with telling_lost_signature(folder):
        signed = sign(folder, **fields)
    with printing(f"the signature was written to '{folder}'"):
        if form == "json":
            document = {"status": signed.status, "signature": signed.signature.model_dump(),
                        "files": list(signed.files), "unchecked": list(signed.unchecked)}
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
            return
        click.echo(signed.status)
        click.echo(f"evidence, unchanged: results.json, sha256 {signed.signature.evidence_sha256}")
        for sentence in signed.unchecked:
            click.echo(f"not checked: {sentence}")
        click.echo("\n" + "\n".join(signed.files))
