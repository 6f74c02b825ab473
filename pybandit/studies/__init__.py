"""Studies: experiments that last, one in a file. `Study` is all one needs.

Examples
--------
>>> import pybandit as pb
>>> with pb.Study.create("tea.study", pb.policies.Uniform(2, budget=4),
...                      arms=["tea", "coffee"]) as study:
...     batch = study.ask()
...     result = study.tell(batch.id, [0.1, 0.4, 0.2, 0.6])
>>> with pb.Study.open("tea.study") as study:     # later, or after a crash
...     print(study.recommend().best_names, study.status().n_pulls)
['coffee'] 4
"""

from pybandit.studies._journal import Event
from pybandit.studies._plan_counts import CountPlan, plan_counts
from pybandit.studies.answers import Recommendation, SplitCheck, Status
from pybandit.studies.results import (
    Amendment,
    AmendResult,
    Batch,
    BatchRecord,
    CountAmendment,
    TellResult,
    VerifyResult,
)
from pybandit.studies.study import Study

__all__ = ["AmendResult", "Amendment", "Batch", "BatchRecord", "CountAmendment",
           "CountPlan", "Event", "Recommendation", "SplitCheck", "Status", "Study", "TellResult",
           "VerifyResult", "plan_counts"]
