"""`evalpipe.comment`: a challenge and its answer stand on a card, whose evidence and signatures stay as they are."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import evalpipe
from conftest import Shared
from evalpipe.card.edition import files_in
from evalpipe.errors import EvalpipeError
from evalpipe.results import Results
from evalpipe.review.commenting import CommentedCard
from evalpipe.run import Progress
from evalpipe.runs.folder import RunFolder

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "metrics": ["brier"],
    "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}}, "intervals": {"method": "none"},
    "gates": [{"metric": "brier", "max": 0.5}, {"metric": "brier", "max": 0.1, "name": "sharp"}],
    "report": {"formats": ["html"]}, "ledger": False,
}
ASKED: dict[str, Any] = {"on": "verdict", "name": "Ada Doubt", "role": "validator", "date": "2026-11-25"}
ANSWER: dict[str, Any] = {"reply_to": 1, "name": "Olu Owner", "date": "2026-11-26"}
SIGNED: dict[str, Any] = {"role": "validator", "name": "V", "decision": "approved", "date": "2026-11-25"}
VERDICT = "  = verdict    fail\n"
GATES = ("  = gates/1    sharp: 0.346 for p; required at most 0.1.\n"
         "  = gates/2    Brier score: 0.346 for p; required at most 0.5.\n")
ALL = (f"{VERDICT}{GATES}  = unchecked  No groups were compared (no slices), no row was looked for…\n"
       "  = gate 1     Brier score\n  = gate 2     sharp\n")
AGAIN = "restore the file; or remove it, render the card again (evalpipe render out) and comment again"


def people(rows: int = 40) -> dict[str, pl.DataFrame]:
    return {"d": pl.DataFrame({"y": [1, 0] * (rows // 2), "p": [(7 * place % 40) / 40 for place in range(rows)]})}


@pytest.fixture
def out(shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the output folder of a small run, named from the working folder, so that messages are the same."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(shared("commenting", lambda out: evalpipe.run(SPEC, frames=people(), out=out)), "out")
    return Path("out")


def commented(out: Path, text: str = "Why so few?", **fields: Any) -> CommentedCard:
    return evalpipe.comment(out, text, **{**ASKED, **fields})


def page(out: Path) -> str:
    return (out / "card.html").read_text(encoding="utf-8")


def words(out: Path) -> str:
    """Return the words of the page, without its tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", page(out)).split())


def statuses(out: Path) -> dict[str, str]:
    return {file.file: file.status for file in evalpipe.verify(out).files if file.kind == "output"}


def refusal(call: Callable[[], object], folder: Path = Path("out")) -> str:
    """Return the message of a refusal, and make sure that it wrote nothing."""
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(EvalpipeError) as error:
        call()
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    return str(error.value)


def test_a_comment_and_its_answer_stand_on_a_signed_card_and_change_no_evidence(out: Path) -> None:
    evidence = {name: (out / name).read_bytes() for name in ("results.json", "estimates.csv", "run.json")}
    plain = page(out)
    first = commented(out)
    evalpipe.sign(out, **SIGNED)
    signed = (out / "signatures.json").read_bytes()
    assert statuses(out)["comments.json"] == "same"
    second = evalpipe.comment(out, "All that there are.", **ANSWER)

    assert "omment" not in plain
    assert (first.status, first.files) == ("1 comment, without an answer.", ("out/card.html", "out/comments.json"))
    assert second.status == "1 comment, with an answer. Written after a signature: 2."
    assert ("Comment 1 on the verdict by Ada Doubt (validator), 2026-11-25: Why so few? "
            "Answer 2 by Olu Owner, 2026-11-26, after the validator signed: All that there are.") in words(out)
    assert words(out).count(second.status) == 2  # below the boxes, and in the section
    assert {name: (out / name).read_bytes() for name in evidence} == evidence
    assert (out / "signatures.json").read_bytes() == signed
    assert RunFolder(out).signatures[0].name == "V"
    assert set(statuses(out).values()) == {"same", "not checked"}
    assert json.loads((out / "comments.json").read_text())[1] == {
        "number": 2, "on": "verdict", "reply_to": 1, "name": "Olu Owner", "role": None, "date": "2026-11-26",
        "text": "All that there are.", "signatures_sha256": hashlib.sha256(signed).hexdigest(),
        "evidence_sha256": hashlib.sha256(evidence["results.json"]).hexdigest()}


def test_a_signature_that_counts_anew_knows_the_comments_before_it(out: Path) -> None:
    evalpipe.sign(out, **SIGNED)
    commented(out)
    evalpipe.sign(out, **SIGNED | {"role": "owner"})
    assert ", 2026-11-25, after the validator signed: Why so few?" in words(out)
    evalpipe.sign(out, **SIGNED | {"date": "2026-11-27"})

    assert "after the validator signed" not in page(out)
    assert "1 comment, without an answer. Read: 1" in words(out)


def test_signatures_that_were_made_anew_know_the_comments_before_them(out: Path) -> None:
    evalpipe.sign(out, **SIGNED)
    commented(out)
    (out / "signatures.json").unlink()
    (out / "card.html").write_bytes(evalpipe.render(out)["card.html"])
    evalpipe.sign(out, **SIGNED | {"role": "owner"})
    assert "after the" not in words(out)[words(out).index("Comment 1"):words(out).index("Why so few?")]

    assert commented(out, "And now?").status == "2 comments, 2 without an answer. Written after a signature: 2."


def test_comments_stand_below_what_they_are_on(out: Path) -> None:
    for number, on in enumerate(["gates/1", "unchecked", "gate 2"], 1):
        commented(out, f"Doubt {number}.", on=on)
    evalpipe.comment(out, "Why?", reply_to=1, name="B", date="2026-11-26")
    commented(out, "Doubt 5.", on="gates/2")
    last = evalpipe.comment(out, "Because.", reply_to=4, name="ada  DOUBT", date="2026-11-26")
    own = evalpipe.comment(out, "Still.", reply_to=3, name="ada  DOUBT", date="2026-11-26")
    text, by = words(out), "by Ada Doubt (validator), 2026-11-25:"

    assert (last.status, own.status) == ("4 comments, 3 without an answer.",) * 2
    assert (f"required at most 0.1. Evidence Comment 1 {by} Doubt 1. Answer 4 by B, 2026-11-26: Why? "
            "Answer 6 to 4 by ada DOUBT, 2026-11-26: Because.") in text
    assert re.search(rf"no row was looked for [^.]*\. Evidence Comment 2 {re.escape(by)} Doubt 2\.", text)
    assert text.index(f"Comment 3 on gate 2 (sharp) {by} Doubt 3.") < text.index("Comment 1 by")
    assert [page(out).count(f'href="#comment-{number}"') for number in (1, 5)] == [1, 2]  # also in the verdict's box


@pytest.mark.usefixtures("drawn_once")
def test_the_pdf_carries_the_comments(out: Path) -> None:
    for name, content in evalpipe.render(out, ["pdf"]).items():
        (out / name).write_bytes(content)
    commented(out)

    assert files_in((out / "card.pdf").read_bytes())["comments.json"] == (out / "comments.json").read_bytes()


class Watching(Progress):
    """Progress that keeps what it is told of comments."""

    moved: str | None = None

    def comments_moved(self, file: str) -> None:
        self.moved = file


def test_a_later_run_keeps_comments_on_the_same_results_and_moves_others(out: Path) -> None:
    commented(out)
    content, shown = (out / "comments.json").read_bytes(), page(out)
    watching = Watching()
    evalpipe.run(SPEC, frames=people(), out=out, progress=watching)
    assert ((out / "comments.json").read_bytes(), page(out), watching.moved) == (content, shown, None)
    evidence = Results.read(out / "results.json").evidence_sha256
    evalpipe.run(SPEC, frames=people(38), out=out, progress=watching)

    assert watching.moved == f"comments-{evidence[:8]}.json"
    assert (out / watching.moved).read_bytes() == content
    assert not (out / "comments.json").exists()
    assert "Why so few?" not in page(out)


def test_the_same_comments_give_the_same_bytes(out: Path) -> None:
    shutil.copytree(out, "other")
    for folder in (out, Path("other")):
        commented(folder)
        evalpipe.comment(folder, "All.", **ANSWER)

    assert [(Path("other") / file.name).read_bytes() == file.read_bytes() for file in sorted(out.iterdir())] == [
        True] * len(list(out.iterdir()))


def test_markup_in_a_comment_is_text(out: Path) -> None:
    commented(out, "**Bold** <script>alert(1)</script> <b>b</b> [x](javascript:alert(1)) ![i](http://x/y) "
                   '{{ value("brier") }} {% x %}\n\n# Head\n\n- item', name='<i onmouseover="x">Ada</i>')
    text = page(out)

    assert "Bold</b> &lt;script&gt;alert(1)&lt;/script&gt; &lt;b&gt;b&lt;/b&gt; [x](javascript:alert(1)) ![i]" in text
    assert "{{ value(&#34;brier&#34;) }} {% x %}" in text
    assert "by &lt;i onmouseover=&#34;x&#34;&gt;Ada&lt;<wbr>/i&gt; (validator)" in text
    assert not re.search(r"<i onmouseover|<script>alert|<b>b|<img[^>]*http", text)
    assert set(statuses(out).values()) == {"same", "not checked"}


@pytest.mark.parametrize(("fields", "told"), [
    ({"on": "trend"}, (f"error[unknown-finding]: the card has no 'trend' to comment on\n{ALL}"
                       "  = help: name one of these with --on")),
    ({"on": "verdct"}, (f"error[unknown-finding]: the card has no 'verdct' to comment on\n{ALL}"
                        "  = help: did you mean 'verdict'?")),
    ({"on": None}, f"error[unknown-finding]: no finding is named\n{ALL}  = help: name one of these with --on"),
    ({"on": "gates"}, ("error[unknown-finding]: 2 findings are 'gates'\n"
                       f"{GATES.replace('    ', '  ')}  = help: name one of these with --on")),
    ({"on": ["gate 1"]}, (f"error[unknown-finding]: the card has no ['gate 1'] to comment on\n{ALL}"
                          "  = help: did you mean 'gate 1'?")),
    ({"reply_to": 3}, ("error[unknown-comment]: there is no comment 3 to answer\n"
                       "  = help: there are no comments yet; leave it out")),
    ({"text": " \n"}, "error[bad-text]: the text '' has no letter\n  = help: say what is in doubt, or the answer"),
    ({"text": "a\x07" + 2_000 * "b", "name": None, "role": "boss", "date": None}, (
        "error[missing-option]: no name is given\n  = help: give the name of the person who comments with --by\n\n"
        "error[unknown-role]: unknown role 'boss'\n  = help: choose developer, validator, owner or approver\n\n"
        "error[missing-option]: no date is given\n  = help: give the day of the comment, as in 2026-11-21\n\n"
        f"error[bad-text]: the text has 2,002 characters: 'a\\x07{55 * 'b'}...'\n"
        "  = help: shorten it to 2,000 or fewer\n\n"
        f"error[bad-text]: the text contains a control character, U+0007: 'a\\x07{55 * 'b'}...'\n"
        "  = help: leave it out")),
])
def test_what_is_no_comment_is_refused(out: Path, fields: dict[str, Any], told: str) -> None:
    assert refusal(lambda: commented(out, **fields)) == told


@pytest.mark.parametrize(("fields", "told"), [
    ({}, ("error[already-commented]: this comment is there already: comment 1\n"
          "  = help: nothing is to be done; a further comment has other words or another day")),
    ({"reply_to": 7}, "error[unknown-comment]: there is no comment 7 to answer\n  = help: the last comment is 1"),
    ({"reply_to": 1, "on": "gate 1"}, ("error[other-subject]: comment 1 is on 'verdict', not on 'gate 1'\n"
                                       "  = help: leave --on out: an answer is on what the comment is on")),
    ({"reply_to": 1, "date": "2026-11-24"}, ("error[bad-date]: comment 1 is of 2026-11-25, after 2026-11-24\n"
                                             "  = help: give the day of the answer")),
])
def test_what_does_not_follow_a_comment_is_refused(out: Path, fields: dict[str, Any], told: str) -> None:
    commented(out)

    assert refusal(lambda: commented(out, **fields)) == told


def test_a_folder_without_results_is_refused(out: Path) -> None:
    Path("empty").mkdir()
    missing, empty = refusal(lambda: commented(Path("gone"))), refusal(lambda: commented(Path("empty")), Path("empty"))

    assert missing == "error[no-results]: there is no output folder 'gone'\n  = help: name the folder that a run wrote"
    assert empty == ("error[unreadable-file]: cannot read empty/results.json: No such file or directory\n"
                     "  = help: give the output folder of `evalpipe run`")
    assert out.exists()


@pytest.mark.parametrize(("pattern", "other", "code", "message", "hint"), [
    (r"(?s).*", "{", "not-comments",
     "does not hold comments: the document: invalid json: eof while parsing an object at line 1 column 1", AGAIN),
    ('"number": 1', '"number": 2', "not-comments", "does not hold comments: 0: its number is 2, not 1", AGAIN),
    ('"reply_to": null', '"reply_to": 1', "not-comments",
     "does not hold comments: 0: there is no comment 1 to answer", AGAIN),
    ('"verdict"', '"trend"', "not-comments", "does not hold comments: 0: these results have no 'trend'",
     "restore the file; or remove it, and render the card again"),
    (r'evidence_sha256": ".{8}', 'evidence_sha256": "01234567', "other-evidence",
     "is of other results: 'Ada Doubt' commented on evidence 01234567, and results.json is EVIDENCE",
     "restore the results that were commented on; or move comments.json away and comment on these"),
    ("so few", "so many", "changed-file", "does not hold the comments that card.html shows",
     AGAIN.replace("the file", "it")),
])
def test_comments_that_were_edited_are_refused(
    out: Path, pattern: str, other: str, code: str, message: str, hint: str
) -> None:
    commented(out)
    file = out / "comments.json"
    file.write_text(re.sub(pattern, other, file.read_text(encoding="utf-8"), count=1), encoding="utf-8")

    message = message.replace("EVIDENCE", Results.read(out / "results.json").evidence_sha256[:8])
    told = f"error[{code}]: out/comments.json {message}\n  = help: {hint}"
    assert [refusal(call) for call in (lambda: commented(out, "More."), lambda: evalpipe.sign(out, **SIGNED))] == [
        told, told]
    assert statuses(out)["comments.json"] == "differs"
    if code != "changed-file":
        assert refusal(lambda: evalpipe.render(out)) == told


def test_a_comment_that_is_gone_is_missed(out: Path) -> None:
    commented(out)
    (out / "comments.json").unlink()

    assert statuses(out)["comments.json"] == "differs"
    assert refusal(lambda: evalpipe.sign(out, **SIGNED)) == (
        "error[changed-file]: out/comments.json does not hold the comments that card.html shows\n"
        f"  = help: {AGAIN.replace('the file', 'it')}")
