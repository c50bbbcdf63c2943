"""URIs of databases: what is valid, what is a path, what may be shown of them; and the first statement of a query."""

from __future__ import annotations

import pytest

from evalpipe.base.databases import (
    WAY,
    DatabaseUri,
    QueryText,
    holds_secret,
    line_and_column,
    query_sha256,
    query_text,
    secrets_in,
)

MIXED = ("the user, the password and the host of this URI cannot be told apart", WAY)
CONTROL = ("this URI holds a line break or another control character", "remove it")
NO_FILE = ("a URI of SQLite names a file after three slashes", "write it as in sqlite:///scores.db")
ENDINGS = "write postgresql://user@host/database, or a path that ends in .sqlite, .sqlite3, .db or .db3"
NEITHER = ("this is neither a URI of a database nor the path of a file of SQLite", ENDINGS)


@pytest.mark.parametrize(("text", "shown", "passwords"), [
    ("postgresql://user:pass%2Fword@host:5432/data?sslmode=require", "postgresql:data", {"pass%2Fword", "pass/word"}),
    ("postgres://host", "postgres", set()),
    ("postgresql://u@a:1,b:2/x?password=hush&sslkey=/k", "postgresql:x", {"hush", "/k"}),
    ("sqlite:///data/scores%20a.db", "sqlite:data/scores a.db", set()),
    ("sqlite:////srv/scores.db", "sqlite:/srv/scores.db", set()),
    ("host=h user=u password=hush dbname=d", "", {"hush"}),
    ("user:hush@account/db", "", {"hush"}),
    ("snowflake://u:p@account/db/schema", "snowflake:db/schema", {"p"}),
    ("postgresql:///data?host=/run/postgresql", "postgresql:data", set()),
    ("host=h password='a b' dbname=d", "", {"a b"}),
    ("Server=h;UID=u;PWD={a;b};", "", {"a;b"}),
    ("mssql+pyodbc:///?odbc_connect=UID%3Du%3BPWD%3Dhush", "mssql+pyodbc", {"hush"}),
    ("postgresql://u:a@b/c@h/d", "postgresql:c@h/d", {"a@b/c", "a"}),
    ("postgresql://u:hush/d", "postgresql:d", {"hush"}),
])
def test_what_is_shown_of_a_uri(text: str, shown: str, passwords: set[str]) -> None:
    uri = DatabaseUri(text)
    assert uri.shown == shown
    assert passwords <= set(uri.passwords)
    assert bool(passwords) == bool(uri.passwords)
    assert not any(secret in uri.redacted(f"cannot read {text}: '{secret}'").removeprefix("cannot read ")
                   for secret in (*passwords, text))


@pytest.mark.parametrize(("text", "fault"), [
    ("postgresql://u:p@h:5432/d", None), ("POSTGRES://u@h/d", None), ("postgresql://[::1]:5432/d", None),
    ("postgresql://a:1,b:2/d?x=1@2", None), ("postgresql:///d?password=x", None), ("sqlite:///a@b:c/d.db", None),
    ("sqlite:///", NO_FILE), ("sqlite:///:memory:", NO_FILE), ("sqlite+x:///:memory:", NO_FILE),
    ("sqlite://a.db", NO_FILE),
    ("postgresql://u:p@q@h/d", MIXED), ("postgresql://u:p/q@h/d", MIXED), ("postgresql://h:x/d", MIXED),
    ("postgresql://u@h/d\n", CONTROL),
])
def test_an_address_that_drivers_would_misread_is_a_fault(text: str, fault: tuple[str, str] | None) -> None:
    assert DatabaseUri(text).fault == DatabaseUri(text).no_ledger == fault
    assert not DatabaseUri(text).is_path


@pytest.mark.parametrize(("text", "fault"), [
    ("a.db", None), ("A.SQLITE", None), ("dir/a.db3", None), ("b.sqlite3", None), ("a.txt", NEITHER),
    ("", ("this is empty", ENDINGS)),
    ("host=h a.db", NEITHER), ("pg:a.db", NEITHER), ("a\nb.db", NEITHER), ("u:p@h/a.db", NEITHER),
])
def test_without_a_scheme_a_ledger_is_the_path_of_a_file(text: str, fault: tuple[str, str] | None) -> None:
    assert DatabaseUri(text).no_ledger == fault
    assert DatabaseUri(text).is_path == (fault is None)


@pytest.mark.parametrize(("text", "address", "without_password", "private"), [
    ("POSTGRES://u@h/d", "postgres://u@h/d", "postgres://u@h/d", ("POSTGRES://u@h/d", "u", "h")),
    ("postgresql://u:p@h:1/d?token=abc", "postgresql://u:p@h:1/d?token=abc", "postgresql://u:***@h:1/d",
     ("postgresql://u:p@h:1/d?token=abc", "u", "h")),
    ("postgresql://a%20b@h,i:2/d", "postgresql://a%20b@h,i:2/d", "postgresql://a%20b@h,i:2/d",
     ("postgresql://a%20b@h,i:2/d", "a%20b", "h", "i", "a b")),
    ("sqlite:///a.db", "sqlite:///a.db", "sqlite:///a.db", ("sqlite:///a.db",)),
    ("x://[/", "x://[/", "x://[/", ("x://[/",)),
])
def test_a_uri_is_split_into_what_drivers_need_and_what_is_private(
    text: str, address: str, without_password: str, private: tuple[str, ...]
) -> None:
    uri = DatabaseUri(text)
    assert (uri.address, uri.without_password, uri.private) == (address, without_password, private)


@pytest.mark.parametrize(("text", "passwords"), [
    ("postgresql://u:p@h:5432/d", ("p",)), ("postgresql://h:x/d", ("x",)), ("postgresql://[::1]:5432/d", ()),
    ("postgresql://u:p@q@h/d", ("p@q", "p%40q", "p", "q")), ("postgresql://u:p/q@h/d", ("p/q", "p", "q")),
    ("postgresql://u:a%20b@h/d", ("a%20b", "a b", "a%2520b")), ("postgresql://u@h/d?user=x&api_key=y", ("y",)),
])
def test_all_that_may_be_a_password_is_hidden(text: str, passwords: tuple[str, ...]) -> None:
    uri = DatabaseUri(text)
    assert uri.passwords == passwords
    assert uri.hidden(f"no {text}, nor {' '.join(passwords)}") == f"no …, nor {' '.join('…' for _ in passwords)}"


def test_users_and_hosts_are_hidden_in_quotes_alone() -> None:
    uri = DatabaseUri("postgresql://keeper:hush@vault/d")
    assert uri.redacted("""keeper of 'vault' ("keeper", 'hush') at vault""") == """keeper of '…' ("…", '…') at vault"""


@pytest.mark.parametrize(("text", "secrets"), [
    ("password=hush", ("hush",)), ("pwd: hush", ()), ('"password": "hush"', ('"hush"', "hush")),
    ("api_key=xyz", ("xyz",)),
    ("http://u:p@h", ("p",)), ("u:p@h/d", ("p",)), ("PWD={a;b}", ("{a;b}", "a;b")), ("key=3", ()),
    ("http://h:80/a@b", ()),
    ("", ()),
])
def test_secrets_are_found_by_the_words_around_them(text: str, secrets: tuple[str, ...]) -> None:
    assert secrets_in(text) == secrets
    assert holds_secret(text) == bool(secrets)
    assert holds_secret(f"{text}-----BEGIN RSA PRIVATE KEY-----")


@pytest.mark.parametrize(("text", "body", "first", "another"), [
    ("", "", "", None), ("select 1", "select 1", "SELECT", None), ("select 1;", "select 1", "SELECT", None),
    ("select 1;; ", "select 1", "SELECT", None), ("select 1; -- c\n", "select 1", "SELECT", None),
    ("select 1; select 2", "select 1", "SELECT", 10), ("; select 1", "", "", 2),
    ("((select 1))", "((select 1))", "SELECT", None),
    ("-- c\nSELECT ';' ; x", "-- c\nSELECT ';' ", "SELECT", 18), ("/* ; */ with a", "/* ; */ with a", "WITH", None),
    ("values $$;$$;z", "values $$;$$", "VALUES", 13), ("select $a$;$b$;$a$;", "select $a$;$b$;$a$", "SELECT", None),
    ('"a;b" x', '"a;b" x', '"A;B"', None), ("+1", "+1", "+", None),
])
def test_a_query_ends_with_its_first_statement(text: str, body: str, first: str, another: int | None) -> None:
    assert query_text(text) == QueryText(body, first, another)


def test_a_place_in_a_query_has_a_line_and_a_column_from_one() -> None:
    assert [line_and_column("ab\ncd", place) for place in range(6)] == [
        (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]


def test_the_hash_of_a_query_is_that_of_its_text_and_its_parameters_in_json() -> None:
    """The sha256 of `["é",[1,true]]` in UTF-8, by `sha256sum`."""
    assert query_sha256("é", (1, True)) == "75860811a243e53f33e08a0f4e7e256ce41dd5e7bd067a4850a722c44ca79c9c"
    assert query_sha256("é", (1, False)) != query_sha256("é", (1, True))
