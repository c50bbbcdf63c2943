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
    """The estimates of some results by their addresses; those that findings alone rest on come last."""

    def __init__(self, results: Results) -> None:
        """Gather the estimates."""
        self.estimates = (*results.rows, *results.diagnostics)
        self._asked = len(results.rows)
        self._names = names_of(results)
        forms: dict[str, set[str]] = {}
        for estimate in self.estimates:
            forms.setdefault(estimate.metric, set()).add(json.dumps(estimate.params))
        self._several = {metric for metric, params in forms.items() if len(params) > 1}

    def asked(self, estimate: Estimate) -> bool:
        """Tell whether the spec asks for an estimate; if not, findings rest on it."""
        return any(estimate is other for other in self.estimates[: self._asked])

    def of(self, estimate: Estimate) -> str:
        """Return the whole address of an estimate."""
        own = estimate
        where = (own.dataset, own.model, own.variant, _slice_text(own), own.metric)
        params = own.params if own.metric in self._several else {}
        options = [f"{name}={_plain(value)}" for name, value in params.items()]
        average = [] if own.average is None or own.class_ is not None else [f"average={own.average}"]
        class_ = [] if own.class_ is None else [f"class={own.class_}"]
        return "/".join(map(_written, (*where, *options, *average, *class_)))

    def find(self, address: str) -> Estimate:
        """Return the estimate that an address is of; raises UsageError where it is of none, or of several."""
        parts = _parts(address)
        meant = self._whole(parts) or self._usual(self._with(parts))
        if len(meant) > 1:
            listing = [printable(self.of(estimate)) for estimate in meant[:MOST_LISTED]]
            more = [f"and {len(meant) - MOST_LISTED:,} more"] if len(meant) > MOST_LISTED else []
            raise UsageError.of("ambiguous-estimate", f"{quoted(address)} is the address of {len(meant):,} estimates",
                                hint="name the parts that tell them apart", notes=(*listing, *more))
        return meant[0]

    def _whole(self, parts: Sequence[str]) -> list[Estimate]:
        """Return the estimates whose whole address has these parts, each in its place; none where it is a short one."""
        if len(parts) < PLACES:
            return []
        return [own for own in self.estimates
                if [own.dataset, own.model, own.variant] == list(parts[:3]) and parts[4] in _measures(own)
                and _even(parts[3]) in set(map(_even, self._slices(own)))
                and {_even(part) for part in parts[PLACES:]} <= set(map(_even, self._further(own)))]

    def _with(self, parts: Sequence[str]) -> list[Estimate]:
        """Return the estimates that have all parts; raises UsageError where there are none."""
        named = [{_even(name) for name in self._all_names(estimate)} for estimate in self.estimates]
        every = set().union(*named)
        for part in parts:
            if _even(part) not in every:
                guess = closest(part, dict.fromkeys(name for own in self.estimates for name in self._all_names(own)))
                raise UsageError.of("unknown-estimate", f"{quoted(part)} is in the address of no estimate",
                                    hint=f"did you mean '{guess}'?" if guess else LISTS_ALL)
        wanted = set(map(_even, parts))
        both = [own for own, names in zip(self.estimates, named, strict=True) if wanted <= names]
        if not both:
            raise UsageError.of(
                "unknown-estimate", f"no estimate has {listed(parts, 'and')} in its address", hint=LISTS_ALL)
        return both

    def _usual(self, meant: list[Estimate]) -> list[Estimate]:
        """Leave, of several, those of original predictions, of all rows, of no class, and those that the spec names."""
        usual: tuple[Callable[[Estimate], bool], ...] = (
            lambda own: own.variant == "original", lambda own: own.slice is None, lambda own: own.class_ is None,
            self.asked)
        for test in usual:
            meant = [own for own in meant if test(own)] or meant
        return meant

    def _all_names(self, own: Estimate) -> Iterator[str]:
        """Yield every part that an address of an estimate may have."""
        keyed = {"dataset": own.dataset, "model": own.model, "variant": own.variant, "metric": own.metric}
        yield from keyed.values()
        yield from (f"{key}={name}" for key, name in keyed.items())
        yield from (f"{own.model}+{own.variant}", self._names.labels.get(own.model, own.model), *_measures(own))
        yield from self._slices(own)
        yield from self._further(own)

    def _slices(self, own: Estimate) -> Iterator[str]:
        """Yield what the slice of an estimate may be called."""
        yield _slice_text(own)
        if own.slice is not None:
            yield self._names.slice(own.slice)
            yield from (",".join(f"{name}={value}" for name, value in labels)
                        for labels in permutations(own.slice.items()))

    def _further(self, own: Estimate) -> Iterator[str]:
        """Yield what else an estimate may be called by: its options, its average and its class."""
        for name, value in own.params.items():
            yield from (f"{name}={text}" for text in {_plain(value), str(value), scalar(value)})
        for key, text in (("average", own.average), ("class", own.class_)):
            if text is not None:
                yield from (text, f"{key}={text}")


def _measures(own: Estimate) -> tuple[str, ...]:
    """Return the name of the measure and its aliases."""
    from evalpipe.metrics import registry

    return own.metric, *(registry[own.metric].aliases if own.metric in registry else ())


def _parts(address: str) -> list[str]:
    """Return the parts of an address without their quotes; raises UsageError where it has none, or a quote is open."""
    parts, rest = _PART.findall(address), _PART.sub("", address)
    if not parts or '"' in rest:
        message = f"a quote in {quoted(address)} is not closed" if rest.strip("/@") else "the address is empty"
        raise UsageError.of("bad-address", message, hint="write it as in roc_auc@naive_bayes; " + LISTS_ALL)
    return [_QUOTED.sub(lambda match: match[1].replace('""', '"'), part).strip() for part in parts]


def _written(part: str) -> str:
    """Write a part of an address, in quotes where it has a sign that separates parts."""
    return '"{}"'.format(part.replace('"', '""')) if re.search('[/@"]', part) else part


def _slice_text(own: Estimate) -> str:
    return OVERALL if own.slice is None else ",".join(f"{name}={value}" for name, value in own.slice.items())


def _plain(value: Scalar) -> str:
    """Write the value of an option as YAML has it."""
    return value if isinstance(value, str) else json.dumps(value)


def _even(part: str) -> str:
    """Return a part without the spaces around its signs."""
    return re.sub(r"\s*([=,])\s*", r"\1", part)
