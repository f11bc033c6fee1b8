"""The client's link, pump and connection, dressed as the process that the runner of the conversations wants."""

import json
import os
import re
import subprocess
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

import anyio
from anyio.from_thread import start_blocking_portal
from msgspec import UNSET, Raw

from afterturn.wire.codec import Envelope
from afterturn_client.connection import Answer, Connection, Id, Receiver
from afterturn_client.errors import AfterturnError
from afterturn_client.link import Link
from afterturn_client.pump import Pump

HEADER = re.compile(rb"Content-Length: (\d+)\r\n\r\n")
PATIENCE_SECONDS = 20.0


class ScriptedClient:
    """What the script sends goes out through `Connection`, where a client could send it; anything else as bytes.

    What comes in goes the same way back, under the ids of the script.
    """

    stderr = None

    def __init__(self, open_link: Callable[[], Awaitable[Link]], *, lines: bool) -> None:
        """lines: the server speaks one object a line, which the client does not: bytes pass as they are."""
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._link: Link = self._portal.call(open_link)
        read, self._out = os.pipe()
        self.stdout = os.fdopen(read, "rb")
        self.stdin = _Stdin(self)
        self._lines = lines
        self._ids: dict[str, Id] = {}  # the script's, by the connection's
        self._open: dict[Id, str] = {}  # the connection's of those in flight, by the script's
        self._pump = self._portal.call(_made, lambda: Pump(self._link))
        self._connection = Connection(
            self._pump.send,
            Receiver(
                event=lambda method, params: self._give(method=method, params=params),
                question=lambda id, method, params: self._give(id=id, method=method, params=params),
                withdrawn=lambda id: self._give(method="$/cancelRequest", params={"id": id}),
                stray=self._give_reply,
            ),
            self._pump.congested,
        )
        self._code: int | None = None
        self._ended = threading.Event()
        self._portal.start_task_soon(self._run)

    # -- what the runner uses of a Popen

    def wait(self, timeout: float) -> int:
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired("the server", timeout)
        self._stack.close()
        assert self._code is not None
        return self._code

    def kill(self) -> None:
        if not self._ended.is_set():
            self._portal.call(self._link.kill)

    def send_signal(self, number: int) -> None:
        os.kill(getattr(self._link, "pid"), number)  # noqa: B009 (only a child has one)

    # -- out

    def write(self, data: bytes) -> None:
        if self._lines:
            self._portal.call(self._link.send, data)
        elif messages := _messages(data):
            self._portal.call(self._send_all, messages)
        else:
            self._portal.call(self._pump.send_bytes, data)

    def close_input(self) -> None:
        if not self._ended.is_set():
            self._portal.call(self._link.end_input if self._lines else self._pump.seal)

    def _send_all(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            self._send(message)

    def _send(self, message: dict[str, Any]) -> None:
        shape, id = message.keys() - {"jsonrpc"}, message.get("id")
        if shape <= {"id", "method", "params"} and "method" in shape and message.get("params", ()) is not None:
            if "id" in shape and type(id) in (int, str) and id not in self._open:
                asked = self._connection.post(message["method"], message.get("params"), self._give_answer)
                self._ids[asked], self._open[id] = id, asked
                return
            if "id" not in shape:
                self._connection.notify(message["method"], self._with_our_id(message))
                return
        if shape == {"id", "result"} and type(id) in (int, str):
            self._connection.reply(id, message["result"])
            return
        self._pump.send(json.dumps({**message, **({"id": self._ours(id)} if "id" in shape else {})}).encode())

    def _with_our_id(self, message: dict[str, Any]) -> Any:
        params = message.get("params")
        if message["method"] == "$/cancelRequest" and isinstance(params, dict) and "id" in params:
            return {**params, "id": self._ours(params["id"])}
        return params

    def _ours(self, id: Any) -> Any:
        return self._open.get(id, id) if type(id) in (int, str) else id

    # -- in

    async def _run(self) -> None:
        if self._lines:
            await self._pass_on()
        else:
            await self._pump.run(self._connection)
        self._code = await self._link.wait()
        await self._link.release()
        os.close(self._out)
        self._ended.set()

    async def _pass_on(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._link.drain)
            while data := await self._link.receive():
                os.write(self._out, data)
            tasks.cancel_scope.cancel()

    def _give_answer(self, answer: Answer) -> None:
        if not isinstance(answer, AfterturnError):
            self._give_reply(answer)

    def _give_reply(self, reply: Envelope) -> None:
        assert reply.jsonrpc == "2.0"
        id = self._ids.get(reply.id, reply.id) if isinstance(reply.id, str) else reply.id
        if isinstance(id, int | str):
            self._open.pop(id, None)
        self._give(id=id, result=reply.result, error=reply.error)

    def _give(self, **fields: Any) -> None:
        plain = {key: _plain(value) for key, value in fields.items() if value is not UNSET}
        body = json.dumps({"jsonrpc": "2.0", **plain}).encode()
        data = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        while data:
            data = data[os.write(self._out, data) :]


class _Stdin:
    def __init__(self, client: ScriptedClient) -> None:
        self._client = client
        self._closed = False

    def write(self, data: bytes) -> None:
        self._client.write(data)

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._client.close_input()


def _plain(value: Any) -> Any:
    return json.loads(bytes(value)) if isinstance(value, Raw) else value


async def _made(make: Callable[[], Any]) -> Any:
    return make()


def _messages(data: bytes) -> list[dict[str, Any]] | None:
    """The messages in whole, well-formed frames; None for anything else."""
    found: list[dict[str, Any]] = []
    while data:
        header = HEADER.match(data)
        if not header or len(data) < header.end() + int(header[1]):
            return None
        end = header.end() + int(header[1])
        try:
            message = json.loads(data[header.end() : end])
        except (ValueError, RecursionError):
            return None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return None
        found.append(message)
        data = data[end:]
    return found
