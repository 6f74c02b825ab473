"""Rewards and options in another unit: the same pulls and the same answer.

Units are powers of two, which cause no rounding, as far as squares of rewards stay finite.
"""

import pytest

import pybandit as pb
from pybandit.stopping import GLR

from studies.cases import KERNEL, NOISE_STD, VARIANCES, N, measured

MOST = 400  # maximum number of pulls of a policy without an end
POLICIES = {
    "batch halving": lambda s: pb.policies.BatchHalving(N, 2, batch_size=5, max_batches=9, rng=3),
    "batch racing": lambda s: pb.policies.BatchRacing(N, 2, delta=0.1, batch_size=5,
                                                      noise_std=0.05 * s),
    "batch sar": lambda s: pb.policies.BatchSAR(N, 2, batch_size=5, max_batches=12, max_repeats=2),
    "batch screening": lambda s: pb.policies.BatchScreening(N, 2, batch_size=5, max_batches=12,
                                                            max_repeats=2,
                                                            prior_means=VARIANCES * s,
                                                            noise_std=0.1 * s),
    "halving": lambda s: pb.policies.SequentialHalving(N, budget=80),
    "shvar": lambda s: pb.policies.SHVar(N, budget=80, noise_std=NOISE_STD * s),
    "shadavar": lambda s: pb.policies.SHAdaVar(N, budget=150, delta=0.5),
    "successive rejects": lambda s: pb.policies.SuccessiveRejects(N, budget=60),
    "vbr": lambda s: pb.policies.VBR(N, budget=60),
    "thompson": lambda s: pb.policies.ThompsonSampling(N, rng=5, law="gaussian", noise_std=0.3 * s),
    "ebtc": lambda s: pb.policies.EBTC(N, max_pulls=40, epsilon=0.1 * s, noise_std=NOISE_STD * s),
    "ebtc aware": lambda s: pb.policies.EBTC(N, noise_std="estimated", epsilon=0.1 * s,
                                             max_pulls=60),
    "top two": lambda s: pb.policies.TopTwo(N, stopping=GLR(delta=0.1, noise_std=0.05 * s),
                                            beta="ids", rng=1),
    "top two unknown": lambda s: pb.policies.TopTwo(N,
                                                    stopping=GLR(delta=0.1, law="gaussian-unknown",
                                                                 epsilon=0.01 * s),
                                                    beta="ids", max_pulls=200, rng=1),
    "track": lambda s: pb.policies.TrackAndStop(N, stopping=GLR(delta=0.1, noise_std=0.05 * s)),
    "lucb": lambda s: pb.policies.LUCB(N, delta=0.1, k=2, noise_std=0.05 * s, epsilon=0.01 * s),
    "ugap sure": lambda s: pb.policies.UGapEc(N, delta=0.1, k=2, noise_std=0.05 * s),
    "lil ucb": lambda s: pb.policies.LilUCB(N, delta=0.1, noise_std=0.05 * s, guarantee="heuristic",
                                            max_pulls=400),
    "elimination": lambda s: pb.policies.SuccessiveElimination(
        N, stopping=GLR(delta=0.1, law="gaussian-unknown"), max_pulls=400),
    "ocba": lambda s: pb.policies.OCBA(N, budget=60, n_initial=4),
    "apt": lambda s: pb.policies.APT(N, max_pulls=60, threshold=0.45 * s, epsilon=0.1 * s),
    "good arms": lambda s: pb.policies.GoodArms(N, delta=0.1, threshold=0.45 * s,
                                                noise_std=0.05 * s, max_pulls=400),
    "good arms unknown": lambda s: pb.policies.GoodArms(N, delta=0.1, threshold=0.45 * s,
                                                        max_pulls=400,
                                                        law="gaussian-unknown", sampling="apt"),
}
for name, make in {"bayes gap": pb.policies.BayesGap, "gp ucb": pb.policies.GPUCB,
                   "bayes ucb": pb.policies.BayesUCB,
                   "ei": pb.policies.ExpectedImprovement,
                   "thompson": pb.policies.GaussianThompson}.items():
    stream = dict(rng=2) if make is pb.policies.GaussianThompson else {}
    POLICIES |= {
        f"{name} of a kernel": lambda s, make=make, stream=stream: make(
            N, budget=30, kernel=KERNEL, noise_std=0.3 * s, prior_std=s, **stream),
        f"{name} of features": lambda s, make=make, stream=stream: make(
            N, budget=30, features=KERNEL[:, :3], noise_std=0.3 * s, prior_std=s, **stream),
        # with unknown noise, the prior is in units of the noise
        f"{name} of unknown noise": lambda s, make=make, stream=stream: make(
            N, budget=30, features=KERNEL[:, :3], noise_std=None, noise_prior=(1.0, s * s),
            **stream),
    }


def played(policy, scale):
    log = []
    while not policy.done and len(log) < MOST:
        arms = policy.ask()
        log += arms.tolist()
        policy.tell(arms, scale * measured(policy.n_batches, arms))
    return log, policy.recommend().tolist()


@pytest.mark.parametrize("name", POLICIES)
def test_pulls_and_answers_do_not_depend_on_the_unit(name):
    expected = played(POLICIES[name](1.0), 1.0)
    assert len(set(expected[0])) > 1
    for exponent in (-490, -365, -300, 250, 345, 480):
        scale = 2.0**exponent
        assert played(POLICIES[name](scale), scale) == expected, exponent
