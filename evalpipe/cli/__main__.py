"""`python -m evalpipe.cli`: the command line without the console script."""

from evalpipe.cli import main

main()
