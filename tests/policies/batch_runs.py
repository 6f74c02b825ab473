"""Cases and problems of batch policies, and their runs next to the reference implementations."""

import numpy as np
import pytest
from hypothesis import strategies as st

import pybandit as pb

from policies.reference import batch as plain

PROBLEMS = st.integers(1, 60).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, 3 * n), st.integers(1, 9)))


def case_id(case):
    return "-".join(f"{name}{value}" for name, value in case["params"].items() if name in "nkbrB")


def policy_of(case):
    """Return the policy of a case; Halving's additional batches go to the first stages."""
    p, name = case["params"], case["algorithm"]
    problem = p["n"], p["k"]
    if name == "BatchRacing":
        return pb.policies.BatchRacing(*problem, delta=p["delta"], batch_size=p["b"],
                                       max_repeats=p["r"])
    options = dict(batch_size=p["b"], max_batches=p["B"], max_repeats=p["r"])
    if name == "Halving":
        policies = (pb.policies.BatchHalving(*problem, **options, rng=i) for i in range(50))
        return next(one for one in policies if (np.diff(one.stage_batches) <= 0).all())
    return pb.policies.BatchSAR(*problem, **options, improved=name == "BatchSAR'", tie="index")


def reference_of(policy):
    problem = policy.n_arms, policy.k, policy.batch_size, policy.max_repeats
    if isinstance(policy, pb.policies.BatchRacing):
        return plain.BatchRacing(*problem, delta=policy.delta, noise_std=policy.noise_std)
    problem += (policy.max_batches,)
    if isinstance(policy, pb.policies.BatchHalving):
        return plain.BatchHalving(*problem, stage_batches=policy.stage_batches.tolist())
    if isinstance(policy, pb.policies.BatchSAR):
        return plain.BatchSAR(*problem, improved=policy.improved, tie=policy.tie)
    return plain.RoundRobin(*problem)


def accepted_of(policy):
    return set(policy.accepted.tolist()) if hasattr(policy, "accepted") else set()


def play(policy, bandit, most_batches=100_000, copied=lambda policy: policy):
    """Run a policy; return it, the counts of each batch, and which arms left or were accepted."""
    log, events, known = [], [], (set(policy.survivors.tolist()), accepted_of(policy))
    while not policy.done and policy.n_batches < most_batches:
        policy = copied(policy)
        arms = policy.ask()
        log.append(np.bincount(arms, minlength=policy.n_arms).tolist())
        policy.tell(arms, bandit.pull(arms))
        before, known = known, (set(policy.survivors.tolist()), accepted_of(policy))
        if before[0] != known[0]:
            events.append((policy.n_batches, before[0] - known[0], known[1] - before[1]))
    return policy, log, events


class ReferencePolicy:
    """Adapts a reference implementation to `play`."""

    def __init__(self, reference):
        self.reference, self.n_arms = reference, reference.n

    done = property(lambda self: self.reference.done)
    n_batches = property(lambda self: self.reference.n_batches)
    survivors = property(lambda self: np.array([] if self.done else self.reference.alive))
    accepted = property(lambda self: np.array(self.reference.accepted))

    def ask(self):
        return np.array(self.reference.ask())

    def tell(self, arms, rewards):
        self.reference.tell(arms.tolist(), rewards.tolist())


def sar(n, k, b, r, n_batches, **options):
    return pb.policies.BatchSAR(n, k, batch_size=b, max_batches=n_batches, max_repeats=r, **options)


def least_batches(*problem):
    """Return the smallest B that BatchSAR accepts, from its error message."""
    with pytest.raises(pb.errors.InfeasibleBudgetError) as caught:
        sar(*problem, 1)
    return int(str(caught.value).split("must be at least ")[1].split()[0])


def random_problem(rng, largest=40):
    n = int(rng.integers(2, largest + 1))
    b = int(rng.choice([1, 2, 3, rng.integers(1, 2 * n + 1), rng.integers(1, 4 * n + 1)]))
    r = int(rng.choice([1, 2, b, rng.integers(1, b + 1)]))
    return n, int(rng.integers(1, n)), b, r


def grid_bandit(rng, n, steps=None):
    """Return rewards on a grid of few steps, so that means and gaps tie."""
    steps = int(rng.choice([1, 2, 4, 16])) if steps is None else steps
    return pb.environments.TableBandit(rng.integers(0, steps + 1, (n, 7)) / steps)


def assert_matches_reference(policy, bandit, most_batches=100_000, lost=lambda arms, r: r):
    reference, batches = reference_of(policy), 0
    while not policy.done and batches < most_batches:
        arms = policy.ask()
        expected = reference.ask()
        assert sorted(arms.tolist()) == sorted(expected)
        rewards = lost(arms, bandit.pull(arms))
        policy.tell(arms, rewards, missing="drop")
        reference.tell(arms.tolist(), rewards.tolist())
        batches += 1
        assert policy.pulls.tolist() == reference.seen
        if hasattr(policy, "accepted"):
            assert policy.accepted.tolist() == sorted(reference.accepted)
        alive = [] if reference.done and hasattr(policy, "accepted") else reference.alive
        assert policy.survivors.tolist() == alive
    assert policy.done == reference.done and policy.n_batches == reference.n_batches == batches
    assert policy.n_pulls == sum(reference.asked)
    if policy.done:
        assert policy.recommend().tolist() == reference.recommend()
