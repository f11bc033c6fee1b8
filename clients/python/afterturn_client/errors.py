"""What can go wrong, as one tree: a host that catches `AfterturnError` goes on, whatever happened to the sidecar.

AfterturnError
+- ServerNotFound    there is no server to start
+- WrongVersion      the server speaks another protocol
+- Exited            the server ended; code, and the last words on its stderr
+- Broken            the server wrote what is no message, or a result that does not fit its type
+- TimedOut          no answer, or no event, in time
+- Congested         the server does not read what it is sent
+- ServerError       the server answered with an error; code, kind, retryable, data
+- BadParams         this cannot be sent: no JSON, or larger than the server takes
+- NotOpen           used outside of `async with`
"""

from typing import Any, Self, TypeVar

from afterturn_protocol.errors import ErrorData

E = TypeVar("E", bound="AfterturnError")


class AfterturnError(Exception):
    """Anything that keeps a call from its result. It can be copied, and pickled for another process."""

    def again(self) -> Self:
        """The same for one more caller: what is raised again and again holds on to the frames of all who caught it."""
        return _made_again(type(self), self.args, self.__dict__)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (type(self), self.args, self.__dict__)


class ServerNotFound(AfterturnError):
    """There is no server to start; the text says where was looked, and what to do."""


class WrongVersion(AfterturnError):
    """The server does not speak this client's protocol. supported: the versions it speaks."""

    def __init__(self, message: str, supported: list[int]) -> None:
        super().__init__(message)
        self.supported = supported


class Exited(AfterturnError):
    """The server ended. code: its exit code, negative for a signal. last_words: the end of its stderr."""

    def __init__(self, code: int | None, last_words: str) -> None:
        said = f"; the end of its stderr:\n{last_words}" if last_words else ""
        super().__init__(f"afterturn ended with code {code}{said}")
        self.code = code
        self.last_words = last_words


class Broken(AfterturnError):
    """The server wrote something that a server of this protocol does not write."""


class TimedOut(AfterturnError):
    """Nothing came in time. what: the method or event that was waited for. timeout_ms: how long, in ms."""

    def __init__(self, what: str, timeout_ms: int) -> None:
        super().__init__(f"{what}: nothing came within {timeout_ms} ms")
        self.what = what
        self.timeout_ms = timeout_ms


class Congested(AfterturnError):
    """So much waits to be read by the server that nothing more is kept for it. It may catch up."""


class ServerError(AfterturnError):
    """The server answered with an error (spec/errors.md). data: all that came with it; an empty one if nothing did."""

    def __init__(self, method: str, code: int, message: str, data: ErrorData | None) -> None:
        super().__init__(f"{method}: {message} ({code})")
        self.method = method
        self.code = code
        self.data = data or ErrorData()

    @property
    def kind(self) -> str | None:
        """Which domain failure it is, such as "busy"; None for an error of the protocol itself."""
        return self.data.kind

    @property
    def retryable(self) -> bool:
        """Whether the same request can succeed later, after `data.retry_after_ms` where that is known."""
        return bool(self.data.retryable)


class BadParams(AfterturnError):
    """What was to be sent cannot be: JSON has no word for it, or the server takes nothing of that size."""


class NotOpen(AfterturnError):
    """The client is not started yet, or closed already."""


def _made_again(kind: type[E], args: tuple[Any, ...], fields: dict[str, Any]) -> E:
    """Not through __init__: its arguments are not what the text was made from."""
    problem = kind.__new__(kind, *args)
    problem.__dict__.update(fields)
    return problem
