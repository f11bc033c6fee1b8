"""A process with the modules of the server and a LitellmProvider: what the worker costs it."""

import asyncio
import os
import sys
import time

import afterturn.app
import afterturn.models.pool
import afterturn.parts  # noqa: F401
from afterturn.clock import SystemClock
from afterturn.completion import PromptMessage
from afterturn.models.litellm import LitellmProvider
from afterturn.models.provider import Prompt
from afterturn_protocol.settings import ModelsSettings
from bench.models.talk import MAX_TOKENS, MESSAGES, asked, base_of, say

TICK_SECONDS = 0.002


class Measured:
    """The provider, and the figures."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._settings = ModelsSettings()
        self.provider = LitellmProvider(lambda: self._settings, SystemClock(), dict(os.environ))

    async def call(self, model: str) -> float:
        """One call, in ms."""
        self._settings = ModelsSettings(api_base=base_of(self._url, model))
        prompt = Prompt(
            purpose="recap",
            messages=[PromptMessage(*each) for each in MESSAGES],
            session_id="s",
            max_tokens=MAX_TOKENS,
            model=model,
            reasoning="off",
            idle_timeout_ms=20_000,
            total_timeout_ms=45_000,
        )
        started = time.perf_counter()
        done = await self.provider.complete(prompt)
        assert len(done.text) > 100
        return (time.perf_counter() - started) * 1000

    async def start(self) -> tuple[float, list[float]]:
        """The first call, with the worker's start, in s; and how late the loop was meanwhile."""
        stop = asyncio.Event()
        ticking = asyncio.create_task(delays(stop))
        took = await self.call("openai/any") / 1000
        stop.set()
        return took, await ticking

    def memory(self) -> dict[str, float]:
        """Resident memory in MiB of this process and of the worker."""
        worker = self.provider.worker_pid
        return {"rss": rss_mib("self"), "worker": rss_mib(str(worker)) if worker else 0.0}


async def delays(stop: asyncio.Event) -> list[float]:
    """How late the loop came to a timer, in ms, every TICK_SECONDS: what any other request would have waited."""
    late: list[float] = []
    loop = asyncio.get_running_loop()
    while not stop.is_set():
        due = loop.time() + TICK_SECONDS
        await asyncio.sleep(TICK_SECONDS)
        late.append((loop.time() - due) * 1000)
    return late


async def calm(seconds: float) -> list[float]:
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, stop.set)
    return await delays(stop)


def rss_mib(process: str) -> float:
    import psutil

    return psutil.Process(None if process == "self" else int(process)).memory_info().rss / 2**20


def main() -> None:
    measured = Measured(sys.argv[1])
    with asyncio.Runner() as runner:
        say(ready=True)
        for each in asked():
            if each["do"] == "memory":
                say(**measured.memory())
            elif each["do"] == "delays":
                say(delays=runner.run(calm(each["seconds"])))
            elif each["do"] == "start":
                seconds, late = runner.run(measured.start())
                say(seconds=seconds, delays=late)
            else:
                say(ms=[runner.run(measured.call(each["model"])) for _ in range(each["count"])])
        runner.run(measured.provider.close())


if __name__ == "__main__":
    main()
