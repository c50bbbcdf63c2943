"""The numbers of results, and the same as an export has them, by the addresses of the estimates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evalpipe.card.addresses import Addresses
from evalpipe.results import Results

Numbers = Mapping[str, tuple[Any, ...]]
"""The value, both limits, the level, the method and the status of each estimate."""


def of_results(results: Results) -> Numbers:
    """Return every estimate of the results."""
    addresses = Addresses(results)
    return {addresses.of(row): (row.value, row.lower, row.upper, row.level, row.method, row.status)
            for row in results.rows}


def of_cyclonedx(text: str) -> Numbers:
    """Return every metric of a bill of materials, with what the properties beside it say."""
    numbers = {}
    for component in json.loads(text)["components"]:
        card = component["modelCard"]
        facts = {entry["name"]: entry["value"] for entry in card["properties"]}
        for place, metric in enumerate(card["quantitativeAnalysis"]["performanceMetrics"]):
            of, bounds = f"evalpipe:performanceMetrics[{place}]", metric.get("confidenceInterval", {})
            texts = (metric.get("value"), bounds.get("lowerBound"), bounds.get("upperBound"), facts.get(f"{of}:level"))
            numbers[facts[f"{of}:address"]] = (
                *(None if text is None else json.loads(text) for text in texts), facts[f"{of}:method"],
                facts[f"{of}:status"])
    return numbers
