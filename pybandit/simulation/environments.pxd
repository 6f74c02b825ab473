"""What a foreign module cimports to pull an environment."""

from pybandit.simulation.base cimport Environment
