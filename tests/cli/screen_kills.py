"""Kill commands of `pybandit screen`, and run them again.

Run it as a program, so that forked processes have one thread and pybandit imported::

    python tests/cli/screen_kills.py N seed    # at least N kills; prints figures as JSON
"""

import csv
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import pybandit as pb
from pybandit import cli
from pybandit.cli import _screen_commands, _study_commands
from pybandit.studies import Study

from policies.protocol import frozen

GENES = [f"gene {i}" for i in range(40)]
NEW = ["new", "study.db", "--policy", "batch-sar", "--arms", "genes.csv", "--k", "3", "--batches",
       "8", "--repeats", "4", "--plate", "4x8", "--controls", "col:8", "--normalise", "--log"]
N_WELLS, N_CONTROLS = 28, 4


def command(arguments, seconds=None):
    """Run a command in a forked process; return its status, or None if it was killed."""
    process = os.fork()
    if not process:
        status = 70
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.dup2(null, sys.stderr.fileno())
            status = cli.main(["screen", *arguments])
        finally:
            os._exit(status)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    return None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def reading(batch, well):
    """Return the reading of a well, the same every time."""
    return round(float(np.random.default_rng([batch, *map(ord, well)]).lognormal()), 4)


def has_mistake(batch):
    """Return True if two readings of a plate, one of them of a control, are amended later."""
    return batch % 2 == 1


def read(plate, results):
    with open(plate, newline="") as file:
        header, *rows = csv.reader(file)
    assert len(rows) == N_WELLS + N_CONTROLS, "a plate was written in part"
    wrong = {"A1", "A8"} if has_mistake(int(rows[0][0])) else ()
    with open(results, "w", newline="") as file:
        csv.writer(file).writerows([header, *(
            [*row[:3], reading(int(row[0]), row[1]) * (3 if row[1] in wrong else 1)]
            for row in rows)])


def amendment(batch):
    """Return the command that corrects a plate."""
    wells = [f"--well={well}={reading(batch, well)!r}" for well in ("A1", "A8")]
    return ["amend", "--plate", str(batch), *wells, "--reason", "the wrong column"]


def straight():
    """Return the policy of the same study without kills."""
    policy = pb.policies.BatchSAR(len(GENES), 3, batch_size=N_WELLS, max_batches=8, max_repeats=4)
    wells = [f"{row}{column}" for row in "ABCD" for column in range(1, 9)]
    while not policy.done:
        found = {well: reading(policy.n_batches, well) for well in wells}
        control = np.mean([found[f"{row}8"] for row in "ABCD"])
        policy.tell(policy.ask(), np.log(np.array([found[well] for well in wells
                                                   if well[1] != "8"]) / control))
    return policy


def acknowledged(known):
    """Check that the file has the acknowledged study, batches, readings and amendments."""
    if not os.path.exists("study.db"):
        assert not known
        return
    with Study.open("study.db") as study:
        study.verify()
        for action, batch in known:
            assert action == "new" or study.status().n_asked > batch
            if action == "record":
                assert study.batch(batch).status == "complete"
            if action == "amend":
                assert batch in {one.batch for one in study.amendments()}


def one_study(rng, kills):
    """Run a study to its end in the current folder; count kills by command."""
    Path("genes.csv").write_text("\n".join(["gene", *GENES]))
    known, batch, action = set(), 0, "new"
    while action is not None:
        arguments = {"new": NEW, "next": ["next", "-o", f"p{batch}.csv"],
                     "record": ["record", f"r{batch}.csv"], "amend": amendment(batch)}[action]
        seconds = rng.exponential(0.02) if rng.random() < 0.7 else None
        status = command(arguments, seconds)
        if status is None:
            kills[action] += 1
        elif status == 0:
            known.add((action, batch))
        acknowledged(known)
        # even after a kill, the file of plates is complete or missing
        is_done = status == 0 or (action == "new" and os.path.exists("study.db"))
        assert is_done or status in (None, 4)
        if status == 4:
            action = None
        elif is_done and action == "next":
            read(f"p{batch}.csv", f"r{batch}.csv")
            action = "record"
        elif is_done and action == "record" and has_mistake(batch):
            action = "amend"
        elif is_done:
            batch += action in ("record", "amend")
            action = "next"
        elif action == "next" and os.path.exists(f"p{batch}.csv"):
            read(f"p{batch}.csv", "whole.csv")
    with Study.open("study.db") as study:
        assert frozen(study.policy.get_state()) == frozen(straight().get_state())


def kill_many(n_kills, seed):
    """Run studies until there are enough kills; return the figures."""
    rng, kills, n_studies = np.random.default_rng(seed), Counter(), 0
    home = os.getcwd()
    while kills.total() < n_kills:
        n_studies += 1
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                one_study(rng, kills)
            finally:
                os.chdir(home)
    return dict(kills=kills.total(), studies=n_studies, commands=dict(kills))


if __name__ == "__main__":
    assert _screen_commands and _study_commands  # imported before the forks, once
    print(json.dumps(kill_many(*map(int, sys.argv[1:]))))
