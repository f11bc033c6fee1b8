"""A server whose time moves only when the client says so, with `test/wait {seconds}`. Run with `python timed.py`."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from afterturn.wire.descriptors import claim_stdio

PATIENCE_SECONDS = 10.0


def main() -> None:
    stdin_fd, stdout_fd = claim_stdio()
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from msgspec import Struct

    from afterturn.app import App
    from afterturn.logs import set_up_logs
    from afterturn.options import parse_options
    from afterturn.rpc.routes import Route
    from afterturn_protocol.shape import Empty
    from tests.clocks import ManualClock, settle

    class Wait(Struct):
        seconds: float

    options = parse_options(sys.argv[1:])
    set_up_logs(options.log_level)
    loop = asyncio.new_event_loop()
    clock = ManualClock()
    app = App(options, loop, stdin_fd, stdout_fd, clock=clock)

    def drafting() -> bool:
        recap = app.parts.recap if "afterturn.recap.service" in sys.modules else None
        return recap is not None and any(each.state.draft is not None for each in recap._sessions.values())

    async def wait(params: Wait, call: Any) -> None:
        """Let time pass, and what it started go on as far as it can without the client."""
        await clock.wait(params.seconds)
        deadline = loop.time() + PATIENCE_SECONDS
        while drafting() and not app.connection._questions._open:
            assert loop.time() < deadline, "a draft neither ends nor asks"
            await asyncio.sleep(0.001)
        await settle()

    def loaded(params: Empty, call: Any) -> list[str]:
        return sorted(name for name in sys.modules if name.startswith("afterturn."))

    app.connection.routes["test/wait"] = Route("test/wait", lambda: (Wait, wait))
    app.connection.routes["test/loaded"] = Route("test/loaded", lambda: (Empty, loaded))
    code = loop.run_until_complete(app.run())
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
