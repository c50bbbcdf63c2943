"""Plugins in installed packages: sections, figures and rules of findings for a card, by their entry points."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from evalpipe.errors import EvalpipeError, Problem, UsageError
from evalpipe.words.spelling import closest, joined, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Kind = Literal["sections", "figures", "findings"]
"""The kinds of additions; the group of an entry point is `evalpipe.` and the kind."""

PLAIN_NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""The form of plugins' names, which become part of addresses in the page."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin: its name, its package with the version, and the kinds of additions that it gives."""

    name: str
    package: str
    version: str
    gives: tuple[Kind, ...]

    def __str__(self) -> str:
        """Return its name and package for messages."""
        return f"the plugin {quoted(self.name)} of {self.package} {self.version}"


def installed_plugins() -> dict[str, list[Plugin]]:
    """Return the installed plugins by name (several where packages share a name), without loading them."""
    from importlib.metadata import entry_points

    kinds: dict[tuple[str, str, str], list[Kind]] = {}
    for kind in get_args(Kind):
        for entry in entry_points(group=f"evalpipe.{kind}"):
            if entry.dist is not None:
                kinds.setdefault((entry.name, entry.dist.name, entry.dist.version), []).append(kind)
    plugins: dict[str, list[Plugin]] = {}
    for (name, package, version), gives in sorted(kinds.items()):
        plugins.setdefault(name, []).append(Plugin(name, package, version, tuple(gives)))
    return plugins


def plugins_of(records: Iterable[Any]) -> list[Plugin]:
    """Return the plugins that are named in the records of results."""
    return [Plugin(record.name, record.package, record.version, tuple(record.gives)) for record in records]


def plugin_problem(name: str, known: Mapping[str, Sequence[Plugin]]) -> Problem | None:
    """Return the problem of a plugin's name in the spec; None where it is usable. ``known`` are those installed."""
    plugins = known.get(name, ())
    if not plugins:
        guess = closest(name, list(known))
        others = f"installed are {listed(list(known), 'and')}" if known else "no installed package has any"
        hint = f"did you mean '{guess}'?" if guess else f"install the package that has it; {others}"
        return Problem("unknown-plugin", f"no plugin called {quoted(name)} is installed", hint=hint)
    if len(plugins) > 1:
        packages = joined([f"{plugin.package} {plugin.version}" for plugin in plugins], "and")
        return Problem("ambiguous-plugin", f"{packages} each have a plugin called {quoted(name)}",
                       hint="uninstall all but the one that is meant")
    if not PLAIN_NAME.fullmatch(name):
        return Problem("bad-name", f"{plugins[0]} cannot be used under this name",
                       hint="its name in the package needs small letters, digits, '-' and '_'")
    try:
        for kind in plugins[0].gives:
            load_plugin_function(plugins[0], kind)
    except UsageError as error:
        return error.problems[0]
    return None


def load_plugin_function(plugin: Plugin, kind: Kind) -> Any:
    """Return a plugin's function for a kind; raises UsageError where it is not installed or cannot be loaded."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=f"evalpipe.{kind}", name=plugin.name):
        if entry.dist is not None and (entry.dist.name, entry.dist.version) == (plugin.package, plugin.version):
            with plugin_errors(plugin, "when it was loaded"):
                return entry.load()
    installed_packages = [f"{other.package} {other.version}" for other in installed_plugins().get(plugin.name, ())]
    notes = (f"installed: {joined(installed_packages, 'and')}",) if installed_packages else ()
    raise UsageError.of("unknown-plugin", f"{plugin} is not installed, and these results were made with it",
                        hint=f"install {plugin.package}=={plugin.version}", notes=notes)


@contextmanager
def plugin_errors(plugin: Plugin, when: str) -> Iterator[None]:
    """Turn any error of a plugin in the block into a UsageError with its name, package and line; ``when`` it failed."""
    try:
        yield
    except EvalpipeError:
        raise
    except (Exception, SystemExit) as error:
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        where = f"raised in {last.tb_frame.f_globals.get('__name__', '?')}, line {last.tb_lineno}" if last else ""
        reason = f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(": ")
        raise UsageError.of("plugin-failed", f"{plugin} failed {when}: {reason}", hint=WAY_OUT,
                            notes=(where,) if where else ()) from error


def refuse(plugin: Plugin, message: str) -> UsageError:
    """Return the error of a plugin whose result evalpipe cannot use; ``message`` says how."""
    return UsageError.of("plugin-failed", f"{plugin} {message}", hint=WAY_OUT)


WAY_OUT = "remove it from report.plugins, or tell those who wrote it"
