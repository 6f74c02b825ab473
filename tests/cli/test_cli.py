"""The command line, and the demo on a small data set."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit.cli import demo
from pybandit.cli._examples import EXAMPLES, LOG, subcommands
from pybandit.cli._main import make_parser


@pytest.fixture
def small(monkeypatch):
    """Replace the two data sets of the demo by one with 2,000 observations."""
    observations = np.random.default_rng(0).standard_t(3.0, 2_000)
    steps = np.arange(-4, 5)
    subject = demo.Subject(
        "Student-t: simulated numbers", "units", observations, observations,
        demo.Grid(3.0 * 2.0**steps, 2.0**steps), demo.Grid(3.0 + 0.2 * steps, 1.0 + 0.03 * steps))
    monkeypatch.setattr(demo, "subjects", lambda: (subject,))
    monkeypatch.setattr(demo, "EXACT_SECONDS", 0.0)
    return subject


def test_version_is_printed(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"pybandit {pb.__version__}\n"


def test_without_a_command_the_help_is_printed(capsys):
    assert cli.main([]) == 2
    assert "demo" in capsys.readouterr().out


def test_help_describes_every_command(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "Find the best arm, draw the sample or combine the estimators" in printed
    for command, what in [("demo", "what racing saves"), ("screen", "lasts weeks"),
                          ("best-of", "which of these models is best"), ("config", "C and C++")]:
        assert what in printed[printed.index(f" {command} "):]


def test_every_command_has_an_example_with_its_options():
    commands = []

    def visit(parser, words):
        for name, below in subcommands(parser).items():
            command = " ".join([*words, name])
            commands.append(command)
            example = EXAMPLES.get(command) or LOG[name].format(*words)
            assert f"example:\n  {example}\n" in below.format_help()
            for option in re.findall(r"(?<= )--?[a-z][a-z-]*", example):
                assert option in below.format_usage() or command == "config", command
            visit(below, [*words, name])

    visit(make_parser(), [])
    assert set(EXAMPLES) <= set(commands) and len(commands) > 30
    assert set(LOG) <= {command.split()[-1] for command in commands}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_commands_and_options(shell, capsys):
    pytest.importorskip("shtab")
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "best-of" in script and "--value-range" in script and "webtest" in script


@pytest.mark.parametrize("command", ["demo", "best-of"])
def test_every_command_has_a_help_text(command, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([command, "--help"])
    assert end.value.code == 0
    assert "default" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [
    ["--draws", "0"], ["--draws", "many"], ["--seed", "-1"], ["--out", "no/such/folder/x.png"]])
def test_invalid_options_are_rejected(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["demo", *arguments])
    assert end.value.code == 2
    assert arguments[0] in capsys.readouterr().err


@pytest.mark.parametrize("package", ["arch", "sklearn", "PIL", "matplotlib"])
def test_missing_package_names_the_extra(package, monkeypatch, capsys):
    for needed in ("arch", "sklearn", "PIL", "matplotlib"):
        if needed != package:
            pytest.importorskip(needed)
    for name in list(sys.modules):
        if name.partition(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert cli.main(["demo", "--draws", "1"]) == 1
    error = capsys.readouterr().err
    assert package in error and "pip install 'pybandit-core[demo]'" in error


def test_interrupt_prints_no_traceback(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupted)
    assert cli.main(["demo"]) == 130


def test_character_that_the_output_lacks_is_named_with_the_remedy(tmp_path):
    (tmp_path / "scores.csv").write_text("alpha,\u03b4\n" + "0.1,0.9\n" * 200, "utf-8")
    run = subprocess.run([sys.executable, "-m", "pybandit", "best-of", "scores.csv"],
                         cwd=tmp_path, text=True, capture_output=True,
                         env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path),
                                           "PYTHONIOENCODING": "cp1252"})
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr == ("pybandit best-of: the encoding of the output, cp1252, lacks '\\u03b4'; "
                          "set the environment variable PYTHONUTF8=1\n")


def test_module_runs_as_the_command():
    run = subprocess.run([sys.executable, "-m", "pybandit", "--version"], capture_output=True,
                         text=True, check=True, env=os.environ)
    assert run.stdout.split() == ["pybandit", pb.__version__]


def test_demo_prints_one_line_per_comparison(small, capsys):
    assert cli.main(["demo", "--draws", "200", "--out", "-"]) == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if line.startswith(("coarse  ", "fine"))]
    labels = ["coarse", "fine", "fine, controls"]
    assert [line[:15].strip() for line in lines if line.rstrip()[-1].isdigit()] == labels
    assert "one pass would serve all" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_demo_draws_the_picture(small, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "demo.png"
    assert cli.main(["demo", "--draws", "200", "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")


def test_demo_repeats_from_its_seed(small):
    def frequencies(seed):
        (_, lines), = demo.run(None, 300, seed, echo=lambda text: None)
        return [line.frequencies.tolist() for line in lines]

    assert frequencies(5) == frequencies(5) != frequencies(6)


def test_racing_draws_are_as_close_as_exact_ones(small):
    (_, lines), = demo.run(None, 20_000, 3, echo=lambda text: None)
    controlled = lines[2]
    low, high = controlled.exact_distance
    assert 0.5 * low < controlled.distance < 1.5 * high
    assert controlled.fraction < 0.15 < lines[1].fraction


def test_student_factors_are_the_log_density(small):
    stats = pytest.importorskip("scipy.stats")
    factors = demo.student_factors(small.observations, small.coarse)
    rows, cells = np.array([3, 1999, 0]), np.array([0, 17, 80])
    dof, scale = small.coarse.cells()
    expected = stats.t.logpdf(small.observations[rows, None], dof[cells], scale=scale[cells])
    np.testing.assert_allclose(factors.function(rows, cells), expected, rtol=1e-12)


def test_control_variates_preserve_totals_and_reduce_differences(small):
    factors = demo.student_factors(small.observations, small.fine)
    rows, cells = np.arange(factors.n_factors), np.arange(factors.n_states)
    plain = factors.function(rows, cells)
    controlled = demo.with_control_variates(small.observations, small.fine)
    control = controlled.control
    rest = controlled.function(rows, cells) - control.values(rows, cells)
    np.testing.assert_allclose(control.totals + rest.sum(axis=0), plain.sum(axis=0), rtol=1e-11)
    deviation = [(values - values[:, [40]]).std(axis=0).max() for values in (plain, rest)]
    assert deviation[1] < 0.02 * deviation[0]
    some = np.array([5, 1000, 2])
    # equal but for rounding: matrix products of other shapes may sum in another order
    np.testing.assert_allclose(controlled.function(some, cells[::7])
                               - control.values(some, cells[::7]), rest[some][:, ::7],
                               rtol=0, atol=1e-14)


def test_total_variation_is_half_the_sum_of_differences():
    assert demo.total_variation(np.array([[0.5, 0.5], [1.0, 0.0]]), [0.5, 0.5]).tolist() == [0, 0.5]
