"""Two runs side by side: what went in, what came out, and what became of the gates.

`compare.py` makes a `Difference` of two sets of results and computes nothing but differences of the numbers in them.
`paired.py` alone evaluates rows again: those of the row-level files that both runs wrote.
"""
