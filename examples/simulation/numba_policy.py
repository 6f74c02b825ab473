"""UCB1 as a numba function, as a Python class and as `pb.policies.UCB1`: same pulls, other speed.

    python examples/simulation/numba_policy.py [--runs 1000] [--out numba_policy.png]

Plots the error against the pulls. The rewards are a numba function too.
"""

import argparse
import time

import numpy as np

import pybandit as pb
import pybandit.numba

K, PULLS, CHECKPOINTS = 20, 2000, [50, 100, 200, 400, 800, 1200, 1600, 2000]


@pybandit.numba.policy
def ucb1(t, pulls, sums, constant=2.0):
    if t < pulls.size:
        return t
    return np.argmax(sums / pulls + np.sqrt(constant * np.log(t + 1) / pulls))


@pybandit.numba.policy
def draws(t, pulls, sums, rng):
    """Return the arm with the largest posterior draw of its mean, for rewards of variance 1."""
    if t < pulls.size:
        return t
    means = sums / pulls
    for arm in range(pulls.size):
        means[arm] += rng.standard_normal() / np.sqrt(pulls[arm])
    return np.argmax(means)


@pybandit.numba.environment
def skewed(arm, rng, means):
    return means[arm] + rng.exponential() - 1.0


class PythonUCB1(pb.Policy):
    done, is_endless = False, True

    def ask(self):
        if self.n_pulls < self.n_arms:
            return np.array([self.n_pulls])
        width = np.sqrt(2.0 * np.log(self.n_pulls + 1) / self.pulls)
        return np.array([np.argmax(self.means + width)])

    def recommend(self):
        return self._best(np.arange(self.n_arms), 1)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Policies of numba against native ones.")
    parser.add_argument("--runs", type=int, default=1000, help="runs per policy (%(default)s)")
    parser.add_argument("--out", default="numba_policy.png")
    options = parser.parse_args(argv)
    arms = skewed(np.linspace(1.0, 0.0, K), 1.0)
    rules = {"pb.policies.UCB1": pb.policies.UCB1(K), "ucb1, numba": ucb1(K),
             "draws, numba": draws(K),
             "UCB1, Python": lambda e: PythonUCB1(K)}
    few, leaders = max(2, options.runs // 50), {}
    for name, policy in rules.items():
        n_runs = few if "Python" in name else options.runs
        start = time.process_time()
        found = pb.simulate(policy, arms, n_runs, rng=1, max_pulls=PULLS, n_threads=1,
                            checkpoints=CHECKPOINTS)
        nanoseconds = 1e9 * (time.process_time() - start) / (n_runs * PULLS)
        print(f"{name:<14}{nanoseconds:>8,.0f} ns a pull, error {found.error_probability:.3f}")
        leaders[name] = found.checkpoint_leaders[:few]
    same = all(np.array_equal(leaders["UCB1, Python"], leaders[name])
               for name in ("pb.policies.UCB1", "ucb1, numba"))
    print(f"UCB1 in three languages, the same leaders in {few} runs: {same}")
    curves = pb.compare({name: rules[name] for name in ("pb.policies.UCB1", "ucb1, numba",
                                                        "draws, numba")},
                        arms, options.runs, rng=1, max_pulls=PULLS, checkpoints=CHECKPOINTS)
    curves.plot().figure.savefig(options.out, dpi=150)


if __name__ == "__main__":
    main()
