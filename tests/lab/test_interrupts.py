"""Ctrl-C while a file of readings is recorded or amended: all of it is stored, or nothing."""

import os
import time

import numpy as np
import pytest

import pybandit as pb
from pybandit.lab import Layout, Plates, Screen

from betting.interrupts import alarms, interruption
from policies.protocol import frozen

MOMENTS = [8, pytest.param(int(os.environ.get("PYBANDIT_MOMENTS", 1000)),
                           marks=pytest.mark.slow)]
PLATES = Plates(Layout(4, 6), controls=(0, 6), normalise=True)


@pytest.fixture(autouse=True)
def _alarms():
    with alarms():
        yield


def made(path):
    policy = pb.policies.BatchSAR(40, 3, batch_size=22, max_batches=10**4, max_repeats=2)
    return Screen.create(path, policy, plates=PLATES, overwrite=True)


def looked(screen):
    return (screen.status().n_events, frozen(screen.policy.get_state()),
            [one.values.tobytes() for one in screen.readings()])


@pytest.mark.parametrize("moments", MOMENTS)
@pytest.mark.parametrize("kind", ["record", "amend_readings"])
def test_interrupted_file_is_recorded_whole_or_not(kind, moments, tmp_path):
    rng, n_came, n_kept, length = np.random.default_rng(moments), 0, 0, 1e-3
    screen, twin = made(tmp_path / "screen.db"), made(":memory:")
    while n_came < moments or not n_kept:
        batch, _ = screen.ask(), twin.ask()
        rows = rng.uniform(1.0, 2.0, (4, 6)).round(4).tolist()
        file = tmp_path / "plate.csv"
        file.write_text("\n".join([f"plate,{batch.id}", *(",".join(map(str, row))
                                                          for row in rows)]))
        acts = {"record": lambda one, file=file: one.record(file),
                "amend_readings": lambda one, batch=batch: one.amend_readings(
                    "a typo", plate=str(batch.id), wells=["B3=1.5", "C4=failed"])}
        for name, act in acts.items():
            before = looked(twin)
            act(twin)
            if name != kind:
                act(screen)
                continue
            start = time.perf_counter()
            error = interruption(1e-6 + 1.1 * length * rng.random(), act, screen)
            if error is None:
                length = time.perf_counter() - start
            n_came += error is not None
            found = looked(screen)
            assert found in (before, looked(twin)) and (error is not None or found != before)
            if found == before:
                n_kept += 1
                act(screen)
        assert looked(screen) == looked(twin)
    screen.verify()
    screen.close()
