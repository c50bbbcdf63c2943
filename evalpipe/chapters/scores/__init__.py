"""Scores of items, as of benchmarks of language models: components, ties, strengths and the items that decide."""
