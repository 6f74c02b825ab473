# cython: auto_pickle=False
"""The protocol of all policies: ask, tell, done, recommend."""

import numpy as np

from pybandit._shared.checks import check_choice
from pybandit._shared.errors import ProtocolError
from pybandit._shared.labels import told_in_order
from pybandit.policies.protocol._reports import (
    asked_arms, late_arms, reported_arms, reported_rewards,
)

cimport numpy as cnp

from pybandit.policies.protocol._flat cimport (
    any_lost, few_integers, few_numbers, length_of, length_of_numbers,
)
from pybandit.policies.protocol._statistics cimport ArmStatistics, last_compiled

cnp.import_array()

cdef str RAISE = "raise"

cdef enum:
    # maximum number of pulls of a batch that are copied to the stack
    FEW = 16


cdef class Policy(ArmStatistics):
    """A rule that asks for pulls of arms until it can recommend some.

    Subclass it for a user-defined policy: call ``super().__init__(n_arms, k)`` and define `ask`,
    `done` and `recommend`. `tell` updates the statistics of the arms; an override may call it and
    do more. `simulate` accepts such a policy like those of this package, but runs it more slowly.
    If the policy never ends by itself, define `is_endless` to be True; if it draws random numbers,
    define `seed` to take the generator.

    Parameters
    ----------
    n_arms : int
        At least 1. Arms are numbered from 0.
    k : int, default 1
        Number of arms to find, in [0, n_arms].

    Attributes
    ----------
    n_pulls, n_batches : int
        Number of pulls and batches reported so far, lost pulls included.
    silent : ndarray of int64
        Arms that are silent: they lost `silent_after` pulls in a row, and have not answered since.
    silent_after : int or None
        Lost pulls in a row after which an arm is silent; 10 at first, None for never.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    See Also
    --------
    UCB1, SequentialHalving, BatchSAR : some of the policies of this package.
    simulate : runs a policy many times.

    Notes
    -----
    **Silent arms.** An arm that loses `silent_after` pulls in a row is silent. Policies with a
    fixed schedule report it and keep their schedule. Adaptive policies set it aside:

    - They choose, decide and recommend among the other arms. `recommend` names a silent arm only
      if there are too few others, and last.
    - They ask a silent arm again in a batch of its own: after `silent_after` pulls of other arms
      (`silent_after` batches, if batches hold several pulls), then after twice as many, and so
      on. A retry counts as a pull. An arm that answers is taken back with its statistics.
    - If only silent arms are undecided, they are asked in turn, each retry followed by a batch of
      other arms. The policy is done when each silent arm has lost ``3 silent_after`` pulls in a
      row and the others still answer.
    - If all arms are silent, they are asked in turn until one answers or the budget is spent. The
      others are then asked again at once.

    Guarantees then concern the arms that answer. They hold if the loss of a pull does not depend
    on its reward: the confidence bounds hold for all K arms at once and for any rule that chooses
    pulls, including one that depends on losses. Their levels count all K arms, so they stay valid
    when an arm returns.

    **Threads.** Use it in one thread at a time: a call during another thread's call raises
    RuntimeError and changes nothing. Ctrl-C leaves the policy as before the call or after it.

    Examples
    --------
    The loop that runs any policy:

    >>> import numpy as np, pybandit as pb
    >>> rng, rates = np.random.default_rng(1), np.array([0.3, 0.5, 0.8])
    >>> policy = pb.policies.SequentialHalving(3, budget=60)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.binomial(1, rates[arms]))
    >>> policy.recommend()
    array([1])

    A user-defined policy that pulls a random arm now and then, and otherwise the best so far:

    >>> class Greedy(pb.Policy):
    ...     def __init__(self, n_arms, budget):
    ...         super().__init__(n_arms)
    ...         self.budget, self.rng, self.next = budget, np.random.default_rng(0), None
    ...     def seed(self, rng):
    ...         self.rng = rng
    ...     @property
    ...     def done(self):
    ...         return self.n_pulls >= self.budget
    ...     def ask(self):
    ...         if self.next is None:   # the same until its reward comes
    ...             explores = self.n_pulls < self.n_arms or self.rng.random() < 0.2
    ...             arm = self.rng.integers(self.n_arms) if explores else self.recommend()[0]
    ...             self.next = np.array([arm])
    ...         return self.next
    ...     def tell(self, arms, rewards, missing="raise"):
    ...         super().tell(arms, rewards, missing)
    ...         self.next = None
    ...     def recommend(self):
    ...         return np.array([np.argmax(np.nan_to_num(self.means))])
    >>> bandit = pb.environments.BernoulliBandit(rates)
    >>> pb.simulate(lambda e: Greedy(3, 100), bandit, 50, rng=1).error_probability
    0.0
    """

    def __init__(self, n_arms, k=1):
        super().__init__(n_arms, k)
        self._made(Policy)

    cdef int _made(self, cls) except -1:
        """Open the guard if `cls` is the last compiled class: its __init__ ends with this call."""
        last = last_compiled(type(self))
        # a class compiled elsewhere is open as soon as its base class is initialised
        if last is cls or cls is Policy and not last.__module__.startswith("pybandit."):
            self.guard.open()
        return 0

    @property
    def decided(self):
        """True once a rule with an error probability has stopped the policy.

        Always False for policies without such a rule. ``done and not decided`` means that the
        policy ended at its budget or `max_pulls`.
        """
        self.guard.check()
        return False

    @property
    def is_endless(self):
        """True if `done` never becomes True: `simulate` then needs `max_pulls`."""
        self.guard.check()
        return False

    def seed(self, rng):
        """Set the generator from which the policy draws; by default it draws nothing.

        `simulate` calls this once per run, before the first `ask`, with the run's generator, so
        that runs differ but are reproducible. A policy created with its own `rng` keeps that one.

        Parameters
        ----------
        rng : Generator
        """
        self.guard.check()

    @property
    def done(self):
        """True if there is nothing left to ask."""
        raise NotImplementedError(f"{type(self).__name__} must define done")

    def ask(self):
        """Return the arms to pull now: int64, repeats allowed; the same until they are reported.

        Examples
        --------
        >>> import pybandit as pb
        >>> policy = pb.policies.RoundRobin(3, 1, batch_size=4, max_batches=5)
        >>> policy.ask(), policy.ask()
        (array([0, 1, 2, 0]), array([0, 1, 2, 0]))
        >>> policy.tell(policy.ask(), [0.2, 0.4, 0.6, 0.3])
        >>> policy.ask()
        array([1, 2, 0, 1])
        """
        raise NotImplementedError(f"{type(self).__name__} must define ask")

    def tell(self, arms, rewards, missing="raise"):
        """Report the rewards of the arms that `ask` returned; on an error nothing changes.

        Parameters
        ----------
        arms : array_like of int, shape (n,)
            The arms of `ask`, in any order.
        rewards : array_like of float, shape (n,)
            One per pull.
        missing : {"raise", "drop"}
            With ``"drop"``, NaN marks a lost pull: it counts against the budget but does not
            change the arm's statistics.

        Raises
        ------
        ValueError, TypeError
            If `arms` are not those of `ask`, a shape differs, or a reward is infinite, or NaN
            without ``missing="drop"``. The policy is then unchanged.
        ProtocolError
            If `arms` are not those of `ask` and `ask` was not called since the last `tell`, if
            the policy is done, or if another thread uses it.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> policy = pb.policies.Uniform(2, budget=4)
        >>> policy.ask()
        array([0, 1, 0, 1])
        >>> policy.tell([1, 1, 0, 0], [0.5, 0.7, 0.2, np.nan], missing="drop")
        >>> policy.pulls, policy.n_pulls
        (array([1, 2]), 4)
        """
        if missing is not RAISE:
            check_choice("missing", missing, ("raise", "drop"))
        self.guard.enter()
        try:
            self._tell(arms, rewards, missing)
            self.may_tell = False
        finally:
            self.guard.leave()

    cdef int _tell(self, arms, rewards, missing) except -1:
        """Copy the report, then check and use the copy, which no other thread can change."""
        cdef int64_t few_arms[FEW]
        cdef double few_rewards[FEW]
        cdef const int64_t *pulled = few_arms
        cdef const double *values = few_rewards
        cdef int64_t n = few_integers(arms, few_arms, FEW)
        if n >= 0:
            if n != few_numbers(rewards, few_rewards, FEW):
                n = 0
        else:
            n = length_of(arms, cnp.NPY_INT64)
            if n < 0 or n != length_of_numbers(rewards):
                n = 0
            else:
                arms, rewards = np.array(arms), np.array(rewards, dtype=np.float64)
                pulled = <const int64_t *>cnp.PyArray_DATA(<cnp.ndarray>arms)
                values = <const double *>cnp.PyArray_DATA(<cnp.ndarray>rewards)
        if not n or not self._is_as_asked(pulled, values, n):
            arms, rewards = self._checked(arms, rewards, missing)
            pulled = <const int64_t *>cnp.PyArray_DATA(<cnp.ndarray>arms)
            values = <const double *>cnp.PyArray_DATA(<cnp.ndarray>rewards)
            n = cnp.PyArray_SIZE(<cnp.ndarray>arms)
        self._prepare(pulled, values, n)
        if missing is not RAISE and not self.silence.counts and any_lost(values, n):
            self._make_silence()
        with nogil:
            self._absorb(pulled, values, n)
            if self.silence.counts:
                self._hear(pulled, values, n)
            self._finish(n)
        if self.broken:
            raise self.failure
        return 0

    cdef void _break(self, error) noexcept:
        """Invalidate the policy after an error in the middle of a change that cannot be undone."""
        self.guard.spoil(error)
        self.broken, self.failure = True, error

    cdef int _prepare(self, const int64_t *arms, const double *rewards, int64_t n) except -1:
        """Do everything in a tell that can fail, before anything changes."""
        return 0

    def add_late(self, arms, rewards):
        """Report late rewards of pulls that were reported as lost.

        The arms' statistics include them. Spent pulls, decisions and the current request do not
        change: `ask` returns the same arms until they are reported. Later decisions use the late
        rewards. Lost pulls are counted over all arms together; the caller checks them per arm.

        Parameters
        ----------
        arms : array_like of int, shape (n,)
            In any order, one entry per reward.
        rewards : array_like of float, shape (n,)
            Finite; one per pull.

        Raises
        ------
        ValueError, TypeError
            If an arm does not exist, a shape differs, `tell` would reject a reward, or there are
            more rewards than lost pulls of all arms. The policy is then unchanged.
        NotImplementedError
            If a subclass overrides `tell` but not `add_late`.

        Notes
        -----
        A silent arm stays silent until it answers a pull, but is asked before other silent arms.

        If a policy stores bounds or keys per arm, those of an arm that does not currently
        determine a decision may stay outdated until it is pulled again.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> policy = pb.policies.Uniform(2, budget=4)
        >>> policy.tell(policy.ask(), [0.5, np.nan, 0.5, 0.25], missing="drop")
        >>> policy.add_late([1], [0.75])
        >>> policy.pulls, policy.means
        (array([2, 2]), array([0.5, 0.5]))
        """
        cdef const int64_t *pulled
        cdef const double *values
        cdef int64_t j, n
        if type(self).tell is not Policy.tell:
            raise NotImplementedError(f"{type(self).__name__} must define add_late, because it "
                                      "overrides tell")
        self.guard.enter()
        try:
            told_in_order("rewards", rewards, arms)
            arms = late_arms(arms, self.n_arms, self.n_pulls - int(np.sum(self._pulls)))
            rewards = self._check_rewards(arms, rewards, "raise")
            pulled = <const int64_t *>cnp.PyArray_DATA(<cnp.ndarray>arms)
            values = <const double *>cnp.PyArray_DATA(<cnp.ndarray>rewards)
            n = cnp.PyArray_SIZE(<cnp.ndarray>arms)
            if n:
                with nogil:
                    self._absorb(pulled, values, n)
                    self._settle(pulled, n)
                    for j in range(n if self.silence.counts else 0):
                        self.silence.answer(pulled[j], self.n_pulls, False)
            if self.broken:
                raise self.failure
        finally:
            self.guard.leave()

    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil:
        """Update the policy for new statistics of these arms, but keep the current request."""

    cdef void _finish(self, int64_t n) noexcept nogil:
        """Count a batch of n pulls that was absorbed, and advance."""
        self.n_pulls += n
        self.n_batches += 1
        self._advance()

    cdef bint _is_as_asked(self, const int64_t *arms, const double *rewards,
                           int64_t n) except -1:
        """Return True if these are exactly the arms of `ask`, in order, with valid rewards."""
        return False

    cdef bint _notes_asks(self):
        """Return True if `ask` sets `may_tell`."""
        return False

    cdef _checked(self, arms, rewards, missing):
        """Return arms and rewards of a tell as new arrays of int64 and float64."""
        may_tell = self.may_tell
        asked = asked_arms(self.ask(), self.n_arms, type(self).__name__)
        self.may_tell = may_tell
        told_in_order("rewards", rewards, arms)
        try:
            arms = reported_arms(arms, asked)
        except ValueError:
            if may_tell or not asked.size or not self._notes_asks():
                raise
            raise ProtocolError("nothing is asked: call ask() before tell()") from None
        return arms, self._check_rewards(arms, rewards, missing)

    def _check_rewards(self, arms, rewards, missing):
        return reported_rewards(arms, rewards, missing)

    def recommend(self):
        """Return the best arms found, best first; int64. May be called at any time.

        Examples
        --------
        >>> import pybandit as pb
        >>> policy = pb.policies.RoundRobin(3, 2, batch_size=3, max_batches=5)
        >>> policy.tell(policy.ask(), [0.2, 0.4, 0.6])
        >>> policy.recommend()
        array([2, 1])
        """
        raise NotImplementedError(f"{type(self).__name__} must define recommend")

    def __reduce__(self):
        # for subclasses written in Python; compiled classes use get_state
        if last_compiled(type(self)) is not Policy:
            raise TypeError(f"{type(self).__name__} must define __reduce__ to be pickled: its "
                            "compiled fields are not known here")
        with self.guard.reading():
            return (_restored, (type(self), self.n_arms, self.k, *self._statistics()),
                    dict(getattr(self, "__dict__", {})) or None)

    cdef void _advance(self) noexcept nogil:
        pass


def _restored(cls, n_arms, k, *state):
    """Return an unpickled policy of a Python subclass; its attributes are set afterwards."""
    cdef Policy policy = cls.__new__(cls)
    Policy.__init__(policy, n_arms, k)
    policy._take_statistics(state)
    return policy
