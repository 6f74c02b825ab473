# cython: auto_pickle=False
"""Posteriors of Gaussian or Bernoulli means, of which only the largest is needed.

The kernel is that of Thompson sampling, which leaves out draws that cannot be the largest.
"""

import numpy as np

from libc.math cimport NAN, isnan
from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of
from pybandit.policies._csrc cimport (
    PB_THOMPSON_BETA, PB_THOMPSON_GAUSSIAN, pb_thompson_add, pb_thompson_arm,
    pb_thompson_begin, pb_thompson_chances, pb_thompson_choose, pb_thompson_look,
    pb_thompson_resume,
)


cdef class Posterior:
    """Posteriors of n_arms means; `noise_std` is NaN for Bernoulli rewards and Beta(1, 1)."""

    def __cinit__(self, int64_t n_arms, double noise_std=NAN):
        self.arms = np.zeros((n_arms, sizeof(pb_thompson_arm) // sizeof(double)))
        self.chances = np.zeros(pb_thompson_chances(n_arms))
        self.kernel.n_arms, self.kernel.law = n_arms, PB_THOMPSON_BETA
        self.kernel.alpha, self.kernel.beta = 1.0, 1.0
        if not isnan(noise_std):
            self.kernel.law, self.kernel.alpha = PB_THOMPSON_GAUSSIAN, noise_std
        self.kernel.arms = <pb_thompson_arm *>&self.arms[0, 0]
        self.kernel.chances = &self.chances[0]
        pb_thompson_begin(&self.kernel)

    cdef void count(self, int64_t arm, double n, double total) noexcept nogil:
        cdef pb_thompson_arm seen = self.kernel.arms[arm]
        cdef double gained = total - seen.gained, new
        if self.kernel.law == PB_THOMPSON_GAUSSIAN:
            if n > seen.lost:
                pb_thompson_add(&self.kernel, arm, gained, n - seen.lost)
            return
        new = n - (seen.gained + seen.lost)
        if new > 0.5:
            gained = min(max(gained, 0.0), new)  # by rounding, a sum may be outside [0, n]
            pb_thompson_add(&self.kernel, arm, gained, new - gained)

    cdef void look(self, int64_t arm) noexcept nogil:
        pb_thompson_look(&self.kernel, arm)

    cdef void set_aside_flags(self, const unsigned char *aside) noexcept:
        self.kernel.aside = aside

    cdef int64_t choose(self, bitgen_t *bitgen) noexcept nogil:
        return pb_thompson_choose(&self.kernel, <pb_bitgen *>bitgen)

    def get_progress(self):
        return {"seen": np.array(self.arms), "chances": np.array(self.chances),
                "threshold": np.array([self.kernel.threshold.at, self.kernel.spent,
                                       self.kernel.limit, self.kernel.all_spent]),
                "age": self.kernel.age}

    def set_progress(self, progress):
        cdef double threshold
        np.asarray(self.arms)[:] = progress["seen"]
        np.asarray(self.chances)[:] = progress["chances"]
        threshold, self.kernel.spent, self.kernel.limit, self.kernel.all_spent = (
            progress["threshold"])
        if not pb_thompson_resume(&self.kernel, threshold):
            raise ValueError("state must hold the posteriors' probabilities at its threshold; got "
                             "other values in seen or chances")
        self.kernel.age = progress["age"]

    def choices(self, rng, counts, n):
        """Return n choices after rewards given as counts and totals per arm, for tests."""
        cdef int64_t i
        cdef double[:, ::1] given = np.array(counts, dtype=np.float64)
        cdef int64_t[::1] arms = np.empty(n, dtype=np.int64)
        with rng.bit_generator.lock:
            for i in range(self.kernel.n_arms):
                self.count(i, given[i, 0], given[i, 1])
            for i in range(n):
                arms[i] = self.choose(<bitgen_t *>bitgen_of(rng))
        return np.asarray(arms)
