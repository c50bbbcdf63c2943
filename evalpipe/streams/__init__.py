"""Datasets that are never held: parts of them are read and summed up, and the sums are merged into samples of cells."""
