# cython: auto_pickle=False
"""Runs of a policy on an environment, without Python between pulls."""

import numpy as np

from pybandit.simulation._native import (
    answers_natively, is_native, recommends_in_python, renew, takes_stream,
)

cimport cython
from libc.math cimport NAN, isfinite
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT64_MAX, int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of
from pybandit._shared.worker cimport Stop
from pybandit.policies._csrc cimport pb_batch, pb_batch_count
from pybandit.policies.protocol.base cimport NativePolicy
from pybandit.simulation._csrc cimport pb_stream, pb_stream_bits
from pybandit.simulation._run_table import answer_of
from pybandit.simulation._run_table cimport RunTable, Truth, scored, score
from pybandit.simulation._streams cimport Streams
from pybandit.simulation.base cimport Environment, odd


cdef enum:
    # Check for Ctrl-C every few tenths of a second, because the check takes the GIL. It matters
    # in the main thread of a worker process; otherwise the waiting thread handles Ctrl-C.
    PULLS_BETWEEN_SIGNALS = 1 << 22
    # Check `stop` more often: it is cheap, and a draw may take some hundredths of a second.
    DRAWS_BETWEEN_LOOKS = 64


@cython.final  # its methods are called for every pull
cdef class Session:
    """Scratch memory, streams and results for runs made one after the other in one thread.

    `max_pulls` None: a run ends when its policy is done. `common`: the rewards of an arm are
    drawn one by one from a separate stream, so that the j-th is the same for every policy.
    `watched`: functions read the policy after its run, and may need variances.
    """

    cdef RunTable table
    cdef Streams streams
    cdef Stop stop
    cdef int64_t most
    cdef bint common, watched
    cdef dict native, answering, watching  # caches by class
    cdef int64_t[::1] chosen
    cdef unsigned char[::1] flags
    cdef unsigned char[::1] memory        # holds the arms' streams
    cdef pb_stream *arm_streams
    # state of the current run
    cdef int64_t run, next_mark
    cdef bint answers, absorbs
    cdef bint is_torn             # True in the middle of a batch
    cdef int64_t unheard          # pulls since the last check for Ctrl-C
    cdef int64_t odd_arm          # arm that gave a reward that is not finite; -1: none
    cdef double odd_reward
    cdef Truth truth

    def __init__(self, table, streams, stop, max_pulls, common, watched):
        self.table, self.streams, self.stop = table, streams, stop
        self.most = INT64_MAX if max_pulls is None else max_pulls
        self.common, self.watched = common, watched
        self.native, self.answering, self.watching = {}, {}, {}
        self.chosen = np.zeros(self.table.n_arms, dtype=np.int64)
        self.flags = np.zeros(self.table.n_arms, dtype=np.uint8)
        self.memory = np.zeros(self.table.n_arms * sizeof(pb_stream), dtype=np.uint8)
        self.arm_streams = <pb_stream *>&self.memory[0]

    def takes(self, policy, environment):
        """Return True if `play` can run this policy on this environment."""
        # instances of one class may need costs or not, depending on their options
        wants = isinstance(policy, NativePolicy) and (<NativePolicy>policy)._wants_costs
        pair = type(policy), type(environment), wants
        known = self.native.get(pair)
        if known is None:
            known = self.native[pair] = is_native(policy, environment)
        return known

    def play(self, int64_t i, NativePolicy policy, Environment environment, Truth truth, rng,
             bint seeds=False):
        """Run the policy to its end, or as many whole batches as fit into `max_pulls`.

        Runs without the GIL. Draws from the generator `rng`, or, if None, from the stream of run
        i, which then also seeds the policy if `seeds` is set. If variances are not needed, the
        pulls of an arm may be drawn as one sum, and the policy has no variances afterwards.
        """
        cdef pb_stream stream
        cdef pb_bitgen bits
        cdef int64_t arm
        self.is_torn = False
        environment.guard.check()
        policy.guard.enter()
        try:
            self._check(i, policy, environment)
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
            if self.is_torn and self.stop.raised() and self.odd_arm < 0:
                return  # discarded: the thread that stops all runs reports the reason
            if policy.broken:
                raise policy.failure
            if self.odd_arm >= 0:
                raise odd(environment, self.odd_arm, self.odd_reward)
            policy._check_seen()
            self._finish(policy)
        finally:
            if self.is_torn:
                policy._break(RuntimeError("the simulation ended in the middle of a batch"))
            policy._lend(NULL)
            policy.guard.leave()

    def play_many(self, int64_t start, int64_t end, policy, environment, Truth truth, fresh):
        """Run one policy, renewed before each run; return the first run not made."""
        cdef int64_t i
        seeds = takes_stream(policy)
        for i in range(start, end):
            if self.stop.raised() or not renew(policy, fresh):
                return i
            self.play(i, policy, environment, truth, None, seeds)
        return end

    cdef int _check(self, int64_t i, NativePolicy policy, Environment environment) except -1:
        self.table.check_arms(i, environment.n_arms)  # a Python subclass may change n_arms
        if environment.n_arms != policy.n_arms:
            raise ValueError(f"policy must have the {environment.n_arms} arms of the environment; "
                             f"got {policy.n_arms}")
        if policy.n_pulls:
            raise ValueError(f"policy must be fresh in every run; got one with {policy.n_pulls} "
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
        self.odd_arm, self.is_torn, self.unheard = -1, False, 0
        if self.common:
            for arm in range(policy.n_arms):
                self.streams._begin_arm(i, arm, &self.arm_streams[arm])
        return 0

    cdef int _run(self, NativePolicy policy, Environment environment,
                  pb_bitgen *bitgen) except -1:
        """Run batches until the policy is done or `most` pulls would be exceeded."""
        cdef int64_t n_marks = self.table.marks.shape[0]
        cdef bint may_pull_one = not (self.common or policy._wants_costs)
        cdef pb_batch batch
        policy._lend(bitgen)
        with nogil:
            while (not policy._is_done() and not (self._may_be_over() and self._is_over())
                   and not policy.broken and self.odd_arm < 0):
                if may_pull_one and self._pull_singly(policy, environment, bitgen):
                    continue
                batch = policy._planned()
                if policy.broken:
                    break
                while (self.next_mark < n_marks and batch.n_pulls
                       > self.table.marks[self.next_mark] - policy.n_pulls):
                    self._mark(policy)
                if batch.n_pulls > self.most - policy.n_pulls:
                    break
                if batch.n_pulls == 1 and may_pull_one:
                    self._pull_one(policy, environment, batch.arms[batch.first], bitgen)
                    continue
                self._pull_batch(policy, environment, batch, bitgen)
        return 0

    cdef inline bint _may_be_over(self) noexcept nogil:
        """Return True if `_is_over`, which takes the GIL, should be called."""
        return self.stop.raised() or self.unheard > PULLS_BETWEEN_SIGNALS

    cdef inline bint _may_end_within(self, Environment environment) noexcept nogil:
        """Return True if `_is_over` should be called within a batch, which would leave it
        incomplete: for long batches, or if each draw may be slow."""
        return (environment._draws_each and self.stop.raised()
                or self.unheard > PULLS_BETWEEN_SIGNALS)

    cdef bint _is_over(self) except -1 nogil:
        """Return True if another thread has stopped all runs; raise on Ctrl-C."""
        self.unheard = 0
        with gil:
            PyErr_CheckSignals()
        return self.stop.raised()

    cdef int _mark(self, NativePolicy policy) except -1 nogil:
        """Score the answer at the next checkpoint, before a batch that goes beyond it."""
        cdef score found
        self._score(policy, &found)
        self.table._mark(self.run, self.next_mark, found)
        self.next_mark += 1
        return 0

    cdef int _score(self, NativePolicy policy, score *found) except -1 nogil:
        cdef int64_t n = policy._answer(&self.chosen[0]) if self.answers else -1
        if n < 0:
            with gil:
                arms = answer_of(policy, self.table.n_arms)
                n = arms.size
                np.asarray(self.chosen)[:n] = arms
        found[0] = scored(self.truth, &self.chosen[0], n, policy.k, &policy._pulls[0],
                          &self.flags[0])
        return 0

    cdef int _finish(self, NativePolicy policy) except -1:
        cdef score found
        self._score(policy, &found)
        while self.next_mark < self.table.marks.shape[0]:
            self.table._mark(self.run, self.next_mark, found)
            self.next_mark += 1
        self.table._enter(self.run, found, &policy._pulls[0], policy.n_batches,
                          policy._is_done())
        return 0

    cdef int _pull_batch(self, NativePolicy policy, Environment environment, pb_batch batch,
                         pb_bitgen *bitgen) except -1 nogil:
        """Draw a batch, the pulls of each arm together, and advance the policy."""
        cdef int64_t n = batch.n_arms, position = batch.first, arm, j
        cdef pb_bitgen bits
        if not batch.counts:
            n = min(n, batch.n_pulls)
        for j in range(n):
            if j and self._may_end_within(environment) and self._is_over():
                return 0
            self.is_torn = True
            arm = batch.arms[position]
            if self.common:
                bits = pb_stream_bits(&self.arm_streams[arm])
                bitgen = &bits
            if not self._pull_arm(policy, environment, arm, pb_batch_count(&batch, position),
                                  bitgen):
                return 0
            position += 1
            if position == batch.n_arms:
                position = 0
        policy.n_pulls += batch.n_pulls
        policy.n_batches += 1
        policy._advance()
        self.is_torn = False
        return 0

    cdef inline bint _pull_singly(self, NativePolicy policy, Environment environment,
                                  pb_bitgen *bitgen) noexcept nogil:
        """Make single pulls until something else is due; return False if none could be made."""
        cdef int64_t start = policy.n_pulls, arm
        cdef int64_t end = start + min(DRAWS_BETWEEN_LOOKS, self.most - start)
        if self.next_mark < self.table.marks.shape[0]:
            end = min(end, self.table.marks[self.next_mark])
        while policy.n_pulls < end and not policy.broken and self.odd_arm < 0:
            arm = policy._single()
            if arm < 0:
                break
            self._pull_one(policy, environment, arm, bitgen)
        return policy.n_pulls > start or self.odd_arm >= 0

    cdef inline void _pull_one(self, NativePolicy policy, Environment environment, int64_t arm,
                               pb_bitgen *bitgen) noexcept nogil:
        """Draw a batch of one pull, as `_pull_batch` does."""
        cdef int64_t seen = policy._pulls[arm]
        cdef double reward
        if self.absorbs:
            reward = environment._draw(arm, seen, bitgen)
        else:
            reward = environment._draw_sum(arm, seen, 1, bitgen)
        if not isfinite(reward):
            self.odd_arm, self.odd_reward, self.is_torn = arm, reward, True
            return
        if self.absorbs:
            policy._absorb(&arm, &reward, 1)
        else:
            policy._sums[arm] += reward
            policy._pulls[arm] = seen + 1
        self.unheard += 1
        policy.n_pulls += 1
        policy.n_batches += 1
        policy._advance()

    cdef bint _pull_arm(self, NativePolicy policy, Environment environment, int64_t arm, int64_t n,
                        pb_bitgen *bitgen) except -1 nogil:
        """Pull an arm n times; return True if the run continues. Single draws are made in parts,
        between which the run may be stopped."""
        cdef bint in_one = not (policy._wants_costs or self.absorbs or self.common)
        cdef int64_t left = n, part, seen = policy._pulls[arm]
        cdef double reward = 0.0, total = 0.0
        if in_one and (n <= DRAWS_BETWEEN_LOOKS or not environment._draws_each):
            total = environment._draw_sum(arm, seen, n, bitgen)
            self.unheard += n
            if isfinite(total):  # the usual case
                policy._sums[arm] += total
                policy._pulls[arm] += n
                return True
            left = 0
        while left > 0:
            part = min(left, DRAWS_BETWEEN_LOOKS if environment._draws_each
                       else PULLS_BETWEEN_SIGNALS)
            if in_one:
                for _ in range(part):
                    total += environment._draw(arm, seen, bitgen)
                    seen += 1
            else:
                reward = pull_each(policy, environment, arm, part, self.absorbs, bitgen)
            left -= part
            self.unheard += part
            if not isfinite(reward):
                break
            if left and self._may_end_within(environment) and self._is_over():
                break
        if not isfinite(reward + total):
            self.odd_arm, self.odd_reward = arm, reward + total
        elif in_one and not left:
            policy._sums[arm] += total
            policy._pulls[arm] += n
        return self.odd_arm < 0 and not left


cdef inline double pull_each(NativePolicy policy, Environment environment, int64_t arm, int64_t n,
                             bint absorbs, pb_bitgen *bitgen) noexcept nogil:
    """Draw n rewards one by one; return 0, or a reward that is not finite. The policy receives
    each reward if `absorbs` is set, else their sum."""
    cdef double reward = 0.0, cost
    for _ in range(n):
        if policy._wants_costs:
            reward = environment._draw_with_cost(arm, policy._pulls[arm], bitgen, &cost)
        else:
            reward = environment._draw(arm, policy._pulls[arm], bitgen)
        if not isfinite(reward):
            return reward
        if policy._wants_costs:
            policy._absorb_with_cost(arm, reward, cost)
        elif absorbs:
            policy._absorb(&arm, &reward, 1)
        else:
            policy._sums[arm] += reward
            policy._pulls[arm] += 1
    return 0.0
