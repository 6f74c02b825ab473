"""Plug-in bets, as plainly as they can be written: one bet a process, set before every item.

In units of the range. `Plugged` bets for each arm on the group of rivals that promises
most; `PluggedPairs` for each pair. Capital is kept in logs, infinite where what is bet
against is impossible.
"""

import numpy as np

TWIN_OF = ("betting", "pairs")  # kernels of csrc

SIZES = (1, 2, 4)  # of groups
GAIN, SQUARES = 1.0, 5.0  # of twenty items before the first
BELIEF, MEMORY = 20.0, 22.0  # in the scale of bets; of it
SLACK = 2e-9
RISK = 0.9  # of its capital at most


def stake(hoped, square, expected, tilt):
    """The bet on a difference, and what it is measured against; no bet from a mean of 1 on."""
    least = max(1.0 + expected, SLACK)
    return min(hoped / square * tilt, RISK / least), least - 1.0


class Plugged:
    """For each arm one process, against the first, first two or first four of the others."""

    def __init__(self, n_arms, difference_range):
        self.range = difference_range
        self.squares = np.full((len(SIZES), n_arms), SQUARES)
        self.log_capital = np.zeros(n_arms)
        self.adjusted = np.zeros(n_arms)  # sums of rewards beyond their predictions
        self.won = self.promised = BELIEF

    def group(self, arm, others, scores, rewards, more):
        """How far the most promising group is ahead, what it gains now, its hope and square.

        Then what it gains without predictions, and how much they may be off. `more` are
        `adjusted`, rewards without predictions, and how far these are below their highest
        and above their lowest.
        """
        best = None
        adjusted, raw, over, under = more
        for place, size in enumerate(SIZES):
            if len(others) < size:
                break
            first = list(others[:size])
            # in this order, for ties of floating-point numbers
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
        """Item t, of a population or without end, for the arms of a mask.

        `predictions` (items left, arms), the first of them that of this item: bets are on
        rewards less their prediction plus the mean prediction of what is left.
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
                if hoped / square * tilt * worst > RISK:  # no prediction where that binds
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
    """Processes of this shape, each for one pair."""

    def __init__(self, shape):
        self.squares = np.full(shape, SQUARES)
        self.log_capital = np.zeros(shape)

    def update(self, active, beats, expected, ahead, tilt):
        """Differences, the largest means, and what the arms are ahead, in units of the range."""
        self.log_capital[active & (expected < -1.0 - SLACK)] = np.inf
        for at in map(tuple, np.argwhere(active)):
            bet, against = stake(max(0.0, GAIN + ahead[at]), self.squares[at], expected[at], tilt)
            if expected[at] < 1.0:
                self.log_capital[at] += np.log1p(bet * (beats[at] - against))
            self.squares[at] += beats[at] ** 2

    def log_total(self):
        return self.log_capital
