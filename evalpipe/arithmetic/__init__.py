"""Functions and small matrices in plain arithmetic, whose last bits no processor, library or thread decides.

numpy computes exponentials and logarithms by instructions that it chooses for the processor, and BLAS and LAPACK do so
with sums: each choice gives other last bits. What IEEE 754 rounds in one way only is the same everywhere, and so is all
that is made of it in a fixed order: + - * / and square roots, scaling by powers of two, and numpy's sums.
`tests/test_processors.py` holds that the numbers of the engine come from here.
"""
