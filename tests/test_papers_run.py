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
