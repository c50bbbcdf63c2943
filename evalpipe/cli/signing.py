"""`evalpipe sign`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evalpipe.cli.output import printing
from evalpipe.cli.verifying import telling_lost_signature

if TYPE_CHECKING:
    from evalpipe.review.signing import SignedCard


def sign_folder(folder: str, fields: dict[str, Any], form: str) -> None:
    """Sign the card in a folder, then print its status from now on, the evidence and what was written."""
    from evalpipe.review.signing import sign

    with telling_lost_signature(folder):
        signed = sign(folder, **fields)
    with printing(f"the signature was written to '{folder}'"):
        if form == "json":
            click.echo(json.dumps(document(signed), indent=2, ensure_ascii=False))
            return
        click.echo(signed.status)
        click.echo(f"evidence, unchanged: results.json, sha256 {signed.signature.evidence_sha256}")
        for sentence in signed.unchecked:
            click.echo(f"not checked: {sentence}")
        click.echo("\n" + "\n".join(signed.files))


def document(signed: SignedCard) -> dict[str, Any]:
    """Return what signing came to as plain JSON values."""
    return {"status": signed.status, "signature": signed.signature.model_dump(), "files": list(signed.files),
            "unchecked": list(signed.unchecked)}
