"""Valid arguments of every public callable, which the tests of border values start from."""

import asyncio
import inspect
import os
import tempfile

import numpy as np
from sklearn.linear_model import Ridge

import pybandit as pb
import pybandit.numba
from pybandit.evaluation import RaceStopping
from pybandit.model_selection import BanditSearchCV
from pybandit.webtests import plan_counts, power_curves

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(60, 3))
POINTS = RNG.normal(size=(60, 2))
FACTORS = pb.Factors(lambda n, i: MATRIX[n][:, i], 60, 3)
BLOCKS = pb.tables.Blocks(lambda block, columns: MATRIX[20 * block:20 * block + 20][:, columns],
                          [20] * 3,
                          3, shuffled=True)
KERNEL = np.eye(4)
LOGS = [os.path.join(os.path.dirname(__file__), "tables", "data", "logs", "lm-eval",
                     f"invented__{name}") for name in ("alpha", "beta")]
ARMS = pb.environments.GaussianBandit([0.1, 0.2])
# Classes that only the package creates, functions called below by other names, and a command.
UNCALLED = {
    "AcceptResult", "AmendResult", "Amendment", "Batch", "BatchRecord", "BestOfResult",
    "Comparison", "ConfidenceBounds", "CountAmendment", "CountPlan", "DrawInfo", "Estimate",
    "Event", "KMedoids", "KMedoidsResult",
    "ExactStep", "Factor", "FunctionEnvironment", "FunctionPolicy", "Laplace", "MetropolisStep",
    "MedoidResult", "MedoidsResult",
    "RaceResult", "Recommendation", "SimulationResult", "SliceResult",
    "SplitCheck", "Status", "Study", "Screen", "WebTest", "WebTestStatus", "Metrics",
    "MetricResult", "PowerCurves",
    "TellResult", "VerifyResult", "BanditSearchCV", "Imported", "Amended", "PlateReadings",
    "Controls", "Layout", "Plates", "Dialect", "z_prime", "kind_of", "write_report",
    "Ranking", "ThresholdResult", "TiedSet", "Verdict",
    "best_of_async", "get_include", "main", "run_race", "to_arviz"}


def log_likelihood(n, points):
    return -np.tanh(POINTS[n % 60, :1] - points[:2].ravel()[:2])


def sampler_draw(size, rng):
    return pb.RacingSampler(MATRIX).draw(size, rng=rng)


def acceptance_test(log_threshold, rng):
    return pb.racing.AcceptanceTest(MATRIX[:, 0]).test(log_threshold, rng=rng)


def status_of_a_test(status):
    return pb.racing.AcceptanceTest(MATRIX[:, 0]).raise_status(status)


def evaluate(indices, states):
    return FACTORS.evaluate(indices, states)


def block_values(rows, columns):
    return BLOCKS.values(rows, columns)


def open_blocks(**options):
    return pb.tables.Blocks.open(**options)


def raise_status(status):
    return pb.RacingSampler(MATRIX).raise_status(status)


def gibbs_sample(**options):
    return pb.mcmc.RacingGibbs(lambda v, x: MATRIX, 2).sample(**options)


def metropolis_sample(**options):
    return pb.mcmc.RacingMetropolis(log_likelihood, 60, 1).sample(**options)


def quadratic(n, points):
    return -((points[:, None] - POINTS[n])**2).sum(axis=2).T


def preconditioned_by(control, prior_precision):
    return pb.mcmc.Preconditioned.from_control(control, prior_precision=prior_precision)


LABELS = (POINTS[:, 0] > POINTS[:, 1]) * 1.0
EXACT = pb.mcmc.ExactMinibatch(POINTS, LABELS)


def exact_sample(**options):
    return EXACT.sample(**options)


def metropolis_step(value, n_steps, rng):
    return pb.mcmc.RacingMetropolis(log_likelihood, 60, 1).step(value, n_steps=n_steps, rng=rng)


PAIR = pb.mcmc.PairwiseTable(np.eye(2), [[1], [0]])


def factors_of_a_pair(variable, values):
    return PAIR(variable, values)


def exact_step(value, n_steps, rng):
    return EXACT.step(value, n_steps=n_steps, rng=rng)


def value_range(points):
    return pb.mcmc.TaylorControl([0.0, 0.0], POINTS, third=1.0).value_range(points)


def from_autodiff(**options):
    return pb.mcmc.TaylorControl.from_autodiff(lambda n, theta: POINTS[n, 0] * theta[0], **options)


def exact_from_control(**options):
    return pb.mcmc.ExactMinibatch.from_control(log_likelihood=quadratic, **options)


CHAINS = dict(n_samples=2, n_warmup=1, n_chains=2, initial=[0, 1], thin=1, rng=1, n_threads=1,
              progress=False)
RACING = {
    pb.racing.AcceptanceTest: dict(log_ratios=MATRIX[:, 0]),
    pb.racing.BettingBound: dict(value_range=(0, 1)),
    pb.racing.ControlVariate: dict(values=MATRIX, totals=MATRIX.sum(axis=0)),
    pb.racing.EBSBound: dict(value_range=1.0),
    pb.Factors: dict(function=len, n_factors=5, n_states=2),
    pb.racing.Looks: {},
    pb.racing.NormalBound: {},
    pb.racing.PopulationMoments: dict(points=POINTS),
    pb.racing.Populations: dict(function=len, sizes=[3, 4]),
    pb.RacingSampler: dict(factors=MATRIX),
    pb.racing.StudentBound: {},
    pb.racing.accept: dict(log_ratios=MATRIX[:, 0]),
    pb.racing.exact_sample: dict(factors=MATRIX),
    pb.racing.lil_ucb: dict(factors=MATRIX, value_range=9.0),
    pb.race: dict(factors=MATRIX),
    pb.racing.race_populations: dict(populations=[MATRIX[:, 0], MATRIX[:5, 1]]),
    pb.racing.slice_sample: dict(log_likelihood=log_likelihood, x=0.1, n_factors=60),
    pb.racing.taylor_control: dict(points=POINTS, centers=[[0.0, 0.0]], values=[0.0, 0.0],
                                   gradients=np.ones((2, 2))),
    sampler_draw: dict(size=2, rng=1),
    acceptance_test: dict(log_threshold=0.0, rng=1),
    evaluate: dict(indices=[1, 2], states=[0]),
    raise_status: dict(status=0),
    status_of_a_test: dict(status=0),
}
KINDS = {
    pb.factors.categorical: dict(y=np.arange(60) % 2, log_probabilities=np.log([[0.5, 0.5]] * 3),
                                 members=[0, 1]),
    pb.factors.gaussian: dict(y=POINTS[:, 0], means=[0.1, 0.2], std=1.0, members=[0, 1]),
    pb.factors.members: dict(labels=[0, 1, 1], n_labels=2),
    pb.factors.pairwise: dict(table=np.eye(2), labels=np.arange(60) % 2, neighbours=[0, 1],
                              weights=[0.5, 0.5]),
    pb.factors.poisson: dict(y=[1, 2, 0], rates=[1.0, 2.0], members=[0, 1]),
}
BOUNDS = {
    pb.bounds.batch_racing_batches: dict(means=[0.9, 0.1], batch_size=4),
    pb.bounds.batch_racing_deviation: dict(n=5, omega=0.05),
    pb.bounds.batch_racing_pulls: dict(means=[0.9, 0.1]),
    pb.bounds.batch_sar_error: dict(means=[0.9, 0.1], batch_size=4, max_batches=100),
    pb.bounds.bayes_gap_error: dict(means=[0.9, 0.1], budget=10, noise_std=0.1),
    pb.bounds.bernoulli_regret_rate: dict(means=[0.9, 0.1]),
    pb.bounds.halving_least_pulls: dict(noise_std=[1.0, 2.0], stage_pulls=100),
    pb.bounds.normal_variance_interval: dict(n=100, variance=1.0, delta=0.05),
    pb.bounds.sequential_halving_error: dict(means=[0.9, 0.1], budget=100),
    pb.bounds.shadavar_error: dict(means=[0.9, 0.1], noise_std=[1.0, 2.0], budget=1000),
    pb.bounds.shvar_error: dict(means=[0.9, 0.1], noise_std=[1.0, 2.0], budget=1000),
    pb.bounds.thompson_regret: dict(gaps=[0.0, 0.1], n=100),
    pb.bounds.ucb1_regret: dict(gaps=[0.0, 0.1], n=100),
    pb.bounds.ucb_v_regret: dict(gaps=[0.0, 0.1], n=100, noise_std=[0.1, 0.2]),
    pb.bounds.b_normal: dict(delta=0.05, first_fraction=0.1),
    pb.bounds.boundary: dict(delta=0.05, fractions=[0.1, 0.2]),
    pb.bounds.crossing_probability: dict(boundary=2.0, fractions=[0.1, 0.2]),
    pb.bounds.empirical_bernstein_serfling: dict(n=5, population_size=10, std=1.0, value_range=1.0,
                                                 delta=0.1),
    pb.bounds.kl_ucb: dict(mean=0.5, n=3, t=10),
    pb.bounds.kl_variance: dict(pair_statistic=0.1, n_pairs=5, delta=0.1),
    pb.bounds.normal: dict(n=5, population_size=10, std=1.0, boundary=2.0),
    pb.bounds.normal_sample_complexity: dict(gap=0.5, population_size=1000, n_states=2, delta=0.05),
    pb.bounds.student: dict(n=5, population_size=10, std=1.0, boundary=2.0),
    pb.bounds.ucb1: dict(mean=0.5, n=3, t=10),
    pb.bounds.ucb_v: dict(mean=0.5, variance=0.1, n=3, t=10),
}
MCMC = {
    pb.mcmc.Binomial: dict(trials=[1, 2]),
    pb.mcmc.ExactMinibatch: dict(x=POINTS, y=LABELS),
    pb.mcmc.StudentT: dict(df=3.0),
    exact_sample: CHAINS,
    value_range: dict(points=[[0.0, 0.0], [0.1, 0.2]]),
    from_autodiff: dict(n_factors=60, center=[0.1, 0.2]),
    exact_from_control: dict(
        control=pb.mcmc.TaylorControl([0.0, 0.0], POINTS, -np.tile(np.eye(2), (60, 1, 1)),
                                      third=0.0)),
    exact_step: dict(value=[0.1, 0.2], n_steps=1, rng=1),
    pb.mcmc.GLMControl: dict(features=POINTS, slopes=POINTS[:, 0], curvatures=POINTS[:, 1],
                             center=[0.0, 0.0]),
    pb.mcmc.Mixture: dict(proposals=[pb.mcmc.RandomWalk()]),
    pb.mcmc.Preconditioned: dict(mode=[0.0, 0.0], covariance=np.eye(2)),
    preconditioned_by: dict(control=pb.mcmc.TaylorControl([0.0, 0.0], POINTS),
                            prior_precision=1.0),
    pb.mcmc.laplace: dict(log_likelihood=quadratic, n_factors=60, n_parameters=2),
    pb.mcmc.PairwiseTable: dict(table=np.eye(2), neighbours=[[1], [0]], weights=[[0.5], [0.5]],
                                log_prior=[0.0, 0.1]),
    pb.mcmc.RacingGibbs: dict(conditional=len, n_variables=2),
    factors_of_a_pair: dict(variable=0, values=np.array([0, 1])),
    metropolis_step: dict(value=[0.5], n_steps=1, rng=1),
    pb.mcmc.RacingMetropolis: dict(log_likelihood=len, n_factors=9, n_parameters=2),
    pb.mcmc.RandomWalk: {},
    pb.mcmc.SGLD: dict(gradient=len, step_size=0.1, batch_size=3),
    pb.mcmc.TaylorControl: dict(center=[0.0, 0.0], gradients=POINTS),
    gibbs_sample: CHAINS,
    metropolis_sample: CHAINS | dict(initial=[0.5]),
}


def counted(trials, sums, squares):
    return pb.CountRace(3).tell_counts(trials, sums, squares)


def split(n):
    return pb.CountRace(3).split(n)


def retired(arm):
    return pb.CountRace(3).retire(arm)


def exponential(values, **options):
    return pb.confidence_sequence(values, method="hoeffding", **options)


BETTING = {
    pb.betting.Bets: {},
    pb.BettingRace: dict(n_arms=3, n_items=9, value_range=(0, 1), costs=[0.1, 0.2, 0.3]),
    pb.BettingThreshold: dict(n_arms=3, n_items=9, threshold=0.5, value_range=(0, 1)),
    pb.BudgetRace: dict(n_arms=3, n_items=9, value_range=(0, 1),
                        costs=pb.Costs([0.1, 0.2, 0.3], budget=6.0)),
    pb.betting.ConfidenceSequence: {},
    pb.CountRace: dict(n_arms=3),
    pb.webtests.Guardrail: dict(n_arms=3, margin=0.1),
    pb.webtests.Metric: dict(margin=0.1),
    pb.webtests.Cuped: dict(coefficient=0.5),
    pb.webtests.Ratio: dict(theta=0.5, value_range=(0, 1), denominator_range=(0, 1)),
    counted: dict(trials=[9, 9, 9], sums=[2, 3, 4.5], squares=[2, 3, 4]),
    split: dict(n=7), retired: dict(arm=1),
    pb.confidence_sequence: dict(values=[0.1, 0.5, 0.3], planned=9),
    exponential: dict(values=[0.1, 0.5, 0.3], n_bets=4),
}


def verdict_at_once(**options):
    return pb.verdict(**options)


def told_verdict(a, b):
    return pb.evaluation.RunningVerdict().tell(a, b)


def more_items(lift):
    return pb.verdict([1, 0, 1, 1], [0, 0, 1, 0]).more(lift)


async def coins(model, item):
    return (hash(model) + item) % 3 / 2  # the model is a number or a name


def called(**options):
    return pb.best_of(coins, 3, 9, value_range=(0, 1), **options)


def awaited(**options):
    return asyncio.run(pb.best_of_async(coins, **options))


def raced(**options):
    race = pb.BettingRace(3, 20, value_range=(0, 1), rng=1)
    return pb.evaluation.run_race(race, np.full((20, 3), 0.5), **options)


TWO = dict(a=[1, 0, 1, 1], b=[0, 0, 1, 0], margin=0.1, clusters=[1, 1, 2, 3])
EVALUATION = {pb.verdict: TWO, verdict_at_once: dict(TWO, final="sign-flip"),
              pb.evaluation.RunningVerdict: dict(planned=9, margin=0.1, final="exact"),
              told_verdict: dict(a=[1, 0], b=[0, 0]), more_items: dict(lift=0.1),
              pb.tied_set: dict(scores=[[1, 0, 1], [0, 0, 1]], clusters=["a", "b"]),
              pb.evaluation.read_scores: dict(
                  source=LOGS, metric=["exact_match", "acc"], filter=["strict", "none"],
                  failed=0.0),
              pb.Calls: dict(block_size=4, concurrency=2, retry=OSError, timeout=60.0,
                             per_minute=9e6, failed=0.0, executor=None, version="1"),
              pb.Items: dict(items=[1, 2, 3], population_size=9, weights=[0.1, 0.2, 0.3]),
              pb.Costs: dict(values=[0.1, 0.2], max_cost=2.0),
              pb.betting.Bets: dict(mixture="product", n_bets=4, hybrid=False),
              called: dict(calls=pb.Calls(concurrency=2), delta=0.1),
              awaited: dict(models=3, items=9, value_range=(0, 1)),
              raced: dict(models=["a", "b", "c"], items=20),
              pb.best_of: dict(scores=RNG.random((20, 3)), value_range=(0, 1),
                               costs=RNG.random((20, 3))),
              pb.best_of_pairs: dict(judge=lambda a, b, items: np.full(len(items), a > b),
                                     models=3, items=9, baseline=0),
              pb.evaluation.rank_by_pairs: dict(
                  judge=lambda a, b, items: np.full(len(items), a > b), models=3, items=9),
              pb.evaluation.group_weights: dict(groups=["a", "b", "a"]),
              RaceStopping: dict(n_arms=3, value_range=(0, 1), value=float)}


def searched(**options):
    for name, value in options.items():
        try:
            repr(value)
        except Exception as error:  # scikit-learn calls repr
            raise ValueError(name) from error
    search = BanditSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=2, **options)
    return search.fit(POINTS, POINTS[:, 0])


SEARCHES = {searched: dict(policy="auto", budget=0.5, kernel=None, random_state=0),
            plan_counts: dict(rates=[0.1, 0.2], batch_size=50, n_runs=3, max_batches=3),
            power_curves: dict(rate=0.1, lifts=[0.5], batch_size=50, n_runs=3, max_batches=3)}
TABLES = {pb.tables.Blocks: dict(read=len, sizes=[3, 4], n_columns=2, names="ab"),
          block_values: dict(rows=[1, 2], columns=[0]),
          open_blocks: dict(table=MATRIX, columns=[1, 0]),
          pb.tables.shuffle: dict(table=MATRIX, path=os.path.join(tempfile.mkdtemp(), "t.parquet"),
                        overwrite=True, rng=1)}
GAUSSIAN = dict(n_arms=len(KERNEL), budget=9, kernel=KERNEL, noise_std=1.0)
POLICIES = {
    pb.policies.BatchHalving: dict(n_arms=4, k=1, batch_size=4, max_batches=5),
    pb.policies.BatchRacing: dict(n_arms=4, k=1),
    pb.policies.BatchSAR: dict(n_arms=4, k=1, batch_size=4, max_batches=5),
    pb.policies.BatchScreening: dict(n_arms=4, k=1, batch_size=4, max_batches=5),
    pb.policies.BayesGap: GAUSSIAN, pb.policies.BayesUCB: GAUSSIAN,
            pb.policies.ExpectedImprovement: GAUSSIAN,
    pb.policies.GPUCB: GAUSSIAN, pb.policies.GaussianThompson: GAUSSIAN,
            pb.policies.ProbabilityOfImprovement: GAUSSIAN,
    pb.policies.ContinuousRejects: dict(n_arms=4, budget=40),
    pb.policies.EBTC: dict(n_arms=4), pb.policies.TopTwo: dict(n_arms=4),
            pb.policies.TrackAndStop: dict(n_arms=4),
    pb.policies.LUCB: dict(n_arms=4, delta=0.1), pb.policies.KLLUCB: dict(n_arms=4, delta=0.1),
    pb.policies.UGapEc: dict(n_arms=4, delta=0.1), pb.policies.LilUCB: dict(n_arms=4, delta=0.1),
    pb.policies.SuccessiveElimination: dict(n_arms=4, stopping=pb.stopping.GLR(delta=0.1)),
    pb.policies.OCBA: dict(n_arms=4, budget=50), pb.policies.APT: dict(n_arms=4, threshold=0.5),
    pb.policies.GoodArms: dict(n_arms=4, delta=0.1, threshold=0.5),
    pb.stopping.Betting: dict(delta=0.1),
    pb.stopping.GLR: dict(delta=0.1), pb.stopping.optimal_proportions: dict(means=[0.1, 0.5]),
    pb.stopping.lower_bound: dict(means=[0.1, 0.5], delta=0.1),
    pb.policies.GapE: dict(n_arms=4, budget=40, value_range=1.0),
    pb.policies.GapEV: dict(n_arms=4, budget=40, value_range=1.0),
    pb.policies.KLUCB: dict(n_arms=4), pb.policies.UCB1: dict(n_arms=4),
            pb.policies.UCBV: dict(n_arms=4),
    pb.Policy: dict(n_arms=4),
    pb.policies.RoundRobin: dict(n_arms=4, k=1, batch_size=4, max_batches=5),
    pb.policies.SHAdaVar: dict(n_arms=4, budget=80),
    pb.policies.SHVar: dict(n_arms=4, budget=80, noise_std=[1.0] * 4),
    pb.policies.SequentialHalving: dict(n_arms=4, budget=80),
    pb.policies.SuccessiveRejects: dict(n_arms=4, budget=80),
    pb.policies.ThompsonSampling: dict(n_arms=4),
    pb.policies.UCBE: dict(n_arms=4, budget=40, complexity=1.0),
    pb.policies.UGapEb: dict(n_arms=4, budget=40, complexity=1.0),
    pb.policies.Uniform: dict(n_arms=4, budget=40), pb.policies.VBR: dict(n_arms=4, budget=40),
    pb.kernels.matern: {}, pb.kernels.rbf: {},
}
RESULT = pb.simulate(pb.policies.Uniform(2, budget=8), ARMS, 4, rng=1)
COMPARISON = pb.compare({"a": pb.policies.Uniform(2, budget=8)}, ARMS, 2, rng=1)
SAVED = os.path.join(tempfile.mkdtemp(), "comparison.npz")
COMPARISON.save(SAVED)


def answers_above(threshold, epsilon):
    return pb.simulate(pb.policies.Uniform(2, budget=8), ARMS, 2,
                       answer=pb.simulation.Above(threshold, epsilon=epsilon))


def load_comparison(path):
    try:
        return pb.simulation.Comparison.load(path)
    except OSError as error:  # the file does not exist
        raise ValueError(f"path: {error}") from error


def stopping_times(q, of):
    return RESULT.quantiles(q, of)


SIMULATION = {
    pb.simulation.Above: dict(threshold=0.5, epsilon=0.1),
    pb.simulation.Best: dict(epsilon=0.1),
    pb.environments.BernoulliBandit: dict(means=[0.1, 0.2]),
    pb.environments.BinomialBandit: dict(trials=5, means=[0.1, 0.2]),
    pb.environments.CostlyBandit: dict(environment=ARMS, costs=[1.0, 2.0]),
    pb.environments.EmpiricalBandit: dict(samples=[[0.1, 0.2], [0.3]]),
    pb.environments.Environment: dict(means=[0.1, 0.2], noise_std=[1.0, 1.0]),
    pb.environments.GaussianBandit: dict(means=[0.1, 0.2]),
    pb.environments.ScaledBernoulliBandit: dict(midpoints=[0.1, 0.2], scales=[0.1, 0.1],
                                                probabilities=[0.5, 0.5]),
    pb.environments.TableBandit: dict(rewards=[[0.1, 0.2], [0.3, 0.4]]),
    pb.environments.TruncatedNormalBandit: dict(means=[0.4, 0.5], noise_std=[0.01**0.5, 0.02**0.5]),
    pb.environments.UniformBandit: dict(means=[0.1, 0.2], noise_std=[0.1**0.5] * 2),
    pb.simulate: dict(policy=lambda e: pb.policies.Uniform(2, budget=8), environment=ARMS,
                      n_runs=2),
    pb.compare: dict(policies={"a": pb.policies.Uniform(2, budget=8)}, environment=ARMS, n_runs=2),
    answers_above: dict(threshold=0.1, epsilon=0.0),
    load_comparison: dict(path=SAVED),
    stopping_times: dict(q=[0.1, 0.5], of="pulls"),
}
MONTECARLO = {
    pb.montecarlo.EstimatorAllocator: dict(n_arms=3),
    pb.combine_estimators: dict(
        estimators=[lambda rng, size=None: rng.normal(size=size)] * 2, budget=60),
    pb.environments.CIRCaplet: dict(strike=0.08, thetas=[0.0, 0.1], n_steps=4),
    pb.environments.LogisticEvidence: dict(features=[[0.5], [-1.0]], labels=[1, 0], n_anneals=[5]),
}
NUMBA = {pb.numba.policy: dict(ask=lambda t, n_arms: t % n_arms),
         pb.numba.environment: dict(draw=lambda arm, rng: rng.random()),
         pb.numba.factor: dict(function=lambda factors, states, out: None)}


def clustered(**options):
    for name, value in options.items():
        try:
            repr(value)
        except Exception as error:  # scikit-learn calls repr
            raise ValueError(name) from error
    return pb.cluster.KMedoids(**options).fit(POINTS)


CLUSTER = {pb.cluster.medoid: dict(X=POINTS, labels=np.arange(60) % 3, weights=np.ones(60)),
           pb.cluster.kmedoids: dict(X=POINTS, n_clusters=3, weights=np.ones(60), rng=1),
           clustered: dict(n_clusters=3, init=[0, 1, 2], random_state=1)}
ROOMS = {"racing": RACING, "factors": KINDS, "bounds": BOUNDS, "mcmc": MCMC, "betting": BETTING,
         "evaluation": EVALUATION, "searches": SEARCHES, "tables": TABLES, "policies": POLICIES,
         "simulation": SIMULATION, "montecarlo": MONTECARLO, "numba": NUMBA,
         "cluster": CLUSTER}


def parameters_of(function, given):
    """Return the names of all parameters of a function."""
    names = [name for name, one in inspect.signature(function).parameters.items()
             if one.kind is not one.VAR_KEYWORD]
    return sorted({*names, *given})
