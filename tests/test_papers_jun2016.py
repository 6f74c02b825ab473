"""The figures of Jun et al. 2016: each script runs, and finds the reference values."""

import re

import numpy as np
import pytest

import pybandit as pb
from papers import NO_PAPERS, load, run_quick

pytestmark = NO_PAPERS


@pytest.mark.parametrize("script, rows, expected", [
    ("table_1", r"^Sparse +\d", 4), ("figure_1", r"^ +\d+ +\d+ .*±", 3),
    ("figure_2", r"^(RoundRobin|Batch\w+ r=\w+) .*±", 10)])
def test_script_prints_its_table_and_claims(script, rows, expected, tmp_path):
    printed, claims = run_quick("jun2016", script, tmp_path)
    assert len(re.findall(rows, printed, re.MULTILINE)) == expected
    assert len(claims) == 3


def test_speedup_gives_all_settings_the_same_rewards():
    """Batches of size 2 that pull each of two arms once halve the number of batches of size 1."""
    table = load("jun2016", "table_1")
    batches, wrong = table["measure"](np.array([0.9, 0.1]), 1, [(1, 1), (2, 1)], 5, 1)
    assert (np.ceil(batches[:, 0] / 2) == batches[:, 1]).all()
    assert len(set(batches[:, 1].tolist())) > 1 and wrong == 0


def test_user_means_have_the_published_statistics():
    means = load("jun2016", "figure_2")["user_means"]()
    assert means.size == 522_062 and means[:100].sum() == pytest.approx(0.963)
    assert 8928 * means.sum() == pytest.approx(707_776)
    assert 8928 * means.min() == pytest.approx(1.0)
    assert 8928 * means[0] == pytest.approx(476.3, 1e-4)


def test_microwell_matches_the_reference():
    """Tests ten runs of the first row; the error of the other policies is .26 or more."""
    figure = load("jun2016", "figure_1")
    share, _, used = figure["measure"](pb.policies.BatchSAR, figure["gene_means"](), 100, 100,
                                       384, 10, 1)
    assert share == pytest.approx(0.114, abs=0.03) and used == 100


def test_data_files_replace_the_stand_ins(tmp_path):
    path = tmp_path / "genes.txt"
    np.savetxt(path, np.random.default_rng(1).normal(size=1_000))
    printed, _ = run_quick("jun2016", "figure_1", tmp_path, "--data", str(path), "--cells",
                           "10,20", "--runs", "2")
    assert printed.splitlines()[1].startswith("1,000 genes")
