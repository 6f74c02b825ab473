"""Find the order of an ARCH model of daily returns, by racing and by exact Markov chains.

    python examples/racing/arch_order.py [--data NAME] [--runs N] [--sweeps N] [--quick] [--out PNG]

Chen & Ghahramani 2016, section 5.2, with prices from the `arch` package. A sweep draws the
parameters of the other models from pseudopriors, moves those of the chosen model by a
Langevin step with a Metropolis-Hastings test, and draws the order. Exact sweeps evaluate all
rows. Racing sweeps evaluate the outliers, 100 centres per arm for the control variates, a
minibatch, and the rows that races read. The priors of the orders are first adapted until all
orders are visited equally often (Wang-Landau), which estimates the posterior, and then frozen.

The first table shows cost, convergence, effective sample size and wrong decisions. The second
shows, per order, the effect of the control variate on the variance, and the posterior.
"""

import argparse
import time

import numpy as np
from arch_chain import GIBBS, METROPOLIS, Chain
from arch_model import Arms, Model, Returns, load

from pybandit._shared import drawing
from pybandit._shared.intervals import wilson_interval

ORDERS = (5, 10, 15, 20, 25, 30)
BATCH = 400  # rows of a stochastic gradient
KINDS = {"exact": {"racing": False}, "racing": {"racing": True, "batch": BATCH}}
LOOKS = {"exact": ("-", "#6b7280", 0.1), "racing": ("--", "#d9541e", -0.1)}
CLOSE = 3.0  # mean error of the log posteriors, in nats, below which a run has converged


def centred(log_prior):
    """Return minus the log prior, centred: the log posterior estimated by Wang-Landau."""
    return -log_prior + log_prior.mean(axis=-1, keepdims=True)


def adapt(models, kind, n_sweeps, seed):
    """Return a chain, and the evaluations and estimated log posterior after each sweep."""
    chain = Chain(models, seed, **KINDS[kind])
    evaluations, believed = np.empty(n_sweeps), np.empty((n_sweeps, len(models)))
    for t in range(n_sweeps):
        chain.adapt()
        evaluations[t], believed[t] = chain.n_evaluations, centred(chain.log_prior)
    return chain, evaluations, believed


def freeze(chain, believed, n_sweeps):
    """Return models chosen, evaluations per sweep and acceptance rate, at a fixed prior."""
    chain.log_prior, chain.check = -believed, chain.racing
    before, moved, choices = chain.n_evaluations, 0, np.empty(n_sweeps, dtype=np.int64)
    for t in range(n_sweeps):
        moved += chain.sweep()
        choices[t] = chain.choice
    return choices, (chain.n_evaluations - before) / n_sweeps, moved / n_sweeps


def autocorrelation(runs, n_lags):
    """Return the autocorrelation of all runs (run, time) about their common mean."""
    n = runs.shape[1]
    power = np.abs(np.fft.rfft(runs - runs.mean(), 2 * n)) ** 2
    found = np.fft.irfft(power.mean(axis=0))[:n_lags] / (n - np.arange(n_lags))
    return found / found[0]


def effective_size(runs):
    """Return the effective sample size by Geyer's initial positive sequence."""
    if runs.min() == runs.max():
        return np.nan
    found = autocorrelation(runs, runs.shape[1] // 2)
    pairs = found[:found.size // 2 * 2].reshape(-1, 2).sum(axis=1)
    ended = np.append(pairs, -1.0) <= 0
    return runs.size / max(2 * pairs[:ended.argmax()].sum() - 1, 1e-3)


def reached(evaluations, believed, reference):
    """Return the evaluations until the estimate is within `CLOSE` of the reference, or NaN."""
    close = np.abs(believed - reference).mean(axis=1) < CLOSE
    return evaluations[close.argmax()] if close.any() else np.nan


def variance_ratios(model, rng, n_draws=20):
    """Return the variance ratios without over with a control variate.

    The first is for log likelihoods of draws from the pseudoprior, the second for their
    differences from the mode, as in a test.
    """
    thetas = [model.mode, *(model.draw_pseudo(rng) for _ in range(n_draws))]
    arms, rows = Arms([model] * len(thetas), thetas), np.arange(model.data.r.size)
    arms.expand()
    states, raw = np.arange(len(thetas)), arms.densities()
    left = arms.rewards(rows, states) - arms.controls(rows, states)
    return (raw[:, 1:].var(axis=0).sum() / left[:, 1:].var(axis=0).sum(),
            (raw[:, 1:] - raw[:, :1]).var(axis=0).sum()
            / (left[:, 1:] - left[:, :1]).var(axis=0).sum())


class Study:
    """Chains of both kinds, adapted and then run at one frozen prior."""

    def __init__(self, models, n_runs, n_adapt, n_sweeps, seed):
        self.models, self.adapted, self.frozen = models, {}, {}
        for kind in KINDS:
            self.adapted[kind] = [adapt(models, kind, n_adapt, (seed, run))
                                  for run in range(n_runs)]
        # the final prior of the exact chains, so that both kinds sample the same distribution
        self.prior = np.mean([believed[n_adapt // 2:] for _, _, believed
                              in self.adapted["exact"]], axis=(0, 1))
        for kind in KINDS:
            found = [freeze(chain, self.prior, n_sweeps) for chain, _, _ in self.adapted[kind]]
            choices, costs, moved = zip(*found, strict=True)
            self.frozen[kind] = np.array(choices), np.mean(costs), np.mean(moved)

    def frequencies(self, kind):
        """Return the frequency of each model at the frozen prior, and its standard error."""
        visits = self.frozen[kind][0][..., None] == np.arange(len(self.models))
        sizes = np.array([effective_size(visits[..., state].astype(float))
                          for state in range(len(self.models))])
        shares = visits.mean(axis=(0, 1))
        return shares, np.sqrt(shares * (1 - shares) / sizes)

    def log_posterior(self, kind):
        with np.errstate(divide="ignore"):
            found = np.log(self.frequencies(kind)[0]) + self.prior
        return found - np.logaddexp.reduce(found)

    def print_costs(self, orders):
        n = self.models[0].data.r.size
        print(f"\n{'':<8}{'a sweep':>10}{'converged':>12}{'accepted':>10}{'ESS':>8}"
              f"{'per 1e6':>10}   evaluations in units of N")
        for kind, (choices, cost, moved) in self.frozen.items():
            size = effective_size(np.asarray(orders)[choices].astype(float))
            spent = np.array([reached(evaluations, believed, self.prior)
                              for _, evaluations, believed in self.adapted[kind]])
            print(f"{kind:<8}{cost / n:>10.2f}{np.mean(spent) / n:>12,.0f}{moved:>10.2f}"
                  f"{size:>8.0f}{1e6 * size / (cost * choices.size):>10.3g}")
        print()
        for name in (GIBBS, METROPOLIS):
            errors = np.concatenate([chain.errors[name] for chain, _, _ in
                                     self.adapted["racing"]])
            low, high = np.round(wilson_interval(int(errors.sum()), errors.size), 9)
            print(f"{name:<8}{errors.sum()} of {errors.size:,} decisions wrong: "
                  f"{errors.mean():.1e} [{low:.1e}, {high:.1e}]")

    def print_orders(self, orders, rng):
        print(f"\n{'':<8}{'variance divided by':>22}{'share of the frozen chain':>34}"
              f"{'log posterior':>22}")
        print(f"{'order':<8}{'rewards':>10}{'differences':>12}{'exact':>17}{'racing':>17}"
              f"{'exact':>13}{'racing':>9}")
        shares = {kind: self.frequencies(kind) for kind in KINDS}
        logs = {kind: self.log_posterior(kind) for kind in KINDS}
        for state, model in enumerate(self.models):
            of_rewards, of_differences = variance_ratios(model, rng)
            cells = [f"{mean[state]:.3f} ± {half[state]:.3f}" for mean, half in shares.values()]
            print(f"{orders[state]:<8}{of_rewards:>10,.0f}{of_differences:>12,.0f}"
                  f"{cells[0]:>17}{cells[1]:>17}"
                  f"{logs['exact'][state]:>13.2f}{logs['racing'][state]:>9.2f}")

    def draw(self, orders, path):
        """Plot the estimates while adapting, the frequencies, and autocorrelation by cost."""
        figure, (axes,) = drawing.new_figure(11.0, 3.4, 1, 3)
        n, places = self.models[0].data.r.size, np.arange(len(orders))
        for kind, (style, colour, aside) in LOOKS.items():
            _, evaluations, believed = self.adapted[kind][0]
            for state, order in enumerate(orders):
                axes[0].plot(evaluations / n, believed[:, state], style, lw=1, color=f"C{state}",
                             label=f"{order}" if kind == "exact" else None)
            shares, errors = self.frequencies(kind)
            axes[1].errorbar(places + aside, shares, 1.96 * errors, fmt="o", ms=4, color=colour,
                             label=kind)
            choices, cost, _ = self.frozen[kind]
            found = autocorrelation(np.asarray(orders, dtype=float)[choices],
                                    min(300, choices.shape[1] // 2))
            axes[2].plot(np.arange(found.size) * cost / n, found, style, color=colour, label=kind)
        axes[0].set(xlabel="evaluations / N (racing dashed)", ylabel="log posterior, centred",
                    xscale="log")
        axes[1].set(xlabel="order", ylabel="share of the frozen chains, 95 %", xticks=places,
                    xticklabels=orders, ylim=(0, None))
        axes[2].set(xlabel="lag, evaluations / N", ylabel="autocorrelation of the order")
        for axis in axes:
            axis.legend(fontsize=7)
            axis.spines[["top", "right"]].set_visible(False)
        drawing.save(figure, path)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Order of an ARCH model, by racing.")
    parser.add_argument("--data", choices=["sp500", "nasdaq", "wti"], default="sp500",
                        help="prices (default %(default)s)")
    parser.add_argument("--runs", type=int, default=4, help="(default %(default)s)")
    parser.add_argument("--adapt", type=int, default=3000, help="adaptive sweeps per run "
                        "(default %(default)s)")
    parser.add_argument("--sweeps", type=int, default=5000, help="frozen sweeps per run "
                        "(default %(default)s)")
    parser.add_argument("--outliers", type=float, default=0.2, help="share of rows that are "
                        "always computed (default %(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help="the last 1,000 returns, orders 5 and 10, 2 runs of 150 + 150")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", metavar="PNG", help="file of the plot")
    arguments = parser.parse_args(argv)
    start, returns, orders = time.perf_counter(), load(arguments.data), ORDERS
    n_runs, n_adapt, n_sweeps = arguments.runs, arguments.adapt, arguments.sweeps
    if arguments.quick:
        returns, orders, n_runs, n_adapt, n_sweeps = returns[-1000:], ORDERS[:2], 2, 150, 150
    data = Returns(returns, max(orders))
    models = [Model(data, order, arguments.outliers) for order in orders]
    print(f"{arguments.data}: N = {data.r.size:,}, orders {orders}; {n_runs} runs of "
          f"{n_adapt:,} sweeps that adapt and {n_sweeps:,} frozen; fitted in "
          f"{time.perf_counter() - start:.0f} s")
    study = Study(models, n_runs, n_adapt, n_sweeps, arguments.seed)
    study.print_costs(orders)
    study.print_orders(orders, np.random.default_rng(arguments.seed))
    print(f"\n{time.perf_counter() - start:.0f} s")
    if arguments.out:
        study.draw(orders, arguments.out)
        print(f"plot: {arguments.out}")


if __name__ == "__main__":
    main()
