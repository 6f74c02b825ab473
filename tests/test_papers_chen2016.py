"""The scripts of examples/papers/chen2016: each runs with --quick and prints its claims."""

import functools

import numpy as np
import pytest

import papers
from papers import NO_PAPERS

pytestmark = NO_PAPERS
load = functools.partial(papers.load, "chen2016")


def claims_of(name, tmp_path, *options):
    """Run a script and draw; return its claims by statement."""
    pytest.importorskip("matplotlib")
    plot = tmp_path / "plot.png"
    found = papers.claims_of("chen2016", name, tmp_path, "--save", str(plot), *options)
    assert plot.read_bytes().startswith(b"\x89PNG")
    return found


@pytest.mark.parametrize("name, n_claims", [("figure_1", 8), ("figure_5", 7), ("figure_6", 4),
                                            ("figure_7", 5)])
def test_synthetic_races_print_their_table(name, n_claims, tmp_path, capsys):
    claims = claims_of(name, tmp_path, "--runs", "10", "--lil", "2")
    assert len(claims) == n_claims
    printed = capsys.readouterr().out
    assert all(printed.count(f" {name} ") >= 18 for name in ("Racing-Normal", "Racing-EBS"))
    assert claims["The error of Racing-EBS never exceeds delta significantly"]["sign"]


def test_synthetic_references_are_those_of_the_variance():
    example = load("synthetic")
    known = example["reference_values"]("pairwise")
    assert known["Racing-Normal", "normal", 1e-4, 0.05] == pytest.approx((1.62e-3, 0.0515),
                                                                         abs=5e-5)
    marginal = example["reference_values"]("marginal")
    assert len(known) == len(marginal) == 80 and known != marginal
    assert all(marginal[key][1] >= 0.99 * known[key][1] for key in known if key[2] == 0.1)


def test_synthetic_algorithms_have_the_same_noise():
    example = load("synthetic")
    factors, log_prior = np.zeros((100, 3)), np.array([0.0, 30.0, 0.0])
    for name in "Racing-Normal", "Racing-EBS":
        wrong, shares = example["measure"](name, factors + np.arange(100)[:, None] % 2, log_prior,
                                           0.05, "pairwise", 5, 1)
        assert wrong == 0 and shares.size == 5 and (shares <= 1).all()


def test_above_delta_ignores_cells_with_too_few_draws():
    row = {"n": 1, "wrong": 1, "delta": 0.1}
    above = load("synthetic")["above_delta"]
    assert above([row]) == []
    assert above([{**row, "n": 100, "wrong": 25}]) and not above([{**row, "n": 100, "wrong": 10}])
    # 17 and 20 of 100 have the p-values .02 and .002; ten cells are tested together
    many = [{**row, "n": 100, "wrong": wrong} for wrong in (17, 20, *[10] * 8)]
    assert [one["wrong"] for one in above(many)] == [20]


def test_lil_bonus_of_figure_1_equals_the_known_value():
    """.5255 at 100 pulls with C / 2 = 1, times sqrt(3) for uniform rewards of deviation 1."""
    rows, widths = load("figure_1")["half_widths"]()
    lil = widths["lil'UCB"][list(rows).index(128)]
    expected = 1.5 * np.sqrt(2 * 3 * np.log(np.log(130) / 0.01) / 128)
    assert lil == pytest.approx(expected)


def test_table_1_is_the_two_sided_boundary(tmp_path, capsys):
    claims = claims_of("table_1", tmp_path)
    assert not claims["B solves Equation 5"]["sign"]
    assert claims["B is that of a two-sided test"]["sign"]
    assert claims["B is that of a two-sided test"]["size"]
    assert "2.0435" in capsys.readouterr().out


def test_figure_4_finds_its_claims(tmp_path):
    assert all(claim["sign"] for claim in claims_of("figure_4", tmp_path).values())


def test_figure_2_has_both_bounds(tmp_path, capsys):
    pytest.importorskip("arch")
    claims = claims_of("figure_2", tmp_path)
    printed = capsys.readouterr().out
    for kind in "normal", "student":
        assert f"No noticeable bias in the shares of the orders ({kind})" in claims
        assert printed.count(f"\n{kind:<8}Gibbs ") == printed.count(f"\n{kind:<8}MH ") == 1
    assert claims["Control variates reduce the variance of rewards by 2 to 3 orders"]["sign"]


def test_figure_2_reads_own_prices(tmp_path):
    path = tmp_path / "prices.txt"
    np.savetxt(path, np.exp(np.array([0.0, 0.01, -0.02, 0.03])))
    found = load("arch_model")["load"](path)
    np.testing.assert_allclose(found, [0.0, -4.0, 4.0], atol=1e-9)


def test_figure_3_prints_each_run(tmp_path, capsys):
    pytest.importorskip("sklearn")
    claims = claims_of("figure_3", tmp_path)
    printed = capsys.readouterr().out
    assert printed.count("final F1 of each run") == 2
    assert claims["The empirical error is about .046, within delta = .05"]["sign"]


@pytest.fixture(scope="module")
def rivals():
    return load("section_4")


def test_section_4_compares_the_tests(rivals, tmp_path, capsys):
    claims = claims_of("section_4", tmp_path, "--runs", "40")
    statement = ("Racing-EBS is more efficient than Bardenet et al, at the same error "
                 "(normal and lognormal ratios)")
    assert len(claims) == 5 and claims[statement]["sign"]
    assert capsys.readouterr().out.count("Korattikara, m = 50 ") >= 2


@pytest.mark.parametrize("name", ["normal", "lognormal"])
def test_section_4_rivals_equal_a_plain_loop(rivals, name):
    """Korattikara's and Bardenet's tests, one look at a time, from their papers."""
    from math import ceil, log, sqrt

    from scipy.stats import t as student

    n, rng = 600, np.random.default_rng(1)
    values = rivals["log_ratios"](name, n, rng)
    spread = float(np.ptp(values))

    def korattikara(order, psi, m):
        for rows in range(m, n, m):
            seen = order[:rows]
            error = seen.std(ddof=1) / sqrt(rows) * sqrt(1 - (rows - 1) / (n - 1))
            if student.sf(abs(seen.mean() - psi) / error, rows - 1) < 0.05:
                return seen.mean() > psi, rows
        return order.mean() > psi, n

    def bardenet(order, psi):
        rows = 2
        while rows < n:
            seen, share = order[:rows], 0.05 / (2 * rows**2)
            rho = 1 - (rows - 1) / n if rows <= n / 2 else (1 - rows / n) * (1 + 1 / rows)
            width = seen.std() * sqrt(2 * rho * log(5 / share) / rows) \
                + (7 / 3 + 3 / sqrt(2)) * spread * log(5 / share) / rows
            if abs(seen.mean() - psi) > width:
                return seen.mean() > psi, rows
            rows *= 2
        return order.mean() > psi, n

    ended = set()
    for psi in (0.0, 0.1, -0.3, 1.0, -3.0) * 4:
        order = rng.permutation(values)
        sums, squares = order.cumsum(), (order**2).cumsum()
        for m in (50, 100):
            rows = rivals["batches"](m, n)
            assert rows.size == ceil(n / m) and rows[-1] == n
            found = rivals["first_decision"](sums, squares, rows, psi, rivals["korattikara"](0.05))
            assert found == korattikara(order, psi, m)
            ended.add(int(found[1]))
        found = rivals["first_decision"](sums, squares, rivals["doubling"](2, n), psi,
                                         rivals["bardenet"](0.05, spread))
        assert found == bardenet(order, psi)
        ended.add(int(found[1]))
    assert len(ended) > 4
