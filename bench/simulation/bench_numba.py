"""UCB1 in C, numba and Python, whole simulations on one core: nanoseconds per pull.

Run with ``make bench``, or alone: ``pytest bench/simulation/bench_numba.py``. The plain
loop is what a careful user would write: one numba function makes all runs and returns only the
share of errors. Of the two numba policies, "kept" updates its centres and roots incrementally, as
`pb.policies.UCB1` does, and "anew" computes every index at each pull, as the loop does.
"""

import numpy as np
import pytest

import pybandit as pb

from native import size

SIZES = size({20: 2000, 64: 6400}, {20: 2000})
PULLS = size(400_000, 20_000)


def compiled():
    """Return two numba policies, a numba environment and the plain loop."""
    numba = pytest.importorskip("numba")
    import pybandit.numba

    def keep(arm, pulls, sums, centres, roots):
        centres[arm] = sums[arm] / pulls[arm]
        roots[arm] = 1.0 / np.sqrt(pulls[arm])

    @pybandit.numba.policy(tell=keep)
    def kept(t, centres, roots):
        if t < centres.size:
            return t
        best, largest, a = 0, -np.inf, np.sqrt(2.0 * np.log(t + 1))
        for arm in range(centres.size):
            index = centres[arm] + a * roots[arm]
            if index > largest:
                best, largest = arm, index
        return best

    @pybandit.numba.policy
    def anew(t, pulls, sums):
        if t < pulls.size:
            return t
        return np.argmax(sums / pulls + np.sqrt(2.0 * np.log(t + 1) / pulls))

    @pybandit.numba.environment
    def normal(arm, rng, means):
        return means[arm] + rng.standard_normal()

    @numba.njit
    def loop(rng, means, horizon, n_runs):
        n_arms, errors = means.size, 0
        for _ in range(n_runs):
            sums, pulls = np.empty(n_arms), np.ones(n_arms)
            for arm in range(n_arms):
                sums[arm] = means[arm] + rng.standard_normal()
            for t in range(n_arms, horizon):
                best, largest, a = 0, -np.inf, 2.0 * np.log(t + 1)
                for arm in range(n_arms):
                    index = sums[arm] / pulls[arm] + np.sqrt(a / pulls[arm])
                    if index > largest:
                        best, largest = arm, index
                sums[best] += means[best] + rng.standard_normal()
                pulls[best] += 1
            errors += np.argmax(sums / pulls) != 0
        return errors / n_runs

    loop(np.random.default_rng(1), np.linspace(1.0, 0.0, 4), 12, 1)
    return kept, anew, normal, loop


class PythonUCB1(pb.Policy):
    done, is_endless = False, True

    def ask(self):
        if self.n_pulls < self.n_arms:
            return np.array([self.n_pulls])
        width = np.sqrt(2.0 * np.log(self.n_pulls + 1) / self.pulls)
        return np.array([np.argmax(self.means + width)])

    def recommend(self):
        return self._best(np.arange(self.n_arms), 1)


@pytest.fixture(scope="module")
def made():
    return compiled()


ROLES = ["pb.policies.UCB1", "numba, kept", "numba, anew", "numba, kept, numba's rewards",
         "pb.policies.UCB1, numba's rewards", "plain numba loop", "Python"]


@pytest.mark.parametrize("n_arms", SIZES)
@pytest.mark.parametrize("role", ROLES)
def test_one_pull(timed, made, role, n_arms):
    kept, anew, normal, loop = made
    means, horizon = np.linspace(1.0, 0.0, n_arms), SIZES[n_arms]
    n_runs = 2 if role == "Python" else PULLS // horizon
    arms = normal(means, 1.0) if "rewards" in role else pb.environments.GaussianBandit(means)
    policy = pb.policies.UCB1(n_arms)
    if "kept" in role:
        policy = kept(n_arms, centres=np.zeros(n_arms), roots=np.zeros(n_arms))
    elif "anew" in role:
        policy = anew(n_arms)
    elif role == "Python":
        def policy(environment):
            return PythonUCB1(n_arms)

    def run():
        if role == "plain numba loop":
            loop(np.random.default_rng(1), means, horizon, n_runs)
        else:
            pb.simulate(policy, arms, n_runs, rng=1, max_pulls=horizon, n_threads=1, progress=False)

    timed(f"UCB1, K = {n_arms}, n = {horizon:,}", role, run, per=n_runs * horizon, rounds=5,
          is_ours=role != "plain numba loop")


def test_all_make_the_same_errors(made):
    kept, anew, normal, loop = made
    means, found = np.linspace(1.0, 0.0, 10), []
    for policy in (pb.policies.UCB1(10), kept(10, centres=np.zeros(10), roots=np.zeros(10)),
                   anew(10)):
        for arms in (pb.environments.GaussianBandit(means), normal(means, 1.0)):
            found.append(pb.simulate(policy, arms, 500, rng=1, max_pulls=300).error_probability)
    assert len(set(found)) == 1
    theirs = loop(np.random.default_rng(2), means, 300, 500)
    assert abs(theirs - found[0]) < 5 * np.sqrt(2 * 0.25 / 500)
