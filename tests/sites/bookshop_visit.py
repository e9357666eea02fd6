"""One request at the bookshop: who sends it, its database, and the token of its forms."""

import hashlib
import hmac
import secrets
import sqlite3

from sites import serving
from sites.bookshop import layout
from sites.serving import Answer, Refused, Request

SECRET = b"webharbor"
NOBODY = 0


def sign(*parts: object) -> str:
    said = ":".join(map(str, parts)).encode()
    return hmac.new(SECRET, said, hashlib.sha256).hexdigest()[:24]


def session_cookie(user: int) -> str:
    """The value of the cookie `session` for a user who has logged in."""
    return f"{user}.{sign('user', user)}"


def user_of(request: Request) -> int:
    """Who is logged in; NOBODY without a genuine cookie."""
    number, _, _ = request.cookie("session").partition(".")
    genuine = number.isdigit() and request.cookie("session") == session_cookie(int(number))
    return int(number) if genuine else NOBODY


def new_token(user: int) -> str:
    """A token for one form of that user; no two are the same."""
    nonce = secrets.token_hex(6)
    return f"{nonce}.{sign('csrf', user, nonce)}"


def check_token(user: int, token: str) -> None:
    nonce, _, signed = token.partition(".")
    if not hmac.compare_digest(signed, sign("csrf", user, nonce)):
        raise Refused(400, "the CSRF token is missing or wrong")


class Visit:
    """One request: its database, its customer and its form."""

    def __init__(self, request: Request, database: sqlite3.Connection) -> None:
        self.request = request
        self.database = database
        self.user = user_of(request)

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        return self.database.execute(sql, values).fetchall()

    def row(self, sql: str, *values: object) -> sqlite3.Row:
        """The one row; 404 if there is none."""
        found = self.rows(sql, *values)
        if not found:
            raise Refused(404, f"there is nothing at {self.request.path}")
        return found[0]

    def do(self, sql: str, *values: object) -> None:
        self.database.execute(sql, values)

    def token(self) -> str:
        return new_token(self.user)

    def page(self, title: str, inside: str, *, said: str = "") -> Answer:
        known = self.rows("SELECT name FROM users WHERE id = ?", self.user)
        name = str(known[0]["name"]) if known else None
        return serving.page(layout(title, inside, name=name, said=said))
