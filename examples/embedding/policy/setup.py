"""python setup.py build_ext --inplace: needs only the headers of the installed pybandit."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import pybandit

extension = Extension("lucb", ["lucb.pyx"], include_dirs=[pybandit.get_include()])
setup(name="lucb", ext_modules=cythonize([extension], language_level=3))
