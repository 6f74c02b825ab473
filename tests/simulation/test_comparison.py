"""Comparisons as tables, plots and files."""

import dataclasses
import json
import re

import numpy as np
import pytest

import pybandit as pb

from simulation.arms import FOUR, GAUSSIAN, OPTIONS, assert_equal


@pytest.fixture(scope="module")
def pair():
    return pb.compare(FOUR, GAUSSIAN, 30, rng=1, **OPTIONS)


@pytest.fixture(scope="module")
def plain():
    return pb.compare({"halving": pb.policies.SequentialHalving(8, budget=80),
                       "uniform": pb.policies.Uniform(8, budget=80)},
                      GAUSSIAN, 20, rng=1)


def test_frames_have_one_row_per_policy_checkpoint_or_run(pair, plain):
    pytest.importorskip("pandas")
    frame = pair.to_frame()
    assert frame.index.tolist() == list(FOUR) and frame["n_runs"].tolist() == [30] * 4
    one = pair["ucb1"]
    assert frame.loc["ucb1", "error"] == one.error_probability
    assert tuple(frame.loc["ucb1", ["error_low", "error_high"]]) == one.error_interval
    assert frame.loc["ucb1", "pulls_50%"] == np.inf  # the policy never stops
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


def test_to_xarray_contains_all_arrays(pair, plain):
    pytest.importorskip("xarray")
    data = pair.to_xarray()
    assert dict(data.sizes) == {"policy": 4, "run": 30, "arm": 8, "checkpoint": 3}
    one = data.sel(policy="ucb1")
    assert one["checkpoint_regret"].values.tolist() == pair["ucb1"].checkpoint_regrets.tolist()
    assert one["arm_pulls_by_run"].values.tolist() == pair["ucb1"].arm_pulls_by_run.tolist()
    assert data.attrs == pair.options
    assert set(plain.to_xarray().sizes) == {"policy", "run", "arm"}


@pytest.mark.parametrize("of", ["error", "regret", "cumulative_regret"])
def test_plots_have_one_line_per_policy(pair, plain, of):
    pytest.importorskip("matplotlib")
    axis = pair.plot(of=of)
    lines = {line.get_label(): line for line in axis.lines}
    assert list(lines) == list(FOUR)
    mean, low, high = pair["ucb1"].curve(of)
    assert lines["ucb1"].get_ydata().tolist() == mean.tolist()
    band = axis.collections[1].get_paths()[0].vertices
    assert any(np.allclose(point, (90, high[1])) for point in band)
    assert any(np.allclose(point, (90, low[1])) for point in band)
    ends = plain.plot(of=of)
    assert [label.get_text() for label in ends.get_yticklabels()] == ["halving", "uniform"]
    value = plain.to_xarray()[of].mean("run").values
    assert [line.get_xdata()[0] for line in ends.lines if len(line.get_xdata()) == 1
            and line.get_marker() == "o"] == pytest.approx(value.tolist())
    assert pair.plot(ends, of=of) is ends
    assert pair.plot(of="pulls").get_xlabel() == "mean pulls, 95 %"
    with pytest.raises(ValueError, match="of must be one of 'error', 'regret'"):
        pair.plot(of="batches")


def test_saved_comparison_is_loaded(pair, plain, tmp_path):
    for j, one in enumerate((pair, plain)):
        path = tmp_path / f"{j}.anything"
        one.save(path)
        assert_equal(pb.simulation.Comparison.load(path), one)
    plain.save(str(tmp_path / "0.anything"))  # saving replaces an existing file
    assert_equal(pb.simulation.Comparison.load(str(tmp_path / "0.anything")), plain)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.anything", "1.anything"]
    loaded = pb.simulation.Comparison.load(tmp_path / "1.anything")
    more = pb.compare({"halving": pb.policies.SequentialHalving(8, budget=80),
                       "uniform": pb.policies.Uniform(8, budget=80)},
                      GAUSSIAN, 20, rng=2)
    assert_equal(loaded + more, plain + more)


def test_other_files_raise(pair, tmp_path):
    path = tmp_path / "a.npz"
    with pytest.raises(FileNotFoundError):
        pb.simulation.Comparison.load(path)
    with pytest.raises(TypeError, match="path must be a str or path-like object; got 3"):
        pair.save(3)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="path must be a file that Comparison.save wrote; got"):
        pb.simulation.Comparison.load(path)
    pair.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    with pytest.raises(ValueError, match="path must be a file that Comparison.save wrote"):
        pb.simulation.Comparison.load(path)
    np.savez(path, header=np.array(object()))
    with pytest.raises(ValueError, match="path must be a file that Comparison.save wrote"):
        pb.simulation.Comparison.load(path)


@pytest.mark.parametrize("name, change", [
    ("0.errors", lambda a: a[:-1]), ("0.regrets", lambda a: a.astype(int)),
    ("1.arm_totals", lambda a: a + 1), ("1.pulls", lambda a: a + 1),
    ("1.arm_totals", lambda a: np.r_[-1, a[1:-1], a[0] + a[-1] + 1]),
    ("2.checkpoint_errors", lambda a: a[:, :2]), ("3.checkpoint_leaders", None),
    ("0.stopped", None), ("header", lambda a: np.array("{}")), ("header", lambda a: np.array("a")),
    ("header", lambda a: np.array(str(a).replace('"n_runs": 30', '"n_runs": 31'))),
    ("header", lambda a: np.array(str(a).replace("comparison 1", "comparison 2"))),
    ("header", lambda a: np.array(str(a).replace('"first": 0', '"first": "0"'))),
    ("header", lambda a: np.array(str(a).replace('"first": 0', '"first": -9'))),
    ("header", lambda a: np.array(re.sub('"checkpoints": .[0-9]+', '"checkpoints": [9999',
                                         str(a)))),
    ("1.batches", lambda a: -a), ("1.regrets", lambda a: a.astype(np.float16)),
])
def test_changed_files_raise(pair, tmp_path, name, change):
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
        pb.simulation.Comparison.load(path)


def test_failed_save_keeps_the_old_file(plain, tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    plain.save(path)
    before = path.read_bytes()

    def fails(*_, **__):
        raise OSError("full")

    monkeypatch.setattr(np, "savez_compressed", fails)
    with pytest.raises(OSError, match="full"):
        plain.save(path)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_totals_above_2_53_are_saved_exactly(tmp_path):
    """Totals must be saved exactly, not computed from rounded means."""
    many = pb.compare({"uniform": pb.policies.Uniform(3, budget=10**13 + 1)},
                      pb.environments.GaussianBandit([0.0, 5.0, 1.0]), 2999, rng=1,
                      common_rewards=False)
    many.save(tmp_path / "many.npz")
    assert_equal(pb.simulation.Comparison.load(tmp_path / "many.npz"), many)
    more = pb.compare({"uniform": pb.policies.Uniform(3, budget=10**13 + 1)},
                      pb.environments.GaussianBandit([0.0, 5.0, 1.0]), 3, rng=2,
                      common_rewards=False)
    (many + more).save(tmp_path / "more.npz")
    assert pb.simulation.Comparison.load(tmp_path / "more.npz").n_runs == 3002


def test_replaced_arm_pulls_are_saved(tmp_path):
    """Files and merged results must contain the replaced `arm_pulls`."""
    pair = pb.compare({"one": pb.policies.Uniform(2, budget=30)},
                      pb.environments.GaussianBandit([0.0, 1.0]), 7, rng=1)
    one = pair["one"]
    double = {name: 2 * getattr(one, name) for name in ("pulls", "arm_pulls")}
    changed = dataclasses.replace(pair, results={"one": dataclasses.replace(one, **double)})
    changed.save(tmp_path / "a.npz")
    for found in (changed, pb.simulation.Comparison.load(tmp_path / "a.npz")):
        assert (found["one"].arm_pulls == 2 * one.arm_pulls).all()
    more = pb.compare({"one": pb.policies.Uniform(2, budget=30)},
                      pb.environments.GaussianBandit([0.0, 1.0]), 7, rng=2)
    assert (changed + more)["one"].arm_pulls.tolist() == [22.5, 22.5]


def test_summaries_dicts_and_frames_agree():
    pytest.importorskip("pandas")
    policies = {"halving": pb.policies.SequentialHalving(3, budget=60),
                "uniform": pb.policies.Uniform(3, budget=60)}
    bandit = pb.environments.GaussianBandit([0.0, 0.2, 1.0])
    both = pb.compare(policies, bandit, 50, rng=1)
    best = min(both, key=lambda name: both[name].error_probability)
    assert f" {best} was wrong least often" in both.summary() and "\n" not in both.summary()
    assert json.loads(json.dumps(both.to_dict()))["results"]["uniform"] == both["uniform"].to_dict()
    result = pb.simulate(policies["uniform"], bandit, 50, rng=1,
                         metrics={"best": lambda policy, environment: policy.means.max()})
    assert f"{100 * result.error_probability:.3g} % of 50 runs" in result.summary()
    frame = result.to_frame()
    assert frame["error"].tolist() == result.errors.tolist() and frame.index.name == "run"
    assert frame["best"].tolist() == result.metrics["best"].tolist()
    with pytest.raises(TypeError):
        pb.simulation.Comparison(both.results, both.options, both.streams)
