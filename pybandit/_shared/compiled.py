"""The error of a source folder that is imported without being compiled."""

import importlib.util
import os
import sys

from pybandit._shared.paths import PACKAGE


def check_compiled():
    """Raise ImportError unless the package has modules that this interpreter can load."""
    if importlib.util.find_spec("pybandit._shared.guard") is not None:
        return
    folder = os.path.dirname(PACKAGE)
    if not os.path.exists(os.path.join(folder, "setup.py")):
        raise ImportError(f"the modules in {PACKAGE} are not compiled for {sys.executable} "
                          f"({sys.implementation.cache_tag}): install pybandit-core for it")
    raise ImportError(
        f"Python imports pybandit from its source folder, {folder}, where it is not compiled for "
        f"{sys.executable}: start Python in another folder to use an installed package, or run "
        "`make inplace` to compile it there")
