"""How many mutated states the slow tests try: PYBANDIT_MUTATIONS in all, by default 100,000."""

import os

MUTATIONS = int(os.environ.get("PYBANDIT_MUTATIONS", 100_000))


def share_of(part):
    """So many of them; a test's own share, of the sum of all tests' shares, one."""
    return max(1, int(part * MUTATIONS))
