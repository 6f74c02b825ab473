"""The synthetic experiment of Chen & Ghahramani 2016, Sec. 5.1, for Figures 1, 5, 6 and 7.

The factors of a state have mean exactly 0 and standard deviation sigma, from three
distributions. Each draw uses new Gumbel noise, a new order of the factors and one race.
The paper does not print its distribution p(X); here p is proportional to 1, ..., D.
Racing-EBS and lil'UCB get the exact range of each state's rewards, as in the paper, and
lil'UCB its heuristic constants.
"""

import json
from pathlib import Path

import numpy as np
from scipy.stats import binom, binomtest
from setting import DELTAS, DISTRIBUTIONS, FIRST_LOOK, N_FACTORS, SIGMAS, Figure, bracket

import pybandit as pb
from pybandit._shared import datasets
from pybandit._shared.drawing import COLOURS, new_figure, tidy
from pybandit._shared.intervals import wilson_interval

NORMAL, EBS, LIL = "Racing-Normal", "Racing-EBS", "lil'UCB"
REFERENCE = Path(__file__).parents[3] / "tests" / "racing" / "data" / "synthetic.json"


def find(algorithm, factors, ranges, perturbed, delta, variance, rng):
    """Run one race; return its RaceResult."""
    if algorithm == LIL:
        return pb.racing.lil_ucb(factors, perturbed, value_range=ranges, delta=delta, rng=rng)
    bound = (pb.racing.NormalBound(delta=delta) if algorithm == NORMAL
             else pb.racing.EBSBound(delta=delta, value_range=ranges))
    looks = pb.racing.Looks(first=FIRST_LOOK if algorithm == NORMAL else 2, variance=variance,
                            max_fraction=1.0)
    return pb.race(factors, perturbed, bound=bound, looks=looks, rng=rng)


def measure(algorithm, factors, log_prior, delta, variance, n_draws, seed):
    """Return the number of wrong winners, and the share of the factors read in each draw.

    The Gumbel noise of a draw depends on the seed only, so all algorithms have the same.
    """
    ranges, wrong, shares = np.ptp(factors, axis=0), 0, np.empty(n_draws)
    noise, order = (np.random.default_rng(stream) for stream
                    in np.random.SeedSequence(seed).spawn(2))
    for i in range(n_draws):
        perturbed = log_prior + noise.gumbel(size=log_prior.size)
        result = find(algorithm, factors, ranges, perturbed, delta, variance, order)
        wrong += int(result.best != perturbed.argmax())
        shares[i] = result.n_evaluations / factors.size
    return wrong, shares


def reference_values(variance):
    """Return (algorithm, distribution, sigma, delta) -> (error, share read), for D = 10."""
    if not REFERENCE.exists():
        return {}
    names = {f"racing_normal_{variance[:4]}_eq5B": NORMAL, f"racing_ebs_{variance[:4]}": EBS,
             f"racing_normal_{variance}_eq5B": NORMAL, f"racing_ebs_{variance}": EBS}
    return {(names[row["algo"]], row["dist"], row["sigma"], row["delta"]):
            (row["error"], row["proportion"])
            for row in json.loads(REFERENCE.read_text())["rows"] if row["algo"] in names}


def run(n_states, variance, n_draws, n_lil, deltas, n_factors, seed):
    """Print the table line by line; return its rows."""
    known = reference_values(variance) if (n_factors, n_states) == (N_FACTORS, 10) else {}
    print(f"N = {n_factors:,}, D = {n_states}, {variance} variances; {n_draws:,} draws a cell, "
          f"{n_lil:,} of lil'UCB; in brackets: reference values")
    print(f"{'factors':<11}{'sigma':>7}{'delta':>8}  {'algorithm':<15}{'wrong':>9}{'':10}"
          f"{'read':>8}")
    rows = []
    for distribution in DISTRIBUTIONS:
        for sigma in SIGMAS:
            # with fewer factors, the same share decides if sigma sqrt(N) is the same
            factors, log_prior = datasets.synthetic_race(
                distribution, sigma * (N_FACTORS / n_factors)**0.5, n_factors, n_states, rng=seed)
            for algorithm, n in ((NORMAL, n_draws), (EBS, n_draws), (LIL, n_lil)):
                for delta in deltas:
                    wrong, shares = measure(algorithm, factors, log_prior, delta, variance, n,
                                            (seed, DELTAS.index(delta)))
                    reference = known.get((algorithm, distribution, sigma, delta), (None, None))
                    rows.append({"distribution": distribution, "sigma": sigma, "delta": delta,
                                 "algorithm": algorithm, "n": n, "wrong": wrong, "shares": shares,
                                 "read": shares.mean(),
                                 "known_error": reference[0], "known_read": reference[1]})
                    print(line(rows[-1]), flush=True)
    return rows


def line(row):
    """Return one row of the table."""
    return (f"{row['distribution']:<11}{row['sigma']:>7g}{row['delta']:>8g}  "
            f"{row['algorithm']:<15}{row['wrong'] / row['n']:>9.5f} "
            f"{bracket(row['known_error'], '.5f'):<10}{row['read']:>8.4f} "
            f"{bracket(row['known_read'], '.4f')}").rstrip()


def reads(rows, algorithm):
    """Return the shares read in each draw by (distribution, sigma, delta)."""
    return {(row["distribution"], row["sigma"], row["delta"]): row["shares"] for row in rows
            if row["algorithm"] == algorithm}


def ratio(shares, others):
    """Return the reads of `shares` over those of `others`, in the draws that both have."""
    n = min(shares.size, others.size)
    return shares[:n].mean() / others[:n].mean()


def draws_of_lil(rows):
    """Return the number of draws of lil'UCB in each cell, in brackets: the others have more."""
    (n,) = {row["n"] for row in rows if row["algorithm"] == LIL}
    return f"(lil'UCB: {n:,} draws a cell)"


def cell(distribution, sigma, delta):
    return f"{distribution}, sigma {sigma:g}, delta {delta:g}"


def claim_reads(figure, rows):
    """Claim that Racing-Normal reads least, and where it does not."""
    normal, ebs, lil = (reads(rows, name) for name in (NORMAL, EBS, LIL))
    least = {key: min(ratio(rival[key], normal[key]) for rival in (ebs, lil)) for key in normal}
    worse = [key for key in normal if least[key] < 0.999]
    elsewhere = [key for key in worse if key[:2] != ("uniform", 1e-5)]
    figure.claim("Racing-Normal reads least except at sigma 1e-5 with uniform rewards",
                 "all other cells", f"{len(normal) - len(worse)} of {len(normal)} cells; not in "
                 + ("; ".join(cell(*key) for key in worse) or "none")
                 + f" {draws_of_lil(rows)}", not elsewhere)
    ratios = [least[key] for key in normal if key[1] == 1e-4]
    figure.claim("and requires much fewer rewards (sigma 1e-4)", "no number",
                 f"{min(ratios):.1f} to {max(ratios):.1f} times fewer {draws_of_lil(rows)}",
                 min(ratios) > 1)


def above_delta(rows):
    """Return the rows whose error is above delta, all rows together at the level 5 % (Bonferroni).

    Rows that cannot be, because the algorithm draws too few times, do not count.
    """
    decidable = [row for row in rows if binom.sf(row["n"] - 1, row["n"], row["delta"]) < 0.05]
    level = 0.05 / max(len(decidable), 1)
    return [row for row in decidable if binomtest(
        row["wrong"], row["n"], row["delta"], alternative="greater").pvalue < level]


def claim_errors(figure, rows):
    """Claim that no race errs more than delta; the cells of a race are tested together."""
    for name in NORMAL, EBS:
        high = above_delta([row for row in rows if row["algorithm"] == name])
        figure.claim(f"The error of {name} never exceeds delta significantly", "no cell",
                     "; ".join(f"{row['wrong'] / row['n']:.4f} at {cell_of(row)}" for row in high)
                     or "no cell", not high)


def cell_of(row):
    return cell(row["distribution"], row["sigma"], row["delta"])


def claim_reference(figure, rows):
    """Claim that errors and shares equal those of an independent implementation."""
    known = [row for row in rows if row["known_read"] is not None]
    if known:
        far = [row for row in known if binomtest(
            row["wrong"], row["n"], max(row["known_error"], 2e-5)).pvalue < 1e-4]
        # In standard errors, to which the last printed digit is added. Shares are skewed, so that
        # few draws may all be small: the deviation is that of the draws, or x (1 - x) of the
        # known share x if that is more. The range of log-normal rewards, and with it the reads
        # of Racing-EBS, is that of the largest of a million, which differs by population.
        apart = [abs(row["read"] - x) / (max(row["shares"].std(ddof=1), x * (1 - x))
                                         / row["n"]**0.5 + 1e-3)
                 for row in known for x in [row["known_read"]]
                 if (row["algorithm"], row["distribution"]) != (EBS, "lognormal")]
        figure.claim("Errors and shares equal those of an independent implementation",
                     "(60,000 draws a cell)", f"{len(known) - len(far)} of {len(known)} errors; "
                     f"shares at most {max(apart):.1f} standard errors apart",
                     not far and max(apart) < 4)


def draw(rows):
    """Plot errors (top) and shares read (bottom) against delta, one column per sigma."""
    figure, axes = new_figure(9.0, 5.0, 2, len(SIGMAS), sharex=True, sharey="row")
    draw_races(axes, rows)
    return figure


def draw_races(axes, rows):
    """Plot the races into axes of shape (2, sigmas)."""
    colours = dict(zip((NORMAL, EBS, LIL), COLOURS, strict=False))
    markers = dict(zip(DISTRIBUTIONS, "xos", strict=True))
    for column, sigma in zip(axes.T, SIGMAS, strict=True):
        for name, colour in colours.items():
            for distribution, marker in markers.items():
                some = [row for row in rows if (row["algorithm"], row["distribution"],
                                                row["sigma"]) == (name, distribution, sigma)]
                style = dict(marker=marker, mfc="none", ms=5, lw=1, color=colour)
                delta = np.array([row["delta"] for row in some])
                column[1].plot(delta, [row["read"] for row in some], **style,
                               label=f"{name}, {distribution}")
                erred = [row for row in some if row["wrong"]]
                if erred:
                    error = np.array([row["wrong"] / row["n"] for row in erred])
                    low, high = np.transpose([wilson_interval(row["wrong"], row["n"])
                                              for row in erred])
                    column[0].errorbar([row["delta"] for row in erred], error,
                                       [error - low, high - error], **style)
        column[0].plot(DELTAS, DELTAS, "k:", lw=1)
        for axis in column:
            axis.set(xscale="log", yscale="log")
        tidy(column[0], rf"$\sigma$ = {sigma:g}")
        tidy(column[1])
        column[1].set_xlabel(r"$\delta$", fontsize=9)
    axes[0, 0].set_ylabel("wrong winners, 95 % (dotted: $\\delta$)", fontsize=9)
    axes[1, 0].set_ylabel("share of the rewards read", fontsize=9)
    axes[1, 1].legend(fontsize=6, frameon=False)


def add(parser):
    parser.add_argument("--lil", type=int, metavar="N",
                        help="draws of lil'UCB in a cell (default: a twentieth of --runs)")


def start(docstring, n_states, variance="pairwise", runs=(10_000, 100), arguments=None,
          small=N_FACTORS):
    """Return the Figure of a script and the rows of its table; `small` is N with --quick."""
    figure = Figure(docstring, runs=runs, add=add, arguments=arguments)
    deltas = (0.01, 0.1) if figure.quick else DELTAS
    rows = run(n_states, variance, figure.runs, figure.options.lil or max(figure.runs // 20, 6),
               deltas, small if figure.quick else N_FACTORS, figure.seed)
    return figure, rows
