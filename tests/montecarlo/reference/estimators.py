"""Monte Carlo estimators as in the papers, with their errors corrected: paths of a CIR
rate, population Monte Carlo, annealed importance sampling."""

import math

import numpy as np

TWIN_OF = ("cir", "annealing")  # kernels of csrc


def cir_paths(normals, drift, *, strike, eta=0.016, kappa=0.2, sigma=0.02, r0=0.08, maturity=1.0,
              notional=1000.0):
    """Return discounted payoffs and W_T of paths from normals of shape (n_paths, n_steps)."""
    h = maturity / normals.shape[1]
    shocks = normals + drift * math.sqrt(h)
    rates = [np.full(len(normals), r0)]
    for shock in shocks.T:
        r = np.maximum(rates[-1], 0.0)
        rates.append(rates[-1] + (eta - kappa * r) * h + sigma * np.sqrt(r * h) * shock)
    integral = h * ((rates[0] + rates[-1]) / 2 + sum(rates[1:-1]))
    payoffs = notional * np.exp(-integral) * np.maximum(rates[-1] - strike, 0.0)
    return payoffs, math.sqrt(h) * shocks.sum(axis=1)


def cir_weighted(normals, drift, *, maturity=1.0, **options):
    """Return the payoffs times exp(-theta W_T + theta^2 T / 2)."""
    payoffs, brownian = cir_paths(normals, drift, maturity=maturity, **options)
    return payoffs * np.exp(-drift * brownian + drift**2 * maturity / 2)


def log_likelihood(features, labels, theta):
    """Return the log likelihood of a logistic regression, labels 0 and 1."""
    return -np.logaddexp(0.0, -(2 * labels - 1) * (features @ theta)).sum()


def annealed(features, labels, n, rng, prior_variance=0.05, width=0.5):
    """Return one estimate's log weight, and the number of evaluations of the likelihood.

    The prior's normals are drawn first; then, for each slice, the height, the position of
    the first interval, and the points of the shrinking one.
    """
    theta = math.sqrt(prior_variance) * rng.standard_normal(features.shape[1])
    evaluations = [log_likelihood(features, labels, theta)]
    log_weight, before = 0.0, 0.0
    current = evaluations[0]

    def tempered(j, x):
        moved = theta.copy()
        moved[j] = x
        evaluations.append(log_likelihood(features, labels, moved))
        return b * evaluations[-1] - x**2 / (2 * prior_variance)

    for i in range(1, n + 1):
        b = (i / n) ** 4
        log_weight += (b - before) * current
        before = b
        if i == n:
            break
        for j in range(theta.size):
            x = theta[j]
            height = b * current - x**2 / (2 * prior_variance) + math.log(1.0 - rng.random())
            left = x - width * rng.random()
            right = left + width
            while tempered(j, left) > height:
                left -= width
            while tempered(j, right) > height:
                right += width
            while True:
                found = left + rng.random() * (right - left)
                if tempered(j, found) >= height:
                    break
                left, right = (found, right) if found < x else (left, found)
            theta[j], current = found, evaluations[-1]
    return log_weight, len(evaluations)


def population(caplet, thetas, maturity, n, size, rule, rng):
    """Return weighted payoffs of all paths and the last shares; `caplet.paths` draws."""
    alphas, all_weighted = [1 / len(thetas)] * len(thetas), []
    while len(all_weighted) < n:
        m = min(size, n - len(all_weighted))
        arms = rng.choice(len(thetas), m, p=alphas)
        counted = [0.0] * len(thetas)
        for arm, p, s in zip(arms, *caplet.paths(arms, rng), strict=True):
            w = 1 / sum(a * math.exp(theta * s - theta**2 * maturity / 2)
                        for a, theta in zip(alphas, thetas, strict=True))
            all_weighted.append(w * p)
            counted[arm] += (w * p) ** 2 if rule == "variance" else w
        if sum(counted):
            alphas = [c / sum(counted) for c in counted]
    return np.array(all_weighted), np.array(alphas)
