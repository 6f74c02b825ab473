"""Work in threads, of which Ctrl-C leaves none behind and none waiting.

The locks of a pool are Python's: Ctrl-C in the thread that hands out work may come
between taking one and giving it back, and all wait for ever. So a thread that hears no
signals hands it out, and the caller's waits at a lock of C.
"""

import _thread
import collections
import contextvars
import functools
import itertools
import operator
import time


def in_threads(run, n_tasks, n_threads, stop, hears=True):
    """Call ``run(i)`` for i below `n_tasks` in so many threads, and wait until all have ended.

    One thread is the caller's; where it `hears` no Ctrl-C, for tasks look at `stop` alone, it is
    another one in the caller's context. The first exception is raised again. It, and Ctrl-C, set
    the event `stop`, upon which no task is begun and those that run are to return soon.
    """
    following = itertools.count()

    def work():
        # next() of a count is atomic
        while (i := next(following)) < n_tasks and not stop.is_set():
            run(i)

    def share_out():
        import concurrent.futures  # and logging with it: only where there are threads

        with concurrent.futures.ThreadPoolExecutor(n_threads) as pool:
            try:
                futures = [pool.submit(work) for _ in range(n_threads)]
                for future in concurrent.futures.as_completed(futures):
                    future.result()
            except BaseException:
                stop.set()
                raise

    if n_threads == 1 and hears:
        work()
    else:
        one = functools.partial(contextvars.copy_context().run, work)
        _deaf_to_signals(one if n_threads == 1 else share_out, stop)


def _deaf_to_signals(task, stop):
    started, ended, errors, lock = [], [], [], _thread.allocate_lock()
    lock.acquire()

    def run():
        try:
            task()
        except BaseException as error:
            errors.append(error)
        finally:
            ended.append(True)
            lock.release()

    steps = [functools.partial(_thread.start_new_thread, run, ()),
             functools.partial(started.append, True)]
    try:
        # one call, in which no signal is heard: it is started and known to be, or neither
        collections.deque(map(operator.call, steps), maxlen=0)
        while not lock.acquire(timeout=0.1):  # on Windows no signal ends it
            pass
    except BaseException:
        stop.set()
        while len(ended) < len(started):
            time.sleep(1e-4)
        raise
    if errors:
        raise errors.pop()
