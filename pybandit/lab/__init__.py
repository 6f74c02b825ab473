"""Screens: studies on plates, from the instrument's file to the robot's list.

`Screen` is all one needs; `Plates` says what a plate looks like and what is made of a reading.
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
