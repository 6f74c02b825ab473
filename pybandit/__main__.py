"""Run the command line: `python -m pybandit` is the same as `pybandit`."""

import sys

from pybandit.cli import main

if __name__ == "__main__":
    sys.exit(main())
