"""A card that was made from files in several folders: a spec that extends another, texts, templates, an earlier run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import evalpipe
from conftest import Drawing, Shared
from evalpipe.cli import main
from evalpipe.runs.record import replace_files

BASE = """\
evalpipe: 1
name: audit
task: binary
outcome: {column: y, event: 1}
id: person
datasets:
  test: {path: data/test.csv}
  training: {path: data/training.csv, role: reference}
metrics: [brier, roc_auc]
intervals: {method: none}
"""
SPEC = """\
extends: ../common/base.yaml
models:
  a: {probability: pa, predictions: predictions.csv}
card:
  intended_use: {file: use.md}
gates:
  - {metric: brier, max_increase: 0.5, against: {results: earlier}}
report: {formats: [html, junit], template: look}
"""
TEMPLATE = '{% extends "evalpipe/card.html" %}\n{% block header_line %}<p>Bank</p>{{ super() }}{% endblock %}\n'


def fill(top: Path) -> None:
    """Write the files of a spec, run it, and let a validator sign its card."""
    (top / "common" / "data").mkdir(parents=True)
    (top / "specs" / "look").mkdir(parents=True)
    generator = np.random.default_rng(5)
    for first, name in ((0, "test"), (100, "training")):
        people = pl.DataFrame({"person": range(first, first + 40), "y": generator.integers(0, 2, 40)})
        people.write_csv(top / "common" / "data" / f"{name}.csv")
    predictions = pl.DataFrame({"person": range(40), "pa": generator.random(40).round(3)})
    predictions.write_csv(top / "specs" / "predictions.csv")
    (top / "common" / "base.yaml").write_text(BASE)
    (top / "specs" / "audit.yaml").write_text(SPEC)
    (top / "specs" / "use.md").write_text("To decide about loans.\n")
    (top / "specs" / "look" / "card.html").write_text(TEMPLATE)
    spec = top / "specs" / "audit.yaml"
    evalpipe.run(spec, out=top / "specs" / "earlier", overrides=["gates=[]", "report.formats=[]"])
    evalpipe.run(spec, out=top / "out", overrides=["seed=7"], as_of="2026-11-20")
    evalpipe.sign(top / "out", role="validator", name="A. Reader", decision="approved", date="2026-11-21")
    replace_files(top / "out", evalpipe.render(top / "out", ["pdf"]))


@pytest.fixture(scope="session")
def audited(shared: Shared, each_pdf_once: Drawing) -> Path:
    """Return the folder with the spec, its files and its signed card in `out`."""

    def drawn(top: Path) -> None:
        with each_pdf_once():
            fill(top)

    return shared("audited", drawn)


@pytest.fixture
def top(audited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of these files, and work in it."""
    shutil.copytree(audited, tmp_path / "top")
    monkeypatch.chdir(tmp_path / "top")
    monkeypatch.delenv("EVALPIPE_SIGNING_KEY", raising=False)
    return Path()


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Return a function that calls a command in this process, and returns its exit code and what it printed."""

    def called(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        return int(ended.value.code or 0), capsys.readouterr().out

    return called


@pytest.fixture
def keys(tmp_path: Path) -> Callable[[str], tuple[Path, Path]]:
    """Return a function that writes a key pair of a name: the files of the private and of the public key."""

    def pair(name: str) -> tuple[Path, Path]:
        seed = name.encode().ljust(32)
        key = Ed25519PrivateKey.from_private_bytes(seed)
        private, public = tmp_path / f"{name}.pem", tmp_path / f"{name}.public.pem"
        private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        return private, public

    return pair
