"""BayesGap and related policies with a joint Gaussian posterior: cases, reference, protocol."""

import re

import numpy as np
import pytest

import pybandit as pb
from costly import part

from policies import protocol
from policies.gaussian_arms import NAMES, smooth_kernel
from policies.reference import gaussian as plain
from policies.reference import tables

MATCHED = NAMES[:-1]
CASE_NAMES = {"EI": "ExpectedImprovement", "PI": "ProbabilityOfImprovement",
              "Thompson": "GaussianThompson"}


def case_policy(case, as_kernel=False):
    p, name = case["params"], CASE_NAMES.get(case["algorithm"], case["algorithm"])
    options = {key: p[key] for key in ("xi", "delta") if key in p}
    if name == "BayesGap":
        options = dict(epsilon=p["eps"], n_beta={"T": "T", "clip": "T-K"}[p["T_minus_K"]],
                       recommendation="bound")
    X = np.array(p["X"])
    arms = dict(kernel=X @ X.T) if as_kernel else dict(features=X)
    return getattr(pb.policies, name)(len(X), budget=p["T"], **arms, noise_std=p["sigma"],
                                      prior_std=p["eta"], **options)


@pytest.mark.parametrize("as_kernel", [False, True])
@pytest.mark.parametrize("case", tables.gaussian_cases(), ids=lambda case: case["algorithm"])
def test_policies_match_cases(case, as_kernel):
    expect, policy = case["expect"], case_policy(case, as_kernel)
    if as_kernel and case["algorithm"] == "Thompson":
        pytest.skip("the case's normals are of its features")
    bandit, log, rounds = pb.environments.TableBandit(case["rewards"]), [], []
    while not policy.done:
        if case["algorithm"] == "Thompson":
            policy._draw(case["params"]["z"][policy.n_pulls])
        arms = policy.ask()
        if case["algorithm"] == "BayesGap":
            J, _, beta, B = policy._last_round()
            rounds.append((J, beta, B))
        log += arms.tolist()
        policy.tell(arms, bandit.pull(arms))
    assert log == expect["pulls"]
    assert policy.recommend().tolist() == [expect["out"]]
    np.testing.assert_allclose(policy.posterior_means, expect["post_mean"], rtol=0, atol=1e-11)
    if rounds:
        J, beta, B = map(list, zip(*rounds, strict=True))
        assert expect["J"] == J
        np.testing.assert_allclose(beta, expect["beta"], rtol=1e-10)
        np.testing.assert_allclose(B, expect["B"], rtol=1e-10)


# -- reference runs ----------------------------------------------------------------------


def features_of(rng, K, d):
    """Return random features; some rows are equal, some zero."""
    X = rng.normal(size=(K, d))
    X = X[rng.integers(K, size=K)] if rng.random() < 0.3 else X
    X[rng.random(K) < 0.1] = 0.0
    return X


def random_pair(name, rng):
    """Return a random policy and its reference implementation."""
    K = int(rng.integers(1, 12))
    d, budget = int(rng.integers(1, 8)), int(rng.integers(1, 30))
    X = features_of(rng, K, d)
    options = dict(prior_std=float(rng.choice([0.5, 2.0])),
                   noise_std=None if rng.random() < 0.4 else float(rng.choice([0.1, 1.0])),
                   noise_prior=(float(rng.choice([0.5, 3.0])), float(rng.choice([0.1, 2.0]))))
    if name == "BayesGap":
        options |= dict(epsilon=float(rng.choice([0.0, 0.3])), n_beta=str(rng.choice(["T", "T-K"])),
                        recommendation=str(rng.choice(["pulled", "posterior-mean", "bound"])))
    elif name == "GPUCB":
        options |= dict(delta=float(rng.choice([0.01, 0.5])))
    elif name != "BayesUCB":
        options |= dict(xi=float(rng.choice([0.0, 0.01, 0.5])))
    arms = dict(kernel=X @ X.T) if rng.random() < 0.5 else dict(features=X)
    return (getattr(pb.policies, name)(len(X), budget=budget, **arms, **options),
            getattr(plain, name)(budget, X @ X.T, **options))


def is_best(reference, name, arm):
    """Return True if the reference could have chosen the arm, up to rounding."""
    chosen = reference.ask()
    if arm == chosen:
        return True
    if name == "BayesGap":
        return {arm, chosen} == {reference.J, reference.j} and np.isclose(
            *reference.std[[arm, chosen]], rtol=1e-7, atol=1e-9)
    scores = reference.scores()
    return np.isclose(scores[arm], scores[chosen], rtol=1e-7, atol=1e-9)


@pytest.mark.examples
@pytest.mark.parametrize("name", MATCHED)
def test_policies_match_reference(name):
    """Follows the policy's pulls; ties may differ, since the reference rounds differently."""
    n_same = n_all = 0
    for seed in range(part(50, of=150)):
        rng = np.random.default_rng([seed, MATCHED.index(name)])
        policy, reference = random_pair(name, rng)
        means = rng.normal(size=policy.n_arms)
        while not policy.done:
            arm = policy.ask()
            n_same += reference.ask() == arm[0]
            n_all += 1
            if name == "BayesGap" and policy.n_arms > 1:
                _, _, beta, B = policy._last_round()
                assert beta == pytest.approx(reference.beta, rel=1e-6)
                assert B == pytest.approx(reference.rounds[-1][0], rel=1e-6, abs=1e-7)
            else:
                assert is_best(reference, name, arm[0])
            reward = np.nan if rng.random() < 0.1 else float(rng.normal(means[arm[0]]))
            policy.tell(arm, [reward], missing="drop")
            reference.tell(arm[0], reward)
            np.testing.assert_allclose(policy.posterior_means, reference.mean, atol=1e-8)
            np.testing.assert_allclose(policy.posterior_std, reference.std, atol=1e-7)
            assert policy.noise_estimate == pytest.approx(reference.sigma, rel=1e-9)
        best = policy.recommend()[0]
        if name != "BayesGap":
            assert reference.mean[best] == pytest.approx(reference.mean.max(), abs=1e-8)
        elif policy.recommendation != "bound":
            assert reference.mean[best] == pytest.approx(reference.mean[reference.recommend()],
                                                         abs=1e-8)
    assert n_same > 0.9 * n_all


def test_bound_recommends_an_arm_never_pulled_and_the_default_does_not():
    """With fewer than K pulls, Eq. 8 prefers arm 0, whose narrow prior gives the tightest bound."""
    K, prior = 20, np.full(20, 1.0)
    prior[0] = 1e-6
    means = np.linspace(0.0, 3.0, K)
    found = {}
    for rule in ("bound", "pulled", "posterior-mean"):
        policy = pb.policies.BayesGap(K, budget=10, kernel=np.diag(prior), noise_std=0.1,
                                      prior_std=10.0, recommendation=rule)
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, means[arms])
        found[rule] = policy.recommend()[0]
        assert policy.pulls[found["bound"]] == 0
    assert found["bound"] == 0
    assert found["pulled"] == found["posterior-mean"] == np.flatnonzero(policy.pulls)[-1]


def test_pulled_recommendation_falls_back_before_rewards():
    policy = pb.policies.BayesGap(3, budget=5, noise_std=0.1, kernel=np.diag([1.0, 2.0, 3.0]))
    assert policy.recommend() == [0]
    arms = policy.ask()
    policy.tell(arms, [np.nan], missing="drop")
    assert policy.recommend() == [0]
    arms = policy.ask()
    policy.tell(arms, [-5.0])
    assert policy.recommend() == arms


# -- the protocol -----------------------------------------------------------------------


def table_of(n_arms=6, seed=1):
    return np.random.default_rng(seed).integers(0, 2**20, (n_arms, 31)) / 2**20


def policy_of(name, budget=40, form="kernel", noise_std=0.3):
    X = np.random.default_rng(3).normal(size=(6, 4))
    arms = dict(kernel=X @ X.T + 0.1 * np.eye(6)) if form == "kernel" else dict(features=X)
    options = dict(rng=4) if name == "GaussianThompson" else {}
    return getattr(pb.policies, name)(len(X), budget=budget, **arms, noise_std=noise_std, **options)


FORMS = [("kernel", 0.3), ("features", 0.3), ("kernel", None), ("features", None)]


@pytest.mark.some(8)
@pytest.mark.parametrize("form, noise_std", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_policies_follow_the_protocol(name, form, noise_std):
    bandit = pb.environments.TableBandit(table_of())
    rng = np.random.default_rng([NAMES.index(name), form == "kernel"])

    def make(budget=40):
        return policy_of(name, budget, form, noise_std)

    protocol.assert_asking_changes_nothing(make, bandit)
    assert protocol.assert_known_on_the_way(make, bandit).n_pulls == 40
    for _ in range(3):
        protocol.assert_copies_continue(make, table_of(), rng, int(rng.integers(1, 60)),
                                        float(rng.choice([0.0, 0.3])))
    protocol.assert_a_copy_is_on_its_own(make, bandit)
    protocol.assert_simulated_as_by_hand(make, table_of())
    policy = protocol.lose_all(make())
    assert policy.n_pulls == 40 and not policy.posterior_means.any()
    assert policy.recommend().shape == (1,)


@pytest.mark.parametrize("missing", ["raise", "drop"])
@pytest.mark.parametrize("name", NAMES)
def test_bad_batch_changes_nothing(name, missing):
    bandit = pb.environments.TableBandit(table_of())
    protocol.assert_bad_batches_change_nothing(lambda: policy_of(name), bandit, missing)


@pytest.mark.parametrize("name", NAMES)
def test_bad_states_are_refused(name):
    policy, _ = protocol.play(policy_of(name), pb.environments.TableBandit(table_of()), 5)
    for other in (policy_of(other) for other in NAMES if other != name):
        with pytest.raises(ValueError, match="state must be that of"):
            type(policy).from_state(other.get_state())
    for entry in policy.get_state()["progress"]:
        protocol.assert_entries_refused(policy, [{entry: np.zeros((2, 2))}], "hold .* of shape")
    nan = np.full(6, np.nan)
    protocol.assert_entries_refused(policy, [
        dict(posterior_means=nan), dict(posterior_variances=nan), dict(noise=np.array([1, np.nan])),
        dict(posterior_variances=np.full(6, -1.0)), dict(noise=np.array([0.0, 1.0])),
        dict(chosen=6), dict(chosen=-2)], "state must hold")
    if name == "BayesGap":
        protocol.assert_entries_refused(policy, [
            dict(found=6), dict(found=-1), dict(least_bound=np.nan)], "state must hold")


@pytest.mark.parametrize("name", NAMES)
def test_policies_run_with_few_pulls_or_one_arm(name):
    policy, log = protocol.play(policy_of(name, 2), pb.environments.TableBandit(table_of()))
    assert len(log) == 2 and policy.recommend()[0] in range(6)
    one = getattr(pb.policies, name)(1, budget=3, kernel=[[2.0]], noise_std=1.0)
    _, log = protocol.play(one, pb.environments.TableBandit([[0.5]]))
    assert log == [[0]] * 3 and one.recommend().tolist() == [0]


@pytest.mark.parametrize("name", NAMES)
def test_prior_of_zeros_works(name):
    """With a prior of zeros there is nothing to learn, but no call fails."""
    for arms in dict(kernel=np.zeros((4, 4))), dict(features=np.zeros((4, 2))):
        policy = getattr(pb.policies, name)(4, budget=5, **arms, noise_std=0.1)
        protocol.play(policy, pb.environments.TableBandit(table_of(4)))
        assert not policy.posterior_means.any() and not policy.posterior_std.any()
        assert policy.recommend().tolist() == [0]


def test_simulate_seeds_thompson_for_any_number_of_threads():
    def environment(rng):
        return pb.environments.GaussianBandit(rng.normal(size=20), 0.1**0.5)

    results = [pb.simulate(lambda e: pb.policies.GaussianThompson(len(smooth_kernel(20)), budget=15,
                                                                  kernel=smooth_kernel(20),
                                                                  noise_std=0.3),
                           environment, 20, rng=1, n_threads=n) for n in (1, 2)]
    assert results[0].to_dict() == results[1].to_dict()


# -- kernels ------------------------------------------------------------------------------


def test_kernels_are_those_of_scikit_learn():
    x = np.random.default_rng(1).normal(size=(6, 2))
    square = ((x[:, None] - x) ** 2).sum(axis=2)
    np.testing.assert_allclose(pb.kernels.rbf(0.5**1.5)(x), np.exp(-square / 0.25))
    np.testing.assert_allclose(pb.kernels.rbf(0.5)(x), np.exp(-square / 0.5))
    assert pb.kernels.matern(2.0, 1.5).nu == 1.5
    by_points = pb.policies.GPUCB(len(x), budget=9, kernel=pb.kernels.rbf(0.5**1.5), features=x,
                                  noise_std=0.1)
    by_matrix = pb.policies.GPUCB(len(pb.kernels.rbf(0.5**1.5)(x)), budget=9,
                                  kernel=pb.kernels.rbf(0.5**1.5)(x), noise_std=0.1)
    assert protocol.frozen(by_points.get_state()) == protocol.frozen(by_matrix.get_state())


GOOD = dict(kernel=np.eye(3), noise_std=1.0)


@pytest.mark.parametrize("options, message", [
    (dict(n_arms=4), "n_arms must be the number of rows of kernel, 3; got 4"),
    (dict(kernel=None, features=np.eye(5)),
     "n_arms must be the number of rows of features, 5; got 3"),
    (dict(features=np.eye(3)), "kernel must be a function or None if features are given"),
    (dict(kernel=lambda x: x), "features must be the arms' points"),
    (dict(kernel=np.ones((2, 3))), r"kernel must be square, one row per arm; got shape \(2, 3\)"),
    (dict(kernel=np.ones((0, 0))), r"kernel must be square.*\(0, 0\)"),
    (dict(kernel=[[1.0, 0.5], [0.25, 1.0]]), r"symmetric; got 0.5 at \(0, 1\) and 0.25 at \(1, 0"),
    (dict(kernel=[[1.0, 2.0], [2.0, 1.0]]), "semi-definite; got least eigenvalue -1 and largest 3"),
    (dict(kernel=[[-1.0]]), "semi-definite; got least eigenvalue -1 and largest -1"),
    (dict(kernel=[[np.nan]]), r"kernel must be finite, of size 1e\+300 at most; got nan at "
     r"index \(0, 0\)"),
    (dict(kernel=[[1.1e300]]), r"of size 1e\+300 at most; got 1.1e\+300 at"),
    (dict(kernel="rbf"), "kernel must hold real numbers"),
    (dict(kernel=None, features=np.ones(3)), r"features must be a matrix with .*\(3,\)"),
    (dict(kernel=None, features=[[np.inf]]),
     "features must be finite, of size 1e\\+150 at most; got inf"),
    (dict(kernel=None, features=[[-1.1e150]]), r"of size 1e\+150 at most; got -1.1e\+150"),
    (dict(noise_std=0.0), "noise_std must be finite and above 0; got 0.0"),
    (dict(noise_std=None, noise_prior=(1.0,)), r"noise_prior must be two numbers, \(a, b\)"),
    (dict(noise_std=None, noise_prior=(1.0, 0.0)), "noise_prior must be finite and above 0"),
    (dict(prior_std=-1.0), "prior_std must be finite and above 0; got -1.0"),
    (dict(budget=0), "budget must be at least 1; got 0"),
    (dict(budget=2.5), "budget must be an integer; got 2.5"),
    (dict(epsilon=-1.0), "epsilon must be finite and at least 0"),
    (dict(n_beta="K"), "n_beta must be one of 'T', 'T-K'; got 'K'"),
    (dict(recommendation="mean"), "recommendation must be one of 'pulled', 'posterior-mean'"),
])
def test_bad_input_is_refused(options, message):
    options = dict(n_arms=3, budget=5, **GOOD) | options
    with pytest.raises((ValueError, TypeError), match=message):
        pb.policies.BayesGap(**options)


def test_bad_input_of_other_policies_is_refused():
    for delta in 0.0, 1.0, np.nan:
        with pytest.raises(ValueError, match=re.escape("delta must be in (0, 1)")):
            pb.policies.GPUCB(3, budget=5, **GOOD, delta=delta)
    for cls in pb.policies.ExpectedImprovement, pb.policies.ProbabilityOfImprovement:
        with pytest.raises(ValueError, match="xi must be finite and at least 0; got -1"):
            cls(3, budget=5, **GOOD, xi=-1.0)
    with pytest.raises(TypeError):
        pb.policies.GPUCB(2, budget=5, kernel=np.eye(2))


@pytest.mark.parametrize("name", NAMES)
def test_arms_are_independent_without_kernel_and_features(name):
    stream = dict(rng=4) if name == "GaussianThompson" else {}
    plain, given = (getattr(pb.policies, name)(4, budget=20, noise_std=0.3, **stream, **arms)
                    for arms in ({}, dict(kernel=np.eye(4))))
    for policy in plain, given:
        protocol.play(policy, pb.environments.TableBandit(table_of(4)))
    assert protocol.frozen(plain.get_state()) == protocol.frozen(given.get_state())
