"""Screens: studies on plates, from files of instruments to picklists for robots.

Use `Screen`. `Plates` describes the plates and how a reading becomes a reward.

Examples
--------
>>> import pybandit as pb
>>> from pybandit.lab import Layout, Plates, Screen
>>> policy = pb.policies.BatchScreening(2000, 20, batch_size=368, max_batches=12)
>>> plates = Plates(Layout.parse("384"), controls=tuple(range(16)), normalise=True)
>>> with Screen.create("genes.db", policy, plates=plates) as screen:
...     batch = screen.ask()
...     print(len(batch.names), list(screen.plate_texts(batch)))
368 ['0']
"""

from pybandit.lab._amend import Amended
from pybandit.lab._record import Imported
from pybandit.lab.controls import Controls, PlateReadings, z_prime
from pybandit.lab.plates import Layout, Plates
from pybandit.lab.report import write_report
from pybandit.lab.screen import Screen
from pybandit.tables._sheet import Dialect

__all__ = ["Amended", "Controls", "Dialect", "Imported", "Layout", "PlateReadings", "Plates",
           "Screen", "write_report", "z_prime"]
