"""A litellm provider, the scripted server it talks to, and one event loop for all tests that share them."""

import asyncio
import os
import stat
import sys
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

import psutil

from afterturn.clock import Clock, SystemClock
from afterturn.completion import Completion, PromptMessage
from afterturn.models.litellm import LitellmProvider
from afterturn.models.provider import Prompt, ProviderFailure
from afterturn_protocol.settings import ModelsSettings
from tests.provider.server import ScriptedProvider

PATIENCE_SECONDS = 90.0
OPENAI = "openai/any"
ANTHROPIC = "anthropic/any"
KEY = "key-of-the-test"
Result = TypeVar("Result")


def prompt(model: str | None = OPENAI, *, idle_ms: int = 10_000, total_ms: int = 20_000, **changed: Any) -> Prompt:
    """A small prompt with patient limits."""
    fields: dict[str, Any] = {
        "purpose": "condense.batch",
        "messages": [PromptMessage("system", "Be brief."), PromptMessage("user", "What happened?")],
        "session_id": "s",
        "max_tokens": 50,
        "model": model,
        "reasoning": "off",
        "idle_timeout_ms": idle_ms,
        "total_timeout_ms": total_ms,
    }
    return Prompt(**fields | changed)


class Rig:
    """`settings` may be replaced at any time. `run` runs a coroutine in the rig's loop, with a bound.

    start_seconds, longest_start_seconds: of LitellmProvider; patient, because tests share their machine.
    """

    def __init__(
        self,
        provider: ScriptedProvider,
        *,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
        python: str = sys.executable,
        start_seconds: float = 60.0,
        longest_start_seconds: float = 60.0,
    ) -> None:
        self.server = provider
        self.settings = ModelsSettings(api_key_env="TEST_KEY")
        self._runner = asyncio.Runner()
        self._others = psutil.Process().children()
        self.provider = LitellmProvider(
            lambda: self.settings,
            clock or SystemClock(),
            {**os.environ, "TEST_KEY": KEY, **(environ or {})},
            python,
            start_seconds,
            longest_start_seconds,
        )

    def __enter__(self) -> "Rig":
        self._runner.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self.run(self.provider.close())
        self._runner.__exit__(None, None, None)

    def run(self, job: Coroutine[Any, Any, Result]) -> Result:
        async def bounded() -> Result:
            return await asyncio.wait_for(job, PATIENCE_SECONDS)

        return self._runner.run(bounded())

    def complete(self, given: Prompt) -> Coroutine[Any, Any, Completion]:
        """The call, to the scripted server in the format of the model's provider."""
        base = self.server.anthropic_base if str(given.model).startswith("anthropic/") else self.server.openai_base
        self.settings = ModelsSettings(model=given.model, api_base=base, api_key_env="TEST_KEY")
        return self.provider.complete(given)

    def ask(self, model: str = OPENAI, **changed: Any) -> Completion:
        """One call that must succeed."""
        return self.run(self.complete(prompt(model, **changed)))

    def fail(self, model: str = OPENAI, **changed: Any) -> ProviderFailure:
        """One call that must fail."""
        return self.run(failure_of(self.complete(prompt(model, **changed))))

    @property
    def children(self) -> list[psutil.Process]:
        """The processes that there are now because of this rig."""
        return [each for each in psutil.Process().children() if each not in self._others]

    @property
    def worker(self) -> psutil.Process:
        pid = self.provider.worker_pid
        assert pid is not None, "no worker is running"
        return psutil.Process(pid)


async def failure_of(job: Coroutine[Any, Any, object]) -> ProviderFailure:
    try:
        done = await job
    except ProviderFailure as failure:
        return failure
    raise AssertionError(f"the call succeeded: {done}")


def wait_end(process: psutil.Process, seconds: float = PATIENCE_SECONDS) -> None:
    """Return once the process is gone; one that is gone already is fine."""
    _, left = psutil.wait_procs([process], timeout=seconds)
    assert not left, f"{process} is still there"


def python_with(folder: Path, paths: list[Path], before: str = "") -> str:
    """A python that has `paths` in front of its own, and runs `before` first: for other versions of litellm."""
    start = folder / "start.py"
    start.write_text(
        "import runpy, sys\n"
        f"sys.path[:0] = {[str(each) for each in paths]!r}\n"
        f"{before}\n"
        "at = sys.argv.index('-m')\n"
        "sys.argv = sys.argv[at + 1 :]\n"
        "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)\n"
    )
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{start}" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return str(python)
