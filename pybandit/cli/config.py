"""`pybandit config`, which prints the location of the headers and the static library."""

import os
import shlex
import sys

from pybandit._shared.paths import get_include, get_library


def add(commands):
    """Add the subcommand."""
    command = commands.add_parser(
        "config", help="print how to build C and C++ programs: flags, CMake, pkg-config",
        description="Print the compiler flags or directories of the installed package. In a "
                    "Makefile: CFLAGS += $(shell pybandit config --cflags). Flags are quoted for "
                    "a shell; directories are not.")
    for name, what in (("cflags", "flags for the headers"),
                       ("libs", "flags for the library; link it after the code that uses it"),
                       ("cmakedir", "directory for pybandit_DIR of find_package(pybandit)"),
                       ("pkgconfigdir", "directory for PKG_CONFIG_PATH")):
        command.add_argument(f"--{name}", dest="wanted", action="append_const", const=name,
                             help=what)
    command.set_defaults(run=_run)


def _run(arguments):
    if not arguments.wanted:
        print("pybandit config: pass at least one of --cflags, --libs, --cmakedir and "
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
