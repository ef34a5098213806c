"""`python -m farfield`: the command line."""

from farfield.cli import main

main()
