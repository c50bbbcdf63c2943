"""`python -m evalpipe`: the command line without the console script."""

from evalpipe.cli import main

main()
