"""Packages that only some of pybandit needs."""

import importlib

# What pip calls this package: `pybandit` on the registry is another project's.
DISTRIBUTION = "pybandit-core"


class MissingPackage(ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


def require(module, extra):
    """Import `module`, or raise `MissingPackage` naming the `extra` of pybandit to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not error.name or not (module + ".").startswith(error.name + "."):
            raise
        package = module.partition(".")[0]
        raise MissingPackage(
            f"this needs the package {package}, which is not installed: "
            f"pip install '{DISTRIBUTION}[{extra}]'",
            name=error.name,
        ) from error
