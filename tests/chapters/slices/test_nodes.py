"""The nodes of a tree as slices: the shares of the classes in each, and the three impurities of these."""

from __future__ import annotations

import math

import polars as pl
import pytest

from engine.runs import run

NODES = {"root>left": (40, 10), "root>right": (5, 45)}
"""Events and others in each node."""


def test_a_slice_by_the_node_of_a_tree_has_the_impurities_of_its_observed_shares() -> None:
    frame = pl.DataFrame([
        {"node": node, "y": y, "p": events / (events + others)}
        for node, (events, others) in NODES.items() for y, count in ((1, events), (0, others)) for _ in range(count)])
    results = run(frame, slices=["node"], slice_rules={"min_rows": 1}, intervals={"method": "none"}, metrics=[
        "gini_impurity", {"metric": "entropy", "base": "e"}, "majority_error", "predicted_gini", "predicted_entropy",
        "predicted_error"])
    values = {(row.slice["node"], row.metric): row.value for row in results.rows if row.slice is not None}
    for node, (events, others) in NODES.items():
        share = events / (events + others)
        impurities = {"gini": 2 * share * (1 - share), "error": min(share, 1 - share),
                      "entropy": -share * math.log(share) - (1 - share) * math.log(1 - share)}
        observed = {"gini": "gini_impurity", "entropy": "entropy", "error": "majority_error"}
        for kind, impurity in impurities.items():
            assert values[node, observed[kind]] == pytest.approx(impurity, rel=1e-12)
            # A tree predicts the shares of its nodes, so on the rows that it was grown on the two are the same.
            assert values[node, f"predicted_{kind}"] == pytest.approx(impurity, rel=1e-12)
