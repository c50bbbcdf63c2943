"""Differences between models on the same rows, and between datasets; which sizes of effects matter."""
