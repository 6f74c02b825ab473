"""The examples run at a tiny size."""

import pathlib
import re
import runpy
import shutil
import sys

import numpy as np
import pytest

import pybandit as pb

ROOT = pathlib.Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="no examples beside the tests")


def load(name):
    (path,) = EXAMPLES.rglob(f"{name}.py")
    sys.path.insert(0, str(path.parent))  # as Python does for a script
    try:
        return runpy.run_path(str(path))
    finally:
        sys.path.remove(str(path.parent))


def test_error_against_budget_draws_its_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    out = tmp_path / "error.png"
    load("error_against_budget")["main"]("6", out)
    assert out.read_bytes().startswith(b"\x89PNG")
    rows = re.findall(r"^[A-Z][\w-]+ +((?: +[01]\.\d+){7})$", capsys.readouterr().out, re.MULTILINE)
    errors = np.array([row.split() for row in rows], dtype=float)
    assert errors.shape == (10, 7) and errors[:, -1].mean() < errors[:, 0].mean()


def test_numba_policy_draws_its_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("numba")
    out = tmp_path / "error.png"
    load("numba_policy")["main"](["--runs", "20", "--out", str(out)])
    assert out.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert len(re.findall(r"ns a pull, error [01]\.\d+$", printed, re.MULTILINE)) == 4
    assert "the same leaders in 2 runs: True" in printed


def test_peeking_draws_its_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "peeking.png"
    load("peeking")["main"](["--quick", "--out", str(out)])
    assert out.read_bytes().startswith(b"\x89PNG")
    (shares,) = re.findall(r"^posterior, every item +([\d.]+) +([\d.]+)$",
                           capsys.readouterr().out, re.MULTILINE)
    assert 0.1 < float(shares[0]) <= float(shares[1]) < 0.9


def test_kmedoids_rivals_compares_losses(capsys):
    pytest.importorskip("sklearn")
    load("kmedoids_rivals")["main"](["--quick", "--threads"])
    printed = capsys.readouterr().out
    assert len(re.findall(r"^  pybandit +loss [\d.]+, worst [\d.]+ of 2 seeds", printed, re.M)) == 2
    assert len(re.findall(r"^  threads +one [\d.]+ s, two [\d.]+ s", printed, re.M)) == 2


def test_real_data_compares_losses(capsys):
    pytest.importorskip("sklearn")
    load("real_data")["main"](["--quick"])
    printed, cost = capsys.readouterr().out, r"[\d.]+, [\d.]+ s, [\d.]+ MB"
    assert len(re.findall(rf"^  the medoid +{cost}, row \d+", printed, re.M)) == 3
    assert len(re.findall(rf"^  pybandit +k = \d+ +{cost}", printed, re.M)) == 3


def test_guarantees_draw_their_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "guarantees.png"
    load("guarantees")["main"](["--quick", "--out", str(out)])
    assert out.read_bytes().startswith(b"\x89PNG")
    assert len(re.findall(r" to \d\.\d{3}\)$", capsys.readouterr().out, re.MULTILINE)) == 16


def test_model_leaderboard_draws_its_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("sklearn")
    out = tmp_path / "board.png"
    load("model_leaderboard")["main"](["--quick", "--out", str(out)])
    assert out.read_bytes().startswith(b"\x89PNG")
    assert len(re.findall("^betting", capsys.readouterr().out, re.MULTILINE)) == 4


def test_model_leaderboard_reuses_its_table(tmp_path):
    path = tmp_path / "scores.npz"
    np.savez(path, names=["a", "b"], scores=[[0.0, 1.0], [0.5, 0.5]])
    names, scores = load("model_leaderboard")["load_table"](path)
    assert list(names) == ["a", "b"] and scores.tolist() == [[0.0, 1.0], [0.5, 0.5]]


def test_budget_rules_prints_its_table(tmp_path, capsys):
    example = load("budget_rules")
    example["main"](["--quick"])
    assert len(re.findall(r"^coins 0 +\d+%", capsys.readouterr().out, re.MULTILINE)) == 7
    path = tmp_path / "tables.npz"
    np.savez(path, small=np.eye(40)[:, :3])
    example["main"](["--tables", str(path), "--orders", "2"])
    assert "small" in capsys.readouterr().out
    # successive rejects as in the paper: two of three arms, depths 3 and 4
    assert example["depths"](100, 3, 12).tolist() == [3, 4]


def test_busy_workers_prints_its_table(tmp_path, capsys, monkeypatch):
    """Workers that ask ahead are busier; they make the calls of the race and a few more."""
    path = tmp_path / "tables.npz"
    np.savez(path, small=np.random.default_rng(1).random((90, 4)) * [0.5, 0.6, 0.8, 0.9])
    example = load("busy_workers")
    monkeypatch.setattr("sys.argv", ["busy_workers", "--tables", str(path), "--quick",
                                     "--workers", "8"])
    example["main"]()
    rows = re.findall(r"^ +small +(\w+) +([\d.]+) +([\d.]+) ", capsys.readouterr().out, re.M)
    busy = {name: float(share) for name, share, _ in rows}
    assert busy["block"] < busy["ahead"] <= 1.0
    assert all(float(cells) >= 1.0 for *_, cells in rows) and float(rows[0][2]) == 1.0


def test_which_bound_writes_its_tables(tmp_path, capsys):
    page = tmp_path / "page.md"
    shutil.copy(ROOT / "docs" / "which_bound.md", page)
    example = load("which_bound")
    example["main"](["--quick", "--write", str(page)])
    written = page.read_text()
    for table in capsys.readouterr().out.split("\n\n")[:4]:
        assert table in written
    assert written.count("<!-- end -->") == 4


def test_which_bound_page_has_every_population():
    text = (ROOT / "docs" / "which_bound.md").read_text()
    assert all(text.count(f"| {name} |") == 2 for name in load("which_bound")["CASES"])


def test_few_plates_prints_its_table(capsys):
    load("few_plates")["main"](["--quick"])
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 2 + 3 * 2 and all(row.count("|") == 9 for row in rows)
    assert rows[2].split("|")[6].strip() == "-" and "±" in rows[2].split("|")[5]


def test_fixed_confidence_prints_its_tables(capsys):
    load("fixed_confidence")["main"](["--quick"])
    printed = capsys.readouterr().out
    assert len(re.findall(r"\d\.\d\d \[\d+\.\d\d\]", printed)) == 15
    least = re.search(r"least of any rule +([\d,]+) +(\d+)", printed)
    assert [int(number.replace(",", "")) for number in least.groups()] == [1740, 574]




def test_estimator_weights_draws_its_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out, example = tmp_path / "weights.png", load("estimator_weights")
    example["main"](["--quick", "--out", str(out)])
    assert out.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert len(re.findall(r"^ +\S.*±.*±.*±", printed, re.MULTILINE)) == 8
    assert len(re.findall(r"^ +\S.*( +\d+%){3}$", printed, re.MULTILINE)) == 7
    assert len(re.findall(r"^ +[^±]*±[^±]*±[^±]*$", printed, re.MULTILINE)) == 4


def test_estimator_weights_finds_the_figures_of_the_page():
    """Tests rare events with 400 runs; the known shares are .44 and .99, or 0 and .9."""
    example = load("estimator_weights")
    environment = example["rare"](1e-3)
    assert environment.means == pytest.approx([1.0, 1.0])
    assert environment.variances**0.5 == pytest.approx([1.5, 15.8], rel=0.01)
    trusts = example["trusts_the_second"]
    for share, name, known in [(1e-3, "thompson-variance", 0.44), (1e-3, "UCB-V", 0.99),
                               (1e-2, "thompson-variance", 0.0), (1e-2, "UCB-V", 0.9)]:
        found = example["simulated"](name, example["rare"](share), 400, 3, [trusts])
        assert found.metrics["trusts_the_second"].mean() == pytest.approx(known, abs=0.13)




def test_agents_cost_prints_its_table(tmp_path, capsys):
    example = load("agents_cost")
    files = []
    for name, table in zip(("scores", "costs"), example["invented"](40, 4), strict=True):
        files += [f"--{name}", str(tmp_path / f"{name}.csv")]
        lines = [",".join(["item", *"abcd"]),
                 *(",".join([f"q{i}", *map(str, row)]) for i, row in enumerate(table.tolist()))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    example["main"]([*files, "--orders", "2"])
    printed = capsys.readouterr().out
    assert "4 models, 40 items" in printed and "budget 30%" in printed
    scores, costs = example["invented"](200, 6)
    found = example["measure"](scores, costs, 4, 1, 0.05)
    most = found["budget 20%"][:, 0].max()
    assert 0.0 < most <= 0.2 * costs.sum() and not found["budget 5%"][:, 2].all()
    assert found["costs"][:, 2].all() and not found["costs"][:, 1].any()


def test_oracle_bettor_prints_its_table(capsys):
    example = load("oracle_bettor")
    example["main"](["--quick"])
    out = capsys.readouterr().out
    assert len(re.findall(r" \d\.\d{4} +\d\.\d{3} +\d$", out, re.MULTILINE)) == 19


@pytest.mark.parametrize("bettor, options", [("16 bets", {"bets": pb.betting.Bets("product")}),
                                             ("learned, groups of 1, 2, 4", {})])
def test_oracle_example_equals_the_race(bettor, options):
    """Sixteen bets on the leader, and plug-in bets, equal those of BettingRace at every item."""
    example = load("oracle_bettor")
    scores = load("score_tables")["coins"](3, 300, 7)
    share, winner = example["Race"](scores, example["BETTORS"][bettor], 0.05).run()
    race = pb.BettingRace(7, 300, value_range=(0, 1), rng=1, block_size=1, **options)
    row = 0
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, scores[row, arms])
        row += 1
    assert race.n_pulls / scores.size == pytest.approx(share) and race.recommend()[0] == winner


@pytest.mark.slow
def test_larger_than_memory_finds_its_best_column(capfd):
    pytest.importorskip("pyarrow")
    load("larger_than_memory")["main"](["--quick"])
    printed = capfd.readouterr().out
    (best,) = re.findall(r"the best column is (\d+)", printed)
    rows = re.findall(r"^(.{30}) (?:not installed| *[\d.]+ +\d+  \w+ (\d+), )", printed, re.M)
    assert len(rows) == 5 and {found for _, found in rows} <= {best, ""}


def test_web_tests_draws_its_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "web.png"
    figures = load("web_tests")["main"](["--runs", "2", "--days", "9", "--out", str(out)])
    assert out.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert len(re.findall("^ +(?:BettingRace|CountRace)", printed, re.MULTILINE)) == 18
    assert all(found[2] + found[3] <= 2 for ways in figures.values() for found in ways.values())
