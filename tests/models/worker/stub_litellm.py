"""Stands in for the litellm package where a test is about the process around it: it does what the model's name says.

Copied into a folder as `litellm/__init__.py`. The real one has its tests beside this file.
"""

import asyncio
import os
import socket
import time
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

FLOOD_BYTES = 4 << 20


def flood() -> None:
    """Much more than a pipe holds, on both descriptors and by both ways."""
    for fd in (1, 2):
        left = FLOOD_BYTES
        while left > 0:
            left -= os.write(fd, b"sk-flooded-secret " * 4096)
    print("sk-flooded-secret " * 100_000, flush=True)


def knock(base: str) -> None:
    """Let the scripted server know that the call is being made."""
    parts = urlsplit(base)
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        connection.sendall(b"GET /v1/chat/completions HTTP/1.1\r\n\r\n")


def open_inodes() -> list[str]:
    """The files behind all open descriptors."""
    found: list[str] = []
    for fd in range(1024):
        try:
            found.append(str(os.fstat(fd).st_ino))
        except OSError:
            continue
    return found


def get_model_info(model: str) -> dict[str, Any]:
    raise ValueError(f"no model {model}")


def cost_per_token(**given: Any) -> tuple[float, float]:
    raise ValueError("no price")


class Stream:
    received_finish_reason = "stop"

    def __init__(self, text: str) -> None:
        self._left = [text]

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> SimpleNamespace:
        if not self._left:
            raise StopAsyncIteration
        delta = SimpleNamespace(content=self._left.pop(), tool_calls=None)
        return SimpleNamespace(usage=None, choices=[SimpleNamespace(delta=delta)])


async def acompletion(*, model: str, **given: Any) -> Stream:
    what = model.partition("/")[2]
    if what in ("silence", "stuck"):
        knock(given["api_base"])
    if what == "flood":
        flood()
    elif what == "silence":
        await asyncio.Event().wait()
    elif what == "stuck":
        time.sleep(600)  # noqa: ASYNC251
    elif what == "deaf":
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue
    elif what == "exit":
        os._exit(3)
    elif what == "environ":
        return Stream(repr(sorted(os.environ.items())))
    elif what == "descriptors":
        return Stream(" ".join(open_inodes()))
    elif what == "raise":
        raise RuntimeError("sk-raised-secret")
    return Stream("fine")
