"""The number of mutated states in slow tests: PYBANDIT_MUTATIONS in all, by default 100,000."""

import os

MUTATIONS = int(os.environ.get("PYBANDIT_MUTATIONS", 100_000))


def share_of(part):
    """Return the number for a test, whose fraction of all is `part`."""
    return max(1, int(part * MUTATIONS))
