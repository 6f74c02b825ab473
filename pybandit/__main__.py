"""`python -m pybandit` is `pybandit`."""

import sys

from pybandit.cli import main

if __name__ == "__main__":
    sys.exit(main())
