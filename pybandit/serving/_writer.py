"""One thread that records: what has queued while the disk was waited for goes to it together."""

from pybandit.serving._lane import Lane
from pybandit.serving._study import study_of, together


class Writer(Lane):
    """Makes calls that change a study, and tells of each when it is on the disk."""

    most = 256  # calls of a transaction

    def __init__(self, study):
        super().__init__()
        self.study, self._log = study, study_of(study)
        self._who = self._log._who

    async def record(self, call, who=""):
        """Return what `call(study)` returns, once that is on the disk; raise what it raises."""
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
