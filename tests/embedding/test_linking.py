"""Build C and C++ programs with only the wheel, outside the tree, in a path with a space."""

import ctypes
import os
import re
import shlex
import shutil
import sys

import pytest

import pybandit as pb

from compiler import HEADERS, ROOT, run

CXX = [name for name in ("g++", "clang++") if shutil.which(name)]
# programs of the test environment come first in PATH
PATH = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
STRICT = "-Wall -Wextra -pedantic -Werror"
ANSWER = {"c": "standard errors", "cpp": "total variation"}


def in_wheel(installed, *command, **options):
    """Run a command that finds only the installed wheel."""
    return run(*command, env={**os.environ, "PATH": PATH, "PYTHONPATH": str(installed)}, **options)


def config(installed, *wanted):
    return in_wheel(installed, sys.executable, "-P", "-m", "pybandit", "config", *wanted).rstrip()


@pytest.fixture
def example(tmp_path):
    def copy(name):
        folder = tmp_path / f"{name} program"
        shutil.copytree(ROOT / "examples" / "embedding" / name, folder)
        return folder

    return copy


def assert_cpp(compiler, source):
    """Check that a C++ compiler accepts a source without warnings."""
    assert run(compiler, "-std=c++11", *STRICT.split(), "-fsyntax-only",
               f"-I{pb.get_include()}", source) == ""


def test_cpp_compiler_is_installed():
    assert CXX and HEADERS


@pytest.mark.parametrize("compiler", CXX)
def test_every_header_is_cpp(compiler, tmp_path):
    for header in HEADERS:
        name = header.relative_to(pb.get_include())
        source = tmp_path / f"{header.stem}.cpp"
        source.write_text(f'#include "{name}"\nint not_empty;\n')
        assert_cpp(compiler, source)


def test_all_headers_compile_together_in_cpp(tmp_path):
    source = tmp_path / "all.cpp"
    names = [header.relative_to(pb.get_include()) for header in HEADERS]
    source.write_text("".join(f'#include "{name}"\n' for name in [*names, *names]))
    for compiler in CXX:
        assert_cpp(compiler, source)


@pytest.mark.slow
def test_make_builds_the_example(installed, example):
    folder = example("c")
    in_wheel(installed, "make", f"PYTHON={sys.executable}", f"CFLAGS=-O1 {STRICT}", cwd=folder)
    assert ANSWER["c"] in run("./draw", cwd=folder)


@pytest.mark.parametrize("name, program", [("c", "draw"), ("cpp", "cluster")])
def test_cmake_builds_the_example(name, program, installed, example):
    folder = example(name)
    flags = f"-DCMAKE_{'C' if name == 'c' else 'CXX'}_FLAGS={STRICT}"
    in_wheel(installed, "cmake", "-S", ".", "-B", "build", flags,
             f"-Dpybandit_DIR={config(installed, '--cmakedir')}", cwd=folder)
    in_wheel(installed, "cmake", "--build", "build", cwd=folder)
    assert ANSWER[name] in run(f"build/{program}", cwd=folder)


@pytest.mark.parametrize("wanted, found", [("0.1", True), (pb.__version__, True), ("0.0.9", False),
                                           ("99.0", False)])
def test_cmake_takes_versions_of_the_same_minor(wanted, found, installed, example):
    folder = example("c")
    lists = folder / "CMakeLists.txt"
    text = lists.read_text()
    assert "find_package(pybandit 0.1 REQUIRED)" in text
    # skips the search for compilers, which takes longest
    lists.write_text("cmake_minimum_required(VERSION 3.15)\nproject(none NONE)\n"
                     f"find_package(pybandit {wanted})\nmessage(\"found=${{pybandit_FOUND}}.\")\n")
    command = ["cmake", "-S", ".", "-B", "build",
               f"-Dpybandit_DIR={config(installed, '--cmakedir')}"]
    told = in_wheel(installed, "sh", "-c", shlex.join(command) + " 2>&1", cwd=folder)
    assert f"found={int(found)}." in told


@pytest.mark.slow  # test_embed.py builds the same against the tree
@pytest.mark.parametrize("name, answer", [("cython", "total variation"),
                                          ("policy", "as in plain Python")])
def test_cython_modules_build(name, answer, installed, example):
    folder = example(name)
    in_wheel(installed, sys.executable, "setup.py", "build_ext", "--inplace", cwd=folder)
    assert answer in in_wheel(installed, sys.executable, "run.py", cwd=folder)


# tools that are not installed are skipped; the tests of make and CMake always run
@pytest.mark.parametrize("tool", [t for t in ("pkg-config", "pkgconf") if shutil.which(t)])
def test_pkg_config_finds_the_library(tool, installed, example):
    folder = example("c")
    env = {**os.environ, "PKG_CONFIG_PATH": config(installed, "--pkgconfigdir")}
    flags = run(tool, "--cflags", "--libs", "pybandit", env=env)
    assert run(tool, "--modversion", "pybandit", env=env).strip() == pb.__version__
    run("cc", "-std=c11", "draw.c", *shlex.split(flags), "-o", "draw", cwd=folder)
    assert ANSWER["c"] in run("./draw", cwd=folder)


def test_static_library_is_hidden_in_a_shared_one(installed, tmp_path):
    """One process can load two such libraries with different versions."""
    source, library = tmp_path / "half.c", tmp_path / "libhalf.so"
    source.write_text('#include "pybandit/_shared/bounds.h"\n'
                      "double half(void) { return pb_bounds_normal_tail(0.0); }\n")
    run("cc", "-shared", "-fPIC", *shlex.split(config(installed, "--cflags")), source,
        *shlex.split(config(installed, "--libs")), "-o", library)
    half = ctypes.CDLL(library).half
    half.restype = ctypes.c_double
    assert half() == 0.5
    symbols = run("nm", "-D", "--defined-only", library).splitlines()
    exported = {symbol.split()[-1] for symbol in symbols}
    assert "half" in exported and not {name for name in exported if name.startswith("pb_")}


def test_config_prints_paths_of_the_installed_package(installed):
    package = installed / "pybandit"
    assert shlex.split(config(installed, "--cflags")) == [f"-I{package / 'include'}"]
    assert shlex.split(config(installed, "--libs")) == [f"-L{package / 'lib'}", "-lpybandit", "-lm"]
    assert config(installed, "--cmakedir") == str(package / "lib" / "cmake" / "pybandit")
    assert config(installed, "--pkgconfigdir") == str(package / "lib" / "pkgconfig")


def test_config_without_options_fails(capsys):
    from pybandit.cli import main
    assert main(["config"]) == 2
    assert "--cflags" in capsys.readouterr().err


def test_all_files_have_the_same_version(installed):
    library = installed / "pybandit" / "lib"
    pc = (library / "pkgconfig" / "pybandit.pc").read_text()
    cmake = (library / "cmake" / "pybandit" / "pybanditConfigVersion.cmake").read_text()
    assert re.findall(r"^Version: (.*)$", pc, re.MULTILINE) == [pb.__version__]
    assert re.findall(r'set\(PACKAGE_VERSION "(.*)"\)', cmake) == [pb.__version__]
    minor = ".".join(pb.__version__.split(".")[:2])
    assert re.findall(r'PACKAGE_FIND_VERSION VERSION_LESS "(.*)"', cmake) == [minor]
