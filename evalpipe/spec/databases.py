"""The databases that a spec names, whose URIs stay references: those of queries, and that of the ledger."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.base.databases import HIDDEN, READING, SCHEMES, DatabaseUri, line_and_column, query_text, secrets_in
from evalpipe.errors import UsageError
from evalpipe.spec.datasets import QueryDataset
from evalpipe.spec.overrides import dated_path
from evalpipe.spec.tree import literal
from evalpipe.words.spelling import joined, quoted

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.tree import Node

KEEP_IN_ENVIRONMENT = 'keep it in the environment: uri: "${env:DATABASE_URL}"'


def with_references(root: Node) -> Node:
    """Return the spec with the URIs of databases as they are written, with their references: they may hold secrets."""
    root, datasets = _with_reference(root, "ledger"), root.at(("datasets",))
    if datasets is None or not isinstance(datasets.content, dict):
        return root
    named = {name: _with_reference(dataset, "uri") for name, dataset in datasets.content.items()}
    return replace(root, content={**root.content, "datasets": replace(datasets, content=named)})


def _with_reference(node: Node, key: str) -> Node:
    """Return a mapping with the URI at a key as it is written, where it holds a reference to the environment."""
    uri = node.at((key,))
    if uri is None or uri.written is None or not isinstance(uri.content, str):
        return node
    return replace(node, content={**node.content, key: replace(uri, content=uri.written)})


def check_queries(draft: Draft, environment: Mapping[str, str]) -> Iterator[Problem]:
    """Read the URIs of databases into ``draft.uris``, and yield the problems of datasets that are queries."""
    for loc, dataset in draft.entries(draft.spec.datasets, "datasets"):
        if isinstance(dataset, QueryDataset):
            yield from _read_query_uri(draft, loc, dataset, environment)
            yield from _not_one_query(draft, loc, dataset)
    yield from _rows_without_order(draft)


def check_ledger(draft: Draft, environment: Mapping[str, str]) -> Iterator[Problem]:
    """Read the URI or path of the ledger into ``draft.ledger``, and yield its problems."""
    written = draft.spec.ledger
    if not draft.readable("ledger") or isinstance(written, bool):
        return
    uri = yield from _read_uri(draft, ("ledger",), written, environment)
    fault = None if uri is None else uri.no_ledger
    if fault is not None:
        yield draft.tree.problem("bad-uri", fault[0], "ledger", hint=fault[1])
    draft.ledger = uri


def without_passwords(problems: Iterable[Problem], draft: Draft | None = None) -> Iterator[Problem]:
    """Yield problems without the passwords in the spec, also in the lines of the spec that they show."""
    uris = []
    if draft is not None:
        datasets = draft.tree.get("datasets")
        entries = datasets.values() if isinstance(datasets, dict) else ()
        uris = [draft.tree.get("ledger"), *(entry.get("uri") for entry in entries if isinstance(entry, dict))]
    literals = {text for uri in uris if isinstance(uri, str) for text in DatabaseUri(literal(uri)).passwords}
    for problem in problems:
        place, hint = problem.place, problem.hint
        if place is not None and place.text is not None:
            place = replace(place, text=_hidden(place.text, literals.union(secrets_in(place.text)), aligned=True))
        message = _hidden(problem.message, literals.union(secrets_in(problem.message)))
        yield replace(problem, place=place, message=message, hint=None if hint is None else _hidden(hint, literals))


def _hidden(text: str, passwords: set[str], *, aligned: bool = False) -> str:
    """Return a text with "…" for each password; with ``aligned`` one for each character, so that columns stay."""
    for password in sorted(passwords, key=len, reverse=True):
        text = text.replace(password, HIDDEN * (len(password) if aligned else 1))
    return text


def _read_uri(
    draft: Draft, loc: Loc, written: str, environment: Mapping[str, str]
) -> Generator[Problem, None, DatabaseUri | None]:
    """Return a URI with values from the environment; None after reporting why it cannot be read."""
    try:
        return DatabaseUri(dated_path(written, draft.spec.as_of, environment, str(loc[-1]), private=True))
    except UsageError as error:
        problem = error.problems[0]
        message = problem.message.removeprefix(f"{loc[-1]}: ")
        yield draft.tree.problem(problem.code, message, *loc, hint=problem.hint)
        return None


def _read_query_uri(
    draft: Draft, loc: Loc, dataset: QueryDataset, environment: Mapping[str, str]
) -> Iterator[Problem]:
    """Read the URI of a database; report one that cannot be read, and a password that is written out."""
    here = (*loc, "uri")
    if not draft.readable(*here):
        return
    written = DatabaseUri(literal(dataset.uri))
    if written.passwords and (dataset.driver is not None or written.fault is None):
        message = "a password is written in this URI, and a spec is printed on its card"
        yield draft.tree.problem("password-in-spec", message, *here, hint=KEEP_IN_ENVIRONMENT)
        return
    uri = yield from _read_uri(draft, here, dataset.uri, environment)
    if uri is None:
        return
    draft.uris[str(loc[-1])] = uri
    if dataset.driver is not None:
        return
    if uri.scheme not in SCHEMES:
        what = f"databases of the scheme {quoted(uri.scheme)}" if uri.scheme else "this, which is no URI of a database"
        hint = "write postgresql://… or sqlite:///…, or name an installed ADBC driver under 'driver'"
        yield draft.tree.problem("unknown-scheme", f"evalpipe has no driver for {what}", *here, hint=hint)
    elif uri.fault is not None:
        yield draft.tree.problem("bad-uri", uri.fault[0], *here, hint=uri.fault[1])


def _not_one_query(draft: Draft, loc: Loc, dataset: QueryDataset) -> Iterator[Problem]:
    """Report a text that is not one statement that reads."""
    here = (*loc, "sql")
    if not draft.readable(*here):
        return
    query = query_text(dataset.sql)
    if query.another is not None:
        line, column = line_and_column(dataset.sql, query.another)
        message = f"'sql' holds several statements: another begins in line {line}, column {column} of its text"
        yield draft.tree.problem("several-statements", message, *here, hint="keep one, which returns the rows")
    elif query.first not in READING:
        begins = f"it begins with {quoted(query.first)}" if query.first else "it is empty"
        message = f"'sql' must return rows and change nothing, but {begins}"
        hint = f"begin it with {joined(READING, 'or')}"
        yield draft.tree.problem("query-writes", message, *here, hint=hint)


def _rows_without_order(draft: Draft) -> Iterator[Problem]:
    """Report keys that need the rows of a query in an order, which they do not have."""
    queries = {str(loc[-1]): dataset for loc, dataset in draft.entries(draft.spec.datasets, "datasets")
               if isinstance(dataset, QueryDataset) and dataset.role != "reference"}
    if draft.spec.id is not None or not queries:
        return
    name, way = next(iter(queries)), "name the column that identifies a row under 'id'"
    if draft.spec.report.rows is not None:
        message = f"dataset '{name}' is a query, whose rows have no order that the row-level file could name them by"
        yield draft.tree.problem("rows-without-order", message, "report", "rows", hint=way)
    for model, declared in draft.models.items():
        if declared.predictions is not None or declared.optimism is not None:
            message = (f"the rows of the query '{name}' have no order, so predictions in files cannot be matched to "
                       "them by position")
            yield draft.tree.problem("rows-without-order", message, "models", model, key=True, hint=way)
