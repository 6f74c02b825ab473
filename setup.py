"""Build the C kernels once, as a static library, and one extension per module that links it."""

import gzip
import inspect
import os
import sys
import sysconfig
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from glob import glob

import numpy
from Cython.Build import cythonize
from Cython.Compiler.AutoDocTransforms import EmbedSignature
from setuptools import Extension, setup
from setuptools.command.build_clib import build_clib
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from declare import declare  # noqa: E402

# Rooms whose kernels the modules of a folder call; changes of these rebuild the modules.
KERNELS = {
    "": ["_shared", "betting", "cluster", "mcmc", "montecarlo", "policies", "racing",
         "simulation"],
    "_shared": ["_shared"],
    "betting": ["_shared", "betting"],
    "cluster": ["_shared", "cluster", "racing"],
    "mcmc": ["_shared", "betting", "mcmc", "racing"],
    "montecarlo": ["_shared", "montecarlo", "policies"],
    "policies": ["_shared", "policies"],
    "racing": ["_shared", "betting", "racing"],
    "simulation": ["_shared", "policies", "simulation"],
}
UTILITY = "pybandit._shared._cython"  # helper code of Cython, shared by all modules
# symbols are a tenth of the size
STRIP = "-Wl,-s" if sys.platform == "linux" else ""
LINK = os.environ.get("PYBANDIT_LDFLAGS", STRIP).split()
CORES = os.cpu_count() or 1
INCLUDE = "pybandit/include"
HEADERS = [header for root in (INCLUDE, "csrc")
           for header in glob(f"{root}/**/*.h", recursive=True)]
# Flags by distutils' name of the compiler. Fused multiply-add is off, so that all compilers give
# the same bits; /fp:precise excludes it since Visual Studio 2022.
MSVC = ["/std:c11", "/O2", "/fp:precise"]
GNU = [
    "-std=c11",
    "-O3",
    "-g0",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fvisibility=hidden",
]


def flags_for(compiler):
    """Return the flags for a compiler; distutils calls Clang and GCC `unix`."""
    own = MSVC if compiler.compiler_type == "msvc" else GNU
    return own + os.environ.get("PYBANDIT_CFLAGS", "").split()


class BuildLibrary(build_clib):
    """Compiles the kernels in parallel, with the flags for the compiler."""

    def build_libraries(self, libraries):
        compile_all = self.compiler.compile

        def compile_each(sources, **options):
            with ThreadPoolExecutor(CORES) as pool:
                made = pool.map(lambda source: compile_all([source], **options), sources)
                return sum(made, [])

        for _, info in libraries:
            info["cflags"] = flags_for(self.compiler)
        self.compiler.compile = compile_each
        super().build_libraries(libraries)


class BuildExtensions(build_ext):
    """Builds the library first, and copies it into the package for C programs."""

    def run(self):
        self.run_command("build_clib")
        super().run()
        library = self.get_finalized_command("build_clib")
        package = os.path.join("" if self.inplace else self.build_lib, "pybandit", "lib")
        self.mkpath(package)
        name = library.compiler.library_filename("pybandit")  # libpybandit.a or pybandit.lib
        self.copy_file(os.path.join(library.build_clib, name), package)

    def build_extensions(self):
        is_msvc = self.compiler.compiler_type == "msvc"
        for one in self.extensions:
            one.extra_compile_args = flags_for(self.compiler)
            if is_msvc:  # its C library includes the maths library
                one.libraries = [name for name in one.libraries if name != "m"]
        super().build_extensions()


class SourceArchive(sdist):
    """Makes a reproducible archive if SOURCE_DATE_EPOCH is set; wheels are reproducible anyway."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **options):
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch is None or format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, **options)
        self.mkpath(os.path.dirname(base_name) or ".")
        with (open(f"{base_name}.tar.gz", "wb") as file,
              gzip.GzipFile("", "wb", mtime=int(epoch), fileobj=file) as packed,
              tarfile.open(fileobj=packed, mode="w") as archive):
            archive.add(base_dir, filter=lambda member: anonymous(member, int(epoch)))
        return file.name


def anonymous(member, epoch):
    """Return a member of an archive without its owner, with a fixed time and mode."""
    mode = 0o755 if member.mode & 0o100 else 0o644
    return member.replace(mtime=epoch, mode=mode, uid=0, gid=0, uname="", gname="",
                          deep=False)


def readable_signatures(list_arguments=EmbedSignature._fmt_arglist,
                        embed=EmbedSignature._embed_signature):
    """Let `inspect.signature` read the constructors of compiled classes.

    CPython parses "Name(arguments)\\n--\\n\\n" at the start of a class's docstring, and hides it
    from `__doc__`. Cython does not write this form for classes while `binding` is on. It also
    counts the `self` that it omits, so that its star before keywords is one place too late.
    """

    def arguments(self, args, npoargs=0, npargs=0, pargs=None, nkargs=0, kargs=None,
                  hide_self=False):
        seen = [arg for arg in args if not (hide_self and arg.entry.is_self_arg)]
        return list_arguments(self, seen, npoargs, npargs - len(args) + len(seen), pargs, nkargs,
                              kargs)

    def embedded(self, signature, doc):
        name = signature.partition("(")[0]
        if name != getattr(self.class_name, "__str__", str)():  # of a function or a method
            return embed(self, signature, doc)
        return f"{signature}\n--\n\n{inspect.cleandoc(doc or '')}"

    EmbedSignature._fmt_arglist = arguments
    EmbedSignature._embed_signature = embedded


def check_folder():
    """End with one sentence if the source folder cannot be written; setuptools builds in it."""
    try:
        with tempfile.TemporaryFile(dir=ROOT):
            pass
    except OSError as error:
        sys.exit(f"pybandit is compiled in its source folder, and {ROOT} cannot be written "
                 f"({error.strerror}): copy it to a folder of yours, and install the copy")


def check_compiler():
    """End with one sentence if C cannot be compiled; otherwise pip prints hundreds of lines."""
    from distutils.ccompiler import new_compiler  # setuptools provides distutils
    from distutils.sysconfig import customize_compiler

    compiler = new_compiler()
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "check.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("int check(void) { return 0; }\n")
        try:
            customize_compiler(compiler)
            compiler.compile([source], output_dir=folder)
        except Exception as error:  # of several classes, by the version of setuptools
            sys.exit("pybandit is written in C, and no C compiler works here "
                     f"({str(error).splitlines()[0]}): install one (Debian and Ubuntu: apt install "
                     "build-essential; Fedora: dnf install gcc; macOS: xcode-select --install; "
                     "Windows: Build Tools for Visual Studio 2022), or install a wheel that was "
                     "built on another machine of this kind")
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    if not os.path.exists(header):
        sys.exit(f"pybandit is compiled with Python's headers, and {header} is missing: install "
                 "them (Debian and Ubuntu: apt install python3-dev; Fedora: dnf install "
                 "python3-devel)")


def extension(source):
    module = source.removesuffix(".pyx").replace("/", ".")
    folder = source.split("/")[1] if source.count("/") > 1 else ""
    return Extension(
        module,
        [source],
        depends=HEADERS + [c for idea in KERNELS[folder]
                           for c in glob(f"csrc/{idea}/**/*.c", recursive=True)],
        include_dirs=[INCLUDE, numpy.get_include()],
        library_dirs=[os.path.join(os.path.dirname(numpy.random.__file__), "lib")],
        libraries=["pybandit", "npyrandom", "m"],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_link_args=LINK,
    )


check_folder()
compiles = os.environ.get("PYBANDIT_EXTENSIONS") != "none" and not {
    "dist_info", "egg_info", "sdist"} & set(sys.argv)  # these need no extensions
if compiles:
    check_compiler()
declare("pybandit")  # before the glob below, which must find embedding.pyx
library = ("pybandit", {
    "sources": sorted(glob("csrc/**/*.c", recursive=True)),
    "obj_deps": {"": HEADERS},
    "include_dirs": [INCLUDE],
})
extensions = [
    Extension(UTILITY, [UTILITY.replace(".", "/") + ".c"], extra_link_args=LINK),
    *map(extension, sorted(glob("pybandit/**/*.pyx", recursive=True))),
]

if not compiles:
    setup(cmdclass={"sdist": SourceArchive}, options={"editable_wheel": {"mode": "compat"}})
else:
    readable_signatures()
    setup(
        libraries=[library],
        ext_modules=cythonize(
            extensions,
            nthreads=CORES if sys.platform == "linux" else 0,  # it forks
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
        cmdclass={"build_clib": BuildLibrary, "build_ext": BuildExtensions,
                  "sdist": SourceArchive},
        options={"editable_wheel": {"mode": "compat"}, "build_ext": {"parallel": CORES}},
    )
