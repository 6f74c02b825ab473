"""`pybandit config`: where C and C++ find the headers and the static library."""

import os
import shlex
import sys

from pybandit._shared.paths import get_include, get_library


def add(commands):
    """Add the subcommand."""
    command = commands.add_parser(
        "config", help="where C and C++ programs find the kernels: flags, CMake, pkg-config",
        description="Print what a compiler or CMake needs, for the installed package. In a "
                    "Makefile: CFLAGS += $(shell pybandit config --cflags). Flags are quoted "
                    "for a shell, directories are as they are.")
    for name, what in (("cflags", "where the headers are"),
                       ("libs", "the library, to link after what uses it"),
                       ("cmakedir", "pybandit_DIR for find_package(pybandit)"),
                       ("pkgconfigdir", "for PKG_CONFIG_PATH")):
        command.add_argument(f"--{name}", dest="wanted", action="append_const", const=name,
                             help=what)
    command.set_defaults(run=_run)


def _run(arguments):
    if not arguments.wanted:
        print("pybandit config: name what is wanted: --cflags, --libs, --cmakedir or "
              "--pkgconfigdir", file=sys.stderr)
        return 2
    include, library = get_include(), get_library()
    answers = {
        "cflags": shlex.join([f"-I{include}"]),
        "libs": shlex.join([f"-L{library}", "-lpybandit", "-lm"]),
        "cmakedir": os.path.join(library, "cmake", "pybandit"),
        "pkgconfigdir": os.path.join(library, "pkgconfig"),
    }
    print(*(answers[name] for name in arguments.wanted))
    return 0
