#!/usr/bin/env python3
"""Report calls that Windows or macOS lacks, by mypy's descriptions of the standard library.

Usage: ``tools/platforms.py [PATH ...]``. mypy checks the files as on Linux, Windows and macOS; an
error that Linux does not have is printed. Compiled modules are not read: tests/test_machines.py
imports them without the names that Windows lacks. Tests are left out, because many are of signals
and forks.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PATHS = ("pybandit", "setup.py", "tools", "examples", "bench", "docs/conf.py",
         "docs/figures.py", "docs/_ext", "tests/conftest.py")
PLATFORMS = "linux", "win32", "darwin"


def errors(platform, paths):
    """Return the lines that mypy prints for a platform."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--explicit-package-bases",
         "--check-untyped-defs", "--follow-imports=skip", "--ignore-missing-imports",
         "--no-error-summary",
         f"--platform={platform}", f"--cache-dir=.mypy_cache/{platform}", *paths],
        text=True, capture_output=True, encoding="utf-8")
    if done.returncode > 1 or done.stderr:
        sys.exit(done.stdout + done.stderr)
    return done.stdout.splitlines()


def main(paths):
    with ThreadPoolExecutor(len(PLATFORMS)) as pool:
        linux, *others = pool.map(lambda platform: errors(platform, paths), PLATFORMS)
    found = [(platform, line) for platform, lines in zip(PLATFORMS[1:], others, strict=True)
             for line in lines if line not in linux]
    for platform, line in found:
        print(f"{platform}: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or PATHS))
