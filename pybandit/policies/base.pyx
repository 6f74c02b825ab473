"""The protocol of all policies: ask, tell, done, recommend, and a state that can be saved."""

import numpy as np

from pybandit._shared.checks import LARGEST, check_choice, check_integer, check_numeric

from libc.math cimport isfinite, isnan

from pybandit.policies._csrc cimport pb_batch


cdef class Policy:
    """A rule that asks for pulls of arms until it can recommend some.

    Subclass it for a policy of your own: call ``super().__init__(n_arms, k)`` and
    define `ask`, `done` and `recommend`; `tell` keeps the statistics of the arms, and
    yours may call it and do more. `simulate` takes such a policy as it takes those of
    this package, slower.

    Parameters
    ----------
    n_arms : int
        At least 1. Arms count from 0.
    k : int, default 1
        How many arms are looked for, in [0, n_arms].

    Attributes
    ----------
    n_pulls, n_batches : int
        Pulls and batches that were told, lost pulls included.
    """

    def __init__(self, n_arms, k=1):
        self.n_arms = check_integer("n_arms", n_arms, 1, LARGEST)
        k = check_integer("k", k, 0)
        if k > self.n_arms:
            raise ValueError(f"k must be at most n_arms = {self.n_arms}; got {k}")
        self.k = k
        self._pulls = np.zeros(self.n_arms, dtype=np.int64)
        self._sums = np.zeros(self.n_arms)
        self._deviations = np.zeros(self.n_arms)

    @property
    def _is_endless(self):
        """Whether `done` stays False whatever happens."""
        return False

    @property
    def pulls(self):
        """Rewards seen of each arm; int64, shape (n_arms,), a copy."""
        return np.array(self._pulls)

    @property
    def means(self):
        """Mean reward of each arm; float64, shape (n_arms,), NaN where none was seen."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self._sums) / np.asarray(self._pulls)

    @property
    def variances(self):
        """Sample variance of each arm's rewards; float64, shape (n_arms,), NaN below two."""
        pulls = np.asarray(self._pulls)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(pulls > 1, np.asarray(self._deviations) / (pulls - 1), np.nan)

    @property
    def done(self):
        """Whether nothing is left to ask."""
        raise NotImplementedError(f"{type(self).__name__} must define done")

    # Whether `done` stays False for ever: `simulate` then needs a horizon.
    @property
    def _is_endless(self):
        return False

    def ask(self):
        """The arms to pull now: int64, repeats allowed; the same until they are told."""
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
            Where `arms` is not what was asked, a shape differs, or a reward is
            infinite, or NaN without ``missing="drop"``. The policy is then as before.
        """
        cdef const int64_t[::1] told = None
        cdef const double[::1] values = None
        check_choice("missing", missing, ("raise", "drop"))
        try:
            told, values = arms, rewards
        except (TypeError, ValueError):
            pass  # not arrays of these types; they can become some
        if not self._as_asked(told, values):
            told, values = self._checked(arms, rewards, missing)
        with nogil:
            self._absorb(&told[0], &values[0], told.shape[0])
            self._finish(told.shape[0])

    def add_late(self, arms, rewards):
        """Give rewards of pulls that were told as lost and came after all.

        The arms' statistics take them. What was spent, decided and asked stays: `ask`
        gives the same arms until they are told, and what follows knows the late rewards.

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
            there are more of them than pulls were lost. The policy is then as before.
        NotImplementedError
            Where a subclass has its own `tell`, and not its own `add_late`.

        Notes
        -----
        Where a policy keeps bounds or keys of arms, those of an arm that leads no decision
        now may stay as they are until it is pulled again.

        Examples
        --------
        >>> import numpy as np, pybandit as pb
        >>> policy = pb.Uniform(2, budget=4)
        >>> policy.tell(policy.ask(), [0.5, np.nan, 0.5, 0.25], missing="drop")
        >>> policy.add_late([1], [0.75])
        >>> policy.pulls, policy.means
        (array([2, 2]), array([0.5, 0.5]))
        """
        cdef const int64_t[::1] told
        cdef const double[::1] values
        if type(self).tell is not Policy.tell:
            raise NotImplementedError(f"{type(self).__name__} must define add_late, as it defines "
                                      "tell")
        arms = self._check_late_arms(arms)
        told, values = arms, self._check_rewards(arms, rewards, "raise")
        if told.shape[0]:
            with nogil:
                self._absorb(&told[0], &values[0], told.shape[0])
                self._settle(&told[0], told.shape[0])

    def _check_late_arms(self, arms):
        told = np.asarray(arms)
        if told.dtype.kind not in "iu" and told.size:
            raise TypeError(f"arms must be integers; got dtype {told.dtype}")
        if told.ndim != 1:
            raise ValueError(f"arms must have shape (n,); got {told.shape}")
        bad = (told < 0) | (told >= self.n_arms)
        if bad.any():
            at = int(bad.argmax())
            raise ValueError(f"arms must be in [0, {self.n_arms}); got {told[at]} at index {at}")
        n_lost = self.n_pulls - int(np.asarray(self._pulls).sum())
        if told.size > n_lost:
            raise ValueError(f"arms must be of pulls that were lost, {n_lost} by now; got "
                             f"{told.size}")
        return np.array(told, dtype=np.int64)

    cdef void _settle(self, const int64_t *arms, int64_t n) noexcept nogil:
        """These arms have other statistics, between batches; what is asked stays."""

    cdef void _finish(self, int64_t n) noexcept nogil:
        """A batch of n pulls was absorbed."""
        self.n_pulls += n
        self.n_batches += 1
        self._advance()

    cdef bint _as_asked(self, const int64_t[::1] arms, const double[::1] rewards) except -1:
        """Whether these need no more checks: what `ask` gave, in its order, and good rewards."""
        return False

    cdef _checked(self, arms, rewards, missing):
        """Arms and rewards of a tell as int64 and float64 arrays."""
        arms = self._check_arms(arms)
        return arms, self._check_rewards(arms, rewards, missing)

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

    def _check_arms(self, arms):
        asked = np.asarray(self.ask())
        if not asked.size:
            raise ValueError(f"the policy is done and asks for nothing; got {np.size(arms)} arms")
        told = np.asarray(arms)
        if told.dtype.kind not in "iu":
            raise TypeError(f"arms must be integers; got dtype {told.dtype}")
        if told.shape != asked.shape:
            raise ValueError(f"arms must have the shape of ask(), {asked.shape}; got {told.shape}")
        told = np.array(told, dtype=np.int64)
        if not np.array_equal(told, asked):
            arms, at = np.unique(np.concatenate([told, asked]), return_inverse=True)
            n_told = np.bincount(at[:told.size], minlength=arms.size)
            n_asked = np.bincount(at[told.size:], minlength=arms.size)
            if (n_told != n_asked).any():
                first = int(np.argmax(n_told > n_asked))
                raise ValueError(f"arms must be those of ask(), each as often; got arm "
                                 f"{arms[first]} {n_told[first]} times, not {n_asked[first]}")
        return told

    def _check_rewards(self, arms, rewards, missing):
        rewards = check_numeric("rewards", rewards)
        if rewards.shape != np.shape(arms):
            raise ValueError(f"rewards must have the shape of arms, {np.shape(arms)}; got "
                             f"{rewards.shape}")
        good = np.isfinite(rewards)
        if missing == "drop":
            good |= np.isnan(rewards)
        if not good.all():
            at = int(np.argmin(good))
            raise ValueError(f"rewards must be finite{' or NaN' if missing == 'drop' else ''}; got "
                             f"{rewards[at]} at index {at}, arm {arms[at]}")
        return np.ascontiguousarray(rewards)

    def recommend(self):
        """The arms found best, best first; int64. May be asked at any time."""
        raise NotImplementedError(f"{type(self).__name__} must define recommend")

    def __repr__(self):
        return (f"<{type(self).__name__}: {self.n_arms} arms, {self.n_pulls} pulls in "
                f"{self.n_batches} batches{', done' if self.done else ''}>")

    cdef void _advance(self) noexcept nogil:
        pass

    def _best(self, arms, n):
        """The n best of these arms by mean, best first; unseen arms at the grand mean."""
        pulls, sums = np.asarray(self._pulls)[arms], np.asarray(self._sums)
        grand = sums.sum() / max(1, np.asarray(self._pulls).sum())
        means = np.where(pulls > 0, sums[arms] / np.maximum(pulls, 1), grand)
        return arms[np.lexsort((arms, -means))[:n]]


cdef class NativePolicy(Policy):
    """A policy of this package: checks at the border, arithmetic without Python."""

    cdef bint _is_done(self) noexcept nogil:
        return True

    cdef pb_batch _next(self) noexcept nogil:
        cdef pb_batch batch
        batch.arms, batch.counts = NULL, NULL
        batch.n_arms, batch.first, batch.n_pulls = 0, 0, 0
        return batch

    cdef void _absorb_with_cost(self, int64_t arm, double reward, double cost) noexcept nogil:
        self._absorb(&arm, &reward, 1)

    @property
    def done(self):
        """Whether nothing is left to ask."""
        return self._is_done()

    def ask(self):
        """The arms to pull now.

        The same until they are told.

        Returns
        -------
        ndarray of int64
            Repeats allowed; empty once the policy is done.
        """
        cdef pb_batch batch
        cdef int64_t[::1] view
        cdef int64_t j, position
        if self._is_done():
            return np.empty(0, dtype=np.int64)
        batch = self._next()
        if batch.counts:
            return np.repeat(np.array(<int64_t[:batch.n_arms]>batch.arms),
                             np.array(<int64_t[:batch.n_arms]>batch.counts))
        arms = np.empty(batch.n_pulls, dtype=np.int64)
        view = arms
        position = batch.first
        for j in range(batch.n_pulls):
            view[j] = batch.arms[position]
            position += 1
            if position == batch.n_arms:
                position = 0
        return arms

    cdef bint _as_asked(self, const int64_t[::1] arms, const double[::1] rewards) except -1:
        cdef pb_batch batch
        cdef int64_t j, position
        if arms is None or rewards is None or arms.shape[0] != rewards.shape[0]:
            return False
        if self._is_done() or type(self).ask is not NativePolicy.ask:
            return False
        batch = self._next()
        if batch.counts or batch.n_pulls != arms.shape[0]:
            return False
        position = batch.first
        for j in range(batch.n_pulls):
            if arms[j] != batch.arms[position] or not self._accepts(rewards[j]):
                return False
            position += 1
            if position == batch.n_arms:
                position = 0
        return True

    cdef bint _accepts(self, double reward) noexcept nogil:
        """Whether `_check_rewards` would let it pass."""
        return isfinite(reward)

    def _seed(self, rng):
        """Draw what the policy draws for itself from this generator."""

    def _check_seen(self):
        """Raise where the engine met rewards that `tell` would have refused."""

    # A subclass names its constructor's arguments in `_options`, and gives and takes
    # what it has beyond the arms' statistics.
    def _options(self):
        raise NotImplementedError

    def _get_progress(self):
        return {}

    def _set_progress(self, progress):
        pass

    def get_state(self):
        """Everything the policy is, as a dict of arrays and plain numbers.

        `from_state` makes a policy of it that continues bit for bit.
        """
        return {
            "type": type(self).__name__,
            "options": self._options(),
            "n_pulls": self.n_pulls,
            "n_batches": self.n_batches,
            "pulls": np.array(self._pulls),
            "sums": np.array(self._sums),
            "deviations": np.array(self._deviations),
            "progress": self._get_progress(),
        }

    @classmethod
    def from_state(cls, state):
        """The policy whose `get_state` this is.

        Raises
        ------
        ValueError
            Where the state is another class's, or an array has another shape.
        """
        if state["type"] != cls.__name__:
            raise ValueError(f"state must be that of a {cls.__name__}; got one of a "
                             f"{state['type']}")
        policy = cls(**state["options"])
        policy._restore(state)
        return policy

    def _restore(self, state):
        for name in ("pulls", "sums", "deviations"):
            if np.shape(state[name]) != (self.n_arms,):
                raise ValueError(f"state must hold {name} of shape ({self.n_arms},); got "
                                 f"{np.shape(state[name])}")
        fresh = self._get_progress()
        for name, value in fresh.items():
            if np.shape(state["progress"].get(name)) != np.shape(value):
                raise ValueError(f"state must hold {name} of shape {np.shape(value)}; got "
                                 f"{np.shape(state['progress'].get(name))}")
        self._set_progress(state["progress"])
        self.n_pulls, self.n_batches = state["n_pulls"], state["n_batches"]
        np.asarray(self._pulls)[:] = state["pulls"]
        np.asarray(self._sums)[:] = state["sums"]
        np.asarray(self._deviations)[:] = state["deviations"]

    def __reduce__(self):
        return type(self).from_state, (self.get_state(),)
