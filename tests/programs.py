"""Run programs next to tests, which make checks and print figures as JSON."""

import json
import os
import subprocess
import sys


def figures(program, *arguments):
    """Run a program in another interpreter with the same path; return the printed figures."""
    done = subprocess.run([sys.executable, program, *map(str, arguments)], text=True,
                          capture_output=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path),
                                            "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    return json.loads(done.stdout)
