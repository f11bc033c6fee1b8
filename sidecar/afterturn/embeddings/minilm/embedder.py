"""The embedder `minilm`: starts its process with the first text and ends it when nobody asks any more."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence

from afterturn.capture.embedder import EmbeddingError
from afterturn.child.idling import Idling
from afterturn.clock import Clock
from afterturn.embeddings.minilm.messages import DIMENSION, MODEL, Broken
from afterturn.embeddings.minilm.process import MinilmProcess
from afterturn.models.worker_environment import worker_environment

MAX_CHARS = 16_000
"""Behind it come more word pieces than the model reads, in any text that is one."""
START_SECONDS = 60.0
TEXT_SECONDS = 30.0
"""A text takes tenths of a second; a process that takes so long is stuck."""
IDLE_SECONDS = 120.0
UNUSABLE_SECONDS = 60.0
"""So long nothing is tried after a start that failed: what is not installed is not there a moment later."""


class MinilmEmbedder:
    """`Embedder`, in one event loop. Texts go to the process one by one, so that a query waits for one text at most."""

    model = MODEL
    dimension = DIMENSION

    def __init__(
        self,
        clock: Clock,
        *,
        environ: Mapping[str, str] = os.environ,
        python: str = sys.executable,
        start_seconds: float = START_SECONDS,
        text_seconds: float = TEXT_SECONDS,
    ) -> None:
        """environ: the server's. python: runs the process. start_seconds, text_seconds: when it is given up."""
        self._clock = clock
        self._environ = environ
        self._python = python
        self._start_seconds = start_seconds
        self._text_seconds = text_seconds
        self._turn = asyncio.Lock()
        self._process: MinilmProcess | None = None
        self._idling = Idling(clock, lambda: IDLE_SECONDS, self._stop_process)
        self._not_before = 0.0
        self._refusal = ("", True)
        self._closed = False

    @property
    def worker_pid(self) -> int | None:
        """The process id of the process that takes texts now."""
        return self._process.pid if self._process is not None and self._process.alive else None

    @property
    def resting(self) -> str | None:
        """Why no process is started for now."""
        return self._refusal[0] if self._clock.monotonic() < self._not_before else None

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector for each text, in order: little-endian float32 of unit length. Raises EmbeddingError."""
        with self._idling.in_use():
            return [await self._vector(text) for text in texts]

    async def _vector(self, text: str) -> bytes:
        # The tokenizer takes no half of a surrogate pair.
        clean = text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")
        async with self._turn:
            process = await self._running()
            return await process.vector(clean, self._text_seconds)

    async def close(self) -> None:
        """End the process, also one that is starting. Texts that are with it fail."""
        self._closed = True
        self._idling.close()
        if self._process is not None:
            await self._process.stop()

    # -- starting

    async def _running(self) -> MinilmProcess:
        if self._closed:
            raise EmbeddingError("the embedder is closed")
        if self._process is not None and self._process.alive:
            return self._process
        if self._clock.monotonic() < self._not_before:
            message, retryable = self._refusal
            raise EmbeddingError(message, retryable=retryable)
        process = self._process = MinilmProcess(asyncio.get_running_loop())
        try:
            async with asyncio.timeout(self._start_seconds):
                await process.start(self._python, worker_environment(self._environ))
                said = await process.ready
        except TimeoutError:
            await process.stop()
            raise self._refused(f"the MiniLM process did not start within {self._start_seconds:g} s") from None
        except OSError as problem:
            raise self._refused(f"the MiniLM process could not be started: {problem.strerror}") from None
        except asyncio.CancelledError:
            await process.stop()
            raise
        if isinstance(said, str):
            raise self._refused(f"the MiniLM process {said}")
        if isinstance(said, Broken):
            await process.stop()
            raise self._refused(said.problem, retryable=False)
        return process

    def _refused(self, message: str, *, retryable: bool = True) -> EmbeddingError:
        self._refusal = message, retryable
        self._not_before = self._clock.monotonic() + UNUSABLE_SECONDS
        return EmbeddingError(message, retryable=retryable)

    async def _stop_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.stop()
