"""BayesGap and its rivals on a joint Gaussian posterior: cases, twins, the protocol."""

import pickle
import re

import numpy as np
import pytest

import pybandit as pb

from policies import protocol
from policies.reference import gaussian as twin
from policies.reference import tables

NAMES = ["BayesGap", "GPUCB", "BayesUCB", "ExpectedImprovement", "ProbabilityOfImprovement",
         "GaussianThompson"]
TWINS = NAMES[:-1]
CASE_NAMES = {"EI": "ExpectedImprovement", "PI": "ProbabilityOfImprovement",
              "Thompson": "GaussianThompson"}


def case_policy(case, as_kernel=False):
    p, name = case["params"], CASE_NAMES.get(case["algorithm"], case["algorithm"])
    options = {key: p[key] for key in ("xi", "delta") if key in p}
    if name == "BayesGap":
        options = dict(epsilon=p["eps"], n_beta={"T": "T", "clip": "T-K"}[p["T_minus_K"]])
    X = np.array(p["X"])
    arms = dict(kernel=X @ X.T) if as_kernel else dict(features=X)
    return getattr(pb, name)(p["T"], **arms, noise_std=p["sigma"], prior_std=p["eta"], **options)


@pytest.mark.parametrize("as_kernel", [False, True])
@pytest.mark.parametrize("case", tables.gaussian_cases(), ids=lambda case: case["algorithm"])
def test_cases(case, as_kernel):
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


def features_of(rng, K, d):
    """Some rows are equal, some zero."""
    X = rng.normal(size=(K, d))
    X = X[rng.integers(K, size=K)] if rng.random() < 0.3 else X
    X[rng.random(K) < 0.1] = 0.0
    return X


def smooth_kernel(K, length=1.0):
    x = np.linspace(0.0, 10.0, K)
    return np.exp(-((x[:, None] - x) ** 2) / length**2)


# -- the posterior -----------------------------------------------------------------------


def after(policy, n, rng):
    """Tells the policy n rewards; the arms and these."""
    seen, rewards = [], []
    for _ in range(n):
        arms = policy.ask()
        rewards.append(float(rng.normal()))
        seen.append(int(arms[0]))
        policy.tell(arms, rewards[-1:])
    return seen, rewards


@pytest.mark.parametrize("noise_std", [0.3, 0.03, 1e-3])
@pytest.mark.parametrize("K, d", [(100, 7), (40, 60), (25, 24), (100, None)])
@pytest.mark.parametrize("name", ["GPUCB", "ProbabilityOfImprovement", "GaussianThompson"])
def test_the_posterior_is_that_of_the_formula_after_1000_pulls(name, K, d, noise_std):
    rng = np.random.default_rng([K, d or 0])
    X = None if d is None else rng.normal(size=(K, d)) / np.sqrt(d)
    G = smooth_kernel(K, 0.4) if d is None else X @ X.T
    policy = getattr(pb, name)(1000, kernel=G if d is None else None, features=X,
                               noise_std=noise_std, prior_std=1.5,
                               **dict(rng=1) if name == "GaussianThompson" else {})
    seen, rewards = after(policy, 1000, rng)
    # the formula in more digits: with little noise, solving loses some
    mean, covariance = long_posterior(G, seen, rewards, noise_std, 1.5)
    # rewards of size 1 are 1e3 of the least noise: the problem itself is that ill-conditioned
    margin = {0.3: 1e-10, 0.03: 1e-9, 1e-3: 1e-6}[noise_std]
    assert np.abs(policy.posterior_means - mean).max() < margin
    assert np.abs(policy.posterior_std**2 - covariance.diagonal()).max() < 1e-10
    assert (np.asarray(policy.get_state()["progress"]["posterior_variances"]) >= 0.0).all()


def long_posterior(G, arms, rewards, noise_std, prior_std):
    """Textbook formula in extended precision, by Cholesky."""
    seen, at = np.unique(arms, return_inverse=True)
    counts = np.bincount(at)
    y = np.bincount(at, weights=rewards) / counts
    prior = np.longdouble(prior_std) ** 2 * G.astype(np.longdouble)
    A = prior[np.ix_(seen, seen)] + np.diag(np.longdouble(noise_std) ** 2 / counts)
    n = len(seen)
    L = np.zeros_like(A)
    rows = np.concatenate([y[:, None].astype(np.longdouble), prior[seen]], axis=1)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        L[j + 1:, j] = (A[j + 1:, j] - L[j + 1:, :j] @ L[j, :j]) / L[j, j]
        rows[j] = (rows[j] - L[j, :j] @ rows[:j]) / L[j, j]
    return (rows[:, 1:].T @ rows[:, 0]).astype(float), (prior - rows[:, 1:].T @ rows[:, 1:]).astype(
        float)


@pytest.mark.parametrize("as_kernel", [False, True])
def test_one_arm_pulled_on_and_on_stays_positive(as_kernel):
    """Its variance is the known one, 1 / (n / noise^2 + 1), not rounding's."""
    X = np.array([[1.0, 0.0], [1.0, 1e-9], [0.0, 0.5]])
    arms = dict(kernel=X @ X.T) if as_kernel else dict(features=X)
    policy = pb.ProbabilityOfImprovement(3000, **arms, noise_std=1e-3)
    seen = np.zeros(3)
    while not policy.done:
        arm = policy.ask()
        policy.tell(arm, [1.0 if arm[0] < 2 else -1.0])
        seen[arm] += 1
        assert (policy.posterior_std >= 0.0).all() and np.isfinite(policy.posterior_means).all()
    assert seen.max() > 1000
    state = policy.get_state()["progress"]
    exact = 1.0 / ((seen[0] + seen[1]) / 1e-6 + 1.0)
    assert state["posterior_variances"][0] == pytest.approx(exact, rel=1e-5, abs=1e-15)


def test_equal_arms_stay_equal():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(6, 4))[[0, 1, 2, 1, 3, 4, 2, 0, 5]]
        for arms in dict(kernel=X @ X.T), dict(features=X):
            if "kernel" in arms:  # BLAS may round equal products apart
                first = np.array([0, 1, 2, 1, 4, 5, 2, 0, 8])
                arms["kernel"] = arms["kernel"][np.ix_(first, first)]
            policy = pb.GPUCB(60, **arms, noise_std=0.2)
            seen, _ = after(policy, 60, rng)
            for values in policy.posterior_means, policy.posterior_std:
                assert values[1] == values[3] and values[2] == values[6] and values[0] == values[7]
            assert not {3, 6, 7} & set(seen)


# -- the twins ---------------------------------------------------------------------------


def random_pair(name, rng):
    """A policy and its twin; G and what the policy is given."""
    K = int(rng.integers(1, 12))
    d, budget = int(rng.integers(1, 8)), int(rng.integers(1, 30))
    X = features_of(rng, K, d)
    options = dict(prior_std=float(rng.choice([0.5, 2.0])),
                   noise_std=None if rng.random() < 0.4 else float(rng.choice([0.1, 1.0])),
                   noise_prior=(float(rng.choice([0.5, 3.0])), float(rng.choice([0.1, 2.0]))))
    if name == "BayesGap":
        options |= dict(epsilon=float(rng.choice([0.0, 0.3])), n_beta=str(rng.choice(["T", "T-K"])),
                        recommendation=str(rng.choice(["gap", "posterior-mean"])))
    elif name == "GPUCB":
        options |= dict(delta=float(rng.choice([0.01, 0.5])))
    elif name != "BayesUCB":
        options |= dict(xi=float(rng.choice([0.0, 0.01, 0.5])))
    arms = dict(kernel=X @ X.T) if rng.random() < 0.5 else dict(features=X)
    return (getattr(pb, name)(budget, **arms, **options),
            getattr(twin, name)(budget, X @ X.T, **options))


def is_best(reference, name, arm):
    """Whether the twin could have chosen it, but for rounding."""
    chosen = reference.ask()
    if arm == chosen:
        return True
    if name == "BayesGap":
        return {arm, chosen} == {reference.J, reference.j} and np.isclose(
            *reference.std[[arm, chosen]], rtol=1e-7, atol=1e-9)
    scores = reference.scores()
    return np.isclose(scores[arm], scores[chosen], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", TWINS)
def test_the_twin(name):
    """Along the policy's pulls; ties may go either way, the twin rounds otherwise."""
    n_same = n_all = 0
    for seed in range(150):
        rng = np.random.default_rng([seed, TWINS.index(name)])
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
    assert n_same > 0.9 * n_all


def test_a_draw_of_all_means_has_the_posterior_s_law():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(5, 3))
    policy = pb.GaussianThompson(10**6, features=X, noise_std=0.5, rng=1)
    seen, rewards = after(policy, 6, rng)
    mean, covariance = twin.posterior(X @ X.T, seen, rewards, 0.5, 1.0)
    draws = np.array([policy._draw(rng.normal(size=3)) for _ in range(40_000)])
    assert np.abs(draws.mean(axis=0) - mean).max() < 6 * np.sqrt(covariance.max() / 40_000)
    assert np.abs(np.cov(draws.T) - covariance).max() < 6 * 1.5 * covariance.max() / 200
    # the policy's own normals: how often each arm is the best
    shares = np.bincount(draws.argmax(axis=1), minlength=5) / 40_000
    policy = pb.GaussianThompson(4000, features=X, noise_std=0.5, rng=2)
    state = pb.GaussianThompson(6, features=X, noise_std=0.5).get_state()["options"]
    assert state["noise_std"] == 0.5
    for arm, reward in zip(seen, rewards, strict=True):
        one = policy.get_state()
        one["progress"]["chosen"] = arm
        policy = pb.GaussianThompson.from_state(one)
        policy.tell([arm], [reward])
    chosen = np.zeros(5)
    while not policy.done:  # lost pulls leave the posterior
        arm = policy.ask()
        chosen[arm] += 1
        policy.tell(arm, [np.nan], missing="drop")
    assert np.abs(chosen / chosen.sum() - shares).max() < 6 * 0.5 / np.sqrt(chosen.sum()) + 0.02


# -- the protocol -----------------------------------------------------------------------


def table_of(n_arms=6, seed=1):
    return np.random.default_rng(seed).integers(0, 2**20, (n_arms, 31)) / 2**20


def policy_of(name, budget=40, form="kernel", noise_std=0.3):
    X = np.random.default_rng(3).normal(size=(6, 4))
    arms = dict(kernel=X @ X.T + 0.1 * np.eye(6)) if form == "kernel" else dict(features=X)
    options = dict(rng=4) if name == "GaussianThompson" else {}
    return getattr(pb, name)(budget, **arms, noise_std=noise_std, **options)


FORMS = [("kernel", 0.3), ("features", 0.3), ("kernel", None), ("features", None)]


@pytest.mark.parametrize("form, noise_std", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_the_protocol(name, form, noise_std):
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
def test_a_bad_batch_changes_nothing(name, missing):
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
def test_fewer_pulls_than_arms_and_one_arm(name):
    policy, log = protocol.play(policy_of(name, 2), pb.environments.TableBandit(table_of()))
    assert len(log) == 2 and policy.recommend()[0] in range(6)
    one = getattr(pb, name)(3, kernel=[[2.0]], noise_std=1.0)
    _, log = protocol.play(one, pb.environments.TableBandit([[0.5]]))
    assert log == [[0]] * 3 and one.recommend().tolist() == [0]


@pytest.mark.parametrize("name", NAMES)
def test_arms_that_are_known_from_the_start(name):
    """A prior of zeros leaves nothing to learn, and nothing breaks."""
    for arms in dict(kernel=np.zeros((4, 4))), dict(features=np.zeros((4, 2))):
        policy = getattr(pb, name)(5, **arms, noise_std=0.1)
        protocol.play(policy, pb.environments.TableBandit(table_of(4)))
        assert not policy.posterior_means.any() and not policy.posterior_std.any()
        assert policy.recommend().tolist() == [0]


def test_simulate_seeds_thompson_and_is_the_same_on_any_number_of_threads():
    def environment(rng):
        return pb.environments.GaussianBandit(rng.normal(size=20), 0.1)

    results = [pb.simulate(lambda e: pb.GaussianThompson(15, kernel=smooth_kernel(20),
                                                         noise_std=0.3),
                           environment, 20, rng=1, n_threads=n) for n in (1, 2)]
    assert results[0].to_dict() == results[1].to_dict()


# -- kernels ------------------------------------------------------------------------------


def test_kernels_are_scikit_learn_s():
    x = np.random.default_rng(1).normal(size=(6, 2))
    square = ((x[:, None] - x) ** 2).sum(axis=2)
    np.testing.assert_allclose(pb.kernels.squared_exponential(0.5)(x), np.exp(-square / 0.25))
    np.testing.assert_allclose(pb.kernels.rbf(0.5)(x), np.exp(-square / 0.5))
    assert pb.kernels.matern(2.0, 1.5).nu == 1.5
    by_points = pb.GPUCB(9, kernel=pb.kernels.squared_exponential(0.5), features=x, noise_std=0.1)
    by_matrix = pb.GPUCB(9, kernel=pb.kernels.squared_exponential(0.5)(x), noise_std=0.1)
    assert protocol.frozen(by_points.get_state()) == protocol.frozen(by_matrix.get_state())


GOOD = dict(kernel=np.eye(3), noise_std=1.0)


@pytest.mark.parametrize("options, message", [
    (dict(kernel=None), "kernel or features must be given"),
    (dict(features=np.eye(3)), "kernel must be a function, or None, where features are given"),
    (dict(kernel=lambda x: x), "features must hold the arms' points"),
    (dict(kernel=np.ones((2, 3))), r"kernel must be square, a row an arm; got shape \(2, 3\)"),
    (dict(kernel=np.ones((0, 0))), r"kernel must be square.*\(0, 0\)"),
    (dict(kernel=[[1.0, 0.5], [0.25, 1.0]]), r"symmetric; got 0.5 at \(0, 1\) and 0.25 at \(1, 0"),
    (dict(kernel=[[1.0, 2.0], [2.0, 1.0]]), "semi-definite; got the eigenvalue -1, and 3"),
    (dict(kernel=[[-1.0]]), "semi-definite; got the eigenvalue -1, and -1"),
    (dict(kernel=[[np.nan]]), r"kernel must be finite; got nan at index \(0, 0\)"),
    (dict(kernel="rbf"), "kernel must hold real numbers"),
    (dict(kernel=None, features=np.ones(3)), r"features must have a row an arm.*\(3,\)"),
    (dict(kernel=None, features=[[np.inf]]), "features must be finite; got inf"),
    (dict(noise_std=0.0), "noise_std must be finite and above 0; got 0.0"),
    (dict(noise_std=None, noise_prior=(1.0,)), r"noise_prior must be two numbers, \(a, b\)"),
    (dict(noise_std=None, noise_prior=(1.0, 0.0)), "noise_prior must be finite and above 0"),
    (dict(prior_std=-1.0), "prior_std must be finite and above 0; got -1.0"),
    (dict(budget=0), "budget must be at least 1; got 0"),
    (dict(budget=2.5), "budget must be an integer; got 2.5"),
    (dict(epsilon=-1.0), "epsilon must be finite and at least 0"),
    (dict(n_beta="K"), "n_beta must be one of 'T', 'T-K'; got 'K'"),
    (dict(recommendation="mean"), "recommendation must be one of 'gap', 'posterior-mean'"),
])
def test_bad_input(options, message):
    options = dict(budget=5, **GOOD) | options
    with pytest.raises((ValueError, TypeError), match=message):
        pb.BayesGap(**options)


def test_bad_input_of_the_rivals():
    for delta in 0.0, 1.0, np.nan:
        with pytest.raises(ValueError, match=re.escape("delta must be in (0, 1)")):
            pb.GPUCB(5, **GOOD, delta=delta)
    for cls in pb.ExpectedImprovement, pb.ProbabilityOfImprovement:
        with pytest.raises(ValueError, match="xi must be finite and at least 0; got -1"):
            cls(5, **GOOD, xi=-1.0)
    with pytest.raises(TypeError):
        pb.GPUCB(5, kernel=np.eye(2))


# -- refits -----------------------------------------------------------------------------


def wiggly(rng, length_scale, n=40):
    """Points and a function drawn from a kernel far from the one the policies start with."""
    points = np.linspace(0.0, 10.0, n)[:, None]
    G = np.exp(-0.5 * (points - points.T) ** 2 / length_scale**2)
    return points, rng.multivariate_normal(np.zeros(n), G + 1e-10 * np.eye(n))


def refitting(name, budget=61, **options):
    points, means = wiggly(np.random.default_rng(3), 2.0)
    policy = getattr(pb, name)(budget, kernel=pb.kernels.rbf(0.3), features=points, noise_std=0.5,
                               refit_every=20, **options)
    return policy, means


@pytest.mark.parametrize("name", NAMES)
def test_a_refit_is_the_posterior_of_the_best_hyperparameters(name):
    process = pytest.importorskip("sklearn.gaussian_process")
    rng, told = np.random.default_rng(5), []
    policy, means = refitting(name)
    points = np.linspace(0.0, 10.0, 40)[:, None]
    while policy.n_pulls < 60:
        assert policy.prior_std == 1.0 or policy.n_pulls >= 20
        arms = policy.ask()
        rewards = rng.normal(means[arms], 0.05)
        told.append((arms[0], rewards[0]))
        policy.tell(arms, rewards)
    assert policy.noise_std < 0.2 and policy.prior_std != 1.0
    arms, rewards = map(np.array, zip(*told, strict=True))
    kernel = policy._fitted_kernel()
    assert kernel.length_scale > 0.6
    exact = process.GaussianProcessRegressor(
        process.kernels.ConstantKernel(policy.prior_std**2) * kernel, optimizer=None,
        alpha=policy.noise_std**2).fit(points[arms], rewards)
    mean, std = exact.predict(points, return_std=True)
    np.testing.assert_allclose(policy.posterior_means, mean, atol=1e-6)
    np.testing.assert_allclose(policy.posterior_std, std, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_refitted_policy_resumes_bit_for_bit(name):
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(6)
    options = dict(rng=4) if name == "GaussianThompson" else {}
    (one, means), (other, _) = (refitting(name, **options) for _ in range(2))
    while not one.done:
        arms = one.ask()
        assert other.ask().tolist() == arms.tolist()
        rewards = rng.normal(means[arms], 0.05)
        if one.n_pulls == 7:
            rewards[:] = np.nan
        one.tell(arms, rewards, missing="drop")
        other.tell(arms, rewards, missing="drop")
        if one.n_pulls % 13 == 0:
            other = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(other.posterior_means, one.posterior_means)
    assert other.noise_std == one.noise_std


def test_refits_are_the_same_in_simulate():
    pytest.importorskip("sklearn")
    _, means = refitting("GPUCB")
    bandit = pb.environments.GaussianBandit(means, 0.05**2)
    first, second = (pb.simulate(lambda e: refitting("GPUCB")[0], bandit, 4, rng=1, n_threads=n)
                     for n in (1, 2))
    assert first.to_dict() == second.to_dict() and (first.pulls == 61).all()


def test_refits_need_a_kernel_that_can_be_fitted():
    with pytest.raises(ValueError, match="kernel must be a kernel of scikit-learn.*ndarray"):
        pb.GPUCB(9, kernel=np.eye(3), noise_std=1.0, refit_every=2)
    pytest.importorskip("sklearn")
    for options, error, message in [
            (dict(noise_std=None), ValueError, "noise_std must be a number to begin with"),
            (dict(refit_every=0), ValueError, "refit_every must be at least 1; got 0"),
            (dict(refit_every=1.5), TypeError, "refit_every must be an integer")]:
        with pytest.raises(error, match=message):
            pb.GPUCB(9, kernel=pb.kernels.rbf(), features=np.eye(3),
                     **{"noise_std": 1.0, "refit_every": 2, **options})
