"""Public objects can be pickled and copied, and continue like the original, or say why not.

Arguments are those of border_calls.py, or given here.
"""

import copy
import inspect
import pickle

import numpy as np
import pytest

import border_calls
import pybandit as pb
from public_classes import CLASSES

N = 300
COPIES = {"pickle": lambda one: pickle.loads(pickle.dumps(one)), "deepcopy": copy.deepcopy}
MATRIX = np.random.default_rng(1).normal(size=(N, 4)) + np.linspace(0, 0.3, 4)


def from_the_borders():
    """Return the classes in the tables of border_calls.py with their arguments."""
    tables = [getattr(border_calls, name) for name in dir(border_calls)]
    return {called: given for table in tables if isinstance(table, dict)
            for called, given in table.items()
            if inspect.isclass(called) and isinstance(given, dict) and called is not pb.Policy}


MADE = from_the_borders()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("cls", MADE, ids=lambda cls: cls.__name__)
def test_public_objects_can_be_copied(cls, kind):
    again = COPIES[kind](cls(**MADE[cls]))
    assert type(again) is cls


def drawn(sampler, size=20):
    states, info = sampler.draw(size)
    return states.tolist(), info.n_evaluations.tolist()


def shifted(rows, states):
    return MATRIX[np.ix_(rows, states)]


SAMPLERS = {"array": dict(factors=MATRIX), "shuffled": dict(factors=MATRIX, layout="shuffled"),
            "rejection": dict(factors=MATRIX, looks=pb.racing.Looks(indices="rejection")),
            "keyed": dict(factors=MATRIX, looks=pb.racing.Looks(indices="keyed")),
            "function": dict(factors=pb.Factors(shifted, N, 4)),
            "bets": dict(factors=MATRIX, bound=pb.racing.BettingBound(value_range=(-9.0, 9.0))),
            "prior": dict(factors=MATRIX, log_prior=[0.0, -1.0, -np.inf, 2.0])}


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("options", SAMPLERS.values(), ids=SAMPLERS)
def test_a_copied_sampler_draws_what_the_original_draws(options, kind):
    """The copy includes the permutation left by earlier draws."""
    sampler = pb.RacingSampler(rng=3, **options)
    drawn(sampler)
    again = COPIES[kind](sampler)
    assert again.address != sampler.address
    assert again.log_prior.tolist() == sampler.log_prior.tolist()
    assert drawn(again) == drawn(sampler)


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("ratios", [MATRIX[:, 3] - MATRIX[:, 0], pb.Factors(shifted, N, 1)],
                         ids=["array", "function"])
def test_a_copied_acceptance_test_decides_as_the_original(ratios, kind):
    test = pb.racing.AcceptanceTest(ratios, looks=pb.racing.Looks(first=20), rng=5)
    first = [test.test(level) for level in np.linspace(-30, 30, 9)]
    again = COPIES[kind](test)
    levels = np.linspace(-40, 90, 30)
    assert [again.test(level) for level in levels] == [test.test(level) for level in levels]
    assert first


class Named(pb.RacingSampler):
    """A subclass in Python with an attribute."""


def test_attributes_of_a_subclass_are_copied():
    sampler = Named(MATRIX, rng=1)
    sampler.label = "mine"
    again = pickle.loads(pickle.dumps(sampler))
    assert type(again) is Named and again.label == "mine"
    assert drawn(again) == drawn(sampler)


class Greedy(pb.Policy):
    """A policy in Python: the best arm so far, after one pull of each."""

    def __init__(self, n_arms, label):
        super().__init__(n_arms)
        self.label = label

    def ask(self):
        seen = self.pulls
        return np.array([seen.argmin() if not seen.all() else np.nanargmax(self.means)])

    def recommend(self):
        return np.array([np.nanargmax(self.means)])

    done = False


@pytest.mark.parametrize("kind", COPIES)
def test_policies_in_python_are_copied(kind):
    policy = Greedy(3, "mine")
    for reward in (0.5, 0.1, 0.7, 0.6, np.nan):
        policy.tell(policy.ask(), [reward], missing="drop")
    again = COPIES[kind](policy)
    assert again.label == "mine" and again.n_pulls == 5 and again.n_batches == 5
    assert again.means.tolist() == policy.means.tolist()
    assert again.ask().tolist() == policy.ask().tolist()


def test_invalid_order_is_rejected():
    restore, given = pb.RacingSampler(MATRIX, rng=1).__reduce__()
    order = given[-1].copy()
    order[0] = order[1]
    with pytest.raises(ValueError, match="order must be a permutation"):
        restore(*given[:-1], order)


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("family", ["logistic", "binomial", "student", "poisson"])
def test_a_copied_exact_chain_goes_on_as_the_original(family, kind):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(500, 2))
    y = rng.poisson(np.exp(0.3 * x[:, 0])) if family == "poisson" else rng.integers(2, size=500)
    families = {"binomial": pb.mcmc.Binomial(np.full(500, 3)), "student": pb.mcmc.StudentT(4.0)}
    options = dict(family=families.get(family, family))
    if family == "poisson":
        options["radius"] = 5.0
    sampler = pb.mcmc.ExactMinibatch(x, y, **options)
    again = COPIES[kind](sampler)
    steps = [one.step(one.mode, n_steps=200, rng=np.random.default_rng(7))
             for one in (sampler, again)]
    assert steps[0].to_dict() == steps[1].to_dict()


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("weights", [None, np.full((30, 2), 0.7)], ids=["equal", "weights"])
def test_a_copied_table_of_pairs_is_the_original(weights, kind):
    pytest.importorskip("xarray")
    neighbours = np.stack([np.roll(np.arange(30), 1), np.roll(np.arange(30), -1)], axis=1)
    table = pb.mcmc.PairwiseTable(np.eye(3), neighbours, weights=weights,
                                  log_prior=np.linspace(0, 1, 3))
    for method in ("exact", "poisson", "race"):
        draws = [pb.mcmc.RacingGibbs(one, method=method).sample(5, n_chains=1, n_warmup=2, rng=1)
                 ["posterior"]["x"].values.tolist() for one in (table, COPIES[kind](table))]
        assert draws[0] == draws[1]


def results():
    """Return results of runs, which users save and send between processes."""
    bandit = pb.environments.BernoulliBandit([0.1, 0.5, 0.8])
    scores = np.random.default_rng(1).random((200, 4))
    runs = [pb.best_of(scores, value_range=(0, 1), rng=1),
            pb.best_of(scores, value_range=(0, 1), budget=99, rng=1),
            pb.evaluation.run_race(pb.BettingThreshold(
                scores.shape[1], len(scores), threshold=0.5, value_range=(0, 1), rng=1), scores),
            pb.simulate(lambda e: pb.policies.UCB1(3), bandit, 20, max_pulls=30, rng=1),
            pb.compare({"a": lambda e: pb.policies.UCB1(3),
                        "b": lambda e: pb.policies.Uniform(3, budget=30)}, bandit, 20,
                       max_pulls=30, rng=1),
            pb.race(MATRIX, rng=1), pb.confidence_sequence(scores[:, 0], value_range=(0, 1)),
            pb.RacingSampler(MATRIX, rng=1).draw()[1]]
    return {type(run).__name__ + str(at): run for at, run in enumerate(runs)}


@pytest.mark.parametrize("kind", COPIES)
def test_results_can_be_copied(kind):
    for name, result in results().items():
        assert repr(COPIES[kind](result)) == repr(result), name


def test_objects_that_cannot_be_copied_name_the_alternative(tmp_path):
    policy = pb.policies.UCB1(3)
    for study in (pb.Study.create(tmp_path / "a.db", policy),
                  pb.lab.Screen.create(tmp_path / "b.db", policy,
                                       plates=pb.lab.Plates(pb.lab.Layout(2, 3))),
                  pb.webtests.WebTest.create(tmp_path / "c.db", policy)):
        name = type(study).__name__
        for copied in COPIES.values():
            with pytest.raises(TypeError, match=rf"{name}.*cannot be pickled.*{name}.open\("):
                copied(study)
    compiled = pb.factors.gaussian(np.arange(9.0), np.arange(3.0))
    with pytest.raises(TypeError, match="cannot be pickled; create them in each process"):
        pickle.dumps(pb.RacingSampler(compiled, rng=1))
    assert drawn(copy.deepcopy(pb.RacingSampler(compiled, rng=1))) == drawn(
        pb.RacingSampler(compiled, rng=1))


# without results, which `results` covers, and classes that take a file or a model
OTHERS = {"Above", "AcceptResult", "AmendResult", "Amended", "Amendment", "BanditSearchCV", "Batch",
          "BatchRecord", "Best", "BestOfResult", "Comparison", "ConfidenceBounds", "CountAmendment",
          "CountPlan", "Imported", "MetricResult", "Metrics", "PlateReadings", "PowerCurves",
          "Screen", "WebTest", "WebTestStatus",
          "DrawInfo", "Estimate", "Event", "ExactStep", "Factor", "FunctionEnvironment",
          "FunctionPolicy",
          "KMedoids", "KMedoidsResult", "Laplace", "MedoidResult", "MedoidsResult",
          "MetropolisStep", "Policy", "RaceResult", "Ranking",
          "Recommendation", "SimulationResult", "SliceResult", "SplitCheck", "Status", "Study",
          "TellResult", "ThresholdResult", "TiedSet", "Verdict", "VerifyResult"}


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("one", [
    pb.lab.Layout(2, 3), pb.lab.Plates(pb.lab.Layout(2, 3), controls=(0,), fill="apart"),
    pb.lab.Dialect(",", "."), pb.lab.Controls(16, 1000.0, 50.0)],
    ids=lambda one: type(one).__name__)
def test_descriptions_of_plates_and_files_are_equal_to_their_copies(one, kind):
    assert COPIES[kind](one) == one


def test_every_class_is_copied():
    missing = {name for name, cls in CLASSES.items() if cls not in MADE} - OTHERS
    missing -= {"Layout", "Plates", "Dialect", "Controls"}  # above
    assert not missing, f"neither copied here nor in OTHERS: {sorted(missing)}"
