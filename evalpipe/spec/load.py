"""Step 1: read a spec and the files it extends, every fault at once with its place; send it to another process.

The URIs of databases that it names stay references: those of queries, and that of the ledger.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evalpipe.base.databases import HIDDEN, READING, SCHEMES, DatabaseUri, line_and_column, query_text, secrets_in
from evalpipe.base.origin import Origin, SpecFile
from evalpipe.errors import Place, Problem, SpecError, UsageError
from evalpipe.spec.datasets import QueryDataset
from evalpipe.spec.draft import Draft
from evalpipe.spec.messages import explain
from evalpipe.spec.overrides import FILE, apply_day, apply_overrides, dated_path
from evalpipe.spec.rules import rule_problems
from evalpipe.spec.schema import model_schema
from evalpipe.spec.spec import MAY_BE_EMPTY, Spec
from evalpipe.spec.tree import (
    STDIN,
    UNREADABLE,
    Dated,
    Node,
    flatten,
    from_plain,
    kind_in_words,
    merge,
    read_text,
    without_key,
    without_references,
)
from evalpipe.words.spelling import joined, quoted

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from evalpipe.base.origin import Loc


COMMON_KEYS = frozenset({"cluster", "id", "name", "task", "title", "weight"})
"""Keys of a spec that files of other programs have too."""


@dataclass(slots=True)
class Layers:
    """Reads files and those they extend; gathers problems, folders and who included whom.

    ``folders`` holds the folder of each file under the name shown for it, in reading order; ``notes`` how each extended
    file was reached; ``files`` what was read; ``complete`` whether every file could be read.
    """

    environment: Mapping[str, str]
    folders: dict[str, Path] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    files: list[SpecFile] = field(default_factory=list)
    complete: bool = True

    def file(
        self, path: Path, shown: str, named_at: Place | None = None,
        including: Mapping[str, str] = MappingProxyType({}), links: tuple[str, ...] = (),
    ) -> Node | None:
        """Read a file and everything it extends; None where it cannot be read.

        ``named_at`` is the place that names the file; ``including`` the files that led to it, by their real paths the
        names shown, and ``links`` the lines in these, such as "base.yaml:3".
        """
        from evalpipe.spec.yaml import parse

        text = read_text(path, shown, named_at)
        if isinstance(text, Problem):
            return self._refuse(text)
        if links and not _looks_like_spec(text.text):
            # Nothing of it is shown: it may be a key or a list of passwords that was named by mistake.
            message = f"{shown} is no file of a spec: no line of it begins with a key of one"
            hint = "name a YAML file with keys such as 'models' or 'card'"
            return self._refuse(Problem("not-a-spec", message, named_at, hint))
        self.folders[shown] = path.parent
        if text.sha256 is not None:
            self.files.append(SpecFile(None if shown == STDIN else path, text.sha256))
        if links:
            self.notes[shown] = "included from: " + " -> ".join((*links, shown))
        document = parse(text, self.environment)
        self.problems.extend(document.problems)
        node = document.root
        if node is None and not document.problems:
            hint = "write the keys of a spec; `evalpipe init` writes one, docs/spec.md has them all"
            return self._refuse(Problem("empty-file", "the file holds no YAML", Place(text.file), hint))
        if node is None or node.content is UNREADABLE:
            self.complete = False
            return None
        if not isinstance(node.content, dict):
            message = f"expected a mapping of keys to values, got {kind_in_words(node.content)}"
            hint = "write 'key: value', with a space after the ':'"
            return self._refuse(Problem("wrong-type", message, node.place, hint))
        return self.with_base(node, path.parent, {**including, _real_path(path): shown}, links)

    def _refuse(self, problem: Problem) -> Node | None:
        """Add a problem because of which a file cannot be read; return None in place of its node."""
        self.problems.append(problem)
        self.complete = False
        return None

    def with_base(
        self, node: Node, folder: Path, including: Mapping[str, str] = MappingProxyType({}),
        links: tuple[str, ...] = (),
    ) -> Node:
        """Lay a mapping over the file that its key ``extends`` names, which is relative to ``folder``."""
        if "extends" not in node.content:
            return node
        rest = without_key(node, ("extends",))
        base = self._base(node.content["extends"], folder, including, links)
        return rest if base is None else merge(base, rest)

    def _base(
        self, extends: Node, folder: Path, including: Mapping[str, str], links: tuple[str, ...]
    ) -> Node | None:
        """Return the file that the value of ``extends`` names, with all it extends itself; None where it cannot be."""
        name, place = extends.content, extends.place
        if name is UNREADABLE:
            self.complete = False
            return None
        if isinstance(name, Dated):
            message = "'extends' cannot hold ${date}: the day is known only when all files are read"
            return self._refuse(Problem("bad-reference", message, place, "name one file, whatever the day"))
        if not isinstance(name, str) or not name:
            kind = "an empty text" if name == "" else kind_in_words(name)
            message = f"'extends' takes the path of a file, got {kind}"
            return self._refuse(Problem("wrong-type", message, place, "name one file, relative to this one"))
        # What a variable of the environment holds may be a secret, so it is not shown, not even as a path.
        names = list(including.values())
        from_file, to_file = names[-1] if names else "", "${env}" if extends.environment else name
        joined = os.path.join(os.path.dirname(from_file), to_file)  # noqa: PTH118, PTH120 - as text, not to be resolved
        plain = os.path.normpath(joined)
        shown = plain if _real_path(joined) == _real_path(plain) else joined
        real = _real_path(folder / name)
        if real in including:
            circle = names[list(including).index(real):]
            message = f"the files extend each other in a circle: {' -> '.join([*circle, circle[0]])}"
            hint = "remove one of the 'extends' keys"
            if len(circle) == 1:
                message, hint = f"{quoted(shown)} extends itself", "remove this key"
            return self._refuse(Problem("extends-cycle", message, place, hint))
        line = f"{place.file}:{place.line}" if place is not None else "the mapping"
        return self.file(folder / name, shown, place, including, (*links, line))


def _looks_like_spec(text: str) -> bool:
    """Tell whether a text has, at the beginning of a line or of a mapping, a key that few other files have there.

    A text of comments alone passes too: it has no value, so no secret, that a message could show.
    """
    keys = "|".join(sorted({"extends", *Spec.model_fields} - COMMON_KEYS))
    is_empty = not re.sub(r"(?m)^[ \t]*#.*$", "", text).strip()
    return is_empty or re.search(rf"""(?m)(?:^|^[ \t]*[{{,]\s*)["']?(?:{keys})["']?[ \t]*:""", text) is not None


def _real_path(path: str | Path) -> str:
    """Return the path with links resolved; unchanged where it is no valid path."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)


Source = str | os.PathLike[str] | Mapping[str, object] | Spec


def load(
    source: Source, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None,
    origin: Origin | None = None, as_of: str | dt.date | None = None,
    more_checks: Callable[[Draft], Iterable[Problem]] | None = None,
) -> Spec:
    """Return the checked spec of a YAML file, a mapping or a spec, with ``overrides`` such as ``"seed=2"`` applied.

    The path ``-`` is the standard input, whose ``extends`` and paths start from the working folder.
    References in files are replaced: from ``environment``, that of the process where None, and by the day, which is
    ``as_of`` where given. A mapping is taken as it is; its ``extends`` and paths start from the working folder, or from
    where ``origin`` says. Raises SpecError with every problem, in the order of the files and their lines, those that
    ``more_checks`` yields of a spec with problems among them.
    """
    layers = Layers(os.environ if environment is None else environment)
    root, path, newest = _read_source(source, layers, origin)
    problems = layers.problems
    if root is None:
        raise SpecError(*without_passwords(_ordered(problems, layers)))
    root, refused = apply_overrides(root, overrides, layers.environment)
    root, undated = apply_day(root, as_of, source.as_of if isinstance(source, Spec) else None)
    problems += [*refused, *undated]
    earlier_origin = source.origin if isinstance(source, Spec) else origin or Origin()
    root = _without_empty(with_references(root))
    tree = flatten(root, path, {**layers.folders, **earlier_origin.folders}, FILE if overrides else newest)
    draft = Draft(tree)
    key_problems = explain(draft.error, draft.tree, model_schema()) if draft.error else ()
    reported = [*key_problems, *rule_problems(draft), *check_queries(draft, layers.environment),
                *check_ledger(draft, layers.environment)]
    if not layers.complete:  # absent keys may well be in a file that could not be read
        reported = [problem for problem in reported if problem.code != "missing-key"]
    problems += [problem for problem in reported if problem.severity == "error"]
    if problems:
        problems += more_checks(draft) if more_checks is not None else ()
        raise SpecError(*without_passwords(_ordered(problems, layers), draft))
    warnings = list(without_passwords((problem for problem in reported if problem.severity != "error"), draft))
    spec = draft.spec
    written = replace(tree.origin, files=(*earlier_origin.files, *layers.files),
                      overrides=(*earlier_origin.overrides, *overrides))
    # Private attributes of pydantic, which are no keys of a spec.
    spec._origin, spec._warnings = written, tuple(_ordered(warnings, layers))  # noqa: SLF001
    spec._texts, spec._templates = MappingProxyType(draft.texts), draft.templates  # noqa: SLF001
    spec._plugins, spec._uris, spec._ledger_uri = draft.plugins, MappingProxyType(draft.uris), draft.ledger  # noqa: SLF001
    return spec


def _read_source(
    source: Source, layers: Layers, origin: Origin | None
) -> tuple[Node | None, Path | None, str | None]:
    """Return the nodes of a source, with all that it extends, its path and the name shown for it."""
    if isinstance(source, Spec):
        plain = from_plain(source.model_dump(exclude_unset=True), source.origin)
        return plain, source.origin.path, source.origin.newest
    if isinstance(source, Mapping):
        origin = origin or Origin()
        return layers.with_base(from_plain(source, origin), origin.folder), origin.path, origin.newest
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if isinstance(path, str):
            shown = STDIN if path == "-" else path
            return layers.file(Path(path), shown), None if path == "-" else Path(path), shown
    raise UsageError.of("wrong-type", f"a spec is a path, a mapping or a Spec, not {type(source).__name__}")


def _without_empty(root: Node) -> Node:
    """Remove optional lists that are empty, for an absent list means the same.

    An empty list takes away what a base declares, so they go when all is merged.
    """
    for loc in MAY_BE_EMPTY:
        node = root.at(loc)
        if node is not None and node.content == ():
            root = without_key(root, loc)
    return root


def _ordered(problems: list[Problem], layers: Layers) -> list[Problem]:
    """Sort problems by file and line, without repetitions, and say how extended files were reached."""
    files = {name: number for number, name in enumerate(layers.folders)}

    def key(problem: Problem) -> tuple[int, int, int]:
        place = problem.place
        return (files.get(place.file, len(files)), place.line or 0, place.column or 0) if place else (-1, 0, 0)

    noted = [
        replace(p, notes=(*p.notes, layers.notes[p.place.file])) if p.place and p.place.file in layers.notes else p
        for p in problems]
    return sorted(dict.fromkeys(noted), key=key)


def to_text(spec: Spec) -> str:
    """Return a spec as JSON; its paths start where they did here, wherever it is read.

    The ledger is left out: only the process of a run records it, and its reference may have no value elsewhere.
    """
    origin = spec.origin
    folders = {name: str(folder.absolute()) for name, folder in origin.folders.items()}
    # Of a spec without a file paths start from the working folder, which is another one elsewhere.
    path = Path.cwd() / "spec" if origin.path is None else origin.path.absolute()
    return json.dumps({
        "spec": spec.model_dump(mode="json", exclude_unset=True, exclude={"ledger"}), "path": str(path),
        "newest": origin.newest, "folders": folders, "values": _places_as_lists(origin.values),
        "keys": _places_as_lists(origin.keys), "environment": sorted(origin.environment, key=str),
    }, separators=(",", ":"))


def from_text(text: str) -> Spec:
    """Return the spec of a text made by `to_text`, checked again; raises SpecError."""
    document: dict[str, Any] = json.loads(text)
    folders = {name: Path(folder) for name, folder in document["folders"].items()}
    environment = frozenset(map(tuple, document["environment"]))
    values, keys = _places_from_lists(document["values"]), _places_from_lists(document["keys"])
    origin = Origin(Path(document["path"]), values, keys, MappingProxyType(folders), environment, document["newest"])
    return load(document["spec"], origin=origin)


def _places_as_lists(places: Mapping[Loc, Place]) -> list[Any]:
    """Return places by location as a list for JSON; `_places_from_lists` is the inverse."""
    return [[loc, *astuple(place)] for loc, place in places.items()]


def _places_from_lists(lists: list[Any]) -> Mapping[Loc, Place]:
    """Return places by location from the list that `_places_as_lists` made."""
    return MappingProxyType({tuple(loc): Place(*place) for loc, *place in lists})


KEEP_IN_ENVIRONMENT = 'keep it in the environment: uri: "${env:DATABASE_URL}"'


def with_references(root: Node) -> Node:
    """Return the spec with URIs of databases as written: "${…}" is not replaced by what may be secret."""
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
    literals = {text for uri in uris if isinstance(uri, str) for text in DatabaseUri(without_references(uri)).passwords}
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
    written = DatabaseUri(without_references(dataset.uri))
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
