"""`python -m referee`, the same as `referee`."""

from referee.cli.main import main

main()
