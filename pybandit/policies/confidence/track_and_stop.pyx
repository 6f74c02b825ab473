# cython: auto_pickle=False
"""The best arm by pulls in optimal proportions.

Garivier and Kaufmann, Optimal best arm identification with fixed confidence, COLT 2016.
"""

import numpy as np

from pybandit._shared.checks import check_choice
from pybandit.policies.confidence._states import TRACKING

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport PB_GLR_UNKNOWN, pb_proportions
from pybandit.policies.stopping._sequential cimport SequentialPolicy, find_largest

__all__ = ["TrackAndStop"]


cdef class TrackAndStop(SequentialPolicy):
    """Pulls the arm that is furthest behind its optimal share of the pulls.

    Garivier and Kaufmann 2016. After one pull of each arm, the optimal proportions w of the means
    so far (`pybandit.stopping.optimal_proportions`) are computed before each pull. If some arm has
    fewer than ``sqrt(t) - K / 2`` pulls, the least pulled arm is next; otherwise the arm of the
    largest ``t w_k - N_k``.

    Parameters
    ----------
    n_arms, stopping, noise_std, max_pulls
        As in `TopTwo`. With `Betting`, proportions are those for rewards of 0 or 1.
    law : {"gaussian", "bernoulli", "poisson"}, optional
        Distribution of the rewards, only without `stopping`; ``"gaussian"`` by default.
    tracking : {"D", "C"}
        ``"D"``: as above. ``"C"``: no forced pulls; the next arm has the largest ``S_k - N_k``,
        where S_k is the sum of ``(1 - K e) w_k + e``, ``e = 1 / (2 sqrt(K^2 + t))``, over all
        rounds. More robust if proportions jump, otherwise slower.

    Attributes
    ----------
    done, decided, n_pulls, n_batches, pulls, means, variances
        As in `TopTwo`.

    Raises
    ------
    ValueError, TypeError
        As in `TopTwo`.

    See Also
    --------
    TopTwo, EBTC : same optimal shares, less computation.
    stopping.GLR : the stopping rule.
    stopping.lower_bound : a lower bound on the pulls of any rule.

    Notes
    -----
    The guarantee is that of the stopping rule, whichever arms are pulled. With
    `pybandit.stopping.GLR` the ratio of mean pulls to `pybandit.stopping.lower_bound` goes to 1 as
    delta goes to 0 (theorem 14 of the paper); with `pybandit.stopping.Betting`, which does not know
    the distribution of the rewards, it does not. If several means are the largest, the proportions
    are equal shares of these. Ties go to the lowest index. Each pull takes about ten Newton steps
    of O(K) divergences: about 60 ns per arm for Gaussian rewards, 10 times that for the others.

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> policy = pb.policies.TrackAndStop(4, stopping=pb.stopping.GLR(delta=0.05, noise_std=0.5))
    >>> rng, means = np.random.default_rng(2), np.array([0.1, 0.9, 0.4, 0.2])
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, means[arms] + 0.5 * rng.standard_normal(arms.size))
    >>> policy.recommend(), policy.decided
    (array([1]), True)
    """

    cdef readonly str tracking
    cdef bint sums_shares
    cdef double[::1] shares, owed, indices
    cdef double[::1] means                # scratch: means of the arms that answer

    def __init__(self, n_arms, *, stopping=None, law=None, noise_std=None, tracking="D",
                 max_pulls=None):
        super().__init__(n_arms, 1, stopping, max_pulls, 1, 1)
        self._take_law(law, noise_std)
        if self.glr.law == PB_GLR_UNKNOWN:
            raise ValueError("stopping must have a law with one parameter; got law="
                             "'gaussian-unknown'. TopTwo supports it")
        self.tracking = check_choice("tracking", tracking, ("D", "C"))
        self.sums_shares = self.tracking == "C"
        self.shares, self.owed, self.indices, self.means = np.zeros((4, self.n_arms))
        self._made(TrackAndStop)

    def _options(self):
        return super()._options() | self._law_options() | dict(tracking=self.tracking)

    cdef void _choose(self) noexcept nogil:
        cdef double t = self.n_pulls, k = self.n_arms - self.silence.n_aside, rare, e
        cdef int64_t arm, least = -1
        self._find_shares()
        if self.sums_shares:
            e = 0.5 / sqrt(k * k + t)
            for arm in range(self.n_arms):
                self.indices[arm] = -INFINITY
                if not self.silence.has(arm):
                    self.owed[arm] += (1.0 - k * e) * self.shares[arm] + e
                    self.indices[arm] = self.owed[arm] - self._pulls[arm]
        else:
            for arm in range(self.n_arms):
                if not self.silence.has(arm) and (
                        least < 0 or self._pulls[arm] < self._pulls[least]):
                    least = arm
            rare = sqrt(t) - 0.5 * k
            if self._pulls[least] < rare:
                self.chosen[0] = least
                return
            for arm in range(self.n_arms):
                self.indices[arm] = -INFINITY
                if not self.silence.has(arm):
                    self.indices[arm] = t * self.shares[arm] - self._pulls[arm]
        self.chosen[0] = find_largest(&self.indices[0], self.n_arms)

    cdef void _find_shares(self) noexcept nogil:
        """Compute the optimal proportions of the arms that answer."""
        cdef int64_t arm, n = 0
        if not self.silence.n_aside:
            pb_proportions(&self.glr, &self.centres[0], self.n_arms, &self.shares[0])
            return
        for arm in range(self.n_arms):
            if not self.silence.has(arm):
                self.means[n] = self.centres[arm]
                n += 1
        pb_proportions(&self.glr, &self.means[0], n, &self.indices[0])
        n = 0
        for arm in range(self.n_arms):
            if not self.silence.has(arm):
                self.shares[arm] = self.indices[n]
                n += 1

    cdef object _schema(self):
        return TRACKING

    def _get_progress(self):
        return super()._get_progress() | {"owed": np.array(self.owed)}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        np.asarray(self.owed)[:] = progress["owed"]
