"""Policies with a joint Gaussian posterior, as printed: the whole posterior in every round."""

import math

import numpy as np
from scipy.special import ndtr, ndtri

# C sources it checks
TWIN_OF = ("gaussian", "gaussian_gap", "gaussian_kernel", "gaussian_lazy", "gaussian_rows",
           "gaussian_scores")


def posterior(G, arms, rewards, noise_std, prior_std):
    """Return mean and covariance given rewards of these arms, by the textbook formula."""
    prior = prior_std**2 * G
    arms = np.asarray(arms, dtype=int)
    if not arms.size:
        return np.zeros(len(G)), prior
    seen, at = np.unique(arms, return_inverse=True)
    counts, sums = np.bincount(at), np.bincount(at, weights=rewards)
    gain = np.linalg.solve(prior[np.ix_(seen, seen)] + np.diag(noise_std**2 / counts), prior[seen])
    return gain.T @ (sums / counts), prior - prior[:, seen] @ gain


class Gaussian:
    """The base class; with noise_std None, the noise has an inverse-gamma variance."""

    def __init__(self, budget, G, noise_std, prior_std=1.0, noise_prior=(1.0, 1.0)):
        self.budget, self.G, self.prior_std = budget, np.asarray(G), prior_std
        self.noise_std, self.noise_prior = noise_std, noise_prior
        self.arms, self.rewards, self.t = [], [], 1

    def update(self):
        """Compute the current mean, std, sigma and eta."""
        known = self.noise_std is not None
        self.mean, self.covariance = posterior(
            self.G, self.arms, self.rewards, self.noise_std if known else 1.0, self.prior_std)
        self.sigma, self.eta = self.noise_std, self.prior_std
        if not known:
            a, b = self.noise_posterior()
            self.sigma = math.sqrt(b / a)
            self.eta *= self.sigma
        scale = 1.0 if known else self.sigma
        self.std = scale * np.sqrt(np.maximum(self.covariance.diagonal(), 0.0))

    def noise_posterior(self):
        """Update a and b; b grows by half the squared Mahalanobis norm of the rewards."""
        a, b = self.noise_prior
        y, arms = np.array(self.rewards), np.array(self.arms, dtype=int)
        marginal = np.eye(y.size) + self.prior_std**2 * self.G[np.ix_(arms, arms)]
        return a + y.size / 2, b + y @ np.linalg.solve(marginal, y) / 2

    def ask(self):
        self.update()
        return self.choose()

    def tell(self, arm, reward):
        """Take a reward; NaN is a lost pull."""
        self.t += 1
        if not math.isnan(reward):
            self.arms.append(arm)
            self.rewards.append(reward)
        self.update()

    def choose(self):
        return int(np.argmax(self.scores()))

    def recommend(self):
        self.update()
        return int(np.argmax(self.mean))


class BayesGap(Gaussian):
    def __init__(self, *args, epsilon=0.0, n_beta="T", recommendation="pulled", **options):
        super().__init__(*args, **options)
        self.epsilon, self.n_beta = epsilon, n_beta
        self.recommendation, self.rounds = recommendation, []

    def choose(self):
        K = len(self.G)
        if K == 1:
            self.rounds.append((0.0, 0))
            return 0
        others = [[i for i in range(K) if i != k] for k in range(K)]
        upper, lower = self.mean + 3 * self.std, self.mean - 3 * self.std
        H = 0.0
        for k in range(K):
            gap = max(upper[others[k]].max() - lower[k], upper[k] - lower[others[k]].max())
            gap = max((gap + self.epsilon) / 2, self.epsilon)
            H += 1 / gap**2 if gap else math.inf
        norms = self.G.diagonal()
        kappa = (1 / norms[norms > 0]).sum()
        n = self.budget if self.n_beta == "T" else max(self.budget - K, 0)
        self.beta = math.sqrt((n / self.sigma**2 + kappa / self.eta**2) / (4 * H))
        upper, lower = self.mean + self.beta * self.std, self.mean - self.beta * self.std
        B = np.array([upper[others[k]].max() - lower[k] for k in range(K)])
        self.J = int(np.argmin(B))
        self.j = max(others[self.J], key=lambda i: upper[i])
        self.rounds.append((B[self.J], self.J))
        return max(sorted([self.j, self.J]), key=lambda i: self.std[i])

    def recommend(self):
        if self.rounds and self.recommendation == "bound":
            return min(self.rounds, key=lambda one: one[0])[1]
        pulled = sorted(set(self.arms))
        if self.recommendation == "pulled" and pulled:
            self.update()
            return max(pulled, key=lambda arm: (self.mean[arm], -arm))
        return super().recommend()


class GPUCB(Gaussian):
    def __init__(self, *args, delta=0.05, **options):
        super().__init__(*args, **options)
        self.delta = delta

    def scores(self):
        level = math.log(len(self.G) * self.t**2 * math.pi**2 / (6 * self.delta))
        return self.mean + math.sqrt(2 * level) * self.std


class BayesUCB(Gaussian):
    def scores(self):
        return self.mean + ndtri(1 - 1 / (self.t + 1)) * self.std


class ExpectedImprovement(Gaussian):
    def __init__(self, *args, xi=0.0, **options):
        super().__init__(*args, **options)
        self.xi = xi

    def scores(self):
        distance = self.mean - self.mean.max() - self.xi
        z = distance / np.where(self.std > 0, self.std, 1.0)
        gain = distance * ndtr(z) + self.std * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        return np.where(self.std > 0, gain, 0.0)


class ProbabilityOfImprovement(ExpectedImprovement):
    def __init__(self, *args, xi=0.01, **options):
        super().__init__(*args, xi=xi, **options)

    def scores(self):
        z = (self.mean - self.mean.max() - self.xi) / np.where(self.std > 0, self.std, 1.0)
        return np.where(self.std > 0, z, -np.inf)
