"""Weights of items that make a weighted mean the mean of group means."""

from typing import Any

import numpy as np

from pybandit._shared.checks import as_array, labels_of, shown
from pybandit._shared.optional import require
from pybandit._shared.types import ArrayLike

__all__ = ["group_weights"]


def group_weights(groups: ArrayLike) -> Any:
    """Weights under which every group of items counts the same, whatever its size.

    Parameters
    ----------
    groups : array_like, shape (n_items,)
        The group of each item: labels, all text or all numbers.

    Returns
    -------
    ndarray of float64, shape (n_items,), or pandas.Series
        ``1 / (number of groups * items in the group)``; they add up to 1. For a
        series of pandas, a series with the same index, which `best_of` compares with that of the
        scores.

    Raises
    ------
    ValueError, TypeError
        Where labels are missing, masked, of several kinds or not in one dimension.

    Examples
    --------
    >>> import pybandit as pb
    >>> pb.evaluation.group_weights(["code", "code", "maths"])
    array([0.25, 0.25, 0.5 ])
    """
    labels = as_array("groups", groups)
    if labels.ndim != 1 or not labels.size:
        raise ValueError(f"groups must have one dimension and a label an item; got shape "
                         f"{labels.shape}")
    if labels.dtype.kind == "f" and np.isnan(labels).any() or labels.dtype.kind == "O" and any(
            label is None or label != label for label in labels.tolist()):
        raise ValueError(f"groups must have a label for every item; got {shown(groups)}")
    try:
        _, group, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    except TypeError as error:  # labels that have no order among each other
        raise TypeError(f"groups must be labels of one kind; got {shown(groups)}: "
                        f"{error}") from None
    weights = 1.0 / (sizes.size * sizes[group.reshape(-1)])
    if labels_of(groups) is None or not hasattr(groups, "iloc"):
        return weights
    return require("pandas", "pandas").Series(weights, index=groups.index, name="weight")
