"""Studies: a file with the durable log of one run of a policy or race. Use `Study`.

`pybandit.lab.Screen` is a study on plates, `pybandit.webtests.WebTest` one on counts.

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
from pybandit.studies._kinds import kind_of
from pybandit.studies.answers import Recommendation, Status
from pybandit.studies.results import (
    Amendment,
    AmendResult,
    Batch,
    BatchRecord,
    TellResult,
    VerifyResult,
)
from pybandit.studies.study import Study

__all__ = ["AmendResult", "Amendment", "Batch", "BatchRecord", "Event", "Recommendation",
           "Status", "Study", "TellResult", "VerifyResult", "kind_of"]
