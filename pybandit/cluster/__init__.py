"""Medoids: points whose mean distance to the others is smallest.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> x = np.random.default_rng(0).random((100_000, 2))
>>> result = pb.cluster.medoid(x)
>>> result.exact, x[result.index].round(1).tolist()
(True, [0.5, 0.5])
"""

import typing as _typing

from pybandit.cluster._result import MedoidResult, MedoidsResult
from pybandit.cluster.medoid import medoid
from pybandit.cluster.partition import KMedoidsResult, kmedoids

__all__ = ["KMedoids", "KMedoidsResult", "MedoidResult", "MedoidsResult", "kmedoids", "medoid"]

if _typing.TYPE_CHECKING:
    from pybandit.cluster.estimator import KMedoids as KMedoids
else:

    def __getattr__(name):
        """Import KMedoids at its first use, because it needs scikit-learn."""
        if name != "KMedoids":
            raise AttributeError(f"module 'pybandit.cluster' has no attribute {name!r}")
        from pybandit.cluster.estimator import KMedoids

        globals()[name] = KMedoids
        return KMedoids
