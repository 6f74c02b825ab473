"""Policies of a joint Gaussian posterior of the arms' means, one pull at a time."""

import numpy as np

from pybandit._shared.checks import LARGEST, check_entry, check_integer, check_positive
from pybandit.policies._kernel_matrix import (
    checked_features, checked_kernel, checked_noise, checked_noise_prior, checked_refit,
    factor_of, prior_of_arms, refitted,
)

from libc.math cimport isnan, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_batch, pb_batch_one, pb_gaussian_update
from pybandit.policies.base cimport NativePolicy, Policy


cdef class _GaussianPolicy(NativePolicy):
    """The posterior, and one arm an ask: what `_choose` says of it.

    A subclass's `__init__` ends with `_advance`, which chooses the first arm.

    In weight form where there are fewer features than arms, or where `as_weights` asks for
    it, else in covariance form.

    With unknown noise the posterior is that of noise 1: mean and spread of the means scale
    with the noise, ``means | s^2 ~ N(0, s^2 prior_std^2 G)``, and s^2 is inverse gamma.
    """

    def __init__(self, budget, kernel, features, noise_std, prior_std, noise_prior,
                 refit_every, as_weights=False):
        matrix, points = prior_of_arms(kernel, features)
        super().__init__(len(points if matrix is None else matrix), 1)
        self.budget = check_integer("budget", budget, 1, LARGEST)
        self.noise_std = checked_noise(noise_std)
        self.prior_std = check_positive("prior_std", prior_std)
        self.pulls_between = checked_refit(refit_every, kernel, noise_std)
        self.refit_every, self.as_weights = refit_every, as_weights
        if self.pulls_between:
            self.given = kernel, checked_features(features), self.noise_std, self.prior_std
            self.fitted = kernel
            self.told_arms = np.zeros(self.budget, dtype=np.int64)
            self.told_rewards = np.zeros(self.budget)
        self.noise_prior = checked_noise_prior(noise_prior)
        self.noise_shape, self.noise_scale = self.noise_prior
        self.matrix, self.points = matrix, points
        self._wants_rewards = True
        self._begin(matrix, points)
        self.scratch = np.empty(4 * self.n_arms)
        self.chosen = -1

    def _begin(self, matrix, points):
        """The prior."""
        n, square = self.n_arms, self.prior_std**2
        self.noise_variance = 1.0 if self.noise_std is None else self.noise_std**2
        if self.as_weights and points is None:
            points = factor_of(matrix)
        self.arm_means = np.zeros(n)
        if points is None:
            norms = np.maximum(matrix.diagonal(), 0.0)
            self.spread = square * matrix[np.tril_indices(n)]
            self.weights, self.memory = np.zeros(1), np.empty(n)
        else:
            norms = np.einsum("kj,kj->k", points, points)
            d = points.shape[1]
            self.features, self.posterior.features = points, NULL
            self.posterior.features = &self.features[0, 0]
            self.posterior.n_features = d
            self.spread = (self.prior_std * np.eye(d)).ravel()
            self.weights, self.memory = np.zeros(d), np.empty(2 * d)
        self.norms, self.arm_variances = norms, square * norms
        self.posterior.n_arms = n
        self.posterior.means, self.posterior.variances = &self.arm_means[0], &self.arm_variances[0]
        self.posterior.spread, self.posterior.weights = &self.spread[0], &self.weights[0]
        self.posterior.memory = &self.memory[0]

    def _refit(self):
        """Another kernel, noise and prior_std; the posterior of all rewards from there."""
        cdef int64_t j
        points = self.given[1]
        arms = np.asarray(self.told_arms)[:self.n_told]
        self.fitted, self.prior_std, self.noise_std = refitted(
            self.fitted, points[arms], np.asarray(self.told_rewards)[:self.n_told],
            self.prior_std, self.noise_std)
        self._begin(checked_kernel(self.fitted(points)), None)
        for j in range(self.n_told):
            pb_gaussian_update(&self.posterior, self.told_arms[j], self.told_rewards[j],
                               self.noise_variance)
        self._prior_changed()

    def _fitted_kernel(self):
        """The kernel since the last refit: for tests."""
        return self.fitted

    def _prior_changed(self):
        """A subclass keeps what follows of the prior."""

    def _options(self):
        kernel, features = _copy(self.matrix), _copy(self.points)
        noise_std, prior_std = self.noise_std, self.prior_std
        if self.pulls_between:
            kernel, features, noise_std, prior_std = self.given
        return dict(budget=self.budget, kernel=kernel, features=features, noise_std=noise_std,
                    prior_std=prior_std, noise_prior=self.noise_prior,
                    refit_every=self.refit_every)

    @property
    def posterior_means(self):
        """Posterior mean of each arm's mean; float64, shape (n_arms,), a copy."""
        return np.array(self.arm_means)

    @property
    def posterior_std(self):
        """Posterior standard deviation of each arm's mean; float64, shape (n_arms,).

        Of unknown noise: the scale of its Student law of ``2 a`` degrees of freedom.
        """
        return self._scale() * np.sqrt(self.arm_variances)

    @property
    def noise_estimate(self):
        """`noise_std`, or where it is None the root of b / a of the noise's posterior."""
        return sqrt(self._noise())

    cdef double _noise(self) noexcept nogil:
        if self.noise_std is not None:
            return self.noise_variance
        return self.noise_scale / self.noise_shape

    cdef double _scale(self) noexcept nogil:
        return 1.0 if self.noise_std is not None else sqrt(self._noise())

    cdef int64_t _choose(self) noexcept nogil:
        return 0

    cdef bint _is_done(self) noexcept nogil:
        return self.n_pulls >= self.budget

    cdef pb_batch _next(self) noexcept nogil:
        return pb_batch_one(&self.chosen)

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        cdef int64_t j
        Policy._absorb(self, arms, rewards, n)
        for j in range(n):
            if not isnan(rewards[j]):
                self._learn(arms[j], rewards[j])

    def _take(self, const int64_t[::1] arms, const double[::1] rewards):
        """Rewards of pulls that were not asked for, of arms that exist: told all the same."""
        if arms.shape[0]:
            self._absorb(&arms[0], &rewards[0], arms.shape[0])
            self._finish(arms.shape[0])

    cdef void _learn(self, int64_t arm, double reward) noexcept nogil:
        cdef double surprise = reward - self.arm_means[arm]
        if self.noise_std is None:
            self.noise_shape += 0.5
            self.noise_scale += 0.5 * surprise * surprise / (1.0 + self.arm_variances[arm])
        if self.pulls_between:
            self.told_arms[self.n_told], self.told_rewards[self.n_told] = arm, reward
            self.n_told += 1
        pb_gaussian_update(&self.posterior, arm, reward, self.noise_variance)

    cdef void _advance(self) noexcept nogil:
        if (self.pulls_between and self.n_told > 1 and self.n_pulls
                and self.n_pulls % self.pulls_between == 0 and not self._is_done()):
            with gil:
                self._refit()
        self.chosen = -1 if self._is_done() else self._choose()

    def recommend(self):
        """The arm of the largest posterior mean, int64 of shape (1,)."""
        return np.array([np.argmax(self.arm_means)], dtype=np.int64)

    def _get_progress(self):
        return {
            "posterior_means": np.array(self.arm_means),
            "posterior_variances": np.array(self.arm_variances),
            "spread": np.array(self.spread),
            "weights": np.array(self.weights),
            "noise": np.array([self.noise_shape, self.noise_scale]),
            "chosen": self.chosen,
        } | self._get_fit()

    def _get_fit(self):
        if not self.pulls_between:
            return {}
        return {"theta": np.array(self.fitted.theta), "n_told": self.n_told,
                "fitted": np.array([self.prior_std, self.noise_std]),
                "told_arms": np.array(self.told_arms), "told_rewards": np.array(self.told_rewards)}

    def _set_fit(self, progress):
        arms, fitted = np.asarray(progress["told_arms"]), np.asarray(progress["fitted"])
        if (arms < 0).any() or (arms >= self.n_arms).any():
            raise ValueError(f"state must hold told_arms in [0, {self.n_arms}); got {arms}")
        if not (np.isfinite(fitted) & (fitted > 0.0)).all():
            raise ValueError(f"state must hold fitted above 0; got {fitted.tolist()}")
        self.n_told = check_entry(progress, "n_told", 0, self.budget)
        self.prior_std, self.noise_std = fitted.tolist()
        self.fitted = self.given[0].clone_with_theta(progress["theta"])
        np.asarray(self.told_arms)[:] = arms
        np.asarray(self.told_rewards)[:] = progress["told_rewards"]
        self._begin(checked_kernel(self.fitted(self.given[1])), None)
        self._prior_changed()

    def _restore(self, state):
        if self.pulls_between:
            absent = {"theta", "n_told", "fitted", "told_arms", "told_rewards"} - set(
                state["progress"])
            if absent:
                raise ValueError(f"state must hold {', '.join(sorted(absent))}; got none")
            self._set_fit(state["progress"])  # the shapes of the rest follow
        super()._restore(state)

    def _set_progress(self, progress):
        for name in ("posterior_means", "posterior_variances", "spread", "weights", "noise"):
            if not np.isfinite(progress[name]).all():
                raise ValueError(f"state must hold finite numbers in {name}; got others")
        if not (np.asarray(progress["posterior_variances"]) >= 0.0).all():
            raise ValueError("state must hold posterior_variances of at least 0; got some below")
        if not (np.asarray(progress["noise"]) > 0.0).all():
            raise ValueError("state must hold noise above 0; got "
                             f"{np.asarray(progress['noise']).tolist()}")
        self.chosen = check_entry(progress, "chosen", -1, self.n_arms - 1)
        np.asarray(self.arm_means)[:] = progress["posterior_means"]
        np.asarray(self.arm_variances)[:] = progress["posterior_variances"]
        np.asarray(self.spread)[:] = progress["spread"]
        np.asarray(self.weights)[:] = progress["weights"]
        self.noise_shape, self.noise_scale = progress["noise"]


def _copy(array):
    return None if array is None else np.array(array)
