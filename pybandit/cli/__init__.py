"""The command line, `pybandit`: one file per command.

Examples
--------
``pybandit screen new drinks.study --policy round-robin ...``, from Python:

>>> from pathlib import Path
>>> from pybandit.cli import main
>>> size = Path("drinks.csv").write_text("tea\\ncoffee\\n")
>>> main(["screen", "new", "drinks.study", "--policy", "round-robin", "--arms", "drinks.csv",
...       "--k", "1", "--batches", "1", "--batch-size", "4"])
drinks.study: RoundRobin, 2 arms; next: the first plate
0
"""

from pybandit.cli._main import main

__all__ = ["main"]
