from __future__ import annotations

import hashlib
import math
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import example, given
from hypothesis import strategies as st

from evalpipe.spec.tree import MAX_BYTES, SpecText, flatten, read_text
from evalpipe.spec.yaml import MAX_ALIASED, parse, resolve


def read(text: str, **environment: str) -> Any:
    document = parse(SpecText("t.yaml", text), environment)
    assert document.problems == ()
    assert document.root is not None
    return flatten(document.root, None, {}).data


def problems(text: str, **environment: str) -> str:
    return "\n\n".join(map(str, parse(SpecText("t.yaml", text), environment).problems))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("tRue", "tRue"),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("Off", "Off"),
        ("~", None),
        ("null", None),
        ("", None),
        ("nil", "nil"),
        ("012", 12),
        ("-7", -7),
        ("+7", 7),
        ("0o17", 15),
        ("0xfF", 255),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1e-3", 0.001),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5E2", -50.0),
        (".", "."),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("+.Inf", math.inf),
        ("inf", "inf"),
        ("12:30", "12:30"),
        ("2024-01-31", "2024-01-31"),
        ("1,5", "1,5"),
        ("٣", "٣"),
        ("1 ", "1 "),
    ],
)
def test_plain_scalars_follow_the_core_schema(text: str, value: object) -> None:
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


def test_nan_is_a_float() -> None:
    assert isinstance(found := resolve(".NaN"), float)
    assert math.isnan(found)


def test_quoted_scalars_are_texts() -> None:
    assert read("""[ "1", 'true', "null", "~" , '0x1' ]""") == ["1", "true", "null", "~", "0x1"]
    assert read("a: |\n  1\n") == {"a": "1\n"}
    assert read("a: ! 12\nb: !!str 12\nc: !!float 12\nd: !!null ''") == {"a": "12", "b": "12", "c": 12.0, "d": None}


def test_keys_are_texts() -> None:
    assert read("1: a\ntrue: b\n~: c\n1.50: d\nno: e") == {"1": "a", "true": "b", "~": "c", "1.50": "d", "no": "e"}


def test_a_key_is_the_same_quoted_or_not() -> None:
    assert problems("1: a\n'1': b") == (
        "error[duplicate-key]: the key '1' is here and in line 1\n --> t.yaml:2:1\n  |\n2 | '1': b\n  | ^^^ keep one "
        "of them"
    )


def test_a_quoted_merge_key_is_a_text() -> None:
    assert read("'<<': 1") == {"<<": 1}


def test_places_are_those_of_the_characters() -> None:
    root = parse(SpecText("t.yaml", "a:\n  - b\n  - {c: 'd e', f: 1}  # end\ng: two\n  lines\nh:\n"), {}).root
    assert root is not None
    origin = flatten(root, None, {}).origin
    where = {loc: (place.line, place.column, place.length) for loc, place in origin.values.items() if loc}
    assert where == {
        ("a",): (1, 1, 1),
        ("a", 0): (2, 5, 1),
        ("a", 1): (3, 5, 16),
        ("a", 1, "c"): (3, 9, 5),
        ("a", 1, "f"): (3, 19, 1),
        ("g",): (4, 4, 3),
        ("h",): (6, 3, 1),
    }
    keys = {loc: (place.line, place.column, place.length) for loc, place in origin.keys.items()}
    assert keys[("a", 1, "f")] == (3, 16, 1)
    assert origin.values[("a", 1, "c")].text == "  - {c: 'd e', f: 1}  # end"


def test_only_line_breaks_of_yaml_1_2_count() -> None:
    root = parse(SpecText("t.yaml", 'a: "x\u2028y"\r\nb: 1\rc: 2'), {}).root
    assert root is not None
    lines = {loc: place.line for loc, place in flatten(root, None, {}).origin.keys.items()}
    assert lines == {("a",): 1, ("b",): 2, ("c",): 3}


def test_a_very_long_line_is_not_shown() -> None:
    text = f"a: {'x' * 1000}\n"
    assert problems(text + "a: 1") == (
        "error[duplicate-key]: the key 'a' is here and in line 1\n --> t.yaml:2:1\n  |\n2 | a: 1\n  | ^ keep one of "
        "them"
    )
    assert problems("a: [" + "x" * 1000) == (
        "error[yaml-syntax]: this list is not closed, or a ',' is missing in it\n"
        " --> t.yaml:1:4\n  = help: end it with ']'"
    )


def test_aliases_may_add_as_many_values_as_allowed() -> None:
    items = ", ".join("*a" for _ in range(MAX_ALIASED // 10))
    assert len(read(f"a: &a [1,2,3,4,5,6,7,8,9]\nb: [{items}]")["b"]) == MAX_ALIASED // 10
    assert "error[too-many-aliases]" in problems(f"a: &a [1,2,3,4,5,6,7,8,9]\nb: [{items}, *a]")


def test_an_escape_beyond_unicode_is_a_problem() -> None:
    assert problems('a: "\\UFFFFFFFF"').startswith(
        "error[yaml-syntax]: this escape is not a character\n --> t.yaml:1:"
    )


def test_a_block_that_contains_itself_is_a_problem() -> None:
    assert "contains itself" in problems("&a\n- *a")


def test_a_large_file_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    assert str(read_text(tmp_path / "big.yaml", "big.yaml")) == (
        "error[too-large]: the spec is larger than 1,000,000 bytes\n --> big.yaml\n"
        "  = help: is this the data? Give the YAML file, and name the data under 'datasets'"
    )


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Any) -> None:
    (tmp_path / "old.yaml").write_bytes("evalpipe: 1\ntitle: Über\n".encode("latin-1"))
    assert str(read_text(tmp_path / "old.yaml", "old.yaml")) == (
        "error[not-utf8]: the file is not UTF-8 text: byte 0xdc in line 2\n --> old.yaml:2\n  = help: save it as UTF-8"
    )


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Any) -> None:
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbfa: 1")
    text = read_text(tmp_path / "bom.yaml", "bom.yaml")
    assert (text.text, text.skip) == ("a: 1", 0)
    assert text.sha256 == hashlib.sha256(b"\xef\xbb\xbfa: 1").hexdigest()


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**300), 10**300),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8")),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc-_1.<", max_size=4), inner, max_size=4),
    max_leaves=12,
)


def written(value: object) -> str:
    """Write a value in flow style by the rules of YAML 1.2, independently of the code under test."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(key)}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str):
        text = value.replace("${", "$${")
        return '"' + "".join(f"\\U{ord(c):08x}" if not c.isalnum() or ord(c) > 126 else c for c in text) + '"'
    if isinstance(value, float) and math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return (
        {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else repr(value)
    )


@given(values)
@example({"": {"": []}})
@example(["${", "$${a}"])
def test_what_is_written_is_read(value: object) -> None:
    assert repr(read(written(value))) == repr(value)


@given(st.dictionaries(st.text("abcxyz", min_size=1), st.text(st.characters(codec="utf-8", exclude_characters="$"))))
def test_texts_written_by_pyyaml_are_read(value: dict[str, str]) -> None:
    quoted = pyyaml.safe_dump(value, default_style='"', allow_unicode=True)
    if value:
        assert read(quoted) == value


@given(st.text(st.characters()) | st.text(st.sampled_from(list("ab:-[]{}\"'\n \t&*!|>%@`#,?<~0.$\\U\ud800"))))
@example("%YAML 9.9\n---\na: 1")
@example("? [a]\n: b")
@example("- - - - - -")
@example('"\\xZZ"')
@example("!<tag:yaml.org,2002:int> {a: b}")
@example("a: !!float '${env:X:-1e999}'")
def test_no_text_raises(text: str) -> None:
    document = parse(SpecText("t.yaml", text), {})
    for problem in document.problems:
        assert problem.place is not None
        assert str(problem)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("a: >x", "'|' and '>' begin a block of text on the lines below", "put the whole value in quotes"),
        ("a: , b", "a value is missing before this character", "put a text in quotes"),
        ("a: !<x", "'!' begins a tag here", "put the whole value in quotes"),
        (
            "a: 1\n%x: 2",
            "a value that begins with '*', '&' or '%' has a meaning of its own",
            "put the whole value in quotes",
        ),
        ("a: &x 1\nb: &x 2", "this anchor is defined already", "give each anchor its own name"),
        (
            "a\nb: 1",
            "this ':' begins a value where none can stand",
            "put a text that holds ': ' in quotes; else check the indentation",
        ),
        ("a: - b", "this '-' begins a list where none can stand", "begin the list on a new line"),
        ("%YAML 2.0\n---\na: 1", "this version of YAML is not known", "remove the line"),
        ("%YAML x\n---\na: 1", "'%' begins a directive here", "put a text that begins with '%' in quotes"),
        ("[a]\nb", "this is outside the mapping above it", "write every line as 'key: value'"),
    ],
)
def test_what_is_not_yaml_is_explained(text: str, message: str, hint: str) -> None:
    found = problems(text)
    assert found.startswith(f"error[yaml-syntax]: {message}\n")
    assert found.endswith(f"^ {hint}")
