"""A mark for tests that read the package's sources, which `make wheel-test` removes."""

import pytest

from compiler import ROOT

of_sources = pytest.mark.skipif(not (ROOT / "pybandit").is_dir(),
                                reason="no sources of the package beside the tests")
