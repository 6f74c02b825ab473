"""The programs of examples/embedding, built and run against the package under test."""

import os
import shutil
import sys

import pytest

import pybandit as pb

from compiler import ROOT, SANITIZE, run


@pytest.fixture
def example(tmp_path):
    """Copies an example and gives what runs a command in it, on the package under test."""
    def copy(name):
        folder = tmp_path / name
        shutil.copytree(ROOT / "examples" / "embedding" / name, folder)
        package = os.path.dirname(os.path.dirname(pb.__file__))
        path = os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])
        return lambda *command, **env: run(
            *command, cwd=folder, env={**os.environ, "PYTHONPATH": path, **env})

    return copy


def test_the_c_program(example):
    in_folder = example("c")
    flags = " ".join(["-Wall", "-Wextra", "-Werror", *SANITIZE])
    in_folder("make", f"PYTHON={sys.executable}", f"CFLAGS={flags}")
    assert "standard errors" in in_folder("./draw")


def test_the_cython_module(example):
    in_folder = example("cython")
    in_folder(sys.executable, "setup.py", "build_ext", "--inplace", CFLAGS="-O1")
    assert "total variation" in in_folder(sys.executable, "run.py")


def test_the_policy_and_the_environment(example):
    in_folder = example("policy")
    in_folder(sys.executable, "setup.py", "build_ext", "--inplace", CFLAGS="-O1")
    assert "pull for pull as in plain Python" in in_folder(sys.executable, "run.py")


def test_the_numba_sampler(example):
    pytest.importorskip("pybandit.numba", exc_type=ImportError)
    assert "total variation" in example("numba")(sys.executable, "run.py")


def test_the_pymc_step(example):
    pytest.importorskip("pymc", exc_type=ImportError)
    # without a C compiler's help: this model is small, and compiling it takes longer
    flags = "cxx=,mode=FAST_COMPILE"
    assert "sigma: exact" in example("pymc")(sys.executable, "run.py", PYTENSOR_FLAGS=flags)
