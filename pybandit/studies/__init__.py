"""Studies: experiments that last, one in a file. `Study` is all one needs."""

from pybandit.studies._errors import StudyDamaged, StudyError, StudyVersionError
from pybandit.studies._journal import Event
from pybandit.studies._plan_counts import CountPlan, plan_counts
from pybandit.studies.results import (
           Amendment,
           AmendResult,
           Batch,
           BatchRecord,
           Recommendation,
           Status,
           TellResult,
           VerifyResult,
)
from pybandit.studies.study import Study

__all__ = ["AmendResult", "Amendment", "Batch", "BatchRecord", "CountPlan", "Event",
           "Recommendation", "Status", "Study", "StudyDamaged", "StudyError", "StudyVersionError",
           "TellResult", "VerifyResult", "plan_counts"]
