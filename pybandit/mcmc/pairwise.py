"""Discrete variables that interact in pairs: Potts and Ising models, for compiled Gibbs chains."""

from typing import Any

import numpy as np

from pybandit._shared.checks import (
    LARGEST,
    as_array,
    check_in,
    check_integer,
    check_numeric,
    is_masked,
    shown,
)
from pybandit._shared.types import ArrayLike, Floats, Ints
from pybandit.mcmc._gibbs import Graph, check_edges
from pybandit.racing._native import Pairwise
from pybandit.racing.factors import Factors

MOST_VARIABLES = 2**31 - 1


class PairwiseTable:
    """Variables with D states each that interact in pairs through one table.

    log p(x) = sum_v log_prior[v, x_v] + sum over pairs of w_vu table[x_v, x_u]: Potts, Ising
    and Hopfield models, and others in which the log factors of the pairs differ only by the
    constants w_vu. `RacingGibbs` samples it without Python in the sweep. It can also be called, as
    any other conditional.

    Parameters
    ----------
    table : array_like of float, shape (D, D)
        Symmetric; ``np.eye(D)`` for a Potts model.
    neighbours : array_like of int, shape (V, N), or a sequence of V arrays
        Neighbours of each variable. u must occur among the neighbours of v as often as v among the
        neighbours of u.
    weights : array_like of float, or a sequence of V arrays, optional
        One per neighbour: w_vu at u in the entry of v must equal w_uv. 1 by default.
    log_prior : array_like of float, shape (D,) or (V, D), optional
        0 by default; -inf makes a state impossible.

    Attributes
    ----------
    n_variables, n_states : int

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its range, or neighbours or weights are not mutual.

    Notes
    -----
    Each neighbour takes 4 bytes, its weight 8, and ``method="poisson"`` 16 more.

    **Threads.** Immutable: threads may share it.

    Examples
    --------
    A ring of 1,000 spins:

    >>> import numpy as np, pybandit as pb
    >>> i = np.arange(1000)
    >>> ring = pb.mcmc.PairwiseTable(0.5 * np.eye(2), np.stack([i - 1, i + 1], axis=1) % 1000)
    >>> tree = pb.mcmc.RacingGibbs(ring, method="exact").sample(200, n_chains=1, rng=1)
    >>> x = tree["posterior"]["x"].to_numpy()
    >>> alike = (x == np.roll(x, 1, axis=-1)).mean()     # 1 / (1 + exp(-0.5)) = 0.622
    >>> bool(abs(alike - 0.622) < 0.01)
    True
    """

    def __init__(self, table: ArrayLike, neighbours: Any, *, weights: Any = None,
                 log_prior: ArrayLike | None = None) -> None:
        self._table = check_in("table", table, "finite", np.isfinite)
        if self._table.ndim != 2 or not self._table.size or (
                self._table.shape[0] != self._table.shape[1]):
            raise ValueError(f"table must have shape (D, D), D >= 1; got {self._table.shape}")
        if not np.array_equal(self._table, self._table.T):
            raise ValueError("table must be symmetric: both variables of a pair share one factor")
        flat, begins = _flatten("neighbours", neighbours, np.int64)
        n = begins.size - 1
        if not 1 <= n <= MOST_VARIABLES:
            raise ValueError(f"neighbours must list 1 to {MOST_VARIABLES} variables; got {n}")
        self._begins, self._weights = begins, _weights_of(weights, begins)
        self._neighbours = check_edges(begins, flat, self._weights)
        self._log_prior = _prior_of(log_prior, n, len(self._table))
        self._check_size()
        self._graph = Graph(self._table, begins, self._neighbours, self._weights,
                            self._log_prior)

    def _check_size(self):
        largest = np.abs(self._table).max() * (
            1.0 if self._weights is None or not self._weights.size
            else np.abs(self._weights).max())
        if not largest * max(1, np.diff(self._begins).max()) < 1e150:
            raise ValueError("table and weights must be small enough to square their sums; got "
                             f"factors of {largest}")

    def __repr__(self):
        return (f"<PairwiseTable: {self.n_variables:,} variables, {self.n_states:,} states, "
                f"{self._neighbours.size // 2:,} pairs>")

    @property
    def n_variables(self) -> int:
        """Number of variables, V."""
        return self._begins.size - 1

    @property
    def n_states(self) -> int:
        """Number of states, D."""
        return len(self._table)

    def __call__(self, variable: int, values: Ints) -> tuple[Factors | Floats, Floats | None]:
        """Return the factors of one variable given all others, and its log prior.

        Parameters
        ----------
        variable : int
            In [0, V).
        values : ndarray of int64, shape (V,)
            States in [0, D). Not copied: the factors read it at every draw.

        Returns
        -------
        factors : Factors, or ndarray of shape (1, D) of zeros
            Zeros if the variable has no neighbours.
        log_prior : ndarray of float64, shape (D,), or None

        Raises
        ------
        TypeError, ValueError
            If an argument is outside its range.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> pair = pb.mcmc.PairwiseTable(np.eye(3), [[1], [0]])
        >>> factors, log_prior = pair(0, np.array([0, 2]))
        >>> factors.evaluate([0], [0, 1, 2])
        array([[0., 0., 1.]])
        """
        variable = check_integer("variable", variable, 0, self.n_variables - 1)
        given = values
        if isinstance(given, np.ndarray) and not is_masked(given):
            values = as_array("values", given)  # a subclass may misreport its size
        if values is given or values.dtype != np.int64 or (
                values.shape != (self.n_variables,) or not values.flags.c_contiguous
                or not values.flags.aligned):
            raise TypeError(f"values must be a C-contiguous array of int64 of shape "
                            f"({self.n_variables},), because it is read again at every draw; got "
                            f"{shown(given)}")
        prior = None if self._log_prior is None else self._log_prior[variable].copy()
        part = slice(self._begins[variable], self._begins[variable + 1])
        if part.start == part.stop:
            return np.zeros((1, self.n_states)), prior
        weights = None if self._weights is None else self._weights[part]
        native = Pairwise(self._table, values, self._neighbours[part], weights)
        return Factors(native.bound, int(part.stop - part.start), self.n_states), prior


def _flatten(name, given, dtype):
    """Return all entries in one array, and the index at which each variable's entries begin."""
    if is_masked(given):
        raise ValueError(f"{name} must have no masked entries")
    if isinstance(given, np.ndarray) and given.dtype != object:
        given = as_array(name, given)
        if given.ndim != 2:
            raise ValueError(f"{name} must have shape (V, N) or be a sequence of V arrays; got "
                             f"{given.shape}")
        parts, sizes = [given.ravel()], np.full(len(given), given.shape[1])
    else:
        try:
            parts = [as_array(name, part) for part in given]
        except TypeError:
            raise TypeError(f"{name} must be an array of shape (V, N) or a sequence of V "
                            f"arrays; got {type(given).__name__}") from None
        if any(part.ndim != 1 or is_masked(part) for part in parts):
            raise ValueError(f"{name} must be a sequence of 1-D arrays without masks")
        sizes = np.array([part.size for part in parts], dtype=np.int64)
    wanted = "iu" if dtype == np.int64 else "iuf"
    if any(part.size and part.dtype.kind not in wanted for part in parts):
        raise TypeError(f"{name} must hold {'integers' if wanted == 'iu' else 'real numbers'}")
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if any(part.dtype == np.uint64 and part.size and part.max() > LARGEST for part in parts):
        raise ValueError(f"{name} must be at most {LARGEST}, the largest int64")
    full = [part for part in parts if part.size] or [np.empty(0, dtype=dtype)]
    flat = full[0] if len(full) == 1 else np.concatenate(full)
    return np.require(flat, dtype, "CA"), begins


def _weights_of(weights, begins):
    if weights is None:
        return None
    flat, given = _flatten("weights", weights, np.float64)
    if not np.array_equal(given, begins):
        raise ValueError("weights must have the shape of neighbours, one value per neighbour")
    return check_in("weights", flat, "finite", np.isfinite)


def _prior_of(log_prior, n, n_states):
    if log_prior is None:
        return None
    given = check_numeric("log_prior", log_prior)
    if given.shape not in ((n_states,), (n, n_states)):
        raise ValueError(f"log_prior must have shape ({n_states},) or ({n}, {n_states}); got "
                         f"{given.shape}")
    if not (given < np.inf).all():
        raise ValueError("log_prior must be below +inf and not NaN")
    if not (given > -np.inf).any(axis=-1).all():
        raise ValueError("log_prior must be above -inf for at least one state per variable; got "
                         "-inf for all states of one")
    return np.array(np.broadcast_to(given, (n, n_states)), order="C")
