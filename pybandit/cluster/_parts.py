"""Divide work on candidates between threads; results do not depend on their number."""

from pybandit._shared.threads import in_threads
from pybandit._shared.worker import Stop


def in_parts(run, n, size, n_threads):
    """Call ``run(first, count)`` for parts of at most `size` of n candidates.

    The parts must be independent. In one thread, Ctrl-C takes effect between two parts.
    """
    n_parts = -(-n // size)
    if n_threads == 1 or n_parts == 1:
        for first in range(0, n, size):
            run(first, min(size, n - first))
        return
    in_threads(lambda k: run(k * size, min(size, n - k * size)), n_parts,
               min(n_threads, n_parts), Stop())
