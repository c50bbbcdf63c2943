"""Links that lead to themselves or to nothing: each is told like a file that is not there, and none ends with 4."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import SPEC, Command


@pytest.fixture
def loop(folder: Path) -> Path:
    """Return a link to itself, in the folder of the spec."""
    (folder / "loop").symlink_to("loop")
    return folder / "loop"


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize(("arguments", "code", "said"), [
    (("run", "small.yaml", "--out", "loop", "--log-file", "log"), 2, "cannot write to the output folder 'loop': it is"),
    (("run", "small.yaml", "--log-file", "loop"), 2, "cannot write to the log file 'loop': Too many levels"),
    (("export", "loop", "--to", "openmetrics", "--out", "x"), 3, "cannot read loop: Too many levels"),
    (("export", "done", "--to", "openmetrics", "--out", "loop/x"), 2, "Too many levels"),
    (("render", "done", "--template", "templates"), 2, "cannot read the template folder 'templates': Too many levels"),
    (("validate", "loop"), 2, "cannot read loop: Too many levels of symbolic links\n  = help: name a file that can"),
    (("validate", "glob.yaml"), 3, "no file matches loop/**/*.csv"),
    (("validate", "data.yaml"), 3, "there is no file loop\n"),
])
def test_a_link_to_itself_is_told(
    command: Command, folder: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    (folder / "templates").mkdir()
    (folder / "templates" / "card.html").symlink_to("card.html")
    (folder / "glob.yaml").write_text(SPEC.replace("test.csv", "loop/**/*.csv"))
    (folder / "data.yaml").write_text(SPEC.replace("test.csv", "loop"))
    if "done" in arguments:
        assert command("run", "small.yaml", "--out", "done", "--set", "report.formats=[]").returncode == 0
    ended = command(*arguments)
    assert (ended.returncode, said in ended.stderr) == (code, True), ended.stderr


@pytest.mark.parametrize(("argument", "name"), [("small.yaml", "test.csv"), ("broken.yaml", "broken.yaml")])
def test_a_link_to_nothing_is_not_proposed_in_its_own_place(
    command: Command, folder: Path, argument: str, name: str
) -> None:
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to("nowhere")
    ended = command("validate", argument)
    assert ended.returncode in (2, 3)
    assert f"there is no file {name}" in ended.stderr
    assert "it is a link to what is not there" in ended.stderr
    assert "did you mean" not in ended.stderr
