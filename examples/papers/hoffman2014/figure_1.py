"""Figure 1 of Hoffman et al. 2014: a Gaussian process with ten arms, Sec. 4.

    python examples/papers/hoffman2014/figure_1.py [--quick] [--runs N] [--save PNG]

The process, its posterior at K = 10 arms after six observations, and one sample of it. The
kernel is exp(-(x - x')^2). The paper prints neither the points nor the observations: here
the arms are at 0, 5/9, ..., 5, the noise is .1, and the observed arms are drawn.

Compared with the text: that features X = V D^(1/2) turn the process into the linear model of
Eqs. 3 to 5 (the policies with `kernel=`, with `features=X`, and Eqs. 4 and 5 in NumPy), that
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


def observed(rng):
    """Return true means drawn from the process, observed arms, and their rewards."""
    means = features() @ rng.normal(size=len(POINTS))
    arms = rng.integers(len(POINTS), size=N_OBSERVED)
    return means, arms, rng.normal(means[arms], NOISE)


def told(make, arms, rewards, **options):
    """Return a policy after the given rewards, whichever arms it requested."""
    policy = make(len(POINTS), budget=N_OBSERVED + 1, noise_std=NOISE, **options)
    policy.tell(arms, rewards)
    return policy


def process(x, at, rewards):
    """Return mean and covariance of the process at points x, by the textbook formula."""
    gain = kernel(x, at) @ np.linalg.inv(kernel(at, at) + NOISE**2 * np.eye(at.size))
    return gain @ rewards, kernel(x, x) - gain @ kernel(at, x)


def draw(arms, rewards, seed):
    x = np.linspace(-0.5, 5.5, 300)
    figure, ((axis,),) = drawing.new_figure(6.4, 3.6)
    mean, covariance = process(x, POINTS[arms], rewards)
    half = 2.0 * np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    axis.plot(x, mean, color=drawing.EXACT, label="mean of the process")
    drawing.draw_band(axis, x, mean - half, mean + half, drawing.EXACT)
    values, vectors = np.linalg.eigh(covariance)
    sample = mean + vectors @ (np.sqrt(np.maximum(values, 0.0))
                               * np.random.default_rng(seed).normal(size=x.size))
    axis.plot(x, sample, color="green", label="one sample")
    policy = told(pb.policies.BayesGap, arms, rewards, kernel=kernel(POINTS, POINTS))
    axis.errorbar(POINTS, policy.posterior_means, 2.0 * policy.posterior_std, fmt="o", ms=4,
                  capsize=3, color=drawing.RACING, label="arms, ± 2 deviations")
    axis.plot(POINTS[arms], rewards, "x", color="black", label="observations")
    drawing.add_legend(axis)
    drawing.tidy(axis)
    return figure


def main(argv=None):
    figure = Figure(__doc__, runs=(20_000, 2_000), arguments=argv)
    rng, X, G = np.random.default_rng(figure.seed), features(), kernel(POINTS, POINTS)
    means, arms, rewards = observed(rng)
    mean, covariance = printed_posterior(X, arms, rewards)
    print(f"{'x':>6}{'true':>8}{'mean':>8}{'std':>8}{'pulls':>7}")
    for row in zip(POINTS, means, mean, np.sqrt(covariance.diagonal()),
                   np.bincount(arms, minlength=len(POINTS)), strict=True):
        print(f"{row[0]:>6.2f}{row[1]:>8.3f}{row[2]:>8.3f}{row[3]:>8.3f}{row[4]:>7}")
    policies = [told(pb.policies.BayesGap, arms, rewards, **form)
                for form in (dict(kernel=G), dict(features=X))]
    by_process, _ = process(POINTS, POINTS[arms], rewards)
    furthest = max(abs(mean - by_process).max(), *(
        max(abs(policy.posterior_means - mean).max(),
            abs(policy.posterior_std**2 - covariance.diagonal()).max()) for policy in policies))
    figure.claim("The linear model with X = V D^(1/2) includes the Gaussian process",
                 "the same posterior", f"within {furthest:.0e}", furthest < 1e-8)
    inside = []
    for _ in range(figure.runs // 10):
        truth, seen, observations = observed(rng)
        policy = told(pb.policies.BayesGap, seen, observations, kernel=G)
        inside.append(abs(truth - policy.posterior_means) <= 2.0 * policy.posterior_std)
    share, deviation = np.mean(inside), np.mean(inside, axis=1).std() / len(inside)**0.5
    figure.claim("The mean of an arm is normal with the mean and variance of Eqs. 4 and 5",
                 ".954 within 2 deviations", f"{share:.3f} ± {1.96 * deviation:.3f} of draws from "
                 "the prior", abs(share - 0.9545) < 4 * deviation, abs(share - 0.9545) < 0.01)
    samples = rng.multivariate_normal(mean, covariance, size=20_000, method="eigh").argmax(axis=1)
    largest = np.bincount(samples, minlength=len(POINTS)) / samples.size
    pulled = np.bincount([told(pb.policies.GaussianThompson, arms, rewards, kernel=G,
                               rng=np.random.default_rng((figure.seed, i))).ask()[0]
                          for i in range(figure.runs)], minlength=len(POINTS)) / figure.runs
    gap = abs(pulled - largest).max()
    figure.claim("Thompson sampling pulls the arm that is the largest of a random sample",
                 "probability that it is", f"within {gap:.3f}; most often arm {pulled.argmax()}, "
                 f"{pulled.max():.3f}", gap < 4 * np.sqrt(0.25 / figure.runs + 0.25 / samples.size))
    figure.end(lambda: draw(arms, rewards, figure.seed))


if __name__ == "__main__":
    main()
