# cython: auto_pickle=False
"""The protocol of all policies: ask, tell, done, recommend."""

import numpy as np

from pybandit._shared.checks import MOST_HELD, check_choice, check_integer, listed, shown
from pybandit._shared.errors import ProtocolError
from pybandit._shared.labels import told_in_order
from pybandit.policies.protocol._told import arms_asked, arms_told, late_arms, rewards_told

cimport numpy as cnp
from libc.math cimport isnan

from pybandit._shared.guard cimport Guard
from pybandit.policies.protocol._silence cimport Silence
from pybandit.policies.protocol._flat cimport few_integers, few_numbers, length_of, length_of_numbers

cnp.import_array()

cdef str RAISE = "raise"

cdef enum:
    # pulls of a batch that are copied to the stack
    FEW = 16


cdef class Policy:
    """A rule that asks for pulls of arms until it can recommend some.

    Subclass it for a policy of your own: call ``super().__init__(n_arms, k)`` and
    define `ask`, `done` and `recommend`; `tell` keeps the statistics of the arms, and
    yours may call it and do more. `simulate` takes such a policy as it takes those of
    this package, slower. Where it has no end of its own, let `is_endless` be True; where it
    draws at random, let `seed` take the generator.

    Parameters
    ----------
    n_arms : int
        At least 1. Arms count from 0.
    k : int, default 1
        Number of arms to find, in [0, n_arms].

    Attributes
    ----------
    n_pulls, n_batches : int
        Pulls and batches that were told, lost pulls included.
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

    Guarantees then concern the arms that answer. They hold if losing a pull does not depend on its
    reward: the confidence bounds hold for all K arms at once and for any rule that chooses pulls,
    so also for a rule that looks at losses. Their levels count all K arms, so they stay valid
    when an arm returns.

    **Threads.** One at a time; a second gets a RuntimeError, and
    nothing is changed. Ctrl-C leaves it as before the call or after it.

    Examples
    --------
    The loop that all policies are run by:

    >>> import numpy as np, pybandit as pb
    >>> rng, rates = np.random.default_rng(1), np.array([0.3, 0.5, 0.8])
    >>> policy = pb.policies.SequentialHalving(3, budget=60)
    >>> while not policy.done:
    ...     arms = policy.ask()
    ...     policy.tell(arms, rng.binomial(1, rates[arms]))
    >>> policy.recommend()
    array([1])

    One of your own, which now and then pulls any arm and else the best so far:

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
    ...         if self.next is None:   # the same until it is told
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

    def __cinit__(self):
        self.guard = Guard(type(self))
        self.guard.shut()

    def __init__(self, n_arms, k=1):
        self.guard.begin()
        self.n_arms = check_integer("n_arms", n_arms, 1, MOST_HELD)
        k = check_integer("k", k, 0, np.inf)  # compared below, in other words
        if k > self.n_arms:
            raise ValueError(f"k must be at most n_arms = {self.n_arms}; got {shown(k)}")
        self.k = k
        self._pulls = np.zeros(self.n_arms, dtype=np.int64)
        self._sums = np.zeros(self.n_arms)
        self._deviations = np.zeros(self.n_arms)
        self.silence = Silence(self.n_arms)
        self._made(Policy)

    cdef int _made(self, cls) except -1:
        """Opens the guard where `cls` is the last compiled class: its __init__ ends with this."""
        last = last_compiled(type(self))
        # what is compiled elsewhere is open when its base is made
        if last is cls or cls is Policy and not last.__module__.startswith("pybandit."):
            self.guard.open()
        return 0

    @property
    def decided(self):
        """True once a rule with an error probability has stopped the policy; else False.

        Policies without such a rule never decide: theirs is False. ``done and not decided``
        means that the policy ended at its budget or `max_pulls`.
        """
        self.guard.check()
        return False

    @property
    def is_endless(self):
        """True if `done` never becomes True: `simulate` then needs `max_pulls`."""
        self.guard.check()
        return False

    def seed(self, rng):
        """Take the stream that the policy draws from; by default it draws nothing.

        `simulate` calls it once a run, before the first `ask`, with the run's generator, so
        that runs differ and repeat. A policy made with an `rng` of its own keeps that one.

        Parameters
        ----------
        rng : Generator
        """
        self.guard.check()

    # In compiled code the fields of these names, by who holds the guard.
    @property
    def n_pulls(self):
        """Pulls that were told, lost ones included."""
        return read(self, &self.n_pulls)

    @property
    def n_batches(self):
        """Batches that were told."""
        return read(self, &self.n_batches)

    @property
    def pulls(self):
        """Rewards seen of each arm; int64, shape (n_arms,), a copy."""
        with self.guard.reading():
            return np.array(self._pulls)

    @property
    def means(self):
        """Mean reward of each arm; float64, shape (n_arms,), NaN where none was seen."""
        with self.guard.reading(), np.errstate(invalid="ignore"):
            return np.asarray(self._sums) / np.asarray(self._pulls)

    @property
    def variances(self):
        """Sample variance of each arm's rewards; float64, shape (n_arms,), NaN below two."""
        with self.guard.reading(), np.errstate(invalid="ignore", divide="ignore"):
            pulls = np.asarray(self._pulls)
            return np.where(pulls > 1, np.asarray(self._deviations) / (pulls - 1), np.nan)

    @property
    def silent(self):
        """Arms that lost `silent_after` pulls in a row and have not answered since.

        int64, increasing, a copy.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> policy = pb.policies.UCB1(3)
        >>> policy.silent_after = 2
        >>> for _ in range(3):
        ...     arms = policy.ask()
        ...     policy.tell(arms, np.where(arms == 1, np.nan, 0.5), missing="drop")
        >>> policy.silent
        array([1])
        """
        with self.guard.reading():
            if not self.silence.n_aside:
                return np.empty(0, dtype=np.int64)
            return np.flatnonzero(self.silence.aside)

    @property
    def silent_after(self):
        """Lost pulls in a row after which an arm is silent, or None for never.

        Part of the state. A new value applies from the next lost pull: an arm that is silent
        already stays silent until it answers.
        """
        with self.guard.reading():
            return self.silence.limit or None

    @silent_after.setter
    def silent_after(self, value):
        if value is not None:
            value = check_integer("silent_after", value, 1, MOST_HELD)
        with self.guard:
            self.silence.limit = value or 0

    @property
    def done(self):
        """Whether nothing is left to ask."""
        raise NotImplementedError(f"{type(self).__name__} must define done")

    def ask(self):
        """The arms to pull now: int64, repeats allowed; the same until they are told.

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
        """Give the rewards of the arms that `ask` returned; all or nothing.

        Parameters
        ----------
        arms : array_like of int, shape (n,)
            The arms of `ask`, in any order.
        rewards : array_like of float, shape (n,)
            One a pull.
        missing : {"raise", "drop"}
            ``"drop"`` takes NaN for a pull that was lost: it counts against the
            budget and tells nothing of its arm.

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
        """Copies what is told, checks the copy, and takes it: no thread can change it between."""
        cdef int64_t few_arms[FEW]
        cdef double few_rewards[FEW]
        cdef const int64_t *told = few_arms
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
                told = <const int64_t *>cnp.PyArray_DATA(<cnp.ndarray>arms)
                values = <const double *>cnp.PyArray_DATA(<cnp.ndarray>rewards)
        if not n or not self._is_as_asked(told, values, n):
            arms, rewards = self._checked(arms, rewards, missing)
            told = <const int64_t *>cnp.PyArray_DATA(<cnp.ndarray>arms)
            values = <const double *>cnp.PyArray_DATA(<cnp.ndarray>rewards)
            n = cnp.PyArray_SIZE(<cnp.ndarray>arms)
        self._prepare(told, values, n)
        if missing is not RAISE and not self.silence.counts and any_lost(values, n):
            self._make_silence()
        with nogil:
            self._absorb(told, values, n)
            if self.silence.counts:
                self._hear(told, values, n)
            self._finish(n)
        if self.broken:
            raise self.failure
        return 0

    cdef int _make_silence(self) except -1:
        return self.silence.make()

    cdef void _hear(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        """Count losses of a batch of n pulls, set arms aside, and take back those that answer."""
        cdef int64_t j, arm, after = self.n_pulls + n
        self.answered = False
        for j in range(n):
            arm = arms[j]
            if isnan(rewards[j]):
                if self.silence.lose(arm, after, self._batch_pulls()):
                    self._set_aside(arm)
                continue
            self.answered = True
            if self.silence.answer(arm, after, self._pulls[arm] >= self._least_rewards()):
                self._take_back(arm)

    cdef int64_t _least_rewards(self) noexcept nogil:
        return 1

    cdef int64_t _batch_pulls(self) noexcept nogil:
        return 1

    cdef void _set_aside(self, int64_t arm) noexcept nogil:
        pass

    cdef void _take_back(self, int64_t arm) noexcept nogil:
        pass

    cdef void _break(self, error) noexcept:
        """In the middle of a change that cannot be undone: nobody may enter from now on."""
        self.guard.spoil(error)
        self.broken, self.failure = True, error

    cdef int _prepare(self, const int64_t *arms, const double *rewards, int64_t n) except -1:
        """What may fail of a tell, before anything is changed."""
        return 0

    def add_late(self, arms, rewards):
        """Give rewards of pulls that were told as lost and came after all.

        The arms' statistics take them. What was spent, decided and asked stays: `ask`
        gives the same arms until they are told, and what follows knows the late rewards.
        Lost pulls are counted of all arms together: that each arm had lost as many is for
        the caller to see to.

        Parameters
        ----------
        arms : array_like of int, shape (n,)
            In any order, each as often as its rewards.
        rewards : array_like of float, shape (n,)
            Finite; one a pull.

        Raises
        ------
        ValueError, TypeError
            Where an arm does not exist, a shape differs, a reward would not pass `tell`, or
            there are more of them than pulls of all arms were lost. The policy is then as before.
        NotImplementedError
            Where a subclass has its own `tell`, and not its own `add_late`.

        Notes
        -----
        A silent arm stays silent until it answers a pull; it is asked again next.

        Where a policy keeps bounds or keys of arms, those of an arm that leads no decision
        now may stay as they are until it is pulled again.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> policy = pb.policies.Uniform(2, budget=4)
        >>> policy.tell(policy.ask(), [0.5, np.nan, 0.5, 0.25], missing="drop")
        >>> policy.add_late([1], [0.75])
        >>> policy.pulls, policy.means
        (array([2, 2]), array([0.5, 0.5]))
        """
        cdef const int64_t *told
        cdef const double *values
        cdef int64_t j, n
        if type(self).tell is not Policy.tell:
            raise NotImplementedError(f"{type(self).__name__} must define add_late, as it defines "
                                      "tell")
        self.guard.enter()
        try:
            told_in_order("rewards", rewards, arms)
            arms = late_arms(arms, self.n_arms, self.n_pulls - int(np.sum(self._pulls)))
            rewards = self._check_rewards(arms, rewards, "raise")
            told = <const int64_t *>cnp.PyArray_DATA(<cnp.ndarray>arms)
            values = <const double *>cnp.PyArray_DATA(<cnp.ndarray>rewards)
            n = cnp.PyArray_SIZE(<cnp.ndarray>arms)
            if n:
                with nogil:
                    self._absorb(told, values, n)
                    self._settle(told, n)
                    for j in range(n if self.silence.counts else 0):
                        self.silence.answer(told[j], self.n_pulls, False)
            if self.broken:
                raise self.failure
        finally:
            self.guard.leave()

    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil:
        """These arms have other statistics, between batches; what is asked stays."""

    cdef void _finish(self, int64_t n) noexcept nogil:
        """A batch of n pulls was absorbed."""
        self.n_pulls += n
        self.n_batches += 1
        self._advance()

    cdef bint _is_as_asked(self, const int64_t *arms, const double *rewards,
                           int64_t n) except -1:
        """Whether these need no more checks: what `ask` gave, in its order, and good rewards."""
        return False

    cdef bint _notes_asks(self):
        """Return True if `ask` sets `may_tell`."""
        return False

    cdef _checked(self, arms, rewards, missing):
        """Arms and rewards of a tell as int64 and float64 arrays, copies."""
        may_tell = self.may_tell
        asked = arms_asked(self.ask(), self.n_arms, type(self).__name__)
        self.may_tell = may_tell
        told_in_order("rewards", rewards, arms)
        try:
            arms = arms_told(arms, asked)
        except ValueError:
            if may_tell or not asked.size or not self._notes_asks():
                raise
            raise ProtocolError("nothing is asked: call ask() before tell()") from None
        return arms, self._check_rewards(arms, rewards, missing)

    def _check_rewards(self, arms, rewards, missing):
        return rewards_told(arms, rewards, missing)

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        """Adds rewards to the arms' statistics; NaN is a lost pull."""
        cdef int64_t j, arm, count
        cdef double reward, before
        for j in range(n):
            arm, reward = arms[j], rewards[j]
            if isnan(reward):
                continue
            count = self._pulls[arm]
            before = self._sums[arm] / count if count else reward
            self._sums[arm] += reward
            self._pulls[arm] = count + 1
            self._deviations[arm] += (reward - before) * (reward - self._sums[arm] / (count + 1))

    def recommend(self):
        """The arms found best, best first; int64. May be asked at any time.

        Examples
        --------
        >>> import pybandit as pb
        >>> policy = pb.policies.RoundRobin(3, 2, batch_size=3, max_batches=5)
        >>> policy.tell(policy.ask(), [0.2, 0.4, 0.6])
        >>> policy.recommend()
        array([2, 1])
        """
        raise NotImplementedError(f"{type(self).__name__} must define recommend")

    def __repr__(self):
        if self.guard.reason is not None:
            return f"<{type(self).__name__}: {self.guard.reason}>"
        with self.guard.reading():
            silent = listed(self.silent)
            return (f"<{type(self).__name__}: {self.n_arms} arms, {self.n_pulls} pulls in "
                    f"{self.n_batches} batches{', done' if self.done else ''}"
                    f"{f', silent: {silent}' if silent else ''}>")

    def __reduce__(self):
        # of a subclass in Python; compiled ones have a state
        if last_compiled(type(self)) is not Policy:
            raise TypeError(f"{type(self).__name__} must define __reduce__ to be pickled: its "
                            "compiled fields are not known here")
        with self.guard.reading():
            state = (self.n_arms, self.k, self.n_pulls, self.n_batches, np.array(self._pulls),
                     np.array(self._sums), np.array(self._deviations), self.silence.get_state())
        return _restored, (type(self), *state), dict(getattr(self, "__dict__", {})) or None

    cdef int _take_statistics(self, n_pulls, n_batches, pulls, sums, deviations,
                              silence) except -1:
        """The statistics of a policy that was pickled."""
        self.n_pulls, self.n_batches = n_pulls, n_batches
        np.asarray(self._pulls)[:] = pulls
        np.asarray(self._sums)[:], np.asarray(self._deviations)[:] = sums, deviations
        if silence["n_counted"]:
            self._make_silence()
        return self.silence.set_state(silence)

    cdef void _advance(self) noexcept nogil:
        pass

    def _best(self, arms, n):
        """The n best of these arms by mean, best first; then unseen arms, then silent ones."""
        self.guard.check()
        pulls, sums = np.asarray(self._pulls)[arms], np.asarray(self._sums)[arms]
        means = np.where(pulls > 0, sums / np.maximum(pulls, 1), -np.inf)
        silent = np.asarray(self.silence.aside)[arms] if self.silence.n_aside else 0 * arms
        return arms[np.lexsort((arms, -means, silent))[:n]]

    def _seen_first(self, arms):
        """These arms, best first; other arms that were seen instead of those that were not."""
        self.guard.check()
        seen = arms[np.asarray(self._pulls)[arms] > 0]
        if seen.size < arms.size:
            others = np.setdiff1d(np.arange(self.n_arms), seen)
            unseen = np.setdiff1d(arms, seen)
            others = others[np.asarray(self._pulls)[others] > 0]
            arms = np.concatenate([seen, self._best(others, unseen.size), unseen])[:arms.size]
        return self._best(arms, arms.size)


def _restored(cls, n_arms, k, *state):
    """A policy of a subclass in Python that was pickled; its attributes follow."""
    cdef Policy policy = cls.__new__(cls)
    Policy.__init__(policy, n_arms, k)
    n_pulls, n_batches, pulls, sums, deviations, silence = state
    policy._take_statistics(n_pulls, n_batches, pulls, sums, deviations, silence)
    return policy


cdef object last_compiled(cls):
    """The first class that is not written in Python, of a class and its bases."""
    for one in cls.__mro__:
        if "__pyx_vtable__" in one.__dict__:
            return one


cdef inline bint any_lost(const double *rewards, int64_t n) noexcept nogil:
    cdef int64_t j
    for j in range(n):
        if isnan(rewards[j]):
            return True
    return False


cdef inline read(Policy policy, const int64_t *field):
    """A number that another thread's call changes."""
    cdef int64_t value
    policy.guard.enter_to_read()
    value = field[0]
    policy.guard.leave()
    return value
