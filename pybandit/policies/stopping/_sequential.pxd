"""Private to pybandit: policies that pull every arm first, and then as they choose."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_glr, pb_glr_arm
from pybandit.policies.protocol.base cimport NativePolicy


cdef enum:
    # at a time, of most of them
    MOST_CHOSEN = 2


cdef class SequentialPolicy(NativePolicy):
    cdef readonly object stopping         # a GLR, a Betting, or None
    cdef bint has_rule
    cdef bint bets                        # by a Betting, on the law of 0 and 1
    cdef tuple law                        # of rewards: its name and noise_std
    cdef pb_glr glr
    cdef double lowest, highest           # rewards are between them
    cdef double refused                   # one that was not, where no Python looked; or NaN
    cdef int64_t doubt                    # an arm that the leader was not told from, or -1
    cdef bint stopped
    cdef int64_t most                     # max_pulls, or -1
    cdef int64_t needed                   # rewards of an arm before it is chosen
    cdef bint begun                       # whether all arms have as many
    cdef int64_t pending                  # pulls that are asked
    cdef int64_t best                     # the arm of the largest mean
    cdef int64_t[::1] chosen              # the arms asked, n_chosen of them, once begun
    cdef int64_t n_chosen
    cdef int64_t[::1] arms, counts        # first pulls
    cdef double[::1] centres
    cdef double[::1] gains                # of bets, PB_GAINS an arm
    cdef double level, slack              # of bets: enough, and what may be missing
    # of unknown variances: the least difference above 0 between a reward and the one before it
    cdef double step, last                # infinite, NaN: none yet
    cdef int64_t n_equal                  # rewards before the first that differed

    # Of a policy that needs the law; without a rule it is Gaussian.
    cdef int _take_law(self, law, noise_std) except -1
    cdef int _take(self, rule) except -1
    cdef void _take_range(self, double lowest, double highest) noexcept
    cdef void _decide(self) noexcept nogil
    # Whether the rule tells an arm from a better one, with its epsilon or without.
    cdef bint _tells(self, int64_t better, int64_t arm, bint strictly) noexcept nogil
    # All arms have their first rewards: before the first `_choose`.
    cdef void _begin(self) noexcept nogil
    # The chosen arms have other means: `leader`, and what else follows.
    cdef void _follow(self) noexcept nogil
    # `_decide`, and what it means while arms are silent.
    cdef void _conclude(self) noexcept nogil
    cdef int64_t _find_doubt(self) noexcept nogil
    cdef bint _is_doubtful(self, int64_t arm) noexcept nogil
    cdef bint _varies_not(self) noexcept nogil
    # Silent arms answered: `best`, and what else follows.
    cdef void _rejoin(self) noexcept nogil
    # Measures an arm whose mean may have changed; the centre of a silent arm stays -infinity.
    cdef void _look(self, int64_t arm) noexcept nogil
    # The first arm that is neither this one nor silent; this one if there is none.
    cdef int64_t _another(self, int64_t arm) noexcept nogil
    cdef _silent_flags(self)
    cdef _finite_centres(self)
    cdef void _go_on(self) noexcept nogil
    # Sets `chosen`.
    cdef void _choose(self) noexcept nogil
    # What the likelihood ratios know of an arm.
    cdef pb_glr_arm _arm(self, int64_t arm) noexcept nogil
    # The largest mean q with N d(mean, q) <= level; not of Poisson rewards.
    cdef double _upper_mean(self, int64_t arm, double level) noexcept nogil
    cdef void _find_step(self, const double *rewards, int64_t n) noexcept nogil
    cdef void _measure(self, int64_t arm) noexcept nogil
    cdef void _plan_first(self) noexcept nogil


# Where the largest is, and the least; ties to the lowest index, none is NaN.
cdef int64_t find_largest(const double *values, int64_t n) noexcept nogil
cdef int64_t find_least(const double *values, int64_t n) noexcept nogil
