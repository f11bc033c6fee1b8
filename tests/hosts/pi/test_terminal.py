"""In a terminal: focus as the terminal reports it, the recap on the screen, and every way a person leaves."""

import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.hosts.pi.host import Home
from tests.hosts.pi.rpc import gone, sidecar_of, sidecars, until
from tests.hosts.pi.script import is_of_agent
from tests.hosts.pi.terminal import FOCUS_IN, FOCUS_OUT, Terminal
from tests.hosts.pi.test_recap import RECAP, recap_requests, with_model
from tests.provider.server import ScriptedProvider

AT_ONCE_SECONDS = 10.0


@pytest.fixture(params=["regular", "fullscreen"])
def drawn(request: pytest.FixtureRequest, home: Home) -> Home:
    """A home whose pi draws that way; the older line knows one way only."""
    if home.line == "new":
        home.write_pi_settings(tuiMode=request.param)
    return home


def test_focus_bytes_bring_a_recap_and_the_next_input_takes_it_away(drawn: Home, provider: ScriptedProvider) -> None:
    with_model(drawn, provider)
    drawn.notes(1)
    with Terminal(drawn) as terminal:
        terminal.type("read 1")
        terminal.shows("Did all of: read 1")
        terminal.bytes(FOCUS_IN)
        terminal.bytes(FOCUS_OUT)
        terminal.type("read 1")
        screen = terminal.shows(RECAP)
        assert "[I" not in screen
        assert "[O" not in screen
        assert not any("[O" in request.content.decode() for request in provider.requests)
        terminal.bytes(FOCUS_IN)
        terminal.type("go on")
        terminal.shows("Did all of: go on")
        terminal.hides(RECAP)
    assert len(recap_requests(provider)) == 1


def test_a_saved_recap_is_there_when_the_session_is_opened_again(drawn: Home, provider: ScriptedProvider) -> None:
    with_model(drawn, provider)
    drawn.notes(1)
    with Terminal(drawn) as terminal:
        # The session has begun: what the terminal reports before that nobody reads.
        sidecar_of(terminal.pid)
        terminal.bytes(FOCUS_OUT)
        terminal.type("read 1")
        terminal.shows(RECAP)
        terminal.key("C-d")
        until(lambda: not psutil.pid_exists(terminal.pid), "end of pi")
    asked = len(provider.requests)
    with Terminal(drawn, "-c") as terminal:
        terminal.shows(RECAP)
        assert len(provider.requests) == asked


def test_no_recap_where_the_session_is_opened_with_a_prompt(home: Home, provider: ScriptedProvider) -> None:
    with_model(home, provider)
    home.notes(1)
    home.notes(2)
    with Terminal(home) as terminal:
        terminal.type("read 1")
        terminal.shows("captured")
        terminal.key("C-d")
        until(lambda: not psutil.pid_exists(terminal.pid), "end of pi")
    with Terminal(home, "-c", "read 2") as terminal:
        terminal.shows("Did all of: read 2")
        until(lambda: len(home.kept("afterturn-captured")) == 2, "the second episode")
    assert recap_requests(provider) == []


def test_a_terminal_that_pi_lends_out_is_not_asked_for_focus(home: Home, tmp_path: Path) -> None:
    home.write_pi_settings(tuiMode="regular")
    record = tmp_path / "record"
    with Terminal(home) as terminal:
        record.touch()
        terminal.record(record)
        terminal.key("C-z")
        until(lambda: b"\x1b[?1004l" in record.read_bytes(), "an end of the reports")
        psutil.Process(terminal.pid).send_signal(signal.SIGCONT)
        until(lambda: b"\x1b[?1004h" in record.read_bytes(), "reports again")


LEAVING: dict[str, Callable[[Terminal], None]] = {
    "Ctrl+D": lambda terminal: terminal.key("C-d"),
    "/quit": lambda terminal: terminal.type("/quit"),
    "SIGTERM": lambda terminal: psutil.Process(terminal.pid).terminate(),
    "SIGKILL": lambda terminal: psutil.Process(terminal.pid).kill(),
    "closing the window": lambda terminal: terminal.close(),
}


@pytest.mark.parametrize("way", LEAVING)
def test_leaving_ends_the_sidecar(home: Home, way: str) -> None:
    with Terminal(home) as terminal:
        terminal.type("one")
        terminal.shows("Did all of: one")
        sidecar = sidecar_of(terminal.pid)
        pi = psutil.Process(terminal.pid)
        LEAVING[way](terminal)
        until(lambda: gone(pi), "end of pi", AT_ONCE_SECONDS)
        until(lambda: gone(sidecar), "end of the sidecar", AT_ONCE_SECONDS)


@pytest.mark.parametrize("command", ["/reload", "/new"])
def test_the_next_instance_has_a_sidecar_of_its_own(home: Home, command: str) -> None:
    with Terminal(home) as terminal:
        terminal.type("one")
        terminal.shows("Did all of: one")
        first = sidecar_of(terminal.pid)
        terminal.type(command)
        until(lambda: gone(first), "end of the first sidecar")
        second = until(lambda: [each for each in sidecars(terminal.pid) if each != first], "a second sidecar")
        assert len(second) == 1
        terminal.type("two")
        terminal.shows("Did all of: two")


def test_the_status_line_says_what_condensing_saved(home: Home, provider: ScriptedProvider) -> None:
    for number in (1, 2, 3):
        home.notes(number)
    with Terminal(home) as terminal:
        terminal.type("read 1 2 3")
        terminal.shows("Did all of: read 1 2 3")
        terminal.shows("afterturn 2.2k →")
        terminal.shows("captured")
        terminal.type("/traces notes")
        terminal.shows("read 1 2 3 Did all of: read 1 2 3")
    assert all(is_of_agent(request) for request in provider.requests)
