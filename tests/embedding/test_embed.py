"""Build and run the programs of examples/embedding against the package under test."""

import os
import shutil
import sys

import pytest

import pybandit as pb

from compiler import ROOT, SANITIZE, run


@pytest.fixture
def example(tmp_path):
    """Return a function that copies an example and returns a function that runs commands in it."""
    def copy(name):
        folder = tmp_path / name
        shutil.copytree(ROOT / "examples" / "embedding" / name, folder)
        package = os.path.dirname(os.path.dirname(pb.__file__))
        path = os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])
        return lambda *command, **env: run(
            *command, cwd=folder, env={**os.environ, "PYTHONPATH": path, **env})

    return copy


def test_c_program_runs(example):
    in_folder = example("c")
    flags = " ".join(["-Wall", "-Wextra", "-Werror", *SANITIZE])
    in_folder("make", f"PYTHON={sys.executable}", f"CFLAGS={flags}")
    assert "standard errors" in in_folder("./draw")
    assert "rows per step" in in_folder("./metropolis")


@pytest.mark.slow  # test_cimport.py and the page compile modules too
def test_cython_module_runs(example):
    in_folder = example("cython")
    in_folder(sys.executable, "setup.py", "build_ext", "--inplace", CFLAGS="-O1")
    assert "total variation" in in_folder(sys.executable, "run.py")
    assert "rows per step" in in_folder(sys.executable, "run_metropolis.py")


@pytest.mark.slow
def test_cython_policy_and_environment_run(example):
    in_folder = example("policy")
    in_folder(sys.executable, "setup.py", "build_ext", "--inplace", CFLAGS="-O0")
    assert "pull for pull as in plain Python" in in_folder(sys.executable, "run.py")
    assert in_folder(sys.executable, "-c", OUTSIDE).split() == ["0,1,2", "0,1,2", "0,1", "0"]


# A lost first reward is requested again; a user-defined class without a state cannot be pickled.
OUTSIDE = """
import pickle
import lucb
import numpy as np
policy = lucb.LUCB(3)
ask = lambda policy: ",".join(map(str, policy.ask()))
print(ask(policy))
policy.tell([0, 1, 2], [np.nan, 0.5, 0.2], missing="drop")
print(ask(policy))
policy.tell([0, 1, 2], [0.9, 0.5, 0.2])
print(ask(policy), ask(lucb.LUCB(1)))
for made, error, words in (
        (policy, NotImplementedError, "LUCB must define get_state and from_state"),
        (lucb.Ratings(np.full((3, 5), 0.2)), TypeError, "Ratings must define __reduce__")):
    try:
        pickle.dumps(made)
    except error as refused:
        assert words in str(refused)
    else:
        raise AssertionError(made)
"""


@pytest.mark.slow  # test_embedding.py draws by the address too
def test_numba_sampler_runs(example):
    pytest.importorskip("pybandit.numba", exc_type=ImportError)
    assert "total variation" in example("numba")(sys.executable, "run.py")


@pytest.mark.slow
def test_numba_chain_runs(example):
    pytest.importorskip("pybandit.numba", exc_type=ImportError)
    assert "rows per step" in example("numba")(sys.executable, "metropolis.py")


@pytest.mark.slow
@pytest.mark.parametrize("program, says", [("run.py", "sigma: exact"),
                                           ("metropolis.py", "rows per step")])
def test_pymc_step_runs(example, program, says):
    pytest.importorskip("pymc", exc_type=ImportError)
    # PyTensor gets no C compiler, because compiling takes longer than running this small model
    flags = "cxx=,mode=FAST_COMPILE"
    assert says in example("pymc")(sys.executable, program, PYTENSOR_FLAGS=flags)


@pytest.mark.slow
def test_jax_kernel_runs(example):
    pytest.importorskip("jax", exc_type=ImportError)
    in_folder = example("jax")
    in_folder("make", f"PYTHON={sys.executable}", "CXXFLAGS=-O1 -Wall -Wextra -Werror")
    assert "us per step" in in_folder(sys.executable, "run.py")
    said = in_folder(sys.executable, "-c", TRACED)
    assert said.split() == ["(4,", "3)", "refused", "refused"], said


# JAX runs the kernel under vmap, with keys of both kinds, and rejects wrong shapes.
TRACED = """
import jax, jax.numpy as jnp, numpy as np
import run
rng = np.random.default_rng(1)
x = rng.normal(size=(500, 3))
kernel = run.Kernel(x, (rng.random(500) < 0.5) * 1.0, 0.1 * np.eye(3), 1.0, np.zeros(3))
states = run.State(jnp.zeros((4, 3)))
moved, info = jax.jit(jax.vmap(kernel.step))(jax.random.split(jax.random.key(1), 4), states)
again, _ = kernel.step(jax.random.PRNGKey(1), run.State(jnp.zeros(3)))
print(moved.position.shape)
for position in (jnp.zeros(2), jnp.full(3, jnp.nan)):
    try:
        jax.block_until_ready(kernel.step(jax.random.key(1), run.State(position)))
    except Exception as error:
        print("refused" if "INVALID_ARGUMENT" in str(error) or "a test failed" in str(error)
              else repr(error))
"""
