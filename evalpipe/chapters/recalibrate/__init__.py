"""Recalibrators, each of which makes a variant of every model."""
