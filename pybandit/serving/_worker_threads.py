"""Worker threads of an event loop; each runs one job after the other."""

import asyncio
import contextlib
import queue

from pybandit._shared.threads import worker_of
from pybandit.serving._study import study_of, together

SETTLE = 0.5  # seconds between checks whether a job has ended without a notification


class Job:
    """A function to call, and its result or error."""

    def __init__(self, work):
        self.work, self.result, self.error, self.over = work, None, None, False
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()

    def end(self):
        """Wake the event loop from the thread; if that fails, `wait` ends after `SETTLE` s."""
        self.over = True
        with contextlib.suppress(RuntimeError, MemoryError):
            self._loop.call_soon_threadsafe(self._ended.set)

    async def wait(self):
        """Wait until the job is over, or for `SETTLE` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE):
                await self._ended.wait()


class Lane:
    """A thread and its queue. An error, even a MemoryError, ends a job but not the thread."""

    most = 1  # maximum number of jobs handled together

    def __init__(self):
        self._queue, self._worker = queue.SimpleQueue(), worker_of(self._run)

    def start(self):
        """Start the thread, or raise."""
        self._worker.start()

    async def do(self, work):
        """Return `work()`, called in the thread; an exception is raised again."""
        job = Job(work)
        self._queue.put(job)
        # a cancelled request leaves its work in the queue
        while not job.over:
            await job.wait()
            if self._worker.over and not job.over:
                raise RuntimeError("a thread of the server has ended")
        if job.error is not None:
            raise job.error
        return job.result

    async def stop(self):
        """Finish the queued jobs, and end the thread."""
        self._queue.put(None)
        while not self._worker.over:
            await asyncio.sleep(0.005)

    def _run(self):
        is_open = True
        while is_open:
            jobs = []
            try:
                is_open = self._take(jobs)
                self.handle(jobs)
            except BaseException as error:
                for job in jobs:
                    if job.result is None and job.error is None:
                        job.error = error
            for job in jobs:
                job.end()

    def _take(self, jobs):
        """Move queued jobs into `jobs`; return False after the last job."""
        job = self._queue.get()
        while job is not None:
            jobs.append(job)
            if len(jobs) == self.most or self._queue.empty():
                return True
            job = self._queue.get()
        return False

    def handle(self, jobs):
        """Run the jobs."""
        for job in jobs:
            job.result = job.work()


class Writer(Lane):
    """The thread that changes a study. Calls that queue up are made in one transaction."""

    most = 256  # maximum number of calls per transaction

    def __init__(self, study):
        super().__init__()
        self.study, self._log = study, study_of(study)
        self._who = self._log._who

    async def record(self, call, who=""):
        """Return `call(study)` once its changes are on the disk; an exception is raised again."""
        return await self.do(lambda: self._as(who, call))

    def _as(self, who, call):
        self._log._who = who or self._who
        try:
            return call(self.study)
        finally:
            self._log._who = self._who

    def handle(self, jobs):
        if not jobs:
            return
        for job, result in zip(jobs, together(self.study, [job.work for job in jobs]),
                               strict=True):
            if isinstance(result, Exception):
                job.error = result
            else:
                job.result = result
