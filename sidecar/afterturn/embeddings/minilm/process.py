"""The MiniLM process as the server sees it: one run, and the text that is with it."""

import asyncio
from collections.abc import Mapping

from msgspec import DecodeError
from msgspec.msgpack import Encoder

from afterturn.capture.embedder import EmbeddingError
from afterturn.child.process import Child
from afterturn.embeddings.minilm.messages import Broken, Failed, Ready, Text, Vector, from_worker_decoder

MODULE = "afterturn.embeddings.minilm"


class MinilmProcess:
    """One run. ready: what the process says first; or, as text, what became of it before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._child = Child(loop, self._received, self._ended)
        self._encoder = Encoder()
        self._decoder = from_worker_decoder()
        self._waiting: dict[int, asyncio.Future[Vector | Failed]] = {}
        self._last_id = 0
        self.ready: asyncio.Future[Ready | Broken | str] = loop.create_future()

    @property
    def alive(self) -> bool:
        return self._child.alive

    @property
    def pid(self) -> int | None:
        return self._child.pid

    async def start(self, python: str, environ: Mapping[str, str]) -> None:
        """Start the process; `ready` says when it can be used. Raises OSError."""
        await self._child.start([python, "-I", "-X", "utf8", "-m", MODULE], environ)

    async def vector(self, text: str, seconds: float) -> bytes:
        """The text's vector. A process that takes longer than `seconds` is killed. Raises EmbeddingError."""
        if not self.alive:
            raise EmbeddingError(f"the MiniLM process {self._child.why or 'ended'}")
        self._last_id += 1
        asked = Text(self._last_id, text)
        answer = self._waiting[asked.id] = self._loop.create_future()
        self._child.send(self._encoder.encode(asked))
        try:
            async with asyncio.timeout(seconds):
                said = await answer
        except TimeoutError:
            await self._child.stop()
            raise EmbeddingError(f"the MiniLM process did not embed a text within {seconds:g} s") from None
        finally:
            self._waiting.pop(asked.id, None)
        if isinstance(said, Failed):
            raise EmbeddingError(f"MiniLM cannot embed a text ({said.problem})", retryable=False, of_text=True)
        return said.components

    def _received(self, body: bytes) -> None:
        if not self.alive:
            return  # what it says counts no more
        try:
            message = self._decoder.decode(body)
        except DecodeError:
            self._child.kill("said something that is no message")
            return
        if isinstance(message, Ready | Broken):
            if not self.ready.done():
                self.ready.set_result(message)
            return
        answer = self._waiting.pop(message.id, None)
        if answer is not None and not answer.done():  # it is where the caller was cancelled in this very turn
            answer.set_result(message)

    def _ended(self, why: str) -> None:
        if not self.ready.done():
            self.ready.set_result(why)
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(EmbeddingError(f"the MiniLM process {why}"))

    async def stop(self) -> None:
        """Kill the process and return when it is gone; a text that is with it fails."""
        await self._child.stop()
