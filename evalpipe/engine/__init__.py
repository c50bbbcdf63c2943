"""Step 4: from samples to values, intervals and curves. The only place where numbers are computed."""

from evalpipe.engine.evaluate import evaluate

__all__ = ["evaluate"]
