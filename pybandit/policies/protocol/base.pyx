# cython: auto_pickle=False
"""Policies of this package, which can be saved and run without Python code per pull."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS
from pybandit._shared.schema import made_from
from pybandit.policies.protocol._states import NATIVE, SILENCE
from pybandit.policies.protocol.policy import Policy as _Policy

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, int64_t
from libc.string cimport memmove

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.policies._csrc cimport pb_batch
from pybandit.policies.protocol.policy cimport Policy

cnp.import_array()

cdef enum:
    # maximum number of best arms found without sorting
    FEW = 8

# a name that is only cimported is not an attribute of the module
globals()["Policy"] = _Policy


cdef class NativePolicy(Policy):
    """A policy that checks its input once and then runs without Python."""

    cdef bint _is_done(self) noexcept nogil:
        return True

    cdef pb_batch _next(self) noexcept nogil:
        cdef pb_batch batch
        batch.arms, batch.counts = NULL, NULL
        batch.n_arms, batch.first, batch.n_pulls = 0, 0, 0
        return batch

    cdef int64_t _single(self) noexcept nogil:
        return -1

    cdef pb_batch _planned(self) noexcept nogil:
        return self.silence.batch() if self.silence.n_asked else self._next()

    cdef void _finish(self, int64_t n) noexcept nogil:
        if self.silence.n_asked:
            self.silence.clear()
            self.n_pulls += n
            self.n_batches += 1
            self._retried()
            if self.settled and not self.silence.has_all():  # first check that other arms answer
                return
        else:
            Policy._finish(self, n)
        if self.silence.n_aside and self._adapts:
            self._plan_retry()

    cdef void _plan_retry(self) noexcept nogil:
        """Plan pulls of the silent arms that are due, or of all if there is nothing else to ask."""
        cdef bint in_turn = self.settled or self.silence.has_all()
        if not self._is_done():
            self.silence.plan(self.n_pulls, min(self._batch_pulls(), self._pulls_left()),
                              self._most_repeats() if in_turn else 1, in_turn, self.settled)

    cdef void _retried(self) noexcept nogil:
        pass

    cdef int64_t _pulls_left(self) noexcept nogil:
        return INT64_MAX

    cdef int64_t _most_repeats(self) noexcept nogil:
        return 1

    cdef void _absorb_with_cost(self, int64_t arm, double reward, double cost) noexcept nogil:
        self._absorb(&arm, &reward, 1)

    cdef void _lend(self, pb_bitgen *bits) noexcept nogil:
        pass

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        return -1

    cdef int64_t _best_of(self, const int64_t *arms, int64_t n, int64_t n_best,
                          int64_t *best) noexcept nogil:
        """Write the result of `_best` for increasing arms to `best`; return -1 if n_best > FEW."""
        cdef double means[FEW]
        cdef double mean
        cdef int64_t i, j, found = 0
        if n_best > FEW or self.silence.n_aside:
            return -1
        for i in range(n):
            mean = -INFINITY
            if self._pulls[arms[i]]:
                mean = self._sums[arms[i]] / self._pulls[arms[i]]
            j = found
            while j > 0 and mean > means[j - 1]:
                j -= 1
            if j >= n_best:
                continue
            found = min(found + 1, n_best)
            memmove(&means[j + 1], &means[j], (found - j - 1) * sizeof(double))
            memmove(best + j + 1, best + j, (found - j - 1) * sizeof(int64_t))
            means[j], best[j] = mean, arms[i]
        return found

    cdef bint _forget(self) except -1:
        return False

    cdef bint _takes_stream(self) noexcept:
        return False

    cdef int _take_stream(self, state) except -1:
        return 0

    @property
    def done(self):
        """True if there is nothing left to ask."""
        self.guard.enter_to_read()
        try:
            return self._is_done()
        finally:
            self.guard.leave()

    @property
    def is_endless(self):
        """True if `done` never becomes True: `simulate` then needs `max_pulls`.

        False if a subclass overrides `done` but not `is_endless`.
        """
        self.guard.check()
        return bool(self._never_ends()) and type(self).done is NativePolicy.done

    cdef bint _never_ends(self) noexcept:
        return False

    def ask(self):
        """Return the arms to pull now, the same until they are reported.

        Returns
        -------
        ndarray of int64
            Repeats allowed; empty once the policy is done.
        """
        self.guard.enter_to_read()
        try:
            self.may_tell = True
            return self._asked()
        finally:
            self.guard.leave()

    cdef bint _notes_asks(self):
        return type(self).ask is NativePolicy.ask

    cdef _asked(self):
        cdef pb_batch batch
        cdef cnp.npy_intp n
        cdef int64_t *view
        cdef int64_t j, position
        if self._is_done():
            return np.empty(0, dtype=np.int64)
        batch = self._planned()
        if batch.counts:
            return np.repeat(np.array(<int64_t[:batch.n_arms]>batch.arms),
                             np.array(<int64_t[:batch.n_arms]>batch.counts))
        n = batch.n_pulls
        arms = cnp.PyArray_EMPTY(1, &n, cnp.NPY_INT64, 0)
        view = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>arms)
        position = batch.first
        for j in range(batch.n_pulls):
            view[j] = batch.arms[position]
            position += 1
            if position == batch.n_arms:
                position = 0
        return arms

    cdef bint _is_as_asked(self, const int64_t *arms, const double *rewards,
                           int64_t n) except -1:
        cdef pb_batch batch
        cdef int64_t j, position
        if self._is_done() or type(self).ask is not NativePolicy.ask:
            return False
        batch = self._planned()
        if batch.counts or batch.n_pulls != n:
            return False
        position = batch.first
        for j in range(n):
            if arms[j] != batch.arms[position] or not self._accepts(rewards[j]):
                return False
            position += 1
            if position == batch.n_arms:
                position = 0
        return True

    cdef bint _accepts(self, double reward) noexcept nogil:
        """Return True if `_check_rewards` would accept the reward."""
        return is_reward(reward)

    def _check_seen(self):
        """Raise if the engine received rewards that `tell` would have rejected."""
        self.guard.check()

    # A subclass returns its constructor's arguments in `_options`. `_get_progress` and
    # `_set_progress` save and restore its data besides the arms' statistics; see `_schema`.
    def _options(self):
        raise NotImplementedError(f"{type(self).__name__} must define get_state and from_state "
                                  "to be saved")

    cdef object _schema(self):
        return NATIVE

    cdef dict _sizes(self):
        """Return the sizes that the schema names."""
        return {"n_arms": self.n_arms, "last_arm": self.n_arms - 1, "k": self.k,
                "most_rewards": MOST_PULLS if self._serves_a_rule else "n_pulls"}

    def _get_progress(self):
        self.guard.check()
        return {}

    def _set_progress(self, progress):
        self.guard.check()

    def get_state(self):
        """Return the whole state of the policy as a dict of arrays and plain numbers.

        `from_state` creates a policy from it that continues bit for bit.
        """
        with self.guard.reading():
            return {
                "type": type(self).__name__,
                "options": self._options(),
                "n_pulls": self.n_pulls,
                "n_batches": self.n_batches,
                "pulls": np.array(self._pulls),
                "sums": np.array(self._sums),
                "deviations": np.array(self._deviations),
                "silence": self.silence.get_state() | {"settled": bool(self.settled)},
                "progress": self._get_progress(),
            }

    @classmethod
    def from_state(cls, state):
        """Return the policy that `get_state` described.

        Raises
        ------
        ValueError
            If the state belongs to another class or cannot result from any run; the message
            names the violated condition. A restored policy ends, keeps to its budget and only
            asks for arms that exist.
        """
        policy = made_from(cls, state)
        (<NativePolicy?>policy)._restore(state)
        (<NativePolicy>policy).may_tell = True  # ask may have been called before it was saved
        return policy

    def _checked_state(self, state):
        """Check a state and return it in the form that `_restore` uses."""
        self.guard.check()
        return self._schema().checked(state, self._sizes())

    def _restore(self, state):
        self.guard.enter()
        try:
            self._take_silence(state)
            checked = self._checked_state(state)
            self.n_pulls, self.n_batches = checked["n_pulls"], checked["n_batches"]
            np.asarray(self._pulls)[:] = checked["pulls"]
            np.asarray(self._sums)[:] = checked["sums"]
            np.asarray(self._deviations)[:] = checked["deviations"]
            self._set_progress(checked)
            self._resume()
            if self.silence.n_asked > self._pulls_left():
                raise ValueError(f"state must hold at most {self._pulls_left()} pulls in asked, "
                                 f"the rest of the budget; got {self.silence.n_asked}")
            # there is nothing else to ask
            if self.silence.has_all() and self._adapts and not self.silence.n_asked:
                self._plan_retry()
        finally:
            self.guard.leave()

    cdef int _take_silence(self, state) except -1:
        if "silence" not in state:
            raise ValueError("state must hold silence; got none")
        known = SILENCE.checked_part("silence", state["silence"], {
            "n_arms": self.n_arms, "adapts": bool(self._adapts),
            "most_repeats": self._most_repeats(), "most_asked": self._batch_pulls()})
        if known["n_counted"]:
            self._make_silence()
        self.settled = known["settled"]
        return self.silence.set_state(known)

    cdef int _resume(self) except -1:
        """Compute data that a restored state determines but does not contain."""
        return 0

    def __reduce__(self):
        reduced = type(self).from_state, (self.get_state(),)
        # attributes of a subclass written in Python
        attributes = getattr(self, "__dict__", None)
        return (*reduced, dict(attributes)) if attributes else reduced
