# The module has no Python functions; see embedding.pxd.
