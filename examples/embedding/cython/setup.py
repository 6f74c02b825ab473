"""python setup.py build_ext --inplace: needs only the headers of the installed pybandit."""

import os

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

import pybandit

random = os.path.join(os.path.dirname(numpy.random.__file__), "lib")  # metropolis draws normals
extensions = [
    Extension("gibbs", ["gibbs.pyx"], include_dirs=[pybandit.get_include()]),
    Extension("metropolis", ["metropolis.pyx"],
              include_dirs=[pybandit.get_include(), numpy.get_include()],
              library_dirs=[random], libraries=["npyrandom", "m"]),
]
setup(name="gibbs", ext_modules=cythonize(extensions, language_level=3))
