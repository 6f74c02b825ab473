"""What other Cython modules can call: resolved at import, nothing to link."""

from pybandit._race cimport run_race
