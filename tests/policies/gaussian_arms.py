"""Arms for the tests of joint Gaussian posteriors, and the names of these policies."""

import numpy as np

NAMES = ["BayesGap", "GPUCB", "BayesUCB", "ExpectedImprovement", "ProbabilityOfImprovement",
         "GaussianThompson"]


def smooth_kernel(K, length=1.0):
    x = np.linspace(0.0, 10.0, K)
    return np.exp(-((x[:, None] - x) ** 2) / length**2)
