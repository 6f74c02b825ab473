"""The figures of Neufeld et al. 2014 at a small size, and the parts that their scripts share."""

import functools
import re

import numpy as np
import pytest

import papers
import pybandit as pb
from papers import NO_PAPERS
from pybandit._shared import datasets
from pybandit.errors import MissingPackageError

pytestmark = NO_PAPERS
load = functools.partial(papers.load, "neufeld2014")
run = functools.partial(papers.claims_of, "neufeld2014")


@pytest.mark.parametrize("name, n_claims", [("figure_1", 5), ("figure_2", 7), ("appendix_e", 5)])
def test_figure_prints_its_claims_and_draws(name, n_claims, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "figure.png"
    claims = run(name, tmp_path, "--runs", "2", "--save", str(out))
    assert len(claims) == n_claims
    assert len(re.findall(r"^- .* Paper: .* Here: ", capsys.readouterr().out, re.M)) == n_claims
    assert out.read_bytes().startswith(b"\x89PNG")


def test_figure_1_counts_a_policy_within_the_noise_as_level():
    best = load("figure_1")["best"]
    cells = np.array([[9.0, 1.0], [5.0, 2.0], [9.0, 4.0], [4.0, 1.0]])
    assert best(cells) == ["Thompson", "UCB-V"]
    assert best(np.array([[9.0, np.nan], [5.0, 0.0], [9.0, 0.0], [6.0, 0.0]])) == ["UCB-V"]


def test_figure_1_pairs_have_the_stated_variances():
    environment = load("figure_1")["pair"](0.05, 0.2)
    assert environment.variances == pytest.approx([0.05, 0.25])
    assert environment.means == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("strike, name", [(0.07, "UCB1, raw"), (0.08, "UCB-V, raw")])
def test_figure_2_finds_the_references(strike, name):
    """Two cells of little noise, 4 runs; other policies are a fifth away."""
    example = load("figure_2")
    caplet = pb.environments.CIRCaplet(strike)
    value, _ = example["methods"](strike)[name](caplet, 100_000, 4, 1)
    known = example["CAPLET_REFERENCE"][name][list(example["CAPS"]).index(strike)]
    assert value == pytest.approx(known, rel=0.08)


def test_figure_2_prices_are_exact(capsys):
    example = load("figure_2")
    distance = example["print_price"](0.07, pb.environments.CIRCaplet(0.07), 2000, 1)
    assert abs(distance) < 5 and "exact 9.25675" in capsys.readouterr().out


@pytest.mark.parametrize("shape", ["scaled Bernoulli", "uniform", "truncated normal"])
def test_shapes_of_appendix_e_have_equal_variances(shape):
    environment = load("appendix_e")["estimators"](shape, (0.01, 0.07))
    assert environment.variances == pytest.approx([0.01, 0.07], rel=1e-8)
    values = environment.pull(np.repeat([0, 1], 20_000), 1).reshape(2, -1)
    assert values.min() >= 0.0 and values.max() <= 1.0
    assert values.var(axis=1) == pytest.approx([0.01, 0.07], rel=0.05)
    assert values.mean(axis=1) == pytest.approx([0.5, 0.5], abs=0.01)


def test_appendix_e_counts_orders_that_are_reversed_beyond_the_noise():
    reversals = load("appendix_e")["reversals"]
    means = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [1.0, 1.5, 3.0]])
    assert reversals(means, np.full((3, 3), 0.1)) == 1
    assert reversals(means, np.full((3, 3), 0.8)) == 0


@pytest.mark.parametrize("options", [[], ["--raw"]])
def test_figure_3_runs_on_a_table_of_the_stated_format(options, tmp_path, capsys):
    """The values of the paper's table are not here; an invented file has its format."""
    example, path = load("figure_3"), tmp_path / "pima.csv"
    features, labels = example["invented"](60)
    np.savetxt(path, np.column_stack([features, labels]), "%.10g", ",",
               header="a,b,c,d,e,f,g,h,class", comments="")
    read = example["read"](path)
    assert read[0] == pytest.approx(features) and read[1].tolist() == labels.tolist()
    claims = run("figure_3", tmp_path, "--data", str(path), "--runs", "2", *options)
    printed = capsys.readouterr().out
    assert len(claims) == 3
    assert len(re.findall(rf"^Pima{', raw' * len(options)}, T = (5|10|50)$", printed, re.M)) == 3
    assert len(re.findall(r"^ *[a-zA-Z].*±.*±.*±", printed, re.M)) == 6 * 7


@pytest.mark.parametrize("row, words", [
    ("1,2,3,4,5,6,7,8", "line 3 must be 8 numbers"), ("1,2,3,4,5,6,7,8,2", "class, 0 or 1"),
    ("1,2,3,4,5,6,7,x,1", "got '1,2,3,4,5,6,7,x,1'"), (None, "at least 50 rows; got 2")])
def test_figure_3_refuses_other_tables(row, words, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("".join(f"{line}\n" for line in ["6,148,72,35,0,33.6,0.627,50,1", "",
                                                     row or "1,85,66,29,0,26.6,0.351,31,0"]))
    with pytest.raises(ValueError, match=words):
        load("figure_3")["read"](path)


def test_figure_3_has_tables_with_a_known_evidence(capsys, monkeypatch, tmp_path):
    """There are six problems without scikit-learn, with seven policies each."""
    def missing():
        raise MissingPackageError("no scikit-learn")

    monkeypatch.setattr(datasets, "breast_cancer", missing)
    run("figure_3", tmp_path, "--known", "--runs", "2")
    printed = capsys.readouterr().out
    assert len(re.findall(r"^ *[a-zA-Z].*±.*±.*±", printed, re.M)) == 42
    assert "breast cancer left out: no scikit-learn" in printed
    assert float(re.search(r"log Z = (\S+),", printed)[1]) == pytest.approx(-33.85, abs=0.2)


def test_figure_3_replays_its_records():
    example = load("figure_3")
    evidence = example["tiny"](5, (1, 4))
    values, costs = example["record"](evidence, 400, 1)
    environment = example["replay"](evidence.means, values, costs)
    assert [v.size for v in values] == [20, 100]
    assert environment.means == pytest.approx(evidence.means)
    assert environment.costs.tolist() == [1000.0, costs[1].mean()]
    relative = [v.var() / v.mean() ** 2 for v in values]
    assert environment.variances / evidence.means**2 == pytest.approx(relative)
    found, errors = example["products"](values, costs)
    assert found == pytest.approx(environment.costs * relative)
    assert (errors > 0).all()


def test_figure_3_draws(tmp_path):
    pytest.importorskip("matplotlib")
    example = load("figure_3")
    rows = {policy: np.ones((3, 2)) for policy in example["POLICIES"]}
    assert len(example["draw"]({5: rows, 10: rows}).axes) == 2


def test_figure_3_has_breast_cancer():
    pytest.importorskip("sklearn")
    evidence = load("figure_3")["hard"]((3, 10))
    assert evidence.n_rows == 150 and evidence.n_arms == 2
    assert np.isfinite(evidence.pull([0, 1], 1)).all()


def test_variance_bound_needs_the_cost_of_each_pair():
    """Eq. 23 prints the last pair's cost for all pairs, which misses far too often."""
    rng = np.random.default_rng(7)
    pairs = rng.random((2000, 100, 2)) < 0.3
    squares = (pairs[..., 0] ^ pairs[..., 1]).astype(float)
    costs, truth = rng.uniform(0.2, 1.0, squares.shape), 0.6 * 0.21

    def misses(statistic):
        low, high = pb.bounds.kl_variance(statistic, 100, 5.0)
        return ((low > truth) | (high < truth)).mean()

    assert misses((costs * squares).sum(axis=1) / 200) < 0.01
    assert misses(costs[:, -1] * squares.sum(axis=1) / 200) > 0.2
