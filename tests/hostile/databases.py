"""Readers for `attack`: studies and stores, opened as their users and commands open them."""

import pandas  # noqa: F401  imported by a study's history, once for all files

from pybandit.evaluation._store_file import StoreFile
from pybandit.evaluation._store_names import Names
from pybandit.lab._export import export
from pybandit.lab._report_facts import facts_of
from pybandit.lab.plates import Plates
from pybandit.studies import Study


def study(path):
    """Call everything that reads a study."""
    with Study.open(path) as opened:
        opened.status()
        opened.recommend()
        opened.history()
        list(opened.log())
        export(opened, Plates.of(opened.settings), lambda text: None)
        facts_of(opened)  # for a report
        return opened.verify().n_events


def store(path):
    """Call everything that reads and writes a store of scores."""
    cells = StoreFile(path, Names("01234567", None, 9), False)
    try:
        known = dict(cells)
        cells.claim([("7", 7)])
        cells["7", 7] = 0.5
        return len(known), len(cells)
    finally:
        cells.close()
