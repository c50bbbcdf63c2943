"""Recalibrators, each of which makes a variant of every model.

What a run has fitted is applied to new predictions by `evalpipe.recalibration`.
"""
