"""Build like any package that cimports pybandit: with its headers, without its sources."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import pybandit

extension = Extension("foreign", ["foreign.pyx"], include_dirs=[pybandit.get_include()])
setup(name="foreign", ext_modules=cythonize([extension], language_level=3))
