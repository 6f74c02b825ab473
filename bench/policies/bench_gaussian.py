"""A round of the policies for correlated arms, asked and told, on one core: microseconds.

Run with ``make bench``. The first of a group is the limit: one pass over the bytes that a round
must touch, the lower triangle of the covariance (read and written) or the features (read). For
comparison: a rank-one update as NumPy expressions, a factor with one row per reward in NumPy, and a
new fit of scikit-learn's regressor. `make` of a kernel is compared with a copy of the matrix.
"""

import ctypes
import warnings

import numpy as np
import pytest

import pybandit as pb

from native import pointer, size

NAMES = ["BayesGap", "GPUCB", "BayesUCB", "ExpectedImprovement", "ProbabilityOfImprovement",
         "GaussianThompson"]
NOISE, BUDGET = 0.3, 5000


def kernel_of(n_arms):
    x = np.linspace(0.0, 10.0, n_arms)
    return np.exp(-((x[:, None] - x) ** 2))


def whole_run(name, n_rounds, arms, means, n_before=0):
    """Return a set-up function and a function that runs the rounds.

    The set-up makes a policy with `n_before` rewards. The Python code of ask and tell takes some
    microseconds per round.
    """

    def setup():
        rng = np.random.default_rng(2)
        policy = getattr(pb.policies, name)(len(next(iter(arms.values()))), budget=BUDGET, **arms,
                                            noise_std=NOISE)
        play(policy, means, n_before, rng)
        return (policy, rng), {}

    def run(policy, rng):
        play(policy, means, n_rounds, rng)

    return setup, run


def play(policy, means, n_rounds, rng):
    for _ in range(n_rounds):
        arms = policy.ask()
        policy.tell(arms, rng.normal(means[arms], NOISE))


def numpy_round(covariance, means, t):
    """Run the rounds as a user would write them."""
    level = np.log(means.size * t * t * np.pi**2 / 0.6)
    arm = int(np.argmax(means + np.sqrt(2 * level * np.maximum(covariance.diagonal(), 0.0))))
    gain = covariance[:, arm] / (covariance[arm, arm] + NOISE**2)
    means += gain * (0.1 - means[arm])
    covariance -= np.outer(gain, covariance[arm])


class NumpyFactor:
    """GP-UCB as a careful user would write it, with one row of a factor per reward."""

    def __init__(self, kernel, n_rounds):
        self.kernel, self.t = kernel, 0
        self.rows = np.empty((n_rounds, len(kernel)))
        self.means, self.variances = np.zeros(len(kernel)), kernel.diagonal().copy()

    def play(self, means, n_rounds, rng):
        for t in range(self.t, self.t + n_rounds):
            level = np.log(means.size * (t + 1) ** 2 * np.pi**2 / 0.3)
            arm = int(np.argmax(self.means + np.sqrt(2 * level * self.variances)))
            reward = rng.normal(means[arm], NOISE)
            row = self.kernel[arm] - self.rows[:t, arm] @ self.rows[:t]
            root = np.sqrt(row[arm] + NOISE**2)
            row /= root
            self.rows[t] = row
            self.means += row * ((reward - self.means[arm]) / root)
            self.variances -= row * row
            np.maximum(self.variances, 0.0, out=self.variances)
        self.t += n_rounds


def scikit_round(points, seen, rewards):
    from sklearn.gaussian_process import GaussianProcessRegressor

    regressor = GaussianProcessRegressor(pb.kernels.rbf(0.5**0.5), alpha=NOISE**2, optimizer=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regressor.fit(points[seen], rewards)
        means, stds = regressor.predict(points, return_std=True)
    return int(np.argmax(means + 3.0 * stds))


@pytest.mark.parametrize("n_arms", size([100, 1000], [100]))
@pytest.mark.parametrize("role", ["limit", *NAMES, "NumPy GPUCB", "scikit-learn, 100 pulls"])
def test_covariance_form(timed, limits, n_arms, role):
    rng, n_rounds, rounds = np.random.default_rng(1), size(2000 if n_arms == 100 else 200, 20), 5
    setup = None
    G, means = kernel_of(n_arms), rng.normal(size=n_arms)
    if role == "limit":
        triangle = G[np.tril_indices(n_arms)]

        def run():
            for _ in range(n_rounds):
                limits.limit_update(pointer(triangle), ctypes.c_int64(triangle.size),
                                    ctypes.c_double(1e-9))
    elif role == "NumPy GPUCB":
        covariance, posterior = G.copy(), np.zeros(n_arms)

        def run():
            for t in range(n_rounds):
                numpy_round(covariance, posterior, t + 1)
    elif role.startswith("scikit"):
        pytest.importorskip("sklearn")
        points, n_rounds, rounds = np.linspace(0.0, 10.0, n_arms)[:, None], 1, 3
        seen = rng.integers(n_arms, size=100)

        def run():
            scikit_round(points, seen, means[seen])
    else:
        setup, run = whole_run(role, n_rounds, dict(kernel=G), means)
    timed(f"a round, K = {n_arms:,}, a kernel", role, run, per=n_rounds, rounds=rounds, setup=setup)


@pytest.mark.parametrize("n_before", size([0, 100, 300, 2000], [20]))
@pytest.mark.parametrize("role", ["NumPy factor", *NAMES[:-1]])
def test_rows(timed, role, n_before):
    """Time 100 rounds after `n_before` rewards: rows are kept up to 750 rewards."""
    n_arms, n_rounds = size(1500, 50), size(100, 10)
    G, means = kernel_of(n_arms), np.random.default_rng(1).normal(size=n_arms)
    setup, run = whole_run(role, n_rounds, dict(kernel=G), means, n_before)
    if role == "NumPy factor":
        def setup():
            rng, factor = np.random.default_rng(2), NumpyFactor(G, n_before + n_rounds)
            factor.play(means, n_before, rng)
            return (factor, rng), {}

        def run(factor, rng):
            factor.play(means, n_rounds, rng)
    timed(f"a round after {n_before}, K = {n_arms:,}, a kernel", role, run, per=n_rounds,
          rounds=size(5, 1), setup=setup)


@pytest.mark.parametrize("role", ["bare copy", "NumPy Cholesky", *NAMES[:-1]])
def test_construction(timed, role):
    """Time checking a kernel matrix; a Cholesky decomposition would prove that it is valid."""
    n_arms = size(2000, 50)
    G = kernel_of(n_arms)

    def run():
        if role == "bare copy":
            G.copy()
        elif role == "NumPy Cholesky":
            np.linalg.cholesky(G + 1e-8 * np.eye(n_arms))
        else:
            getattr(pb.policies, role)(n_arms, budget=400, kernel=G, noise_std=NOISE)

    timed(f"make a policy, K = {n_arms:,}, a kernel", role, run, rounds=size(5, 1))


def eager_round(posterior, w, X, t):
    """Update all arms in every round in NumPy, as a user without memory for the matrix would."""
    covariance, means, variances = posterior
    level = np.log(len(X) * t * t * np.pi**2 / 0.6)
    arm = int(np.argmax(means + np.sqrt(2 * level * variances)))
    direction = covariance @ X[arm]
    products, total = X @ direction, variances[arm] + NOISE**2
    means += products * ((X[arm] @ w - means[arm]) / total)
    variances -= products**2 / total
    np.maximum(variances, 0.0, out=variances)
    covariance -= np.outer(direction, direction) / total


@pytest.mark.parametrize("n_before", size([0, 20, 300], [20]))
@pytest.mark.parametrize("role", ["limit", *NAMES, "NumPy GPUCB"])
def test_weight_form(timed, limits, role, n_before):
    """Time 20 rounds after `n_before` rewards; the limit reads the features, 16 MB, per round."""
    rng, n_arms, d, n_rounds = np.random.default_rng(1), size(100_000, 1_000), 20, 20
    X, setup = rng.normal(size=(n_arms, d)), None
    w = rng.normal(size=d)
    if role == "limit":
        vector, products = rng.normal(size=d), np.empty(n_arms)

        def run():
            for _ in range(n_rounds):
                limits.limit_dot_20(pointer(X), ctypes.c_int64(n_arms), pointer(vector),
                                    pointer(products))
    elif role == "NumPy GPUCB":
        posterior = np.eye(d), np.zeros(n_arms), np.einsum("kj,kj->k", X, X)

        def run():
            for t in range(n_rounds):
                eager_round(posterior, w, X, n_before + t + 1)
    else:
        setup, run = whole_run(role, n_rounds, dict(features=X), X @ w, n_before)
    timed(f"a round after {n_before}, K = {n_arms:,}, d = 20 features", role, run, per=n_rounds,
          rounds=5, setup=setup)
