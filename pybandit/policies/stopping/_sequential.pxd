"""Private to pybandit: policies that pull every arm first and then choose arms one by one."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_glr, pb_glr_arm
from pybandit.policies.protocol.base cimport NativePolicy


cdef enum:
    # number of arms chosen at a time by most of these policies
    MOST_CHOSEN = 2


cdef class SequentialPolicy(NativePolicy):
    cdef readonly object stopping         # a GLR, a Betting, or None
    cdef bint has_rule
    cdef bint bets                        # True if the rule is a Betting; the law is Bernoulli then
    cdef tuple law                        # of rewards: its name and noise_std
    cdef pb_glr glr
    cdef double lowest, highest           # range of rewards
    cdef double refused                   # an invalid reward seen without Python, or NaN
    cdef int64_t doubt                    # an arm that `best` was not declared better than, or -1
    cdef bint stopped
    cdef int64_t most                     # max_pulls, or -1
    cdef int64_t needed                   # number of first rewards that each arm needs
    cdef bint begun                       # True once all arms have their first rewards
    cdef int64_t pending                  # number of requested pulls
    cdef int64_t best                     # the arm of the largest mean
    cdef int64_t[::1] chosen              # the n_chosen requested arms, once begun
    cdef int64_t n_chosen
    cdef int64_t[::1] arms, counts        # first pulls
    cdef double[::1] centres
    cdef double[::1] gains                # of bets, PB_GAINS per arm
    cdef double level, slack              # of bets: log wealth to exceed; epsilon
    # for unknown variances: the least nonzero difference of a reward and the one before it
    cdef double step, last                # infinite until two rewards differ; NaN at first
    cdef int64_t n_equal                  # number of rewards before the first difference

    # For policies that need the law; without a rule it is Gaussian by default.
    cdef int _take_law(self, law, noise_std) except -1
    cdef int _take(self, rule) except -1
    cdef void _take_range(self, double lowest, double highest) noexcept
    cdef void _decide(self) noexcept nogil
    # Returns True if the rule declares `better` better than `arm`; `strictly`: without epsilon.
    cdef bint _tells(self, int64_t better, int64_t arm, bint strictly) noexcept nogil
    # Called before the first `_choose`, when all arms have their first rewards.
    cdef void _begin(self) noexcept nogil
    # Updates `best` and what depends on the new means of the chosen arms.
    cdef void _follow(self) noexcept nogil
    # Calls `_decide` and takes silent arms into account.
    cdef void _conclude(self) noexcept nogil
    cdef int64_t _find_doubt(self) noexcept nogil
    cdef bint _is_doubtful(self, int64_t arm) noexcept nogil
    cdef bint _varies_not(self) noexcept nogil
    # Updates `best` and what depends on it after silent arms answered.
    cdef void _rejoin(self) noexcept nogil
    # Measures an arm whose mean may have changed; the centre of a silent arm stays -infinity.
    cdef void _look(self, int64_t arm) noexcept nogil
    # Returns the first arm other than this that is not silent; this one if there is none.
    cdef int64_t _another(self, int64_t arm) noexcept nogil
    cdef _silent_flags(self)
    cdef _finite_centres(self)
    cdef void _go_on(self) noexcept nogil
    # Sets `chosen`.
    cdef void _choose(self) noexcept nogil
    # Statistics of an arm for the likelihood ratios.
    cdef pb_glr_arm _arm(self, int64_t arm) noexcept nogil
    # Returns the largest mean q with N d(mean, q) <= level; not for Poisson rewards.
    cdef double _upper_mean(self, int64_t arm, double level) noexcept nogil
    cdef void _find_step(self, const double *rewards, int64_t n) noexcept nogil
    cdef void _measure(self, int64_t arm) noexcept nogil
    cdef void _plan_first(self) noexcept nogil


# Return the position of the largest or least value, ties to the lowest index; none is NaN.
cdef int64_t find_largest(const double *values, int64_t n) noexcept nogil
cdef int64_t find_least(const double *values, int64_t n) noexcept nogil
