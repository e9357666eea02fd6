"""How a request is refused: a status and an error body in the form that vLLM gives it."""

from http import HTTPStatus

from schemas.base import JsonObject

_TYPES = {
    HTTPStatus.BAD_REQUEST: "BadRequestError",
    HTTPStatus.UNAUTHORIZED: "AuthenticationError",
    HTTPStatus.NOT_FOUND: "NotFoundError",
    HTTPStatus.TOO_MANY_REQUESTS: "RateLimitError",
}


class HttpRefusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, *, retry_after: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """Headers that go with it."""
        return {} if self.retry_after is None else {"Retry-After": self.retry_after}

    @property
    def body(self) -> JsonObject:
        """The error as JSON."""
        kind = _TYPES.get(HTTPStatus(self.status), "InternalServerError")
        return {
            "error": {
                "message": self.message,
                "type": kind,
                "param": None,
                "code": self.status,
            }
        }
