"""A plain version of the rules for silent arms in the docstring of `Policy`.

Retries hold one pull, as for policies that pull one arm at a time.
"""

import math

LAST_CHANCES = 3


class Silence:
    """Pulls lost in a row, and the times at which silent arms are due."""

    def __init__(self, n_arms, after=10, batch_size=1):
        self.n_arms, self.after, self.first_wait = n_arms, after, after * batch_size
        self.lost, self.due, self.n_pulls = [0] * n_arms, {}, 0

    @property
    def silent(self):
        return sorted(self.due)

    def asked_again(self):
        """Return the arm to retry, or None. If only silent arms are undecided, use `last_asked`."""
        if len(self.due) == self.n_arms:
            return min(self.due, key=lambda arm: (self.lost[arm], arm))
        late = [arm for arm in self.due if self.due[arm] <= self.n_pulls]
        return min(late, key=lambda arm: (self.due[arm], arm)) if late else None

    def last_asked(self):
        """Return the arm to retry if only silent arms are undecided; None once all are given up."""
        left = [arm for arm in self.due if self.lost[arm] < LAST_CHANCES * self.after]
        return min(left, key=lambda arm: (self.lost[arm], arm)) if left else None

    def tell(self, arms, rewards, seen, needed=1):
        """Take a batch; `seen` counts the rewards of each arm, including these."""
        self.n_pulls += len(arms)
        for arm, reward in zip(arms, rewards, strict=True):
            if not math.isnan(reward):
                if len(self.due) == self.n_arms:
                    self.lost = [min(n, self.after) for n in self.lost]
                    self.due = dict.fromkeys(self.due, self.n_pulls)
                self.lost[arm] = 0
                if arm in self.due:
                    self.due[arm] = self.n_pulls
                    if seen[arm] >= needed:
                        del self.due[arm]
                continue
            self.lost[arm] += 1
            if self.lost[arm] >= self.after or arm in self.due:
                times = max(self.lost[arm] - self.after, 0)
                self.due[arm] = self.n_pulls + self.first_wait * 2**times
