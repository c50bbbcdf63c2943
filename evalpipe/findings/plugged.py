"""Claims of rules that plugins have, said in their name."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evalpipe.base.plugins import failing, load, plugins_of, refuse
from evalpipe.findings.claims import Claim
from evalpipe.results.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.plugins import Plugin
    from evalpipe.findings.claims import Say
    from evalpipe.results import Results


def claims_of_plugins(results: Results) -> dict[str, list[Claim]]:
    """Return the claims of each plugin that has a rule, a family for each; raises UsageError where one fails."""
    return {f"plugin {plugin.name}": _claims(plugin, results) for plugin in plugins_of(results.appearance.plugins)
            if "findings" in plugin.gives}


def _claims(plugin: Plugin, results: Results) -> list[Claim]:
    rule = load(plugin, "findings")
    with failing(plugin, "in its findings"):
        claims = list(rule(results.model_copy(deep=True)))
    for claim in claims:
        if not isinstance(claim, Claim):
            raise refuse(plugin, f"claims {type(claim).__name__} in place of Claim")
    sayings: dict[Say, Say] = {}  # the same one for the same words, so that rows are said together

    def own(say: Say | None) -> Say | None:
        return None if say is None else sayings.setdefault(say, partial(_said, plugin, say))

    return [replace(claim, say=own(claim.say), otherwise=own(claim.otherwise)) for claim in claims]


def _said(plugin: Plugin, say: Say, results: Results, rows: Sequence[Any]) -> list[Finding]:
    """Return what is said of rows, marked as said by the plugin."""
    with failing(plugin, "in its findings"):
        findings = list(say(results.model_copy(deep=True), rows))
    for finding in findings:
        if not isinstance(finding, Finding):
            raise refuse(plugin, f"says {type(finding).__name__} in place of Finding")
    return [finding.model_copy(update={"plugin": plugin.name}) for finding in findings]
