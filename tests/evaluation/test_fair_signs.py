"""Probabilities of fair signs without scipy.special, and how fast `pybandit verdict` starts."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc

from pybandit.evaluation._fair_signs import EXACT_UP_TO, lower_tails, upper_tail


@pytest.mark.parametrize("k", [0, 1, 2, 7, 60, 301, 1999, 2000, 2001, 5000])
def test_tails_are_those_of_scipy(k):
    np.testing.assert_allclose(lower_tails(k), bdtr(np.arange(k // 2 + 1), k, 0.5), rtol=2e-11,
                               atol=1e-300)
    for wins in {0, 1, k // 2, k // 2 + 1, k - 1, k} & set(range(k + 1)):
        wanted = bdtrc(wins - 1, k, 0.5) if wins else 1.0
        assert upper_tail(k, wins) == pytest.approx(wanted, rel=2e-11, abs=1e-300)


def test_small_numbers_are_exact():
    assert lower_tails(4).tolist() == [1 / 16, 5 / 16, 11 / 16]
    assert [upper_tail(4, wins) for wins in range(5)] == [1, 15 / 16, 11 / 16, 5 / 16, 1 / 16]
    assert EXACT_UP_TO == 2000 and lower_tails(2000)[0] == 0.0  # 2 ** -2000


def test_a_verdict_on_two_files_imports_no_scipy(tmp_path):
    """Importing scipy.special took .4 of the processor time of the command."""
    rng = np.random.default_rng(1)
    for name in ("new", "old"):
        rows = [f"q{item},{int(rng.random() < 0.6)}" for item in range(200)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,score", *rows]))
    code = ("import sys; from pybandit.cli import main; "
            f"main(['verdict', {str(tmp_path / 'new.csv')!r}, {str(tmp_path / 'old.csv')!r}]); "
            "print(sorted(name for name in sys.modules if name.split('.')[0] in "
            "('scipy', 'pandas', 'pyarrow', 'matplotlib')))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "200 items" in done.stdout and done.stdout.splitlines()[-1] == "[]"
