"""The movies of Lalitha et al. 2023, Sec. 5.2: a completed matrix of ratings, and arms from it.

The paper completes the ratings of MovieLens 1M, 6,040 users and 3,952 movies, by a
factorisation of rank 5 with alternating least squares. A pull of a movie is its entry for
a random user: a number between stars. The paper gives neither a regularisation nor the
place of its means in [0, 1] on the scale of stars, nor does it say whether a movie may be
used twice. Here the ridge is RIDGE per rating, a mean of 0 is three stars, and a movie is
used once in a run. Entries are rounded to a hundredth of a star, so that the arms of a
run fit in little memory.
"""

import functools

import numpy as np
from setting import (
    BUDGETS,
    POLICIES,
    RANK,
    RIDGE,
    ROUNDS,
    SETTINGS,
    SHAPE,
    SHAPE_QUICK,
    arms,
    closest,
    counted,
    draw,
    errors_of,
    measure,
    names_for,
    once_a_run,
    print_row,
)

import pybandit as pb

FORMAT = ("ratings as in u.data of MovieLens 100k: user, item, rating, timestamp in a line, "
          "separated by tabs (or by :: as in MovieLens 1M)")
VALUES = np.arange(-400, 401) / 100  # stars less three
BLOCK = 250  # runs whose arms are held at once


def read(path):
    """Return indices of users and movies, from 0 without gaps, and the ratings."""
    text = path.read_text(encoding="latin-1").replace("::", "\t")
    table = np.loadtxt(text.splitlines(), delimiter="\t", usecols=(0, 1, 2), ndmin=2)
    users, movies = (np.unique(column, return_inverse=True)[1] for column in table.T[:2])
    return users, movies, table[:, 2]


def invent(shape, rng):
    """Return synthetic ratings of this shape: few movies have many, and tastes differ."""
    n_users, n_movies = shape
    n_ratings = 42 * n_users * n_movies // 1000  # 4.2 % of the entries, as in MovieLens 1M
    chosen = rng.choice(n_movies, 2 * n_ratings, p=rng.dirichlet(np.full(n_movies, 0.4)))
    pairs = np.unique(rng.integers(n_users, size=chosen.size) * n_movies + chosen)
    users, movies = np.divmod(rng.permutation(pairs)[:n_ratings], n_movies)
    tastes, traits = rng.normal(size=(n_users, 4)), rng.normal(size=(n_movies, 4))
    traits *= rng.gamma(2.0, 0.125, n_movies)[:, None]
    scores = (3.5 + rng.normal(0, 0.3, n_users)[users] + rng.normal(0, 0.6, n_movies)[movies]
              + (traits[movies] * tastes[users]).sum(axis=1) + rng.normal(0, 0.7, users.size))
    movies = np.unique(movies, return_inverse=True)[1]  # drop movies without ratings
    return users, movies, np.clip(np.rint(scores), 1, 5)


def solve(rows, columns, ratings, factors, n_rows):
    """Return the ridge regression of each row's ratings on the factors of its columns."""
    order = np.argsort(rows, kind="stable")
    rows, known, ratings = rows[order], factors[columns[order]], ratings[order]
    present, starts = np.unique(rows, return_index=True)
    gram = np.add.reduceat(known[:, :, None] * known[:, None, :], starts)
    gram += RIDGE * np.diff([*starts, rows.size])[:, None, None] * np.eye(factors.shape[1])
    right = np.add.reduceat(known * ratings[:, None], starts)
    result = np.zeros((n_rows, factors.shape[1]))
    result[present] = np.linalg.solve(gram, right[:, :, None])[:, :, 0]
    return result


def complete(users, movies, ratings, rank=RANK, rounds=ROUNDS, seed=1):
    """Return all entries, users times movies, by alternating least squares."""
    n_users, n_movies = users.max() + 1, movies.max() + 1
    traits = np.random.default_rng(seed).normal(size=(n_movies, rank))
    traits[:, 0] = ratings.mean()
    for _ in range(rounds):
        tastes = solve(users, movies, ratings, traits, n_users)
        traits = solve(movies, users, ratings, tastes, n_movies)
    return tastes @ traits.T


class Movies:
    """The movies of a completed matrix: means and variances over users, and histograms."""

    def __init__(self, matrix):
        self.means, self.variances = matrix.mean(axis=0) - 3.0, matrix.var(axis=0)
        cells = np.clip(np.rint(100 * (matrix - 3.0)), -400, 400).astype(np.int32) + 400
        self.counts = np.stack([np.bincount(column, minlength=VALUES.size).astype(np.uint16)
                                for column in cells.T])

    def closest(self, means, variances):
        """Return for each arm the closest movie that no earlier arm took."""
        return closest(self.means, self.variances, means, variances)

    def draw(self, n_arms, setting, rng):
        """Return the arms of a run as an environment."""
        means, noise_std = arms(n_arms, setting, rng)
        counts = self.counts[self.closest(means, noise_std**2)]
        used = counts.any(axis=0)
        return pb.environments.EmpiricalBandit(values=VALUES[used], counts=counts[:, used])


def load(figure):
    """Return the `Movies` of the user's ratings or of synthetic ones."""
    if figure.data is None:
        print("No --data: the ratings are synthetic.")
        users, movies, ratings = invent(SHAPE_QUICK if figure.quick else SHAPE,
                                        np.random.default_rng(5))
    else:
        users, movies, ratings = read(figure.data)
    matrix = complete(users, movies, ratings)
    error = np.sqrt(np.mean((matrix[users, movies] - ratings) ** 2))
    print(f"{ratings.size:,} ratings by {matrix.shape[0]:,} users of {matrix.shape[1]:,} movies; "
          f"completed with an error of {error:.2f} stars")
    return Movies(matrix)


def run_blocks(title, movies, n_arms, setting, budgets, n_runs, seed, names):
    """Print and return the errors of policies, `BLOCK` runs at a time."""
    print(f"\n{title}, {n_runs:,} runs")
    print(f"{'n':>25}   " + "".join(f"{n:<14,}" for n in budgets))
    wrong = np.zeros((len(names), len(budgets)))
    for start in range(0, n_runs, BLOCK):
        environment = once_a_run(functools.partial(movies.draw, n_arms, setting))
        size = min(BLOCK, n_runs - start)
        for i, name in enumerate(names):
            for j, n in enumerate(budgets):
                error, _ = measure(POLICIES[name], environment, n, size, seed + 10**6 * start)
                wrong[i, j] += error * size
    rows = []
    for name, errors in zip(names, wrong / n_runs, strict=True):
        rows.append({"label": name, "x": list(budgets), "y": errors.tolist(),
                     "half": (1.96 * np.sqrt(errors * (1 - errors) / n_runs)).tolist(),
                     "reference": [None] * len(budgets)})
        print_row(rows[-1])
    return rows


def compare(figure, n_arms, vbr_recovers):
    """Run the figure with this number of movies; compare its statements and end it."""
    movies, panels = load(figure), {}
    budgets = (1000, 5000) if figure.quick else BUDGETS
    for setting in SETTINGS:
        place = f"Setting {setting}"
        rows = run_blocks(f"{place}, K = {n_arms}", movies, n_arms, setting, budgets,
                          figure.runs, figure.seed, names_for(figure))
        panels[f"setting {setting}, K = {n_arms}"] = rows
        errors = errors_of(rows)
        uniform, vbr, shvar, adaptive = (errors[name] for name in (
            "Uniform", "VBR", "SHVar", "SHAdaVar"))
        gape, gapev = errors["GapE"], errors["GapEV"]
        rivals = np.array([uniform, errors["SequentialHalving"], gape, gapev, vbr])
        best = np.maximum(shvar, adaptive) <= rivals.min(axis=0)
        either = np.minimum(shvar, adaptive) <= rivals.min(axis=0)
        figure.claim(f"{place}: SHVar and SHAdaVar perform the best for most budgets", "most",
                     f"both at {counted(best)}, one of them at {counted(either)}",
                     best.mean() > 0.5)
        worst = (uniform >= np.vstack([rivals[1:], shvar, adaptive])).all(axis=0)
        figure.claim(f"{place}: Uniform is the worst", "the worst", f"at {counted(worst)}",
                     worst.all())
        figure.claim(f"{place}: GapE and GapEV improve upon Uniform", "improve",
                     f"GapE at {counted(gape < uniform)}, GapEV at {counted(gapev < uniform)}",
                     (gape < uniform).all() and (gapev < uniform).all())
        ratio = vbr / np.minimum(shvar, adaptive)
        here = ", ".join(f"{x:.1f}" for x in ratio) + " times the better of SHVar and SHAdaVar"
        if vbr_recovers:
            figure.claim(f"{place}: VBR is poor at small budgets, on par with SHVar and SHAdaVar "
                         "at large", "poor, then on par", here, ratio[0] > 1.2 > ratio[-1])
        else:
            figure.claim(f"{place}: VBR performs poorly for all budgets", "all budgets", here,
                         (ratio > 1.2).all())
    figure.end(lambda: draw(panels, "n"))
