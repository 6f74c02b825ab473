# cython: auto_pickle=False
"""One replication of a policy on an environment, without Python between its pulls."""

from libc.math cimport NAN
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT64_MAX, int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of
from pybandit.policies._csrc cimport pb_batch, pb_batch_count
from pybandit.policies.base cimport NativePolicy
from pybandit.simulation.base cimport Environment


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
    """Whether `replicate` can run the pair: neither has its own Python methods."""
    if not (isinstance(policy, NativePolicy) and isinstance(environment, Environment)):
        return False
    compiled = next(cls for cls in type(policy).__mro__ if cls.__module__.startswith("pybandit.")
                    and issubclass(cls, NativePolicy))
    plain = all(getattr(type(policy), name) is getattr(compiled, name)
                for name in ("ask", "tell", "done"))
    return plain and (<Environment>environment)._is_native()


def replicate(NativePolicy policy, Environment environment, rng, Stop stop, horizon=None):
    """Run the policy to its end, or as many whole batches as the horizon holds, without the GIL.

    Pulls of an arm may come as one sum: the policy has no variances afterwards.
    """
    cdef pb_bitgen *bitgen = bitgen_of(rng)
    environment.guard.check()
    policy.guard.enter()
    try:
        if environment.n_arms != policy.n_arms:
            raise ValueError(f"policy must have the {environment.n_arms} arms of the environment; "
                             f"got {policy.n_arms}")
        if policy.n_pulls:
            raise ValueError(f"policy must be fresh in every run; got one of {policy.n_pulls} "
                             "pulls")
        try:
            run(policy, environment, rng, bitgen, stop, INT64_MAX if horizon is None else horizon)
        finally:
            if not (policy._wants_rewards or policy._wants_costs):
                policy._deviations[:] = NAN
        if policy.broken:
            raise policy.failure
        policy._check_seen()
    finally:
        policy.guard.leave()


cdef run(NativePolicy policy, Environment environment, rng, pb_bitgen *bitgen, Stop stop,
         int64_t most):
    """Batches, until the policy is done, or `most` pulls would be exceeded."""
    cdef int64_t checked = 0
    cdef pb_batch batch
    with rng.bit_generator.lock, nogil:
        while not policy._is_done() and not stop.raised and not policy.broken:
            batch = policy._next()
            if batch.n_pulls > most - policy.n_pulls:
                break
            pull_batch(policy, environment, batch, bitgen)
            if policy.n_pulls - checked > PULLS_BETWEEN_SIGNALS:
                checked = policy.n_pulls
                with gil:
                    PyErr_CheckSignals()


cdef void pull_batch(NativePolicy policy, Environment environment, pb_batch batch,
                     pb_bitgen *bitgen) noexcept nogil:
    """Draws this batch, an arm's pulls together, and lets the policy go on."""
    cdef int64_t n = batch.n_arms, position = batch.first
    if not batch.counts:
        n = min(n, batch.n_pulls)
    for _ in range(n):
        pull_arm(policy, environment, batch.arms[position], pb_batch_count(&batch, position),
                 bitgen)
        position += 1
        if position == batch.n_arms:
            position = 0
    policy.n_pulls += batch.n_pulls
    policy.n_batches += 1
    policy._advance()


cdef inline void pull_arm(NativePolicy policy, Environment environment, int64_t arm,
                          int64_t n, pb_bitgen *bitgen) noexcept nogil:
    cdef double reward, cost
    if policy._wants_costs:
        for _ in range(n):
            reward = environment._draw_with_cost(arm, policy._pulls[arm], bitgen, &cost)
            policy._absorb_with_cost(arm, reward, cost)
        return
    if not policy._wants_rewards:
        policy._sums[arm] += environment._draw_sum(arm, policy._pulls[arm], n, bitgen)
        policy._pulls[arm] += n
        return
    for _ in range(n):
        reward = environment._draw(arm, policy._pulls[arm], bitgen)
        policy._absorb(&arm, &reward, 1)
