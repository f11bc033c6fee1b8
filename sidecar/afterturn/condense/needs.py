"""What the parts of the condense service are given, and doing heavy work beside the event loop."""

from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar

import anyio.to_thread
from msgspec import Struct

from afterturn.clock import Clock
from afterturn.completion import Completer
from afterturn.condense.ports import Redactor, Store
from afterturn_protocol.settings import CondenseSettings

P = ParamSpec("P")
T = TypeVar("T")

HEAVY_CHARS = 24_000
"""Redacting or extracting more than this takes more than a millisecond or two."""

HEAVY_TO_READ_CHARS = 256_000
"""Reading (hashing, normalising) more than this does."""


class Needs(Struct, frozen=True, kw_only=True):
    """The outside of the service.

    settings: the settings as they are now. completer: None where no model can ever be asked. owner: this process,
    unlike any other on the store. keep_raw: whether originals are kept as they come (`store.raw`). report: logs what
    went wrong where no request waits for an answer; the text holds nothing of a session.
    """

    store: Store
    settings: Callable[[], CondenseSettings]
    redact: Redactor
    completer: Completer | None
    clock: Clock
    owner: str
    keep_raw: Callable[[], bool]
    report: Callable[[str], None]

    def hide(self, text: str) -> str:
        """A text without its secrets."""
        return self.redact(text)[0]


async def beside(chars: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do `work` over a text of `chars` chars: at once when that is quick, in a worker thread when it is not."""
    if chars < HEAVY_CHARS:
        return work(*args, **kwargs)
    return await in_thread(work, *args, **kwargs)


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do `work` in a worker thread."""
    call: Callable[[], Any] = partial(work, *args, **kwargs)
    return await anyio.to_thread.run_sync(call)
