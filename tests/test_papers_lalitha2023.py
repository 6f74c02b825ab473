"""Scripts of examples/papers/lalitha2023: claims, reference values and the completed matrix."""

import functools
import re

import numpy as np
import pytest

import papers
from papers import NO_PAPERS, run_quick

pytestmark = NO_PAPERS
load = functools.partial(papers.load, "lalitha2023")


@pytest.mark.parametrize("name, claims", [("figure_1", 6), ("figure_2", 12), ("figure_3", 8),
                                          ("figure_4", 5), ("figure_5", 8), ("figure_6", 8)])
def test_script_prints_its_claims(name, claims, tmp_path):
    pytest.importorskip("matplotlib")
    printed, found = run_quick("lalitha2023", name, tmp_path, "--runs", "10")
    assert printed.count("Sign agrees") + printed.count("Sign differs") == len(found) == claims
    assert ("synthetic" in printed) == (name in ("figure_4", "figure_5", "figure_6"))


def test_figure_2_finds_the_references():
    """Two cells on which the settings differ most; 500 runs."""
    figure, shared = load("figure_2"), load("setting")
    for setting in "AB":
        for name in ("SequentialHalving", "SHVar"):
            known = figure["reference"](setting)[name][1000]
            found, _ = shared["measure"](shared["POLICIES"][name],
                                         figure["gaussian"](64, setting), 1000, 500, 1)
            assert found == pytest.approx(known, abs=0.07)


def test_ranking_of_figure_2_fails_in_the_references():
    """VBR is ahead of SHVar at every budget, and halving at the first two in setting A."""
    known = load("figure_2")["REFERENCE"]
    for setting in "AB":
        assert (np.array(known[setting]["VBR"]) < known[setting]["SHVar"]).all()
    assert (np.array(known["B"]["GapE"]) < known["B"]["SHVar"]).tolist() == [False, False, True,
                                                                            True]
    assert (np.array(known["A"]["SequentialHalving"]) < known["A"]["SHVar"])[:2].all()


def test_gape_without_squared_range_is_worse():
    """Errors at n = 1,000 in setting A are about .11, .32 without b^2, and .50 of Uniform."""
    gaussian = load("figure_2")["gaussian"](64, "A")
    shared = load("setting")
    squared, plain, uniform = (
        shared["measure"](shared["POLICIES"][name], gaussian, 1000, 300, 1)[0]
        for name in ("GapE", "GapE, H without b^2", "Uniform"))
    assert squared < 0.2 < plain < 0.42 < uniform


def test_figure_3_has_the_references_of_figure_2():
    figure = load("figure_3")
    known = figure["reference"]("B")["SHVar"]
    assert known == {32: 0.0195, 40: 0.029, 48: 0.045, 56: 0.055, 64: 0.0735}


def test_completion_finds_a_matrix_of_low_rank():
    """The matrix has 60 x 40 entries and rank 2, and 60 % of the entries are known."""
    movies = load("movies")
    rng = np.random.default_rng(1)
    truth = 3.5 + rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40)) / 2
    users, items = np.nonzero(rng.random(truth.shape) < 0.6)
    movies["solve"].__globals__["RIDGE"] = 1e-6
    found = movies["complete"](users, items, truth[users, items], rank=3, rounds=200)
    assert np.abs(found - truth).max() < 0.05


def test_solve_is_ridge_regression_of_each_row():
    movies, rng = load("movies"), np.random.default_rng(2)
    rows, columns = rng.integers(4, size=30), rng.integers(6, size=30)
    rows[rows == 2] = 1  # nothing is known of row 2
    ratings, factors = rng.normal(size=30), rng.normal(size=(6, 3))
    found = movies["solve"](rows, columns, ratings, factors, 4)
    for row in (0, 1, 3):
        mine = rows == row
        x = factors[columns[mine]]
        expected = np.linalg.solve(x.T @ x + movies["RIDGE"] * mine.sum() * np.eye(3),
                                   x.T @ ratings[mine])
        assert found[row] == pytest.approx(expected)
    assert (found[2] == 0).all()


@pytest.mark.parametrize("separator", ["\t", "::"])
def test_ratings_are_read_from_both_formats(tmp_path, separator):
    path = tmp_path / "u.data"
    path.write_text("".join(separator.join(map(str, row)) + "\n" for row in
                            [(7, 10, 5, 881), (3, 10, 1, 882), (7, 12, 3, 883)]))
    users, movies, ratings = load("movies")["read"](path)
    assert users.tolist() == [1, 0, 1] and movies.tolist() == [0, 0, 1]
    assert ratings.tolist() == [5, 1, 3]


def test_movies_have_the_moments_of_their_entries():
    """A pull of an arm is an entry, rounded to a hundredth of a star."""
    movies = load("movies")
    matrix = np.random.default_rng(3).normal(3.4, 0.6, (200, 90))
    catalogue = movies["Movies"](matrix)
    assert catalogue.means == pytest.approx(matrix.mean(axis=0) - 3)
    assert catalogue.variances == pytest.approx(matrix.var(axis=0))
    chosen = catalogue.closest(np.zeros(64), np.ones(64))
    assert len(set(chosen)) == 64
    environment = catalogue.draw(64, "A", np.random.default_rng(4))
    assert np.isin(environment.means.round(6), (np.rint(100 * (matrix - 3)) / 100).mean(axis=0)
                   .round(6)).all()


def test_star_histograms_draw_their_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    plot, script = tmp_path / "picture.png", load("star_histograms")
    script["main"](["--quick", "--save", str(plot)])
    assert plot.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    n_policies = len(load("setting")["POLICIES"])
    assert len(re.findall(r"(?<= )(\.\d{4}|1\.0000)\b", printed)) == 4 * n_policies
    assert "synthetic" in printed


def test_star_histograms_read_a_file(tmp_path, capsys):
    """All arms are different movies, and movies without variance are left out."""
    path = tmp_path / "movies.csv"
    rows = np.random.default_rng(1).integers(1, 9, (40, 5))
    np.savetxt(path, np.vstack([rows, [0, 0, 3, 0, 0]]), "%d", ",", header="c1,c2,c3,c4,c5",
               comments="")
    script = load("star_histograms")
    script["main"](["--quick", "--data", str(path)])
    assert "40 movies" in capsys.readouterr().out
    catalogue = script["Catalogue"](script["load"](path))
    assert len(set(catalogue.closest(np.zeros(40), np.ones(40)))) == 40
    stars = np.repeat(script["STARS"], rows[7])
    assert catalogue.means[7] == pytest.approx(stars.mean())
    assert catalogue.variances[7] == pytest.approx(stars.var())
    chosen = catalogue.closest(catalogue.means[[7, 3]], catalogue.variances[[7, 3]])
    assert chosen == [7, 3]
