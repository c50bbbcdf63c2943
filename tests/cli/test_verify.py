"""`evalpipe verify` as its users run it: what it prints, where, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cli.conftest import Command


@pytest.mark.usefixtures("out")
def test_a_line_a_file_is_printed(command: Command) -> None:
    done = command("verify", "out")

    assert (done.returncode, done.stderr, done.stdout) == (0, "", """\
the folder
  same         manifest.json
  same         results.json
  same         card.html
  same         estimates.csv
  not checked  run.json           nothing else knows the times and the host in it
  not checked  manifest.sig.json  the manifest is not signed
the spec
  same         small.yaml
the inputs
  same         test.csv
the ledger
  same         ledger.sqlite

out: 7 the same, 0 differ, 2 not checked
sign-off: DRAFT, not signed
""")


def test_a_difference_ends_with_1_and_the_places_are_told(command: Command, out: Path) -> None:
    text = (out / "estimates.csv").read_text()
    (out / "estimates.csv").write_text(text.replace("0.", "0.1", 1))
    done = command("verify", "out")

    assert (done.returncode, done.stderr) == (1, "")
    (line,) = [line for line in done.stdout.splitlines() if "estimates.csv" in line and "differs" in line]
    assert line.startswith("  differs      estimates.csv      its sha256 begins with ")
    assert "= accuracy of a on test, value: 0.1" in done.stdout
    assert done.stdout.endswith("\nout: 6 the same, 1 differs, 2 not checked\nsign-off: DRAFT, not signed\n")


def test_what_was_signed_is_unknown_where_the_results_or_the_signatures_have_changed(
    command: Command, out: Path
) -> None:
    command("sign", "out", "--role", "owner", "--name", "A", "--decision", "approved", "--date", "2026-11-21")
    signed = (out / "signatures.json").read_text()

    assert command("verify", "out").stdout.endswith("\nsign-off: IN REVIEW: validator and approver missing\n")
    for forged in (signed.replace("owner", "approver"), "[]"):
        (out / "signatures.json").write_text(forged)
        done = command("verify", "out")
        assert done.returncode == 1
        assert done.stdout.endswith("\nsign-off: unknown, as signatures.json cannot be trusted\n")
    (out / "results.json").write_text("{}")
    document = json.loads(command("verify", "out", "--format", "json").stdout)
    assert document["sign_off"] == "unknown, as results.json and signatures.json cannot be trusted"


@pytest.mark.usefixtures("out")
def test_json_says_the_same(command: Command, folder: Path) -> None:
    (folder / "test.csv").unlink()
    done = command("verify", "out", "--format", "json")
    document = json.loads(done.stdout)

    assert (done.returncode, document["ok"], document["folder"]) == (0, True, "out")
    assert document["sign_off"] == "DRAFT, not signed"
    assert document["files"][0] == {
        "kind": "output", "file": "manifest.json", "status": "same", "reason": "", "notes": []}
    assert document["files"][-1] == {
        "kind": "ledger", "file": "ledger.sqlite", "status": "same", "reason": "", "notes": []}
    assert document["files"][-2] == {
        "kind": "input", "file": "test.csv", "status": "not checked", "notes": [],
        "reason": f"cannot read {folder}/test.csv: there is no such file"}
    demanded = command("verify", "out", "--inputs", "--format", "json")
    assert (demanded.returncode, json.loads(demanded.stdout)["ok"]) == (1, False)


@pytest.mark.usefixtures("out")
def test_recompute_tells_its_steps_on_stderr(command: Command) -> None:
    done = command("verify", "out", "--recompute")

    assert done.returncode == 0
    assert done.stdout.split("\n\n")[0].endswith(
        "run again\n  same         results.json\n  same         card.html\n  same         estimates.csv")
    assert done.stderr.splitlines()[0] == "1/7 read the spec"


@pytest.mark.usefixtures("out")
def test_no_folder_ends_with_3_and_no_key_with_2(command: Command) -> None:
    absent = command("verify", "nothing")
    assert (absent.returncode, absent.stdout, absent.stderr) == (3, "", (
        "error[no-results]: there is no output folder of evalpipe at 'nothing'\n"
        "  = help: name the folder that a run wrote\n"))
    assert command("verify", "out", "--public-key", "no.pem").returncode == 2
    unnamed = command("verify", "out", "--spec", "no.yaml")
    assert (unnamed.returncode, unnamed.stdout, unnamed.stderr) == (2, "", (
        "error[missing-file]: there is no file no.yaml\n  = help: name the file of the spec that was run\n"))
    assert command("run", "small.yaml", "--out", "out", "--key", "no.pem", "--no-progress").stderr == (
        "error[unreadable-key]: cannot read the key 'no.pem': No such file or directory\n  = help: check the path\n")


def test_a_name_cannot_steer_the_terminal(command: Command, out: Path) -> None:
    (out / "\x1b[2J\u202e.txt").write_text("mine")
    done = command("verify", "out")

    assert done.returncode == 0
    assert "  not checked  " + "\ufffd[2J\ufffd.txt".ljust(17) + "  evalpipe did not write it\n" in done.stdout


def test_a_command_that_leaves_the_manifest_unsigned_says_so(command: Command, out: Path) -> None:
    key = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
    Path("key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    said = ("the manifest has changed, and is no longer signed: sign it with --key; out/manifest.sig.json was "
            "removed\n")
    sign = ("sign", "out", "--name", "A. Reader", "--decision", "approved", "--date", "2026-11-21", "--role")
    for number, line in enumerate((
        ("render", "out", "--format", "markdown"), ("accept", "out"), (*sign, "owner"), (*sign, "validator"),
    )):
        signed = command("run", "small.yaml", "--out", "out", "--no-progress", "--key", "key.pem")
        assert signed.returncode == 0
        assert (out / "manifest.sig.json").exists()
        kept = command(*line, *(("--key", "key.pem") if number == 3 else ()))
        assert (kept.returncode, kept.stderr) == (0, "" if number == 3 else said)
        assert (out / "manifest.sig.json").exists() == (number == 3)
        assert command("verify", "out").returncode == 0
