"""Files that a spec names for its texts, former names of its models, and a spec that is sent elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from evalpipe.errors import SpecError
from evalpipe.spec.load import from_text, load, to_text
from evalpipe.spec.schema import spec_sha256

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d.csv"}}, "models": {"p": {"probability": "p"}}, "metrics": ["brier"],
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(**keys: Any) -> Path:
    Path("s.yaml").write_text(yaml.safe_dump(SPEC | keys, sort_keys=False))
    return Path("s.yaml")


def faults(**keys: Any) -> list[tuple[str, str | None]]:
    with pytest.raises(SpecError) as caught:
        load(write(**keys))
    return [(problem.message, problem.hint) for problem in caught.value.problems]


@pytest.mark.parametrize(("name", "content", "message", "hint"), [
    ("gone.md", None, "there is no file 'gone.md'", "the path is relative to the file that names it"),
    ("use.mb", None, "there is no file 'use.mb'", "did you mean 'use.md'?"),
    ("use.md/x.md", None, "there is no file 'use.md/x.md'", "the path is relative to the file that names it"),
    ("sub", None, "'sub' is a folder, not a file", "name a text file"),
    ("a.csv", b"x", "'a.csv' is no text for a card: its name ends in none of '.md', '.markdown', '.rst' and '.txt'",
     "if it is one, rename it"),
    ("a.md", b"x" * 100_001, "'a.md' is larger than 100,000 bytes", "shorten it, and say where the rest is"),
    ("a.md", b"x\ny\xff", "the file is not UTF-8 text: byte 0xff in line 2", "save it as UTF-8"),
    ("way.md", b"", "'way.md' is no text for a card: its name ends in none of '.md', '.markdown', '.rst' and '.txt'",
     "if it is one, rename it"),
])
def test_a_text_is_read_from_a_file_or_it_is_told_why_not(
    name: str, content: bytes | None, message: str, hint: str
) -> None:
    Path("use.md").write_text("It sorts letters.")
    Path("sub").mkdir()
    if name == "way.md":
        Path("secret").touch()
        Path("way.md").symlink_to("secret")
    elif content is not None:
        Path(name).write_bytes(content)
    assert faults(card={"intended_use": {"file": name}}) == [(message, hint)]


@pytest.mark.parametrize("name", ["use.md", "USE.TXT", "use.rst", "sub/use.markdown"])
def test_a_text_of_a_file_is_kept_with_its_hash(name: str) -> None:
    Path("sub").mkdir()
    Path(name).write_bytes(b"\xef\xbb\xbf" + b"x" * 20_000)
    (prose,) = load(write(card={"intended_use": {"file": name}})).texts.values()
    assert (prose.text, prose.path) == ("x" * 20_000, name)
    assert prose.sha256 is not None


@pytest.mark.parametrize(("former", "message", "hint"), [
    ({"p": "p"}, "the model 'p' was not called 'p' before: that is its name",
     "name what it was called, or remove this"),
    ({"p": "q"}, "'q' is still the name of a model, so 'p' cannot take over what is known of it",
     "rename or remove the model 'q', or remove this"),
    ({"p": "r", "q": "r"}, "two models cannot both have been called 'r' before", "remove one of them"),
    ({"p": "r", "q": "s"}, None, None),
])
def test_a_former_name_is_of_one_model_and_in_use_by_none(
    former: dict[str, str], message: str | None, hint: str | None
) -> None:
    models = {name: {"probability": name} | ({"was": former[name]} if name in former else {}) for name in "pq"}
    if message is None:
        assert {name: model.was for name, model in load(write(models=models)).models.items()} == former
    else:
        assert faults(models=models) == [(message, hint)]


def test_a_file_that_is_no_spec_is_not_extended() -> None:
    Path("keys.yaml").write_text("hunter2\nadmin: hush\n")
    assert faults(extends="keys.yaml") == [(
        "keys.yaml is no file of a spec: no line of it begins with a key of one",
        "name a YAML file with keys such as 'models' or 'card'")]
    Path("base.yaml").write_text("seed: 7\n")
    spec = load(write(extends="base.yaml"))
    assert (spec.seed, [file.path for file in spec.origin.files]) == (7, [Path("s.yaml"), Path("base.yaml")])


def test_a_spec_that_is_sent_elsewhere_is_the_same_but_for_its_ledger() -> None:
    Path("sub").mkdir()
    Path("sub/base.yaml").write_text("seed: 7\nledger: nights.sqlite\n")
    spec = load(write(extends="sub/base.yaml"), ["seed=8"])
    again = from_text(to_text(spec))
    assert (spec_sha256(again), again.seed) == (spec_sha256(spec), 8)
    assert "ledger" not in again.model_fields_set
    for loc in ((), ("seed",), ("models", "p"), ("datasets", "d", "path")):
        assert again.origin.place(*loc) == spec.origin.place(*loc)
        assert again.origin.place(*loc, key=True) == spec.origin.place(*loc, key=True)
        assert again.origin.folder_of(*loc).resolve() == spec.origin.folder_of(*loc).resolve()
    assert again.origin.newest == spec.origin.newest
    plain = from_text(to_text(load(SPEC)))
    assert plain.origin.folder == Path.cwd()
