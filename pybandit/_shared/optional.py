"""Packages that only some of pybandit needs."""

import importlib

from pybandit._shared.errors import MissingPackageError

# What pip calls this package: `pybandit` on the registry is another project's.
DISTRIBUTION = "pybandit-core"


def require(module, extra):
    """Import `module`, or raise `MissingPackageError` naming the `extra` of pybandit to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not error.name or not (module + ".").startswith(error.name + "."):
            raise
        package = module.partition(".")[0]
        raise MissingPackageError(
            f"this needs the package {package}, which is not installed: "
            f"pip install '{DISTRIBUTION}[{extra}]'",
            name=error.name,
        ) from error
