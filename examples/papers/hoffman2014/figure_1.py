"""Figure 1 of Hoffman et al. 2014: a Gaussian process with ten arms, Sec. 4.

    python examples/papers/hoffman2014/figure_1.py [--quick] [--runs N] [--save PNG]

The process, its posterior at K = 10 arms after six observations, and one sample of it. The
kernel is exp(-(x - x')^2). The paper prints neither the points nor the observations: here
the arms are at 0, 5/9, ..., 5, the noise is .1, and Thompson sampling chooses the arms.

Three statements of the text are checked. Features X = V D^(1/2) turn the process into the
linear model of Eqs. 3 to 5 (policies with `kernel=` or `features=X`, and both formulas in
NumPy). The marginals of Eqs. 4 and 5 are those of the true means. Thompson sampling pulls an
arm as often as a random sample is largest there.
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


def checks(n_runs, rng, n_samples=100):
    """Play Thompson sampling on functions drawn from the prior.

    Return two arrays. The first has the share of true means within two deviations, for each run.
    The second has one entry per run and arm: 1 if the next pull is of the arm, else 0, minus the
    share of `n_samples` samples of Eqs. 4 and 5 in which the arm is the largest.
    """
    X, inside, excess = features(), np.empty(n_runs), np.zeros((n_runs, len(POINTS)))
    for i in range(n_runs):
        means, policy = X @ rng.normal(size=len(POINTS)), policy_of("GaussianThompson")
        policy.seed(rng)
        mean, covariance = printed_posterior(X, *play(policy, means, rng))
        inside[i] = (abs(means - policy.posterior_means) <= 2.0 * policy.posterior_std).mean()
        values, vectors = np.linalg.eigh(covariance)
        samples = mean + (rng.normal(size=(n_samples, len(POINTS)))
                          * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        excess[i] = -np.bincount(samples.argmax(axis=1), minlength=len(POINTS)) / n_samples
        excess[i, policy.ask()] += 1.0
    return inside, excess


def main(argv=None):
    figure = Figure(__doc__, runs=(5_000, 500), arguments=argv)
    rng, X = np.random.default_rng(figure.seed), features()
    means = X @ rng.normal(size=len(POINTS))
    shown, furthest = None, 0.0
    for form in {}, dict(features=X):
        policy = policy_of("GaussianThompson", **form)
        policy.seed(np.random.default_rng(figure.seed))
        arms, rewards = play(policy, means, rng)
        mean, covariance = printed_posterior(X, arms, rewards)
        std = np.sqrt(covariance.diagonal())
        furthest = max(furthest, abs(policy.posterior_means - mean).max(),
                       abs(policy.posterior_std - std).max(),
                       abs(process(POINTS, POINTS[arms], rewards)[0] - mean).max())
        shown = shown or (arms, rewards, mean, std)
    arms, rewards, mean, std = shown
    print(f"{'x':>6}{'true':>8}{'mean':>8}{'std':>8}{'pulls':>7}")
    for row in zip(POINTS, means, mean, std, np.bincount(arms, minlength=len(POINTS)),
                   strict=True):
        print(f"{row[0]:>6.2f}{row[1]:>8.3f}{row[2]:>8.3f}{row[3]:>8.3f}{row[4]:>7}")
    figure.claim("The linear model with X = V D^(1/2) includes the Gaussian process",
                 "the same posterior", f"within {furthest:.0e}", furthest < 1e-8)

    inside, excess = checks(figure.runs, rng)
    error = inside.std() / len(inside)**0.5
    figure.claim("The mean of an arm is normal with the mean and variance of Eqs. 4 and 5",
                 ".954 within 2 deviations", f"{inside.mean():.3f} ± {1.96 * error:.3f} of draws "
                 "from the prior", abs(inside.mean() - 0.9545) < 4 * error,
                 abs(inside.mean() - 0.9545) < 0.01)
    far = abs(excess.mean(axis=0)) / (excess.std(axis=0) / len(excess)**0.5)
    figure.claim("Thompson sampling pulls the arm that is the largest of a random sample",
                 "as often as it is", f"shares within {abs(excess.mean(axis=0)).max():.3f}, at "
                 f"most {far.max():.1f} standard errors", far.max() < 4)
    figure.end(lambda: draw(*shown, figure.seed))


if __name__ == "__main__":
    main()
