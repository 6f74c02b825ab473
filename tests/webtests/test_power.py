"""Power curves of web tests: numbers of the specification, and the plot."""

import json

import numpy as np
import pytest

from pybandit.webtests import PowerCurves, plan_counts, power_curves

from cli.webtest_commands import ok, refused


@pytest.mark.parametrize("rate, lift, visits, median, most, z_test", [
    (0.3, 0.1, 1000, 11, 19, 7.5), (0.05, 0.1, 5000, 15, 30, 12.5), (0.1, 1.0, 100, 6, 11, 3.9)])
def test_visits_are_those_of_the_table(rate, lift, visits, median, most, z_test):
    """counts.md, "Measured": median and nine tenths of 2,000 runs, in days."""
    curves = power_curves(rate, [lift], visits, n_runs=300, rng=2)
    for power, days in ((0.5, median), (0.9, most)):
        assert curves.needed(power)[0] / visits == pytest.approx(days, rel=0.15, abs=2)
    assert curves.z_test[0] / visits == pytest.approx(z_test, abs=0.06)


def test_power_is_the_share_of_right_winners():
    curves = power_curves(0.04, [0.25, -0.4], 5000, n_runs=60, max_batches=12, rng=1)
    for lift, power, plan in zip(curves.lifts, curves.power, curves.plans, strict=True):
        best = int(lift > 0)
        assert plan.rates.tolist() == [0.04, 0.04 * (1 + lift)]
        wanted = [((plan.winners == best) & (plan.batches <= n)).mean() for n in range(1, 13)]
        np.testing.assert_array_equal(power, wanted)
    again = power_curves(0.04, [0.25], 5000, n_runs=60, max_batches=12, rng=1)
    np.testing.assert_array_equal(again.power[0], curves.power[0])
    assert curves.to_frame().loc[60_000].tolist() == curves.power[:, -1].tolist()


def test_power_that_is_not_reached_needs_infinite_visits():
    curves = power_curves(0.04, [0.01, 0.5], 5000, n_runs=20, max_batches=10, rng=1)
    assert np.isinf(curves.needed()[0]) and curves.needed()[1] <= 50_000
    assert curves.summary().startswith(
        "Visits of both pages for a power of .8: more than 50,000 to find 1 % more, ")
    assert "inf" in curves._repr_html_() and repr(curves).startswith("<PowerCurves: a rate of 0.04")


def test_wrong_winners_are_not_power():
    plan = plan_counts([0.1, 0.2], 100, n_runs=4, max_batches=3, rng=1)
    curves = PowerCurves(rate=0.1, lifts=np.array([1.0]), batch_size=100, plans=(plan,),
                         power=np.array([[0.0, 0.5, 0.5]]))
    assert curves.needed(0.5).tolist() == [200.0] and np.isinf(curves.needed(0.6)).all()
    with pytest.raises(ValueError, match="power must be in"):
        curves.needed(0.0)


def test_the_plot_has_a_curve_and_a_dot_per_lift():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    curves = power_curves(0.04, [0.1, 0.25], 5000, n_runs=50, max_batches=40, rng=1)
    ax = curves.plot(Figure().subplots())
    lines = {line.get_label(): line for line in ax.get_lines()}
    x, y = lines["25 % more"].get_data()
    np.testing.assert_array_equal(y, curves.power[1][:len(y)])
    assert x[:2].tolist() == [5000, 10_000] and x[-1] == min(curves.needed(0.95).max(), 200_000)
    dots = [line.get_data() for line in ax.get_lines() if line.get_marker() == "o"]
    assert [(dot[0][0], dot[1][0]) for dot in dots] == [(z, 0.8) for z in curves.z_test]


@pytest.mark.parametrize("given, words", [
    ({"rate": 1.0}, "rate must be in"), ({"lifts": [0.0]}, "lifts must not be 0"),
    ({"lifts": [30.0]}, "got 30, a rate of 1.24"), ({"lifts": []}, "at least one number"),
    ({"batch_size": 0}, "batch_size")])
def test_bad_arguments_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        power_curves(**{"rate": 0.04, "lifts": [0.1], "batch_size": 100, **given})


def test_command_prints_and_draws_curves(tmp_path, capsys):
    out = tmp_path / "power.png"
    words = ["plan", "--rates", "4%", "--lifts", "10%,25%", "--visits", "5000",
             "--runs", "50", "--days", "40", "--plot", str(out)]
    lines = ok(capsys, *words).splitlines()
    curves = power_curves(0.04, [0.1, 0.25], 5000, n_runs=50, max_batches=40, rng=1)
    assert lines == [curves.summary()]
    assert out.read_bytes().startswith(b"\x89PNG")
    known = json.loads(ok(capsys, *words, "--json"))
    assert known["visits"]["0.8"] == curves.needed().tolist()
    assert known["lifts"] == [0.1, 0.25] and len(known["power"][0]) == 40


@pytest.mark.parametrize("options, words", [
    ([], "must be at least two rates without --lifts"),
    (["--lifts", "10%", "--rates", "4%,5%"], "must be one rate with --lifts; got 0.04, 0.05"),
    (["--lifts", "9000%"], "lifts must not be 0")])
def test_options_of_the_command_that_do_not_fit_are_refused(options, words, capsys):
    assert words in refused(capsys, "plan", "--rates", "4%", "--visits", "9", *options)
