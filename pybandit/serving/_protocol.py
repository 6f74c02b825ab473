"""HTTP/1.1 with uvicorn and h11, and with the limits and strict checks that they lack."""

import json
import re
import sys

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

# open connections; uvicorn's `limit_concurrency` counts only those with a complete head
MOST_CONNECTIONS = 512
HEAD_BYTES, MOST_HEADERS = 16_384, 64
# Seconds to wait. IDLE: for the next request. PATIENCE: for a head, and for the client to read each
# part of an answer. LINGER: for the rest of a rejected request, so that its sender gets the answer.
IDLE, PATIENCE, LINGER = 75.0, 15.0, 1.0
# Accepted by h11, but read differently by different programs: control characters, line ends
# other than CR LF, continued lines, and a repeated Content-Length.
ODD = re.compile(rb"(?is)[^\t\r\n -~\x80-\xff]|\r(?!\n|\Z)|(?<!\r)\n|\n[ \t]"
                 rb"|\ncontent-length:(?=.*\ncontent-length:)")
STATUSES = {431: 431, 501: 411}  # status by the hint of h11; 400 otherwise


class Protocol(H11Protocol):
    """A connection with time limits.

    uvicorn has no time limit for the first byte of a connection, for a head, or for a client that
    does not read, and it drops the answers to a client that has closed its sending side.
    """

    def connection_made(self, transport):
        super().connection_made(transport)
        self._head_timer = self._write_timer = None
        self._is_refused = self._has_ended = False
        self.timeout_keep_alive_task = self.loop.call_later(IDLE, self.timeout_keep_alive_handler)
        if len(self.connections) > MOST_CONNECTIONS:
            self.refuse(503, "there are too many connections")

    def connection_lost(self, exc):
        self._unset_keepalive_if_required()
        self._head_timer = _cancelled(self._head_timer)
        self._write_timer = _cancelled(self._write_timer)
        super().connection_lost(exc)

    def data_received(self, data):
        if not self._is_refused:
            super().data_received(data)

    def eof_received(self):
        if self._is_refused:
            return False
        self._has_ended = True
        self.handle_events()
        return True  # keep the connection open until all complete requests are answered

    def handle_events(self):
        if self.conn.their_state is h11.IDLE and not self._check_head():
            return
        super().handle_events()
        if self.conn.their_state is not h11.IDLE:
            self._head_timer = _cancelled(self._head_timer)
        if self._has_ended and not self._is_refused and not self.transport.is_closing():
            self._finish()

    def _check_head(self):
        """Reject an invalid head and return False, or limit the time for the rest of it."""
        head = self.conn.trailing_data[0].partition(b"\r\n\r\n")[0]
        if len(head) > HEAD_BYTES or head.count(b"\n") > MOST_HEADERS:
            self.refuse(431, f"the head of a request must be at most {HEAD_BYTES:,} bytes and "
                             f"{MOST_HEADERS} headers")
        elif ODD.search(head):
            self.refuse(400, "the head of a request must be lines of text that end with CR LF, "
                             "not continued, with one Content-Length")
        elif head and self._head_timer is None:
            self._head_timer = self.loop.call_later(
                PATIENCE, self.refuse, 408,
                f"the head of a request must arrive within {PATIENCE:g} s")
        return not self._is_refused

    def _finish(self):
        """End a connection whose client sends nothing more, unless a request is being answered."""
        if self.conn.their_state is h11.SEND_BODY:
            # the application then finds the body shorter than its length
            self.cycle.more_body = False
            self.cycle.message_event.set()
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self.refuse(400, "the request ends before its head does")
        elif self.conn.their_state is h11.IDLE:
            self.transport.close()

    def send_400_response(self, msg):
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False  # bytes after the last request are not read
            return
        hint = getattr(sys.exception(), "error_status_hint", 400)
        words = ("the body must have a Content-Length; other encodings are not accepted"
                 if hint == 501 else "the head must be a line METHOD /path HTTP/1.1 and header "
                                     "lines 'name: value', one of them Host")
        self.refuse(STATUSES.get(hint, 400), words)

    def refuse(self, status, words):
        """Answer an invalid request, and end the connection so that its sender reads the answer."""
        self._unset_keepalive_if_required()
        self._head_timer = _cancelled(self._head_timer)
        self._is_refused = True
        body = json.dumps({"error": words}).encode() + b"\n"
        headers = [*self.server_state.default_headers, ("Content-Type", "application/json"),
                   ("Content-Length", str(len(body))), ("Connection", "close")]
        for event in (h11.Response(status_code=status, headers=headers,
                                   reason=STATUS_PHRASES[status]),
                      h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        if self._has_ended:
            self.transport.close()
            self._limit_writing()
        else:
            self.transport.write_eof()
            self._write_timer = self.loop.call_later(LINGER, self.transport.abort)

    def on_response_complete(self):
        super().on_response_complete()
        if self.transport.is_closing():
            self._limit_writing()

    def timeout_keep_alive_handler(self):
        self.transport.abort()  # close() would wait until the client has read its last answer

    def pause_writing(self):
        super().pause_writing()
        self._limit_writing()

    def resume_writing(self):
        super().resume_writing()
        self._write_timer = _cancelled(self._write_timer)
        if self.transport.is_closing():
            self._limit_writing()

    def _limit_writing(self):
        """Abort the connection unless the client soon reads what waits in the buffer."""
        _cancelled(self._write_timer)
        self._write_timer = self.loop.call_later(PATIENCE, self.transport.abort)


def _cancelled(timer):
    if timer is not None:
        timer.cancel()
