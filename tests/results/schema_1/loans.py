"""Write loans.csv: made-up loans of which two models predict the outcome, one of them once with certainty, and wrongly.

The folder `run` is what evalpipe wrote of `spec.yaml` before `schema_version` 2, without run.json.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

ROWS = 90

if __name__ == "__main__":
    rng = random.Random(32)  # noqa: S311 - made-up data
    rows = ["id,region,outcome,score,rival"]
    for number in range(ROWS):
        strength = rng.gauss(0, 1)
        region = ["north", "south", "east"][number % 3] if number else "island"
        event = rng.random() < 1 / (1 + math.exp(-strength))
        score = 1 / (1 + math.exp(-(strength + rng.gauss(0, 0.8))))
        rival = 1 / (1 + math.exp(-(0.7 * strength + rng.gauss(0, 1))))
        if number == 5:
            score = 0.0 if event else 1.0
        rows.append(f"{number},{region},{'yes' if event else 'no'},{score:.4f},{rival:.4f}")
    Path(__file__).with_name("loans.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
