"""Calls of methods of each public class, with arrays as arguments or kept in the object.

`h` places numbers in memory that changes during the call. Each method that takes arrays has an
entry with its name, which `test_every_method_is_attacked` checks.
"""

import numpy as np

import pybandit as pb
from border_calls import FACTORS, MATRIX, POINTS, log_likelihood
from public_classes import CLASSES
from pybandit.studies import Study

TABLE = np.random.default_rng(1).random((40, 3))


def told(policy, h, missing="raise"):
    for _ in range(4):
        arms = policy.ask()
        policy.tell(h(arms), h(np.resize([0.25, 0.5, 1.0], arms.shape)), missing)


def late(policy, h):
    arms = policy.ask()
    policy.tell(arms, np.full(arms.shape, np.nan), missing="drop")
    policy.add_late(h(arms), h(np.full(arms.shape, 0.5)))


def state_of(one, h):
    def placed(value):
        if isinstance(value, dict):
            return {name: placed(part) for name, part in value.items()}
        return h(value) if isinstance(value, np.ndarray) else value

    again = type(one).from_state(placed(one.get_state()))
    if isinstance(again, pb.Policy):
        told(again, lambda values: values)
    return again


def race_told(race, h):
    for _ in range(3):
        arms, items = race.ask(12)
        costs = {"costs": h(np.full(arms.shape, 0.1))} if race._is_told_costs() else {}
        race.tell(h(arms[::-1].copy()), h(items[::-1].copy()), h(TABLE[items % 40, arms][::-1]),
                  **costs)
    race.rewards(0), race.means


def allocated(allocator, h):
    for _ in range(6):
        arms = np.atleast_1d(allocator.ask())
        allocator.tell(h(arms), h(np.full(arms.shape, 0.5)), h(np.full(arms.shape, 0.5)))


def simulated(bandit, h):
    pb.simulate(lambda environment: pb.policies.Uniform(environment.n_arms, budget=40), bandit, 3,
                rng=1)


def chain(proposal, h):
    pb.mcmc.RacingMetropolis(log_likelihood, 60, 2, proposal=proposal).step(h([0.1, 0.2]),
                                                                           n_steps=5, rng=1)


def controlled(control, h):
    factors = pb.Factors(FACTORS.function, *control.values.shape, control=control)
    pb.race(factors, rng=1), pb.RacingSampler(factors, rng=1).draw(2)


def changed(control, h):
    points = h(np.full((2, control.n_parameters), 0.1))
    values = control.changes(points)
    values([0, 1], [0]), values(h([0, 1]), h([0]))


def paired(table, h):
    states = h(np.zeros(table.n_variables, dtype=np.int64))
    factors, log_prior = table(0, states)
    for _ in range(20):
        pb.RacingSampler(factors, log_prior, rng=1).draw(2), pb.racing.exact_sample(factors, rng=1)
        factors.evaluate([0], [0, 1])


def study_told(policy, h):
    with Study.create(":memory:",
                      pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=9)) as study:
        arms = study.ask().arms
        study.tell(h(np.full(arms.size, 0.5)), positions=h(np.arange(arms.size)))


def amended(policy, h):
    with Study.create(":memory:",
                      pb.policies.RoundRobin(4, 1, batch_size=4, max_batches=9)) as study:
        study.tell(np.full(study.ask().arms.size, 0.5))
        study.amend(h(np.full(4, 0.25)), batch=0, positions=h(np.arange(4)), reason="again")


def wealth(rule, h):
    rule.margins([h([0.5, 1.0]), h([0.0, 0.25, 1.0])])


DRIVERS = {
    pb.Factors: {
        "evaluate": lambda one, h: one.evaluate(h([1, 0]), h([0, 1])),
        "race": lambda one, h: pb.race(one, rng=1),
        "draw": lambda one, h: [pb.RacingSampler(one, rng=i).draw(3) for i in range(5)],
        "exact_sample": lambda one, h: [pb.racing.exact_sample(one, rng=i) for i in range(5)],
        "lil_ucb": lambda one, h: pb.racing.lil_ucb(one, value_range=9.0, rng=1)},
    pb.racing.Populations: {"race": lambda one, h: pb.racing.race_populations(
        pb.racing.Populations(lambda n, i: np.ones((n.size, 1)), one.sizes), rng=1)},
    pb.racing.ControlVariate: {"race": controlled},
    pb.racing.PopulationMoments: {"taylor_control": lambda one,
                                  h: controlled(pb.racing.taylor_control(
        one, h(np.zeros((len(one.counts), 2))), h(np.zeros((len(one.counts), 3))),
        h(np.ones((len(one.counts), 3, 2)))), h)},
    pb.RacingSampler: {"draw": lambda one, h: one.draw(9)},
    pb.racing.AcceptanceTest: {"test": lambda one, h: [one.test(x / 4 - 1) for x in range(9)]},
    pb.tables.Blocks: {"values": lambda one, h: one.values(h([0, 1]), h([0, 1])),
                       "race": lambda one, h: pb.race(one, rng=1)},
    pb.Policy: {"tell": told, "add_late": late, "from_state": state_of, "study": study_told},
    **{cls: {"tell_counts": lambda one, h: one.tell_counts(
        h([5] * one.n_arms), h([2.5] * one.n_arms))} for cls in CLASSES.values()
       if hasattr(cls, "tell_counts") and issubclass(cls, pb.Policy)},
    pb.montecarlo.EstimatorAllocator: {"tell": allocated, "from_state": state_of},
    pb.environments.Environment: {
        "pull": lambda one, h: one.pull(h([0, 1, 1, 0]), 1),
        "pull_with_costs": lambda one, h: one.pull_with_costs(h([0, 1, 1, 0]), 1),
        "simulate": simulated},
    pb.environments.LogisticEvidence: {"log_likelihood": lambda one, h: one.log_likelihood(
        h([0.5]))},
    pb.environments.CIRCaplet: {"paths": lambda one, h: one.paths(h([0, 1, 1]), 1)},
    pb.BettingRace: {"tell": race_told, "from_state": state_of,
                     "in_order": lambda one, h: pb.BettingRace.in_order(
                         2, h([2, 0, 1]), value_range=(0, 1))},
    pb.BettingThreshold: {"tell": race_told, "from_state": state_of},
    pb.BudgetRace: {"tell": race_told, "from_state": state_of},
    pb.evaluation.RunningVerdict: {
        "tell": lambda one, h: one.tell(h(np.full(50, 0.25)), h(np.full(50, 0.75)))},
    pb.webtests.Guardrail: {"tell_counts": lambda one, h: one.tell_counts(
        h([9, 9]), h([2.0, 3]), h([2.0, 3]))},
    pb.CountRace: {"tell_counts": lambda one, h: one.tell_counts(
        h([9, 9, 9]), h([2.0, 3, 4.5]), h([2.0, 3, 4])),
                   "from_state": state_of},
    pb.betting.ConfidenceSequence: {"tell": lambda one, h: one.tell(h(np.full(50, 0.25))),
                                    "from_state": state_of},
    pb.stopping.GLR: {"margins": lambda one,
                      h: one.margins(pulls=h([9, 8, 7]), means=h([0.1, 0.2, 0.3]),
                                     variances=h([0.1, 0.1, 0.1])),
                      "is_sure": lambda one, h: one.is_sure(pulls=h([9, 8]), means=h([0.1, 0.2]))},
    pb.stopping.Betting: {"margins": wealth,
                          "is_sure": lambda one, h: one.is_sure([h([0.5]), h([0.5, 0.7])])},
    pb.mcmc.TaylorControl: {
        "changes": changed,
        "value_range": lambda one, h: one.value_range(h(np.full((2, one.n_parameters), 0.1))),
        "total_change": lambda one, h: one.total_change(
            h(np.full((2, one.n_parameters), 0.1)))()},
    pb.mcmc.PairwiseTable: {
        "call": paired,
        "sample": lambda one, h: [
            pb.mcmc.RacingGibbs(one, method=method).sample(
                3, n_warmup=1, n_chains=1, initial=h(np.zeros(one.n_variables, dtype=np.int64)),
                rng=1) for method in ("race", "exact", "poisson")]},
    pb.mcmc.ExactMinibatch: {
        "step": lambda one, h: one.step(h(np.array(one.mode)), n_steps=50, rng=1),
        "sample": lambda one, h: one.sample(3, n_warmup=2, n_chains=1,
                                            initial=h(np.array(one.mode)), rng=1)},
    pb.mcmc.Preconditioned: {"chain": chain}, pb.mcmc.RandomWalk: {"chain": chain},
    pb.mcmc.SGLD: {"chain": lambda one, h: chain(pb.mcmc.SGLD(
        lambda n, x: np.zeros(2), one.step_size, 3), h)},
    pb.mcmc.Mixture: {"chain": chain},
    pb.mcmc.Binomial: {"exact": lambda one, h: pb.mcmc.ExactMinibatch(
        h(POINTS[:2]), h([0, 1]), family=one).step(h([0.0, 0.0]), n_steps=9, rng=1)},
    Study: {"tell": study_told, "amend": amended},
}
# methods not called here: those that `border_calls` calls, and methods of other packages
ELSEWHERE = {"BanditSearchCV.score", "Blocks.open", "ExactMinibatch.from_control", "Factor.bind",
             "KMedoids.fit_predict", "KMedoids.fit_transform", "KMedoids.get_feature_names_out",
             "Preconditioned.from_control", "RacingGibbs.sample", "RacingMetropolis.sample",
             "RacingMetropolis.step", "SimulationResult.quantiles", "Study.create",
             "WebTest.create",
             "TaylorControl.from_autodiff"}
DRIVERS[pb.mcmc.GLMControl] = DRIVERS[pb.mcmc.TaylorControl]
for bound_class in (pb.racing.StudentBound, pb.racing.NormalBound, pb.racing.EBSBound,
                    pb.racing.BettingBound):
    DRIVERS[bound_class] = {"race": lambda one, h: pb.race(h(MATRIX), bound=one, rng=1)}
