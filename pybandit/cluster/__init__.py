"""Medoids: points whose mean distance to the others is smallest.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> x = np.random.default_rng(0).random((100_000, 2))
>>> result = pb.cluster.medoid(x)
>>> result.exact, x[result.index].round(1).tolist()
(True, [0.5, 0.5])
"""

from pybandit.cluster._result import MedoidResult, MedoidsResult
from pybandit.cluster.medoid import medoid

__all__ = ["MedoidResult", "MedoidsResult", "medoid"]
