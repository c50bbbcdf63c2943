"""The house around the package: what the documents promise is so, and what must not be in the tree is not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
BINARY = {".parquet", ".png", ".pdf", ".woff2", ".ttf", ".gz"}
# Written in two parts, so that this file does not hold what it looks for.
HOSTS = ["py" + r"pi\.org", "python" + r"hosted\.", "npm" + r"js\.", "deb" + r"ian\.org", "conda" + r"\.(org|io)"]
FOLDERS = ["/ro" + "ot/", "/ho" + "me/", "/Us" + "ers/", "/op" + "t/", re.escape(f"{ROOT}/")]
OUTSIDE = re.compile("|".join([*HOSTS, *FOLDERS]))


def texts() -> dict[str, str]:
    """Return the text files that git tracks, or would track, by path."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    files = {name: ROOT / name for name in names if name and Path(name).suffix not in BINARY}
    return {name: file.read_text(encoding="utf-8", errors="replace") for name, file in files.items() if file.is_file()}


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, check=False, capture_output=True, text=True,
        env=os.environ | environment,
    )


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_that_a_document_shows_exists(document: str) -> None:
    shown = set(re.findall(r"\bmake ([a-z-]+)", "\n".join(code(document))))

    assert {"demo", "test"} <= shown <= targets()


def test_make_help_lists_the_targets() -> None:
    listed = re.findall(r"^  make ([a-z-]+)", run("make", "help").stdout, re.MULTILINE)

    assert listed == [
        "help", "demo", "test", "nightly", "lint", "bench", "docs", "books", "docs-check", "sentences", "example",
        "gallery", "site", "package", "lock", "sbom", "audit", "clean",
    ]


def code(document: str) -> list[str]:
    """Return the code of a Markdown file: fenced blocks and code in a line."""
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return blocks + re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def test_the_readme_shows_how_to_run_it() -> None:
    shown = "\n".join(code("README.md"))

    assert [line for line in ("make demo", "make test", "evalpipe run ", "evalpipe.run(") if line not in shown] == []


def test_every_file_that_a_document_links_to_exists() -> None:
    links = [
        (name, link)
        for name, text in texts().items() if name.endswith(".md")
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    ]

    assert len(links) > 5
    assert [(name, link) for name, link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


def test_the_metric_of_the_contributing_guide_works() -> None:
    from evalpipe.card.references import short_and_full_reference
    from evalpipe.metrics import metric, ratio, registry
    from evalpipe.metrics.other_names import OTHER_NAMES

    example = next(block for block in code("CONTRIBUTING.md") if block.startswith("@metric"))
    before = {entry.name for entry in registry}
    names: dict[str, Any] = {"metric": metric, "np": np, "ratio": ratio, "Floats": Any}
    exec(example, names)  # noqa: S102 - the guide's own example
    try:
        assert {entry.name for entry in registry} - before == {"prevalence_threshold"}
        entry = registry["balayla"]
        assert not {entry.name, *entry.aliases} & set(OTHER_NAMES)
        assert entry(9.0, 1.0, 91.0, 99.0) == pytest.approx(0.1 / (0.3 + 0.1), rel=1e-12)
        assert entry.formula == r"\frac{\sqrt{FPR}}{\sqrt{TPR}+\sqrt{FPR}}"
        assert short_and_full_reference(entry.ref)[0] == "Balayla (2020)"
    finally:
        registry.remove("prevalence_threshold")


def test_the_committed_card_is_what_its_results_are_written_as() -> None:
    import evalpipe

    example = ROOT / "reports" / "example"
    written = evalpipe.render(example, ["html"])["card.html"]
    assert written == (example / "card.html").read_bytes(), "run `make example` and commit the result"


def test_the_version_is_written_once() -> None:
    from evalpipe.version import VERSION

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    written = re.compile(rf"""version\w*['"]?\s*[:=]\s*['"]{re.escape(VERSION)}['"]""", re.IGNORECASE)
    sources = {name: text for name, text in texts().items() if re.match(r"(evalpipe|docs|benchmarks)/|\w+\.toml", name)}
    holders = [name for name, text in sources.items() if written.search(text)]

    assert project["project"]["dynamic"] == ["version"]
    assert holders == ["evalpipe/version.py"]


def test_the_tree_names_no_registry_and_no_machine() -> None:
    found = [
        f"{name}:{number}"
        for name, text in texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        if OUTSIDE.search(line)
    ]

    assert found == []


def test_the_wheel_holds_the_package_and_its_templates(tmp_path: Path) -> None:
    copy = tmp_path / "source"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "reports", "build", "dist"))
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=copy, check=False, capture_output=True, text=True,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        f"{inside}/{file.relative_to(ROOT / folder).as_posix()}"
        for folder, inside in (("evalpipe", "evalpipe"), ("templates", "evalpipe/templates"))
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }

    assert {name for name in held if ".dist-info/" not in name} == expected
    assert any(name.startswith("evalpipe/templates/") for name in held)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in held)


def test_the_generated_pages_are_fresh_and_a_stale_page_is_named_and_written_again(tmp_path: Path) -> None:
    for page in (ROOT / "docs").iterdir():
        if page.is_file():
            shutil.copy(page, tmp_path)
    true = (tmp_path / "metrics.md").read_bytes()
    (tmp_path / "metrics.md").write_bytes(true + b"by hand\n")
    checked = run(sys.executable, tmp_path / "build.py", "--check")
    written = run(sys.executable, tmp_path / "build.py")

    # The pages that are not named are fresh.
    stale = "stale: docs/metrics.md; run `make docs` and commit the result\n"
    assert (checked.returncode, checked.stdout) == (1, stale), checked.stderr
    assert (written.returncode, written.stdout) == (0, "wrote docs/metrics.md\n"), written.stderr
    assert (tmp_path / "metrics.md").read_bytes() == true


@pytest.mark.parametrize(("user", "way_out"), [
    ("1000", "run: sudo apt-get install"), ("0", "run: apt-get update && apt-get install"),
])
@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 2)])
def test_what_tests_need_and_cannot_be_installed_is_told_before_the_first(
    tmp_path: Path, user: str, way_out: str, ci: str, code: int
) -> None:
    for program, lines in {"id": f"echo {user}", "apt-get": "exit 100"}.items():
        (tmp_path / program).write_text(f"#!/bin/bash\n{lines}\n")
        (tmp_path / program).chmod(0o755)
    for program in ("bash", "ls"):
        (tmp_path / program).symlink_to(shutil.which(program) or program)
    ran = run(shutil.which("bash") or "bash", ".ci/system", "test", sys.executable, CI=ci, PATH=str(tmp_path))

    assert ran.returncode == code
    assert "error: what some tests use is missing" in ran.stderr
    assert f"{way_out} chromium poppler-utils npm" in ran.stderr
    assert ("Those tests will be skipped." in ran.stderr) is (code == 0)


def test_the_lock_of_apt_is_waited_for(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    lines = {"id": "echo 0", "sleep": "exit 0", "apt-get": f"""if [ -e {tried} ]; then exit 0; fi
echo > {tried}
echo 'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt-get)' >&2
exit 100"""}
    for program, text in lines.items():
        (tmp_path / program).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / program).chmod(0o755)
    ran = run(shutil.which("bash") or "bash", ".ci/system", "test", sys.executable, CI="true", PATH=str(tmp_path))
    assert "Another program uses apt-get; trying again in 10 seconds …" in ran.stdout
    assert "could not install" not in ran.stderr


def test_a_database_of_a_test_is_closed() -> None:
    """Leaving `with` ends a transaction, not the connection: Python 3.13 warns of it, in whatever test runs by then."""
    unclosed = re.compile(r"\bwith sqlite3\.connect\(")
    assert [name for name, text in texts().items() if unclosed.search(text)] == []


FILLING = """
import pytest

@pytest.mark.parametrize("time", [1, 2])
def test_waits(shared, time):
    def fill(place):
        place.mkdir()
        pytest.skip("no such thing here")
    shared("folder", fill)
"""


def test_a_shared_folder_that_could_not_be_filled_skips_each_test_that_needs_it(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_one.py").write_text(FILLING)
    ran = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path, CI="")
    assert ran.stdout.splitlines()[-1].startswith("2 skipped"), ran.stdout


SKIPPING = """
import pytest

def test_runs():
    assert True

def test_waits():
    pytest.skip("no such thing here")
"""


@pytest.mark.parametrize(("workers", "ci", "code", "named"), [
    ("2", "true", 1, True), ("0", "", 0, False), pytest.param("0", "true", 1, True, marks=pytest.mark.nightly),
    pytest.param("2", "", 0, False, marks=pytest.mark.nightly)])
def test_a_skipped_test_fails_in_ci_only(tmp_path: Path, ci: str, code: int, named: bool, workers: str) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_one.py").write_text(SKIPPING)
    (tmp_path / "test_two.py").write_text('import pytest\npytest.importorskip("no_such_module_at_all")\n')
    options = ["-q", "-p", "no:cacheprovider", "-n", workers, "--rootdir", str(tmp_path), str(tmp_path)]
    ran = run(sys.executable, "-m", "pytest", *options, CI=ci)

    assert ran.returncode == code, ran.stdout
    assert ("skipped in CI, where every test must run" in ran.stdout) is named
    assert ("test_one.py::test_waits: no such thing here" in ran.stdout) is named
    assert ("test_two.py: could not import 'no_such_module_at_all'" in ran.stdout) is named
