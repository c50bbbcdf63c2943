"""Who may read a database stands in no output: not in results, cards, ledgers, logs, manifests or messages."""

from __future__ import annotations

import io
import re
import sys
import zlib
from pathlib import Path

import pikepdf
import pytest

import evalpipe
from data.sql.conftest import PLACES, spec
from evalpipe.cli import main
from servers import PASSWORD


def everything(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files in a folder, with what a PDF carries and its compressed parts."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name in [name for name in files if name.endswith(".pdf")]:
        with pikepdf.open(io.BytesIO(files[name])) as pdf:
            files |= {f"{name}/{key}": given.get_file().read_bytes() for key, given in pdf.attachments.items()}
        streams = re.findall(rb"stream\r?\n(.*?)endstream", files[name], re.DOTALL)
        files[f"{name}/streams"] = b"".join(zlib.decompressobj().decompress(part) for part in streams
                                            if part[:1] == b"\x78")
    return files


@pytest.mark.usefixtures("drawn_once")
def test_no_output_of_a_run_holds_the_secrets_of_its_uri(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, warehouse: str
) -> None:
    host = warehouse.rpartition("@")[2].partition("/")[0]
    monkeypatch.setenv("DATABASE_URL", warehouse)
    path = spec(folder, PLACES["postgresql"], report={"formats": ["html", "pdf", "markdown"]}, ledger=True,
                id="patient", gates=[{"metric": "accuracy", "min": 0.1}])
    out = folder / "out" / "run"
    out.parent.mkdir()
    for line in (["run", str(path), "--out", str(out), "--log-file", str(folder / "out" / "log")],
                 ["plan", str(path)], ["validate", str(path)], ["show", str(out), "brier"],
                 ["verify", str(out)], ["history", str(out)], ["diff", str(out), str(out)]):
        with pytest.raises(SystemExit) as ended:
            main(line)
        assert ended.value.code == 0
    told = capsys.readouterr()
    written = everything(folder / "out") | {"stdout": told.out.encode(), "stderr": told.err.encode()}
    assert {"run/results.json", "run/card.pdf/spec.yaml", "run/manifest.json", "ledger.sqlite", "log"} <= set(written)
    assert b"${env:DATABASE_URL}" in written["run/card.pdf/spec.yaml"]
    secrets = (PASSWORD.encode(), b"keeper", host.encode(), warehouse.encode())
    assert [(name, secret) for name, content in written.items() for secret in secrets if secret in content] == []


def test_a_spec_has_its_uri_as_it_was_written(folder: Path, warehouse: str) -> None:
    loaded = evalpipe.load(spec(folder, PLACES["postgresql"]))
    again = evalpipe.load(loaded, ["seed=3"])
    assert [entry.datasets["warehouse"].uri for entry in (loaded, again)] == ["${env:DATABASE_URL}"] * 2
    assert [entry.uris["warehouse"].text for entry in (loaded, again)] == [warehouse] * 2
    assert PASSWORD not in repr(loaded.uris) + repr(evalpipe.plan(loaded).datasets) + loaded.model_dump_json()


def test_a_mapping_may_refer_to_the_environment_too(folder: Path) -> None:
    keys = {"evalpipe": 1, "name": "m", "task": "binary", "outcome": {"column": "died", "event": 1},
            "models": {"m": {"probability": "p"}}, "metrics": ["brier"], "intervals": {"replicates": 100}}
    results = evalpipe.run(keys | {"datasets": {"d": PLACES["postgresql"]}})
    assert results.inputs[0].path == "postgresql:warehouse"
    assert folder.is_dir()


@pytest.mark.parametrize("change", [
    ("postgresql://", "POSTGRESQL://"), ("correct-horse", "correct%2Dhorse"),
    (":correct-horse@", "@", "?password=correct-horse"),
])
def test_every_form_of_a_uri_reaches_the_database(
    folder: Path, warehouse: str, change: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", warehouse.replace(change[0], change[1]) + "".join(change[2:]))
    assert evalpipe.run(spec(folder, PLACES["postgresql"])).inputs[0].path == "postgresql:warehouse"


def test_a_database_of_this_machine_has_no_host(folder: Path, warehouse: str, monkeypatch: pytest.MonkeyPatch) -> None:
    user, _, place = warehouse.removeprefix("postgresql://").partition("@")
    host, _, port = place.partition("/")[0].partition(":")
    query = f"host={host}&port={port}&user={user.partition(':')[0]}&password={PASSWORD}"
    monkeypatch.setenv("DATABASE_URL", f"postgresql:///warehouse?{query}")
    assert evalpipe.run(spec(folder, PLACES["postgresql"])).inputs[0].path == "postgresql:warehouse"


@pytest.mark.parametrize("raised", ["RuntimeError", "ValueError", "TypeError"])
def test_what_a_driver_of_others_raises_is_told_without_the_password(
    folder: Path, raised: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = folder / "adbc_driver_frail"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "dbapi.py").write_text(
        f"def connect(uri):\n    raise {raised}(f'cannot open {{uri}} of hush, \\'me\\'')\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "adbc_driver_frail.dbapi", raising=False)
    monkeypatch.setenv("DATABASE_URL", "frail://me:hush@host/data")
    path = spec(folder, PLACES["postgresql"] | {"driver": "frail"})
    with pytest.raises(SystemExit) as ended:
        main(["run", str(path)])
    assert ended.value.code == 3
    assert "cannot connect to the database of dataset 'warehouse': cannot open … of …, '…'\n" in capsys.readouterr().err
