# cython: auto_pickle=False
"""Replications of a policy on an environment, without Python between their pulls."""

import numpy as np

from pybandit.policies.functions import FunctionPolicy
from pybandit.policies.policy import Policy as _Policy

from libc.math cimport NAN, isfinite
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT64_MAX, int64_t
from libc.string cimport memset

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of
from pybandit.policies._csrc cimport pb_batch, pb_batch_count
from pybandit.policies.base cimport NativePolicy
from pybandit.simulation._csrc cimport pb_stream, pb_stream_bits
from pybandit.simulation._ledger import answer_of
from pybandit.simulation._ledger cimport Ledger, Truth, judged, verdict
from pybandit.simulation._streams cimport Streams
from pybandit.simulation.base cimport Environment, odd


cdef enum:
    # some tenths of a second between two looks at Ctrl-C
    PULLS_BETWEEN_SIGNALS = 1 << 22


cdef class Stop:
    """Raised like a flag: replications that see it end early."""

    cdef volatile bint raised

    def set(self):
        self.raised = True

    def is_set(self):
        return self.raised != 0


def is_native(policy, environment):
    """Whether `Session.play` can run the pair: neither has its own Python methods."""
    if not (isinstance(policy, NativePolicy) and draws_natively(environment)):
        return False
    compiled = next(cls for cls in type(policy).__mro__ if cls.__module__.startswith("pybandit.")
                    and issubclass(cls, NativePolicy))
    return all(getattr(type(policy), name) is getattr(compiled, name)
               for name in ("ask", "tell", "done"))


def is_fresh(policy, environment):
    """Whether it is a policy of this package that fits the environment and was told nothing."""
    return (isinstance(policy, NativePolicy) and (<NativePolicy>policy).n_pulls == 0
            and (<NativePolicy>policy).n_arms == environment.n_arms)


def size_of_next(policy):
    """How many pulls it asks for now; of a policy of this package without their array."""
    if not isinstance(policy, NativePolicy) or type(policy).ask is not NativePolicy.ask:
        return np.size(policy.ask())
    return next_of(policy)


cdef next_of(NativePolicy policy):
    policy.guard.enter_to_read()
    try:
        return policy._next().n_pulls
    finally:
        policy.guard.leave()


def draws_natively(environment):
    """Whether its rewards are drawn without Python."""
    return isinstance(environment, Environment) and (<Environment>environment)._is_native()


def answers_natively(cls):
    """Whether `_answer` is what `recommend` of this class gives."""
    owner = next(one for one in cls.__mro__ if "recommend" in one.__dict__)
    return bool(owner.__dict__.get("_answers", False))


def recommends_in_python(cls):
    """Whether `recommend` is Python from outside this package, which may look at anything."""
    owner = next(one for one in cls.__mro__ if "recommend" in one.__dict__)
    return "__pyx_vtable__" not in owner.__dict__ and not owner.__module__.startswith("pybandit.")


def takes_stream(NativePolicy policy):
    """Whether `play_many` seeds it, as its `seed` does; that of a class of this package."""
    return bool(policy._takes_stream())


def renew(NativePolicy policy, dict fresh):
    """Make a policy what it was before any pull, `fresh` its checked state; False: it cannot."""
    policy.guard.enter()
    try:
        if policy.broken or not policy._forget():
            return False
        policy.n_pulls = policy.n_batches = 0
        memset(&policy._pulls[0], 0, policy.n_arms * sizeof(int64_t))
        memset(&policy._sums[0], 0, policy.n_arms * sizeof(double))
        memset(&policy._deviations[0], 0, policy.n_arms * sizeof(double))
        policy._set_progress(fresh)
        policy._resume()
        return True
    finally:
        policy.guard.leave()


cdef class Session:
    """What runs one after the other share: their books, their streams, and scratch.

    `horizon` None: a run ends when its policy is done. `common`: the rewards of an arm come one
    by one from a stream of its own, so that its j-th is the same whoever pulls it. `watched`:
    functions look at the policy after its run, and may want variances.
    """

    cdef Ledger ledger
    cdef Streams streams
    cdef Stop stop
    cdef int64_t most
    cdef bint common, watched
    cdef dict native, answering, watching  # by classes
    cdef int64_t[::1] chosen
    cdef unsigned char[::1] flags
    cdef unsigned char[::1] memory        # of the arms' streams
    cdef pb_stream *arm_streams
    # of the run under way
    cdef int64_t run, next_mark
    cdef bint answers, absorbs
    cdef int64_t odd_arm          # that gave a reward which is none; -1
    cdef double odd_reward
    cdef Truth truth

    def __init__(self, ledger, streams, stop, horizon, common, watched):
        self.ledger, self.streams, self.stop = ledger, streams, stop
        self.most = INT64_MAX if horizon is None else horizon
        self.common, self.watched = common, watched
        self.native, self.answering, self.watching = {}, {}, {}
        self.chosen = np.zeros(self.ledger.n_arms, dtype=np.int64)
        self.flags = np.zeros(self.ledger.n_arms, dtype=np.uint8)
        self.memory = np.zeros(self.ledger.n_arms * sizeof(pb_stream), dtype=np.uint8)
        self.arm_streams = <pb_stream *>&self.memory[0]

    def takes(self, policy, environment):
        """Whether `play` can run the pair."""
        pair = type(policy), type(environment)
        known = self.native.get(pair)
        if known is None:
            known = self.native[pair] = is_native(policy, environment)
        return known

    def play(self, int64_t i, NativePolicy policy, Environment environment, Truth truth, rng,
             bint seeds=False):
        """Run the policy to its end, or as many whole batches as the horizon holds.

        Without the GIL, from the generator `rng`, or None: from the stream of run i, which
        `seeds` the policy too. Pulls of an arm may come as one sum where nobody wants the
        variances: the policy has none afterwards.
        """
        cdef pb_stream stream
        cdef pb_bitgen bits
        cdef int64_t arm
        environment.guard.check()
        policy.guard.enter()
        try:
            self._check(policy, environment)
            self._begin(i, policy, truth)
            if not (self.absorbs or policy._wants_costs):
                for arm in range(policy.n_arms):
                    policy._deviations[arm] = NAN
            if rng is None:
                self.streams._begin(i, &stream)
                if seeds:
                    policy._take_stream(self.streams._private(&stream))
                bits = pb_stream_bits(&stream)
                self._run(policy, environment, &bits)
            else:
                with rng.bit_generator.lock:
                    self._run(policy, environment, bitgen_of(rng))
            if policy.broken:
                raise policy.failure
            if self.odd_arm >= 0:
                raise odd(environment, self.odd_arm, self.odd_reward)
            policy._check_seen()
            self._finish(policy)
        finally:
            policy._lend(NULL)
            policy.guard.leave()

    def play_many(self, int64_t start, int64_t end, policy, environment, Truth truth, fresh):
        """Runs of one policy that is made new before each; returns the first one not made."""
        cdef int64_t i
        seeds = takes_stream(policy)
        for i in range(start, end):
            if self.stop.raised or not renew(policy, fresh):
                return i
            self.play(i, policy, environment, truth, None, seeds)
        return end

    cdef int _check(self, NativePolicy policy, Environment environment) except -1:
        if environment.n_arms != policy.n_arms:
            raise ValueError(f"policy must have the {environment.n_arms} arms of the environment; "
                             f"got {policy.n_arms}")
        if policy.n_pulls:
            raise ValueError(f"policy must be fresh in every run; got one of {policy.n_pulls} "
                             "pulls")
        return 0

    cdef int _begin(self, int64_t i, NativePolicy policy, Truth truth) except -1:
        cdef int64_t arm
        cls = type(policy)
        known = self.answering.get(cls)
        if known is None:
            known = self.answering[cls] = answers_natively(cls)
            self.watching[cls] = self.watched or recommends_in_python(cls)
        self.absorbs = policy._wants_rewards or self.watching[cls]
        self.answers, self.run, self.next_mark, self.truth = known, i, 0, truth
        self.odd_arm = -1
        if self.common:
            for arm in range(policy.n_arms):
                self.streams._begin_arm(i, arm, &self.arm_streams[arm])
        return 0

    cdef int _run(self, NativePolicy policy, Environment environment,
                  pb_bitgen *bitgen) except -1:
        """Batches, until the policy is done, or `most` pulls would be exceeded."""
        cdef int64_t checked = 0, n_marks = self.ledger.marks.shape[0]
        cdef pb_batch batch
        policy._lend(bitgen)
        with nogil:
            while (not policy._is_done() and not self.stop.raised and not policy.broken
                   and self.odd_arm < 0):
                batch = policy._next()
                if policy.broken:
                    break
                while (self.next_mark < n_marks and batch.n_pulls
                       > self.ledger.marks[self.next_mark] - policy.n_pulls):
                    self._mark(policy)
                if batch.n_pulls > self.most - policy.n_pulls:
                    break
                self._pull_batch(policy, environment, batch, bitgen)
                if policy.n_pulls - checked > PULLS_BETWEEN_SIGNALS:
                    checked = policy.n_pulls
                    with gil:
                        PyErr_CheckSignals()
        return 0

    cdef int _mark(self, NativePolicy policy) except -1 nogil:
        """The next checkpoint: what the policy knows before a batch that goes beyond it."""
        cdef verdict found
        self._judge(policy, &found)
        self.ledger._mark(self.run, self.next_mark, found)
        self.next_mark += 1
        return 0

    cdef int _judge(self, NativePolicy policy, verdict *found) except -1 nogil:
        cdef int64_t n = policy._answer(&self.chosen[0]) if self.answers else -1
        if n < 0:
            with gil:
                arms = answer_of(policy, self.ledger.n_arms)
                n = arms.size
                np.asarray(self.chosen)[:n] = arms
        found[0] = judged(self.truth, &self.chosen[0], n, policy.k, &policy._pulls[0],
                          &self.flags[0])
        return 0

    cdef int _finish(self, NativePolicy policy) except -1:
        cdef verdict found
        self._judge(policy, &found)
        while self.next_mark < self.ledger.marks.shape[0]:
            self.ledger._mark(self.run, self.next_mark, found)
            self.next_mark += 1
        self.ledger._enter(self.run, found, &policy._pulls[0], policy.n_batches,
                           policy._is_done())
        return 0

    cdef void _pull_batch(self, NativePolicy policy, Environment environment, pb_batch batch,
                          pb_bitgen *bitgen) noexcept nogil:
        """Draws this batch, an arm's pulls together, and lets the policy go on."""
        cdef int64_t n = batch.n_arms, position = batch.first, arm
        cdef double reward
        cdef pb_bitgen bits
        if not batch.counts:
            n = min(n, batch.n_pulls)
        for _ in range(n):
            arm = batch.arms[position]
            if self.common:
                bits = pb_stream_bits(&self.arm_streams[arm])
                bitgen = &bits
            reward = pull_arm(policy, environment, arm, pb_batch_count(&batch, position),
                              self.absorbs, self.common, bitgen)
            if not isfinite(reward):
                self.odd_arm, self.odd_reward = arm, reward
                break
            position += 1
            if position == batch.n_arms:
                position = 0
        policy.n_pulls += batch.n_pulls
        policy.n_batches += 1
        policy._advance()


cdef inline double pull_arm(NativePolicy policy, Environment environment, int64_t arm, int64_t n,
                            bint absorbs, bint one_by_one, pb_bitgen *bitgen) noexcept nogil:
    """0, or a reward that is not finite. `absorbs`: the policy gets every reward, or sums."""
    cdef double reward = 0.0, cost
    if policy._wants_costs:
        for _ in range(n):
            reward = environment._draw_with_cost(arm, policy._pulls[arm], bitgen, &cost)
            if not isfinite(reward):
                return reward
            policy._absorb_with_cost(arm, reward, cost)
        return 0.0
    if not absorbs:
        if not one_by_one:
            reward = environment._draw_sum(arm, policy._pulls[arm], n, bitgen)
            policy._sums[arm] += reward
            policy._pulls[arm] += n
            return reward
        for _ in range(n):
            reward = environment._draw(arm, policy._pulls[arm], bitgen)
            if not isfinite(reward):
                return reward
            policy._sums[arm] += reward
            policy._pulls[arm] += 1
        return 0.0
    for _ in range(n):
        reward = environment._draw(arm, policy._pulls[arm], bitgen)
        if not isfinite(reward):
            return reward
        policy._absorb(&arm, &reward, 1)
    return 0.0


cdef class RunRewards:
    """The rewards of run i for a policy in Python, from an environment that draws without it.

    Those of an arm are counted over the run. They come from the generator that is given; with
    `streams` from one of the arm, as a session on common rewards draws them.
    """

    cdef Environment environment
    cdef bint common
    cdef unsigned char[::1] memory        # of the arms' streams
    cdef int64_t[::1] seen

    def __init__(self, Environment environment, int64_t i, Streams streams=None):
        cdef int64_t arm, n = environment.n_arms
        environment.guard.check()
        self.environment, self.common = environment, streams is not None
        self.seen = np.zeros(n, dtype=np.int64)
        if self.common:
            self.memory = np.zeros(n * sizeof(pb_stream), dtype=np.uint8)
            for arm in range(n):
                streams._begin_arm(i, arm, &(<pb_stream *>&self.memory[0])[arm])

    def pull_with_costs(self, arms, rng):
        """The next rewards of these arms and their costs."""
        return self._drawn(arms, rng, True)

    def pull(self, arms, rng):
        """The next rewards of these arms."""
        return self._drawn(arms, rng, False)[0]

    cdef _drawn(self, arms, rng, bint with_costs):
        cdef const int64_t[::1] chosen = np.ascontiguousarray(arms, dtype=np.int64)
        cdef double[::1] rewards = np.empty(chosen.shape[0]), costs = np.empty(chosen.shape[0])
        cdef pb_bitgen bits = bitgen_of(rng)[0]
        cdef int64_t j, arm
        with rng.bit_generator.lock:
            for j in range(chosen.shape[0]):
                arm = chosen[j]
                if self.common:
                    bits = pb_stream_bits(&(<pb_stream *>&self.memory[0])[arm])
                if with_costs:
                    rewards[j] = self.environment._draw_with_cost(arm, self.seen[arm], &bits,
                                                                  &costs[j])
                else:
                    rewards[j] = self.environment._draw(arm, self.seen[arm], &bits)
                if not isfinite(rewards[j]):
                    raise odd(self.environment, arm, rewards[j])
                self.seen[arm] += 1
        return np.asarray(rewards), np.asarray(costs)


# whose `seed` draws nothing
PLAIN_SEED = _Policy.seed
# not called where the engine lends the run's bits
LENT_SEED = FunctionPolicy.seed


def answer_of_engine(NativePolicy policy):
    """What `_answer` gives of a policy whose class has one: a list, or None; for tests."""
    cdef int64_t[::1] arms = np.zeros(policy.n_arms, dtype=np.int64)
    cdef int64_t n
    policy.guard.enter()
    try:
        n = policy._answer(&arms[0])
    finally:
        policy.guard.leave()
    return None if n < 0 else np.asarray(arms)[:n].tolist()
