"""Import of optional packages."""

import importlib

from pybandit._shared.errors import MissingPackageError

# Name of this package for pip: on the registry, `pybandit` is a different project.
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
