# cython: auto_pickle=False
"""Thompson sampling of correlated arms."""

import numpy as np

from pybandit._shared.generators import private_generator, restore_stream, stream_state
from pybandit.policies.correlated._states import THOMPSONS

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_gamma, random_standard_normal

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of
from pybandit.policies._csrc cimport pb_gaussian_draw, pb_scan_largest, pb_scan_position
from pybandit.policies.correlated._gaussian cimport _GaussianPolicy

__all__ = ["GaussianThompson"]


cdef class GaussianThompson(_GaussianPolicy):
    """Pulls the best arm in one draw of all means from their joint posterior.

    The arm of the largest posterior mean is recommended. Ties go to the lowest index.

    Parameters
    ----------
    n_arms, budget, noise_std, kernel, features, prior_std, noise_prior, refit_every
        As in `BayesGap`. If `noise_std` is None, sigma is drawn first.
    rng : None, int, SeedSequence or Generator
        Seeds the policy's own stream.

    Raises
    ------
    ValueError, TypeError
        As in `BayesGap`.

    See Also
    --------
    BayesGap : a rule for finding the best arm.
    ThompsonSampling : for arms that are not correlated.

    Notes
    -----
    O(K r + r^2) per pull with r features. A kernel of rank r is factored once, in O(K^3).

    **Threads.** Use it in one thread at a time; a concurrent call raises RuntimeError.

    Examples
    --------
    Forty arms, each with two features, whose mean rewards are linear in these:

    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> features = rng.normal(size=(40, 2))
    >>> means = features @ [1.0, -0.5]
    >>> policy = pb.policies.GaussianThompson(40, budget=20, features=features, noise_std=0.5,
    ...                                       rng=1)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.normal(means[arms], 0.5))
    >>> bool(policy.recommend()[0] == means.argmax())
    True
    """

    cdef object generator                 # private: no other code can hold its lock
    cdef pb_bitgen *bitgen
    cdef bint rng_given
    cdef double[::1] z

    def __init__(self, n_arms, *, budget, noise_std, kernel=None, features=None, prior_std=1.0,
                 noise_prior=(1.0, 1.0), refit_every=None, rng=None):
        super().__init__(n_arms, budget, kernel, features, noise_std, prior_std, noise_prior,
                         refit_every, True)
        self.rng_given = rng is not None
        self._start_stream(rng)
        self._made(GaussianThompson)

    cdef _prior_changed(self):
        self.z = np.empty(self.posterior.n_features)

    cdef _start_stream(self, rng):
        self.generator = private_generator(rng)
        self.bitgen = bitgen_of(self.generator)
        self._advance()

    def seed(self, rng):
        """Replace the policy's stream, unless `rng` was given or pulls were made."""
        with self.guard:
            if not self.rng_given and not self.n_pulls:
                self._start_stream(rng)

    cdef int64_t _choose(self) noexcept nogil:
        cdef bitgen_t *bitgen = <bitgen_t *>self.bitgen
        cdef double scale = 1.0
        cdef int64_t j
        if self.noise_std is None:
            scale = sqrt(self.noise_scale / random_standard_gamma(bitgen, self.noise_shape))
        for j in range(self.posterior.n_features):
            self.z[j] = random_standard_normal(bitgen)
        return self._choose_of(scale)

    cdef int64_t _choose_of(self, double scale) noexcept nogil:
        """Return the best arm in the draw given by the normals in `z`."""
        cdef double *values = &self.scratch[0]
        cdef int64_t arm
        pb_gaussian_draw(&self.posterior, &self.z[0], scale, values)
        if self.silence.n_aside:
            for arm in range(self.n_arms):
                if self.silence.has(arm):
                    values[arm] = -INFINITY
        return pb_scan_position(values, self.n_arms, pb_scan_largest(values, self.n_arms), -1)

    def _draw(self, z):
        """Use these normals for the next pull and return the draw; for tests."""
        self.guard.check()
        np.asarray(self.z)[:] = z
        self.chosen = self._choose_of(1.0)
        return np.array(self.scratch[:self.n_arms])

    def _get_progress(self):
        return dict(super()._get_progress(), rng_given=bool(self.rng_given),
                    stream=stream_state(self.generator))

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.rng_given = progress["rng_given"]
        restore_stream(self.generator, progress["stream"])

    cdef object _schema(self):
        return THOMPSONS[bool(self.pulls_between)]
