"""Every public class with a saved state has a test that mutates it."""

import pybandit as pb
from public_classes import CLASSES, never_changes

from betting.races import MAKERS
from policies.every_class import EVERY

# BudgetRace, ConfidenceSequence, CountRace: betting/test_mutated_states.py; TableBandit:
# simulation/ of that name; FunctionPolicy: simulation/test_numba.py; Study:
# studies/test_mutated_states.py; RunningVerdict: evaluation/test_verdict.py
MUTATED = {type(make()) for make in [*EVERY.values(), *MAKERS.values()]} | {
    pb.BudgetRace, pb.betting.ConfidenceSequence, pb.CountRace, pb.environments.TableBandit,
    pb.numba.FunctionPolicy, pb.Study, pb.evaluation.RunningVerdict}
# states defined by scikit-learn, states of frozen records, and pickles only
OTHERS = {"BanditSearchCV", "BestOfResult", "Guardrail", "KMedoids", "ThresholdResult"}


def has_state(cls):
    if hasattr(cls, "from_state"):
        return True
    # these are created again from their arguments (tests/test_pickles.py)
    made_again = cls in (pb.RacingSampler, pb.racing.AcceptanceTest) or never_changes(cls)
    return "__setstate__" in dir(cls) and not made_again


def test_every_class_with_a_state_is_mutated():
    stateful = {name for name, cls in CLASSES.items() if has_state(cls)} | {"Study"}
    assert stateful - OTHERS == {cls.__name__ for cls in MUTATED}
