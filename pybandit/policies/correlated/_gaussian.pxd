"""Private to pybandit: policies with a joint Gaussian posterior of the arms' means."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_gaussian
from pybandit.policies.protocol.base cimport NativePolicy


cdef class _GaussianPolicy(NativePolicy):
    cdef readonly int64_t budget
    cdef readonly object noise_std        # None: unknown
    cdef readonly double prior_std
    cdef readonly object refit_every      # None: never
    cdef object given                     # kernel, points, noise_std and prior_std as passed
    cdef object fitted                    # the kernel of the last refit
    cdef int64_t pulls_between            # pulls between refits; 0: no refits
    cdef int64_t[::1] told_arms           # all reported arms and rewards, for refits
    cdef double[::1] told_rewards
    cdef object refit                     # during a tell: kernel, prior_std, noise_std and prior
    cdef int64_t n_told
    cdef bint as_weights
    cdef readonly tuple noise_prior
    cdef object kernel, points            # source of the prior; one of them is None
    cdef pb_gaussian posterior
    cdef const double[:, ::1] features
    cdef double[::1] arm_means, arm_variances, spread, weights, memory, scratch
    cdef double[:, ::1] matrix, rows      # in covariance form; see pb_gaussian
    cdef double slack                     # of a variance left by a reward; see Prior
    cdef double[::1] norms                # prior variances, without the factor prior_std^2
    cdef double noise_variance            # 1 if the noise is unknown
    cdef double noise_shape, noise_scale  # of the inverse-gamma distribution of unknown noise
    cdef int64_t chosen                   # the arm to ask; -1: done
    # once an arm is silent: the arms that answer, their means and variances, and their number
    cdef int64_t[::1] answering
    cdef double[:, ::1] gathered
    cdef const double *means_of
    cdef const double *spreads_of
    cdef int64_t n_of

    cdef _place(self, prior)
    cdef _place_rows(self, prior)
    cdef _refitted(self, arms, rewards)
    cdef bint _refits_at(self, int64_t n_pulls, int64_t n_told) noexcept nogil
    cdef void _take_refit(self) noexcept
    cdef _set_fit(self, progress)
    cdef _set_rows(self, rows, is_folded)
    # Called when the prior changes; a subclass updates its own data that depend on the prior.
    cdef _prior_changed(self)
    # Sets `means_of`, `spreads_of` and `n_of` to the given means and spreads of the arms that
    # answer, or of all arms if none answers.
    cdef void _gather(self, const double *means, const double *spreads) noexcept nogil
    # Returns the arm at a position in `means_of`.
    cdef int64_t _gathered(self, int64_t place) noexcept nogil
    # Returns the next arm to pull.
    cdef int64_t _choose(self) noexcept nogil
    # For lazily computed means and variances: update all arms, or one.
    cdef void _meet_all(self) noexcept nogil
    cdef void _meet(self, int64_t arm) noexcept nogil
    # Return True if the variances that the rewards of `n_more` pulls leave are checked.
    cdef bint _is_checked(self, int64_t n_more) noexcept nogil
    cdef int _check_rows(self, const int64_t *arms, const double *rewards, int64_t n) except -1
    cdef _refusal(self, int64_t arm, double left)
    # Updates the posterior with a reward.
    cdef void _update(self, int64_t arm, double reward) noexcept nogil
    # Return the factor of the square roots of arm_variances; the variance of the noise.
    cdef double _scale(self) noexcept nogil
    cdef double _noise(self) noexcept nogil
    cdef void _learn(self, int64_t arm, double reward) noexcept nogil
