"""`python -m pybandit` is `pybandit`."""

import sys

from pybandit.cli import main

sys.exit(main())
