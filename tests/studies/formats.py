"""Files of format 1 of each kind, which every later version must open.

    python tests/studies/formats.py    # writes missing files; a new format needs new files
"""

import gzip
import math
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

import pybandit as pb
from pybandit.lab import Layout, Plates, Screen
from pybandit.webtests import WebTest

DATA = Path(__file__).with_name("data")
NAMES = ["tea", "coffee", "milk", "water"]


def study(path):
    with pb.Study.create(path, pb.policies.SequentialHalving(4, budget=40), NAMES, who="Ann",
                         settings={"assay": "taste", "numbers": [1, 2.5]}) as one:
        first = one.ask()
        one.tell(first.id, np.linspace(0.0, 1.0, first.arms.size))
        one.amend(first.id, [0.5], positions=[0], reason="a typo")
        second = one.ask()
        one.tell(second.id, [0.25, math.nan], positions=[0, 1], missing="drop")
        one.tell(second.id, [0.75], positions=[1])


def screen(path):
    plates = Plates(Layout(2, 3), controls=(0,), positives=(5,), normalise=True, log=True)
    policy = pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=3)
    with Screen.create(path, policy, NAMES, plates=plates, who="Ann") as one:
        one.ask()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "plate.csv")
            file.write_text("plate,0\n200,100,300\n150,80,20\n")
            one.record(file)
        one.amend_readings("a bubble", plate="0", wells=["A2=110"])
        one.ask()


def webtest(path):
    with WebTest.create(path, pb.CountRace(3), NAMES[:3], shares=[2, 1, 1], who="Ann") as one:
        one.tell_counts({"tea": (500, 20), "coffee": (240, 14), "milk": (260, 5)}, key="2025-03-03")
        one.add_arm("water")
        one.retire("milk", "sold out")
        one.amend_counts("2025-03-03", {"tea": (498, 19)}, reason="robots")


TABLE = np.random.default_rng(1).random((60, 3)).round(3) * [0.5, 0.75, 1.0]
MODELS = ["a", "b", "c"]


def score(model, items):
    return TABLE[[int(str(item).rpartition(" ")[2]) for item in items], MODELS.index(model)]


def scores(path, score=score):
    return pb.best_of(score, MODELS, [f"item {i}" for i in range(60)], value_range=(0, 1),
                      store=path, rng=1)


MAKERS = {"study": study, "screen": screen, "webtest": webtest, "scores": scores}


def main():
    DATA.mkdir(exist_ok=True)
    for kind, make in MAKERS.items():
        target = DATA / f"{kind}_1.db.gz"
        if target.exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f"{kind}.db")
            make(path)
            target.write_bytes(gzip.compress(Path(path).read_bytes(), mtime=0))


if __name__ == "__main__":
    sys.exit(main())
