"""Differences between models on the same rows, and between datasets."""
