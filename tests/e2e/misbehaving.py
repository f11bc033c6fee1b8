"""A server with handlers that do what no handler should, for `test_misbehaviour`. Run with `python misbehaving.py`."""

import asyncio
import os
import subprocess
import sys
import threading
from typing import Any

from afterturn.wire.descriptors import claim_stdio


def handlers(release: threading.Event) -> dict[str, Any]:
    def print_everywhere(params: Any, call: Any) -> str:
        print("x-from-print")
        sys.stdout.write("x-from-stdout\n")
        sys.__stdout__.write("x-from-dunder-stdout\n")
        sys.__stdout__.flush()
        os.write(1, b"y-from-fd-1\n")
        subprocess.run(["echo", "z-from-child"], check=True)
        subprocess.run(["sh", "-c", "cat; echo z-read-stdin"], check=True)
        return "printed"

    async def block_thread(params: Any, call: Any) -> None:
        from anyio import to_thread

        await to_thread.run_sync(release.wait, abandon_on_cancel=True)

    async def stubborn(params: Any, call: Any) -> None:
        import anyio

        with anyio.CancelScope(shield=True):
            await anyio.sleep_forever()

    def leave(params: Any, call: Any) -> None:
        sys.exit(5)

    def big(params: Any, call: Any) -> str:
        return "b" * 1_000_000

    return {
        "test/print": print_everywhere,
        "test/blockThread": block_thread,
        "test/stubborn": stubborn,
        "test/exit": leave,
        "test/big": big,
    }


def main() -> None:
    stdin_fd, stdout_fd = claim_stdio()
    from afterturn.app import App
    from afterturn.logs import set_up_logs
    from afterturn.options import parse_options
    from afterturn.rpc.routes import Route
    from afterturn_protocol.shape import Empty

    options = parse_options(sys.argv[1:])
    set_up_logs(options.log_level)
    loop = asyncio.new_event_loop()
    app = App(options, loop, stdin_fd, stdout_fd)
    for name, handler in handlers(threading.Event()).items():
        app.connection.routes[name] = Route(name, lambda handler=handler: (Empty, handler), deadline_seconds=3.0)
    code = loop.run_until_complete(app.run())
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
