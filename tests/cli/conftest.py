"""Fixtures: a folder with a file of thirty genes, and studies of them."""

import pytest

from cli.screen_commands import GENES, NEW, ok


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "genes.csv").write_text("\n".join(["gene", *GENES]) + "\n")
    return tmp_path


@pytest.fixture
def study(capsys):
    ok(capsys, *NEW)


@pytest.fixture
def normalised(capsys):
    ok(capsys, *NEW, "--controls", "col:6", "--normalise", "--log", "--flip")
