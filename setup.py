"""Builds one extension per module; the C kernels a module uses are linked into it."""

import os
import sys
from glob import glob

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = {
    "bounds": ["bounds", "b_normal"],
    "_betting": ["betting", "pairs", "top_k", "threshold"],
    "_source": ["control"],
    "_linear_control": ["control"],
    "_race": ["bitgen", "subsample", "moments", "betting", "pairs", "race", "sampler"],
    "embedding": ["bitgen", "subsample", "moments", "betting", "pairs", "race", "sampler",
                  "schedule", "b_normal", "bounds"],
    "confidence": ["confidence"],
    "racing": ["moments"],
    "acceptance": ["subsample", "column", "betting", "pairs", "threshold", "accept"],
    "_lil_ucb": ["subsample", "heap", "lil_ucb"],
    "_populations": ["subsample", "column", "populations"],
    "policies/_base": ["round_robin"],
    "_environment": [],
    "_truncated_normal": [],
    "environments": [],
    "montecarlo/_rules": ["variance"],
    "montecarlo/allocation": ["variance"],
    "montecarlo/estimators": ["cir", "annealing"],
    "_engine": [],
    "policies/_heap": ["heap"],
    "policies/_ring": ["round_robin"],
    "policies/_staged": ["round_robin", "ranking"],
    "policies/halving": ["round_robin", "heap"],
    "policies/rejects": ["round_robin", "heap"],
    "policies/_batch": [],
    "policies/batch": ["round_robin", "ranking"],
    "policies/batch_sar": ["round_robin", "ranking", "batch_sar"],
    "policies/batch_racing": ["round_robin", "batch_racing"],
    "policies/top_two": ["scan"],
    "policies/_index": ["scan"],
    "policies/gap": ["scan"],
    "policies/index": ["scan", "kl", "kl_index"],
    "policies/_gaussian": ["gaussian"],
    "policies/gaussian": ["gaussian", "gaussian_scores", "scan", "bounds"],
    "_index_bounds": ["kl"],
    "policies/thompson": ["bitgen", "bounds", "logit_beta", "thompson"],
}
# NumPy's distributions, linked statically
LIBRARIES = {module: ["npyrandom"] for module in (
    "environments", "_truncated_normal", "montecarlo/estimators", "montecarlo/_rules",
    "policies/gaussian")}
CORES = os.cpu_count() or 1
FLAGS = [
    "-std=c11",
    "-O3",
    "-g0",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fvisibility=hidden",
]

if os.environ.get("PYBANDIT_EXTENSIONS") == "none":
    KERNELS = {}

extensions = [
    Extension(
        f"pybandit.{module}".replace("/", "."),
        [f"pybandit/{module}.pyx", *(f"csrc/{kernel}.c" for kernel in kernels)],
        depends=[*glob("pybandit/include/pybandit/*.h"), *glob("csrc/*.h")],
        include_dirs=["pybandit/include", numpy.get_include()],
        library_dirs=[os.path.join(os.path.dirname(numpy.random.__file__), "lib")],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=[*FLAGS, *os.environ.get("PYBANDIT_CFLAGS", "").split()],
        extra_link_args=os.environ.get("PYBANDIT_LDFLAGS", "").split(),
        libraries=["m", *LIBRARIES.get(module, [])],
    )
    for module, kernels in KERNELS.items()
]

setup(
    ext_modules=cythonize(
        extensions,
        nthreads=CORES if sys.platform == "linux" else 0,  # forks, which others do not
        language_level=3,
        compiler_directives={
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "freethreading_compatible": True,
            "embedsignature": True,
        },
    ),
    options={"editable_wheel": {"mode": "compat"},
             "build_ext": {"parallel": CORES}},
)
