"""Methods overridden in Python and arguments of users are checked before they are used."""

import numpy as np
import pytest

import pybandit as pb

from policies.protocol import frozen


def asks(base, arms, **more):
    """Return a user-defined class whose `ask` returns these arms."""
    return type("Mine", (base,), {"ask": lambda self: arms, **more})


@pytest.mark.parametrize("arms", [[1, 2, 3], [10**7], [-1], [2**62, 0], np.array([3], np.uint64)])
@pytest.mark.parametrize("base", [pb.Policy, pb.policies.UCB1])
def test_override_with_nonexistent_arms_is_refused(base, arms):
    policy = asks(base, arms)(3)
    with pytest.raises(ValueError, match=r"ask of Mine must return arms in \[0, 3\); got"):
        policy.tell(arms, np.zeros(len(arms)))
    assert policy.n_pulls == 0 and not policy.pulls.any()


@pytest.mark.parametrize("arms", [None, "abc", [0.5], [[0, 1]], 3, [None]])
def test_override_without_integer_arms_is_refused(arms):
    with pytest.raises(TypeError, match="ask of Mine must return a flat array of integers"):
        asks(pb.Policy, arms)(3).tell([0], [0.5])


def test_valid_override_is_accepted():
    policy = asks(pb.policies.UCB1, [2, 2, 0])(3)
    policy.tell([2, 0, 2], [1.0, 0.0, 0.5])
    assert policy.pulls.tolist() == [1, 0, 2] and policy.means[2] == 0.75


def test_nested_call_cannot_change_the_policy():
    class Mine(pb.policies.UCB1):
        def ask(self):
            super().tell(super().ask(), [0.5] * 3)
            return super().ask()

    policy = Mine(3)
    with pytest.raises(RuntimeError, match="in use: a function that it calls cannot"):
        policy.tell([0, 1, 2], [0.5] * 3)
    assert policy.n_pulls == 0


MAKERS = {"one": lambda: pb.policies.UCB1(3),
          "own": lambda: asks(pb.Policy, np.arange(3), done=False)(3),
          "many": lambda: pb.policies.Uniform(3, budget=99),
          "gaussian": lambda: pb.policies.ThompsonSampling(
              3, rng=1, law="gaussian")}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_masked_rewards_are_lost(make):
    policy, n = make(), len(make().ask())
    rewards = np.ma.array(np.full(n, 99.0), mask=np.arange(n) % 3 == 1)
    before = policy.pulls.tolist()
    with pytest.raises(ValueError, match="rewards must be finite; got nan at index 1, arm 1"):
        policy.tell(policy.ask(), rewards)
    assert policy.pulls.tolist() == before
    policy.tell(policy.ask(), rewards, missing="drop")
    assert policy.pulls.tolist() == [n // 3, 0, n // 3] and np.isnan(policy.means[1])
    with pytest.raises(ValueError, match="arms must not be masked"):
        policy.add_late(np.ma.array([1], mask=[True]), [0.5])
    with pytest.raises(ValueError, match="rewards must be finite; got nan"):
        policy.add_late([1], np.ma.array([99.0], mask=[True]))
    if not policy.done:
        arms = policy.ask()
        with pytest.raises(ValueError, match="arms must not be masked"):
            policy.tell(np.ma.array(arms, mask=True), np.zeros(arms.size))


def unaligned(values):
    """Return the same numbers at unaligned addresses."""
    memory = np.zeros(values.nbytes + 1, dtype=np.uint8)
    array = memory[1:].view(values.dtype)
    array[:] = values
    assert not array.flags.aligned
    return array


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_unaligned_arrays_are_copied(make):
    policy, other = make(), make()
    arms = policy.ask()
    rewards = np.linspace(0.0, 1.0, len(arms))
    policy.tell(unaligned(np.asarray(arms)), unaligned(rewards))
    other.tell(arms, rewards)
    assert frozen([policy.means, policy.pulls]) == frozen([other.means, other.pulls])


@pytest.mark.parametrize("make, name", [
    (lambda: pb.policies.GapE(4, budget=2**63 - 1, value_range=1.0), "budget"),
    (lambda: pb.policies.UCBE(4, budget=2**63, complexity=1.0), "budget"),
    (lambda: pb.policies.UGapEb(4, budget=2**54, complexity=1.0), "budget"),
    (lambda: pb.policies.GPUCB(3, budget=2**63, features=np.eye(3), noise_std=1.0), "budget"),
    (lambda: pb.policies.SequentialHalving(4, budget=2**64), "budget"),
    (lambda: pb.policies.OCBA(4, budget=2**63), "budget"),
    (lambda: pb.policies.EBTC(4, max_pulls=2**63), "max_pulls")])
def test_too_large_budgets_are_refused(make, name):
    with pytest.raises(ValueError, match=f"^{name} must be at most {2**53}"):
        make()


@pytest.mark.parametrize("make, name", [
    (lambda: pb.policies.UCB1(2**63),
     "n_arms"), (lambda: pb.policies.RoundRobin(3, 1, batch_size=2**63, max_batches=1),
                 "batch_size"),
    (lambda: pb.policies.RoundRobin(3, 1, batch_size=4, max_batches=2**62),
     "batch_size times max_batches"),
    (lambda: pb.policies.BatchHalving(3, 1, batch_size=4, max_batches=2**63), "max_batches"),
    (lambda: pb.environments.BinomialBandit([0.5], trials=2**63), "trials")])
def test_integers_beyond_64_bits_are_refused(make, name):
    with pytest.raises(ValueError, match=f"{name}.* must be at most"):
        make()


# -- how policies end, and their streams ---------------------------------------------------

BANDIT = pb.environments.GaussianBandit([0.0, 1.0, 0.5], 0.1)


class UntilSure(pb.policies.EBTC):
    """Stops by a rule of its own."""

    done = property(lambda self: self.n_pulls >= 30)


def test_subclass_that_ends_needs_no_max_pulls():
    assert pb.policies.EBTC(3).is_endless and not UntilSure(3).is_endless
    result = pb.simulate(lambda e: UntilSure(3), BANDIT, 4, rng=1)
    assert result.pulls.tolist() == [30] * 4


@pytest.mark.parametrize("make, endless", [
    (lambda: pb.policies.UCB1(3), True), (lambda: pb.policies.ThompsonSampling(3), True),
    (lambda: pb.policies.EBTC(3, max_pulls=9),
     False), (lambda: pb.policies.UCBE(3, budget=9, complexity=1.0), False),
    (lambda: pb.montecarlo.EstimatorAllocator(3),
     True), (lambda: pb.montecarlo.EstimatorAllocator(3, budget=99), False)])
def test_is_endless_is_true_for_endless_policies(make, endless):
    assert make().is_endless is endless


class Random(pb.Policy):
    """Draws from the stream that it receives."""

    is_endless = True
    done = False
    rng = None

    def seed(self, rng):
        self.rng = rng

    def ask(self):
        if getattr(self, "asked", None) is None or self.at != self.n_pulls:
            self.asked, self.at = self.rng.integers(3, size=1), self.n_pulls
        return self.asked

    def recommend(self):
        return np.array([0])


def test_python_policy_draws_from_the_stream_of_its_run():
    with pytest.raises(ValueError, match="max_pulls must be given"):
        pb.simulate(lambda e: Random(3), BANDIT, 2)
    runs = [pb.simulate(lambda e: Random(3), BANDIT, 20, rng=1, max_pulls=20, n_threads=n)
            for n in (1, 1, 3)]
    assert runs[0].arm_pulls.tolist() == runs[1].arm_pulls.tolist() == runs[2].arm_pulls.tolist()
    assert len(set(runs[0].cumulative_regrets.round(6).tolist())) > 5


def test_seed_before_the_first_pull_sets_the_stream():
    created = [pb.policies.ThompsonSampling(9) for _ in range(3)]
    for policy, seed in zip(created, (1, 1, 2), strict=True):
        policy.seed(np.random.default_rng(seed))
        for _ in range(20):
            policy.tell(policy.ask(), [0.5])
    assert created[0].pulls.tolist() == created[1].pulls.tolist() != created[2].pulls.tolist()
