"""SuccessiveElimination, LilUCB, UGapEc, APT, GoodArms: reference runs, protocol, error rates."""

import itertools

import numpy as np
import pytest

import pybandit as pb
from pybandit.stopping import GLR

from policies.confidence_runs import orders, table_of
from policies.reference import bounds as plain

LAWS = ["gaussian", "bernoulli", "gaussian-unknown"]


# -- reference runs ----------------------------------------------------------------------


@pytest.mark.some(9)
@pytest.mark.parametrize("law", [*LAWS, "poisson"])
@pytest.mark.parametrize("seed", range(20))
def test_elimination_matches_reference(seed, law):
    rng = np.random.default_rng([seed, 1])
    n_arms = int(rng.integers(1, 8))
    rule = GLR(delta=0.3, law=law, guarantee=["proven", "heuristic"][seed % 2],
               epsilon=0.3 * (seed % 3 == 0) * (law in ("gaussian", "gaussian-unknown")))
    k = int(rng.integers(0, n_arms + 1)) if seed % 4 else 1
    table = table_of(rng, n_arms, law)
    if law == "gaussian-unknown":  # one reward has no sample variance
        n_arms = max(n_arms, 2)
        table = table_of(rng, n_arms, law)
        with np.errstate(invalid="ignore", divide="ignore"):
            order, expected = orders(pb.policies.SuccessiveElimination(n_arms, stopping=rule, k=k),
                                     Patient(n_arms, rule, k), table, 100)
    else:
        order, expected = orders(pb.policies.SuccessiveElimination(n_arms, stopping=rule, k=k),
                                 plain.SuccessiveElimination(n_arms, rule, k), table)
    assert order == expected


def test_one_reward_per_arm_decides_nothing_if_variances_are_unknown():
    rule = GLR(delta=0.3, law="gaussian-unknown", guarantee="heuristic")
    policy = pb.policies.SuccessiveElimination(3, stopping=rule)
    policy.tell(policy.ask(), [0.0, 1.0, 5.0])
    assert not policy.done and policy.alive.tolist() == [0, 1, 2]


class Patient(plain.SuccessiveElimination):
    """Pulls each arm once first, as the policy does, although a variance needs two."""

    def __init__(self, n_arms, rule, k):
        super().__init__(n_arms, rule, k)
        self.unknown, self.is_unknown = True, False

    def margin(self, a, b, epsilon):
        if min(self.n(a), self.n(b)) < 2:
            return -1.0
        self.is_unknown = True
        return super().margin(a, b, epsilon)

    def stops(self):
        stops = super().stops()
        self.is_unknown = False
        return stops


@pytest.mark.parametrize("guarantee", ["proven", "heuristic"])
def test_lil_ucb_matches_reference(guarantee):
    for seed in range(25):
        rng = np.random.default_rng([seed, 2])
        n_arms = int(rng.integers(1, 9))
        options = dict(delta=float(rng.choice([0.1, 1e-4])), noise_std=0.5, guarantee=guarantee)
        order, expected = orders(pb.policies.LilUCB(n_arms, **options),
                                 plain.LilUCB(n_arms, **options), table_of(rng, n_arms, "gaussian"))
        assert order == expected
    assert pb.policies.LilUCB(7, **options).share == pytest.approx(plain.LilUCB(7, **options).share)


def test_ugap_matches_reference():
    for seed in range(60):
        rng = np.random.default_rng([seed, 3])
        n_arms = int(rng.integers(2, 9))
        options = dict(delta=float(rng.choice([0.1, 1e-4])), k=int(rng.integers(1, n_arms)),
                       epsilon=float(rng.choice([0.0, 0.4])), noise_std=0.25)
        order, expected = orders(pb.policies.UGapEc(n_arms, **options),
                                 plain.UGapEc(n_arms, **options), table_of(rng, n_arms, "gaussian"))
        assert order == expected


def test_apt_matches_reference():
    for seed in range(30):
        rng = np.random.default_rng([seed, 4])
        n_arms = int(rng.integers(1, 9))
        options = dict(threshold=1.5, epsilon=float(rng.choice([0.0, 0.2])))
        policy = pb.policies.APT(n_arms, **options)
        order, expected = orders(policy, plain.APT(n_arms, **options),
                                 table_of(rng, n_arms, "gaussian"))
        assert order == expected


def test_ocba_matches_reference():
    for seed in range(40):
        rng = np.random.default_rng([seed, 6])
        n_arms, n_initial = int(rng.integers(1, 9)), int(rng.integers(2, 6))
        table = table_of(rng, n_arms, "gaussian")
        if seed % 4 == 3:
            table = np.round(table)  # means tie, and some arms have variance 0
        policy = pb.policies.OCBA(n_arms, n_initial=n_initial)
        reference = plain.OCBA(n_arms, n_initial)
        rewards, pulled = table.tolist(), np.zeros(n_arms, dtype=int)
        for _ in range(150):
            arms = policy.ask()
            if policy.n_pulls:
                assert arms.size == 1 and arms[0] in reference.choose(), seed
            given = []
            for arm in arms.tolist():
                given.append(rewards[arm][pulled[arm] % len(rewards[arm])])
                reference.rewards[arm].append(given[-1])
                pulled[arm] += 1
            policy.tell(arms, given)


def test_ocba_pulls_by_its_shares():
    """Compares with shares computed by hand from known means and variances."""
    rng = np.random.default_rng(1)
    policy, means = pb.policies.OCBA(3, budget=20_000), np.array([1.0, 0.0, -1.0])
    noise = np.array([1.0, 1.0, 2.0])
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, means[arms] + noise[arms] * rng.standard_normal(arms.size))
    # w1 = 1, w2 = 4 / 4, w0 = sqrt(w1^2 / 1 + w2^2 / 4)
    shares = np.array([np.sqrt(1 + 1 / 4), 1.0, 4 / 4])
    assert policy.pulls / policy.n_pulls == pytest.approx(shares / shares.sum(), abs=0.02)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sampling", ["hdoc", "lucb-g", "apt"])
def test_good_arms_matches_reference(sampling, law):
    for seed in range(15):
        rng = np.random.default_rng([seed, 5])
        n_arms = int(rng.integers(1, 7))
        options = dict(delta=0.3, threshold=0.5 if law == "bernoulli" else 1.5,
                       sampling=sampling, law=law, epsilon=float(rng.choice([0.0, 0.1])),
                       noise_std=0.5 if law == "gaussian" else 1.0)
        policy, reference = pb.policies.GoodArms(n_arms, **options), plain.GoodArms(n_arms,
                                                                                   **options)
        order, expected = orders(policy, reference, table_of(rng, n_arms, law))
        assert order == expected
        names = np.array(reference.names)
        assert policy.good.tolist() == np.flatnonzero(names > 0).tolist()
        assert policy.bad.tolist() == np.flatnonzero(names < 0).tolist()


# -- guarantees of single policies -------------------------------------------------------


def played(policy, means, spread, seed, most=10**6):
    rng, means = np.random.default_rng(seed), np.asarray(means)
    while not policy.done and policy.n_pulls < most:
        arms = policy.ask()
        policy.tell(arms, means[arms] + spread * rng.standard_normal(arms.size))
    return policy


def test_elimination_asks_all_undecided_arms_at_once():
    policy = pb.policies.SuccessiveElimination(5, stopping=GLR(delta=0.1, noise_std=0.1))
    assert policy.ask().tolist() == policy.alive.tolist() == [0, 1, 2, 3, 4]
    played(policy, [0.0, 1.0, 0.9, 0.1, 0.2], 0.1, 1)
    assert policy.decided and policy.alive.tolist() == policy.recommend().tolist() == [1]
    assert policy.pulls[2] == policy.pulls[1] == policy.n_batches > policy.pulls[0]


def test_epsilon_ends_elimination_with_several_arms_left():
    policy = played(pb.policies.SuccessiveElimination(3, stopping=GLR(delta=0.1, noise_std=0.1,
                                                                      epsilon=0.3)),
                    [0.5, 0.5, 0.0], 0.1, 1)
    assert policy.decided and policy.alive.tolist() == [0, 1]


def test_elimination_decides_arms_one_by_one():
    policy = pb.policies.SuccessiveElimination(5, stopping=GLR(delta=0.1, noise_std=0.1), k=2)
    rng, means, asked = np.random.default_rng(1), np.array([0.0, 1.0, 0.5, 0.45, 0.2]), []
    while not policy.done:
        arms = policy.ask()
        asked.append(set(arms.tolist()))
        policy.tell(arms, means[arms] + 0.1 * rng.standard_normal(arms.size))
    assert policy.decided and policy.alive.tolist() == policy.recommend().tolist() == [1, 2]
    assert asked[0] == {0, 1, 2, 3, 4} and asked[-1] == {2, 3}
    assert all(later <= before for before, later in itertools.pairwise(asked))
    # arms 0, 1 and 4 are decided earlier, each as soon as its own pairs are separated
    assert all(policy.pulls[arm] < policy.pulls[2] == policy.pulls[3] for arm in (0, 1, 4))


def test_elimination_of_three_arms_needs_fewer_pulls_than_lucb():
    pulls = []
    for make in (lambda: pb.policies.SuccessiveElimination(6, stopping=GLR(delta=0.1), k=3),
                 lambda: pb.policies.LUCB(6, delta=0.1, k=3)):
        policy = played(make(), [0.0, 0.1, 0.2, 1.2, 1.1, 1.0], 1.0, 1)
        assert sorted(policy.recommend().tolist()) == [3, 4, 5]
        pulls.append(policy.n_pulls)
    assert pulls[0] < 0.6 * pulls[1]


@pytest.mark.slow
@pytest.mark.parametrize("law", ["gaussian", "bernoulli", "bounded"])
@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_elimination_errors_are_at_most_delta(law, delta):
    """Counts errors of decided runs; the test fails by chance with probability below 10^-6."""
    means = np.array([0.7, 0.5, 0.5 - 1e-9, 0.5 - 1e-9, 0.4])
    rule = pb.stopping.Betting(delta=delta) if law == "bounded" else GLR(delta=delta, law=law)
    arms = (pb.environments.GaussianBandit(means) if law == "gaussian"
            else pb.environments.BernoulliBandit(means))
    policy = pb.policies.SuccessiveElimination(5, stopping=rule, k=2)
    result = pb.simulate(policy, arms, 10_000, rng=5, max_pulls=4000)
    wrong = int((result.errors & result.stopped).sum())
    assert wrong <= 10_000 * delta + 4.9 * (10_000 * delta) ** 0.5


def test_unaffordable_round_is_not_started():
    policy = played(pb.policies.SuccessiveElimination(3, stopping=GLR(delta=0.1), max_pulls=11),
                    [0.5, 0.5, 0.5], 0.1, 1)
    assert policy.n_pulls == 9 and policy.done and not policy.decided


def test_good_arms_names_arms_one_by_one():
    policy = pb.policies.GoodArms(3, delta=0.1, threshold=0.0, noise_std=1.0)
    found = []
    rng = np.random.default_rng(3)
    while not policy.done:
        arms = policy.ask()
        assert not set(arms.tolist()) & set(found)
        policy.tell(arms, np.array([3.0, 1.0, -1.0])[arms] + rng.standard_normal(arms.size))
        named = [*policy.good.tolist(), *policy.bad.tolist()]
        found += [arm for arm in named if arm not in found]
    assert found == [0, 1, 2] and policy.recommend().tolist() == [0, 1] and policy.decided


def test_arms_at_the_threshold_are_named_only_with_epsilon():
    for epsilon, names in (0.2, 2), (0.0, 1):
        policy = pb.policies.GoodArms(2, delta=0.1, threshold=0.5, noise_std=0.1, epsilon=epsilon)
        for _ in range(2000):
            if not policy.done:
                arms = policy.ask()
                policy.tell(arms, np.where(arms == 0, 0.5, 0.9))
        assert policy.good.size + policy.bad.size == names and policy.done == (names == 2)


@pytest.mark.parametrize("law", LAWS)
def test_arms_at_the_threshold_are_rarely_named_bad(law):
    """More than 75 errors of 200 at delta = .2 have probability below 10^-6.

    Without the growing terms, one arm's level is crossed in most runs.
    """
    rng, wrong = np.random.default_rng(6), 0
    for _ in range(200):
        policy = pb.policies.GoodArms(2, delta=0.2, threshold=0.5, law=law)
        while not policy.done and policy.n_pulls < 120:
            arms = policy.ask()
            policy.tell(arms, rng.random(arms.size) < 0.5 if law == "bernoulli"
                        else 0.5 + rng.standard_normal(arms.size))
        wrong += policy.bad.size > 0
    assert wrong <= 75


def test_equal_arms_do_not_stop():
    for policy in (pb.policies.SuccessiveElimination(3, stopping=GLR(delta=0.5)),
                   pb.policies.UGapEc(3, delta=0.5),
                   pb.policies.LilUCB(3, delta=0.5)):
        for _ in range(300):
            arms = policy.ask()
            policy.tell(arms, np.full(arms.size, 0.5))
        assert not policy.done and not policy.decided and not policy.is_endless
    assert pb.policies.APT(3, threshold=0.5).is_endless


def test_finding_all_arms_or_none_needs_no_pulls():
    for k in 0, 3:
        policy = pb.policies.UGapEc(3, delta=0.1, k=k)
        assert policy.done and policy.decided and policy.recommend().size == k
        assert pb.policies.UGapEc.from_state(policy.get_state()).done


@pytest.mark.parametrize("make, error, message", [
    (lambda: pb.policies.SuccessiveElimination(3, stopping=None), TypeError,
     "stopping must be a .*GLR or a .*Betting; got None"),
    (lambda: pb.policies.SuccessiveElimination(3, stopping=0.1), TypeError,
     "stopping must be a .*GLR"),
    (lambda: pb.policies.SuccessiveElimination(3, stopping=GLR(delta=0.1), max_pulls=2),
     pb.errors.InfeasibleBudgetError, "max_pulls must"),
    (lambda: pb.policies.LilUCB(3, delta=0.1, guarantee="mine"), ValueError,
     "guarantee must be one of"),
    (lambda: pb.policies.LilUCB(3, delta=0.1, noise_std=0.0), ValueError,
     "noise_std must be finite and above 0"),
    (lambda: pb.policies.UGapEc(3, delta=0.1, k=4), ValueError,
     "k must be at most n_arms = 3; got 4"),
    (lambda: pb.policies.APT(3, max_pulls=2, threshold=0.5), pb.errors.InfeasibleBudgetError,
     "max_pulls must"),
    (lambda: pb.policies.APT(3, threshold=np.nan), ValueError, "threshold must be finite; got nan"),
    (lambda: pb.policies.GoodArms(3, delta=0.1, threshold=1.0, law="bernoulli"), ValueError,
     r"threshold \+ epsilon must be in \(0, 1\)"),
    (lambda: pb.policies.GoodArms(3, delta=0.1, threshold=0.5, law="bernoulli", epsilon=0.5),
     ValueError,
     r"threshold - epsilon and threshold \+ epsilon must be"),
    (lambda: pb.policies.GoodArms(3, delta=0.1, threshold=0.5, law="poisson"), ValueError,
     "law must be one of"),
    (lambda: pb.policies.GoodArms(3, delta=0.1, threshold=0.5, law="bernoulli", noise_std=0.5),
     ValueError,
     "noise_std must be 1 unless law='gaussian'"),
    (lambda: pb.policies.GoodArms(3, delta=0.1, threshold=0.5, sampling="ucb"), ValueError,
     "sampling must be"),
])
def test_bad_arguments_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
