"""The examples and the README run, at a tiny size."""

import pathlib
import re
import runpy
import shutil

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="no examples beside the tests")


def load(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_synthetic_race_draws_its_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "race.png"
    load("synthetic_race")["main"](["--quick", "--out", str(out)])
    assert out.read_bytes().startswith(b"\x89PNG")
    assert len(re.findall("^lognormal", capsys.readouterr().out, re.MULTILINE)) == 16


def test_synthetic_race_finds_the_references():
    known = load("synthetic_race")["reference_values"](100_000, 10)
    assert known["normal", 1e-4, 0.05] == pytest.approx((1.62e-3, 0.0515), abs=5e-5)


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


def test_readme_examples_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    examples = re.findall(r"```python\n((?:(?!```).)*)```\n+(?:prints `(.*?)`)?", text, re.DOTALL)
    assert len(examples) >= 2 and any(printed for _, printed in examples)
    for code, printed in examples:
        exec(compile(code, "README.md", "exec"), {})
        assert capsys.readouterr().out.strip() == printed or not printed
    assert (tmp_path / "race.png").exists()
