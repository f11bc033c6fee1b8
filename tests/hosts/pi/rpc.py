"""pi in RPC mode, driven over its pipes. Every wait has a bound."""

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import psutil

from tests.hosts.pi.host import Home

PATIENCE_SECONDS = 60.0

Event = dict[str, Any]
Found = TypeVar("Found")


class Rpc:
    """`with Rpc(home, *args) as pi:`; leaving it ends the input, as a front end does, and checks that pi ended well."""

    def __init__(self, home: Home, *args: str, extension: bool = True) -> None:
        self.home = home
        self.process = subprocess.Popen(
            home.command("--mode", "rpc", *args, extension=extension),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=home.environment,
            cwd=home.project,
        )
        self.events: list[Event] = []
        self._stderr: list[bytes] = []
        self._arrivals: queue.Queue[Event | None] = queue.Queue()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "Rpc":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.end_input()
            if kind is None:
                assert self.wait_exit() == 0
                assert self.stderr == ""
        finally:
            self.process.kill()
            self.process.wait()
            for thread in self._threads:
                thread.join(PATIENCE_SECONDS)
            for pipe in (self.process.stdout, self.process.stderr):
                assert pipe
                pipe.close()

    def send(self, **command: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()

    def command(self, text: str) -> None:
        """A slash command; it starts no work of the agent."""
        self.send(type="prompt", message=text)

    def prompt(self, text: str) -> None:
        """Ask the agent, and wait until it has settled."""
        self.send(type="prompt", message=text)
        self.settled()

    def settled(self) -> None:
        last = "agent_settled" if self.home.line == "new" else "agent_end"
        self.take(lambda event: event["type"] == last)

    def take(self, wanted: Callable[[Event], bool], seconds: float = PATIENCE_SECONDS) -> Event:
        """The first event that fits and was not taken yet, whenever it came."""
        deadline = time.monotonic() + seconds
        while True:
            for event in self.events:
                if wanted(event):
                    self.events.remove(event)
                    return event
            try:
                arrived = self._arrivals.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                kinds = [event.get("method", event["type"]) for event in self.events]
                raise AssertionError(f"nothing fitting in {seconds} s; got {kinds}, stderr {self.stderr}") from None
            if arrived is None:
                raise AssertionError(f"pi ended; stderr {self.stderr}")
            self.events.append(arrived)

    def ui(self, method: str, wanted: Callable[[Event], bool] = lambda _: True) -> Event:
        """What an extension shows: "notify", "setStatus" or "setWidget"."""
        return self.take(
            lambda event: event["type"] == "extension_ui_request" and event["method"] == method and wanted(event)
        )

    def status(self, part: str) -> str:
        """The status line of the extension, once `part` stands in it."""
        return self.ui("setStatus", lambda event: part in (event.get("statusText") or ""))["statusText"]

    def widget(self) -> str:
        """The text of the next widget that is shown."""
        shown = self.ui("setWidget", lambda event: event["widgetKey"] == "afterturn-recap" and event.get("widgetLines"))
        return " ".join(shown["widgetLines"])

    def widget_cleared(self) -> None:
        self.ui("setWidget", lambda event: event["widgetKey"] == "afterturn-recap" and not event.get("widgetLines"))

    def sidecar(self) -> psutil.Process:
        return sidecar_of(self.process.pid)

    def end_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def end_input_for_good(self, seconds: float) -> None:
        """End it, and see pi end within that time."""
        self.end_input()
        assert self.wait_exit(seconds) == 0

    def wait_exit(self, seconds: float = PATIENCE_SECONDS) -> int:
        return self.process.wait(seconds)

    @property
    def stderr(self) -> str:
        return b"".join(self._stderr).decode("utf-8", "replace")

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._arrivals.put(json.loads(line))
        self._arrivals.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._stderr.append(line)


def sidecar_of(pid: int) -> psutil.Process:
    """The sidecar that the process `pid` has started, once it is there."""
    return until(lambda: next(iter(sidecars(pid)), None), "a sidecar")


def sidecars(pid: int) -> list[psutil.Process]:
    try:
        children = psutil.Process(pid).children(recursive=True)
        return [child for child in children if "--stdio" in child.cmdline()]
    except psutil.NoSuchProcess:
        return []


def gone(process: psutil.Process) -> bool:
    """Whether it has ended; one that nobody has reaped yet has."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def until(probe: Callable[[], Found | None], what: str, seconds: float = PATIENCE_SECONDS) -> Found:
    """What `probe` gives once that is something; asked again and again, for at most `seconds`."""
    deadline = time.monotonic() + seconds
    while not (found := probe()):
        assert time.monotonic() < deadline, f"no {what} in {seconds} s"
        time.sleep(0.02)
    return found
