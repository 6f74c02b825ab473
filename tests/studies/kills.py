"""Tests of studies whose process is killed, or into which two processes record at once.

Run as a program, so that its forked processes have one thread and pybandit is imported::

    python tests/studies/kills.py kill N seed    # at least N kills; figures as JSON
    python tests/studies/kills.py share N seed   # N operations of two processes
"""

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
from pybandit.errors import StudyError
from pybandit.studies import Study

from policies.protocol import frozen
from studies.cases import measured, store_states


def make(seed):
    """Return a policy; for every third seed it draws random numbers."""
    if seed % 3 == 0:
        return pb.policies.BatchSAR(20, 3, batch_size=8, max_batches=25, max_repeats=2)
    if seed % 3 == 1:
        return pb.policies.SHAdaVar(8, budget=150, delta=0.5)
    return pb.policies.GaussianThompson(len(np.eye(5) + 0.3), budget=18, kernel=np.eye(5) + 0.3,
                                        noise_std=0.1, rng=seed)


def carry_out(study, seed, say=lambda *what: None):
    """Run a study from its present state to its end.

    There are whole, partial, closed, abandoned and late batches. Every fifth batch is reported with
    a mistake, which is amended while the next batch is open.

    The actions depend only on the study, so that the process can be killed anywhere. Prints each
    action when it starts, and when it is acknowledged.
    """

    def tell(number, arms, at):
        say("begin", "tell")
        study.tell(number, told(number, arms, seed)[at], positions=at)
        say("told", number, at.tolist())

    last = None
    while True:
        say("begin", "ask")
        batch = study.ask()
        if batch is None:
            return
        number, arms = batch.id, batch.arms
        say("asked", number, arms.tolist())
        wells = np.arange(arms.size)
        if number % 5 == 4 and number % 7 != 5:
            # a result of the batch before, some of which were lost
            before = last if last is not None else asked_of(study, number - 1)
            tell(number - 1, before, np.arange(before.size))
        if has_mistake(number - 1):
            before = last if last is not None else asked_of(study, number - 1)
            say("begin", "amend")
            study.amend(number - 1, measured(number - 1, before, seed)[:1], positions=[0],
                        reason="a mistake")
            say("amended", number - 1)
        if number % 7 == 4:
            say("begin", "abandon")
            study.abandon(number)
            say("abandoned", number)
        elif number % 5 == 3:
            tell(number, arms, wells[::2])
            say("begin", "close")
            study.close_batch(number)
            say("closed", number)
        elif number % 5 == 2:
            for part in np.array_split(wells, min(3, wells.size)):
                tell(number, arms, part)
        else:
            tell(number, arms, wells)
        last = arms


def has_mistake(number):
    """Return True if the first well of a batch is reported with a wrong value."""
    return number % 5 == 1 and number % 7 != 4


def told(number, arms, seed):
    """Return the results that are reported first."""
    values = measured(number, arms, seed)
    if has_mistake(number):
        values[0] = 1.0 - values[0]
    return values


def asked_of(study, number):
    """Return the arms of an earlier batch."""
    return next(event.body["arms"] for event in study.log()
                if event.kind == "ask" and event.body["batch"] == number)


def child(path, seed, pipe):
    """Run in the process that is killed."""

    def say(*what):
        os.write(pipe, (json.dumps(what) + "\n").encode())

    if os.path.exists(path):
        say("begin", "open")
        study = Study.open(path)
    else:
        say("begin", "create")
        study = Study.create(path, make(seed))
        say("created")
    carry_out(study, seed, say)
    say("begin", "close file")
    study.close()


def killed_run(path, seed, n_lines, delay):
    """Kill a child some time after a number of lines; return if it was killed, and its output."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        status = 1
        try:
            child(path, seed, writing)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    heard = b""
    while heard.count(b"\n") < n_lines:
        more = os.read(reading, 65536)
        if not more:
            break
        heard += more
    time.sleep(delay)
    os.kill(process, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        heard += pipe.read()
    said = [json.loads(line) for line in heard.splitlines()]
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, said[-3:]
    return os.WIFSIGNALED(status), said


def check_nothing_lost(path, seed, said, known):
    """Assert that everything acknowledged so far is in the file; extends `known`."""
    if not os.path.exists(path):
        assert not known and ["created"] not in said
        return
    for what in said:
        if what[0] == "told":
            known.update((what[1], at) for at in what[2])
        elif what[0] == "amended":
            known.add((what[1], "amended"))
    with Study.open(path) as study:
        study.verify()
        asked = {event.body["batch"]: event.body["arms"].tolist() for event in study.log()
                 if event.kind == "ask"}
        for what in said:
            assert what[0] != "asked" or asked[what[1]] == what[2]
        rows = history(study)
        held = {(int(rows["batch"][i]), int(rows["position"][i])): rows["value"][i]
                for i in range(len(rows["batch"])) if not np.isnan(rows["value"][i])}
    assert {one for one in known if one[1] != "amended"} <= held.keys(), known - held.keys()
    for (number, at), value in held.items():
        right = value == measured(number, asked[number], seed)[at]
        assert right or ((number, "amended") not in known
                         and value == told(number, asked[number], seed)[at])


def history(study):
    """Return the history without pandas, whose import is slow."""
    rows = study.history()
    return {name: np.asarray(rows[name]) for name in
            ("batch", "position", "arm", "value", "state")}


def kill_many(n_kills, seed):
    """Return figures of at least the given number of kills."""
    rng, kills, phases, n_studies, n_told = np.random.default_rng(seed), 0, Counter(), 0, 0
    while kills < n_kills:
        n_studies += 1
        store_states([None, 1, 0][n_studies % 3])
        straight = Study.create(":memory:", make(n_studies))
        carry_out(straight, n_studies)
        with tempfile.TemporaryDirectory() as folder:
            path, known, over, most = str(Path(folder) / "study.db"), set(), False, 3
            while not over:
                # after a random number of lines and a short delay, on machines of any speed
                was_killed, said = killed_run(path, n_studies, rng.integers(most),
                                              rng.exponential(0.004))
                check_nothing_lost(path, n_studies, said, known)
                most = 25
                over = not was_killed
                if was_killed:
                    kills += 1
                    phases[last_phase(said)] += 1
            n_told += len(known)
            with Study.open(path) as study:
                study.verify()
                assert frozen(study.policy.get_state()) == frozen(straight.policy.get_state())
                one, other = history(study), history(straight)
                assert all(frozen(one[name]) == frozen(other[name])
                           for name in ("batch", "position", "arm", "value"))
                assert one["state"].tolist() == other["state"].tolist()
    return dict(kills=kills, studies=n_studies, acknowledged=n_told, phases=dict(phases))


def last_phase(said):
    """Return the last action that the child printed."""
    begun = [what[1] for what in said if what[0] == "begin"]
    return begun[-1] if begun else "start"


def share(n_operations, seed):
    """Let two processes ask and tell, partly the same wells; check everything; return figures."""
    store_states([0, None][seed % 2])
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "study.db")
        Study.create(path,
                     pb.policies.RoundRobin(30, 2, batch_size=12, max_batches=n_operations)).close()
        processes = [fork_sharer(path, seed, part, n_operations // 2) for part in (0, 1)]
        n_new = sum(finish(*one) for one in processes)
        with Study.open(path) as study:
            study.verify()
            rows = history(study)
            known = ~np.isnan(rows["value"])
            assert n_new == known.sum(), (n_new, known.sum())
            for number in np.unique(rows["batch"]):
                of = rows["batch"] == number
                expected = measured(int(number), rows["arm"][of], seed)
                assert np.array_equal(rows["value"][of & known], expected[known[of]])
            policy = make_again(study, seed)
            assert frozen(policy.get_state()) == frozen(study.policy.get_state())
            kinds = Counter(event.kind for event in study.log())
    return dict(operations=n_operations, recorded=int(n_new), events=dict(kinds))


def fork_sharer(path, seed, part, n_operations):
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    os.close(reading)
    rng, n_new = np.random.default_rng([seed, part]), 0
    status = 1
    try:
        study = Study.open(path, who=f"process {part}")
        for _ in range(n_operations):
            batch = study.ask()
            wells = rng.choice(batch.arms.size, rng.integers(1, 5), replace=False)
            # the batch may be over already: then these results are known and equal
            n_new += study.tell(batch.id, measured(batch.id, batch.arms, seed)[wells],
                                positions=wells).n_new
        study.close()
        os.write(writing, str(n_new).encode())
        status = 0
    except StudyError as error:
        print(error, file=sys.stderr)
    finally:
        os._exit(status)


def finish(process, reading):
    with os.fdopen(reading) as answer:
        n_new = answer.read()
    assert os.waitpid(process, 0)[1] == 0
    return int(n_new)


def make_again(study, seed):
    """Return the policy after the same batches in sequence."""
    policy = pb.policies.RoundRobin(30, 2, batch_size=12, max_batches=study.policy.max_batches)
    while policy.n_batches < study.policy.n_batches:
        policy.tell(policy.ask(), measured(policy.n_batches, policy.ask(), seed))
    return policy


if __name__ == "__main__":
    run = {"kill": kill_many, "share": share}[sys.argv[1]]
    print(json.dumps(run(int(sys.argv[2]), int(sys.argv[3]))))
