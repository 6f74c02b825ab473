"""Limit BLAS to one thread for small solves: with more, waiting threads take most of the time.

A search makes many solves per second with a few hundred rows each. With a 12 x 12 grid on two
cores it takes 1.5 s with two threads and .3 s with one.
"""

import threading
from contextlib import contextmanager
from functools import cache

# The number of BLAS threads is one per process, so overlapping limits would restore a wrong one.
_LIMITED = threading.RLock()


@contextmanager
def one_blas_thread():
    """Limit BLAS to one thread in the whole process; restore the previous number afterwards."""
    with _LIMITED, _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller():
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()  # scans all loaded libraries: 1 ms, once
