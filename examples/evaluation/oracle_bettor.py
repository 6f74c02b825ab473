"""How many more scores does a race read than an oracle, and which bets need fewer?

    python examples/evaluation/oracle_bettor.py [--tables NPZ] [--orders N] [--quick]

The reference is an oracle: it knows the best model b and, for each other model a, plays the
constant bet that maximises the mean of log(1 + bet (S_b - S_a)) over all items, where S_a is the
score of model a. T_a is the number of items after which the wealth reaches 1 / delta, or N if it
never does. The oracle reads T_a scores of each model a, and max T_a scores of b.

Races do not have this knowledge. For each surviving model b they bet on a rival against "b is
best", as `BettingRace` does, and eliminate b when the wealth reaches 1 / delta. All are valid,
because rival and bet are chosen before the item is read. They differ in bets and rivals:

- 16 bets: the mean of 16 constant bets, .004 to 2, on the leader
- 8 bets, 5 bets: the same with fewer bets, starting at .06 and .16
- plug-in: one bet, (20 m + D - c sqrt(Q + 5)) / (Q + 5), at least 0. D and Q are the sums so far
  of the differences of leader and b, and of their squares; m = .05 or .1. c = 0, .5 or 1 standard
  error corrects for a leader that is ahead by chance.
- own: as plug-in, but Q sums the squares of the differences that were bet on; no memory per pair
- top 3: bets on the one of the best three that has the clearest lead over b, by D / sqrt(Q + 5)
- half: half of the wealth is bet as in plug-in, half on five constant bets
- groups: bets on the mean of the best, the best two or the best four models, whichever has the
  clearest lead; each group has its own Q
- learned: bets scaled by the ratio of actual to expected winnings over all models, both sums
  discounted by 1 - 2 / (t + 22) per item; with groups and c = 0 this is `best_of`
- hierarchical: leads are multiplied by 1 minus half the share of noise in the variance of the
  models' sums

NPZ: arrays of scores in [0, 1] by name, of shape (items, models); without it, simulated tables.
"""

import time
from typing import NamedTuple

import numpy as np
from score_tables import parser, tables_of

RISK = 0.9  # maximum fraction of the wealth at stake, as in the C code
PRIOR, SQUARE = 20.0, 0.25  # prior: number of items, and their mean square


class Bettor(NamedTuple):
    """Constant `bets`; `m` (None: no plug-in) and `c` of the plug-in; number of `rivals`."""

    bets: tuple = ()
    m: float | None = None
    c: float = 0.0
    own: bool = False
    rivals: int = 1
    groups: tuple = ()
    learned: bool = False
    shrunk: float = 0.0


def constant(n, low):
    return tuple(np.geomspace(low, 2.0, n))


BETTORS = {
    "16 bets": Bettor(constant(16, 0.004)),
    "8 bets": Bettor(constant(8, 0.06)),
    "5 bets": Bettor(constant(5, 0.16)),
    "plug-in, m .1": Bettor(m=0.1),
    "plug-in, m .05": Bettor(m=0.05),
    "plug-in, m .05, c .5": Bettor(m=0.05, c=0.5),
    "plug-in, m .05, c 1": Bettor(m=0.05, c=1.0),
    "own, m .05, c .5": Bettor(m=0.05, c=0.5, own=True),
    "top 3, m .05, c .5": Bettor(m=0.05, c=0.5, rivals=3),
    "top 6, m .05, c .5": Bettor(m=0.05, c=0.5, rivals=6),
    "top 3, m .1, c 0": Bettor(m=0.1, rivals=3),
    "half, m .1": Bettor(constant(5, 0.16), m=0.1),
    "groups, c .5": Bettor(m=0.05, c=0.5, groups=(1, 2, 4)),
    "groups, c 0, hierarchical": Bettor(m=0.05, groups=(1, 2, 4), shrunk=0.5),
    "learned, c 0": Bettor(m=0.05, groups=(1,), learned=True),
    "learned, groups of 1, 2": Bettor(m=0.05, groups=(1, 2), learned=True),
    "learned, groups of 1, 2, 4": Bettor(m=0.05, groups=(1, 2, 4), learned=True),
    "learned, groups, c .25": Bettor(m=0.05, c=0.25, groups=(1, 2, 4), learned=True),
}


def oracle(scores, delta):
    """Return the share of the cells that the oracle reads, with items in the order of the rows."""
    reads = oracle_reads(scores, delta)
    return (reads.sum() + reads.max()) / scores.size


def oracle_reads(scores, delta):
    """Return the number of items that the oracle reads of each model except the best."""
    n_items, n_models = scores.shape
    best = int(scores.mean(axis=0).argmax())
    gain = np.delete(scores[:, [best]] - scores, best, axis=1)
    low, high = np.zeros(n_models - 1), np.full(n_models - 1, 0.99)
    for _ in range(30):
        middle = (low + high) / 2
        grows = (gain / (1 + middle * gain)).mean(axis=0) > 0
        low, high = np.where(grows, middle, low), np.where(grows, high, middle)
    before = np.cumsum(gain, axis=0) - gain
    left = n_items - np.arange(n_items)[:, None]
    null = (1 - before / left) / 2
    bet = np.minimum(2 * low, 0.9999 / np.maximum(null, 1e-9))
    step = np.log1p(bet * np.where(null < 1, (gain + 1) / 2 - np.maximum(null, 1e-9), 0.0))
    won = (np.cumsum(step, axis=0) >= np.log(1 / delta)) | (null < -1e-9)
    return np.where(won.any(axis=0), won.argmax(axis=0) + 1, n_items)


class Race:
    """One race on scores in [0, 1]: all surviving models, item by item."""

    def __init__(self, scores, bettor, delta):
        n_models = scores.shape[1]
        self.scores, self.bettor, self.limit = scores, bettor, np.log(1 / delta)
        self.sums, self.alive = np.zeros(n_models), np.arange(n_models)
        self.squares = np.zeros((n_models, n_models)
                                if bettor.m is not None and not bettor.groups else 0)
        self.own = np.zeros(n_models)
        self.of_groups = np.full((len(bettor.groups), n_models), PRIOR * SQUARE)
        self.won = self.promised = 20.0
        n_bets = len(bettor.bets) + (bettor.m is not None)
        # if there are both, half is for the plug-in
        share = [1 / len(bettor.bets)] * len(bettor.bets) if bettor.bets else []
        if bettor.m is not None:
            share = [each / 2 for each in share] + [0.5 if share else 1.0]
        self.capital = np.tile(np.log(share)[:, None], (1, n_models))
        assert n_bets == len(share)

    def rivals(self):
        """Return the rival of each surviving model, chosen by earlier items."""
        alive, sums = self.alive, self.sums[self.alive]
        first = np.argsort(-sums, kind="stable")[:max(2, self.bettor.rivals + 1)]
        if self.bettor.rivals == 1:
            rivals = np.full(alive.size, first[0])
            rivals[first[0]] = first[1]
            return alive[rivals]
        first = alive[first[:self.bettor.rivals]]
        clear = self.sums[first][:, None] - self.sums[alive]
        clear = clear / np.sqrt(self.squares[np.ix_(first, alive)] + PRIOR * SQUARE)
        clear[first[:, None] == alive] = -np.inf
        return first[clear.argmax(axis=0)]

    def plug_in(self, ahead, rivals):
        """Return the bet against each model, on the scale of the mean of a difference."""
        squares = self.own[self.alive] if self.bettor.own else self.squares[rivals, self.alive]
        squares = squares + PRIOR * SQUARE
        found = PRIOR * self.bettor.m + ahead - self.bettor.c * np.sqrt(squares)
        return 2 * np.maximum(0.0, found) / squares

    def group_bets(self, row):
        """Return, for the most promising group per model: lead, present difference, and bet."""
        alive, best = self.alive, None
        ranked = alive[np.argsort(-self.sums[alive], kind="stable")]
        for group, size in enumerate(self.bettor.groups):
            if size > alive.size - 1:
                break
            # the best of the other models: a group never contains the model itself
            first = np.array([[j for j in ranked[:size + 1] if j != b][:size] for b in alive])
            ahead = self.sums[first].mean(axis=1) - self.sums[alive]
            wins = row[first].mean(axis=1) - row[alive]
            squares = self.of_groups[group, alive]
            hoped = PRIOR * self.bettor.m + self.shrink() * ahead
            hoped = np.maximum(0.0, hoped - self.bettor.c * np.sqrt(squares))
            found = np.array([ahead, wins, 2 * hoped / squares, hoped**2 / squares])
            best = found if best is None else np.where(found[3] > best[3], found, best)
            self.of_groups[group, alive] += wins**2
        return best[:3]

    def shrink(self):
        spread = self.sums[self.alive].var(ddof=1)
        noise = (self.of_groups[0, self.alive] - PRIOR * SQUARE).mean() / 2
        return max(0.0, 1.0 - self.bettor.shrunk * noise / (spread + 1e-9))

    def read_groups(self, item, left):
        """Do the same as `read`, with groups of rivals."""
        row, alive = self.scores[item], self.alive
        ahead, wins, bets = self.group_bets(row)
        null = (1 - ahead / left) / 2
        bets = np.minimum(bets * len(self.scores) / left, RISK / np.maximum(null, 1e-9))
        gain = bets * np.where(null < 1, (1 + wins) / 2 - np.maximum(null, 1e-9), 0.0)
        scale = min(max(self.won / self.promised, 0.0), 1.0) if self.bettor.learned else 1.0
        self.capital[0, alive] += np.log1p(scale * gain)
        kept = 1 - 2 / (len(self.scores) - left + 22)
        self.won = kept * self.won + gain.sum()
        self.promised = kept * self.promised + (gain**2).sum()
        self.drop(row, (self.capital[0, alive] >= self.limit) | (null < -1e-9))

    def read(self, item, left):
        """Bet on one item, with `left` items left including it; eliminate models that lost."""
        if self.bettor.groups:
            self.read_groups(item, left)
            return
        row, alive, rivals = self.scores[item], self.alive, self.rivals()
        ahead = self.sums[rivals] - self.sums[alive]
        null = (1 - ahead / left) / 2
        gain = (1 + row[rivals] - row[alive]) / 2 - np.maximum(null, 1e-9)
        bets = np.tile(np.array(self.bettor.bets)[:, None], (1, alive.size))
        if self.bettor.m is not None:
            bets = np.vstack([bets, self.plug_in(ahead, rivals)])
        bets = np.minimum(bets * len(self.scores) / left, RISK / np.maximum(null, 1e-9))
        self.capital[:, alive] += np.log1p(bets * np.where(null < 1, gain, 0.0))
        lost = (np.logaddexp.reduce(self.capital[:, alive]) >= self.limit) | (null < -1e-9)
        self.own[alive] += (row[rivals] - row[alive]) ** 2
        if self.squares.size:
            self.squares[np.ix_(alive, alive)] += np.subtract.outer(row[alive], row[alive]) ** 2
        self.drop(row, lost)

    def drop(self, row, lost):
        alive = self.alive
        if lost.all():
            lost[self.sums[alive].argmax()] = False
        self.sums[alive] += row[alive]
        self.alive = alive[~lost]

    def run(self):
        """Return the share of the cells read, and the winner."""
        n_items, cells = len(self.scores), 0
        for item in range(n_items):
            if self.alive.size == 1:
                break
            cells += self.alive.size
            self.read(item, n_items - item)
        return cells / self.scores.size, int(self.alive[self.sums[self.alive].argmax()])


def measure(tables, n_orders, delta, seed):
    """Return shares (oracle and bettors, tables), and the errors of the bettors."""
    shares, errors = np.zeros((1 + len(BETTORS), len(tables))), np.zeros(len(BETTORS), dtype=int)
    for column, scores in enumerate(tables.values()):
        for order in range(n_orders):
            rng = np.random.default_rng((seed, order))
            table = scores[rng.permutation(len(scores))][:, rng.permutation(scores.shape[1])]
            means = table.mean(axis=0)
            shares[0, column] += oracle(table, delta) / n_orders
            for row, bettor in enumerate(BETTORS.values()):
                share, winner = Race(table, bettor, delta).run()
                shares[1 + row, column] += share / n_orders
                errors[row] += means[winner] < means.max() - 1e-12
    return shares, errors


def main(argv=None):
    options = parser("Races by betting, compared with an oracle.", orders=6,
                     quick="one small table, 1 order")
    options.add_argument("--delta", type=float, default=0.05)
    arguments = options.parse_args(argv)
    start = time.perf_counter()
    tables = tables_of(arguments, n_items=150, n_models=8)
    n_orders = 1 if arguments.quick else arguments.orders
    shares, errors = measure(tables, n_orders, arguments.delta, arguments.seed)
    print(f"{'share of the cells':<28}" + "".join(f"{name:>13}" for name in tables)
          + f"{'mean':>9}{'/ oracle':>10}{'errors':>8}")
    for name, row, wrong in zip(["oracle", *BETTORS], shares, [0, *errors], strict=True):
        print(f"{name:<28}" + "".join(f"{share:>13.3f}" for share in row)
              + f"{row.mean():>9.4f}{row.mean() / shares[0].mean():>10.3f}{wrong:>8}")
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
