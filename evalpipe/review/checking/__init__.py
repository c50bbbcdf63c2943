"""`evalpipe verify`: each file of an output folder, and each that it was made from, against what is recorded of it.

It is a conductor beside `evalpipe.run`. The bytes of a file are compared with the manifest, its numbers with
`results.json`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalpipe.base.ed25519 import read_public_key
from evalpipe.base.formats import RESULTS, SIGNATURES
from evalpipe.card.sign_off import status_text
from evalpipe.errors import DataError, UsageError
from evalpipe.review.checking.origins import ROWS, CheckedFile, Origins, Verification, check_key_signature, check_ledger
from evalpipe.review.checking.outputs import Outputs, recomputed
from evalpipe.run import templates_from
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.verification import PDF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.run import Progress

__all__ = ["CheckedFile", "Verification", "verify"]


def verify(
    folder: str | os.PathLike[str], *, spec: str | os.PathLike[str] | None = None,
    public_key: str | os.PathLike[str] | None = None, recompute: bool = False,
    template: str | os.PathLike[str] | Literal[False] | None = None, ledger: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check an output folder, its spec and its inputs against what its run recorded; nothing is written there.

    ``spec`` is the spec file, where it lies elsewhere now; ``public_key`` a PEM file of the key that must have signed
    the manifest; ``template`` is as of `evalpipe.render`; ``ledger`` a file or a URL, where it is another than the
    spec says. With ``recompute`` the spec is run again, in a temporary
    folder, and the bytes are compared, or the numbers where these differ. Raises DataError where the folder or a file
    in it cannot be read, UsageError where ``spec``, a key or a template cannot be.
    """
    run = RunFolder(folder)
    if not run.holds_run:
        hint = "name the folder that a run wrote"
        raise DataError.of("no-results", f"there is no output folder of evalpipe at '{folder}'", hint)
    if spec is not None and not os.path.isfile(spec):  # noqa: PTH113 - which raises no error
        raise UsageError.of("missing-file", f"there is no file {spec}", "name the file of the spec that was run")
    key = None if public_key is None else read_public_key(public_key)
    outputs = Outputs(run, templates_from(template))
    origins = Origins(run, outputs.manifest, None if spec is None else Path(spec))
    signature = check_key_signature(run, key)
    signed_manifest = outputs.manifest if key is not None and signature.status == "same" else None
    signed_files = {} if signed_manifest is None else signed_manifest.sha256_of
    files = [*(_vouched_by_key(file) if file.file in signed_files else file for file in outputs.checked()), signature,
             *origins.spec_files(), *origins.inputs(outputs.results)]
    ledger_check = check_ledger(outputs.results, origins, ledger)
    files += [] if ledger_check is None else [ledger_check]
    if recompute:
        repeated = list(recomputed(outputs, origins, progress))
        files = [*(_rows_read_again(file, repeated) for file in files), *repeated]
    return Verification(str(folder), tuple(files), _sign_off(outputs, files))


def _sign_off(outputs: Outputs, files: Sequence[CheckedFile]) -> str:
    """Return the status of the document by its signatures; unknown where they, or what they are of, have changed."""
    changed = [file.file for file in files if file.kind == "output" and file.status == "differs"
               and file.file in (RESULTS, SIGNATURES)]
    if changed or outputs.results is None:
        return f"unknown, as {' and '.join(changed) or RESULTS} cannot be trusted"
    return status_text(outputs.results, outputs.folder.signatures)


def _vouched_by_key(file: CheckedFile) -> CheckedFile:
    """Return the check of a PDF as "same", where its pages were not compared but the required key signed its sha256."""
    if file.file != PDF or file.status != "not checked":
        return file
    return replace(file, status="same", reason=f"the key that was given vouches for its bytes; {file.reason}", notes=())


def _rows_read_again(file: CheckedFile, repeated: list[CheckedFile]) -> CheckedFile:
    """Return the check of a query's rows as "same" if the repeated run gave the same results, with their sha256."""
    has_same_results = any(other.file == RESULTS and other.status in ("same", "same numbers") for other in repeated)
    return replace(file, status="same", reason="") if file.reason == ROWS and has_same_results else file
