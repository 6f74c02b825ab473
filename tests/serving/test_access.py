"""Tokens, cookies, and names of the server."""

import os
import re

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from pybandit.serving._access import Door, Token, tokens_of

A, B = "a" * 16, "b" * 20


def test_tokens_are_read_from_a_file(tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"# who has what\nrecord {A} ada\n\nread {B}\n", "utf-8")
    assert tokens_of(file, {}) == ([Token("record", A, "ada"), Token("read", B)], False)


@pytest.mark.parametrize("text, message", [
    ("", "the file has no token"), (f"write {A}", "line 1 must be read or record"),
    (f"\nread {A} ada lovelace", "line 2 must be"), ("read short", "line 1: a token must have 16"),
    (f"read {A}\u00e9", "a token must have"), (f"read {A}\nrecord {A}", "must differ")])
def test_invalid_token_files_are_rejected(text, message, tmp_path):
    (tmp_path / "tokens").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=message) as refused:
        tokens_of(tmp_path / "tokens", {})
    assert A not in str(refused.value) and "short" not in str(refused.value).rpartition(": ")[2]


@pytest.mark.parametrize("name, error, message", [
    ("fifo", OSError, "must be a regular file; got a FIFO"),
    ("zero", OSError, "must be a regular file; got a device"),
    ("folder", OSError, "must be a regular file; got a folder"),
    ("large", ValueError, "large must have at most 65,536 bytes"),
    ("latin", ValueError, "latin: tokens must be UTF-8 text; byte 21 is not")])
def test_tokens_are_read_from_small_regular_files_only(name, error, message, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_bytes(b"#" * 65_537)
    (tmp_path / "latin").write_bytes(f"read {A}\xe4".encode("latin-1"))
    with pytest.raises(error, match=message) as refused:
        tokens_of(tmp_path / name, {})
    assert A not in str(refused.value)


def test_tokens_are_read_from_the_environment():
    read = {"PYBANDIT_READ_TOKEN": A}
    assert tokens_of(None, read) == ([Token("read", A)], False)
    assert tokens_of(None, read | {"PYBANDIT_RECORD_TOKEN": B})[0][1] == Token("record", B)
    with pytest.raises(ValueError, match="PYBANDIT_READ_TOKEN: a token must have") as refused:
        tokens_of(None, {"PYBANDIT_READ_TOKEN": "secret"})
    assert "secret" not in str(refused.value)
    one, other = tokens_of(None, {}), tokens_of(None, {})
    assert one[1] and [token.role for token in one[0]] == ["read", "record"]
    assert len({token.secret for token in one[0] + other[0]}) == 4
    assert all(len(token.secret) == 32 for token in one[0])


def asked(**headers):
    return Request({"type": "http", "headers": [
        (name.encode(), value.encode("latin-1")) for name, value in headers.items()]})


def door():
    return Door([Token("read", A, "tv"), Token("record", B, "ada")], ["Lab.example"], 80)


def test_bearer_tokens_are_checked():
    assert door().token_of(asked(authorization=f"Bearer {B}")) == Token("record", B, "ada")
    assert door().token_of(asked(authorization=f"bEARER  {A}")).role == "read"
    assert door().token_of(asked()) is None
    for text in "Bearer", f"Bearer {A}x", f"Basic {A}", A, f"Bearer {A[:-1]}", "Bearer \xff":
        with pytest.raises(HTTPException) as refused:
            door().token_of(asked(authorization=text))
        assert refused.value.status_code == 401 and refused.value.headers == {
            "WWW-Authenticate": "Bearer"}


def test_a_cookie_only_reads():
    record = Token("record", B, "ada")
    found = door().token_of(asked(cookie=f"x=y; pybandit_80={record.cookie}"))
    assert found == Token("read", B, "ada") and re.fullmatch("[0-9a-f]{64}", record.cookie)
    for text in (f"pybandit_81={record.cookie}", f"pybandit_80={B}", "pybandit_80=", "x"):
        assert door().token_of(asked(cookie=text)) is None
    with pytest.raises(HTTPException) as refused:
        door().check_role(found, "record")
    assert refused.value.status_code == 403
    door().check_role(record, "record")
    door().check_role(record, "read")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8713", "127.0.0.1", "10.1.2.3:80",
                                  "[::1]:8713", "lab.EXAMPLE"])
def test_own_names_are_accepted(host):
    assert door().check_host(asked(host=host)) is None  # and raises no exception


@pytest.mark.parametrize("host", ["evil.example", "lab.example.evil", "", "a@localhost", "[::1",
                                  "127.0.0.1.evil.example", "localhost:1:2", "0x7f000001"])
def test_foreign_names_are_rejected(host):
    with pytest.raises(HTTPException) as refused:
        door().check_host(asked(host=host))
    assert refused.value.status_code == 421
