"""Write hostile files, and paths that are not regular files, for every format."""

import os
import socket
from pathlib import Path

from hostile.driver import attack_all


def attacked(folder, readers, files, suffix, is_folder=False):
    """Attack readers of `hostile.calls`, separated by blanks; return pairs (outcome, words).

    `files` has for each name the content and the words of its error. The content of a folder is
    a dict of contents by path.
    """
    readers, words = readers.split(), {}
    for name, (content, *reasons) in files.items():
        path = folder / f"{name}{suffix}"
        for part, body in (content if is_folder else {"": content}).items():
            (path / part).parent.mkdir(parents=True, exist_ok=True)
            (path / part).write_bytes(body)
        words[path.name] = reasons
    words |= {name: [word] for name, word in special(folder, suffix, is_folder).items()}
    pairs = []
    for reader in readers:
        pairs += [(f"hostile.calls:{reader}", folder / name) for name in words]
    found = attack_all(folder, pairs)
    return [(outcome, words[Path(outcome.path).name]) for outcome in found]


def check_refused(found, error="UnreadableFileError", least=10):
    """Assert that every file was refused for its reason; return their number."""
    assert len(found) >= least
    for outcome, words in found:
        outcome.refused("FileNotFoundError" if is_missing(outcome) else error, *words)
    return len(found)


def is_missing(outcome):
    """Return True if a public reader found no file; commands name the file and the reason."""
    return "FileNotFoundError" in outcome.errors and Path(outcome.path).stem == "none"


def special(folder, suffix, is_folder=False):
    """Make special files; return their paths, and the words that each error must have."""
    os.mkfifo(folder / f"fifo{suffix}")
    with socket.socket(socket.AF_UNIX) as unix_socket:
        here = os.getcwd()
        os.chdir(folder)  # because the path of a socket must be short
        try:
            unix_socket.bind(f"socket{suffix}")
        finally:
            os.chdir(here)
    (folder / f"zero{suffix}").symlink_to("/dev/zero")
    (folder / f"loop{suffix}").symlink_to(folder / f"loop{suffix}")
    words = {"fifo": "FIFO", "socket": "socket", "zero": "device", "loop": "symbolic links",
             "none": "No such file"}
    if is_folder:
        words = dict.fromkeys(("fifo", "socket", "zero"), "folder") | {
            name: words[name] for name in ("loop", "none")}
    else:
        (folder / f"folder{suffix}").mkdir()
        words["folder"] = "regular file; got a folder"
    return {f"{name}{suffix}": word for name, word in words.items()}
