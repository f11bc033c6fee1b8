"""From a method's name to what handles it. A method costs nothing until it is first called."""

from collections.abc import Callable
from typing import Any

from afterturn.rpc.call import Call, Handler
from afterturn.wire.codec import ParamsDecoder

DEFAULT_DEADLINE_SECONDS = 30.0


class Route:
    """One method: how its params are decoded, who handles it, how long it may take.

    `load` returns the params type and the handler; it runs on the first call. `deadline_seconds` None means that
    the method bounds itself. A `request_only` method is ignored when it comes as a notification. `ordered` methods
    have a `session_id` and take effect in its order of arrival; those that are `at_once` too have an answer that says
    nothing, and so comes before their turn. `decode_usual` is `decode` without what it forgives:
    where it raises anything, `decode` has the last word.
    """

    __slots__ = (
        "_load",
        "at_once",
        "deadline_seconds",
        "decode",
        "decode_usual",
        "handle",
        "name",
        "ordered",
        "request_only",
    )

    def __init__(
        self,
        name: str,
        load: Callable[[], tuple[type, Handler]],
        *,
        ordered: bool = False,
        at_once: bool = False,
        request_only: bool = False,
        deadline_seconds: float | None = DEFAULT_DEADLINE_SECONDS,
    ) -> None:
        self.name = name
        self.ordered = ordered
        self.at_once = at_once
        self.request_only = request_only
        self.deadline_seconds = deadline_seconds
        self._load = load
        self.decode: Callable[[Any], Any] = self._bind_and_decode
        self.decode_usual: Callable[[Any], Any] = self._bind_and_decode
        self.handle: Handler = _unbound

    def _bind_and_decode(self, params: Any) -> Any:
        """Stands in for `decode` until the first call, which loads the method's types and handler."""
        type_, self.handle = self._load()
        decoder = ParamsDecoder(type_)
        self.decode_usual, self.decode = decoder.decode_usual, decoder.decode
        return self.decode(params)


def _unbound(params: Any, call: Call) -> Any:
    raise AssertionError("a method's params are decoded before it is handled")


Routes = dict[str, Route]
