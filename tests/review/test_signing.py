"""`evalpipe.sign`: a decision is added to a card, its evidence stays; a folder that was changed is refused."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pypdf import PdfReader

import evalpipe
from conftest import Drawing, Shared
from evalpipe.card import pdf
from evalpipe.card.edition import drawing_programs, files_in
from evalpipe.errors import DataError, EvalpipeError, UsageError
from evalpipe.results import Results
from evalpipe.runs import verification
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.record import locked_folder
from forged_pdf import WORDS, drawn_anew, painted_over

pytestmark = pytest.mark.usefixtures("drawn_once")

VALIDATOR: dict[str, Any] = {"role": "validator", "name": "A. Reader", "decision": "approved", "date": "2026-11-21"}
OWNER: dict[str, Any] = {
    "role": "owner", "name": "B. Second", "organisation": "Bank", "decision": "approved_with_conditions",
    "conditions": ["Not for children.", "Looked at again when the Brier score rises."], "date": "2026-11-22",
    "expires": "2027-11-22"}
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
    "metrics": ["brier", "roc_auc"],
    "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}}, "slices": ["g"],
    "slice_rules": {"min_rows": 1}, "gates": [{"metric": "brier", "max": 0.5}], "intervals": {"method": "none"},
    "report": {"formats": ["html", "pdf", "markdown", "junit"]}, "ledger": False,
}
EVIDENCE = ("results.json", "estimates.csv", "run.json")


def people() -> pl.DataFrame:
    return pl.DataFrame({
        "y": [1, 0] * 20, "p": [(7 * place % 40) / 40 for place in range(40)], "g": ["a", "a", "b", "b"] * 10})


@pytest.fixture(scope="session")
def ran(shared: Shared, each_pdf_once: Drawing) -> Path:
    """Return the output folder of a small run, with a card in every format."""

    def fill(out: Path) -> None:
        with each_pdf_once():
            evalpipe.run(SPEC, frames={"d": people()}, out=out)

    return shared("signing", fill)


def signed(by: dict[str, Any], folder: Path, out: Path, drawing: Drawing) -> None:
    """Sign a copy of an output folder."""
    shutil.copytree(folder, out)
    with drawing():
        evalpipe.sign(out, **by)


@pytest.fixture(scope="session")
def once(shared: Shared, ran: Path, each_pdf_once: Drawing) -> Path:
    """Return the run as the validator signed it."""
    return shared("signed-once", lambda out: signed(VALIDATOR, ran, out, each_pdf_once))


@pytest.fixture(scope="session")
def twice(shared: Shared, once: Path, each_pdf_once: Drawing) -> Path:
    """Return the run as the validator and then the owner signed it."""
    return shared("signed-twice", lambda out: signed(OWNER, once, out, each_pdf_once))


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Path]:
    """Return a function that copies a folder and names it from the working folder, so that messages are the same."""
    monkeypatch.chdir(tmp_path)

    def out(folder: Path) -> Path:
        shutil.copytree(folder, "out")
        return Path("out")

    return out


@pytest.fixture
def folder(ran: Path, copied: Callable[[Path], Path]) -> Path:
    """Return a copy of the run."""
    return copied(ran)


@pytest.fixture
def signed_once(once: Path, copied: Callable[[Path], Path]) -> Path:
    """Return a copy of the run as the validator signed it."""
    return copied(once)


@pytest.fixture
def signed_twice(twice: Path, copied: Callable[[Path], Path]) -> Path:
    """Return a copy of the run as both signed it."""
    return copied(twice)


def hashes(folder: Path, names: tuple[str, ...] = EVIDENCE) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def attached(folder: Path) -> dict[str, bytes]:
    return {name: files[0] for name, files in PdfReader(folder / "card.pdf").attachments.items()}


def edit(path: Path, pattern: str, text: str) -> str:
    """Replace the first match of a group in a file, and return what stood there."""
    content = path.read_text(encoding="utf-8")
    match = re.search(pattern, content)
    assert match is not None
    path.write_text(content[:match.start(1)] + text + content[match.end(1):], encoding="utf-8")
    return match[1]


def refusal(folder: Path, **fields: Any) -> str:
    """Return the message of a refusal, and make sure that it wrote nothing."""
    before = contents(folder)
    with pytest.raises(EvalpipeError) as error:
        evalpipe.sign(folder, **{**VALIDATOR, **fields})
    assert contents(folder) == before
    assert [file.name for file in folder.absolute().parent.iterdir()] == ["out"]
    return str(error.value)


@pytest.fixture
def real(example: Callable[[str], Path], printed: Callable[[str], Path], copied: Callable[[Path], Path]) -> Path:
    """Return a copy of an example with all formats, which has all that a real card has."""
    out = copied(example("titanic"))
    shutil.copy(printed("titanic"), out)
    (out / "card.md").write_bytes(evalpipe.render(out, ["markdown"])["card.md"])
    return out


@pytest.mark.parametrize("name", ["folder", pytest.param("real", marks=pytest.mark.nightly)])
def test_two_readers_sign_and_the_evidence_stays(name: str, request: pytest.FixtureRequest) -> None:
    out: Path = request.getfixturevalue(name)
    before, files, evidence = hashes(out), attached(out), Results.read(out / "results.json").evidence_sha256
    first = evalpipe.sign(out, **VALIDATOR)
    after_first = (out / "signatures.json").read_text()
    second = evalpipe.sign(out, **OWNER)

    assert hashes(out) == before
    assert [read.evidence_sha256 for read in RunFolder(out).all_signatures] == [evidence, evidence]
    assert (out / "signatures.json").read_text().startswith(after_first.removesuffix("\n]\n"))
    assert first.status == "IN REVIEW: approver missing"
    assert second.status == "IN REVIEW: approver missing"
    assert attached(out) == files | {"signatures.json": (out / "signatures.json").read_bytes()}
    assert files_in((out / "card.pdf").read_bytes()) == attached(out)
    page_one = " ".join(PdfReader(out / "card.pdf").pages[0].extract_text().split())
    for field in ("A. Reader 2026-11-21", "valid until 2027-11-22", "1. Not for children.",
                  "Approved with conditions by B. Second (owner):", "B. Second, Bank 2026-11-22", second.status,
                  "2. Looked at again when the Brier score rises."):
        assert field in page_one
    assert second.status in (out / "card.html").read_text(encoding="utf-8")
    assert "IN REVIEW: approver missing" in (out / "card.md").read_text(encoding="utf-8")
    names = ("card.html", "card.pdf", "junit.xml", "card.md", "signatures.json")
    assert second.files == tuple(str(out / name) for name in names)


def test_the_same_signatures_give_the_same_bytes(signed_once: Path, twice: Path) -> None:
    evalpipe.sign(signed_once, **OWNER)
    assert contents(signed_once) == contents(twice)


def test_a_card_is_rendered_with_its_signatures_as_it_was_signed(twice: Path) -> None:
    rendered = evalpipe.render(twice)

    assert {name: (twice / name).read_bytes() for name in rendered} == rendered


def test_only_the_formats_that_are_there_are_written(folder: Path) -> None:
    for name in ("card.html", "card.pdf", "junit.xml"):
        (folder / name).unlink()
    evalpipe.sign(folder, **VALIDATOR)

    assert set(contents(folder)) == {*EVIDENCE, "card.md", "signatures.json", "manifest.json"}
    (folder / "card.md").unlink()
    evalpipe.sign(folder, **OWNER)
    assert set(contents(folder)) == {*EVIDENCE, "signatures.json", "manifest.json"}


def test_days_may_be_dates_and_spaces_around_texts_go(folder: Path) -> None:
    (folder / "card.pdf").unlink()
    signature = evalpipe.sign(folder, **{
        **OWNER, "name": " B. Second ", "date": dt.date(2026, 11, 22), "expires": dt.date(2027, 11, 22)}).signature

    assert (signature.name, signature.date, signature.expires) == ("B. Second", "2026-11-22", "2027-11-22")


def test_the_same_role_may_decide_again_and_the_newest_counts(folder: Path) -> None:
    (folder / "card.pdf").unlink()
    evalpipe.sign(folder, **{**VALIDATOR, "decision": "rejected", "conditions": ["More rows."]})
    again = evalpipe.sign(folder, **{**VALIDATOR, "date": "2026-12-01"})

    assert again.status == "IN REVIEW: approver missing"
    assert [signature.decision for signature in RunFolder(folder).all_signatures] == ["rejected", "approved"]
    assert "replaced by the decision of 2026-12-01" in (folder / "card.html").read_text(encoding="utf-8")


def test_the_same_signature_twice_and_an_earlier_day_are_refused(signed_once: Path) -> None:
    assert refusal(signed_once) == (
        "error[already-signed]: this signature is there already: A. Reader (validator), 2026-11-21\n"
        "  = help: nothing is to be done; a further decision has another day or other conditions")
    assert refusal(signed_once, date="2026-11-20") == (
        "error[bad-date]: the validator has signed on 2026-11-21, after 2026-11-20\n"
        "  = help: the newest decision of a role counts: give its day")


def test_every_wrong_argument_is_told_at_once(folder: Path) -> None:
    with pytest.raises(UsageError) as error:
        evalpipe.sign(folder, role="boss", name="x" * 10_000, decision="approved", date="today",  # type: ignore[arg-type]
                      conditions=["x"])

    assert [problem.code for problem in error.value.problems] == [
        "unknown-role", "bad-name", "bad-date", "bad-conditions"]
    assert not (folder / "signatures.json").exists()


def changed_results(folder: Path) -> str:
    edit(folder / "results.json", r'"model": "p", [^\n]*?"metric": "roc_auc", "params"[^\n]*?"value": ([\d.]+)', "0.95")
    return hashlib.sha256((folder / "results.json").read_bytes()).hexdigest()[:8]


RUN_AGAIN = "  = help: restore it; or run again, and look at the new results"


def test_a_changed_number_in_the_results_is_refused_and_named(folder: Path) -> None:
    true = hashes(folder)["results.json"][:8]
    number = json.loads((folder / "results.json").read_text())["estimates"][1]["value"]
    now = changed_results(folder)

    assert refusal(folder) == (
        f"error[changed-file]: out/results.json was changed after the run: its sha256 begins with {now}, that of the "
        f"run with {true}\n"
        f"  = estimates, roc_auc of p on d, value: {number} in card.pdf, 0.95 in results.json\n{RUN_AGAIN}")


@pytest.mark.parametrize(("removed", "copy"), [((), "card.pdf"), (("card.html",), "card.pdf"),
                                               (("card.pdf",), "estimates.csv")])
def test_changed_results_are_refused_without_run_json_and_manifest_too(
    folder: Path, removed: tuple[str, ...], copy: str
) -> None:
    true = hashes(folder)["results.json"][:8]
    number = json.loads((folder / "results.json").read_text())["estimates"][1]["value"]
    for name in ("run.json", "manifest.json", *removed):
        (folder / name).unlink()
    now = changed_results(folder)

    assert refusal(folder) == (
        "error[changed-file]: out/results.json is not what the card beside it was made from: that names evidence "
        f"{true}, and results.json is {now}\n"
        f"  = {'estimates, ' if copy == 'card.pdf' else ''}roc_auc of p on d, value: {number} in {copy}, 0.95 in "
        f"results.json\n{RUN_AGAIN}")


def test_results_that_were_signed_and_then_changed_are_refused(signed_once: Path) -> None:
    folder = signed_once
    true = hashes(folder)["results.json"][:8]
    for name in ("run.json", "manifest.json", "card.html", "card.pdf"):
        (folder / name).unlink()
    now = changed_results(folder)

    assert refusal(folder) == (
        "error[other-evidence]: out/signatures.json is of other results: 'A. Reader' (validator) signed evidence "
        f"{true}, and results.json is {now}\n"
        "  = help: restore the results that were signed; or move signatures.json away and sign these")


def test_results_that_are_written_otherwise_are_refused(folder: Path) -> None:
    (folder / "run.json").unlink()
    (folder / "manifest.json").unlink()
    text = (folder / "results.json").read_text()
    (folder / "results.json").write_text(text.replace("{\n", "{ \n", 1))

    assert refusal(folder) == f"error[changed-file]: out/results.json is not as evalpipe writes it\n{RUN_AGAIN}"


def test_a_changed_number_in_the_estimates_is_refused_and_named(folder: Path) -> None:
    number = edit(folder / "estimates.csv", r"""d,p,original,"[^\n]*?roc_auc,\{\},,,([\d.]+)""", "0.9")

    assert refusal(folder) == (
        "error[changed-file]: out/estimates.csv does not agree with results.json\n"
        f"  = roc_auc of p on d, g = a, value: 0.9 in estimates.csv, {number} in results.json\n{RUN_AGAIN}")


def test_estimates_that_are_missing_are_refused(folder: Path) -> None:
    (folder / "estimates.csv").unlink()

    assert refusal(folder) == f"error[missing-file]: out/estimates.csv is missing\n{RUN_AGAIN}"


def again(form: str) -> str:
    return f"  = help: write it again and read it before you sign: evalpipe render out --format {form}"


def test_a_changed_number_on_the_page_is_refused_and_named(folder: Path) -> None:
    true = edit(folder / "card.html", r'<td[^\n]*?<data value="[\d.]+" title="[\d.]+">([\d.]+)</data>', "0.99")
    message = refusal(folder)

    assert re.fullmatch(
        r"error\[changed-file\]: out/card.html is not the card of results.json\n"
        rf"  = [^\n]*: 0.99 in card.html, {true} by results.json\n" + re.escape(again("html")), message)


def test_a_changed_drawing_is_refused(folder: Path) -> None:
    edit(folder / "card.html", r"--ink: (#1b2733)", "#ffffff")

    assert refusal(folder) == (
        "error[changed-file]: out/card.html is not the card of results.json\n"
        f"  = its words are the same; its drawings, styles or scripts differ\n{again('html')}")


def test_changed_texts_are_refused_all_at_once(folder: Path) -> None:
    edit(folder / "card.md", r"(# x)\n", "# y")
    edit(folder / "junit.xml", r'tests="(\d+)"', "9")
    message = refusal(folder)

    assert message.split("\n\n")[0].startswith("error[changed-file]: out/junit.xml is not the card of results.json\n")
    assert "# y in card.md, # x by results.json" in message.split("\n\n")[1]
    assert message.endswith(again("markdown"))


def other_pdf(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Put a PDF beside the results that was made from others."""
    spec = change(json.loads(json.dumps(SPEC)))
    evalpipe.run(spec, frames={"d": people()}, out=folder.absolute().parent / "out2")
    shutil.copy(folder.absolute().parent / "out2" / "card.pdf", folder / "card.pdf")
    shutil.rmtree(folder.absolute().parent / "out2")


def test_a_pdf_of_other_results_is_refused_and_names_where_they_differ(folder: Path) -> None:
    other_pdf(folder, lambda spec: spec | {"title": "Other"})
    message = refusal(folder)

    assert message.startswith("error[changed-file]: out/card.pdf is not the card of results.json\n"
                              "  = title: Other in card.pdf, x in results.json\n")
    assert message.endswith(again("pdf"))


def test_a_pdf_without_results_is_refused(folder: Path) -> None:
    (folder / "card.pdf").write_bytes(b"%PDF-1.7\n")

    assert refusal(folder) == f"error[changed-file]: out/card.pdf has no results.json attached\n{again('pdf')}"


@pytest.mark.parametrize(("forged", "said"), [
    (painted_over, "was changed after it was drawn: an update is appended to it\n"),
    (drawn_anew, "is not the card of results.json\n  = the files that it carries are the same; its pages differ\n"),
])
def test_a_pdf_whose_first_page_was_forged_is_refused(
    folder: Path, forged: Callable[[Path], None], said: str
) -> None:
    forged(folder / "card.pdf")

    assert WORDS in PdfReader(folder / "card.pdf").pages[0].extract_text()
    assert refusal(folder) == f"error[changed-file]: out/card.pdf {said}{again('pdf')}"


def test_a_pdf_that_another_version_drew_is_signed_drawn_again_and_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = pdf._drawing_versions()
    (no_ledger,) = evalpipe.sign(folder, **VALIDATOR).unchecked  # the fixture keeps neither a ledger nor the spec
    assert no_ledger.startswith("the ledger: the spec, which may name it, is not known")
    monkeypatch.setattr(pdf, "_drawing_versions", lambda: now | {"weasyprint": "99.0"})

    said = (
        f"card.pdf as it was: drawn by another version (weasyprint was {now['weasyprint']} and is 99.0), as it says "
        "itself; its pages are not compared, but the files that it carries are; it was drawn again, read it")
    assert evalpipe.sign(folder, **OWNER).unchecked == (said, no_ledger)
    assert drawing_programs((folder / "card.pdf").read_bytes()) == now | {"weasyprint": "99.0"}


def test_a_changed_decision_is_refused(signed_once: Path) -> None:
    folder = signed_once
    edit(folder / "signatures.json", r'"(approved)"', "rejected")
    message = ("error[changed-file]: out/signatures.json does not hold the signatures that {} shows\n"
               "  = help: restore it; or remove it, render the card again (evalpipe render out) and sign again")

    assert refusal(folder, name="C") == message.format("card.pdf")
    (folder / "card.pdf").unlink()
    assert refusal(folder, name="C") == message.format("card.html")


def test_a_card_whose_last_signature_was_not_written_is_to_be_rendered_again(once: Path, signed_twice: Path) -> None:
    folder = signed_twice
    for name in ("card.html", "card.pdf"):
        shutil.copy(once / name, folder / name)

    assert refusal(folder, name="C").endswith(
        "error[changed-file]: out/card.pdf carries other files than those of results.json: signatures.json\n"
        f"{again('pdf')}")
    for name, content in evalpipe.render(folder).items():
        (folder / name).write_bytes(content)
    evalpipe.sign(folder, **{**VALIDATOR, "name": "C"})


@pytest.mark.nightly  # by day tests/templating has cards of custom templates
def test_a_card_that_was_rendered_with_templates_is_signed_with_them(folder: Path) -> None:
    templates = folder.absolute().parent / "out" / "templates"
    templates.mkdir()
    text = '{% extends "evalpipe/card.html" %}\n{% block header_line %}<p>Harbour Bank</p>{{ super() }}{% endblock %}\n'
    (templates / "card.html").write_text(text)
    for name, content in evalpipe.render(folder, template=templates).items():
        (folder / name).write_bytes(content)
    with pytest.raises(DataError, match="is not the card of results"):
        evalpipe.sign(folder, **VALIDATOR)
    signed = evalpipe.sign(folder, **VALIDATOR, template=templates)

    page = (folder / "card.html").read_text(encoding="utf-8")
    assert "Harbour Bank" in page
    assert signed.status in page


@pytest.fixture
def of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "VERSION", "99")


@pytest.mark.usefixtures("of_another_version")
def test_of_another_version_words_and_styles_may_differ(folder: Path) -> None:
    edit(folder / "card.html", r"--ink: (#1b2733)", "#ffffff")
    edit(folder / "card.html", r"(Contents)</h2>", "What is here")
    edit(folder / "card.md", r"(# x)\n", "# y")

    assert evalpipe.sign(folder, **VALIDATOR).status == "IN REVIEW: approver missing"


@pytest.mark.nightly  # by day a PDF of another version is signed
@pytest.mark.usefixtures("of_another_version")
def test_results_of_another_version_that_this_one_writes_otherwise_are_signed(folder: Path) -> None:
    (folder / "run.json").unlink()
    (folder / "manifest.json").unlink()
    text = (folder / "results.json").read_text(encoding="utf-8")
    assert '\n"profit": [],\n' in text
    (folder / "results.json").write_text(text.replace('\n"profit": [],\n', "\n"), encoding="utf-8")
    for name, content in evalpipe.render(folder).items():
        (folder / name).write_bytes(content)
    assert b'"profit": []' in attached(folder)["results.json"]
    evalpipe.sign(folder, **VALIDATOR)
    signed = evalpipe.sign(folder, **OWNER)

    assert signed.signature.evidence_sha256 == hashes(folder, ("results.json",))["results.json"]


@pytest.mark.usefixtures("of_another_version")
@pytest.mark.parametrize(("pattern", "text", "said"), [
    (r'<data value="([\d.]+)"', "0.123456789", "0.123456789 in card.html, nothing by results.json"),
    (r'<data value="[\d.]+" title="[\d.]+">([\d.]+)<', "0.987", "0.987 in card.html, "),
    (r'class="evidence" title="([0-9a-f]{64})"', "f" * 64, "the head of the page, evidence: ffffff"),
])
def test_of_another_version_a_changed_number_is_refused(folder: Path, pattern: str, text: str, said: str) -> None:
    edit(folder / "card.html", pattern, text)

    assert said in refusal(folder)


def test_a_folder_that_a_run_holds_is_left_alone(folder: Path) -> None:
    with locked_folder(folder.absolute()), pytest.raises(UsageError) as error:
        evalpipe.sign(folder, **VALIDATOR)

    assert str(error.value) == (
        "error[output-folder]: cannot write to 'out': another run is writing to it\n"
        "  = help: wait until it has ended, and try again")


def test_a_folder_without_results_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, message in (
        ("no", "error[no-results]: there is no output folder 'no'\n  = help: name the folder that a run wrote"),
        (".", ("error[unreadable-file]: cannot read results.json: No such file or directory\n"
               "  = help: give the output folder of `evalpipe run`")),
    ):
        with pytest.raises(DataError) as error:
            evalpipe.sign(name, **VALIDATOR)
        assert str(error.value) == message


def test_the_files_of_a_pdf_are_read_as_a_library_for_pdfs_reads_them(ran: Path) -> None:
    content = (ran / "card.pdf").read_bytes()

    assert files_in(content) == {
        name: files[0] for name, files in PdfReader(BytesIO(content)).attachments.items()}
    assert files_in(b"no pdf") == {}


def test_a_second_role_of_a_person_is_refused_where_the_spec_wants_different_people(tmp_path: Path) -> None:
    out = tmp_path / "out"
    card = {"sign_off": {"distinct": True}}
    keys = SPEC | {"card": card, "report": {"formats": ["html"]}}
    evalpipe.run(keys, frames={"d": people()}, out=out)
    evalpipe.sign(out, **VALIDATOR)
    before = (out / "signatures.json").read_bytes()
    with pytest.raises(UsageError) as caught:
        evalpipe.sign(out, **VALIDATOR | {"role": "approver", "name": "a. reader"})
    assert str(caught.value) == (
        "error[same-signer]: A. Reader has signed as validator, and the spec has 'card.sign_off.distinct'\n"
        "  = help: another person signs as approver")
    assert (out / "signatures.json").read_bytes() == before
    assert evalpipe.sign(out, **VALIDATOR | {"date": "2026-11-22"}).status == "IN REVIEW: approver missing"
    signed = evalpipe.sign(out, **VALIDATOR | {"role": "approver", "name": "B. Second"})
    assert signed.status == "FINAL: approved by validator and approver"


def test_a_person_who_signs_twice_is_told_of(tmp_path: Path) -> None:
    evalpipe.run(SPEC | {"report": {"formats": []}}, frames={"d": people()}, out=tmp_path / "out")
    evalpipe.sign(tmp_path / "out", **VALIDATOR)
    signed = evalpipe.sign(tmp_path / "out", **VALIDATOR | {"role": "approver"})
    assert signed.status == (
        "FINAL: approved by validator and approver; A. Reader signed as validator and approver")
    assert '"distinct"' not in (tmp_path / "out" / "results.json").read_text(encoding="utf-8")
