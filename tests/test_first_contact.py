"""Errors for common first mistakes name the argument, the value and the remedy."""

import warnings

import numpy as np
import pytest

import pybandit as pb

SCORES = np.random.default_rng(0).random((50, 3))
BANDIT = pb.environments.GaussianBandit([0.0, 1.0])
P = pb.policies
CALL_IT = r"got the class {0}: call it, {0}\("


def judge(model, items):
    return np.zeros(len(items))


def done():
    """Return a finished policy and the arms of its last batch."""
    policy = P.Uniform(2, budget=4)
    arms = policy.ask()
    policy.tell(arms, np.zeros(arms.size))
    return policy, arms


def tell_twice():
    policy, arms = done()
    policy.tell(arms, np.zeros(arms.size))


MISTAKES = {
    "policy class in simulate": (lambda: pb.simulate(P.SequentialHalving, BANDIT, 10), TypeError,
                                 CALL_IT.format("SequentialHalving")),
    "environment class": (lambda: pb.simulate(P.UCB1(2), pb.environments.GaussianBandit, 10),
                          TypeError, CALL_IT.format("GaussianBandit")),
    "policy class in a study": (lambda: pb.Study.create(":memory:", P.Uniform), TypeError,
                                CALL_IT.format("Uniform")),
    "scores class": (lambda: pb.best_of(dict, 3, 100, value_range=(0, 1)), TypeError,
                     CALL_IT.format("dict")),
    "bound class": (lambda: pb.race(SCORES, bound=pb.racing.EBSBound), TypeError,
                    CALL_IT.format("EBSBound")),
    "means instead of an environment": (
        lambda: pb.simulate(P.Uniform(2, budget=9), [0.0, 1.0]), TypeError,
        r"environment must be an Environment, such as .*; got \[0.0, 1.0\]"),
    "arms of another number": (lambda: pb.simulate(P.Uniform(3, budget=9), BANDIT), ValueError,
                               "policy must .* the 2 arms .* got one with 3"),
    "no end of a simulation": (lambda: pb.simulate(P.UCB1(2), BANDIT, 10), ValueError,
                               "max_pulls must be given"),
    "one policy in compare": (lambda: pb.compare(P.Uniform(2, budget=9), BANDIT), TypeError,
                              "policies must be a non-empty mapping of names"),
    "tell twice": (tell_twice, pb.errors.ProtocolError, "done and asks for nothing; got 4 arms"),
    "tell before ask": (lambda: P.Uniform(2, budget=4).tell([0, 1], [0.0, 1.0]),
                        pb.errors.ProtocolError, r"call ask\(\) before tell\(\)"),
    "rewards of another number": (lambda: (p := P.Uniform(2, budget=4)).tell(p.ask(), [1.0]),
                                  ValueError, r"rewards must have the shape of arms, \(4,\)"),
    "a second number": (lambda: P.UCB1(20, 600), TypeError, "positional argument"),
    "seed": (lambda: P.ThompsonSampling(3, seed=1), TypeError, "keyword argument 'seed'"),
    "delta in percent": (lambda: P.LUCB(3, delta=5), ValueError, "write 5 % as 0.05"),
    "names instead of a number": (lambda: P.UCB1(["a", "b"]), TypeError,
                                  r"n_arms must be an integer; got \['a', 'b'\]"),
    "no budget": (lambda: P.Uniform(3), TypeError, "budget"),
    "a budget too small": (lambda: P.SequentialHalving(16, budget=10),
                           pb.errors.InfeasibleBudgetError, "at least 64 .* got 10"),
    "a file that is missing": (lambda: pb.best_of("none.csv"), FileNotFoundError, "none.csv"),
    "a study that is missing": (lambda: pb.Study.open("none.db"), FileNotFoundError, "none.db"),
    "no range of a function": (lambda: pb.best_of(judge, 3, 100), ValueError,
                               "value_range must be given for a function: .* such as"),
    "a cell outside [0, 1]": (
        lambda: pb.best_of(np.where(np.arange(150).reshape(50, 3) == 7, 4000.0, SCORES)),
        ValueError, "value_range must be given .* got 4000.0 for model 1, item 2"),
    "a lost score": (lambda: pb.best_of(np.where(SCORES > 0.99, np.nan, SCORES)), ValueError,
                     "scores must be finite; got nan for model"),
    "no items": (lambda: pb.best_of(judge, 3, value_range=(0, 1)), ValueError, "items must be"),
    "a flat table": (lambda: pb.best_of(np.zeros(5)), ValueError,
                     r"table \(items, models\) .* got ndarray of shape \(5,\)"),
    "scores in percent": (lambda: pb.best_of(100 * SCORES, value_range=(0, 1)), ValueError,
                          "scores must lie in value_range"),
    "a store without names": (lambda: pb.best_of(judge, 12, 20, value_range=(0, 1),
                                                 store="e.db"), ValueError,
                              r'models must be names .*\["a", "b"\].* got 12'),
    "an old option": (lambda: pb.best_of(SCORES, n_models=3), TypeError,
                      "'n_models'. Did you mean 'models'"),
    "a misspelt option": (lambda: pb.best_of(SCORES, dleta=0.1), TypeError,
                          "'dleta'. Did you mean 'delta'"),
    "an option of a group": (lambda: pb.best_of(SCORES, retry=OSError), TypeError,
                             r"pass calls=Calls\(retry=\.\.\.\)"),
    "a word of another library": (lambda: pb.Calls(retries=3), TypeError,
                                  r"Calls\(\) got .* 'retries'. Did you mean 'retry'"),
    "one name": (lambda: pb.best_of(judge, "gpt", 100, value_range=(0, 1)), TypeError,
                 "models must be .* got 'gpt'"),
    "one score for all items": (lambda: pb.best_of(lambda m, i: 0.5, 3, 9, value_range=(0, 1)),
                                ValueError, r"shape \(\d,\); got shape \(\)"),
    "a function in accept": (lambda: pb.racing.accept(judge), TypeError,
                             "n_factors must be given if log_ratios is a function"),
    "a function in race": (lambda: pb.race(judge), TypeError,
                           r"wrap it, Factors\(function, n_factors, n_states\)"),
    "a bound without its range": (lambda: pb.race(SCORES, bound="betting"), ValueError,
                                  r"BettingBound\(value_range=\(low, high\)"),
    "flat factors": (lambda: pb.race(np.zeros(4)), ValueError, r"shape \(N, D\).*got shape"),
    "a RandomState": (lambda: pb.RacingSampler(SCORES, rng=np.random.RandomState(1)), TypeError,
                      r"numpy.random.default_rng\(seed\)"),
    "values in percent": (lambda: pb.confidence_sequence([50.0, 60.0]), ValueError,
                          r"value_range \[0.0, 1.0\]; got 50.0"),
    "more hits than trials": (lambda: pb.CountRace(2).tell_counts([10, 10], [12, 3]), ValueError,
                              "got 12.0 for 10 trials of arm 0"),
    "one estimator": (lambda: pb.combine_estimators(judge, 100), TypeError,
                      "estimators must be a sequence of callables"),
    "no names of arms": (lambda: pb.Study.create(":memory:", P.Uniform(2, budget=4), arms=2),
                         TypeError, "arms must be a sequence of 2 names; got 2"),
    "rates in percent": (lambda: pb.webtests.plan_counts([4, 5], 1000), ValueError,
                         r"rates must be in \(0, 1\); got 4.0 at index 0: write 4 % as 0.04"),
    "a name of a module": (lambda: pb.TopTwo, AttributeError, "it is pybandit.policies.TopTwo"),
    "a misspelt name": (lambda: pb.bestof, AttributeError, "did you mean 'best_of'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(mistake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, error, words = MISTAKES[mistake]
    with pytest.raises(error, match=words):
        call()
    assert not list(tmp_path.iterdir())


def test_at_least_forty_mistakes_are_tested():
    assert len(MISTAKES) >= 40


@pytest.mark.parametrize("call", [
    lambda: P.LUCB(3, delta=0.95), lambda: pb.best_of(SCORES, delta=0.95),
    lambda: pb.stopping.GLR(delta=0.5), lambda: pb.BettingRace(3, 9, value_range=1, delta=0.9)])
def test_a_confidence_instead_of_delta_warns(call):
    with pytest.warns(pb.errors.PybanditWarning, match="delta is the probability of an error"):
        call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P.LUCB(3, delta=0.49)


def test_error_for_a_lazy_frame_names_collect():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="collect"):
        pb.best_of(polars.DataFrame(SCORES).lazy())
