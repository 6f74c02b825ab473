"""Web tests: A/B tests of pages with daily counts. Use `WebTest`.

Examples
--------
>>> import pybandit as pb
>>> with pb.webtests.WebTest.create("buttons.db", pb.CountRace(2), arms=["old", "new"]) as test:
...     result = test.tell_counts({"old": (2500, 100), "new": (2500, 150)}, key="2025-03-03")
>>> with pb.webtests.WebTest.open("buttons.db") as test:     # the next day
...     print(test.recommend().best_names, test.split(1000))
['new'] [500 500]
"""

from pybandit.webtests.adjust import Cuped, Ratio
from pybandit.webtests.guardrail import Guardrail
from pybandit.webtests.metric import Metric, MetricResult
from pybandit.webtests.metrics import Metrics
from pybandit.webtests.plan import CountPlan, plan_counts
from pybandit.webtests.power import PowerCurves, power_curves
from pybandit.webtests.report import write_report
from pybandit.webtests.results import CountAmendment, SplitCheck, WebTestStatus
from pybandit.webtests.webtest import WebTest

__all__ = ["CountAmendment", "CountPlan", "Cuped", "Guardrail", "Metric", "MetricResult", "Metrics",
           "PowerCurves", "Ratio", "SplitCheck", "WebTest", "WebTestStatus", "plan_counts",
           "power_curves", "write_report"]
