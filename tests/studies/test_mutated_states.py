"""Policy states that a forger changed and signed: rejected or harmless."""

import collections
import hashlib
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mutation_counts import share_of
from pybandit.errors import StudyDamagedError
from pybandit.studies import Study
from pybandit.studies._codec import encode

from policies.every_class import EVERY
from policies.mutations import MUTATIONS, assert_keeps_its_promises, entries_of, mutated
from studies.cases import measured

SOME = ["batch sar", "shadavar", "thompson", "ugap", "bayes gap"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return path and state of a study of each policy after some batches, the last one open."""
    folder, known = tmp_path_factory.mktemp("studies"), {}
    for name in SOME:
        with Study.create(folder / name, EVERY[name]()) as study:
            for _ in range(4):
                batch = study.ask()
                study.tell(batch.id, measured(batch.id, batch.arms))
            study.ask()
        known[name] = folder / name
    return known


def forge(path, mutations):
    """Change a state; return True if it differs and can be stored."""
    with Study.open(path) as study:
        state = study.policy.get_state()
    before = encode(state)
    for entry, kind, value, at in mutations:
        places = list(entries_of(state))
        if places:
            mutated(*places[entry % len(places)], kind, value, at)
    try:
        if encode(state) == before:
            return False
        parts = {part: encode(value) for part, value in state.items()}
    except TypeError:
        return False
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM state")
        db.executemany("INSERT INTO state VALUES (?, ?)", parts.items())
        digests = {part: hashlib.sha256(body).digest() for part, body in parts.items()}
        db.execute("UPDATE head SET state = ?", (hashlib.sha256(encode(digests)).digest(),))
    return True


def end_of_forged(files, name, mutations):
    """Return "refused" or "harmless", or that nothing was forged."""
    path = shutil.copy(files[name], files[name].with_suffix(".forged"))
    if not forge(path, mutations):
        return "as it was"
    try:
        study = Study.open(path)
    except StudyDamagedError as error:
        assert str(path) in str(error) and "is damaged: state: " in str(error)
        return "refused"
    with study:
        assert_keeps_its_promises(study.policy)
        with pytest.raises(StudyDamagedError, match="state: .* does not follow from the log"):
            study.verify()
    return "harmless"


def ends_of_forged(files, n):
    """Return the numbers of each outcome."""
    ends = collections.Counter()

    @settings(max_examples=n, deadline=None, derandomize=True,
              suppress_health_check=list(HealthCheck))
    @given(name=st.sampled_from(SOME), mutations=MUTATIONS)
    def one(name, mutations):
        ends[end_of_forged(files, name, mutations)] += 1

    one()
    return ends


def test_forged_states_are_rejected_or_harmless(files):
    ends = ends_of_forged(files, 60)
    assert ends["refused"] > 0 and ends["harmless"] > 0


@pytest.mark.slow
def test_many_forged_states_are_rejected_or_harmless(files):
    n = share_of(0.006)
    ends = ends_of_forged(files, n)
    assert ends["refused"] > n // 10 and ends["harmless"] > n // 100


def test_verify_names_the_forged_part(files):
    path = shutil.copy(files["ugap"], files["ugap"].with_suffix(".named"))
    assert forge(path, [(2, 0, 9, 0)])
    with pytest.raises(StudyDamagedError, match="named is damaged: state: state must hold"):
        Study.open(path)
    assert np.isfinite(path.stat().st_size)
