"""The scripts of Hoffman, Shahriari and de Freitas 2014 run at a tiny size."""

import functools
import re

import numpy as np
import pytest

import papers
from papers import NO_PAPERS

pytestmark = NO_PAPERS
load = functools.partial(papers.load, "hoffman2014")


def claims(name, tmp_path, *options):
    """Run a script at a small size; return its claims, each a dict."""
    pytest.importorskip("sklearn")
    return list(papers.claims_of("hoffman2014", name, tmp_path, *options).values())


def test_figure_1_agrees_with_the_printed_posterior(tmp_path, capsys):
    found = claims("figure_1", tmp_path, "--runs", "200")
    assert [claim["sign"] for claim in found] == [True] * 3
    assert len(re.findall(r"^ +\d\.\d\d", capsys.readouterr().out, re.MULTILINE)) == 10


def test_figure_2_compares_every_policy(tmp_path, capsys):
    found = claims("figure_2", tmp_path, "--runs", "15", "--budgets", "30", "68")
    assert len(found) == 4  # below K pulls there is nothing to compare UCBE with
    rows = re.findall(r"^([A-Z].*?) +((?:\d\.\d{3} ?  *)*\d\.\d{3})$", capsys.readouterr().out,
                      re.MULTILINE)
    cells = {name: row.split() for name, row in rows[:10]}
    assert len(rows) == 20 and len(cells) == 10
    assert len(cells["UCBE"]) == len(cells["UGap"]) == len(cells["Uniform"]) == 1
    assert float(cells["BayesGap"][0]) > 0.9 and float(cells["BayesGap, default"][0]) < 0.5


def test_sensors_give_each_later_reading_once():
    setting = load("setting")
    sensors = setting["Sensors"](np.random.default_rng(1).normal(size=(30, 4)), lowest=True)
    make = sensors.environments()
    means = np.array([make(None).means for _ in range(10)])
    np.testing.assert_array_equal(means, sensors.later)
    assert setting["complexity"](np.array([3.0, 3.0, 1.0])) == pytest.approx(3 / 4)


def test_figures_3_and_4_read_one_table(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    cache, plot = tmp_path / "scores.npz", tmp_path / "plot.png"
    shared = ["--runs", "3", "--splits", "3", "--cache", str(cache), "--save", str(plot)]
    assert len(claims("figure_3", tmp_path, *shared)) == 4
    assert plot.read_bytes().startswith(b"\x89PNG")
    rows = re.findall(r"^[A-Zr].*?( +\d+\.\d{4}){5}$", capsys.readouterr().out, re.MULTILINE)
    assert len(rows) == 2 * 17
    written = cache.stat().st_mtime_ns
    assert len(claims("figure_4", tmp_path, *shared)) == 3
    assert cache.stat().st_mtime_ns == written


def test_recommendations_differ_below_as_many_pulls_as_arms(capsys):
    pytest.importorskip("sklearn")
    load("recommendations")["main"](["--quick", "--runs", "10"])
    rows = re.findall(r"^(\w+, .*?) +(\d+) +([\d.]+) ±.*?([\d.]+) ±.*?([\d.]+) ±.* ([\d.]+)$",
                      capsys.readouterr().out, re.MULTILINE)
    found = {(name, int(budget)): [float(x) for x in more] for name, budget, *more in rows}
    assert len(found) == 8
    bound, pulled, mean, never = found["digits, highest", 25]
    assert bound > 10 and never > 0.9 and max(pulled, mean) < 1


# -- the regressors ---------------------------------------------------------------------


def arms():
    from sklearn.model_selection import ParameterGrid
    regressors = load("regressors")
    grid = regressors["grids"](few_trees=True)
    return regressors, grid, list(ParameterGrid(grid))


def test_tables_are_read_and_continued(tmp_path):
    pytest.importorskip("sklearn")
    regressors, _, candidates = arms()
    rows = np.random.default_rng(1).normal(size=(200, 4))
    for name in "winequality-red.csv", "winequality-white.csv":
        np.savetxt(tmp_path / name, rows, delimiter=",", header="a,b,c,d", comments="")
    X, y = regressors["load"](tmp_path / "winequality-red.csv")
    np.testing.assert_allclose(X, np.vstack([rows, rows])[:, :3])
    cache, some = tmp_path / "deep" / "scores.npz", [candidates[i] for i in (0, 3, 8, 159)]
    table = regressors["load_table"](cache, some, X, y, 2)
    np.testing.assert_array_equal(regressors["load_table"](cache, some, X, y, 2), table)
    more = regressors["load_table"](cache, some, X, y, 3)
    np.testing.assert_array_equal(more[:, :2], table)


def test_forests_are_scikit_learns():
    """Small forests are the first trees of the largest; equivalent settings share one forest."""
    pytest.importorskip("sklearn")
    regressors, _, candidates = arms()
    forests = [c for c in candidates if c.get("model__n_estimators") == 10]
    X, y = regressors["load"]()
    (split,) = regressors["random_tenths"](1, len(y))
    train, test = split
    scores = regressors["score_table"](forests, X, y, [split])[:, 0]
    for i in (0, 1, 3, 8, 15):
        model = regressors["pipeline"]().set_params(**forests[i]).fit(X[train], y[train])
        error = np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2))
        assert scores[i] == pytest.approx(-error, rel=1e-9)


def test_kernel_is_the_printed_one_within_a_family():
    pytest.importorskip("sklearn")
    regressors, grid, candidates = arms()
    family = np.repeat(np.arange(5), [8, 64, 16, 64, 8])
    table = np.zeros((160, 2))
    made = regressors["Arms"](grid, candidates, family, table)
    kernel, raw = (regressors["kernel_of"](made, by_value) for by_value in (False, True))
    assert not kernel[family[:, None] != family].any() and (kernel.diagonal() == 1).all()
    assert kernel[0, 1] == kernel[1, 2] == pytest.approx(np.exp(-1))
    assert raw[0, 7] == pytest.approx(np.exp(-0.4999**2))
    assert sorted(set(kernel[8:72, 8:72].round(12).ravel()))[-2] == pytest.approx(np.exp(-1))


def test_a_search_of_the_paper_finds_a_clearly_best_regressor():
    pytest.importorskip("sklearn")
    regressors, grid, candidates = arms()
    table = np.tile(np.linspace(-2.0, -1.0, 160)[:, None], (1, 4))
    table += np.random.default_rng(1).normal(0.0, 0.01, table.shape)
    made = regressors["Arms"](grid, candidates, np.repeat(np.arange(5), [8, 64, 16, 64, 8]), table)
    kernel = regressors["kernel_of"](made)
    for name in "BayesGap", "Thompson", "EI":
        fitted, chosen = regressors["paper_search"](name, 40, made, kernel,
                                                    np.random.default_rng(1))
        assert fitted.shape == (40,) and chosen >= 100
        assert chosen in fitted and len(set(fitted)) > 1
