"""Medoids: the rows of a table whose mean distance to the others is smallest.

Examples
--------
>>> import numpy as np, pybandit as pb
>>> X = np.random.default_rng(0).normal(size=(1000, 3))
>>> pb.cluster.kmedoids(X, 4, rng=0).labels.shape
(1000,)
"""

import typing as _typing

from pybandit.cluster.partition import KMedoidsResult, kmedoids

__all__ = ["KMedoids", "KMedoidsResult", "kmedoids"]

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
