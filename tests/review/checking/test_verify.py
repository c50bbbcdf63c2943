"""`evalpipe.verify`: whatever was changed is named, and nothing else; what is not here is not checked, and told so."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pypdf import PdfReader

import evalpipe
from evalpipe.base.digests import bytes_sha256
from evalpipe.card import pdf
from evalpipe.card.edition import Edition, files_in
from evalpipe.errors import DataError, UsageError
from evalpipe.results import Results
from evalpipe.review.origins import Verification
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.manifest import Manifest
from forged_pdf import WORDS, drawn_anew, painted_over

pytestmark = pytest.mark.usefixtures("drawn_once")

FOLDER = ("manifest.json", "results.json", "card.html", "card.pdf", "estimates.csv", "junit.xml", "signatures.json")
MADE_FROM = {
    "audit.yaml": "specs/audit.yaml", "../common/base.yaml": "common/base.yaml",
    "../common/data/test.csv": "common/data/test.csv", "../common/data/training.csv": "common/data/training.csv",
    "predictions.csv": "specs/predictions.csv", "use.md": "specs/use.md", "look/card.html": "specs/look/card.html",
    "earlier/results.json": "specs/earlier/results.json"}
LEDGER = "ledger.sqlite"
PLACES = {**{name: f"out/{name}" for name in FOLDER}, **MADE_FROM, LEDGER: LEDGER}
UNCHECKED = {"run.json", "manifest.sig.json"}
EVERY_ROUND, FEW_ROUNDS = 24, 8
"""How often files are changed: by night until each was, by day less often."""


def statuses(verification: Verification, status: str) -> set[str]:
    return {file.file for file in verification.files if file.status == status}


def reason(verification: Verification, name: str) -> str:
    (checked,) = [file for file in verification.files if file.file == name]
    return f"{checked.status}: {checked.reason}"


def flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def forge(path: Path, **changed: object) -> None:
    """Change a manifest as somebody does who knows how it is written."""
    manifest = RunFolder(path).manifest
    assert manifest is not None
    (path / "manifest.json").write_bytes(manifest.model_copy(update=changed).to_bytes())


def relist(folder: Path) -> None:
    """Let the manifest list the files as they are now."""
    manifest = RunFolder(folder).manifest
    assert manifest is not None
    digests = {name: bytes_sha256((folder / name).read_bytes()) for name in manifest.sha256_of}
    (folder / "manifest.json").write_bytes(manifest.with_files(digests).to_bytes())


def test_every_file_that_a_card_was_made_from_is_the_same(top: Path) -> None:
    verification = evalpipe.verify(top / "out")

    assert statuses(verification, "same") == set(PLACES)
    assert statuses(verification, "not checked") == UNCHECKED
    assert verification.holds()
    assert verification.holds(inputs=True)


@pytest.mark.parametrize("rounds", [FEW_ROUNDS, pytest.param(EVERY_ROUND, marks=pytest.mark.nightly)])
def test_flipped_bits_are_named_wherever_they_are(top: Path, rounds: int) -> None:
    chance = random.Random(17)  # noqa: S311 - a seed, not a secret
    names = [name for name in PLACES if name not in ("manifest.json", LEDGER)]
    true = {name: (top / PLACES[name]).read_bytes() for name in names}
    flipped: set[str] = set()
    for _ in range(rounds):
        chosen = chance.sample(names, chance.choice([1, 1, 2, 3, 8]))
        for name in chosen:
            flip(top / PLACES[name], chance)
        verification = evalpipe.verify(top / "out")
        # The ledger is compared with results.json: it differs where that reads otherwise, and is not checked where that
        # cannot be read.
        in_doubt = {LEDGER} if "results.json" in chosen else set()
        assert statuses(verification, "differs") - in_doubt == set(chosen)
        assert statuses(verification, "same") - in_doubt == {*PLACES} - set(chosen) - in_doubt
        assert not verification.holds()
        for name in chosen:
            (top / PLACES[name]).write_bytes(true[name])
        flipped.update(chosen)

    assert len(flipped) == len(names) if rounds == EVERY_ROUND else len(flipped) > len(names) / 2
    assert evalpipe.verify(top / "out").holds()


@pytest.mark.parametrize("places", [2, pytest.param(6, marks=pytest.mark.nightly)])
def test_flipped_bits_of_the_manifest_are_named_alone(top: Path, places: int) -> None:
    chance = random.Random(4)  # noqa: S311 - a seed, not a secret
    path = top / "out" / "manifest.json"
    true = path.read_bytes()
    for place in [0, len(true) - 1, *(chance.randrange(len(true)) for _ in range(places))]:
        path.write_bytes(true[:place] + bytes([true[place] ^ 1 << chance.randrange(8)]) + true[place + 1:])
        verification = evalpipe.verify(top / "out")
        assert statuses(verification, "differs") == {"manifest.json"}
        assert reason(verification, "manifest.json") == (
            "differs: it was changed: its last line is not the sha256 of the others")


@pytest.mark.parametrize(("content", "said"), [
    (b'{"evidence_sha256": 1', "it is no JSON"),
    (b'{"evidence_sha256": "0"}', "it names other results than the manifest"),
])
def test_another_run_json_is_named(top: Path, content: bytes, said: str) -> None:
    (top / "out" / "run.json").write_bytes(content)
    verification = evalpipe.verify(top / "out")

    assert statuses(verification, "differs") == {"run.json"}
    assert reason(verification, "run.json") == f"differs: {said}"


def test_a_number_that_was_changed_with_the_manifest_is_named_with_the_true_one(top: Path) -> None:
    page = top / "out" / "card.html"
    text = page.read_text(encoding="utf-8")
    match = re.search(r'<td[^\n]*?<data value="[\d.]+" title="[\d.]+">([\d.]+)</data>', text)
    assert match is not None
    page.write_text(text[:match.start(1)] + "0.99" + text[match.end(1):], encoding="utf-8")
    relist(top / "out")
    verification = evalpipe.verify(top / "out")

    assert statuses(verification, "differs") == {"card.html"}
    (checked,) = [file for file in verification.files if file.file == "card.html"]
    assert checked.reason == "it is not the card of results.json"
    assert checked.notes[0].endswith(f": 0.99 in card.html, {match[1]} by results.json")


UPDATED = "differs: it was changed after it was drawn: an update is appended to it"
OTHER_PAGES = "differs: it is not the card of results.json"


@pytest.mark.parametrize(("forged", "said"), [(painted_over, UPDATED), (drawn_anew, OTHER_PAGES)])
def test_a_pdf_whose_first_page_was_forged_with_the_manifest_is_named(
    top: Path, forged: Callable[[Path], None], said: str
) -> None:
    path = top / "out" / "card.pdf"
    carried = files_in(path.read_bytes())
    forged(path)
    relist(top / "out")
    verification = evalpipe.verify(top / "out")

    assert WORDS in PdfReader(path).pages[0].extract_text()
    assert files_in(path.read_bytes()) == carried
    assert statuses(verification, "differs") == {"card.pdf"}
    assert reason(verification, "card.pdf") == said
    assert not verification.holds()


def test_the_pages_of_a_pdf_that_another_version_drew_are_not_compared(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = pdf._drawing_versions()
    monkeypatch.setattr(pdf, "_drawing_versions", lambda: now | {"weasyprint": "99.0", "pango": "2.0.0"})
    verification = evalpipe.verify(top / "out")

    assert statuses(verification, "differs") == set()
    assert reason(verification, "card.pdf") == (
        f"not checked: drawn by another version (weasyprint was {now['weasyprint']} and is 99.0 and pango was "
        f"{now['pango']} and is 2.0.0), as it says itself; its pages are not compared, but the files that it carries "
        "are")
    assert not verification.holds()
    (checked,) = (file for file in verification.files if file.file == "card.pdf")
    assert "; ".join(checked.notes) == (
        "who forges the pages may write other versions: draw it again (evalpipe render) and read it, or verify with "
        "the --public-key of who signed the manifest")
    painted_over(top / "out" / "card.pdf")
    relist(top / "out")
    assert reason(evalpipe.verify(top / "out"), "card.pdf") == UPDATED


def test_a_pdf_that_does_not_say_what_drew_it_is_not_compared(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, versions = top / "out" / "card.pdf", pdf._drawing_versions
    monkeypatch.setattr(pdf, "_drawing_versions", lambda: {"evalpipe": "0.1.0"})
    path.write_bytes(pdf.document(Edition(Results.read(top / "out"), RunFolder(top / "out").all_signatures)))
    relist(top / "out")
    monkeypatch.setattr(pdf, "_drawing_versions", versions)

    assert reason(evalpipe.verify(top / "out"), "card.pdf") == (
        "not checked: it does not say which versions drew it; its pages are not compared, but the files that it "
        "carries are")


def test_without_the_library_that_draws_a_pdf_its_pages_are_not_compared(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise UsageError.of("missing-library", "the PDF cannot be made: the system library Pango is missing", "get it")

    monkeypatch.setattr(pdf, "load_weasyprint", missing)

    assert reason(evalpipe.verify(top / "out"), "card.pdf") == (
        "not checked: the PDF cannot be made: the system library Pango is missing; its pages are not compared, but the "
        "files that it carries are")


def test_data_that_were_changed_with_the_manifest_contradict_the_results(top: Path) -> None:
    path = top / "common" / "data" / "test.csv"
    path.write_text(path.read_text().replace("1", "0", 1))
    manifest = RunFolder(top / "out").manifest
    assert manifest is not None
    now = {"sha256": bytes_sha256(path.read_bytes())}
    forge(top / "out", inputs=[
        file.model_copy(update=now) if file.path == "../common/data/test.csv" else file for file in manifest.inputs])

    assert reason(evalpipe.verify(top / "out"), "manifest.json") == (
        "differs: it has another sha256 of the data than results.json")


@pytest.mark.parametrize(("key", "value", "said"), [
    ("name", "other", "name"), ("spec_sha256", "0" * 64, "spec"), ("evalpipe_version", "99", "version"),
    ("as_of", "2026-01-01", "day")])
def test_a_manifest_that_contradicts_the_results_is_named(top: Path, key: str, value: str, said: str) -> None:
    forge(top / "out", **{key: value})

    assert reason(evalpipe.verify(top / "out"), "manifest.json") == f"differs: it has another {said} than results.json"


def test_what_is_not_here_is_told(top: Path) -> None:
    for name in ("card.pdf", "run.json"):
        (top / "out" / name).unlink()
    (top / "out" / "card.md").write_text("# forged")
    (top / "out" / "notes.txt").write_text("mine")
    (top / "out" / "more").mkdir()
    verification = evalpipe.verify(top / "out")

    assert statuses(verification, "differs") == {"card.pdf", "card.md"}
    assert reason(verification, "card.pdf") == "differs: it is missing"
    assert reason(verification, "card.md") == "differs: the manifest does not list it"
    assert reason(verification, "notes.txt") == "not checked: evalpipe did not write it"
    assert reason(verification, "more/") == "not checked: evalpipe did not write it"
    assert reason(verification, "run.json") == "not checked: it is not here"
    assert reason(verification, "audit.yaml") == (
        "not checked: run.json does not say where the spec is: name it with --spec")


def test_a_missing_input_is_no_difference_but_where_all_are_asked_for(top: Path) -> None:
    (top / "specs" / "predictions.csv").unlink()
    (top / "common" / "data" / "training.csv").unlink()
    (top / "common" / "data" / "training.csv").mkdir()
    verification = evalpipe.verify(top / "out")

    path = (top / "specs").resolve() / "predictions.csv"
    assert reason(verification, "predictions.csv") == f"not checked: cannot read {path}: there is no such file"
    assert statuses(verification, "not checked") == {*UNCHECKED, "predictions.csv", "../common/data/training.csv"}
    assert verification.holds()
    assert not verification.holds(inputs=True)


def test_a_folder_that_was_moved_is_checked_with_the_spec_that_is_named(top: Path) -> None:
    (top / "deep").mkdir()
    shutil.move(top / "out", top / "deep" / "er")
    verification = evalpipe.verify(top / "deep" / "er")
    assert statuses(verification, "not checked") == UNCHECKED | set(MADE_FROM) | {"the ledger"}
    named = evalpipe.verify(top / "deep" / "er", spec=top / "specs" / "audit.yaml")
    assert statuses(named, "same") == set(PLACES) - {LEDGER}
    assert reason(named, "deep/ledger.sqlite") == (
        "not checked: there is no ledger at 'deep/ledger.sqlite'; name another with --ledger, as after a run with "
        "--set ledger=…")
    assert reason(evalpipe.verify(top / "deep" / "er", ledger=LEDGER), LEDGER) == "same: "
    other = evalpipe.verify(top / "deep" / "er", spec=top / "common" / "base.yaml")
    assert statuses(other, "differs") == {"audit.yaml"}


def test_a_folder_of_an_earlier_version_is_held_to_its_results(top: Path) -> None:
    for name in ("manifest.json", "run.json"):
        (top / "out" / name).unlink()
    before = evalpipe.verify(top / "out")
    assert statuses(before, "differs") == set()
    assert reason(before, "card.html") == "same: as far as results.json can tell"
    assert reason(before, "the spec") == "not checked: no manifest says what its bytes were"
    text = (top / "out" / "estimates.csv").read_text()
    (top / "out" / "estimates.csv").write_text(text.replace("0.", "0.9", 1))

    assert statuses(evalpipe.verify(top / "out"), "differs") == {"estimates.csv"}


def test_results_that_cannot_be_read_are_named_without_a_manifest_too(top: Path) -> None:
    (top / "out" / "manifest.json").unlink()
    (top / "out" / "results.json").write_text("{")
    verification = evalpipe.verify(top / "out")

    assert statuses(verification, "differs") == {"results.json"}
    assert reason(verification, "card.html") == "not checked: results.json, which it is held to, cannot be read"


def test_signatures_that_were_changed_are_named(top: Path) -> None:
    path = top / "out" / "signatures.json"
    path.write_text(path.read_text().replace("approved", "rejected"))
    relist(top / "out")
    verification = evalpipe.verify(top / "out")
    assert statuses(verification, "differs") == {"signatures.json"}
    assert reason(verification, "signatures.json") == "differs: it does not hold the signatures that card.pdf shows"
    path.write_text("[]]")
    relist(top / "out")

    assert reason(evalpipe.verify(top / "out"), "signatures.json").startswith("differs: it does not hold signatures: ")


def test_a_signature_that_was_added_by_hand_is_named_alone(top: Path) -> None:
    path = top / "out" / "signatures.json"
    path.write_bytes(path.read_bytes().replace(b"\n]", b",\n  " + path.read_bytes().splitlines()[1].strip().replace(
        b'"validator"', b'"owner"') + b"\n]"))
    verification = evalpipe.verify(top / "out")

    assert [signature.role for signature in RunFolder(top / "out").all_signatures] == ["validator", "owner"]
    assert statuses(verification, "differs") == {"signatures.json"}


@pytest.mark.parametrize("name", ["nothing", "common"])
def test_a_folder_that_no_run_wrote_is_refused(top: Path, name: str) -> None:
    with pytest.raises(DataError) as error:
        evalpipe.verify(top / name)

    assert str(error.value) == (
        f"error[no-results]: there is no output folder of evalpipe at '{name}'\n"
        "  = help: name the folder that a run wrote")


def test_nothing_is_written(top: Path) -> None:
    def state() -> dict[str, tuple[int, str]]:
        return {str(file): (file.stat().st_mtime_ns, hashlib.sha256(file.read_bytes()).hexdigest())
                for file in sorted(top.rglob("*")) if file.is_file()}

    before = state()
    evalpipe.verify(top / "out", recompute=True)

    assert state() == before


def test_a_file_name_that_leads_elsewhere_is_no_manifest(top: Path) -> None:
    document = json.loads((top / "out" / "manifest.json").read_text())
    for name in ("../specs/audit.yaml", "/etc/hostname", "..", ""):
        files = [{"file": name, "sha256": "0" * 64}]
        with pytest.raises(ValueError, match="String should match pattern"):
            Manifest.model_validate({key: value for key, value in (document | {"files": files}).items()
                                     if key != "checksum"})


def test_a_device_is_no_input(top: Path) -> None:
    manifest = RunFolder(top / "out").manifest
    assert manifest is not None
    forge(top / "out", inputs=[*manifest.inputs, manifest.inputs[-1].model_copy(update={"path": "/dev/zero"})])

    assert reason(evalpipe.verify(top / "out"), "/dev/zero") == (
        "not checked: cannot read /dev/zero: there is no such file")
