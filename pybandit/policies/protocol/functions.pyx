# cython: auto_pickle=False
"""Policies made of compiled functions; `pybandit.numba.policy` creates their classes."""

import numpy as np

from pybandit._shared.generators import private_generator, restore_stream, stream_state
from pybandit._shared.schema import Schema, anything, flag, integer, stream
from pybandit.policies.protocol._states import NATIVE

from libc.math cimport NAN, isnan
from libc.stdint cimport INT64_MIN, int64_t, uintptr_t
from libc.string cimport memcpy

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of
from pybandit.policies._csrc cimport pb_batch, pb_batch_one
from pybandit.policies.protocol.base cimport NativePolicy

__all__ = ["FunctionPolicy"]

# Compiled functions return an arm, a flag or an unused number; INT64_MIN if they raised.
ctypedef int64_t (*rule)(int64_t t, int64_t arm, double reward, int64_t n_arms,
                         const int64_t *pulls, const double *sums, const double *deviations,
                         pb_bitgen *bits, int64_t *data) noexcept nogil

PLAIN = Schema([integer("chosen", -1, "last_arm"), flag("finished"), anything("arrays")],
               base=NATIVE)
RANDOM = Schema([flag("rng_given"), stream()], base=PLAIN)


cdef class FunctionPolicy(NativePolicy):
    """A policy of compiled functions; the base of classes made by `pybandit.numba.policy`.

    Parameters
    ----------
    n_arms : int
        At least 1.
    rng : None, int, SeedSequence or Generator
        Seeds the policy's own stream, if its functions use one. By default `simulate` lends it
        the stream of the run.
    **options : ndarray, float, int or bool
        Further arguments of the functions. Numbers are fixed. Arrays are copied: functions write
        to the copies, and every run of `simulate` starts with the values given here.

    Attributes
    ----------
    done : bool
    n_pulls, n_batches : int
    pulls, means, variances : ndarray
        See `Policy`.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or an option is unknown or missing.
    numba.core.errors.NumbaError
        If numba cannot compile the functions for these types.

    Notes
    -----
    If a function returns an arm that does not exist, or raises, the call that ran it raises, and
    the policy cannot be used any more: its arrays may be partly written.

    **Threads.** Use it in one thread at a time; otherwise it raises RuntimeError.

    Examples
    --------
    >>> import numpy as np, pybandit as pb, pybandit.numba
    >>> @pybandit.numba.policy
    ... def in_turn(t, n_arms):
    ...     return t % n_arms
    >>> policy = in_turn(3)
    >>> isinstance(policy, pybandit.numba.FunctionPolicy), policy.ask()
    (True, array([0]))
    """

    rules = None
    functions = None

    cdef rule asks, learns, names, ends   # NULL if there is none
    cdef dict given, arrays               # options; views of memory
    cdef object addresses
    cdef unsigned char[::1] memory, initial
    cdef int64_t[::1] words, everyone
    cdef int64_t chosen                   # the arm to pull; -1 if not determined yet
    cdef bint finished, rng_given
    cdef object generator                 # the policy's own, or None
    cdef pb_bitgen *own_bits
    cdef pb_bitgen *bits                  # own_bits, or those of the run

    def __init__(self, n_arms, *, rng=None, **options):
        rules = type(self).rules
        if rules is None:
            raise TypeError("FunctionPolicy must be created by pybandit.numba.policy from "
                            "functions; got no functions")
        super().__init__(n_arms)
        self.given = rules.checked(options)
        self._take(rules.bound(self.given))
        self._wants_rewards = self.learns != NULL or rules.names("deviations")
        self.everyone = np.arange(self.n_arms)
        self.chosen, self.rng_given = -1, rng is not None
        if rules.names("rng"):
            self._start_stream(rng)
        elif self.rng_given:
            raise TypeError(f"rng must be None for {type(self).__name__}, whose functions do not "
                            f"use one; got {type(rng).__name__}")
        self._look()
        if self.broken:
            raise self.failure
        self._made(FunctionPolicy)

    cdef int _take(self, bound) except -1:
        """Store the compiled functions and the memory of their options."""
        self.addresses, self.arrays = bound.addresses, bound.arrays
        self.memory, self.initial = bound.memory, bound.memory.copy()
        self.words = bound.words
        self.asks, self.learns = self._rule("ask"), self._rule("tell")
        self.names, self.ends = self._rule("recommend"), self._rule("done")
        return 0

    cdef rule _rule(self, role):
        return <rule><uintptr_t>self.addresses.get(role, 0)

    cdef _start_stream(self, rng):
        self.generator = private_generator(rng)
        self.bits = self.own_bits = bitgen_of(self.generator)

    def seed(self, rng):
        """Replace the policy's stream, unless `rng` was given or pulls were made."""
        with self.guard:
            if self.generator is not None and not self.rng_given and not self.n_pulls:
                self._start_stream(rng)

    cdef void _lend(self, pb_bitgen *bits) noexcept nogil:
        if not self.rng_given:
            self.bits = bits if bits != NULL else self.own_bits

    cdef bint _never_ends(self) noexcept:
        return self.ends == NULL

    cdef int64_t _call(self, rule function, int64_t arm, double reward) noexcept nogil:
        return function(self.n_pulls, arm, reward, self.n_arms, &self._pulls[0], &self._sums[0],
                        &self._deviations[0], self.bits, &self.words[0])

    cdef bint _is_done(self) noexcept nogil:
        return self.finished

    cdef pb_batch _next(self) noexcept nogil:
        cdef int64_t arm
        if self.chosen < 0:
            arm = self._call(self.asks, -1, NAN)
            if not 0 <= arm < self.n_arms:
                with gil:
                    self._break(self._refusal("ask", arm))
                arm = 0
            self.chosen = arm
        return pb_batch_one(&self.chosen)

    cdef _asked(self):
        asked = NativePolicy._asked(self)
        if self.broken:
            raise self.failure
        return asked

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        cdef int64_t j
        for j in range(n):
            NativePolicy._absorb(self, &arms[j], &rewards[j], 1)
            if self.learns == NULL or isnan(rewards[j]) or self.broken:
                continue
            if self._call(self.learns, arms[j], rewards[j]) == INT64_MIN:
                with gil:
                    self._break(self._refusal("tell", INT64_MIN, arms[j], rewards[j]))

    cdef void _advance(self) noexcept nogil:
        self.chosen = -1
        self._look()

    cdef void _look(self) noexcept nogil:
        """Update `finished`."""
        cdef int64_t answer
        if self.ends == NULL or self.broken:
            return
        answer = self._call(self.ends, -1, NAN)
        if answer == INT64_MIN:
            with gil:
                self._break(self._refusal("done", answer))
        self.finished = answer != 0

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        if self.names == NULL:
            return self._best_of(&self.everyone[0], self.n_arms, 1, arms)
        arms[0] = self._call(self.names, -1, NAN)
        return 1 if 0 <= arms[0] < self.n_arms else -1

    _answers = True

    def recommend(self):
        """Return the arm that the function `recommend` returns, int64 of shape (1,).

        Without such a function, the arm of the largest mean.
        """
        cdef int64_t arm
        with self.guard.reading():
            if self.names == NULL:
                return self._best(np.asarray(self.everyone), 1)
            arm = self._call(self.names, -1, NAN)
            if not 0 <= arm < self.n_arms:
                raise self._refusal("recommend", arm)
            return np.array([arm])

    def _refusal(self, role, answer, arm=-1, reward=NAN):
        """Return the error for a function that raised or returned an arm that does not exist."""
        self.guard.check()
        name = f"{role} of {type(self).__name__}"
        if answer != INT64_MIN:
            return ValueError(f"{name} must return an arm in [0, {self.n_arms}); got {answer} "
                              f"after {self.n_pulls} pulls")
        detail = f" at reward {reward} of arm {arm}" if role == "tell" else ""
        error = RuntimeError(f"{name} raised an exception{detail} after {self.n_pulls} pulls")
        copies = {name: array.copy() for name, array in self.arrays.items()}
        # a function that depends on random bits may not raise again
        error.__cause__ = type(self).rules.exception(role, {
            **self.given, **copies, "t": self.n_pulls, "n_arms": self.n_arms, "arm": arm,
            "reward": reward, "rng": np.random.default_rng(0), "pulls": np.array(self._pulls),
            "sums": np.array(self._sums), "deviations": np.array(self._deviations)})
        return error

    cdef bint _forget(self) except -1:
        memcpy(&self.memory[0], &self.initial[0], self.memory.shape[0])
        return True

    cdef object _schema(self):
        return PLAIN if self.generator is None else RANDOM

    def _options(self):
        self.guard.check()
        return {"n_arms": self.n_arms, **self.given}

    def _get_progress(self):
        self.guard.check()
        progress = {"chosen": self.chosen, "finished": bool(self.finished),
                    "arrays": {name: array.copy() for name, array in self.arrays.items()}}
        if self.generator is not None:
            progress |= {"rng_given": bool(self.rng_given), "stream": stream_state(self.generator)}
        return progress

    def _checked_state(self, state):
        checked = super()._checked_state(state)
        arrays = checked["arrays"]
        if not isinstance(arrays, dict) or set(arrays) != set(self.arrays):
            raise ValueError("arrays of the state must be a dict with the names "
                             f"{sorted(self.arrays)}; got {repr(arrays)[:60]}")
        for name, own in self.arrays.items():
            array = np.asarray(arrays[name])
            if array.dtype != own.dtype or array.shape != own.shape:
                raise ValueError(f"state must hold {name} of {own.dtype} and shape {own.shape}; "
                                 f"got {array.dtype} and shape {array.shape}")
        return checked

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.chosen, self.finished = progress["chosen"], progress["finished"]
        for name, own in self.arrays.items():
            own[...] = progress["arrays"][name]
        if self.generator is not None:
            self.rng_given = progress["rng_given"]
            restore_stream(self.generator, progress["stream"])
