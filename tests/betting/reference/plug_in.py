"""Reference implementation of plug-in bets: one bet per process, set before every item.

Values are in units of the range. `Plugged` has one process per arm, which bets on the group of
rivals that promises most; `PluggedPairs` has one per pair. Wealth is stored as its log, which is
infinite if the hypothesis is impossible.
"""

import numpy as np

TWIN_OF = ("betting", "pairs")  # kernels of csrc

SIZES = (1, 2, 4)  # sizes of the groups of rivals
GAIN, SQUARES = 1.0, 5.0  # prior sums of gains and squares, worth twenty items
BELIEF, MEMORY = 20.0, 22.0  # prior weight of scale 1; discounting of the scale
SLACK = 2e-9
RISK = 0.9  # largest share of the wealth at risk


def stake(hoped, square, expected, tilt):
    """Return the bet on a difference, and the mean under the hypothesis, at least SLACK - 1."""
    least = max(1.0 + expected, SLACK)
    return min(hoped / square * tilt, RISK / least), least - 1.0


class Plugged:
    """One process per arm, which bets on the first, first two or first four of the others."""

    def __init__(self, n_arms, difference_range):
        self.range = difference_range
        self.squares = np.full((len(SIZES), n_arms), SQUARES)
        self.log_capital = np.zeros(n_arms)
        self.adjusted = np.zeros(n_arms)  # sums of rewards minus predictions
        self.won = self.promised = BELIEF

    def group(self, arm, others, scores, rewards, more):
        """Return six numbers of the most promising group of rivals.

        They are its lead, its gain on this item, the hoped gain, the square, the gain without
        predictions, and the largest error of predictions. `more` holds `adjusted`, rewards
        without predictions, and the highest minus mean and mean minus lowest prediction.
        """
        best = None
        adjusted, raw, over, under = more
        for place, size in enumerate(SIZES):
            if len(others) < size:
                break
            first = list(others[:size])
            # sum in this order, so that ties of floating-point numbers are those of the kernel
            ahead = (sum(scores[first].tolist()) / size - scores[arm]) / self.range
            beats = (sum(rewards[first].tolist()) / size - rewards[arm]) / self.range
            promised = (sum(adjusted[first].tolist()) / size - adjusted[arm]) / self.range
            beats_raw = (sum(raw[first].tolist()) / size - raw[arm]) / self.range
            off = (sum(over[first].tolist()) / size + under[arm]) / self.range
            hoped, square = max(0.0, GAIN + promised), self.squares[place, arm]
            if best is None or hoped**2 * best[3] > best[2] ** 2 * square:
                best = ahead, beats, hoped, square, beats_raw, off
            self.squares[place, arm] += beats**2
        return best

    def update(self, alive, scores, rewards, t, population, predictions=None):
        """Bet on item t of a population or, if `population` is None, a stream; `alive` is a mask.

        `predictions` has shape (items left, arms), this item first. If given, bets are on the
        reward minus its prediction plus the mean prediction of the items left.
        """
        none, raw = np.zeros(len(scores)), rewards
        more = scores, raw, none, none
        if predictions is not None:
            means = predictions.mean(axis=0)
            rewards = raw - (predictions[0] - means)
            more = (self.adjusted, raw, predictions.max(axis=0) - means,
                    means - predictions.min(axis=0))
        ranked = sorted(np.flatnonzero(alive), key=lambda i: (-more[0][i], i))[:5]
        left, tilt = (np.inf, 1.0) if population is None else (
            population - t + 1, population / (population - t + 1))
        scale = min(max(self.won / self.promised, 0.0), 1.0)
        gains = np.zeros(len(scores))
        for arm in np.flatnonzero(alive):
            others = [i for i in ranked if i != arm]
            ahead, beats, hoped, square, beats_raw, off = self.group(arm, others, scores, rewards,
                                                                     more)
            expected = -ahead / left
            if expected < -1.0 - SLACK:
                self.log_capital[arm] = np.inf
            bet, against = stake(hoped, square, expected, tilt)
            if predictions is not None:
                worst = max(1.0 + expected, SLACK) + off
                if hoped / square * tilt * worst > RISK:  # the limit applies: no prediction
                    beats = beats_raw
                else:
                    bet = hoped / square * tilt
            gains[arm] = bet * (beats - against) if expected < 1.0 else 0.0
        self.adjusted += rewards
        self.log_capital += np.log1p(scale * gains)
        kept = 1.0 - 2.0 / (t - 1 + MEMORY)
        self.won = kept * self.won + gains.sum()
        self.promised = kept * self.promised + (gains**2).sum()

    def log_total(self, alive):
        return self.log_capital

    def drop(self, alive, survivors):
        pass


class PluggedPairs:
    """Processes in an array of shape `shape`, one per pair."""

    def __init__(self, shape):
        self.squares = np.full(shape, SQUARES)
        self.log_capital = np.zeros(shape)

    def update(self, active, beats, expected, ahead, tilt):
        """Bet on differences `beats`; `expected`: their largest means under the hypotheses."""
        self.log_capital[active & (expected < -1.0 - SLACK)] = np.inf
        for at in map(tuple, np.argwhere(active)):
            bet, against = stake(max(0.0, GAIN + ahead[at]), self.squares[at], expected[at], tilt)
            if expected[at] < 1.0:
                self.log_capital[at] += np.log1p(bet * (beats[at] - against))
            self.squares[at] += beats[at] ** 2

    def log_total(self):
        return self.log_capital
