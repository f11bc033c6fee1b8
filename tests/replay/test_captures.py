"""Episodes that a server takes, refuses, or cannot keep."""

from typing import Any

import pytest

from afterturn.replay.captures import Captures
from afterturn.replay.figures import FileFigures
from afterturn.replay.server import RequestRefused, ServerFailed
from afterturn_protocol.capture import Episode

EPISODE = Episode(id="e", session_id="s", started_at=1, turns=[])


class Refusing:
    """A server that refuses every episode with one kind of error."""

    def __init__(self, kind: str | None) -> None:
        self._kind = kind

    def ask(self, method: str, params: Any) -> Any:
        raise RequestRefused(f"{method}: no", self._kind)

    def notify(self, method: str, params: Any) -> None: ...

    def event(self, seconds: float) -> None: ...


class Taking(Refusing):
    """A server that takes every episode."""

    def ask(self, method: str, params: Any) -> Any:
        return {"jobId": "j"}


def captures(server: Refusing) -> tuple[Captures, FileFigures]:
    found = FileFigures(file="f")
    return Captures(server, lambda done: done(), found, str, kept=False), found


@pytest.mark.parametrize("kind", ["busy", "internal", None])
def test_one_that_is_refused_is_counted(kind: str | None) -> None:
    memory, found = captures(Refusing(kind))
    memory.send(EPISODE)
    assert found.warnings == {"capture/episodeFinalized: no": 1}


def test_one_that_fails_is_counted() -> None:
    memory, found = captures(Taking(None))
    memory.send(EPISODE)
    for job in ("another's", "j", "j"):
        memory.failed({"jobId": job, "error": {"code": "internal", "message": "no"}})
    assert found.warnings == {"capture failed: no": 1}


def test_a_store_that_takes_nothing_ends_the_replay() -> None:
    """A full disk: every other episode would fail as well, and with --import this is what was asked for."""
    with pytest.raises(ServerFailed, match="no"):
        captures(Refusing("store_unavailable"))[0].send(EPISODE)
    memory, _ = captures(Taking(None))
    memory.send(EPISODE)
    with pytest.raises(ServerFailed, match="no"):
        memory.failed({"jobId": "j", "error": {"code": "store_unavailable", "message": "no"}})
