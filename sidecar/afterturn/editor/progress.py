"""Work-done progress of a command: under the client's token, or under one of ours where it shows such (LSP 3.17)."""

import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from afterturn.editor.ports import Line
from afterturn.rpc.errors import RequestFailed

log = logging.getLogger("afterturn.editor")

CREATE_SECONDS = 10.0


class Progress:
    """Tells of work. shows: the client shows progress that a server begins."""

    def __init__(self, line: Line, *, shows: bool) -> None:
        self._line = line
        self._shows = shows

    @asynccontextmanager
    async def of(self, title: str, token: int | str | None) -> AsyncGenerator[None]:
        """Begin and end around some work. token: what the client gave."""
        if token is None and self._shows:
            token = await self._created()
        if token is None:
            yield
            return
        self._tell(token, {"kind": "begin", "title": title, "cancellable": False})
        try:
            yield
        finally:
            self._tell(token, {"kind": "end"})

    async def _created(self) -> str | None:
        token = f"afterturn-{os.urandom(6).hex()}"
        try:
            await self._line.request("window/workDoneProgress/create", {"token": token}, CREATE_SECONDS)
        except RequestFailed as problem:
            log.info("no progress is shown: %s", problem)
            return None
        return token

    def _tell(self, token: int | str, value: dict[str, object]) -> None:
        self._line.notify("$/progress", {"token": token, "value": value})
