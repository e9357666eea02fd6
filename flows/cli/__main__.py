"""Runs the command line: `python -m flows.cli`."""

import sys

from flows.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
