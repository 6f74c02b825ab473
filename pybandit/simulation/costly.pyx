# cython: auto_pickle=False
"""An environment with costs per pull."""

import numpy as np

from pybandit._shared.checks import check_in, check_positive, shown

from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_gamma

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.simulation.base cimport Environment

__all__ = ["CostlyBandit"]


cdef class CostlyBandit(Environment):
    """Environment that adds costs to the rewards of another environment.

    Parameters
    ----------
    environment : Environment
        An environment of this package, not a subclass with its own `pull`.
    costs : array_like of float, shape (n_arms,), or float
        Mean cost of a pull of each arm, above 0.
    cost_shape : float, optional
        Above 0: a pull costs the mean times an independent Gamma(cost_shape) variable scaled to
        mean 1, whose variance is 1 / cost_shape. By default an arm always costs its mean.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    The cost is drawn after the reward, and only for policies that use costs: all others get the
    rewards of the underlying environment for the same seed. Every call of `pull` restarts a
    `TableBandit`; within a run of `simulate` it continues.

    **Threads.** Pulls do not change it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.CostlyBandit(pb.environments.GaussianBandit([0.0, 0.0]), [1, 9])
    >>> bandit.pull_with_costs([0, 1, 1], rng=1)[1].tolist()
    [1.0, 9.0, 9.0]
    """

    cdef readonly Environment environment
    cdef readonly object cost_shape
    cdef double shape  # 0: the costs are fixed

    def __init__(self, environment, costs, *, cost_shape=None):
        if not isinstance(environment, Environment) or not (<Environment>environment)._is_native():
            raise TypeError(f"environment must be an environment of this package; got "
                            f"{shown(environment)}")
        (<Environment>environment).guard.check()
        super().__init__(environment.means, environment.noise_std)
        self._take_variances(environment.variances)
        costs = check_in("costs", costs, "finite and above 0", lambda c: np.isfinite(c) & (c > 0))
        if costs.ndim and costs.shape != (self.n_arms,):
            raise ValueError(f"costs must be a scalar or have one value per arm, {self.n_arms}; "
                             f"got shape {costs.shape}")
        np.asarray(self._costs)[:] = costs
        self.shape = 0.0
        if cost_shape is not None:
            self.shape = check_positive("cost_shape", cost_shape)
        self.environment, self.cost_shape = environment, cost_shape
        self._draws_each = (<Environment>environment)._draws_each
        self._made(CostlyBandit, dict(environment=environment, costs=np.array(self._costs),
                                      cost_shape=cost_shape))

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        return self.environment._draw(arm, seen, bitgen)

    cdef double _draw_sum(self, int64_t arm, int64_t seen, int64_t n,
                          pb_bitgen *bitgen) noexcept nogil:
        return self.environment._draw_sum(arm, seen, n, bitgen)

    cdef double _draw_with_cost(self, int64_t arm, int64_t seen, pb_bitgen *bitgen,
                                double *cost) noexcept nogil:
        cdef double reward = self.environment._draw(arm, seen, bitgen)
        cost[0] = self._costs[arm]
        if self.shape > 0.0:
            cost[0] *= random_standard_gamma(<bitgen_t *>bitgen, self.shape) / self.shape
        return reward
