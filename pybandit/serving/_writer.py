"""One thread that records: what has queued while the disk was waited for goes to it together."""

import asyncio
import queue
import threading

from pybandit.studies._group import together

MOST = 256  # calls of a transaction


class Writer(threading.Thread):
    """Makes calls that change a study, and tells of each when it is on the disk."""

    def __init__(self, study):
        super().__init__(name="pybandit-writer", daemon=True)
        self.study, self._queue = study, queue.SimpleQueue()
        self._who = study._who

    async def do(self, call, who=""):
        """What `call(study)` returns, once that is on the disk; raises what it raises."""
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._queue.put((lambda: self._as(who, call), loop, done))
        # who has gone away does not take back what was queued
        return await asyncio.shield(done)

    def _as(self, who, call):
        self.study._who = who or self._who
        try:
            return call(self.study)
        finally:
            self.study._who = self._who

    def stop(self):
        """Record what has queued, and end."""
        self._queue.put(None)
        self.join()

    def run(self):
        is_open = True
        while is_open:
            jobs = [self._queue.get()]
            while jobs[-1] is not None and len(jobs) < MOST:
                try:
                    jobs.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            if jobs[-1] is None:
                jobs.pop()
                is_open = False
            if jobs:
                results = together(self.study, [call for call, _, _ in jobs])
                jobs[0][1].call_soon_threadsafe(_settle, jobs, results)


def _settle(jobs, results):
    for (_, _, done), result in zip(jobs, results, strict=True):
        if done.cancelled():
            continue
        if isinstance(result, Exception):
            done.set_exception(result)
            done.exception()  # heard, also where nobody waits any more
        else:
            done.set_result(result)
