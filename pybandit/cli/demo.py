"""`pybandit demo`, which compares exact and racing draws from posteriors of real data.

The variable is a cell: a pair of degrees of freedom and scale of a Student-t distribution.
The log-likelihood of an observation at a cell is computed on request, as in a user's own model.
"""

import time
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from pybandit._shared import datasets
from pybandit._shared.drawing import percent, save
from pybandit._shared.optional import require
from pybandit.cli._demo_figure import demo_figure
from pybandit.racing import ControlVariate, Factors, RacingSampler, exact_sample

# Minimum number of exact draws that are timed, and their minimum total time in seconds; the
# median time is reported.
EXACT_DRAWS, EXACT_SECONDS = 3, 0.3
# Number of factors times cells that full sums evaluate at a time: 2 MiB.
BLOCK = 1 << 18
# Number of multinomial samples from which the error of exact draws is estimated.
TV_SAMPLES = 1000
# Races without control variates are slower: they make 1 / COARSE_SHARE and 1 / FINE_SHARE of the
# draws.
COARSE_SHARE, FINE_SHARE = 20, 1000


@dataclass(frozen=True)
class Grid:
    """Cells of two parameters, numbered row by row: degrees of freedom, then scale."""

    dof: np.ndarray
    scale: np.ndarray

    @property
    def shape(self):
        return self.dof.size, self.scale.size

    @property
    def size(self):
        return self.dof.size * self.scale.size

    def cells(self):
        """Return the degrees of freedom and the scale of every cell."""
        return np.repeat(self.dof, self.scale.size), np.tile(self.scale, self.dof.size)


@dataclass(frozen=True)
class Subject:
    """Data and two grids: a coarse one, and one with cells closer than the posterior is wide.

    `source` is the origin of the observations, for the figure: a series of shape (n,) or an
    image of shape (rows, columns).
    """

    name: str
    unit: str
    source: np.ndarray
    observations: np.ndarray
    coarse: Grid
    fine: Grid


@dataclass(frozen=True)
class Baseline:
    """The exact posterior over a grid, and the time of one exact draw in seconds."""

    probabilities: np.ndarray
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """One line of the table: racing against exact draws.

    Attributes
    ----------
    label : str
    n_draws : int
        Number of racing draws.
    fraction : float
        Mean fraction of the N * D log-likelihoods evaluated per draw.
    seconds : float
        Wall time of one draw.
    exact : Baseline
    frequencies : ndarray, shape (D,)
        Frequencies of the cells in the racing draws.
    distance : float
        Total variation distance between `frequencies` and the exact probabilities.
    exact_distance : tuple of float
        2.5 % and 97.5 % quantiles of that distance for `n_draws` exact draws.
    """

    label: str
    n_draws: int
    fraction: float
    seconds: float
    exact: Baseline
    frequencies: np.ndarray
    distance: float
    exact_distance: tuple


def subjects():
    """Return the two data sets, with grids of round numbers."""
    returns, gradients = datasets.sp500_returns(), datasets.flower_gradients()
    steps = np.arange(-4, 5)
    return (
        Subject("S&P 500: daily returns", "%", returns, returns,
                Grid(3.0 * 2.0**steps, 0.7 * 2.0**steps),
                Grid(2.75 + 0.1 * steps, 0.72 + 0.01 * steps)),
        Subject("Photograph of a flower: brightness gradient of each pixel", "grey levels",
                datasets.flower_brightness(), gradients,
                Grid(0.9 * 1.2**steps, 0.6 * 1.2**steps),
                Grid(0.928 + 0.002 * steps, 0.592 + 0.0015 * steps)),
    )


def student_factors(observations, grid):
    """Return the Student-t log-likelihood: one factor per observation, one state per cell."""
    from scipy.special import gammaln  # here, because all commands import this module

    squares = np.square(observations)
    dof, scale = grid.cells()
    rate = 1.0 / (dof * scale**2)
    power = -0.5 * (dof + 1.0)
    peak = (gammaln(0.5 * (dof + 1.0)) - gammaln(0.5 * dof)
            - 0.5 * np.log(dof * np.pi) - np.log(scale))

    def log_likelihood(indices, cells):
        out = np.multiply.outer(squares[indices], rate[cells])
        np.log1p(out, out=out)
        out *= power[cells]
        out += peak[cells]
        return out

    return Factors(log_likelihood, observations.size, grid.size)


def with_control_variates(observations, grid):
    """Return `student_factors` with a control variate: the same posterior, but faster races.

    Each factor is interpolated by a quadratic in each parameter, from nine anchors. These
    are Chebyshev points, which are not cells of the grid: at an anchor the difference would
    be exactly 0, and give a race no information. The difference between a factor and its
    interpolation hardly varies between cells; the interpolations are summed exactly, once.
    """
    factors = student_factors(observations, grid)
    dof, dof_weights = _chebyshev(grid.dof)
    scale, scale_weights = _chebyshev(grid.scale)
    weights = np.kron(dof_weights, scale_weights)
    anchors = student_factors(observations, Grid(dof, scale))
    all_anchors = np.arange(anchors.n_states)
    at_anchors = np.concatenate([anchors.function(rows, all_anchors)
                                 for rows in _blocks(anchors)])

    def interpolated(indices, cells):
        return at_anchors[indices] @ weights[cells].T

    control = ControlVariate(interpolated, weights @ at_anchors.sum(axis=0))
    return Factors(factors.function, factors.n_factors, factors.n_states, control=control)


def _chebyshev(values):
    """Return three points across the values, and the (n, 3) weights of interpolation."""
    middle, half = 0.5 * (values[0] + values[-1]), 0.5 * (values[-1] - values[0])
    points = chebyshev.chebpts1(3)
    at_values = chebyshev.chebvander((values - middle) / half, 2)
    return middle + half * points, at_values @ np.linalg.inv(chebyshev.chebvander(points, 2))


def baseline(factors, rng):
    """Return exact probabilities under a uniform prior, and the time of one exact draw."""
    cells = np.arange(factors.n_states)
    totals = sum(factors.function(rows, cells).sum(axis=0) for rows in _blocks(factors))
    weights = np.exp(totals - totals.max())
    seconds = []
    while len(seconds) < EXACT_DRAWS or sum(seconds) < EXACT_SECONDS:
        start = time.perf_counter()
        exact_sample(factors, rng=rng)
        seconds.append(time.perf_counter() - start)
    return Baseline(weights / weights.sum(), float(np.median(seconds)))


def _blocks(factors):
    """Return all factor indices, in blocks that fit the processor's cache."""
    rows = max(1, BLOCK // factors.n_states)
    return (np.arange(start, min(start + rows, factors.n_factors))
            for start in range(0, factors.n_factors, rows))


def compare(label, exact, factors, n_draws, rng):
    """Time `n_draws` racing draws and compare them with the exact probabilities."""
    sampler = RacingSampler(factors, rng=rng)
    start = time.perf_counter()
    states, info = sampler.draw(n_draws)
    seconds = (time.perf_counter() - start) / n_draws
    frequencies = np.bincount(states, minlength=factors.n_states) / n_draws
    distance = total_variation(frequencies, exact.probabilities)
    of_exact_draws = total_variation(
        rng.multinomial(n_draws, exact.probabilities, TV_SAMPLES) / n_draws, exact.probabilities)
    return Comparison(label, n_draws, info.fraction, seconds, exact, frequencies, float(distance),
                      tuple(np.quantile(of_exact_draws, [0.025, 0.975])))


def total_variation(frequencies, probabilities):
    """Return half the sum of absolute differences over the last axis."""
    return 0.5 * np.abs(frequencies - probabilities).sum(axis=-1)


def run_subject(subject, n_draws, rng):
    """Yield the three lines of the table, each when it is computed."""
    coarse = student_factors(subject.observations, subject.coarse)
    yield compare("coarse", baseline(coarse, rng), coarse,
                  max(1, n_draws // COARSE_SHARE), rng)
    fine = student_factors(subject.observations, subject.fine)
    exact = baseline(fine, rng)
    yield compare("fine", exact, fine, max(1, n_draws // FINE_SHARE), rng)
    controlled = with_control_variates(subject.observations, subject.fine)
    yield compare("fine, controls", exact, controlled, n_draws, rng)


def run(out=None, n_draws=20_000, seed=1, echo=print):
    """Print the tables of the demo, and save the figure if `out` names a file.

    Returns
    -------
    list of (Subject, list of Comparison)
    """
    if out is not None:
        require("matplotlib", "demo")
    rng = np.random.default_rng(seed)
    results = []
    for subject in subjects():
        echo(heading(subject))
        lines = []
        for line in run_subject(subject, n_draws, rng):
            echo(table_line(line))
            lines.append(line)
        results.append((subject, lines))
        echo("")
    echo(explanation(results))
    if out is not None:
        save(demo_figure(results), out)
        echo(f"\nfigure: {out}")
    return results


COLUMNS = "{:<15}{:>7}{:>9}{:>9}{:>9}{:>8}{:>8}{:>15}"


def heading(subject):
    """Return a description of the subject, and the names of the columns."""
    rows, columns = subject.fine.shape
    return (f"{subject.name}, N = {subject.observations.size:,}\n"
            f"Student-t, D = {rows} x {columns} cells of degrees of freedom x scale\n\n"
            + COLUMNS.format("", "", "", "exact,", "race,", "", "", "TV of as many")
            + "\n"
            + COLUMNS.format("cells", "draws", "read", "ms/draw", "ms/draw", "faster", "TV",
                             "exact draws"))


def table_line(line):
    """Return a comparison as a line of the table."""
    low, high = line.exact_distance
    return COLUMNS.format(
        line.label, f"{line.n_draws:,}", percent(line.fraction), milliseconds(line.exact.seconds),
        milliseconds(line.seconds), speed_up(line), f"{line.distance:.3f}",
        f"{low:.3f}-{high:.3f}")


def milliseconds(seconds):
    return f"{1e3 * seconds:.0f}" if seconds >= 0.1 else f"{1e3 * seconds:.2f}"


def speed_up(line):
    ratio = line.exact.seconds / line.seconds
    return f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def explanation(results):
    """Return an explanation of the tables, with numbers of this run."""
    fine = " and ".join(percent(lines[1].fraction) for _, lines in results)
    helped = " and ".join(percent(lines[2].fraction) for _, lines in results)
    preparation = percent(9 / results[0][0].fine.size)
    return f"""\
read      Fraction of the N x D log-likelihoods that a draw evaluates.
exact     One full pass per draw, as in a Gibbs sweep, in which the factors
          change between draws. Here they are fixed: one pass would serve all.
TV        Total variation distance between draws and exact probabilities, and
          the range of 95 % of its values for as many exact draws. A race
          adds about delta = 0.05 if differences are nearly normal.
coarse    Cells far apart relative to the width of the posterior. One cell has
          nearly all probability, and most others are eliminated at once.
fine      Cells closer than the posterior is wide. Racing on the
          log-likelihoods themselves reads {fine}; a full pass is
          as good.
controls  A quadratic in the cell, through the values at 9 points, is
          subtracted from each factor; its sum over the factors is added
          back exactly. The differences hardly vary between cells, and
          {helped} is read. The sums cost {preparation} of a pass: once
          here, and at every draw if the factors change."""
