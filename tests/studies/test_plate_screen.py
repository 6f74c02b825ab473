"""The walk-through of a screen runs as it is written, in an empty folder."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from compiler import ROOT

PAGE = ROOT / "examples" / "studies" / "plate_screen.md"
pytestmark = pytest.mark.skipif(not PAGE.is_file() or shutil.which("bash") is None,
                                reason="no examples beside the tests, or no shell")


@pytest.fixture
def folder(tmp_path):
    """An empty folder, and the commands `python` and `pybandit`."""
    (tmp_path / "bin").mkdir()
    for name, more in ("python", ""), ("pybandit", "-m pybandit"):
        command = tmp_path / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {more} "$@"\n')
        command.chmod(0o755)
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def run(commands, folder):
    """What commands print, errors too."""
    path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-e", "-c", commands], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PATH": path, "PYTHONPATH": ":".join(sys.path)})
    assert done.returncode == 0, done.stdout
    return done.stdout


def shows(printed, expected):
    """Whether all lines of a block are among those printed, in order; … is anything."""
    lines = iter(printed.splitlines())
    return all(any(re.fullmatch(re.escape(line).replace("…", ".*"), shown) for shown in lines)
               for line in expected.splitlines())


def test_the_walk_through(folder):
    blocks = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert [kind for kind, _ in blocks] == ["python", *["sh", "text"] * 10]
    printed = None
    for kind, body in blocks:
        if kind == "python":
            name = re.match(r"# (\w+\.py)\n", body)[1]
            (folder / name).write_text(body)
        elif kind == "sh":
            printed = run(body, folder)
        else:
            assert shows(printed, body), f"{printed}\nlacks lines of\n{body}"
    assert (folder / "report.html").exists()
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".db") == ["study.db"]


def test_a_line_that_is_missing_is_seen():
    assert shows("a\nb 12 c\n", "a\nb … c\n")
    assert not shows("a\n", "a\nb\n") and not shows("b\na\n", "a\nb\n")


def test_the_page_on_studies(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "studies.md").read_text(),
                         re.DOTALL)
    names = {}
    exec(compile(code, "studies.md", "exec"), names)
    names["study"].close()
    assert capsys.readouterr().out == "['coffee']\n"
