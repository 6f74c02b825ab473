# Nothing of it is called from Python; see embedding.pxd.
