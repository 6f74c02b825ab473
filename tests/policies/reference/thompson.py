"""Thompson sampling as defined: every theta is drawn before every pull."""

import numpy as np

TWIN_OF = ("thompson", "thompson_threshold", "logit_beta")  # C sources that it checks


class ThompsonSampling:
    """Deterministic if `theta` and `u` are given; otherwise `rng` draws them."""

    def __init__(self, n_arms, rng=None, prior=(1.0, 1.0), fractional=False):
        self.gained, self.lost = np.zeros(n_arms), np.zeros(n_arms)
        self.prior, self.fractional, self.rng = prior, fractional, rng

    @property
    def parameters(self):
        return np.stack([self.prior[0] + self.gained, self.prior[1] + self.lost], axis=1)

    @property
    def means(self):
        return self.parameters[:, 0] / self.parameters.sum(axis=1)

    def choose(self, theta=None):
        return int(np.argmax(self.rng.beta(*self.parameters.T) if theta is None else theta))

    def absorb(self, arm, reward, u=None):
        if not self.fractional:
            reward = float((self.rng.random() if u is None else u) < reward)
        self.gained[arm] += reward
        self.lost[arm] += 1.0 - reward

    def recommend(self):
        return int(np.argmax(self.means))
