"""Sampler of a model and its parameters (Carlin and Chib), exact or by racing.

Chen & Ghahramani 2016, section C.2, with the ratio of prior to pseudoprior that is missing
from the conditional of the model in their Eq. 25. Used by figure_2.py.
"""

import numpy as np
from arch_model import Arms
from setting import ARCH_DELTA, FIRST_LOOK

import pybandit as pb

ACCEPTANCE = 0.36
GIBBS, METROPOLIS = "Gibbs", "MH"


class Chain:
    """Markov chain over the parameters of all models and the chosen model.

    Parameters
    ----------
    models : list of Model
    seed : int or sequence of int
    racing : bool
        True to decide by races, False to decide from all rows.
    bound : str
        Bound of the races: "normal" is the paper's Racing-Normal.
    batch : int, optional
        Rows of a stochastic gradient; all by default.
    check : bool
        True to compare each raced decision with the exact one; these evaluations do not count.

    Attributes
    ----------
    n_evaluations : int
        Pairs (row, theta) whose likelihood was computed, with or without its gradient. The
        centre of a bin counts as a row.
    errors : dict
        For "Gibbs" and "MH", one bool per checked decision: True if it was wrong.
    """

    def __init__(self, models, seed, *, racing, bound="student", batch=None, delta=ARCH_DELTA,
                 check=False):
        self.models, self.racing, self.batch = models, racing, batch
        self.options = {"bound": bound, "delta": delta,
                        "looks": pb.racing.Looks(first=FIRST_LOOK)}
        self.check = check
        # separate generators for the chain and for the order in which races read: exact and
        # racing chains then agree step by step as long as no race errs
        self.noise, self.readings = (np.random.default_rng(stream) for stream
                                     in np.random.SeedSequence(seed).spawn(2))
        self.thetas = [model.mode for model in models]
        self.choice = 0
        self.log_prior, self.steps = np.zeros(len(models)), np.ones(len(models))
        self.n_evaluations = self.n_sweeps = 0
        self.errors = {GIBBS: [], METROPOLIS: []}

    def sweep(self):
        """Draw all thetas, then the model. Return True if the chosen model's theta moved."""
        for state, model in enumerate(self.models):
            if state != self.choice:
                self.thetas[state] = model.draw_pseudo(self.noise)
        moved = self.move()
        self.choice = self.pick()
        self.n_sweeps += 1
        return moved

    def adapt(self):
        """Run a sweep, then adapt the prior (Wang-Landau) and the step size."""
        gain, before = 1 / (1 + self.n_sweeps / 100), self.choice
        self.steps[before] *= np.exp(np.sqrt(gain) * (self.sweep() - ACCEPTANCE))
        self.log_prior[self.choice] -= gain

    def move(self):
        """Make a Langevin step in the metric of the pseudoprior.

        The gradients of the step and of its reverse use the same rows.
        """
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
        """Return the gradient of the log posterior: exact, or from the outliers and some rows.

        The acceptance test evaluates the outliers anyway, so only the rows count as
        evaluations. The known gradients at the mode are the control variate.
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
        """Return True if sum_t log p(r_t | there) - log p(r_t | theta) > threshold.

        Both thetas have the same outliers, so the race is over the other rows. The exact sums
        cost nothing extra, because the two gradients compute them too.
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
        """Return log f_0 per model: its prior times the ratio of prior to pseudoprior of theta."""
        return self.log_prior + [model.log_prior(theta) - model.log_pseudo(theta)
                                 for model, theta in zip(self.models, self.thetas, strict=True)]

    def pick(self):
        """Draw the model given all thetas."""
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
