"""Mean and variances of importance-sampled caplets, without sampling.

The rate is a Markov chain with normal steps, so the expected payoff of a path follows from a
backward recursion over functions of the rate. In y = sqrt(rate) a step has standard deviation
sigma sqrt(h) / 2 from every starting point. The grid is uniform in y; the trapezoidal rule is
exact on it up to rounding, because the integrands are normal densities times smooth functions.
The kink of the payoff is in the last step, which has a closed form.

The weighted payoff under drift theta has second moment E_theta[w^2 p^2] =
e^(theta^2 T) E_-theta[p^2]: the same recursion for a path with drift -theta.
"""

import numpy as np

LEAST_PART = 1e-6  # smallest variance / price^2 allowed; there the variance has seven digits
FAR = 9.0      # standard deviations beyond which densities are negligible
MOST_POINTS = 10**6  # maximum number of grid points; about 100 are usual
SPACING = 0.7  # grid spacing, in standard deviations of a step: error e^(-2 pi^2 / 0.7^2), 1e-17


def caplet_moments(thetas, eta, kappa, sigma, r0, maturity, notional, n_steps, strike):
    """Return the price, and the variance of the weighted payoff under each drift."""
    chain = _Chain(eta, kappa, sigma, r0, maturity, n_steps, np.abs(thetas).max())
    price = notional * chain.expect(0.0, strike, 1)
    squares = [np.exp(theta**2 * maturity) * chain.expect(-theta, strike, 2) for theta in thetas]
    variances = notional**2 * np.array(squares) - price**2
    if (variances < LEAST_PART * price**2).any():
        raise ValueError(
            f"sigma must be so large that all variances are at least {LEAST_PART:g} of the squared "
            f"price, {price**2:.3g} with these parameters, to be computed accurately; got "
            f"{sigma!r}, with a variance of {variances.min():.3g}")
    return price, variances


class _Chain:
    def __init__(self, eta, kappa, sigma, r0, maturity, n_steps, steepest):
        self.eta, self.kappa, self.sigma, self.r0 = eta, kappa, sigma, r0
        self.h, self.n_steps = maturity / n_steps, n_steps
        step = sigma * np.sqrt(self.h) / 2
        reach = (FAR + steepest * np.sqrt(maturity)) * step * np.sqrt(n_steps)
        settled = r0 * (1 - kappa * self.h) ** n_steps
        settled += eta * self.h * ((1 - kappa * self.h) ** np.arange(n_steps)).sum()
        start, low, high = np.sqrt([r0, min(r0, settled), max(r0, settled)])
        self.width = SPACING * step
        if low - reach < FAR * step:
            raise ValueError(
                f"sigma must keep the rate clear of 0: it must be about {reach / low:.3g} times "
                f"smaller with this eta, kappa, r0 and maturity, these n_steps and thetas; got "
                f"{sigma!r}")
        below, above = start - low + reach, high - start + reach
        if not below + above < MOST_POINTS * self.width:
            raise ValueError(
                f"eta, kappa, sigma, r0 and maturity must make a grid of fewer than {MOST_POINTS} "
                f"points; got {eta!r}, {kappa!r}, {sigma!r}, {r0!r} and {maturity!r}")
        below, above = (int(np.ceil(x / self.width)) for x in (below, above))
        self.start, self.y = below, start + self.width * np.arange(-below, above + 1)

    def expect(self, theta, strike, power):
        """Return the mean of (discount max(r_n - strike, 0)) ^ power for a path with this drift."""
        rates, rate_discount = self.y**2, power * self.h
        means, deviations = self._step(rates, theta)
        values = self._last(means, deviations, strike, power)
        if self.n_steps > 1:
            reach = int(np.ceil(np.abs(np.sqrt(means) - self.y).max() / self.width
                                + FAR / SPACING))
            # at^2 - means, computed without subtracting nearly equal numbers: their rounding
            # errors would enter every weight
            change = self.width * np.arange(-reach, reach + 1)
            at = self.y[:, None] + change
            z = change * (2 * self.y[:, None] + change) - self._drift(rates, theta)[:, None]
            z /= deviations[:, None]
            weights = np.exp(-0.5 * z**2) / deviations[:, None] * 2 * at
            weights *= self.width / np.sqrt(2 * np.pi)
            padded = np.zeros(values.size + 2 * reach)
            windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
            discount = np.exp(-rate_discount * rates)
            for _ in range(self.n_steps - 1):
                padded[reach:reach + values.size] = discount * values
                values = np.einsum("ij,ij->i", weights, windows)
        return np.exp(-0.5 * rate_discount * self.r0) * values[self.start]

    def _step(self, rates, theta):
        """Return mean and standard deviation of the next rate."""
        return rates + self._drift(rates, theta), self.sigma * np.sqrt(self.h * rates)

    def _drift(self, rates, theta):
        return ((self.eta - self.kappa * rates) * self.h
                + theta * self.h * self.sigma * np.sqrt(rates))

    def _last(self, means, deviations, strike, power):
        """Return E[e^(-power h r / 2) max(r - strike, 0)^power] for normal r, by tilting."""
        from scipy.special import ndtr

        tilt = 0.5 * power * self.h
        scale = np.exp(-tilt * means + 0.5 * (tilt * deviations) ** 2)
        excess = means - tilt * deviations**2 - strike
        d = excess / deviations
        inside, density = ndtr(d), np.exp(-0.5 * d**2) / np.sqrt(2 * np.pi)
        if power == 1:
            return scale * (excess * inside + deviations * density)
        return scale * ((excess**2 + deviations**2) * inside + excess * deviations * density)
