"""`import pybandit` loads nothing but itself; rooms are loaded when they are used."""

import subprocess
import sys

import pytest


def modules_after(code):
    """Return the modules that a fresh interpreter has loaded after some code."""
    code = f"import sys; {code}; print(*sorted(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], check=True, text=True,
                              capture_output=True).stdout.split())


def test_import_loads_no_room_and_not_even_numpy():
    loaded = modules_after("import pybandit")
    assert {name for name in loaded if name.startswith("pybandit")} <= {
        "pybandit", "pybandit._shared", "pybandit._shared.compiled", "pybandit._shared.paths",
        "pybandit._shared.version"}
    assert len(loaded - modules_after("pass")) < 40 and "numpy" not in loaded


@pytest.mark.parametrize("name, others", [
    ("race", {"evaluation", "mcmc", "policies", "simulation", "studies", "lab", "webtests"}),
    ("best_of", {"mcmc", "policies", "simulation", "racing", "lab", "webtests", "serving"}),
    ("policies.UCB1", {"evaluation", "mcmc", "tables", "racing", "lab", "webtests", "serving"}),
    ("mcmc.ExactMinibatch", {"evaluation", "policies", "simulation", "lab", "webtests"})])
def test_name_loads_only_rooms_that_it_needs(name, others):
    loaded = modules_after(f"import pybandit as pb; pb.{name}")
    rooms = {one.split(".")[1] for one in loaded if one.startswith("pybandit.")}
    assert not rooms & others
    # slow or optional packages are loaded when they are used
    assert not loaded & {"scipy.stats", "scipy.optimize", "matplotlib", "pandas", "sklearn",
                         "anyio", "tenacity", "xarray", "sqlite3"}
