"""Run tasks in threads so that neither Ctrl-C nor lack of memory leaves a thread running."""

import contextvars
import functools
import sys
import threading

from pybandit._shared.worker import Counter, Worker, run_together


def in_threads(run, n_tasks, n_threads, stop, hears=True):
    """Call ``run(i)`` for each i below `n_tasks` in `n_threads` threads, and wait for all.

    Each thread has a copy of the caller's context. If `n_threads` is 1, the calling thread runs
    the tasks, or a new thread if the tasks do not check for Ctrl-C (`hears` is False). An
    exception or Ctrl-C sets the `Stop` `stop`: no further task starts, and running tasks should
    return soon. The first exception is re-raised.
    """
    following = Counter()

    def work():
        while (i := following.next()) < n_tasks and not stop.is_set():
            run(i)

    if n_threads == 1 and hears:
        work()
    else:
        run_together([worker_of(work, stop) for _ in range(n_threads)], stop)


def worker_of(function, stop=None):
    """Return a `Worker` that calls `function` in a copy of the current context."""
    return Worker(functools.partial(_in_thread, contextvars.copy_context(), function), stop)


def _in_thread(context, function):
    try:
        context.run(function)
    finally:
        forget_thread()


def forget_thread():
    """Remove the entry that `threading.current_thread` adds; up to Python 3.12 it would stay."""
    if isinstance(threading._active.get(threading.get_ident()), threading._DummyThread):
        threading._active.pop(threading.get_ident(), None)


def with_context(executor, function):
    """Return `function` bound to a copy of the caller's context if `executor` has threads.

    The result can be called once. A context cannot be sent to another process.
    """
    # not imported here, which takes 5 ms: without the module there are no such executors
    threads = sys.modules.get("concurrent.futures.thread")
    if threads is not None and isinstance(executor, threads.ThreadPoolExecutor):
        return functools.partial(contextvars.copy_context().run, function)
    return function
