"""Malformed requests of many kinds, for tests of what a server rejects."""

import json

import numpy as np

from serving.served import READ, RECORD, request

# values that no field accepts
NOTHING = [None, "0", "", "x" * 3000, 1.5, -1, 10**30, 1e300, {}, {"a": 1}, [[0]], [[[]]], "NaN",
           "\ud800", "\0", ["\ud800"]]
WRONG = {
    "batch_id": [*NOTHING, 7, 2**63, 2**64, True, [], [0], [1, 2]],
    "results": [*NOTHING, [], [0.5], [0.5] * 19, [0.5] * 21, [0.5] * 19 + ["x"], [None] * 19, True,
                [0.5] * 19 + [[1]], [0.5] * 19 + [{}], [10**400] * 20, [1e200] * 19 + [True, 1], 7],
    "positions": [*NOTHING, [0] * 20, [0], list(range(1, 21)), [*range(19), -1], [*range(19), 0.5],
                  [*range(19), "19"], [*range(19), None], [*range(19), 10**30], True, 3],
    "missing": [*NOTHING[1:], "never", "Wait", "raise", 0, True, [], ["wait"]],
    "reason": [None, "", " ", 3, [], {}, True, "\ud800"],
    "discard": [*NOTHING, 0, 1, "true", [], [True]],
}
GOOD = {"batch_id": 0, "results": [0.25] * 20, "positions": list(range(20)), "missing": "wait",
        "discard": False, "reason": "typo"}
PATHS = {"/tell": ["batch_id", "results", "positions", "missing"], "/ask": [],
         "/close_batch": ["batch_id"], "/abandon": ["batch_id", "discard"],
         # the last well has no recorded result that could be corrected
         "/amend": ["batch_id", "results", "positions", "reason"]}
NEEDED = {"batch_id", "results"}
TEXTS = [b"", b"{", b"[]", b"7", b"null", b'"x"', b"{}x", b"{'batch_id': 0}", b"\xff\xfe{}",
         b"\xff", b'{"batch_id": 0, "batch_id": 0}', b'{"batch_id": NaN}',
         b'{"batch_id": Infinity}', b'{"batch_id": -Infinity}',
         b'{"batch_id": 1e999, "results": [1]}', b"[" * 100_000, b'{"a":' * 50_000,
         b'{"batch_id": ' + b"9" * 5000 + b"}", b"{" + b" " * 70_000, b'{"batch_id": 0x10}',
         b'{"batch_id": 0, "results": [1,]}', b"\xef\xbb\xbf{}", b"\0", b'{"results": [1e999]}']


def of_field(rng):
    """Return a request with a field that is invalid, missing or unknown."""
    path = rng.choice(list(PATHS))
    fields = {name: GOOD[name] for name in PATHS[path]}
    kind = rng.integers(4)
    if kind == 0 or not fields:
        fields[rng.choice(["who", "batch", "", "results ", "__class__", "self"])] = 1
    elif kind == 1:
        del fields[rng.choice([name for name in fields if name in NEEDED])]
    else:
        name = rng.choice(list(fields))
        wrong = WRONG[name][rng.integers(len(WRONG[name]))]
        fields[name] = wrong
        if name == "positions" and wrong is None:
            fields["results"] = [0.25] * 3
    return request("POST", path, fields), True


def of_text(rng):
    """Return a request whose body is not a valid JSON object."""
    path = rng.choice([name for name in PATHS if name != "/ask"])
    return request("POST", path, TEXTS[rng.integers(len(TEXTS))]), True


def of_head(rng):
    """Return a request with a wrong path, method, token, host or header."""
    good = request("POST", "/close_batch", {"batch_id": 0})
    head, _, body = good.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    kind = rng.integers(7)
    if kind == 0:
        first = FIRST[rng.integers(len(FIRST))]
    elif kind == 1:
        lines[0] = HOSTS[rng.integers(len(HOSTS))]
    elif kind == 2:
        lines[1] = TOKENS[rng.integers(len(TOKENS))]
    elif kind == 3:
        lines[2] = LENGTHS[rng.integers(len(LENGTHS))]
    elif kind == 4:
        lines[3] = KINDS[rng.integers(len(KINDS))]
    elif kind == 5:
        lines.insert(int(rng.integers(len(lines) + 1)), ODD[rng.integers(len(ODD))])
    else:
        lines += [lines[int(rng.integers(len(lines)))]]
    return b"\r\n".join([first, *lines]) + b"\r\n\r\n" + body, True


FIRST = [b"GET /close_batch HTTP/1.1", b"POST /nowhere HTTP/1.1", b"POST / HTTP/1.1",
         b"post /close_batch HTTP/1.1", b"POST close_batch HTTP/1.1", b"POST", b"* * *", b"\0",
         b"POST /close_batch HTTP/2.0", b"POST  /close_batch HTTP/1.1", b"OPTIONS * HTTP/1.1",
         b"POST /close_batch?x HTTP/1.1", b"POST /close_batch?x=1 HTTP/1.1", b" ",
         b"POST http://localhost/close_batch HTTP/1.1", b"POST /../close_batch HTTP/1.1",
         b"POST /%63lose_batch HTTP/1.1", b"POST /close_batch\xff HTTP/1.1",
         b"POST /close_batch?" + b"a" * 3000 + b" HTTP/1.1", b"POST /" + b"a" * 3000 + b" HTTP/1.1",
         b"DELETE /close_batch HTTP/1.1",
         b"POST /close_batch HTTP/1.1 ", b"POST /close_batch HTTP/1.2", b"\xff\xfe"]
HOSTS = [b"Host: evil.example", b"Host:", b"Host: localhost.evil.example", b"X: y", b"Host: a b",
         b"Host: 127.0.0.1.evil.example:80", b"Host: user@localhost", b"Host: [::1", b"Host",
         b"Host: localhost:80:80", b"Host: 0x7f.1.example", b"Host: \xff"]
TOKENS = [b"X: y", b"Authorization: Bearer", b"Authorization: Bearer wrong-wrong-wrong-wrong",
          b"Authorization: Basic " + RECORD.encode(), b"Authorization: " + RECORD.encode(),
          b"Authorization: Bearer " + READ.encode(), b"Authorization: Bearer \xff\xff",
          b"Authorization: Bearer " + RECORD.encode() + b"x", b"Cookie: pybandit_1=" + b"a" * 64,
          b"Authorization: Bearer " + RECORD[:-1].encode(), b"Cookie: " + b";" * 500]
LENGTHS = [b"Content-Length: -1", b"Content-Length: x", b"Content-Length: 1e3", b"X: y",
           b"Content-Length:", b"Content-Length: 99999999999999", b"Content-Length: 9" + b"9" * 40,
           b"Content-Length: 4", b"Content-Length: 40", b"Content-Length: +15",
           b"Content-Length: 0x9", b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity",
           b"Content-Length: 1, 1"]
KINDS = [b"Content-Type: text/plain", b"Content-Type: application/x-www-form-urlencoded",
         b"Content-Type:", b"Content-Type: multipart/form-data; boundary=x", b"Expect: 200-ok"]
ODD = [b"no colon", b": no name", b"na me: x", b" folded: x", b"\tfolded", b"x: \0", b"x: \x7f",
       b"x: " + b"y" * 20_000, b"\xff: x", b"Transfer-Encoding: chunked", b"x: a\nb: c",
       b"\r\n".join(b"h%d: x" % i for i in range(100)), b"Content-Length: 1", b"Host: localhost"]


def of_bytes(rng):
    """Return a request with changed, removed or inserted bytes, or random bytes.

    Its results are known already, so it changes nothing if it is still valid.
    """
    if rng.random() < 0.2:
        return rng.bytes(int(rng.integers(1, 400))) + b"\r\n\r\n" * bool(rng.integers(2)), False
    data = bytearray(request("POST", "/tell", {"batch_id": 0, "results": [0.25],
                                               "positions": [3]}))
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(len(data)))
        kind = rng.integers(4)
        if kind == 0:
            data[at] = int(rng.integers(256))
        elif kind == 1:
            del data[at:at + int(rng.integers(1, 20))]
        elif kind == 2:
            data[at:at] = rng.bytes(int(rng.integers(1, 6)))
        else:
            data[at:at] = bytes(data[at:at + int(rng.integers(1, 40))])
    return bytes(data), False


def generated(n, seed):
    """Yield requests, each with True if it must be rejected and False if it may be valid."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield [of_field, of_text, of_head, of_bytes][rng.integers(4)](rng)


def readable(data):
    """Return a request as text for messages."""
    return json.dumps(data[:600].decode("latin-1"))
