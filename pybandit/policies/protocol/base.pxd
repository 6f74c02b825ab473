"""What a compiled policy is to `simulate` and to ask and tell; public, also to other packages.

A policy of your own derives from `NativePolicy` and defines `_next`, `_is_done` and `_advance`,
and in Python `recommend`; the underscore keeps them out of Python's way, not out of yours. It
may read `n_arms`, `k`, `n_pulls`, `n_batches`, `_pulls`, `_sums` and, where it `_wants_rewards`,
`_deviations`; those are written by the base, which owns them. Methods run without the GIL, one
thread at a time to an object, under its guard: they cannot raise, and allocate beforehand.

A round is `_is_done`, `_next`, the pulls, `_advance`. `_next` is asked several times a round and
gives the same: a `pb_batch` (pybandit/policies/protocol/round_robin.h) whose arrays are the
policy's and stay as they are until `_advance`. If it sets `_adapts`, silent arms are asked in
batches of their own in between: what `_next` gives then stands, and `_retried` follows instead of
`_advance`.

Layouts of classes may change with a minor version: compile against the version you run.
docs/embedding.md has an example.
"""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.policies._csrc cimport pb_batch
from pybandit.policies.protocol.policy cimport Policy


cdef inline bint is_reward(double reward) noexcept nogil:
    """As `rewards_told` has it: `LARGEST_REWARD`."""
    return -1e150 <= reward <= 1e150


# A policy whose batches the engine can pull without Python.
cdef class NativePolicy(Policy):
    # Whether it looks at every reward; else at the sums of an arm's rewards.
    cdef bint _wants_rewards
    # Whether `_absorb_with_cost` gets them one by one, each with what it cost.
    cdef bint _wants_costs
    # Whether it is the rule of an allocator, whose decisions give it many rewards, or none.
    cdef bint _serves_a_rule

    # True if it sets silent arms aside; else it only reports them. Set by `__init__`.
    cdef bint _adapts
    # Only silent arms are undecided, as `_advance` and `_retried` find.
    cdef bint settled

    # Pulls that are due: silent arms in a retry, or `_next`.
    cdef pb_batch _planned(self) noexcept nogil
    cdef void _plan_retry(self) noexcept nogil
    # After the results of a retry; `_next` stands. `answered` is True if a silent arm answered.
    cdef void _retried(self) noexcept nogil
    # Pulls that the budget has left; pulls of an arm that a retry may have.
    cdef int64_t _pulls_left(self) noexcept nogil
    cdef int64_t _most_repeats(self) noexcept nogil
    cdef int _take_silence(self, state) except -1

    cdef bint _never_ends(self) noexcept
    cdef _asked(self)
    # Of states: the schema of `_get_progress`, the sizes that it names; what follows.
    cdef object _schema(self)
    cdef dict _sizes(self)
    cdef int _resume(self) except -1

    # What `recommend` gives, into memory of n_arms: how many, or -1 where only `recommend` knows.
    # Asked where one class has both, and says so: `_answers = True`.
    cdef int64_t _answer(self, int64_t *arms) noexcept nogil
    cdef int64_t _best_of(self, const int64_t *arms, int64_t n, int64_t n_best,
                          int64_t *best) noexcept nogil
    # What no state holds becomes as `__init__` made it, statistics as they are; False: it cannot.
    cdef bint _forget(self) except -1

    # Whether each run brings its stream; and that stream, the state of a PCG64: what `seed` does.
    cdef bint _takes_stream(self) noexcept
    cdef int _take_stream(self, state) except -1

    # Whether nothing is left to ask. By default it is.
    cdef bint _is_done(self) noexcept nogil
    # What to pull now, while it is not done; at least one pull, arms in [0, n_arms).
    cdef pb_batch _next(self) noexcept nogil
    cdef bint _accepts(self, double reward) noexcept nogil
    cdef void _absorb_with_cost(self, int64_t arm, double reward, double cost) noexcept nogil
    # The bits of a run, from before its first pull; NULL: it is over. They stay the run's.
    cdef void _lend(self, pb_bitgen *bits) noexcept nogil
