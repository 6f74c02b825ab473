"""Builds the C kernels once, as a static library, and one extension a module on top of it."""

import os
import sys
from glob import glob

import numpy
from Cython.Build import cythonize
from Cython.Compiler.AutoDocTransforms import EmbedSignature
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Whose kernels the modules of a folder call: they are built again when those change.
KERNELS = {
    "": ["_shared", "betting", "mcmc", "montecarlo", "policies", "racing", "simulation"],
    "_shared": ["_shared"],
    "betting": ["_shared", "betting"],
    "mcmc": ["_shared", "betting", "mcmc", "racing"],
    "montecarlo": ["_shared", "montecarlo", "policies"],
    "policies": ["_shared", "policies"],
    "racing": ["_shared", "betting", "racing"],
    "simulation": ["_shared", "policies", "simulation"],
}
UTILITY = "pybandit._shared._cython"  # Cython's own code, once for all modules
# symbols are a tenth of what is loaded
STRIP = "-Wl,-s" if sys.platform == "linux" else ""
LINK = os.environ.get("PYBANDIT_LDFLAGS", STRIP).split()
CORES = os.cpu_count() or 1
INCLUDE = "pybandit/include"
HEADERS = glob(f"{INCLUDE}/pybandit/*/*.h") + glob("csrc/*/*.h")
FLAGS = [
    "-std=c11",
    "-O3",
    "-g0",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    *os.environ.get("PYBANDIT_CFLAGS", "").split(),
]


class BuildExtensions(build_ext):
    """Builds the library first, and puts it into the package, for C programs."""

    def run(self):
        self.run_command("build_clib")
        super().run()
        built = self.get_finalized_command("build_clib").build_clib
        package = os.path.join("" if self.inplace else self.build_lib, "pybandit", "lib")
        self.mkpath(package)
        self.copy_file(os.path.join(built, "libpybandit.a"), package)


def without_self(listed=EmbedSignature._fmt_arglist):
    """Docstrings of classes begin with a signature: Cython counts the self that it hides there, so
    that the star before keywords came one place late."""

    def arguments(self, args, npoargs=0, npargs=0, pargs=None, nkargs=0, kargs=None,
                  hide_self=False):
        seen = [arg for arg in args if not (hide_self and arg.entry.is_self_arg)]
        return listed(self, seen, npoargs, npargs - len(args) + len(seen), pargs, nkargs, kargs)

    EmbedSignature._fmt_arglist = arguments


def extension(source):
    module = source.removesuffix(".pyx").replace("/", ".")
    folder = source.split("/")[1] if source.count("/") > 1 else ""
    return Extension(
        module,
        [source],
        depends=HEADERS + [c for idea in KERNELS[folder] for c in glob(f"csrc/{idea}/*.c")],
        include_dirs=[INCLUDE, numpy.get_include()],
        library_dirs=[os.path.join(os.path.dirname(numpy.random.__file__), "lib")],
        libraries=["pybandit", "npyrandom", "m"],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=FLAGS,
        extra_link_args=LINK,
    )


library = ("pybandit", {
    "sources": sorted(glob("csrc/*/*.c")),
    "obj_deps": {"": HEADERS},
    "include_dirs": [INCLUDE],
    "cflags": FLAGS,
})
extensions = [
    Extension(UTILITY, [UTILITY.replace(".", "/") + ".c"], extra_compile_args=FLAGS,
              extra_link_args=LINK),
    *map(extension, sorted(glob("pybandit/**/*.pyx", recursive=True))),
]

if os.environ.get("PYBANDIT_EXTENSIONS") == "none":
    setup(options={"editable_wheel": {"mode": "compat"}})
else:
    without_self()
    setup(
        libraries=[library],
        ext_modules=cythonize(
            extensions,
            nthreads=CORES if sys.platform == "linux" else 0,  # forks, which others do not
            language_level=3,
            shared_utility_qualified_name=UTILITY,
            compiler_directives={
                "boundscheck": False,
                "wraparound": False,
                "cdivision": True,
                "initializedcheck": False,
                "embedsignature": True,
            },
        ),
        cmdclass={"build_ext": BuildExtensions},
        options={"editable_wheel": {"mode": "compat"}, "build_ext": {"parallel": CORES}},
    )
