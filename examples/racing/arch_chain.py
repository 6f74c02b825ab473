"""Carlin and Chib's sampler of a model and its parameters, exact or by racing.

Chen & Ghahramani 2016, section C.2, with the ratio of prior to pseudoprior that its
Eq. 25 leaves out of the conditional of the model. For examples/racing/arch_order.py.
"""

import numpy as np
from arch_model import Arms

import pybandit as pb

DELTA, FIRST_LOOK, ACCEPTANCE = 0.05, 50, 0.36
GIBBS, METROPOLIS = "Gibbs", "MH"


class Chain:
    """All models' parameters, and the model chosen.

    Parameters
    ----------
    models : list of Model
    seed : int or sequence of int
    racing : bool
        Whether decisions are raced, or made from all rows.
    batch : int, optional
        Rows of a stochastic gradient; all by default.
    check : bool
        Whether each raced decision is compared with the exact one, uncounted.

    Attributes
    ----------
    n_evaluations : int
        Pairs (row, theta) whose likelihood was computed, with or without its gradient; the
        centre of a bin counts as a row.
    errors : dict
        Of Gibbs and MH, a bool for each decision checked: whether it was wrong.
    """

    def __init__(self, models, seed, *, racing, batch=None, delta=DELTA, check=False):
        self.models, self.racing, self.batch = models, racing, batch
        self.options = {"delta": delta, "looks": pb.racing.Looks(first=FIRST_LOOK)}
        self.check = check
        # what both kinds draw, and the order a race reads in: so that both kinds agree
        # step by step where no race errs
        self.noise, self.readings = (np.random.default_rng(stream) for stream
                                     in np.random.SeedSequence(seed).spawn(2))
        self.thetas = [model.mode for model in models]
        self.choice = 0
        self.log_prior, self.steps = np.zeros(len(models)), np.ones(len(models))
        self.n_evaluations = self.n_sweeps = 0
        self.errors = {GIBBS: [], METROPOLIS: []}

    def sweep(self):
        """All thetas, then the model. Returns whether the chosen model's theta moved."""
        for state, model in enumerate(self.models):
            if state != self.choice:
                self.thetas[state] = model.draw_pseudo(self.noise)
        moved = self.move()
        self.choice = self.pick()
        self.n_sweeps += 1
        return moved

    def adapt(self):
        """A sweep; then Wang-Landau on the prior, and the step towards its acceptance."""
        gain, before = 1 / (1 + self.n_sweeps / 100), self.choice
        self.steps[before] *= np.exp(np.sqrt(gain) * (self.sweep() - ACCEPTANCE))
        self.log_prior[self.choice] -= gain

    def move(self):
        """Langevin in the metric of the pseudoprior; there and back by the same rows."""
        model, theta = self.models[self.choice], self.thetas[self.choice]
        step, rows = self.steps[self.choice], None
        if self.batch:
            rows = model.inliers[self.noise.integers(model.inliers.size, size=self.batch)]
        drift = step**2 / 2 * model.covariance
        white = self.noise.standard_normal(theta.size)
        there = theta + drift @ self.gradient(model, theta, rows) + step * model.scale @ white
        back = model.root.T @ (theta - there - drift @ self.gradient(model, there, rows)) / step
        threshold = (np.log1p(-self.noise.random()) + model.log_prior(theta)
                     - model.log_prior(there) + 0.5 * (back @ back - white @ white))
        moved = self.accept(model, theta, there, threshold)
        if moved:
            self.thetas[self.choice] = there
        return moved

    def gradient(self, model, theta, rows):
        """Of the log posterior: exact, or from the outliers and some rows.

        The acceptance test evaluates the outliers anyway, so that only the rows count. The
        gradients at the mode, known, serve as control variate.
        """
        prior = model.log_prior_gradient(theta)
        if rows is None:
            self.n_evaluations += model.data.r.size
            return prior + model.gradient(theta)
        self.n_evaluations += rows.size
        change = model.gradient(theta, rows) - model.mode_gradients[rows].sum(axis=0)
        return (prior + model.gradient(theta, model.outliers) + model.mode_inlier_gradient
                + model.inliers.size / rows.size * change)

    def accept(self, model, theta, there, threshold):
        """Whether sum_t log p(r_t | there) - log p(r_t | theta) > threshold.

        Both have the same outliers, so that the race is over the other rows. The exact
        sums cost nothing new: they come with the two gradients.
        """
        arms, both = Arms([model, model], [theta, there]), np.arange(2)
        if not self.racing:
            return bool(np.diff(arms.totals()) > threshold)

        def differences_of(values):
            return lambda rows, _: np.diff(values(model.inliers[rows], both))

        control = pb.racing.ControlVariate(differences_of(arms.controls), np.diff(arms.expand()))
        factors = pb.Factors(differences_of(arms.rewards), model.inliers.size, 1, control=control)
        won = pb.racing.accept(factors, threshold, rng=self.readings, **self.options).accepted
        self.n_evaluations += arms.n_evaluations
        if self.check:
            self.errors[METROPOLIS].append(won != bool(np.diff(arms.totals()) > threshold))
        return won

    def log_weights(self):
        """log f_0 of each model: its prior, and that of its theta against the pseudoprior."""
        return self.log_prior + [model.log_prior(theta) - model.log_pseudo(theta)
                                 for model, theta in zip(self.models, self.thetas, strict=True)]

    def pick(self):
        """The model, given all thetas."""
        arms = Arms(self.models, self.thetas)
        perturbed = self.log_weights() + self.noise.gumbel(size=len(self.models))
        if not self.racing:
            self.n_evaluations += len(self.models) * arms.data.r.size
            return int(np.argmax(perturbed + arms.totals()))

        factors = pb.Factors(arms.rewards, arms.data.r.size, len(self.models),
                             control=pb.racing.ControlVariate(arms.controls, arms.expand()))
        choice = pb.race(factors, perturbed, rng=self.readings, **self.options).best
        self.n_evaluations += arms.n_evaluations
        if self.check:
            self.errors[GIBBS].append(choice != np.argmax(perturbed + arms.totals()))
        return choice
