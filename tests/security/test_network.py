"""Nothing is fetched that no source, ledger or scheduler of the spec names."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from evalpipe.cli import main


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[str]]]:
    """Serve pages on this machine, in whose folder the test works; yield the address and what is asked for."""
    monkeypatch.chdir(tmp_path)
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:  # type: ignore[override]
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    thread.join()
    server.server_close()


def spec(address: str, **keys: object) -> None:
    loading = f"![x]({address}/prose.png) <img src='{address}/tag.png'> [a]({address}/link) @import url({address}/css)"
    hostile = {
        "evalpipe": 1, "name": "small", "title": f"![x]({address}/title.png)", "task": "binary",
        "outcome": {"column": "y", "event": 1}, "datasets": {"test": {"path": "test.csv"}},
        "models": {"a": {"probability": "p", "label": f"<img src='{address}/label'>"}}, "metrics": ["brier"],
        "intervals": {"method": "none"}, "card": {"owner": loading, "intended_use": loading},
        "report": {"formats": ["html", "markdown"]},
    }
    Path("test.csv").write_text(f'y,p,g\n1,0.5,"<img src={address}/level>"\n0,0.25,"url({address}/level)"\n')
    Path("spec.yaml").write_text(json.dumps(hostile | keys))


def evalpipe(*arguments: str) -> tuple[int, str]:
    """Run the command line; return its exit code and what it printed on stderr."""
    told = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(told), pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code, told.getvalue()


@pytest.mark.parametrize("form", ["html", pytest.param("pdf", marks=pytest.mark.nightly)])
def test_a_card_full_of_addresses_is_made_and_rendered_without_asking_for_any(
    asked: tuple[str, list[str]], form: str
) -> None:
    address, paths = asked
    spec(address, slices=["g"], slice_rules={"min_rows": 1})
    assert evalpipe("run", "spec.yaml", "--out", "out", "--no-progress")[0] == 0
    assert evalpipe("render", "out", "--format", form)[0] == 0
    assert evalpipe("diff", "out", "out", "--format", "html", "--out", "diff.html")[0] == 0
    assert paths == []
    assert address in Path("out/card.html").read_text()  # the link is there, as a link


@pytest.mark.parametrize("path", [
    "{address}/data.csv", "{address}/data.parquet", "file:///etc/data.csv", "s3://bucket/data.parquet",
    "//127.0.0.1/share/data.csv",
])
def test_data_come_from_files_of_this_machine_alone(asked: tuple[str, list[str]], path: str) -> None:
    address, paths = asked
    spec(address, datasets={"test": {"path": path.format(address=address)}})
    code, told = evalpipe("run", "spec.yaml", "--no-progress")
    assert code == 3
    assert "error[missing-file]: there is no file " in told
    assert paths == []


@pytest.mark.parametrize("keys", [
    {"extends": "{address}/base.yaml"}, {"card": {"risks": {"file": "{address}/risks.md"}}},
    {"report": {"template": "{address}/house"}},
])
def test_no_file_of_a_spec_is_fetched(asked: tuple[str, list[str]], keys: dict[str, object]) -> None:
    address, paths = asked
    spec(address, **json.loads(json.dumps(keys).replace("{address}", address)))
    code, _ = evalpipe("run", "spec.yaml", "--no-progress")
    assert code == 2
    assert paths == []


def test_validate_and_plan_reach_no_ledger(asked: tuple[str, list[str]]) -> None:
    address, paths = asked
    spec(address, ledger=address.replace("http", "postgresql") + "/ledger")
    assert evalpipe("validate", "spec.yaml")[0] == 0
    assert evalpipe("plan", "spec.yaml")[0] == 0
    assert paths == []
