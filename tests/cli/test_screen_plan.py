"""`pybandit screen plan`, `--policy auto`, and messages that name options."""

import json

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit.cli._screen_policies import CHOICES, make_policy
from pybandit.errors import UnreadableFileError
from pybandit.lab._values import noise_of_pilot


def plan(capsys, *options):
    assert cli.main(["screen", "plan", *map(str, options)]) == 0
    return capsys.readouterr().out


def refused(capsys, *options):
    assert cli.main(["screen", *map(str, options)]) == 2
    return capsys.readouterr().err


SMALL = "--n", 300, "--k", 5, "--plate", "6x8", "--noise", 0.5, "--runs", 10


def test_plan_prints_a_table(capsys):
    out = plan(capsys, *SMALL, "--batches", 7, 20)
    head, columns, *rows, last = out.splitlines()
    assert head == ("300 arms, the 5 best wanted, 48 wells per batch, noise 0.5 (as given); hits "
                    "of 5, 10 runs, ± 95 %")
    assert columns.split() == ["batches", "batch-screening", "batch-sar", "batch-halving",
                               "round-robin", "auto"]
    assert [row.split()[0] for row in rows] == ["7", "20"]
    assert rows[0].split()[4] == "-" and rows[0].endswith("batch-screening")
    assert last.startswith("fewest batches: batch-screening 7, batch-sar ")


def test_plan_equals_simulate(capsys):
    known = json.loads(plan(capsys, *SMALL, "--batches", 12, "--json"))

    def found(policy, environment):
        return np.isin(policy.recommend(), environment.best(5)).sum()

    result = pb.simulate(lambda _: pb.policies.BatchScreening(300, 5, batch_size=48,
                                                              max_batches=12),
                         lambda rng: pb.environments.GaussianBandit(rng.normal(size=300), 0.5),
                         10, rng=0, metrics=[found])
    hits = result.metrics["found"]
    row = next(one for one in known["found"] if one["policy"] == "batch-screening")
    assert row["hits"] == hits.mean()
    assert row["half"] == pytest.approx(1.96 * hits.std(ddof=1) / 10**0.5)


def test_fewest_plates_are_enough_and_one_less_is_not(capsys):
    fewest = json.loads(plan(capsys, *SMALL, "--batches", 7, "--json"))["fewest"]
    assert fewest["batch-screening"] == fewest["round-robin"] == 7
    for name in ("batch-screening", "batch-sar", "batch-halving"):
        options = {"k": 5, "batch_size": 48}
        make_policy(name, 300, options | {"batches": fewest[name]})
        with pytest.raises(pb.errors.InfeasibleBudgetError, match=f"^--batches must be at least "
                                                      f"{fewest[name]}[ ,]"):
            make_policy(name, 300, options | {"batches": fewest[name] - 1})


def test_plan_starts_with_the_fewest_plates(capsys):
    known = json.loads(plan(capsys, "--n", 100, "--k", 5, "--runs", 2, "--json"))
    assert list(known["chosen"]) == ["2", "3", "4", "6"]


def pilot(tmp_path, rng, noise, n=200):
    path = tmp_path / "pilot.csv"
    means = rng.normal(5.0, 2.0, n)
    lines = [f"g{arm},{means[arm] + rng.normal(0.0, noise)}" for arm in range(n) for _ in range(3)]
    path.write_text("\n".join(["gene,reading", *lines, "control,900", "g1,NA"]))
    return path


def test_pilot_gives_the_noise(tmp_path, capsys):
    path = pilot(tmp_path, np.random.default_rng(1), 1.0)
    assert noise_of_pilot(str(path)) == pytest.approx(0.5, abs=0.08)
    out = plan(capsys, "--n", 100, "--k", 5, "--runs", 2, "--pilot", path)
    assert f"(of {path})" in out


def test_controls_are_not_arms_of_a_pilot(tmp_path, capsys):
    """Controls may have any names, and readings may be logarithms."""
    path = pilot(tmp_path, np.random.default_rng(1), 1.0, 60)
    rows = [line.split(",") for line in path.read_text().splitlines()[1:-2]]
    (tmp_path / "arms.csv").write_text("\n".join(["gene", *sorted({arm for arm, _ in rows})]))
    raw = noise_of_pilot(str(path))
    path.write_text("\n".join(["gene,reading"] + [f"{arm},{np.exp(float(x))}" for arm, x in rows]
                              + ["DMSO,1e9", "DMSO,1e-9"] * 9 + ["best,1e12"] * 9))
    labels = ["DMSO", "best"]
    assert noise_of_pilot(str(path), labels, log=True) == pytest.approx(raw)
    assert noise_of_pilot(str(path), labels) != pytest.approx(raw, rel=0.1)
    new = ["screen", "new", tmp_path / "s.db", "--policy", "auto", "--arms", tmp_path / "arms.csv",
           "--k", 5, "--batches", 9, "--plate", "4x6", "--log", "--controls", "col:1",
           "--control-label", "DMSO", "--positives", "col:6", "--positive-label", "best",
           "--pilot", path]
    assert cli.main(list(map(str, new))) == 0
    assert f"noise {raw:.3g}" in capsys.readouterr().out
    path.write_text("gene,reading\na,1\na,0\nb,2\nc,3\n")
    with pytest.raises(UnreadableFileError, match="above 0 for --log; got 0"):
        noise_of_pilot(str(path), log=True)


@pytest.mark.parametrize("text, words", [
    ("gene,reading\na,1\na,2\n", "must have readings of three arms"),
    ("gene,reading\na,1\nb,2\nc,3\n", "several readings of some arm"),
    ("gene,reading\na,1\na,9\nb,1\nb,9\nc,1\nc,9\n", "differ no more than"),
    ("gene,light\na,1\n", "line 1, column 1: the header must have"),
    ("gene,reading\na,x\n", "line 2, column 2: 'x' is not a finite number"),
    ("gene,reading\na\n", "line 2, column 2: the row must have at least 2 cells"),
])
def test_invalid_pilots_are_rejected(text, words, tmp_path, capsys):
    path = tmp_path / "pilot.csv"
    path.write_text(text)
    err = refused(capsys, "plan", "--n", 100, "--k", 5, "--pilot", path)
    assert words in err and str(path) in err


@pytest.mark.parametrize("options, words", [
    (("--n", 10, "--k", 10), "--k must be below --n, 10; got 10"),
    (("--n", 10, "--k", 2, "--noise", 1, "--pilot", "p.csv"), "pass only one of"),
])
def test_invalid_plans_are_rejected(options, words, capsys):
    assert words in refused(capsys, "plan", *options)


@pytest.fixture
def genes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "genes.csv").write_text("gene\n" + "\n".join(f"g{i}" for i in range(200)))
    return tmp_path


NEW = "new", "study.db", "--arms", "genes.csv", "--plate", "6x8"


def test_auto_chooses_a_policy_with_a_reason(genes, capsys):
    assert cli.main(["screen", *NEW, "--policy", "auto", "--k", "5", "--batches", "9", "--noise",
                     "0.5"]) == 0
    why, begun = capsys.readouterr().out.splitlines()
    assert why.startswith("--policy auto: batch-screening, which finds ") and (
        "of 5 at noise 0.5 (as given); batch-sar needs " in why)
    assert begun == "study.db: BatchScreening, 200 arms; next: the first plate"


def test_prior_determines_the_order(genes, capsys):
    (genes / "scores.csv").write_text("gene,score\n" + "\n".join(f"g{i},{i}" for i in range(200)))
    assert cli.main(["screen", *NEW, "--policy", "auto", "--k", "5", "--batches", "9", "--prior",
                     "scores.csv"]) == 0
    capsys.readouterr()
    with pb.Study.open("study.db") as study:
        assert study.policy.prior_means.tolist() == list(range(200))
        assert study.ask().names == [f"g{i}" for i in range(152, 200)]


@pytest.mark.parametrize("options, words", [
    ("--policy batch-screening --k 5 --batches 3",
     "--batches must be at least 5 to measure each of 200 arms once in batches of 48; got 3. "
     "Use more batches, or pass --allow-unmeasured"),
    ("--policy auto --k 5 --batches 3", "--batches must be at least 5 to measure each"),
    ("--policy auto --batches 9", "--policy auto needs --k"),
    ("--policy auto --k 200 --batches 9", "--k must be below the number of arms, 200; got 200"),
    ("--policy batch-sar --k 500 --batches 9", "--k must be at most the number of arms, 200"),
    ("--policy batch-racing --k 5 --delta 2", "--delta must be"),
    ("--policy sequential-halving --budget 5", "--budget must be at least"),
    ("--policy thompson --noise-std -1", "--noise-std must be"),
    ("--policy round-robin --k 5", "--policy round-robin needs --batches"),
    ("--policy round-robin --k 5 --batches 9 --allow-unmeasured",
     "--policy round-robin does not take --allow-unmeasured"),
    ("--policy round-robin --k 5 --batches 9 --noise 1", "does not take --noise"),
    ("--policy batch-screening --k 5 --batches 9 --prior genes.csv", "the header must have"),
    ("--policy batch-screening --k 5 --batches 9 --prior few.csv", "no value for 199 arms; the "
     "first is 'g1'"),
])
def test_messages_name_options(genes, options, words, capsys):
    (genes / "few.csv").write_text("arm,prior\ng0,1\n")
    message = refused(capsys, *NEW, *options.split())
    assert words in message
    assert not any(name in message for name in ("max_batches", "max_repeats", "n_arms",
                                                "allow_unmeasured", "noise_std", "batch_size"))
    assert not (genes / "study.db").exists()


def test_few_batches_are_accepted_with_an_option(genes, capsys):
    assert cli.main(["screen", *NEW, *"--policy batch-screening --k 5 --batches 3 "
                     "--allow-unmeasured".split()]) == 0
    with pb.Study.open("study.db") as study:
        assert study.policy.allow_unmeasured


def test_every_simulated_policy_is_available():
    assert set(CHOICES) >= {"batch-screening", "batch-sar", "batch-halving", "round-robin"}
