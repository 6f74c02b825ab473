"""User-defined policies in Python."""

import warnings

import numpy as np
import pytest

import pybandit as pb

from policies.protocol import play


class Uniform(pb.Policy):
    """Pulls each arm four times in one batch."""

    done = property(lambda self: self.n_batches > 0)

    def ask(self):
        return np.repeat(np.arange(self.n_arms), 4)

    def recommend(self):
        return np.argsort(-np.nan_to_num(self.means), kind="stable")[:self.k]


def test_user_defined_policy_runs():
    bandit = pb.environments.GaussianBandit([0.0, 2.0, 1.0], 0.001)
    policy = Uniform(3, 2)
    assert not policy.done and (policy.n_arms, policy.k) == (3, 2)
    policy.tell(policy.ask(), bandit.pull(policy.ask(), 1))
    assert policy.done and policy.recommend().tolist() == [1, 2]
    result = pb.simulate(lambda environment: Uniform(3, 2), bandit, 5, rng=1)
    assert not result.errors.any() and result.pulls.tolist() == [12] * 5


def test_missing_methods_raise_not_implemented():
    class Nothing(pb.Policy):
        pass

    policy = Nothing(3)
    for act in (lambda: policy.done, policy.ask, policy.recommend,
                lambda: policy.tell([0], [0.5])):
        with pytest.raises(NotImplementedError, match="Nothing must define"):
            act()
    for bad, word in ((0, 1), "n_arms"), ((3, 4), "k"), ((3, -1), "k"):
        with pytest.raises(ValueError, match=word):
            Nothing(*bad)


def test_subclass_of_a_policy_runs_alike():
    class Counted(pb.policies.BatchSAR):
        asked = 0

        def ask(self):
            self.asked += 1
            return super().ask()

    table = np.linspace(0, 1, 12)[:, None] + np.random.default_rng(5).random((12, 11)) / 8
    policy, log = play(Counted(12, 3, batch_size=7, max_batches=15, max_repeats=2),
                       pb.environments.TableBandit(table))
    straight, same = play(pb.policies.BatchSAR(12, 3, batch_size=7, max_batches=15, max_repeats=2),
                          pb.environments.TableBandit(table))
    assert log == same and policy.asked >= len(log)
    assert np.array_equal(policy.recommend(), straight.recommend())


class Listed(list):
    """A user-defined list class."""


FORMS = {
    "list": lambda x: x.tolist(), "numbers in a list": list,
    "own list": lambda x: Listed(x.tolist()),
    "tuple": lambda x: tuple(x.tolist()), "strided": lambda x: np.repeat(x, 2)[::2],
    "float": lambda x: x.astype(float), "integer": lambda x: x.astype(np.int64),
    "bool": lambda x: x.astype(bool), "short": lambda x: x.astype(np.int8),
    "swapped": lambda x: x.astype(">f8"), "flags": lambda x: x.astype(bool).tolist(),
    "mixed": lambda x: [int(x[0]), *x[1:].tolist()],
    "backwards twice": lambda x: x[::-1].copy()[::-1],
}


@pytest.mark.parametrize("n", [1, 3, 16, 17, 40])
@pytest.mark.parametrize("form", FORMS)
def test_rewards_of_every_type_are_accepted_alike(form, n):
    """Zeros and ones in arrays and lists of all kinds and lengths, arms in order or not."""
    rng = np.random.default_rng(n)
    make = lambda: pb.policies.RoundRobin(5, 1, batch_size=n, max_batches=8)  # noqa: E731
    plain, other = make(), make()
    for step in range(8):
        arms, rewards = plain.ask(), rng.integers(0, 2, n).astype(float)
        plain.tell(arms, rewards)
        order = np.arange(n)[::-1] if step % 4 == 3 else np.arange(n)
        forms = arms[order], arms[order].tolist(), Listed(arms[order].tolist()), arms[order]
        other.tell(forms[step % 4], FORMS[form](rewards[order]))
        if step % 4 == 3:  # sums of zeros and ones are exact in any order
            assert np.array_equal(other.pulls, plain.pulls)
    assert np.array_equal(other.means, plain.means) and other.n_pulls == plain.n_pulls == 8 * n


@pytest.mark.parametrize("arms, rewards, error", [
    ([0, 1], [0.5], ValueError), ([0], [0.5, 0.5], ValueError), ([], [], TypeError),
    ([0, 1], ["0.5", 0.5], TypeError), ([0, 1], [None, 0.5], TypeError),
    ([0, 1], [0.5, [0.5]], ValueError), ([0, 1], [1j, 0.5], TypeError),
    ([0, 1], [0.5, np.nan], ValueError), ([0, 1], [0.5, np.inf], ValueError),
    ([0, 1], [2**200, 0.5], TypeError), ([0, 1], [0.5, 1e200], ValueError),
    ([0.0, 1], [0.5, 0.5], TypeError), ([True, False], [0.5, 0.5], TypeError),
    ([0, 2**64], [0.5, 0.5], TypeError), ([0, 2**63 - 1], [0.5, 0.5], ValueError),
    ([0, 0], [0.5, 0.5], ValueError), (["0", "1"], [0.5, 0.5], TypeError), (0, 0.5, ValueError)])
def test_bad_short_list_is_refused_as_an_array(arms, rewards, error):
    policy = pb.policies.RoundRobin(2, 1, batch_size=2, max_batches=3)
    policy.ask()
    with pytest.raises(error):
        policy.tell(arms, rewards)
    assert policy.n_pulls == 0 and policy.ask().tolist() == [0, 1]


class Reading(float):
    """A float subclass that converts to another value."""

    def __float__(self):
        return 0.75


@pytest.mark.parametrize("form", [list, tuple, np.array])
def test_float_subclass_counts_by_its_converted_value(form):
    policy = pb.policies.RoundRobin(2, 1, batch_size=2, max_batches=3)
    policy.tell([0, 1], form([Reading(0.25), np.float64(0.5)]))
    assert policy.means.tolist() == [0.75, 0.5]


@pytest.mark.parametrize("n", [3, 40])
def test_any_nonzero_byte_is_true(n):
    policy = pb.policies.RoundRobin(1, 1, batch_size=n, max_batches=3)
    policy.tell(policy.ask(), np.full(n, 255, dtype=np.uint8).view(bool))
    assert policy.means.tolist() == [1.0]


def test_telling_unasked_arms_raises_protocol_error():
    policy = pb.policies.BatchSAR(6, 2, batch_size=4, max_batches=9)
    with pytest.raises(pb.errors.ProtocolError, match=r"nothing is asked: call ask\(\)"):
        policy.tell([5, 5, 5, 5], np.zeros(4))
    arms = policy.ask()
    with pytest.raises(ValueError, match=r"arms must be those of ask\(\)"):
        policy.tell([5, 5, 5, 5], np.zeros(4))
    policy.tell(arms, np.zeros(4))
    with pytest.raises(pb.errors.ProtocolError, match="nothing is asked"):
        policy.tell(arms, np.zeros(4))
    assert policy.n_pulls == 4
    policy = type(policy).from_state(policy.get_state())  # ask may have been called before
    with pytest.raises(ValueError, match=r"arms must be those of ask\(\)"):
        policy.tell(arms, np.zeros(4))


def test_large_delta_warns():
    for make in (lambda: pb.policies.LUCB(3, delta=0.95), lambda: pb.stopping.GLR(delta=0.5),
                 lambda: pb.stopping.Betting(delta=0.9), lambda: pb.policies.LilUCB(3, delta=0.95)):
        with pytest.warns(pb.errors.PybanditWarning, match="delta is the probability of an error"):
            make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pb.policies.TopTwo(3), pb.stopping.lower_bound([1.0, 0.0], delta=0.49)


def test_decided_is_true_only_if_a_rule_stopped():
    def play_out(policy):
        while not policy.done:
            arms = policy.ask()
            assert policy.decided is False
            policy.tell(arms, np.array([1.0, 0.5, 0.0])[arms])
        return policy

    rule = pb.stopping.GLR(noise_std=0.1)
    assert play_out(pb.policies.TopTwo(3, stopping=rule, rng=1)).decided
    assert play_out(pb.policies.BatchRacing(3, noise_std=0.05)).decided
    for policy in (pb.policies.TopTwo(3, stopping=pb.stopping.GLR(noise_std=9.0), max_pulls=9,
                                      rng=1),
                   pb.policies.TopTwo(3, max_pulls=20, rng=1),
                   pb.policies.Uniform(3, budget=9), pb.policies.SHAdaVar(3, budget=30)):
        assert not play_out(policy).decided


@pytest.mark.parametrize("n_values", [3, 10**9])
@pytest.mark.parametrize("k", [1, 700, 1500, 2999])
def test_many_arms_are_recommended_best_first_ties_to_the_lowest(n_values, k):
    """Most arms tie if there are few values, none if there are many; some have no reward."""
    rng = np.random.default_rng(3)
    means = rng.integers(n_values, size=3000) / n_values
    policy = pb.policies.BatchRacing(3000, k, batch_size=3000)
    policy.tell(policy.ask(), np.where(np.arange(3000) % 1000, means[policy.ask()], np.nan),
                missing="drop")
    seen = np.where(np.isnan(policy.means), -np.inf, policy.means)
    expected = sorted(range(3000), key=lambda arm: (-seen[arm], arm))[:k]
    assert policy.recommend().tolist() == expected
