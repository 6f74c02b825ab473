"""What the scripts of the papers share: options, claims, the table and the page of figures."""

import json

import pytest

from papers import NO_PAPERS, PAPERS, imports_of

pytestmark = NO_PAPERS


@pytest.fixture(scope="module")
def shared():
    """Return the modules `figures` and `run` of examples/papers."""
    with imports_of("."):
        import figures
        import run
    return figures, run


def test_level_is_three_standard_errors_of_a_difference(shared):
    figures, _ = shared
    assert figures.level(1.0, 0.3, 1.7, 0.4)  # the half-width of the difference is .5
    assert not figures.level(1.0, 0.3, 1.8, 0.4)
    assert not figures.level(1.0, float("nan"), 1.0)


def test_result_states_runs_options_and_times(shared, tmp_path):
    figures, run = shared
    path = tmp_path / "claims.json"
    figure = figures.Figure("A title.\n", runs=(50, 5), data="text", arguments=[
        "--runs", "7", "--json", str(path)])
    figure.claim("It holds", "1", "1.1", True, False)
    figure.end()
    result = {**json.loads(path.read_text()), "options": ["--runs", "7"]}
    assert result["runs"] == 7 and not result["quick"] and not result["data"]
    assert result["processor_seconds"] > 0
    assert run.agreement(result) == "sign 1 of 1, size 0 of 1"
    script = "chen2016/figure_3.py"
    assert run.command_of(script, result) == f"python examples/papers/{script} --runs 7"
    longer = {**result, "quick": True, "data": True}
    assert run.command_of(script, longer) == (f"python examples/papers/{script} --quick --runs 7 "
                                              "--data cora_citations.tsv")


def test_plot_is_small_and_states_its_size(shared, tmp_path):
    figures, run = shared
    drawing = pytest.importorskip("pybandit._shared.drawing")
    pytest.importorskip("matplotlib")
    for options, size in (["--quick"], "small version, 5 runs"), (["--runs", "7"], "7 runs"):
        path = tmp_path / "plot.png"
        figure = figures.Figure("A title.\n", runs=(50, 5), arguments=[*options, "--save",
                                                                       str(path)])
        plot, ((axis,),) = drawing.new_figure(9.0, 5.0)
        axis.plot([0, 1], [0, 1])
        figure.end(lambda plot=plot: plot)
        assert run.comment_of(path) == size
        drawing.save(plot, tmp_path / "large.png")
        assert path.stat().st_size < (tmp_path / "large.png").stat().st_size
        assert run.comment_of(tmp_path / "large.png") == ""


def test_plots_of_the_page_are_small_and_complete():
    folder = PAPERS.parents[1] / "docs" / "images" / "papers"
    assert {path.stem for path in folder.glob("*.png")} == {
        f"{path.parent.name}_{path.stem}" for kind in ("figure", "table", "section", "appendix")
        for path in PAPERS.glob(f"*/{kind}_*.py")}
    assert max(path.stat().st_size for path in folder.glob("*.png")) < 60_000


def test_options_after_two_dashes_reach_the_script(shared, tmp_path):
    _, run = shared
    kept = tmp_path / "kept.json"
    assert run.main(["lalitha2023/figure_1", "--keep", str(kept), "--", "--runs", "20"]) == 0
    (result,) = json.loads(kept.read_text()).values()
    assert result["runs"] == 20 and result["options"] == ["--runs", "20"] and result["date"]
    assert run.main(["lalitha2023/figure_1", "--", "--bad"]) == 1


def test_page_lists_scripts_that_were_not_run(shared):
    _, run = shared
    kept = json.loads((PAPERS / "results.json").read_text())
    kept.pop("jun2016/table_1.py")
    quick = json.loads((PAPERS / "quick.json").read_text())
    (line,) = (line for line in run.page(kept, quick).splitlines() if line.startswith("Only run"))
    assert "`examples/papers/jun2016/table_1.py`" in line
    assert "lalitha2023" not in line


def test_every_script_with_data_has_the_name_of_its_file(shared):
    """A kept run with ``-- --data FILE`` needs the name for its command."""
    _, run = shared
    with_data = {str(path) for path in run.scripts()
                 if "data=" in (PAPERS / path).read_text()}
    assert set(run.DATA) == with_data
    for script in with_data:
        assert run.command_of(script, {"data": True}).endswith(f"--data {run.DATA[script]}")


def test_paper_passes_the_options_of_the_papers_size(shared, tmp_path, monkeypatch):
    _, run = shared
    assert set(run.OPTIONS_OF_PAPER) <= {str(path) for path in run.scripts()}
    calls = []

    def record(command, **options):
        calls.append((command, options["timeout"]))
        return run.subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(run.subprocess, "run", record)
    for size in (), ("--full",), ("--paper",):
        run.main(["neufeld2014/figure_2", *size, "--", "--seed", "3"])
    (quick, limit), (full, _), (paper, none) = ((command[2:], end) for command, end in calls)
    assert quick[:3] == ["--quick", "--seed", "3"] and limit == 600
    assert full[:2] == ["--seed", "3"] and "--runs" not in full
    assert paper[:4] == ["--runs", "1000", "--seed", "3"] and none is None


@pytest.mark.parametrize("script", ["chen2016/figure_1", "neufeld2014/figure_1"])
def test_options_of_the_papers_size_exist(shared, script):
    """Each script accepts its options, as ``--help`` shows."""
    _, run = shared
    found = run.subprocess.run([run.sys.executable, str(PAPERS / f"{script}.py"), "--help"],
                               capture_output=True, text=True, check=True).stdout
    for option in run.OPTIONS_OF_PAPER[f"{script}.py"]:
        assert not option.startswith("--") or option in found


def test_time_by_the_clock_is_that_of_one_run_of_all_scripts(shared):
    _, run = shared
    results = {name: {"processor_seconds": 30.0, "together": 90.0} for name in "ab"}
    assert run.duration(results) == ("60 s of processor time, 1.5 minutes by the clock on two "
                                     "cores")
    results["a"]["together"] = 60.0
    assert run.duration(results) == "60 s of processor time"
    del results["a"]["together"], results["b"]["together"]
    assert run.duration(results) == "60 s of processor time"
