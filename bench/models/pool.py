"""A process with the pool of the server, its store and its worker: what a model call costs through all of them."""

import asyncio
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from afterturn.clock import SystemClock
from afterturn.completion import PromptMessage
from afterturn.models.litellm import LitellmProvider
from afterturn.models.pool import Pool
from afterturn.redact import Redactor
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.settings import ModelsSettings
from bench.models.talk import MAX_TOKENS, MESSAGES, asked, base_of, say


class Pooled:
    """The pool, as parts.py puts it together."""

    def __init__(self, url: str, folder: str) -> None:
        self._url = url
        self._settings = ModelsSettings(daily_tokens=None)
        self.store = SqliteStore(StorePlace(file=Path(folder) / "afterturn.db", own_folder=True))
        clock = SystemClock()
        self.pool = Pool(
            settings=lambda: self._settings,
            offered=lambda: False,
            providers={"litellm": lambda: LitellmProvider(lambda: self._settings, clock, dict(os.environ))},
            store=lambda: self.store.models,
            redact=Redactor().redact,
            clock=clock,
            chance=random.random,
            emit=lambda method, params: None,
        )

    async def call(self, model: str) -> float:
        """One call, in ms."""
        self._settings = ModelsSettings(daily_tokens=None, model=model, api_base=base_of(self._url, model))
        started = time.perf_counter()
        done = await self.pool.complete(
            "recap",
            [PromptMessage(*each) for each in MESSAGES],
            session_id="s",
            prompt_version="1",
            max_tokens=MAX_TOKENS,
            model=None,
            reasoning="off",
            idle_timeout_ms=20_000,
            total_timeout_ms=45_000,
            max_calls=1,
            background=False,
            fresh=True,
        )
        assert len(done.text) > 100
        return (time.perf_counter() - started) * 1000

    async def close(self) -> None:
        """End the worker, and save."""
        await self.pool.close()
        await self.store.close()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="afterturn-bench-") as folder, asyncio.Runner() as runner:
        pooled = Pooled(sys.argv[1], folder)
        say(ready=True)
        for each in asked():
            say(ms=runner.run(pooled.call(each["model"])))
        runner.run(pooled.close())


if __name__ == "__main__":
    main()
