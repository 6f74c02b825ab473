"""`pybandit demo`: exact and racing draws side by side, from posteriors over real data.

The variable is a cell: degrees of freedom and scale of a Student-t law. The
log-likelihood of every observation at every cell is computed when it is asked
for, as a user's own model would.
"""

import time
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import gammaln

from pybandit._shared import datasets
from pybandit._shared.drawing import percent, save
from pybandit._shared.optional import require
from pybandit.cli._demo_figure import demo_figure
from pybandit.racing import ControlVariate, Factors, RacingSampler, exact_sample

# Exact draws timed at least, and seconds they take at least; the median is reported.
EXACT_DRAWS, EXACT_SECONDS = 3, 0.3
# Factors times cells evaluated at a time in full sums: 2 MiB.
BLOCK = 1 << 18
# Multinomial samples behind the error that exact draws themselves would show.
TV_SAMPLES = 1000
# A race without control variates is slower, and makes one draw in so many.
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
        """Degrees of freedom and scale of every cell."""
        return np.repeat(self.dof, self.scale.size), np.tile(self.scale, self.dof.size)


@dataclass(frozen=True)
class Subject:
    """Data and two grids: cells far apart, and cells as close as the posterior is wide.

    `source` is what the observations come from, to be shown beside them: a
    series (n,) or a picture (rows, columns).
    """

    name: str
    unit: str
    source: np.ndarray
    observations: np.ndarray
    coarse: Grid
    fine: Grid


@dataclass(frozen=True)
class Baseline:
    """The exact posterior over a grid, and the seconds that one exact draw takes."""

    probabilities: np.ndarray
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """One line of the table: racing against exact draws.

    Attributes
    ----------
    label : str
    n_draws : int
        By racing.
    fraction : float
        Mean share of the N * D log-likelihoods that a draw evaluated.
    seconds : float
        Wall time of one draw.
    exact : Baseline
    frequencies : ndarray, shape (D,)
        Of the racing draws.
    distance : float
        Total variation between these and the exact probabilities.
    exact_distance : tuple of float
        2.5% and 97.5% quantile of that distance for as many exact draws.
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
    """The two data sets, with round numbers for the cells."""
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
    """The Student-t log-likelihood as `Factors`: one factor an observation, one state a cell."""
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
    """The posterior of `student_factors` from factors that hardly differ between cells.

    Each factor is interpolated by a quadratic in either parameter, from nine anchors:
    Chebyshev's points, which no cell hits, for factors that nothing is left of tell a
    race nothing. A factor less its interpolation is small; the interpolations are
    summed exactly, once.
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
    """Three points across the values, and weights (n, 3) that interpolate from them."""
    middle, half = 0.5 * (values[0] + values[-1]), 0.5 * (values[-1] - values[0])
    points = chebyshev.chebpts1(3)
    at_values = chebyshev.chebvander((values - middle) / half, 2)
    return middle + half * points, at_values @ np.linalg.inv(chebyshev.chebvander(points, 2))


def baseline(factors, rng):
    """Exact probabilities under equal prior ones, and the time of one exact draw."""
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
    """All factor indices, in blocks that suit the processor's cache."""
    rows = max(1, BLOCK // factors.n_states)
    return (np.arange(start, min(start + rows, factors.n_factors))
            for start in range(0, factors.n_factors, rows))


def compare(label, exact, factors, n_draws, rng):
    """Time `n_draws` racing draws and check them against the exact probabilities."""
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
    """Half the sum of absolute differences, over the last axis."""
    return 0.5 * np.abs(frequencies - probabilities).sum(axis=-1)


def run_subject(subject, n_draws, rng):
    """Yield the three lines of the table, as each is done."""
    coarse = student_factors(subject.observations, subject.coarse)
    yield compare("coarse", baseline(coarse, rng), coarse,
                  max(1, n_draws // COARSE_SHARE), rng)
    fine = student_factors(subject.observations, subject.fine)
    exact = baseline(fine, rng)
    yield compare("fine", exact, fine, max(1, n_draws // FINE_SHARE), rng)
    controlled = with_control_variates(subject.observations, subject.fine)
    yield compare("fine, controls", exact, controlled, n_draws, rng)


def run(out=None, n_draws=20_000, seed=1, echo=print):
    """Run the demo: print the tables, and draw the picture where `out` names a file.

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
        echo(f"\npicture: {out}")
    return results


COLUMNS = "{:<15}{:>7}{:>9}{:>9}{:>9}{:>8}{:>8}{:>15}"


def heading(subject):
    """What is drawn, and the names of the columns."""
    rows, columns = subject.fine.shape
    return (f"{subject.name}, N = {subject.observations.size:,}\n"
            f"Student-t, D = {rows} x {columns} cells of degrees of freedom x scale\n\n"
            + COLUMNS.format("", "", "", "exact,", "race,", "", "", "TV of as many")
            + "\n"
            + COLUMNS.format("cells", "draws", "read", "ms/draw", "ms/draw", "faster", "TV",
                             "exact draws"))


def table_line(line):
    """One comparison as a line of the table."""
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
    """How to read the tables, with this run's own numbers."""
    fine = " and ".join(percent(lines[1].fraction) for _, lines in results)
    helped = " and ".join(percent(lines[2].fraction) for _, lines in results)
    preparation = percent(9 / results[0][0].fine.size)
    return f"""\
read      The share of the N x D log-likelihoods that a draw evaluates.
exact     One full pass a draw, as in a Gibbs sweep, where the factors change
          between draws. Here they are fixed: one pass would serve all draws.
TV        Total variation distance of the draws from the exact probabilities,
          and 95 % of the values that as many exact draws would show. A race
          adds about delta = 0.05 where differences are near normal.
coarse    Cells far apart against the width of the posterior. It sits on one
          cell, and most of the others leave the race at the first look.
fine      Cells closer than the posterior is wide. Racing on the
          log-likelihoods themselves reads {fine}; a full pass is
          as good.
controls  From each factor a quadratic in the cell is taken, through the values
          at 9 points; its sum over the factors, computed once, is given
          back. What is left hardly differs between cells, and
          {helped} is read. The sums cost {preparation} of a pass: once
          here, at every draw where the factors change."""
