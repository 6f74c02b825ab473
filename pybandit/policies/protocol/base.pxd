"""The interface of compiled policies for `simulate`, ask and tell; public, also for other packages.

A user-defined policy derives from `NativePolicy` and defines `_next`, `_is_done`, `_advance` and,
in Python, `recommend`. The underscores only hide these names from Python. It may read `n_arms`,
`k`, `n_pulls`, `n_batches`, `_pulls`, `_sums` and, if it sets `_wants_rewards`, `_deviations`; the
base class writes them. Methods run without the GIL, in one thread at a time per object, under its
guard. They cannot raise and must allocate memory beforehand.

A round consists of `_is_done`, `_next`, the pulls, and `_advance`. `_next` is called several times
per round and must return the same `pb_batch` (pybandit/policies/protocol/round_robin.h) each time.
Its arrays belong to the policy and must not change until `_advance`. If the policy sets `_adapts`,
silent arms are asked in separate batches in between: the result of `_next` then stays valid, and
`_retried` is called instead of `_advance`.

Class layouts may change with a minor version: compile against the version you run.
docs/embedding.md has an example.
"""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.policies._csrc cimport pb_batch
from pybandit.policies.protocol.policy cimport Policy


cdef inline bint is_reward(double reward) noexcept nogil:
    """Return True if `reported_rewards` accepts the reward; the limit is `LARGEST_REWARD`."""
    return -1e150 <= reward <= 1e150


# A policy that the engine can run without Python.
cdef class NativePolicy(Policy):
    # Set if the policy uses every single reward; otherwise only the sums per arm.
    cdef bint _wants_rewards
    # Set if `_absorb_with_cost` takes the rewards one by one, each with its cost.
    cdef bint _wants_costs
    # Set if an allocator uses the policy: one decision may then bring many rewards, or none.
    cdef bint _serves_a_rule

    # Set by `__init__` if it sets silent arms aside; otherwise it only reports them.
    cdef bint _adapts
    # Set by `_advance` and `_retried` if only silent arms are undecided.
    cdef bint settled

    # The pulls to request now: silent arms in a retry, or the batch of `_next`.
    cdef pb_batch _planned(self) noexcept nogil
    cdef void _plan_retry(self) noexcept nogil
    # Called after the results of a retry; `_next` does not change. `answered`: True if a silent arm
    # answered.
    cdef void _retried(self) noexcept nogil
    # Pulls left in the budget; maximum number of pulls per arm in a retry.
    cdef int64_t _pulls_left(self) noexcept nogil
    cdef int64_t _most_repeats(self) noexcept nogil
    cdef int _take_silence(self, state) except -1

    cdef bint _never_ends(self) noexcept
    cdef _asked(self)
    # Saved states: the schema of `_get_progress`, the sizes that it names, and derived data.
    cdef object _schema(self)
    cdef dict _sizes(self)
    cdef int _resume(self) except -1

    # Writes the result of `recommend` to an array of n_arms and returns its length; -1 if only
    # `recommend` can tell. Called if one class defines both methods and sets `_answers = True`.
    cdef int64_t _answer(self, int64_t *arms) noexcept nogil
    cdef int64_t _best_of(self, const int64_t *arms, int64_t n, int64_t n_best,
                          int64_t *best) noexcept nogil
    # Resets fields that are not in the state as `__init__` does, except the statistics; returns
    # False if it cannot.
    cdef bint _forget(self) except -1

    # Returns True if each run supplies a stream; sets the stream to a PCG64 state, as `seed` does.
    cdef bint _takes_stream(self) noexcept
    cdef int _take_stream(self, state) except -1

    # Returns True if there is nothing left to ask, which is the default.
    cdef bint _is_done(self) noexcept nogil
    # Returns the next batch, of at least one pull and arms in [0, n_arms); not called if done.
    cdef pb_batch _next(self) noexcept nogil
    # Returns the arm if a pull of one arm is next. Returns -1, the default, if the policy is done
    # or only `_planned` can tell. Saves time per pull; otherwise the engine asks `_is_done` and
    # `_planned`.
    cdef int64_t _single(self) noexcept nogil
    cdef bint _accepts(self, double reward) noexcept nogil
    cdef void _absorb_with_cost(self, int64_t arm, double reward, double cost) noexcept nogil
    # Lends the random bits of a run, owned by the run, before its first pull; NULL at its end.
    cdef void _lend(self, pb_bitgen *bits) noexcept nogil
