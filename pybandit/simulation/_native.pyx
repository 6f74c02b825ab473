# cython: auto_pickle=False
"""Checks of policies and environments that tell if the engine can run them without Python."""

import numpy as np

from pybandit.policies.protocol.functions import FunctionPolicy
from pybandit.policies.protocol.policy import Policy as _Policy

from libc.stdint cimport int64_t
from libc.string cimport memset

from pybandit.policies.protocol._statistics cimport last_compiled
from pybandit.policies.protocol.base cimport NativePolicy
from pybandit.simulation.base cimport Environment

# a `seed` that draws nothing
PLAIN_SEED = _Policy.seed
# a `seed` that is not called if the engine lends the run's bits
LENT_SEED = FunctionPolicy.seed


def is_native(policy, environment):
    """Return True if `Session.play` can run the policy: no Python method overrides theirs."""
    if not (isinstance(policy, NativePolicy) and draws_natively(environment)):
        return False
    if (<NativePolicy>policy)._wants_costs and not (<Environment>environment)._has_plain_costs():
        return False
    compiled = next(cls for cls in type(policy).__mro__ if cls.__module__.startswith("pybandit.")
                    and issubclass(cls, NativePolicy))
    return all(getattr(type(policy), name) is getattr(compiled, name)
               for name in ("ask", "tell", "done"))


def is_fresh(policy, environment):
    """Return True for a policy of this package that fits the environment and has no pulls."""
    return (isinstance(policy, NativePolicy) and (<NativePolicy>policy).n_pulls == 0
            and (<NativePolicy>policy).n_arms == environment.n_arms)


def size_of_next(policy):
    """Return the number of pulls requested now; native policies make no array for it."""
    if not isinstance(policy, NativePolicy) or type(policy).ask is not NativePolicy.ask:
        return np.size(policy.ask())
    return next_of(policy)


cdef next_of(NativePolicy policy):
    policy.guard.enter_to_read()
    try:
        return policy._planned().n_pulls
    finally:
        policy.guard.leave()


def draws_natively(environment):
    """Return True if the environment draws rewards without Python; its costs do not matter."""
    return isinstance(environment, Environment) and (<Environment>environment)._is_native()


def pays_in_its_own_way(environment):
    """Return True if the environment overrides `pull_with_costs`."""
    return getattr(type(environment), "pull_with_costs", None) is not Environment.pull_with_costs


def answers_natively(cls):
    """Return True if `_answer` gives the same as `recommend` of this class."""
    owner = next(one for one in cls.__mro__ if "recommend" in one.__dict__)
    return bool(owner.__dict__.get("_answers", False))


def recommends_in_python(cls):
    """Return True if `recommend` is Python code of another package, which may read anything."""
    owner = next(one for one in cls.__mro__ if "recommend" in one.__dict__)
    return "__pyx_vtable__" not in owner.__dict__ and not owner.__module__.startswith("pybandit.")


def takes_stream(policy):
    """Return True if the engine can seed the policy as `seed` does, without a Generator."""
    return (isinstance(policy, NativePolicy) and bool((<NativePolicy>policy)._takes_stream())
            and type(policy).seed is last_compiled(type(policy)).seed)


def renew(NativePolicy policy, dict fresh):
    """Reset a policy to its checked state `fresh`; return False if it cannot be reset."""
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


def answer_of_engine(NativePolicy policy):
    """Return the arms that `_answer` of a policy gives, as a list, or None; for tests."""
    cdef int64_t[::1] arms = np.zeros(policy.n_arms, dtype=np.int64)
    cdef int64_t n
    policy.guard.enter()
    try:
        n = policy._answer(&arms[0])
    finally:
        policy.guard.leave()
    return None if n < 0 else np.asarray(arms)[:n].tolist()
