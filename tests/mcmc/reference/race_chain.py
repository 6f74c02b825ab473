"""Metropolis-Hastings by racing as a plain loop; the race itself is `AcceptanceTest`."""

import numpy as np

TWIN_OF = ("race_chain",)  # kernels of csrc


class Chain:
    """One chain that draws the same random numbers in the same order as the C code."""

    def __init__(self, test, points, moves, rng, log_prior, control=None):
        self.test, self.points, self.moves, self.rng = test, points, moves, rng
        self.log_prior, self.control = log_prior, control
        self.start, self.farthest = points[0].copy(), points[0].copy()

    def change(self):
        """Return the change of the control's total from one point to the other."""
        if self.control is None:
            return 0.0
        c = self.control
        totals = [c.gradient @ (p - c.center) + (p - c.center) @ c.hessian @ (p - c.center) / 2
                  for p in self.points]
        return totals[1] - totals[0]

    def step(self, adapts=False):
        """Return True if the proposal was accepted, and the number of rows read."""
        move = self.moves[0]
        if len(self.moves) > 1:
            u = self.rng.random()
            move = next((m for m in self.moves[:-1] if u < m.below), self.moves[-1])
        self.points[1], correction = move.propose(self.points[0], self.rng)
        before, after = (self.log_prior(p) for p in self.points)
        accepted, n_read = False, 0
        if after > -np.inf:
            result = self.test.test(before - after - correction
                                    - self.rng.standard_exponential() - self.change())
            accepted, n_read = result.accepted, result.n_evaluations
        if accepted:
            self.points[0] = self.points[1]
            if np.sum((self.points[0] - self.start)**2) > np.sum(
                    (self.farthest - self.start)**2):
                self.farthest = self.points[0].copy()
        if adapts:
            move.adapt(accepted)
        return accepted, n_read
