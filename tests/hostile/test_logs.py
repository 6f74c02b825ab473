"""Hostile log files of evaluation tools: JSON, JSON lines, archives and folders without end."""

import gzip
import io
import json
import struct
import zipfile

import pytest

from hostile.driver import attack
from hostile.special import attacked, check_refused

EVAL = {"eval": {"model": "m", "task": "t"}, "samples": []}
SAMPLE = {"doc_id": 0, "filtered_resps": [], "metrics": ["acc"], "acc": 1.0, "filter": "none"}


def text(value):
    return json.dumps(value).encode()


def inspect_log(**more):
    """Return an Inspect log of one sample with additional fields."""
    sample = {"id": "q", "epoch": 1, "scores": {"s": {"value": 1}}}
    return text(EVAL | {"samples": [sample]} | more)


def jsons():
    many = b'{"eval": {"model": "m", "task": "t"}, "samples": [' + b"{}," * 1_500_000 + b"{}]}"
    return {
        "30 MB of lists": (b'{"samples": [' + b"[]," * 10_000_000 + b"[]]}", "values"),
        "30 MB of lists in lines": (b'{"samples":\n[' + b"[],\n" * 7_000_000 + b"[]]}", "values"),
        "40 MB of text": (b'{"a":\n"' + b"x" * 40_000_000 + b'"}', "at most 33,554,432 bytes"),
        "deep": (b"[" * 1_000_000, "nested deeply"),
        "deep and closed": (b'{"a":\n' + b"[" * 500_000 + b"]" * 500_000 + b"}", "nested deeply"),
        "many samples": (many.replace(b"{},", b'{"id":1},'), "values"),
        "key twice": (b'{"eval": 1,\n"eval": 2}', "'eval' occurs twice"),
        "digits": (b'{"eval":\n' + b"9" * 100_000 + b"}", "is not JSON"),
        "long number": (inspect_log(samples=[{"id": "q", "scores": {"s": {"value": 10**400}}}]),
                        "more than 308 digits"),
        "long value": (inspect_log(samples=[{"id": "q", "scores": {"s": {"value": "x" * 1_000_000}}}
                                            ]), "must be a number"),
        "long names": (inspect_log(samples=[{"id": "q", "scores": {"s" * 1_000_000: 1, "t": 1}}]),
                       "several scorers"),
        "10 million epochs": (inspect_log(eval=EVAL["eval"] | {
            "config": {"epochs": 10**7}, "dataset": {"sample_ids": ["q", "r"]}}),
            "at most 1,048,576 samples"),
        "a million epochs of a million samples": (inspect_log(eval=EVAL["eval"] | {
            "dataset": {"sample_ids": list(range(300_000))}}, samples=[
                {"id": 0, "epoch": at, "scores": {"s": 1}} for at in range(100_000)]),
            "at most 1,048,576 samples"),
        "samples of text": (inspect_log(samples=["q"] * 1000), "samples must be objects"),
        "epoch of text": (inspect_log(samples=[{"id": "q", "epoch": "x", "scores": {"s": 1}}]),
                          "epoch of a sample must be an integer"),
        "half": (inspect_log()[:-3], "JSON"),
        "half of UTF-16": (inspect_log().decode().encode("utf-16")[:-1], "UTF-16"),
        "bomb": (gzip.compress(b'{"eval": "' + bytes(1 << 26) + b'"}'), "at most"),
        "blank lines": (b"\n" * 20_000_000, "JSON"),
        "not text": (b'{"eval":\n"\xff\xfe"', "JSON"),
        "promptfoo of numbers": (text({"results": {"results": [
            {"provider": "a", "score": 1, "testIdx": 0}, 3]}}), "must be objects"),
        "scores of SWE-bench": (text({"resolved_ids": {}, "unresolved_ids": [], "error_ids": []}),
                                "resolved_ids must be a list"),
        "scores of MTEB": (text({"task_name": "t", "scores": {"test": 3}}), "must be a list"),
        "instances of HELM": (text([{"instance_id": "i", "stats": []}] * 5), "run_spec.json"),
        "empty": (b"", "JSON"),
    }


def lines():
    sample = text(SAMPLE) + b"\n"
    return {
        "a million lines": (sample * 140_000, "at most 131,072 lines"),
        "a long line": (sample + b'{"a": "' + b"x" * 5_000_000 + b'"}\n', "line 2"),
        "many values in a line": (sample + b'{"a": [' + b"[]," * 1_000_000 + b"[]]}\n" * 2,
                                  "line 2"),
        "a deep line": (sample + b"[" * 1_000_000 + b"\n", "line 2: JSON must not be nested"),
        "not an object": (sample + b"[1]\n", "line 2: must be an object"),
        "another object": (sample + b"{}\n", "line 2: must be a sample"),
        "half a line": (sample + sample[:-4], "line 2: is not JSON"),
        "a second time": (sample * 2, "at least 2 models"),
        "many metrics": (text(SAMPLE | {"metrics": [f"m{at}" for at in range(100_000)]})
                         + b"\n" + sample, "several metrics"),
        "a spec twice": (text({"spec": {"completion_fns": ["a"]}}) + b"\n"
                         + text({"spec": {"completion_fns": ["b"]}}) + b"\n", "line 2"),
        "no events": (text({"spec": {"completion_fns": ["a"]}}) + b"\n{}\n", "metrics"),
        "lists as ids": (text(SAMPLE | {"doc_id": [1]}) + b"\n" + sample, "line 1: doc_id"),
        "fractions as ids": (text(SAMPLE | {"doc_id": 1.5}) + b"\n" + sample, "line 1: doc_id"),
    }


def archive(parts, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as new:
        for name, body in parts.items():
            new.writestr(name, body)
    return out.getvalue()


def zstandard(header, samples, sizes=None, flags=0):
    """Return a zip archive compressed with Zstandard (method 93).

    Its headers state `sizes` as the uncompressed sizes, by default the true ones.
    """
    arrow = pytest.importorskip("pyarrow")
    parts, content, directory = {"header.json": header, "summaries.json": samples}, b"", b""
    for at, (name, body) in enumerate(parts.items()):
        packed = arrow.compress(body, codec="zstd", asbytes=True)
        size, crc = sizes[at] if sizes else len(body), zipfile.crc32(body)
        fields = struct.pack("<5H3L2H", 45, flags, 93, 0, 33, crc, len(packed), size,
                             len(name), 0)
        start = len(content)
        content += b"PK\3\4" + fields + name.encode() + packed
        directory += (b"PK\1\2" + struct.pack("<H", 45) + fields
                      + struct.pack("<3H2L", 0, 0, 0, 0, start) + name.encode())
    return content + directory + b"PK\5\6" + struct.pack(
        "<4H2LH", 0, 0, 2, 2, len(directory), len(content), 0)


def archives():
    header = text(EVAL)
    whole = {"header.json": header, "summaries.json": b"[]"}
    lying = zstandard(header, b" " * (1 << 27) + b"[]", (len(header), 100))
    return {
        "no summaries": (archive({"header.json": header}), "summaries.json"),
        "no header": (archive({"summaries.json": b"[]"}), "header.json"),
        "bomb": (archive(whole | {"summaries.json": bytes(1 << 28)}), "must expand to at most"),
        "bomb of Zstandard": (zstandard(header, bytes(1 << 27)), "must expand to at most"),
        "directory lies": (lying, "its bytes do not match the directory"),
        "encrypted": (zstandard(header, b"[]", flags=1), "encrypted"),
        "damaged": (zstandard(header, b"[]" * 500).replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"),
                    "cannot be read"),
        "another header": (archive(whole | {"header.json": b"[1]"}), "must be an object"),
        "deep": (archive(whole | {"summaries.json": b"[" * 1_000_000}), "nested deeply"),
        "many values": (archive(whole | {"summaries.json": b"[" + b"[]," * 5_000_000 + b"[]]"}),
                        "values"),
        "no samples": (archive(whole), "scorers"),
        "parts twice": (twice(whole), "different names"),
        "many parts": (archive({f"samples/{at:0100}": b"" for at in range(50_000)}), "directory"),
        "half": (archive(whole)[:-30], "log of Inspect"),
        "not an archive": (b"PK\3\4" + bytes(1000), "log of Inspect"),
        "text": (b"a,b\n1,2\n", "JSON"),
    }


def twice(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new, pytest.warns(UserWarning, match="Duplicate name"):
        for name, body in (*parts.items(), *parts.items()):
            new.writestr(name, body)
    return out.getvalue()


def check(found, least):
    """Assert that all files were refused; return their number. A folder has no logs."""
    return check_refused([(outcome, ["it has none"] if "/folder." in outcome.path else words)
                          for outcome, words in found], least=least)


def test_hostile_json_is_refused(tmp_path):
    assert check(attacked(tmp_path, "logs", jsons(), ".json"), 28) >= len(jsons())


def test_hostile_json_lines_are_refused(tmp_path):
    assert check(attacked(tmp_path, "logs", lines(), ".jsonl"), 18) >= len(lines())


def test_hostile_archives_are_refused(tmp_path):
    check(attacked(tmp_path, "best_of", archives(), ".eval"), 20)


def test_hostile_folders_are_refused(tmp_path):
    (tmp_path / "many").mkdir()
    for at in range(10_001):
        (tmp_path / "many" / f"{at}.json").touch()
    inside = tmp_path / "special"
    inside.mkdir()
    (inside / "zero.json").symlink_to("/dev/zero")
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "again").symlink_to(tmp_path / "loop")
    found = attack(tmp_path, "hostile.calls:best_of", [tmp_path / "many", inside,
                                                       tmp_path / "loop"])
    found["many"].refused("UnreadableFileError", "at most 10,000 log files; got 10,001")
    found["special"].refused("UnreadableFileError", "zero.json", "got a device")
    found["loop"].refused("UnreadableFileError", "it has none")


def test_large_logs_within_the_limits_are_read(tmp_path):
    """Read 30,000 samples of each of 2 models, and 60 MB of text."""
    for name in ("a", "b"):
        rows = [SAMPLE | {"doc_id": at, "filtered_resps": ["x" * 1000]} for at in range(30_000)]
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(map(text, rows)))
    found = attack(tmp_path.parent, "hostile.calls:best_of", [tmp_path])
    found[tmp_path.name].read()
