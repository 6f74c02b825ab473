"""Results of simulate: intervals, plain numbers, text and plots."""

import json

import numpy as np
import pytest
from scipy import stats

import pybandit as pb
from pybandit._shared.intervals import wilson_interval
from pybandit.environments import BernoulliBandit, GaussianBandit

BANDIT = BernoulliBandit(np.linspace(0.1, 0.9, 12))


def sar(environment):
    return pb.policies.BatchSAR(environment.n_arms, 3, batch_size=5, max_batches=20)


@pytest.mark.parametrize("hits, n", [(0, 1), (1, 1), (0, 50), (3, 50), (50, 50), (517, 1000)])
def test_wilson_interval_equals_its_formula(hits, n):
    expected = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson_interval(hits, n) == pytest.approx(tuple(expected), abs=1e-12)


def test_to_dict_is_json():
    result = pb.simulate(sar, BANDIT, 3, rng=1, metrics=[lambda p, e: 0.5])
    back = json.loads(json.dumps(result.to_dict()))
    assert back["n_runs"] == 3 and back["errors"] == result.errors.tolist()
    assert back["error_interval"] == pytest.approx(result.error_interval)
    assert back["arm_pulls"] == result.arm_pulls.tolist()
    assert back["metrics"] == {"<lambda>": [0.5] * 3}


def test_notebook_shows_a_table():
    result = pb.simulate(sar, BANDIT, 3, rng=1)
    shown = result._repr_html_()
    assert "<p>3 runs</p>" in shown and shown.count("<tr>") == 2
    low, high = result.error_interval
    assert f"<td>{result.error_probability:.4g} ({low:.4g} to {high:.4g})</td>" in shown
    both = pb.compare({"<sar>": sar,
                       "all": lambda e: pb.policies.RoundRobin(12, 3, batch_size=5,
                                                               max_batches=20)},
                      BANDIT, 3, rng=1)._repr_html_()
    assert "<td>&lt;sar&gt;</td>" in both and both.count("<tr>") == 3
    assert "<p>3 runs of each</p>" in both and "<th>policy</th>" in both


def test_repr_describes_the_result():
    text = repr(pb.simulate(lambda e: pb.policies.RoundRobin(12, 3, batch_size=7, max_batches=20),
                            BANDIT, 3, rng=1))
    assert text.startswith("<SimulationResult: 3 runs, error ")
    assert text.endswith(" 140 pulls in 20 batches>")


def test_plot_draws_pulls_and_error(tmp_path):
    pytest.importorskip("matplotlib")
    result = pb.simulate(sar, BANDIT, 30, rng=1)
    pulls, error = result.plot(of="pulls"), result.plot()
    assert [bar.get_height() for bar in pulls.patches] == result.arm_pulls.tolist()
    line = error.lines[0].get_ydata()
    assert line[-1] == result.error_probability and line.size == 30
    band = error.collections[0].get_paths()[0].vertices
    assert any(np.allclose(point, (30, result.error_interval[1])) for point in band)
    error.figure.savefig(tmp_path / "result.png")


def test_plot_takes_axes_and_many_arms():
    pytest.importorskip("matplotlib")
    from pybandit._shared.drawing import new_figure

    result = pb.simulate(lambda e: pb.policies.RoundRobin(300, 1, batch_size=300, max_batches=1),
                         GaussianBandit(np.zeros(300)), 2)
    _, ((ax,),) = new_figure(6, 3)
    assert result.plot(ax, of="pulls") is ax
    assert ax.lines[0].get_ydata().tolist() == [1.0] * 300
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes; got .* list"):
        result.plot([ax])
    with pytest.raises(ValueError, match="of must be one of 'error', 'pulls'; got 'regret'"):
        result.plot(of="regret")


@pytest.mark.parametrize("answer, error, regret", [([0, 1], 0.0, 0.0), ([1, 2], 1.0, 5e307)])
def test_regrets_are_finite_for_huge_means(answer, error, regret):
    """Regrets must be finite, even if the sum of the means overflows."""
    class Says(pb.policies.RoundRobin):
        def recommend(self):
            return np.array(answer)

    bandit = GaussianBandit([1e308, 1e308, 0.0])
    found = pb.simulate(lambda e: Says(3, 2, batch_size=30, max_batches=1), bandit, 4, rng=1,
                        checkpoints=[3])
    assert found.error_probability == error and found.error_interval[0] <= error
    assert found.regrets == pytest.approx([regret] * 4)
    assert found.curve()[0] == error


def test_saved_result_is_loaded(tmp_path):
    result = pb.simulate(sar, BANDIT, 30, rng=1)
    result.save(tmp_path / "one.npz")
    again = pb.simulation.SimulationResult.load(tmp_path / "one.npz")
    assert again.to_dict() == result.to_dict() and repr(again) == repr(result)
    with pytest.raises(ValueError, match="path must be a file that Comparison.save wrote"):
        pb.simulation.Comparison.load(tmp_path / "one.npz")
    with pytest.raises(FileNotFoundError):
        pb.simulation.SimulationResult.load(tmp_path / "none.npz")
