"""Ctrl-C in any public call that takes data leaves the state before or after it, or invalidates."""

import os
import time

import numpy as np
import pytest

import pybandit as pb
import pybandit.numba
from interrupted_calls import CALLS
from public_classes import CHANGING, FUNCTIONS, methods_of
from pybandit import cli

from betting.interrupts import alarms, interruption

MOMENTS = [3, pytest.param(int(os.environ.get("PYBANDIT_MOMENTS", 1000)),
                           marks=pytest.mark.slow)]
# Methods and functions that other files interrupt.
ELSEWHERE = {
    "policies/test_interrupts.py": {"Policy.ask", "Policy.tell", "simulate", "compare"},
    "webtests/test_metrics.py": {"Metrics.create", "Metrics.open", "Metrics.tell_counts"},
    "webtests/test_guardrail.py": {"Guardrail.tell_counts", "Guardrail.replay"},
    "betting/test_counts.py": {"CountRace.tell_counts", "CountRace.add_arm", "CountRace.retire"},
    "betting/test_interrupts.py": {"BettingRace.tell", "BettingThreshold.tell", "BudgetRace.tell",
                                   "ConfidenceSequence.tell", "best_of", "best_of_pairs",
                                   "run_race"},
    "evaluation/test_calls.py": {"best_of_async"},
    "racing/test_signals.py": {
        "RacingSampler.draw", "AcceptanceTest.test", "race", "accept", "lil_ucb",
        "race_populations", "slice_sample", "exact_sample", "RacingGibbs.sample",
        "RacingMetropolis.sample"},
    "mcmc/test_exact_runs.py": {"ExactMinibatch.sample", "ExactMinibatch.step"},
    "studies/test_interrupts.py": {"Study.create", "Study.open", "Study.ask", "Study.tell",
                                   "Study.close_batch", "Study.abandon", "Study.amend",
                                   "Study.verify"},
    "lab/test_interrupts.py": {"Screen.record", "Screen.amend_readings"},
    "webtests/test_counts.py": {"WebTest.tell_counts", "WebTest.amend_counts", "WebTest.add_arm",
                                "WebTest.retire"},
    "model_selection/test_interrupts.py": {"BanditSearchCV.fit"},
    "cluster/test_interrupts.py": {"KMedoids.fit", "kmedoids"},
    "tables/test_shuffle.py": {"shuffle"},
    # Ctrl-C ends the event loop in which these run
    "nowhere": {f"RaceStopping.{name}" for name in ("start_task", "schedule_sample",
                                                    "complete_sample", "complete_task")},
}
# Methods that need no test here, as they record no data: they read, plot, restart, or
# come from scikit-learn.
READS = set("""
    readings plate_texts export recommend get_state from_state in_order seed interval plot summary
    to_dict to_frame rewards best raise_status ask amendments batch close count_amendments
    counts history log split results status options decision_function fit_predict fit_transform
    get_feature_names_out get_metadata_routing get_params set_output
    inverse_transform predict predict_log_proba predict_proba score score_samples set_callbacks
    set_params transform set_fit_request set_score_request
""".split())
READING = {"get_include", "group_weights", "kind_of", "read_scores", "to_arviz", "write_report",
           "z_prime", *pb.bounds.__all__, *pb.kernels.__all__, *pb.stopping.__all__,
           *pb.numba.__all__, *cli.__all__}


# Methods that `Screen` and `WebTest` pass to their study.
SAME_AS_STUDY = {"create", "open", "ask", "tell", "close_batch", "abandon", "amend", "verify"}


def owner_of(cls, method):
    """Return the class under whose name a method is tested, such as Policy for all policies."""
    if issubclass(cls, CHANGING["Policy"]):
        return "Policy"
    if cls.__name__ in ("Screen", "WebTest") and method in SAME_AS_STUDY:
        return "Study"
    return "TableBandit" if cls.__name__ == "Environment" else cls.__name__


def test_every_call_is_interrupted():
    tested = set(CALLS).union(*ELSEWHERE.values())
    calls = {f"{owner_of(cls, name)}.{name}" for cls in CHANGING.values()
             for name in methods_of(cls) - READS}
    assert not calls - tested
    assert not set(FUNCTIONS) - tested - READING


def seconds_of(case):
    """Return the smallest time of four calls; the first one takes longer."""
    times = []
    for _ in range(4):
        one = case.make()
        start = time.perf_counter()
        case.call(one)
        times.append(time.perf_counter() - start)
    return min(times)


def is_spoilt(look, one):
    try:
        look(one)
    except RuntimeError as error:
        return "it was invalidated by KeyboardInterrupt" in str(error)
    return False


@pytest.mark.parametrize("moments", MOMENTS)
@pytest.mark.parametrize("name", CALLS)
def test_interrupted_call_keeps_state(name, moments):
    """The last traceback is kept alive until the next exception, as in an interactive session."""
    case, rng = CALLS[name], np.random.default_rng(moments)
    one = case.make()
    before = case.look(one)
    case.call(one)
    after = case.look(one)
    length, came, tries = seconds_of(case), 0, 0
    while came < moments:
        tries += 1
        assert tries < 200 * moments + 1000, f"{came} interrupts came, of {moments}"
        one = case.make()
        error = interruption(1e-6 + 1.1 * length * rng.random(), case.call, one)
        came += error is not None
        if error is not None and is_spoilt(case.look, one):
            continue
        found = case.look(one)
        assert found == after or error is not None and found == before
        if found != after:
            case.call(one)
            assert case.look(one) == after


@pytest.fixture(autouse=True)
def _alarms():
    with alarms():
        yield
