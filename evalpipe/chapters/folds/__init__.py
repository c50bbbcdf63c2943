"""Measures over the folds of resampling that a column numbers: their mean, and how far they spread."""
