"""The results made by hand that tests of the card share."""

from __future__ import annotations

from card.conftest import build, grouped, results

__all__ = ["build", "grouped", "results"]
