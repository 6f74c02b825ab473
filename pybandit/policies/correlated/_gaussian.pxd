"""Private to pybandit: policies of a joint Gaussian posterior of the arms' means."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_gaussian
from pybandit.policies.protocol.base cimport NativePolicy


cdef class _GaussianPolicy(NativePolicy):
    cdef readonly int64_t budget
    cdef readonly object noise_std        # None: not known
    cdef readonly double prior_std
    cdef readonly object refit_every      # None: never
    cdef object given                     # kernel, noise_std and prior_std as they were given
    cdef object fitted                    # the kernel since the last refit
    cdef int64_t pulls_between            # refits
    cdef int64_t[::1] told_arms           # for them
    cdef double[::1] told_rewards
    cdef object refit                     # kernel, prior_std, noise_std, prior: for this tell
    cdef int64_t n_told
    cdef bint as_weights
    cdef readonly tuple noise_prior
    cdef object matrix, points            # what the prior was made of; one of them is None
    cdef pb_gaussian posterior
    cdef const double[:, ::1] features
    cdef double[::1] arm_means, arm_variances, spread, weights, memory, scratch
    cdef double[::1] norms                # of the prior, squared, without prior_std
    cdef double noise_variance            # 1 where the noise is not known
    cdef double noise_shape, noise_scale  # of its inverse-gamma law then
    cdef int64_t chosen                   # the arm asked now; -1: done
    # the arms that answer, once one is silent; their means and variances, and their number
    cdef int64_t[::1] answering
    cdef double[:, ::1] gathered
    cdef const double *means_of
    cdef const double *spreads_of
    cdef int64_t n_of

    cdef _place(self, prior)
    cdef _refitted(self, arms, rewards)
    cdef bint _refits_at(self, int64_t n_pulls, int64_t n_told) noexcept nogil
    cdef void _take_refit(self) noexcept
    cdef _set_fit(self, progress)
    # A subclass keeps what follows of the prior.
    cdef _prior_changed(self)
    # Copies these means and spreads of the arms that answer, or of all if none does, into
    # `means_of`, `spreads_of` and `n_of`.
    cdef void _gather(self, const double *means, const double *spreads) noexcept nogil
    # The arm at a place among them.
    cdef int64_t _gathered(self, int64_t place) noexcept nogil
    # The next arm to pull.
    cdef int64_t _choose(self) noexcept nogil
    # Where means and variances are made when somebody looks: all of them now, or an arm's.
    cdef void _meet_all(self) noexcept nogil
    cdef void _meet(self, int64_t arm) noexcept nogil
    # A reward into the posterior.
    cdef void _update(self, int64_t arm, double reward) noexcept nogil
    # What the roots of arm_variances are times, and the noise's variance.
    cdef double _scale(self) noexcept nogil
    cdef double _noise(self) noexcept nogil
    cdef void _learn(self, int64_t arm, double reward) noexcept nogil
