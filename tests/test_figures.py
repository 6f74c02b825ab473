"""Tables of figures name the command that prints them, and `make figures` reports changes."""

import importlib.util
import math
import re
import shlex

import pytest

from compiler import ROOT

SCRIPT = ROOT / "docs" / "figures.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="no pages beside the tests")

# page and header of each table without a command, and the reason
WITHOUT_COMMAND = {
    "choosing_models.md: | table | cells without | epsilon .002 | .005 | .01 | .02 |":
        "a trial on tables that are not in the package, whose script was not kept",
    "choosing_models.md: | priors | bbh | commonsense | gsm | math | mmlu | musr | natural_qa "
    "| all cells |":
        "a trial on tables that are not in the package, whose script was not kept",
}


@pytest.fixture(scope="module")
def figures():
    spec = importlib.util.spec_from_file_location("figures", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tables(figures):
    return [table for page in figures.pages() for table in figures.tables_of(page)]


def head(table):
    return f"{table.page.name}: | {' | '.join(table.rows[0])} |".replace("|  |", "| |")


def test_every_table_of_figures_has_a_command(tables):
    assert len(tables) > 50
    without = {head(table) for table in tables if not table.commands}
    assert without == set(WITHOUT_COMMAND)


def test_commands_in_pages_are_all_found(figures, tables):
    """The list has every example and benchmark that a page runs for a table."""
    found = {command for table in tables for command in table.commands}
    for name in ("examples/policies/few_plates.py", "examples/evaluation/guarantees.py",
                 "examples/papers/jun2016/figure_1.py --repeats 1", "bench/mcmc/bench_poisson.py",
                 "bench/mcmc/bench_exact.py -n 1000000", "tests/racing/nasty.py",
                 "examples/papers/chen2016/figure_3.py --data cora_citations.tsv --runs 7"):
        assert f"python {name}" in found


def test_commands_of_tables_exist_and_take_quick(tables):
    for command in {command for table in tables for command in table.commands}:
        kind, *words = shlex.split(command)
        if kind == "python":
            files = [ROOT / words[0]]
            if "papers" in files[0].parts:  # options of all scripts of a paper are shared
                files += [ROOT / "examples/papers/figures.py", *files[0].parent.glob("*.py")]
            text = "".join(file.read_text() for file in files)
            assert "--quick" in text or "score_tables import parser" in text, command
            for option in re.findall(r"--[a-z-]+", command):
                assert (f'"{option}"' in text or "score_tables import parser" in text
                        or "Figure(" in text), command
        elif kind == "pytest":
            files = [word for word in words if word.startswith(("tests/", "bench/"))]
            assert files and all((ROOT / file).exists() for file in files), command


PAGE = """# Errors

`python examples/papers/jun2016/figure_1.py` prints it.

| policy | errors | ± | µs a pull |
| --- | ---: | ---: | ---: |
| halving | .125 | .30 ± .05 | 12 |
| rejects, reuse | 1,250 | 30 % | 3.1 |
"""
PRINTED = """policy              errors
halving             0.1249   0.3312 ± 0.0489   9.1
rejects             0.8      0.1     4
rejects, reuse      1250.2   0.302   5.8
"""


def moved(figures, page, printed=PRINTED):
    (table,) = figures.tables_of(ROOT / "page.md", page)
    assert table.commands == ("python examples/papers/jun2016/figure_1.py",)
    return [(row, old, new) for row, old, new in figures.compare(table, printed)]


def test_numbers_that_round_to_the_page_have_not_moved(figures):
    assert moved(figures, PAGE) == []


@pytest.mark.parametrize("old, new, printed", [
    (".125", ".135", "0.1249"), (".30 ± .05", ".40 ± .05", "0.3312"),
    ("1,250", "1,260", "1250.2"), ("30 %", "32 %", "0.302"), (" 12 ", " 31 ", "9.1"),
    (" 3.1 ", " 12.5 ", "5.8")])
def test_a_changed_number_is_reported(figures, old, new, printed):
    ((_, shown, found),) = moved(figures, PAGE.replace(old, new))
    assert shown == new.split()[0] and found == printed


def test_a_number_that_is_not_printed_is_reported(figures):
    assert moved(figures, PAGE, PRINTED.replace("   5.8", "")) == [("rejects, reuse", "3.1", None)]


def test_tables_are_compared_by_columns_too(figures):
    page = PAGE.partition("| policy")[0] + (
        "| | halving | rejects |\n| --- | --- | --- |\n| errors | .1 | .2 |\n"
        "| regret | .3 | .4 |\n")
    assert moved(figures, page, "halving .1 .3\nrejects .2 .4\n") == []
    assert moved(figures, page, "halving .1 .3\nrejects .2 .5\n") == [("rejects", ".4", ".5")]


def test_figures_report_names_page_command_and_numbers(figures, tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace(".125", ".135").replace(
        "prints it", "prints it, and `pytest tests/test_figures.py` holds it"))
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "PRINTED", tmp_path / "printed")
    monkeypatch.setattr(figures, "pages", lambda: [page])
    saved = figures.name_of("python examples/papers/jun2016/figure_1.py")
    saved.parent.mkdir()
    saved.write_text(PRINTED)
    assert figures.main(["--again"]) == 1
    shown = capsys.readouterr().out
    assert "not run: pytest tests/test_figures.py" in shown
    assert "page.md, line 5: 6 of 7 numbers as printed by python examples" in shown
    assert "halving: .135 -> 0.1249" in shown


def test_commands_without_their_data_are_not_run(figures, tmp_path):
    command = "python examples/papers/chen2016/figure_3.py --data cora_citations.tsv --runs 7"
    assert figures.argv_of(command, None) == "cora_citations.tsv"
    (tmp_path / "cora_citations.tsv").write_text("")
    _, program, *words = figures.argv_of(command, tmp_path, quick=True)
    assert program == str(ROOT / "examples" / "papers" / "chen2016" / "figure_3.py")
    assert words == ["--data", str(tmp_path / "cora_citations.tsv"), "--runs", "7", "--quick"]


def test_first_look_of_batch_sar_follows_its_formula():
    """The share is 1 / (m/2 + the sum of 1/i over m < i <= n); m of n arms are kept to the end."""
    page = (ROOT / "docs" / "batches.md").read_text()
    n_arms = {"microwell": 12_979, "Twitter": 522_062}
    rows = re.findall(r"^\| (microwell|Twitter), r = [\d,]+ \| ([\d,]+) \| ([\d.]+) % \|$", page,
                      re.MULTILINE)
    assert len(rows) == 5
    for name, kept, share in rows:
        m = int(kept.replace(",", ""))
        part = 100 / (m / 2 + math.fsum(1 / i for i in range(m + 1, n_arms[name] + 1)))
        assert abs(part - float(share)) <= 0.5 * 10.0 ** -len(share.partition(".")[2]), name
