"""`pybandit doctor`, which describes an installation and checks that it computes correctly."""

import importlib.metadata
import os
import platform
import re
import sys
import sysconfig
import time

from pybandit._shared.optional import DISTRIBUTION
from pybandit._shared.paths import PACKAGE
from pybandit._shared.version import __version__

FOR_DEVELOPERS = "all", "bench", "docs", "test"
EPILOG = """\
exit status: 0 if all is well; 1 if a self-test gives another result than on x86-64 Linux,
if another package has the import name pybandit, or if NumPy or SciPy is too old"""


def add(commands):
    """Add the subcommand."""
    command = commands.add_parser(
        "doctor", help="describe the installation and test it, for a report of a defect",
        description="Print versions, how the package was compiled, which optional packages are\n"
                    "installed, and the results of a self-test of every room. It takes seconds.\n"
                    "Send the output with a report of a defect.", epilog=EPILOG)
    command.set_defaults(run=_run)


def _run(arguments):
    troubles = []
    for title, lines in (("Versions", versions()), ("Build", build()), ("Conflicts", conflicts()),
                         ("Packages", packages()), ("Self-test", self_test())):
        print(f"{title}:")
        for line, is_well in lines:
            print(f"  {line}", flush=True)
            troubles += [] if is_well else [line]
    if not troubles:
        print("All is well.")
        return 0
    print("Not well:", *troubles, "Send this output with a report.", sep="\n  ")
    return 1


def versions():
    """Yield lines and whether they are well, as all sections do."""
    yield f"pybandit {__version__} in {PACKAGE}", True
    yield (f"{platform.python_implementation()} {platform.python_version()} in "
           f"{sys.base_prefix}"), True
    yield f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} processors", True


def build():
    """Describe how the extensions were compiled."""
    from pybandit._shared import build

    yield f"compiled by {build.compiler()}", True
    yield f"instructions of hot loops: {', '.join(build.targets())}", True
    yield f"binary interface: {sysconfig.get_config_var('EXT_SUFFIX')}", True
    is_free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    words = {(False, True): "no", (True, True): "yes, but the GIL is on: pybandit turns it on",
             (True, False): "yes, and the GIL is off: pybandit is not fully tested without it"}
    yield f"free-threaded Python: {words[is_free, has_gil]}", not is_free or has_gil


def conflicts():
    """Find other distributions that install files into the folder of the package."""
    found = sorted({one.name for one in importlib.metadata.distributions()
                    if one.name and one.name.lower() in ("pybandit", DISTRIBUTION)})
    if "pybandit" in found:
        yield ("the package `pybandit` of other people is installed, and overwrites files: pip "
               f"uninstall pybandit {DISTRIBUTION}, then install {DISTRIBUTION} again"), False
    else:
        yield "no other package has the import name pybandit", True


def packages():
    """Compare installed packages with those that the package and its extras require."""
    try:
        needed = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        yield f"not known: {DISTRIBUTION} is not installed, only in the search path", True
        return
    extras = {}
    for line in needed:
        name, least, extra = parsed(line)
        if name != DISTRIBUTION and extra not in FOR_DEVELOPERS:
            extras.setdefault(extra, []).append((name, least))
    for extra, wanted in extras.items():
        states = [(name, *state_of(name, least)) for name, least in wanted]
        is_well = bool(extra) or all(well for *_, well in states)
        yield (f"{extra or 'required'}: " + ", ".join(f"{name} {text}" for name, text, _ in states),
               is_well)


def parsed(line):
    """Return name, least version and extra of a line such as 'anyio>=4.4; extra == "async"'."""
    name, least = re.match(r"([\w.-]+)(?:\[[^]]*\])?(?:>=([\w.]+))?", line).groups()
    extra = re.search(r"extra == ['\"]([\w-]+)['\"]", line)
    return name, least or "0", extra[1] if extra else ""


def state_of(name, least):
    """Return the version of an installed package in words, and True if it is new enough."""
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "missing", False
    if numbers(version) < numbers(least):
        return f"{version} (too old: at least {least} is needed)", False
    return version, True


def numbers(version):
    """Return the leading numbers of a version, to compare it."""
    return [int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part]


def self_test():
    """Run the self-test of every room."""
    from pybandit.cli import _self_test

    began = time.perf_counter()
    for room, result in _self_test.run():
        yield f"{room}: {result}", result == "equal"
    yield f"took {time.perf_counter() - began:.1f} s", True
