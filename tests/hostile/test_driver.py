"""The driver reports a reader that dies, hangs, takes memory or touches a file."""

import os
import signal
import time
from pathlib import Path

import pytest

from hostile.driver import attack


def misbehave(path):
    """Do what the file says: use memory, end the process or change the folder."""
    word = Path(path).read_text()
    if word == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == "hang":
        time.sleep(60)
    if word == "take":
        return len(bytearray(os.urandom(1 << 20) * 100))
    if word == "create":
        Path(path).with_name("ran").touch()
    if word == "change":
        Path(path).with_name("sentinel.txt").write_text("changed")
    if word == "delete":
        Path(path).with_name("sentinel.txt").unlink()
    if word == "refuse":
        raise FileNotFoundError(f"{path}: no reason")
    return word


def attacked(folder, word, **options):
    path = folder / "file"
    path.write_text(word)
    return attack(folder, "hostile.test_driver:misbehave", [path], **options)["file"]


@pytest.mark.parametrize("word", ["crash", "hang", "take", "create", "change", "delete"])
def test_misbehaving_readers_fail(tmp_path, word):
    with pytest.raises(AssertionError):
        attacked(tmp_path, word, seconds=0.5 if word == "hang" else 5.0, megabytes=50)


def test_outcomes_tell_what_was_raised_or_returned(tmp_path):
    assert attacked(tmp_path, "fine").read() == "'fine'"
    refused = attacked(tmp_path, "refuse")
    refused.refused("OSError", "no reason")
    for wrong in (("ValueError",), ("OSError", "another reason")):
        with pytest.raises(AssertionError):
            refused.refused(*wrong)
    with pytest.raises(AssertionError):
        refused.read()
    attacked(tmp_path, "create", may_change=("ran",))
