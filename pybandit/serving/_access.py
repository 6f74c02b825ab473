"""Access control: tokens, the cookie of a browser that signed in, and names of this server.

A token is sent as ``Authorization: Bearer``, never in an address, because logs and histories
keep addresses. A browser cannot send that header when it subscribes to events. It signs in
once with a token and receives a cookie that other sites cannot use (SameSite) and scripts
cannot read (HttpOnly). The cookie only permits reading, so no page that a browser opens can
record anything.
"""

import hashlib
import hmac
import ipaddress
import os
import re
import secrets
from typing import NamedTuple

from starlette.exceptions import HTTPException

from pybandit._shared.files import read_regular

ROLES = "read", "record"
TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,512}")
MOST_TOKENS = 1 << 16  # bytes in a file of tokens
VARIABLES = {"read": "PYBANDIT_READ_TOKEN", "record": "PYBANDIT_RECORD_TOKEN"}


class Token(NamedTuple):
    """A secret with its role and the name of its owner, which may be ""."""

    role: str
    secret: str
    who: str = ""

    @property
    def cookie(self):
        """Value of the browser's cookie: it identifies the token and does not reveal it."""
        return hmac.new(self.secret.encode(), b"pybandit study serve", hashlib.sha256).hexdigest()


def tokens_of(path, environment=os.environ):
    """Return the tokens of a file or of the environment, or new ones; and True if they are new.

    Raises
    ------
    ValueError
        If a token is too short or has invalid characters, if a line is invalid, or if the file is
        not UTF-8 or has more than MOST_TOKENS bytes. No message contains a token.
    OSError
        If the file cannot be read or is not a regular file.
    """
    if path is not None:
        lines = [(number, line.split())
                 for number, line in enumerate(_text_of(path).splitlines(), 1)]
        tokens = [_of_line(path, number, words) for number, words in lines
                  if words and not words[0].startswith("#")]
        if not tokens:
            raise ValueError(f"{path}: the file has no token")
    else:
        tokens = [_checked(Token(role, environment[name]), name)
                  for role, name in VARIABLES.items() if environment.get(name)]
    if len({token.secret for token in tokens}) < len(tokens):
        raise ValueError(f"{path or 'the environment'}: tokens must differ from each other")
    return tokens or [Token(role, secrets.token_urlsafe(24)) for role in ROLES], not tokens


def _text_of(path):
    content = read_regular(path, MOST_TOKENS)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:  # do not show the bytes: they may be a token
        raise ValueError(f"{path}: tokens must be UTF-8 text; byte {error.start:,} is "
                         "not") from None


def _of_line(path, number, words):
    if words[0] not in ROLES or len(words) not in (2, 3):
        raise ValueError(f"{path}: line {number} must be read or record, a token, and optionally "
                         "the name of its owner")
    return _checked(Token(*words), f"{path}: line {number}")


def _checked(token, place):
    if TOKEN.fullmatch(token.secret) is None:
        raise ValueError(f"{place}: a token must have 16 to 512 letters, digits or ._~+/=-")
    return token


class Door:
    """Checks tokens, and the server name in a request."""

    def __init__(self, tokens, names, port):
        self.tokens, self.names = tokens, {name.casefold() for name in names} | {"localhost"}
        # cookies ignore ports: two servers on one machine must not use the same cookie
        self.cookie = f"pybandit_{port}"

    def check_host(self, request):
        """Reject foreign host names, which a site elsewhere could direct here (DNS rebinding)."""
        host = request.headers.get("host", "localhost")
        match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@/]+)(?::[0-9]{0,5})?", host)
        name = match[1].strip("[]").casefold() if match else ""
        try:
            ipaddress.ip_address(name)  # an address cannot be redirected
        except ValueError:
            if name not in self.names:
                raise HTTPException(421, "the header Host must be an address, localhost, or a "
                                         "name of --name") from None

    def token_of(self, request):
        """Return the token of a request, or None."""
        text = request.headers.get("authorization")
        if text is not None:
            kind, _, secret = text.partition(" ")
            token = self.find(secret.strip(), "secret") if kind.casefold() == "bearer" else None
            if token is None:
                raise self.unauthorized("the token is not one of this study")
            return token
        token = self.find(request.cookies.get(self.cookie, ""), "cookie")
        # a browser may send the cookie with requests of other pages: it only permits reading
        return token and token._replace(role="read")

    def find(self, text, what):
        """Return the token with this secret or cookie, or None.

        The time does not depend on the tokens, so it reveals nothing about them.
        """
        found, given = None, text.encode("latin-1", "replace")
        for token in self.tokens:
            if hmac.compare_digest(getattr(token, what).encode(), given):
                found = token
        return found

    def check_role(self, token, role):
        if token is None:
            raise self.unauthorized("a token must be given, as Authorization: Bearer TOKEN")
        if role == "record" and token.role != "record":
            raise HTTPException(403, "this needs a token for recording; got one for reading")

    @staticmethod
    def unauthorized(words):
        return HTTPException(401, words, {"WWW-Authenticate": "Bearer"})
