"""litellm without us: imported here, called with the arguments that the worker uses, and nothing watched."""

import asyncio
import os
import sys
import time

from afterturn.models.worker_environment import QUIET
from bench.models.talk import MAX_TOKENS, MESSAGES, asked, base_of, say

os.environ.update(QUIET)

import litellm

from afterturn.models.worker.completing import arguments
from afterturn.models.worker.messages import Call

litellm.suppress_debug_info = True
litellm.disable_token_counter = True


async def timed(call: Call) -> float:
    """One call, in ms."""
    started = time.perf_counter()
    stream = await litellm.acompletion(**arguments(litellm, call))
    texts = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
    assert len("".join(texts)) > 100
    return (time.perf_counter() - started) * 1000


def main() -> None:
    with asyncio.Runner() as runner:
        say(ready=True)
        for each in asked():
            call = Call(
                id=1,
                model=each["model"],
                messages=MESSAGES,
                max_tokens=MAX_TOKENS,
                reasoning_off=True,
                api_key="k",
                api_base=base_of(sys.argv[1], each["model"]),
                headers={},
                credentials={},
                limit_seconds=60,
            )
            say(ms=runner.run(timed(call)))


if __name__ == "__main__":
    main()
