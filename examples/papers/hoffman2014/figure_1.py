"""Figure 1 of Hoffman et al. 2014: a Gaussian process with ten arms, Sec. 4.

    python examples/papers/hoffman2014/figure_1.py [--quick] [--runs N] [--save PNG]

The process, its posterior at K = 10 arms after six observations, and one sample of it. The
kernel is exp(-(x - x')^2). The paper prints neither the points nor the observations: here
the arms are at 0, 5/9, ..., 5, the noise is .1, and Thompson sampling chooses the arms.

Compared with the text: that features X = V D^(1/2) turn the process into the linear model of
Eqs. 3 to 5 (policies with `kernel=` or `features=X`, and both formulas in NumPy), that
the marginals of Eqs. 4 and 5 are those of the true means, and that Thompson sampling pulls
an arm as often as it is the largest of a random sample.
"""

import numpy as np
from setting import Figure

import pybandit as pb
from pybandit._shared import drawing

POINTS, NOISE, N_OBSERVED = np.linspace(0.0, 5.0, 10), 0.1, 6


def kernel(x, y):
    return np.exp(-((x[:, None] - y) ** 2))


def features():
    """Return X = V D^(1/2) of the kernel G = V D V'."""
    values, vectors = np.linalg.eigh(kernel(POINTS, POINTS))
    return vectors * np.sqrt(np.maximum(values, 0.0))


def printed_posterior(X, arms, rewards):
    """Return mean and covariance of all arms by Eqs. 4 and 5, eta = 1."""
    seen = X[arms]
    sigma = np.linalg.inv(seen.T @ seen / NOISE**2 + np.eye(X.shape[1]))
    return X @ (sigma @ seen.T @ rewards) / NOISE**2, X @ sigma @ X.T


def policy_of(name, **form):
    """Return a policy that knows the kernel, as a matrix unless `form` has features."""
    form = form or dict(kernel=kernel(POINTS, POINTS))
    return getattr(pb.policies, name)(len(POINTS), budget=N_OBSERVED + 1, noise_std=NOISE, **form)


def play(policy, means, rng, n=N_OBSERVED):
    """Let a policy pull n arms; return them and their rewards."""
    arms, rewards = [], []
    for _ in range(n):
        arms.append(policy.ask()[0])
        rewards.append(rng.normal(means[arms[-1]], NOISE))
        policy.tell(arms[-1:], rewards[-1:])
    return np.array(arms), np.array(rewards)


def next_arms(policy, n, seed, means, rng):
    """Return the arms that n copies pull after one more reward, and that arm and reward."""
    state, arms = policy.get_state(), np.empty(n, dtype=int)
    last, reward = policy.ask(), rng.normal(means[policy.ask()], NOISE)
    for i in range(n):
        copy = pb.policies.GaussianThompson.from_state(state)
        copy.seed(np.random.default_rng((seed, i)))
        copy.tell(last, reward)
        arms[i] = copy.ask()[0]
    return arms, last, reward


def process(x, at, rewards):
    """Return mean and covariance of the process at points x, by the textbook formula."""
    gain = kernel(x, at) @ np.linalg.inv(kernel(at, at) + NOISE**2 * np.eye(at.size))
    return gain @ rewards, kernel(x, x) - gain @ kernel(at, x)


def draw(arms, rewards, mean, std, seed):
    x = np.linspace(-0.5, 5.5, 300)
    figure, ((axis,),) = drawing.new_figure(6.4, 3.6)
    line, covariance = process(x, POINTS[arms], rewards)
    half = 2.0 * np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    axis.plot(x, line, color=drawing.EXACT, label="mean of the process")
    drawing.draw_band(axis, x, line - half, line + half, drawing.EXACT)
    values, vectors = np.linalg.eigh(covariance)
    sample = line + vectors @ (np.sqrt(np.maximum(values, 0.0))
                               * np.random.default_rng(seed).normal(size=x.size))
    axis.plot(x, sample, color="green", label="one sample")
    axis.errorbar(POINTS, mean, 2.0 * std, fmt="o", ms=4, capsize=3, color=drawing.RACING,
                  label="arms, ± 2 deviations")
    axis.plot(POINTS[arms], rewards, "x", color="black", label="observations")
    drawing.add_legend(axis)
    drawing.tidy(axis)
    return figure


def main(argv=None):
    figure = Figure(__doc__, runs=(20_000, 2_000), arguments=argv)
    rng, X = np.random.default_rng(figure.seed), features()
    means = X @ rng.normal(size=len(POINTS))
    thompson = policy_of("GaussianThompson")
    thompson.seed(rng)
    arms, rewards = play(thompson, means, rng, N_OBSERVED - 1)
    pulled, last, reward = next_arms(thompson, figure.runs, figure.seed, means, rng)
    arms, rewards = np.append(arms, last), np.append(rewards, reward)
    mean, covariance = printed_posterior(X, arms, rewards)
    std = np.sqrt(covariance.diagonal())
    print(f"{'x':>6}{'true':>8}{'mean':>8}{'std':>8}{'pulls':>7}")
    for row in zip(POINTS, means, mean, std, np.bincount(arms, minlength=len(POINTS)),
                   strict=True):
        print(f"{row[0]:>6.2f}{row[1]:>8.3f}{row[2]:>8.3f}{row[3]:>8.3f}{row[4]:>7}")

    furthest = abs(mean - process(POINTS, POINTS[arms], rewards)[0]).max()
    for form in {}, dict(features=X):
        policy = policy_of("BayesGap", **form)
        expected, variances = printed_posterior(X, *play(policy, means, rng))
        furthest = max(furthest, abs(policy.posterior_means - expected).max(),
                       abs(policy.posterior_std**2 - variances.diagonal()).max())
    figure.claim("The linear model with X = V D^(1/2) includes the Gaussian process",
                 "the same posterior", f"within {furthest:.0e}", furthest < 1e-8)

    inside = []
    for _ in range(figure.runs // 10):
        truth, policy = X @ rng.normal(size=len(POINTS)), policy_of("BayesGap")
        play(policy, truth, rng)
        inside.append(abs(truth - policy.posterior_means) <= 2.0 * policy.posterior_std)
    share, error = np.mean(inside), np.mean(inside, axis=1).std() / len(inside)**0.5
    figure.claim("The mean of an arm is normal with the mean and variance of Eqs. 4 and 5",
                 ".954 within 2 deviations", f"{share:.3f} ± {1.96 * error:.3f} of draws from "
                 "the prior", abs(share - 0.9545) < 4 * error, abs(share - 0.9545) < 0.01)

    samples = rng.multivariate_normal(mean, covariance, size=20_000, method="eigh").argmax(axis=1)
    largest, pulled = (np.bincount(found, minlength=len(POINTS)) / found.size
                       for found in (samples, pulled))
    gap = abs(pulled - largest).max()
    figure.claim("Thompson sampling pulls the arm that is the largest of a random sample",
                 "the probability that it is", f"within {gap:.3f}; arm {pulled.argmax()} most "
                 f"often, {pulled.max():.3f}",
                 gap < 4 * np.sqrt(0.25 / figure.runs + 0.25 / samples.size))
    figure.end(lambda: draw(arms, rewards, mean, std, figure.seed))


if __name__ == "__main__":
    main()
