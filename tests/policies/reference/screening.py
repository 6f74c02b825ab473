"""BatchScreening on plain arrays: posterior means of the arms, and the next batch."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

TWIN_OF = ("normal_means", "screening")  # C sources that it checks

GIVEN, RIDGE, TRUSTED = 8, 10, 5
BELOW, CLOSE = 1.0 + 1e-9, 0.5  # prefer the better of two arms equally far from the boundary
QUARTILES, LOGISTIC = 1.3489795003921634, np.sqrt(3.0) / np.pi


def best_first(arms, values):
    """Return arms sorted by value, largest first, ties by lower index."""
    return arms[np.lexsort((arms, -values))]


def believe(pulls, sums, deviations, prior=None, noise_std=None):
    """Return posterior means and variances of the arms, and the variance of a reward."""
    pulls = np.asarray(pulls, dtype=float)
    n = pulls.size
    prior = np.zeros(n) if prior is None else prior
    seen = np.flatnonzero(pulls > 0)
    if not seen.size:
        return np.zeros(n), np.zeros(n), 1.0
    counts, x = pulls[seen], prior[seen]
    means = np.asarray(sums)[seen] / counts
    slope = ((x - x.mean()) * (means - means.mean())).sum() / (
        ((x - x.mean()) ** 2).sum() + RIDGE)
    centre = means.mean() - slope * x.mean()
    off = means - centre - slope * x
    down = np.sort(off)[::-1]
    wide = (down[seen.size // 4] - down[seen.size - 1 - seen.size // 4]) / QUARTILES
    spread = wide**2 or off.var() or 1.0
    centre += down[seen.size // 2]
    noise, between = spreads(counts, off, np.asarray(deviations)[seen].sum(), noise_std)
    shares = (1.0 / counts).mean()
    noise = min(max(noise, 1e-9 * spread), 0.5 * spread / shares)
    between = max(between, spread - shares * noise)
    variances = 1.0 / (1.0 / between + pulls / noise)
    believed = centre + slope * prior
    believed[seen] += (means - believed[seen]) * counts / noise * variances[seen]
    return believed, variances, noise


def spreads(counts, means, within, noise_std):
    """Return both variances that maximise the marginal likelihood, on a grid of their ratio."""
    n_told = counts.sum()
    if noise_std is not None:
        within, n_told = within + GIVEN * noise_std**2, n_told + GIVEN
    best = -np.inf, 0.0, 0.0
    for power in sorted(np.arange(-48, 49) / 8.0, key=lambda power: (abs(power), power < 0)):
        variances = np.exp(power) + 1.0 / counts
        centre = (means / variances).sum() / (1.0 / variances).sum()
        noise = (((means - centre) ** 2 / variances).sum() + within) / n_told
        if noise == 0.0:
            return 0.0, 0.0
        likelihood = (-0.5 * (n_told * np.log(noise) + np.log(variances).sum())
                      - 0.125 * power**2)
        if likelihood > best[0] + 1e-9:
            best = likelihood, noise, np.exp(power) * noise
    return best[1:]


def levels(most):
    """Return 1, 2, 3, 4, 6, 8, 12, ... up to `most`."""
    numbers = sorted({1} | {2**i for i in range(1, 60)} | {3 * 2**i for i in range(60)})
    return [number for number in numbers if number <= most]


def gain(distance, variance, noise, s):
    moves = LOGISTIC * variance * np.sqrt(s / (variance * s + noise))
    return moves * np.log1p(np.exp(-distance / moves))


def hull(points):
    """Return the corners of the concave hull of points with increasing x, from (0, 0)."""
    corners = [(0.0, 0.0)]
    for x, y in points:
        while len(corners) > 1:
            (x0, y0), (x1, y1) = corners[-2:]
            if (y - y1) / (x - x1) < (y1 - y0) / (x1 - x0):
                break
            corners.pop()
        corners.append((x, y))
    return corners


def plan(distances, variances, noise, numbers, wanted):
    """Return the number of wells per arm, in all at most `wanted`, with the largest gains per well.

    The wells that tie for the largest gain are all included, even if they exceed `wanted`.
    """
    pieces = []
    for arm, (distance, variance) in enumerate(zip(distances, variances, strict=True)):
        corners = hull([(s, gain(distance, variance, noise, s)) for s in numbers])
        pieces += [((y1 - y0) / (x1 - x0), arm, x1 - x0)
                   for (x0, y0), (x1, y1) in zip(corners, corners[1:], strict=False)]
    planned = np.zeros(len(distances), dtype=int)
    # take all pieces of the same slope together
    slopes = sorted({slope for slope, *_ in pieces}, reverse=True)
    for slope in [slope for slope in slopes if slope > 1e-12 * slopes[0]]:
        same = [(arm, wells) for one, arm, wells in pieces if one == slope]
        if 0 < planned.sum() and planned.sum() + sum(wells for _, wells in same) > wanted:
            break
        for arm, wells in same:
            planned[arm] += wells
    return planned


def deal(planned, wells, limits, repeats):
    """Scale a plan to whole wells per arm; exceed `limits` only if needed to fill the batch."""
    parts = planned * (wells / max(1, planned.sum()))
    counts = np.minimum(parts.astype(int), limits)
    order = best_first(np.arange(planned.size), parts - counts)
    for most in limits, np.full(planned.size, repeats):
        while counts.sum() < wells and (counts < most).any():
            for arm in order:
                counts[arm] += counts[arm] < most[arm] and counts.sum() < wells
    return counts


def choose(pulls, sums, deviations, batches_left, *, k, size, repeats, order=None, prior=None,
           noise_std=None):
    """Return the wells of each arm in the next batch."""
    pulls = np.asarray(pulls)
    n = pulls.size
    counts = np.zeros(n, dtype=int)
    unseen = [arm for arm in (range(n) if order is None else order) if pulls[arm] == 0]
    wells = size - len(unseen)
    if wells > 0 and len(unseen) < n:
        means, variances, noise = believe(pulls, sums, deviations, prior, noise_std)
        ranked = np.sort(means)[::-1]
        off = (means - 0.5 * (ranked[k - 1] + ranked[k])) / np.sqrt(variances)
        off = np.where((off > CLOSE) & (pulls < TRUSTED), CLOSE,
                       np.where(off < 0.0, -off * BELOW, off))
        near = min(n, max(size, 4 * min(size, 4096)))
        line = best_first(np.flatnonzero(pulls > 0), -off[pulls > 0])[:near]
        planned = plan((off * np.sqrt(variances))[line], variances[line], noise,
                       levels(repeats * batches_left), size * (batches_left - 1) + wells)
        limits = np.minimum(pulls[line] if batches_left > 1 else repeats, repeats)
        counts[line] = deal(planned, wells, limits * np.ones(line.size, dtype=int), repeats)
    while counts.sum() < size and unseen:
        for arm in unseen:
            counts[arm] += counts[arm] < repeats and counts.sum() < size
    return counts


def scores(prior):
    """Return normal scores of ranks; equal values get their mean rank."""
    return ndtri((rankdata(prior) - 0.5) / prior.size)
