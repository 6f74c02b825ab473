"""Programs beside tests, which check all and report figures as JSON."""

import json
import os
import subprocess
import sys


def figures(program, *arguments):
    """What a program reports, in an interpreter of its own that finds what this one finds."""
    done = subprocess.run([sys.executable, program, *map(str, arguments)], text=True,
                          capture_output=True,
                          env=os.environ | {"PYTHONPATH": ":".join(sys.path),
                                            "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    return json.loads(done.stdout)
