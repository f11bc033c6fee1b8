"""A sidecar that is alive and says what it should not."""

import sys
from pathlib import Path

import pytest

from tests.hosts.pi.host import Home
from tests.hosts.pi.rpc import Rpc, gone, until
from tests.hosts.pi.test_trouble import stub

STUB = Path(__file__).parent / "stub.py"


class Liar:
    """The stub in place of the sidecar, and the names of the messages that it has heard."""

    def __init__(self, home: Home, folder: Path, behaviour: str) -> None:
        self._heard = folder / "heard"
        home.sidecar = stub(folder, f'exec {sys.executable} -I {STUB} {behaviour} {self._heard} "$@"')

    @property
    def heard(self) -> list[str]:
        return self._heard.read_text().split() if self._heard.exists() else []


@pytest.mark.parametrize("behaviour", ["rubbish", "stranger", "mortal"])
def test_work_goes_on_and_a_person_is_told_once(home: Home, tmp_path: Path, behaviour: str) -> None:
    liar = Liar(home, tmp_path, behaviour)
    home.notes(1)
    with Rpc(home) as pi:
        until(lambda: liar.heard, "a start")
        for wish in ("read 1", "recover t1", "tell me"):
            pi.prompt(wish)
        for command in ("/recap", "/traces anything"):
            pi.command(command)
            pi.ui("notify", lambda event: not event["message"].startswith("afterturn: "))
        assert "extension_error" not in [event["type"] for event in pi.events]
        assert len([event for event in pi.events if event.get("method") == "notify"]) <= 1
    assert home.kept("afterturn-condensed") == []


def test_one_that_dies_again_and_again_is_given_up(home: Home, tmp_path: Path) -> None:
    liar = Liar(home, tmp_path, "mortal")
    with Rpc(home) as pi:
        notice = pi.ui("notify")["message"]
        assert "cannot go on" in notice
        assert "\n" not in notice
        starts = liar.heard.count("initialize")
        pi.prompt("one")
        assert liar.heard.count("initialize") == starts <= 5


def test_what_other_sessions_do_is_not_shown_and_nothing_counted_twice(home: Home, tmp_path: Path) -> None:
    liar = Liar(home, tmp_path, "others")
    with Rpc(home) as pi:
        pi.prompt("one")
        until(lambda: "capture/episodeFinalized" in liar.heard, "an episode")
        assert pi.status("captured") == "afterturn captured"
        pi.prompt("two")
        pi.command("/afterturn off")
        off = pi.status("off")
        shown = [event for event in pi.events if event.get("method") == "setWidget"]
    assert off == "afterturn captured · off"
    assert not any(event.get("widgetLines") for event in shown)
    assert home.kept("session-recap") == []


def test_off_means_off_to_the_next_process_too(home: Home, tmp_path: Path) -> None:
    liar = Liar(home, tmp_path, "patient")
    with Rpc(home) as pi:
        until(lambda: "capture/drain" in liar.heard, "a session that is open")
        pi.command("/afterturn off")
        until(lambda: "session/close" in liar.heard, "a session that is closed")
        first = pi.sidecar()
        first.kill()
        until(lambda: gone(first), "its end")
        until(lambda: liar.heard.count("initialized") == 2, "the next one")
        pi.prompt("one")
        pi.command("/afterturn stats")
        until(lambda: "afterturn/usage" in liar.heard, "a question")
    heard = liar.heard
    between = heard[len(heard) - heard[::-1].index("initialized") : heard.index("afterturn/usage")]
    assert between == []
