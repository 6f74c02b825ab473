"""Results for one seed under the kernels of OpenBLAS that this processor can run."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import blas_bits

KERNELS = ["Haswell", "Sandybridge", "Nehalem", "Prescott", "SkylakeX"]
PROGRAM = pathlib.Path(blas_bits.__file__)


def digests(kernel):
    """Return digests by name, or None if the processor lacks the instructions of the kernel."""
    done = subprocess.run([sys.executable, PROGRAM], text=True, capture_output=True, env=os.environ
                          | {"PYTHONPATH": ":".join(sys.path), "OPENBLAS_CORETYPE": kernel})
    if done.returncode < 0:
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif("openblas" not in str(np.show_config("dicts")).lower(), reason="another BLAS")
@pytest.mark.skipif(sys.platform != "linux", reason="kernels of x86-64")
def test_only_functions_that_use_blas_depend_on_its_kernels():
    found = {kernel: one for kernel in KERNELS if (one := digests(kernel)) is not None}
    if len(found) < 2:
        pytest.skip("this processor runs one kernel")
    differ = {name for name in next(iter(found.values()))
              if len({one[name] for one in found.values()}) > 1}
    print(f"{', '.join(found)}: {', '.join(sorted(differ))} differ")
    assert not differ & set(blas_bits.ALONE)
    assert differ <= set(blas_bits.THROUGH_BLAS)
