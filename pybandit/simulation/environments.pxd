"""What a foreign module cimports to pull an environment."""

from pybandit._environment cimport Environment
