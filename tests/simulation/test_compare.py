"""Several policies on common random numbers; what is merged is one longer run, bit for bit."""

import numpy as np
import pytest

import pybandit as pb

from simulation.arms import (
    GAUSSIAN,
    MEANS,
    Coins,
    InTurn,
    Says,
    assert_same,
    draw_coins,
    make_in_turn,
)
from simulation.reference import streams

FOUR = {"halving": pb.SequentialHalving(8, 120), "ucb1": lambda e: pb.UCB1(e.n_arms),
        "top two": pb.TopTwo(8), "in turn": make_in_turn}
OPTIONS = dict(horizon=120, checkpoints=[45, 90, 120], arm_pulls_by_run=True)


def assert_equal(one, other):
    """Bit for bit."""
    assert one.names == other.names and one.options == other.options
    assert one.streams == other.streams
    for name in one:
        assert_same(one[name], other[name])


class Keeps(pb.UCB1):
    """A compiled policy, told in Python: it keeps its rewards by arm."""

    def __init__(self, n_arms, kept):
        super().__init__(n_arms)
        self.kept = kept

    def tell(self, arms, rewards, missing="raise"):
        for arm, reward in zip(arms, rewards, strict=True):
            self.kept.setdefault(int(arm), []).append(reward)
        super().tell(arms, rewards, missing)


class Backwards(InTurn):
    """From the last arm to the first."""

    def __init__(self, n_arms, kept):
        super().__init__(n_arms, 20)
        self.kept = kept

    def ask(self):
        return np.arange(self.n_arms)[::-1]

    def tell(self, arms, rewards, missing="raise"):
        for arm, reward in zip(arms, rewards, strict=True):
            self.kept.setdefault(int(arm), []).append(reward)
        super().tell(arms, rewards, missing)


def test_the_jth_reward_of_an_arm_is_the_same_for_all():
    """And that of NumPy's generators, whoever pulls, in whatever order."""
    adaptive, regular = [], []

    def keeping(kind, kept):
        def make(environment):
            kept.append({})
            return kind(8, kept[-1])
        return make

    pb.compare({"adaptive": keeping(Keeps, adaptive), "regular": keeping(Backwards, regular)},
               GAUSSIAN, 3, rng=6, horizon=160)
    for i in range(3):
        table = streams.common_rewards(6, i, MEANS, 160)
        for kept in (adaptive[i], regular[i]):
            assert sum(map(len, kept.values())) == 160
            for arm, rewards in kept.items():
                assert rewards == table[arm, :len(rewards)].tolist()
    assert len({len(rewards) for rewards in adaptive[0].values()}) > 1


@pytest.mark.parametrize("name", ["halving", "ucb1"])
def test_compiled_runs_see_the_rewards_of_the_table(name):
    """Run by run, the table of a run as an environment of its own."""
    found = pb.compare(FOUR, GAUSSIAN, 6, rng=3, **OPTIONS)[name]
    for i in range(6):
        table = Replayed(streams.common_rewards(3, i, MEANS, 120))
        alone = pb.simulate(FOUR[name], table, 1, **OPTIONS)
        for array in ("errors", "regrets", "checkpoint_leaders", "arm_pulls_by_run"):
            assert getattr(found, array)[i].tolist() == getattr(alone, array)[0].tolist()


class Replayed(pb.environments.TableBandit):
    """Rewards of a table, with the means of the law that they came from."""

    @property
    def means(self):
        return MEANS.copy()


def test_without_common_rewards_each_is_its_own_simulation():
    both = pb.compare(FOUR, GAUSSIAN, 7, rng=4, common_rewards=False, **OPTIONS)
    for name, make in FOUR.items():
        assert_same(both[name], pb.simulate(make, GAUSSIAN, 7, rng=4, **OPTIONS))


def test_python_and_compiled_code_do_the_same_on_common_rewards():
    class Slow(pb.LUCB):
        def ask(self):
            return super().ask()

    pair = pb.compare({"c": pb.LUCB(8, 0.1, 2), "python": lambda e: Slow(8, 0.1, 2)}, GAUSSIAN, 5,
                      rng=8, horizon=300, checkpoints=[50, 300])
    assert_same(pair["c"], pair["python"])


def test_policies_of_costs_see_common_costs():
    bandit = pb.environments.CostlyBandit(GAUSSIAN, np.arange(1.0, 9.0), 3.0)
    told = []

    class Keeping(pb.EstimatorAllocator):
        def tell(self, arms, rewards, costs):
            told[-1] += zip(np.asarray(arms).tolist(), rewards, costs, strict=True)
            super().tell(arms, rewards, costs)

    def make(environment):
        told.append([])
        return Keeping(8, "uniform", costs="observed", pilot=2, budget=100.0 * len(told))

    pb.compare({"few": make, "more": make}, bandit, 1, rng=1)
    few, more = told
    assert 16 <= len(few) < len(more)
    for arm in range(8):
        one, two = ([entry for entry in run if entry[0] == arm] for run in (few, more))
        assert one == two[:len(one)] and len(set(one)) == len(one)


def test_common_rewards_make_differences_smaller():
    """Uniform against twice as many pulls: the regrets of a run rise and fall together."""
    policies = {"few": pb.Uniform(8, 80), "more": pb.Uniform(8, 160)}
    spread = {}
    for common in (True, False):
        pair = pb.compare(policies, lambda rng: pb.environments.GaussianBandit(MEANS), 600, rng=1,
                          common_rewards=common)
        spread[common] = np.corrcoef(pair["few"].regrets, pair["more"].regrets)[0, 1]
    assert spread[True] > 0.35


def test_runs_of_all_policies_have_the_same_environment():
    seen = {}

    def keeping(name):
        def make(environment):
            seen.setdefault(name, []).append(environment.means.tolist())
            return make_in_turn(environment)
        return make

    pb.compare({name: keeping(name) for name in "ab"}, draw_coins, 5, rng=2)
    assert seen["a"] == seen["b"] and len({tuple(means) for means in seen["a"]}) == 5


@pytest.mark.parametrize("environment", [GAUSSIAN, Coins(MEANS), draw_coins],
                         ids=["compiled", "python", "drawn"])
def test_threads_change_nothing(environment):
    one, two = (pb.compare(FOUR, environment, 9, rng=1, n_threads=n, **OPTIONS) for n in (1, 3))
    assert_equal(one, two)


# -- merging ------------------------------------------------------------------------------


def test_merged_is_one_longer_run():
    seeds = np.random.SeedSequence(5)
    parts = [pb.compare(FOUR, GAUSSIAN, n, rng=seeds, **OPTIONS) for n in (4, 7, 2)]
    merged = parts[0] + parts[1] + parts[2]
    assert_equal(merged, pb.compare(FOUR, GAUSSIAN, 13, rng=5, **OPTIONS))
    assert merged.n_runs == 13 and len(merged.streams) == 1


def test_other_seeds_are_merged_in_their_order():
    one, two = (pb.compare(FOUR, GAUSSIAN, 4, rng=seed, horizon=99) for seed in (1, 2))
    merged = one + two
    assert [stream["words"][0] for stream in merged.streams] == [1, 2]
    for name in FOUR:
        assert merged[name].regrets.tolist() == [*one[name].regrets, *two[name].regrets]
        assert merged[name].arm_pulls == pytest.approx(
            (one[name].arm_pulls + two[name].arm_pulls) / 2)
    three = merged + pb.compare(FOUR, GAUSSIAN, 4, rng=3, horizon=99)
    with pytest.raises(ValueError, match="streams must differ .* run 0 of the same seed"):
        three + two


def test_the_same_runs_are_refused():
    pair = {"a": pb.UCB1(8), "b": pb.EBTC(8)}
    seeds = np.random.SeedSequence(9)
    first = pb.compare(pair, GAUSSIAN, 5, rng=seeds, horizon=20)
    pb.compare(pair, GAUSSIAN, 5, rng=seeds, horizon=20) + first
    for rng in (9, np.random.SeedSequence([9, 0])):
        with pytest.raises(ValueError, match="both have run 0 of the same seed; take another rng"):
            first + pb.compare(pair, GAUSSIAN, 2, rng=rng, horizon=20)
    again = np.random.SeedSequence(9, n_children_spawned=4)
    with pytest.raises(ValueError, match="both have run 4 of the same seed"):
        first + pb.compare(pair, GAUSSIAN, 2, rng=again, horizon=20)


BASE = dict(policies={"a": pb.UCB1(8)}, environment=GAUSSIAN, n_runs=2, horizon=30)


@pytest.mark.parametrize("name, other", [
    ("policies", dict(policies={"b": pb.UCB1(8)})),
    ("policies", dict(policies={"a": pb.UCB1(8, constant=3.0)})),
    ("policies", dict(policies={"a": pb.EBTC(8)})),
    ("policies", dict(policies={"a": pb.UCB1(8), "b": pb.EBTC(8)})),
    ("policies", dict(policies={"a": lambda e: Says(8, [0])})),
    ("environment", dict(environment=pb.environments.GaussianBandit(MEANS + 0.1))),
    ("environment", dict(environment=pb.environments.GaussianBandit(MEANS, 2.0))),
    ("environment", dict(environment=Coins(MEANS), policies={"a": pb.UCB1(8)})),
    ("environment", dict(environment=lambda rng: GAUSSIAN,
                         policies={"a": pb.UCB1(8)})),
    ("horizon", dict(horizon=31)), ("checkpoints", dict(checkpoints=[9, 30])),
    ("answer", dict(answer="above", threshold=0.5)), ("answer", dict(epsilon=0.1)),
    ("arm_pulls_by_run", dict(arm_pulls_by_run=True)),
    ("common_rewards", dict(common_rewards=False)),
])
def test_other_options_are_refused_by_name(name, other):
    one = pb.compare(**BASE, rng=1)
    two = pb.compare(**BASE | other, rng=2)
    expected = f"^({name}|policies) must be equal in comparisons that are merged; got"
    with pytest.raises(ValueError, match=expected):
        one + two
    with pytest.raises(TypeError, match="unsupported operand"):
        one + 3


@pytest.mark.parametrize("policies, error, words", [
    ({}, TypeError, "policies must be a mapping of names"),
    ([pb.UCB1(8)], TypeError, "policies must be a mapping of names"),
    ({"": pb.UCB1(8)}, TypeError, "policies must have names that are text; got ''"),
    ({1: pb.UCB1(8)}, TypeError, "policies must have names that are text; got 1"),
    ({"a": 3}, TypeError, r"policies\['a'\] must be a function of an environment, or a policy"),
])
def test_bad_policies(policies, error, words):
    with pytest.raises(error, match=words):
        pb.compare(policies, GAUSSIAN, 2, horizon=9)


def test_an_exception_says_whose_it_is():
    with pytest.raises(ValueError, match="horizon must be given") as raised:
        pb.compare({"good": pb.SequentialHalving(8, 80), "bad": pb.UCB1(8)}, GAUSSIAN, 2)
    assert raised.value.__notes__ == ["in policies['bad']"]
    with pytest.raises(ValueError, match="name must be one of 'a'; got 'b'"):
        pb.compare(**BASE)["b"]


# -- tables, pictures, files --------------------------------------------------------------


@pytest.fixture(scope="module")
def pair():
    return pb.compare(FOUR, GAUSSIAN, 30, rng=1, **OPTIONS)


@pytest.fixture(scope="module")
def plain():
    return pb.compare({"halving": pb.SequentialHalving(8, 80), "uniform": pb.Uniform(8, 80)},
                      GAUSSIAN, 20, rng=1)


def test_frames(pair, plain):
    pytest.importorskip("pandas")
    frame = pair.to_frame()
    assert frame.index.tolist() == list(FOUR) and frame["n_runs"].tolist() == [30] * 4
    one = pair["ucb1"]
    assert frame.loc["ucb1", "error"] == one.error_probability
    assert tuple(frame.loc["ucb1", ["error_low", "error_high"]]) == one.error_interval
    assert frame.loc["ucb1", "pulls_50%"] == np.inf  # it never stops
    assert frame.loc["halving", "pulls_50%"] == 120 and frame.loc["ucb1", "stopped"] == 0.0
    curves = pair.to_frame("checkpoints")
    assert len(curves) == 12 and curves["checkpoint"].tolist() == [45, 90, 120] * 4
    part = curves[curves["policy"] == "top two"]
    for name, column in zip(("regret", "regret_low", "regret_high"),
                            pair["top two"].curve("regret"), strict=True):
        assert part[name].tolist() == column.tolist()
    runs = pair.to_frame("runs")
    assert len(runs) == 120
    assert runs[runs["policy"] == "ucb1"]["regret"].tolist() == one.regrets.tolist()
    with pytest.raises(ValueError, match="of must be one of 'policies', 'checkpoints', 'runs'"):
        pair.to_frame("arms")
    with pytest.raises(ValueError, match="checkpoints must be given"):
        plain.to_frame("checkpoints")


def test_data_sets(pair, plain):
    pytest.importorskip("xarray")
    data = pair.to_xarray()
    assert dict(data.sizes) == {"policy": 4, "run": 30, "arm": 8, "checkpoint": 3}
    one = data.sel(policy="ucb1")
    assert one["checkpoint_regret"].values.tolist() == pair["ucb1"].checkpoint_regrets.tolist()
    assert one["arm_pulls_by_run"].values.tolist() == pair["ucb1"].arm_pulls_by_run.tolist()
    assert data.attrs == pair.options
    assert set(plain.to_xarray().sizes) == {"policy", "run", "arm"}


@pytest.mark.parametrize("of", ["error", "regret", "cumulative_regret"])
def test_pictures(pair, plain, of):
    pytest.importorskip("matplotlib")
    axis = pair.plot(of).axes[0]
    lines = {line.get_label(): line for line in axis.lines}
    assert list(lines) == list(FOUR)
    mean, low, high = pair["ucb1"].curve(of)
    assert lines["ucb1"].get_ydata().tolist() == mean.tolist()
    band = axis.collections[1].get_paths()[0].vertices
    assert any(np.allclose(point, (90, high[1])) for point in band)
    assert any(np.allclose(point, (90, low[1])) for point in band)
    ends = plain.plot(of).axes[0]
    assert [label.get_text() for label in ends.get_yticklabels()] == ["halving", "uniform"]
    value = plain.to_xarray()[of].mean("run").values
    assert [line.get_xdata()[0] for line in ends.lines if len(line.get_xdata()) == 1
            and line.get_marker() == "o"] == pytest.approx(value.tolist())
    assert pair.plot(of, axes=ends) is ends.figure
    with pytest.raises(ValueError, match="of must be one of 'error', 'regret'"):
        pair.plot("pulls")


def test_files(pair, plain, tmp_path):
    for j, one in enumerate((pair, plain)):
        path = tmp_path / f"{j}.anything"
        one.save(path)
        assert_equal(pb.Comparison.load(path), one)
    plain.save(str(tmp_path / "0.anything"))  # replaced
    assert_equal(pb.Comparison.load(str(tmp_path / "0.anything")), plain)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.anything", "1.anything"]
    loaded = pb.Comparison.load(tmp_path / "1.anything")
    more = pb.compare({"halving": pb.SequentialHalving(8, 80), "uniform": pb.Uniform(8, 80)},
                      GAUSSIAN, 20, rng=2)
    assert_equal(loaded + more, plain + more)


def test_files_that_are_none(pair, tmp_path):
    path = tmp_path / "a.npz"
    with pytest.raises(FileNotFoundError):
        pb.Comparison.load(path)
    with pytest.raises(TypeError, match="path must be a path; got 3"):
        pair.save(3)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="path must be a file that Comparison.save wrote; got"):
        pb.Comparison.load(path)
    pair.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    with pytest.raises(ValueError, match="path must be a file that Comparison.save wrote"):
        pb.Comparison.load(path)
    np.savez(path, header=np.array(object()))
    with pytest.raises(ValueError, match="path must be a file that Comparison.save wrote"):
        pb.Comparison.load(path)


@pytest.mark.parametrize("name, change", [
    ("0.errors", lambda a: a[:-1]), ("0.regrets", lambda a: a.astype(int)),
    ("1.arm_totals", lambda a: a + 1), ("1.pulls", lambda a: a + 1),
    ("2.checkpoint_errors", lambda a: a[:, :2]), ("3.checkpoint_leaders", None),
    ("0.stopped", None), ("header", lambda a: np.array("{}")), ("header", lambda a: np.array("a")),
    ("header", lambda a: np.array(str(a).replace('"n_runs": 30', '"n_runs": 31'))),
    ("header", lambda a: np.array(str(a).replace("comparison 1", "comparison 2"))),
    ("header", lambda a: np.array(str(a).replace('"first": 0', '"first": "0"'))),
])
def test_files_that_were_changed(pair, tmp_path, name, change):
    path = tmp_path / "a.npz"
    pair.save(path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="path must be a file that Comparison.save wrote"):
        pb.Comparison.load(path)


def test_a_file_stays_where_the_new_one_fails(plain, tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    plain.save(path)
    before = path.read_bytes()

    def fails(*_, **__):
        raise OSError("full")

    monkeypatch.setattr(np, "savez_compressed", fails)
    with pytest.raises(OSError, match="full"):
        plain.save(path)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


# -- executors ----------------------------------------------------------------------------


def test_an_executor_of_any_size_changes_nothing():
    from concurrent.futures import ThreadPoolExecutor

    for make, environment in ((make_in_turn, Coins(MEANS)), (pb.TopTwo(8), draw_coins),
                              (make_in_turn, pb.environments.TableBandit(np.eye(8)))):
        options = dict(rng=3, horizon=45, checkpoints=[9, 45], arm_pulls_by_run=True)
        alone = pb.simulate(make, environment, 150, **options)
        for workers in (1, 4):
            with ThreadPoolExecutor(workers) as executor:
                assert_same(pb.simulate(make, environment, 150, executor=executor, **options),
                            alone)
    with ThreadPoolExecutor(2) as executor:
        both = pb.compare(FOUR, GAUSSIAN, 10, rng=1, executor=executor, **OPTIONS)
    assert_equal(both, pb.compare(FOUR, GAUSSIAN, 10, rng=1, **OPTIONS))


def length(policy, environment):
    return policy.n_pulls + environment.means[0]


def test_processes_change_nothing():
    import concurrent.futures
    import multiprocessing

    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        found = pb.simulate(make_in_turn, draw_coins, 70, rng=3, executor=executor,
                            metrics=[length])
        assert_same(found, pb.simulate(make_in_turn, draw_coins, 70, rng=3, metrics=[length]))
        with pytest.raises(TypeError, match="policy_factory, environment and metrics must be pick"):
            pb.simulate(lambda e: InTurn(8, 2), GAUSSIAN, 3, executor=executor)


class Client:
    """A client as Dask's: `submit` gives a future that is asked for its result."""

    def __init__(self):
        self.cancelled = 0

    def submit(self, function):
        return Client.Future(self, function)

    class Future:
        def __init__(self, client, function):
            self.client, self.result = client, function

        def cancel(self):
            self.client.cancelled += 1


def test_a_client_and_what_it_is_spared():
    client = Client()
    assert_same(pb.simulate(make_in_turn, GAUSSIAN, 20, rng=1, executor=client),
                pb.simulate(make_in_turn, GAUSSIAN, 20, rng=1))
    assert client.cancelled == 0

    def fails(environment):
        raise KeyError("in the factory")

    with pytest.raises(KeyError, match="in the factory"):
        pb.simulate(fails, GAUSSIAN, 20, executor=client)
    assert client.cancelled == 20

    def draw(rng):
        return Coins(rng.random(2 + rng.integers(2)))

    with pytest.raises(ValueError, match="environment must have as many arms in every run"):
        pb.simulate(make_in_turn, draw, 200, rng=1, executor=client)


def test_bad_executors():
    for executor in (3, "threads", object):
        with pytest.raises(TypeError, match="executor must be a concurrent.futures.Executor"):
            pb.simulate(make_in_turn, GAUSSIAN, 2, executor=executor)
    with pytest.raises(ValueError, match="n_threads must be None where an executor is given"):
        pb.simulate(make_in_turn, GAUSSIAN, 2, executor=Client(), n_threads=2)
