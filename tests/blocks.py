"""Run the code blocks of pages in order in an empty folder, as a reader would.

    python tests/blocks.py README.md docs/*.md     # uses the installed pybandit

- Python blocks of a page share one namespace. A block whose first line is `# NAME.py` is a file.
- Shell blocks run in bash; those that install, build or compile something are skipped.
- A C block must compile; a Cython block must be accepted by Cython.
- The output of a block must agree with the page: with "prints `...`" right after the block, or with
  a text block below it, whose lines must appear in this order. … matches anything. Output on
  stderr counts.
- A block without a language is an error, because it would not be checked.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from compiler import compile_c, run

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n(?:\n+prints `(.*?)`)?", re.DOTALL | re.MULTILINE)
# skipped commands, which install or build; `make wheel-test` and other tests cover them
LEFT_OUT = re.compile(r"^\s*(make|pip|git|cmake|cc|c\+\+|python -m (build|venv|pip))\b",
                      re.MULTILINE)
DATA = {"text", "csv"}
COMPILED = {"c", "cython"}


class Block(NamedTuple):
    """A code block: the line on which it starts, and `says`, its expected output or None."""

    line: int
    kind: str
    body: str
    says: str | None


def blocks_of(text):
    """Return the blocks of a page; a text block is the expected output of the one before it."""
    found = []
    for match in BLOCK.finditer(text):
        kind, body, says = match.groups()
        line = text.count("\n", 0, match.start()) + 2
        assert kind, f"line {line}: the block must have a language"
        if kind == "text" and found and found[-1].says is None:
            found[-1] = found[-1]._replace(says=body)
        else:
            found.append(Block(line, kind, body, says))
    return found


def shows(printed, expected):
    """Return True if all lines of a block were printed, in order; … matches anything."""
    lines = iter(printed.splitlines())
    return all(any(re.fullmatch(re.escape(line).replace("…", ".*"), shown) for shown in lines)
               for line in expected.splitlines())


class Reader:
    """Runs blocks in a folder; `bin` next to it has the commands `python` and `pybandit`."""

    def __init__(self, page, folder):
        self.page, self.folder = Path(page), Path(folder)
        self.names = {"__name__": "__main__"}
        bin = self.folder.parent / "bin"
        bin.mkdir(exist_ok=True)
        for name, more in ("python", ""), ("pybandit", "-m pybandit"):
            command = bin / name
            command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {more} "$@"\n')
            command.chmod(0o755)
        self.environment = {**os.environ, "PYTHONPATH": ":".join(sys.path),
                            "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}

    def carry_out(self, block):
        """Run a block and check its output; return False if it is skipped."""
        if block.kind in DATA or (block.kind == "sh" and LEFT_OUT.search(block.body)):
            return False
        try:
            printed = getattr(self, f"_{block.kind}")(block)
        except Exception as error:
            raise AssertionError(f"{self.page.name}, line {block.line}: {error!r}") from error
        assert block.says is None or shows(printed, block.says), (
            f"{self.page.name}, line {block.line} prints\n{printed}\ninstead of\n{block.says}")
        return True

    def _python(self, block):
        if name := re.match(r"# (\w+\.py)\n", block.body):
            (self.folder / name[1]).write_text(block.body)
            return ""
        printed = io.StringIO()
        code = "\n" * (block.line - 1) + block.body
        with (contextlib.redirect_stdout(printed), contextlib.chdir(self.folder),
              patch.dict(os.environ, self.environment),
              patch.object(sys, "path", [str(self.folder), *sys.path])):  # modules of the page
            exec(compile(code, str(self.page), "exec"), self.names)
        return printed.getvalue()

    def _sh(self, block):
        done = subprocess.run(["bash", "-e", "-c", block.body], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=self.environment)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def _c(self, block):
        source = self.folder / f"line_{block.line}.c"
        source.write_text(block.body)
        compile_c("-fsyntax-only", source)
        return ""

    def _cython(self, block):
        source = self.folder / f"line_{block.line}.pyx"
        source.write_text(block.body)
        run(sys.executable, "-m", "cython", "-3", source, env=self.environment)
        return ""


def read(page, folder, again=False, compiled=True):
    """Run all blocks of a page and return their number.

    Without `compiled`, C and Cython blocks are skipped; with `again`, Python blocks run twice.
    """
    reader, blocks = Reader(page, folder), blocks_of(Path(page).read_text())
    n = sum([reader.carry_out(block) for block in blocks
             if compiled or block.kind not in COMPILED])
    if again:
        for block in blocks:
            if block.kind == "python":
                reader.carry_out(block)
    return n


if __name__ == "__main__":
    for page in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home, "work")
            folder.mkdir()
            print(f"{page}: {read(page, folder)} blocks run as printed")
