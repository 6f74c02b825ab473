"""Figure 2 of Chen & Ghahramani 2016: the order of an ARCH model of returns, Sec. 5.2.

    python examples/papers/chen2016/figure_2.py [--quick] [--runs N] [--data FILE]
        [--series NAME] [--bounds NAME ...] [--adapt N] [--sweeps N] [--save PNG]

A sweep draws the parameters of the other models from pseudopriors, moves those of the
chosen model by a Langevin step with a Metropolis-Hastings test, and draws the order. Exact
sweeps evaluate all rows. Racing sweeps evaluate the outliers, 100 centres per arm for the
control variates, a minibatch, and the rows that races read. The priors of the orders are
adapted until all are visited equally often (Wang-Landau), and then frozen.

"normal" is the paper's Racing-Normal, "student" the default bound of this library, which
corrects the normal one for the estimated deviation and for skewness. The paper has one
year of five-minute values of the Shanghai index, 13,000 returns; here are daily prices of
the `arch` package, unless --data names others. The paper runs 100,000 frozen sweeps.
"""

import time

import numpy as np
from arch_chain import GIBBS, METROPOLIS, Chain
from arch_model import Arms, Model, Returns, load
from setting import ARCH_BATCH, ORDERS, Figure, near

from pybandit._shared import drawing
from pybandit._shared.intervals import wilson_interval

KINDS = {"exact": {"racing": False},
         "normal": {"racing": True, "batch": ARCH_BATCH, "bound": "normal"},
         "student": {"racing": True, "batch": ARCH_BATCH, "bound": "student"}}
LOOKS = {"exact": ("-", "#6b7280", 0.1), "normal": ("--", "#d9541e", -0.1),
         "student": (":", "#2563eb", 0.0)}
PAPER = {GIBBS: 4e-4, METROPOLIS: 2e-3}  # share of wrong decisions
FORMAT = "text file with one price a line"
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
    """Chains of each kind, adapted and then run at one frozen prior."""

    def __init__(self, models, kinds, n_runs, n_adapt, n_sweeps, seed):
        self.models, self.adapted, self.frozen = models, {}, {}
        for kind in kinds:
            self.adapted[kind] = [adapt(models, kind, n_adapt, (seed, run))
                                  for run in range(n_runs)]
        # the final prior of the exact chains, so that all kinds sample the same distribution
        self.prior = np.mean([believed[n_adapt // 2:] for _, _, believed
                              in self.adapted["exact"]], axis=(0, 1))
        for kind in kinds:
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

    def cost(self, kind, orders):
        """Return evaluations per sweep and to convergence, and effective samples per evaluation."""
        choices, cost, _ = self.frozen[kind]
        spent = [reached(evaluations, believed, self.prior)
                 for _, evaluations, believed in self.adapted[kind]]
        size = effective_size(np.asarray(orders)[choices].astype(float))
        return cost, np.mean(spent), size / (cost * choices.size)

    def errors(self, kind, name):
        """Return one bool per checked decision of a kind of chain."""
        return np.concatenate([chain.errors[name] for chain, _, _ in self.adapted[kind]])

    def print_costs(self, orders):
        n = self.models[0].data.r.size
        print(f"\n{'':<8}{'a sweep':>10}{'converged':>12}{'accepted':>10}{'ESS':>8}"
              f"{'per 1e6':>10}   evaluations in units of N")
        for kind, (choices, _, moved) in self.frozen.items():
            cost, spent, rate = self.cost(kind, orders)
            print(f"{kind:<8}{cost / n:>10.2f}{spent / n:>12,.0f}{moved:>10.2f}"
                  f"{rate * cost * choices.size:>8.0f}{1e6 * rate:>10.3g}")
        print()
        for kind in list(self.frozen)[1:]:
            for name in (GIBBS, METROPOLIS):
                errors = self.errors(kind, name)
                low, high = np.round(wilson_interval(int(errors.sum()), errors.size), 9)
                print(f"{kind:<8}{name:<6}{errors.sum()} of {errors.size:,} decisions wrong: "
                      f"{errors.mean():.1e} [{low:.1e}, {high:.1e}]   paper {PAPER[name]:.0e}")

    def print_orders(self, orders, rng):
        kinds = list(self.frozen)
        print(f"\n{'':<8}{'variance divided by':>22}"
              f"{'share of the frozen chain':>{17 * len(kinds)}}"
              f"{'log posterior':>{9 * len(kinds)}}")
        print(f"{'order':<8}{'rewards':>10}{'differences':>12}"
              + "".join(f"{kind:>17}" for kind in kinds) + "".join(f"{kind:>9}" for kind in kinds))
        shares = {kind: self.frequencies(kind) for kind in kinds}
        logs = {kind: self.log_posterior(kind) for kind in kinds}
        for state, model in enumerate(self.models):
            of_rewards, of_differences = variance_ratios(model, rng)
            cells = [f"{mean[state]:.3f} ± {half[state]:.3f}" for mean, half in shares.values()]
            print(f"{orders[state]:<8}{of_rewards:>10,.0f}{of_differences:>12,.0f}"
                  + "".join(f"{cell:>17}" for cell in cells)
                  + "".join(f"{log[state]:>9.2f}" for log in logs.values()))

    def claim(self, figure, kind, orders):
        """Compare one racing kind with the exact chains and the paper."""
        exact, racing = self.cost("exact", orders), self.cost(kind, orders)
        times = exact[1] / racing[1]
        figure.claim(f"Racing chains ({kind}) converge about three times faster", "3 times",
                     f"{times:.2f} times", times > 1, near(times, 3, 0.25))
        times = racing[2] / exact[2]
        figure.claim(f"and have over twice the effective sample per evaluation ({kind})",
                     "> 2 times", f"{times:.2f} times", times > 1, times > 1.8)
        for name, printed in PAPER.items():
            errors = self.errors(kind, name)
            low, high = wilson_interval(int(errors.sum()), errors.size)
            figure.claim(f"Share of wrong {name} decisions, delta .05 ({kind})", f"{printed:g}",
                         f"{errors.mean():.1e} [{low:.1e}, {high:.1e}]", errors.mean() < 0.05,
                         low <= 2 * printed and high >= printed / 2)
        mean, half = self.frequencies(kind)
        other, error = self.frequencies("exact")
        apart = np.nan_to_num(np.abs(mean - other)
                              / np.maximum(np.hypot(half, error), 1e-9)).max()
        figure.claim(f"No noticeable bias in the shares of the orders ({kind})", "none",
                     f"at most {apart:.1f} standard errors apart", apart < 4)

    def claim_control(self, figure, rng):
        found = [variance_ratios(model, rng) for model in self.models]
        rewards, differences = np.transpose(found)
        figure.claim("Control variates reduce the variance of rewards by 2 to 3 orders",
                     "100 to 1,000 times", f"rewards {rewards.min():,.0f} to {rewards.max():,.0f} "
                     f"times, differences {differences.min():,.0f} to {differences.max():,.0f}",
                     differences.min() > 10, 50 <= differences.min() and differences.max() < 5000)

    def draw(self, orders):
        """Return a plot of the estimates while adapting, shares, and autocorrelation by cost."""
        figure, (axes,) = drawing.new_figure(11.0, 3.4, 1, 3)
        n, places = self.models[0].data.r.size, np.arange(len(orders))
        for kind in self.frozen:
            style, colour, aside = LOOKS[kind]
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
        axes[0].set(xlabel="evaluations / N (racing dashed or dotted)", xscale="log",
                    ylabel="log posterior, centred")
        axes[1].set(xlabel="order", ylabel="share of the frozen chains, 95 %", xticks=places,
                    xticklabels=orders, ylim=(0, None))
        axes[2].set(xlabel="lag, evaluations / N", ylabel="autocorrelation of the order")
        for axis in axes:
            axis.legend(fontsize=7)
            axis.spines[["top", "right"]].set_visible(False)
        return figure


def add(parser):
    parser.add_argument("--series", choices=["sp500", "nasdaq", "wti"], default="sp500",
                        help="prices without --data (default %(default)s)")
    parser.add_argument("--bounds", nargs="+", choices=list(KINDS)[1:], metavar="NAME",
                        default=["normal", "student"], help="of the races (default: both)")
    parser.add_argument("--adapt", type=int, default=3000, help="adaptive sweeps per run "
                        "(default %(default)s)")
    parser.add_argument("--sweeps", type=int, default=5000, help="frozen sweeps per run "
                        "(default %(default)s)")
    parser.add_argument("--outliers", type=float, default=0.2, help="share of rows that are "
                        "always computed (default %(default)s)")


def main(argv=None):
    figure = Figure(__doc__, runs=(5, 2), data=FORMAT, add=add, arguments=argv)
    options, start = figure.options, time.perf_counter()
    returns, orders = load(figure.data or options.series), ORDERS
    n_adapt, n_sweeps = options.adapt, options.sweeps
    if figure.quick:
        returns, orders, n_adapt, n_sweeps = returns[-1000:], ORDERS[:2], 150, 150
    data = Returns(returns, max(orders))
    models = [Model(data, order, options.outliers) for order in orders]
    print(f"{figure.data or options.series}: N = {data.r.size:,}, orders {orders}; {figure.runs} "
          f"runs of {n_adapt:,} sweeps that adapt and {n_sweeps:,} frozen; fitted in "
          f"{time.perf_counter() - start:.0f} s")
    study = Study(models, ["exact", *options.bounds], figure.runs, n_adapt, n_sweeps, figure.seed)
    rng = np.random.default_rng(figure.seed)
    study.print_costs(orders)
    study.print_orders(orders, rng)
    for kind in options.bounds:
        study.claim(figure, kind, orders)
    study.claim_control(figure, rng)
    figure.end(lambda: study.draw(orders))


if __name__ == "__main__":
    main()
