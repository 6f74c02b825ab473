"""The examples and the README run, at a tiny size."""

import pathlib
import re
import runpy

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


def test_readme_example_prints_what_it_says(capsys):
    code, printed = re.search(r"```python\n(.*?)```\n+prints `(.*?)`",
                              (ROOT / "README.md").read_text(), re.DOTALL).groups()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip() == printed
