# cython: auto_pickle=False
"""Policies with a joint Gaussian posterior of the arms' means, one pull at a time."""

import numpy as np

from pybandit._shared.checks import MOST_HELD, MOST_PULLS, check_integer
from pybandit.policies.correlated._states import FIT, GAUSSIAN, REFITTED
from pybandit.policies.correlated._kernel_matrix import (
    Prior, check_deviation, checked_features, checked_kernel, checked_noise, checked_noise_prior,
    checked_refit, prior_of_arms, refitted,
)
from pybandit.policies.protocol._reports import asked_arms, reported_rewards

from libc.math cimport isnan, sqrt
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport (
    pb_batch, pb_batch_one, pb_gaussian, pb_gaussian_rows_most, pb_gaussian_rows_next,
    pb_gaussian_update,
)
from pybandit.policies.protocol.base cimport NativePolicy
from pybandit.policies.protocol.policy cimport Policy


cdef class _GaussianPolicy(NativePolicy):
    """A policy with a Gaussian posterior that asks for one arm at a time, chosen by `_choose`.

    A subclass's `__init__` ends with `_advance`, which chooses the first arm.

    The posterior is in weight form if there are fewer features than arms or if `as_weights` is
    set, otherwise in covariance form.

    If the noise is unknown, the posterior is stored for noise 1: mean and spread of the means
    scale with the noise, ``means | s^2 ~ N(0, s^2 prior_std^2 G)``, and s^2 is inverse gamma.
    """

    def __init__(self, n_arms, budget, kernel, features, noise_std, prior_std, noise_prior,
                 refit_every, as_weights=False):
        n_arms = check_integer("n_arms", n_arms, 1, MOST_HELD)
        checked, points = prior_of_arms(kernel, features, n_arms)
        n_rows = len(points if checked is None else checked.matrix)
        if n_rows != n_arms:
            holder = "kernel" if features is None else "features"
            raise ValueError(f"n_arms must be the number of rows of {holder}, {n_rows}; got "
                             f"{n_arms}")
        super().__init__(n_arms, 1)
        self.budget = check_integer("budget", budget, 1, MOST_PULLS)
        self.noise_std = checked_noise(noise_std)
        self.prior_std = check_deviation("prior_std", prior_std)
        self.pulls_between = checked_refit(refit_every, kernel, noise_std)
        self.refit_every, self.as_weights = refit_every, as_weights
        if self.pulls_between:
            self.given = kernel, checked_features(features), self.noise_std, self.prior_std
            self.fitted = kernel
            self.told_arms = np.zeros(self.budget, dtype=np.int64)
            self.told_rewards = np.zeros(self.budget)
        self.noise_prior = checked_noise_prior(noise_prior)
        self.noise_shape, self.noise_scale = self.noise_prior
        self.kernel, self.points = checked, points
        self._wants_rewards = self._adapts = True
        self._place(Prior.of(checked, points, self.prior_std, self.as_weights))
        self.scratch = np.empty(2 * self.n_arms)
        self.chosen = -1

    cdef _place(self, prior):
        """Set the posterior to a prior; must not raise."""
        self.noise_variance = 1.0 if self.noise_std is None else self.noise_std**2
        self.norms, self.arm_means, self.arm_variances = prior.norms, prior.means, prior.variances
        self.spread, self.weights, self.memory = prior.spread, prior.weights, prior.memory
        self.posterior.features, self.posterior.spread = NULL, NULL
        if prior.points is None:
            self._place_rows(prior)
        else:
            self.features = prior.points
            self.posterior.features = &self.features[0, 0]
            self.posterior.n_features = self.features.shape[1]
            self.posterior.spread = &self.spread[0]
        self.posterior.n_arms = self.n_arms
        self.posterior.means, self.posterior.variances = &self.arm_means[0], &self.arm_variances[0]
        self.posterior.weights, self.posterior.memory = &self.weights[0], &self.memory[0]
        self._prior_changed()

    cdef _place_rows(self, prior):
        """Set the posterior in covariance form to a prior, and allocate memory for its rows."""
        cdef int64_t n = self.n_arms, most = pb_gaussian_rows_most(n, False)
        # `most` rows are only reached if the budget allows it
        self.rows = np.empty((min(most, self.budget + 1), n))
        self.spread = np.empty(n * (n + 1) // 2 if self.budget >= most else 1)
        self.matrix, self.slack = prior.matrix, prior.slack
        self.posterior.kernel, self.posterior.kernel_scale = &self.matrix[0, 0], prior.scale
        self.posterior.rows, self.posterior.spread = &self.rows[0, 0], &self.spread[0]
        self.posterior.most_rows = self.rows.shape[0]
        self.posterior.n_rows, self.posterior.next_arm = 0, -1
        self.posterior.is_folded = False

    cdef bint _refits_at(self, int64_t n_pulls, int64_t n_told) noexcept nogil:
        """Return True if the kernel is refitted after `n_pulls` pulls."""
        return (self.pulls_between and n_told > 1 and n_pulls > 0
                and n_pulls % self.pulls_between == 0 and n_pulls < self.budget)

    cdef int _prepare(self, const int64_t *arms, const double *rewards, int64_t n) except -1:
        """Check the rows of these rewards, and compute the refit due after this tell, if any.

        Nothing has changed if this raises.
        """
        cdef int64_t j, n_told = self.n_told
        self.refit = None
        if self._is_checked(n):
            self._check_rows(arms, rewards, n)
        if not self.pulls_between:
            return 0
        for j in range(n):
            n_told += not isnan(rewards[j])
        if self._refits_at(self.n_pulls + n, n_told):
            self.refit = self._refitted(np.array(<int64_t[:n]>arms), np.array(<double[:n]>rewards))
        return 0

    cdef bint _is_checked(self, int64_t n_more) noexcept nogil:
        # With a noise variance of at least slack times the pulls of an arm, a valid prior leaves no
        # variance below -slack. With less noise, rounding errors of the prior are magnified.
        return (self.posterior.features == NULL
                and self.noise_variance >= self.slack * (self.n_pulls + n_more))

    cdef int _check_rows(self, const int64_t *arms, const double *rewards, int64_t n) except -1:
        """Raise ValueError if a reward would leave a variance below 0, beyond rounding."""
        cdef pb_gaussian trial = self.posterior
        cdef double[:, ::1] rows
        cdef double[::1] means, variances
        cdef double left
        cdef int64_t j, n_rows = trial.n_rows
        if n == 1:
            if not isnan(rewards[0]):
                with nogil:
                    left = pb_gaussian_rows_next(&self.posterior, arms[0], self.noise_variance)
                if left < -self.slack:
                    raise self._refusal(arms[0], left)
            return 0
        rows = np.empty((n_rows + n + 1, self.n_arms))
        rows[:n_rows] = self.rows[:n_rows]
        means, variances = np.array(self.arm_means), np.array(self.arm_variances)
        trial.means, trial.variances, trial.deviations = &means[0], &variances[0], NULL
        trial.rows, trial.most_rows = &rows[0, 0], n_rows + n + 1
        for j in range(n):
            if isnan(rewards[j]):
                continue
            with nogil:
                left = pb_gaussian_rows_next(&trial, arms[j], self.noise_variance)
            if left < -self.slack:
                raise self._refusal(arms[j], left)
            with nogil:
                pb_gaussian_update(&trial, arms[j], 0.0, self.noise_variance)
        return 0

    cdef _refusal(self, int64_t arm, double left):
        return ValueError(f"kernel must be positive semi-definite; got one with which a reward of "
                          f"arm {arm} leaves a variance of {left:.6g}")

    cdef _refitted(self, arms, rewards):
        """Return kernel, prior_std, noise_std and prior fitted to all earlier and these rewards."""
        points = self.given[1]
        arms = np.concatenate([self.told_arms[:self.n_told], arms[~np.isnan(rewards)]])
        rewards = np.concatenate([self.told_rewards[:self.n_told], rewards[~np.isnan(rewards)]])
        fitted, prior_std, noise_std = refitted(self.fitted, points[arms], rewards,
                                                self.prior_std, self.noise_std)
        prior = Prior.of(checked_kernel(fitted(points)), None, prior_std, self.as_weights)
        return fitted, prior_std, noise_std, prior

    cdef void _take_refit(self) noexcept:
        """Recompute the posterior from the refitted prior; compute the refit first if needed."""
        cdef int64_t j
        try:
            if self.refit is None:
                self.refit = self._refitted(np.zeros(0, dtype=np.int64), np.zeros(0))
            self.fitted, self.prior_std, self.noise_std, prior = self.refit
            self.refit = None
            self._place(prior)
        except BaseException as error:
            self._break(error)
            return
        for j in range(self.n_told):
            pb_gaussian_update(&self.posterior, self.told_arms[j], self.told_rewards[j],
                               self.noise_variance)

    def _fitted_kernel(self):
        """Return the kernel of the last refit, for tests."""
        self.guard.check()
        return self.fitted

    cdef _prior_changed(self):
        pass

    def _options(self):
        kernel, features = None, _copy(self.points)
        if self.kernel is not None:
            kernel = np.array(self.kernel.matrix)
        noise_std, prior_std = self.noise_std, self.prior_std
        if self.pulls_between:
            kernel, features, noise_std, prior_std = self.given
        return dict(n_arms=self.n_arms, budget=self.budget, kernel=kernel, features=features,
                    noise_std=noise_std, prior_std=prior_std, noise_prior=self.noise_prior,
                    refit_every=self.refit_every)

    @property
    def posterior_means(self):
        """Posterior mean of each arm's mean; float64, shape (n_arms,), a copy."""
        with self.guard.reading():
            self._meet_all()
            return np.array(self.arm_means)

    @property
    def posterior_std(self):
        """Posterior standard deviation of each arm's mean; float64, shape (n_arms,).

        If the noise is unknown, the mean has a Student's t posterior with ``2 a`` degrees of
        freedom, where a is the shape of the noise variance's inverse-gamma posterior; this is its
        scale.
        """
        with self.guard.reading():
            self._meet_all()
            return self._scale() * np.sqrt(self.arm_variances)

    @property
    def noise_estimate(self):
        """`noise_std` or, if it is None, ``sqrt(b / a)``.

        Here a and b are the parameters of the inverse-gamma posterior of the noise variance.
        """
        with self.guard.reading():
            return sqrt(self._noise())

    cdef double _noise(self) noexcept nogil:
        if self.noise_std is not None:
            return self.noise_variance
        return self.noise_scale / self.noise_shape

    cdef double _scale(self) noexcept nogil:
        return 1.0 if self.noise_std is not None else sqrt(self._noise())

    cdef int _make_silence(self) except -1:
        self.answering, self.gathered = np.zeros(self.n_arms, np.int64), np.zeros((2, self.n_arms))
        return NativePolicy._make_silence(self)

    cdef void _gather(self, const double *means, const double *spreads) noexcept nogil:
        cdef int64_t arm
        self.means_of, self.spreads_of, self.n_of = means, spreads, self.n_arms
        if not self.silence.n_aside or self.silence.has_all():
            return
        self.n_of = 0
        for arm in range(self.n_arms):
            if not self.silence.has(arm):
                self.answering[self.n_of] = arm
                self.gathered[0, self.n_of] = means[arm]
                self.gathered[1, self.n_of] = spreads[arm]
                self.n_of += 1
        self.means_of, self.spreads_of = &self.gathered[0, 0], &self.gathered[1, 0]

    cdef int64_t _gathered(self, int64_t place) noexcept nogil:
        return place if self.n_of == self.n_arms else self.answering[place]

    cdef void _retried(self) noexcept nogil:
        self._advance()

    cdef int64_t _pulls_left(self) noexcept nogil:
        return self.budget - self.n_pulls

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

    def _take(self, arms, rewards):
        """Add the rewards of pulls that the policy did not request."""
        cdef const int64_t[::1] pulled = asked_arms(arms, self.n_arms, "the caller")
        cdef const double[::1] values = reported_rewards(pulled, rewards, "raise")
        self.guard.enter()
        try:
            if pulled.shape[0] > self.budget - self.n_pulls:
                raise ValueError(f"arms must have at most one entry per pull left, "
                                 f"{self.budget - self.n_pulls}; got {pulled.shape[0]}")
            if pulled.shape[0]:
                self._prepare(&pulled[0], &values[0], pulled.shape[0])
                self._absorb(&pulled[0], &values[0], pulled.shape[0])
                self.silence.clear()
                if self.silence.counts:
                    self._hear(&pulled[0], &values[0], pulled.shape[0])
                self._finish(pulled.shape[0])
        finally:
            self.guard.leave()

    cdef void _meet_all(self) noexcept nogil:
        pass

    cdef void _meet(self, int64_t arm) noexcept nogil:
        pass

    cdef void _update(self, int64_t arm, double reward) noexcept nogil:
        cdef double left
        # the simulation engine does not call `_prepare`
        if self.posterior.next_arm != arm and self._is_checked(1):
            left = pb_gaussian_rows_next(&self.posterior, arm, self.noise_variance)
            if left < -self.slack:
                with gil:
                    self._break(self._refusal(arm, left))
        pb_gaussian_update(&self.posterior, arm, reward, self.noise_variance)

    cdef void _learn(self, int64_t arm, double reward) noexcept nogil:
        cdef double surprise
        self._meet(arm)
        surprise = reward - self.arm_means[arm]
        if self.noise_std is None:
            self.noise_shape += 0.5
            self.noise_scale += 0.5 * surprise * surprise / (1.0 + self.arm_variances[arm])
        if self.pulls_between:
            self.told_arms[self.n_told], self.told_rewards[self.n_told] = arm, reward
            self.n_told += 1
        self._update(arm, reward)

    cdef void _advance(self) noexcept nogil:
        if self._refits_at(self.n_pulls, self.n_told):
            with gil:
                self._take_refit()
        if self._is_done():
            self.chosen = -1
        elif not self.silence.has_all():
            self.chosen = self._choose()

    def recommend(self):
        """Return the arm of the largest posterior mean, int64 of shape (1,)."""
        with self.guard.reading():
            self._gather(&self.arm_means[0], &self.arm_variances[0])
            place = np.argmax(<double[:self.n_of]><double *>self.means_of)
            return np.array([self._gathered(place)], dtype=np.int64)

    cdef object _schema(self):
        return REFITTED if self.pulls_between else GAUSSIAN

    cdef dict _sizes(self):
        # limits from the prior: the posterior's spread is not larger, up to rounding
        cdef bint in_weights = self.posterior.features != NULL
        largest = (np.max(self.spread) if in_weights else
                   self.prior_std**2 * np.max(np.abs(self.matrix)))
        spread = (1.0 + 1e-6) * largest
        if not in_weights:
            most_rows = min(self.budget + 1, pb_gaussian_rows_most(self.n_arms, False))
            # not folded, and folded
            most_rows = most_rows, pb_gaussian_rows_most(self.n_arms, True)
        return NativePolicy._sizes(self) | {
            "n_theta": self.given[0].theta.size if self.pulls_between else 0,
            "budget": self.budget, "n_weights": self.weights.shape[0],
            "in_weights": in_weights, "most_rows": None if in_weights else most_rows,
            "prior_variances": self.prior_std**2 * np.asarray(self.norms),
            "least_spread": -spread, "most_spread": spread,
            "most_variance": (1.0 + 1e-6) * np.max(self.arm_variances)}

    def _get_progress(self):
        cdef bint in_weights = self.posterior.features != NULL
        self.guard.check()
        self._meet_all()
        return {
            "posterior_means": np.array(self.arm_means),
            "posterior_variances": np.array(self.arm_variances),
            "spread": np.array(self.spread if in_weights or self.posterior.is_folded else ()),
            "rows": np.array(self.rows[:self.posterior.n_rows] if not in_weights else
                             np.empty((0, self.n_arms))),
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

    cdef _set_fit(self, progress):
        self.n_told = progress["n_told"]
        self.prior_std, self.noise_std = progress["fitted"].tolist()
        with np.errstate(all="ignore"):  # checked_kernel rejects overflow
            self.fitted = self.given[0].clone_with_theta(progress["theta"])
            kernel = checked_kernel(self.fitted(self.given[1]))
        np.asarray(self.told_arms)[:] = progress["told_arms"]
        np.asarray(self.told_rewards)[:] = progress["told_rewards"]
        self._place(Prior.of(kernel, None, self.prior_std, self.as_weights))

    def _restore(self, state):
        if self.pulls_between:
            self.guard.check()
            self._set_fit(FIT.checked(state, self._sizes()))  # determines the other shapes
        super()._restore(state)

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.chosen = progress["chosen"]
        np.asarray(self.arm_means)[:] = progress["posterior_means"]
        np.asarray(self.arm_variances)[:] = progress["posterior_variances"]
        if self.posterior.features != NULL or progress["spread"].size:
            np.asarray(self.spread)[:] = progress["spread"]
        self._set_rows(progress["rows"], progress["spread"].size > 0)
        np.asarray(self.weights)[:] = progress["weights"]
        self.noise_shape, self.noise_scale = progress["noise"]

    cdef _set_rows(self, rows, is_folded):
        if self.posterior.features != NULL:
            return
        np.asarray(self.rows)[:len(rows)] = rows
        self.posterior.n_rows, self.posterior.next_arm = len(rows), -1
        self.posterior.is_folded = is_folded
        if is_folded:
            self.posterior.most_rows = pb_gaussian_rows_most(self.n_arms, True)


def _copy(array):
    return None if array is None else np.array(array)
