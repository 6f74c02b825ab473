"""Small solves on one BLAS thread: on more, threads that wait take most of the time.

Solves of some hundred rows, many a second: on 12 candidates a side and two cores 1.5 s a search,
on one thread .3 s.
"""

import threading
from contextlib import contextmanager
from functools import cache

# BLAS has one number of threads a process. Two limits that overlap would end with the wrong one.
_LIMITED = threading.RLock()


@contextmanager
def one_blas_thread():
    """While this lasts, BLAS takes one thread, in the whole process; then as many as before."""
    with _LIMITED, _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller():
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()  # looks through all libraries loaded: 1 ms, once
