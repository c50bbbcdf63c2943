"""Addresses of estimates that a person can type, such as ``roc_auc@naive_bayes``: how they are written and read.

A whole address is ``dataset/model/variant/slice/metric``, with options, average and class behind it where the results
have several. A short one is any of these parts, in any order, with ``/`` or ``@`` between them. Where that tells
estimates apart, what it leaves out is the original predictions, all rows, and no single class. A part with one of these
signs stands in double quotes, which are doubled within.
"""

from __future__ import annotations

import json
import re
from itertools import permutations
from typing import TYPE_CHECKING

from evalpipe.card.wording import names_of, scalar
from evalpipe.errors import UsageError
from evalpipe.words.spelling import closest, listed, printable, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalpipe.results import Estimate, Results, Scalar

OVERALL = "overall"
"""What stands for all rows in the place of a slice."""

PLACES = 5
"""The parts of a whole address that every estimate has."""

MOST_LISTED = 12
"""How many estimates the message lists that an address does not tell apart."""

LISTS_ALL = "`evalpipe show DIR` lists them all"

_PART = re.compile(r'(?:"(?:[^"]|"")*"|[^/@"])+')
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


class Addresses:
    """Finds estimates of results by their addresses; those that only findings use come last."""

    def __init__(self, results: Results) -> None:
        """Gather the estimates of results, and the metrics that need their options in an address."""
        self.estimates = (*results.rows, *results.diagnostics)
        self._requested = len(results.rows)
        self._names = names_of(results)
        options_by_metric: dict[str, set[str]] = {}
        for estimate in self.estimates:
            options_by_metric.setdefault(estimate.metric, set()).add(json.dumps(estimate.params))
        self._with_several_options = {metric for metric, params in options_by_metric.items() if len(params) > 1}

    def is_requested(self, estimate: Estimate) -> bool:
        """Tell whether the spec requests an estimate; the others are made for findings."""
        return any(estimate is other for other in self.estimates[: self._requested])

    def of(self, estimate: Estimate) -> str:
        """Return the whole address of an estimate, such as ``test/glm/original/overall/roc_auc``."""
        parts = [estimate.dataset, estimate.model, estimate.variant, _slice_text(estimate), estimate.metric]
        if estimate.metric in self._with_several_options:
            parts += [f"{name}={_yaml_value(value)}" for name, value in estimate.params.items()]
        if estimate.class_ is not None:
            parts.append(f"class={estimate.class_}")
        elif estimate.average is not None:
            parts.append(f"average={estimate.average}")
        return "/".join('"{}"'.format(part.replace('"', '""')) if re.search('[/@"]', part) else part for part in parts)

    def find(self, address: str) -> Estimate:
        """Return the estimate at an address, whole or short; raises UsageError where there is none, or several."""
        parts = _address_parts(address)
        matching = self._by_whole_address(parts)
        whole = [estimate for estimate in matching if self.of(estimate) == address]
        matching = whole or matching or self._prefer_usual(self._estimates_with_parts(parts))
        if len(matching) > 1:
            listing = [printable(self.of(estimate)) for estimate in matching[:MOST_LISTED]]
            more = [f"and {len(matching) - MOST_LISTED:,} more"] if len(matching) > MOST_LISTED else []
            raise UsageError.of("ambiguous-estimate",
                                f"{quoted(address)} is the address of {len(matching):,} estimates",
                                hint="name the parts that tell them apart", notes=(*listing, *more))
        return matching[0]

    def _by_whole_address(self, parts: Sequence[str]) -> list[Estimate]:
        """Return the estimates whose whole address has these parts in this order; none for a short address."""
        if len(parts) < PLACES:
            return []
        dataset, model, variant, slice_, metric, *others = parts
        required = set(map(_without_spaces, others))
        return [e for e in self.estimates
                if (e.dataset, e.model, e.variant) == (dataset, model, variant) and metric in _metric_names(e)
                and _without_spaces(slice_) in map(_without_spaces, self._slices(e))
                and required <= set(map(_without_spaces, self._options_and_class(e)))]

    def _estimates_with_parts(self, parts: Sequence[str]) -> list[Estimate]:
        """Return the estimates whose names include all parts, in any order; raises UsageError where there are none."""
        names = [{_without_spaces(name) for name in self._all_names(estimate)} for estimate in self.estimates]
        all_names = set().union(*names)
        for part in parts:
            if _without_spaces(part) not in all_names:
                guess = closest(part, dict.fromkeys(name for e in self.estimates for name in self._all_names(e)))
                raise UsageError.of("unknown-estimate", f"{quoted(part)} is in the address of no estimate",
                                    hint=f"did you mean '{guess}'?" if guess else LISTS_ALL)
        required = set(map(_without_spaces, parts))
        matching = [estimate for estimate, names_of_estimate in zip(self.estimates, names, strict=True)
                    if required <= names_of_estimate]
        if not matching:
            raise UsageError.of(
                "unknown-estimate", f"no estimate has {listed(parts, 'and')} in its address", hint=LISTS_ALL)
        return matching

    def _prefer_usual(self, estimates: list[Estimate]) -> list[Estimate]:
        """Narrow estimates to original predictions, all rows, no class, requested ones, at the prevalence of the rows.

        Each only where some remain.
        """
        usual: tuple[Callable[[Estimate], bool], ...] = (
            lambda e: e.variant == "original", lambda e: e.slice is None, lambda e: e.class_ is None, self.is_requested,
            lambda e: "prevalence" not in e.params or self.is_requested(e))
        for is_usual in usual:
            estimates = [estimate for estimate in estimates if is_usual(estimate)] or estimates
        return estimates

    def _all_names(self, e: Estimate) -> Iterator[str]:
        """Yield every part that an address of an estimate may have."""
        keyed = {"dataset": e.dataset, "model": e.model, "variant": e.variant, "metric": e.metric}
        yield from keyed.values()
        yield from (f"{key}={name}" for key, name in keyed.items())
        yield from (f"{e.model}+{e.variant}", self._names.labels.get(e.model, e.model), *_metric_names(e))
        yield from self._slices(e)
        yield from self._options_and_class(e)

    def _slices(self, estimate: Estimate) -> Iterator[str]:
        yield _slice_text(estimate)
        if estimate.slice is not None:
            yield self._names.slice(estimate.slice)
            yield from (",".join(f"{name}={value}" for name, value in labels)
                        for labels in permutations(estimate.slice.items()))

    def _options_and_class(self, estimate: Estimate) -> Iterator[str]:
        """Yield the parts of addresses for an estimate's options, average and class, in every notation."""
        for name, value in estimate.params.items():
            yield from (f"{name}={text}" for text in {_yaml_value(value), str(value), scalar(value)})
        for key, text in (("average", estimate.average), ("class", estimate.class_)):
            if text is not None:
                yield from (text, f"{key}={text}")


def _metric_names(estimate: Estimate) -> tuple[str, ...]:
    from evalpipe.metrics import registry

    return estimate.metric, *(registry[estimate.metric].aliases if estimate.metric in registry else ())


def _address_parts(address: str) -> list[str]:
    """Split an address into its parts, without quotes; raises UsageError where it is empty or badly quoted."""
    parts, rest = _PART.findall(address), _PART.sub("", address)
    if not parts or '"' in rest:
        message = f"a quote in {quoted(address)} is not closed" if rest.strip("/@") else "the address is empty"
        raise UsageError.of("bad-address", message, hint="write it as in roc_auc@naive_bayes; " + LISTS_ALL)
    return [_QUOTED.sub(lambda match: match[1].replace('""', '"'), part).strip() for part in parts]


def _slice_text(estimate: Estimate) -> str:
    """Return the slice of an estimate as in an address: "season=a,habitat=d", or "overall" for all rows."""
    return OVERALL if estimate.slice is None else ",".join(f"{name}={value}" for name, value in estimate.slice.items())


def _yaml_value(value: Scalar) -> str:
    """Return an option's value as a spec writes it: a text unchanged, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _without_spaces(part: str) -> str:
    return re.sub(r"\s*([=,])\s*", r"\1", part)
