"""Eight threads use one study at once: each call and the log are right."""

import threading

import numpy as np
import pytest

import pybandit as pb
from pybandit.studies import Study

from studies.cases import measured

ROUNDS, THREADS, WELLS = 25, 8, 6


def work(study, part, errors):
    """Ask, report a part, and read everything; one thread closes batches of the others."""
    try:
        for _ in range(ROUNDS):
            batch = study.ask()
            if batch is None:
                break
            at = np.arange(part % WELLS, WELLS, 3)
            values = measured(batch.id, batch.arms)
            told = study.tell(batch.id, values[at], positions=at)
            assert told.n_new + told.n_known == at.size
            recorded = study.batch(batch.id).values
            np.testing.assert_array_equal(recorded[at], values[at])
            if part == 0:
                study.close_batch(batch.id)
            status, policy = study.status(), study.policy
            assert policy.n_pulls >= status.n_pulls  # the batch was requested later
            assert study.recommend().best_arms.size == 1 and next(study.log()).kind == "create"
    except Exception as error:
        errors.append(error)


@pytest.mark.parametrize("path", ["study.db", ":memory:"])
def test_threads_use_all_methods_at_once(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    errors, study = [], Study.create(path, pb.policies.RoundRobin(WELLS, 1, batch_size=WELLS,
                                                                  max_batches=1000))
    threads = [threading.Thread(target=work, args=(study, part, errors))
               for part in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    found = study.verify()
    history = study.history()
    known = np.isfinite(np.asarray(history["value"]))
    assert found.n_batches == study.status().n_asked and known.sum() > THREADS
    for batch in range(found.n_batches):
        record, of_batch = study.batch(batch), np.asarray(history["batch"]) == batch
        np.testing.assert_array_equal(record.values, np.asarray(history["value"])[of_batch])
    study.close()
