"""Convert trees of chains for ArviZ."""

from typing import Any

from pybandit._shared.checks import shown
from pybandit._shared.optional import require

__all__ = ["to_arviz"]


def to_arviz(tree: Any) -> Any:
    """Return a tree of chains in the form that the installed ArviZ takes.

    ArviZ below 1 takes an `arviz.InferenceData`; from 1 on it takes the tree itself.

    Parameters
    ----------
    tree : xarray.DataTree
        As `RacingMetropolis.sample`, `RacingGibbs.sample` or `ExactMinibatch.sample` returns it,
        possibly with more groups, such as ``log_likelihood``.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The groups of the tree; their arrays are not copied.

    Raises
    ------
    TypeError
        If `tree` is not an xarray.DataTree.
    MissingPackageError
        If ArviZ or xarray is not installed: ``pip install 'pybandit-core[arviz]'``.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> y = np.random.default_rng(1).normal(0.3, 1.0, 500)
    >>> tree = pb.mcmc.RacingMetropolis(
    ...     lambda n, points: -0.5 * (y[n, None] - points[:, 0]) ** 2, y.size, 1,
    ...     proposal=pb.mcmc.RandomWalk(0.05)).sample(100, n_chains=2, rng=1)
    >>> data = pb.mcmc.to_arviz(tree)      # for arviz.summary, arviz.plot_trace, arviz.loo
    >>> data.posterior["x"].shape
    (2, 100, 1)
    """
    xarray = require("xarray", "arviz")
    if not isinstance(tree, xarray.DataTree):
        raise TypeError(f"tree must be an xarray.DataTree, as sample returns it; got {shown(tree)}")
    arviz = require("arviz", "arviz")
    if int(arviz.__version__.partition(".")[0]) >= 1:
        return tree
    return arviz.InferenceData(attrs=tree.attrs, **{
        name: group.to_dataset() for name, group in tree.children.items()})
