"""Every scripted conversation of the spec, through the client's own connection."""

import os
from pathlib import Path
from typing import Any

import pytest

from afterturn_client.child import Child
from afterturn_client.finding import find_server
from afterturn_client.in_process import InProcess
from afterturn_client.link import Link
from tests.clients.python.scripted import ScriptedClient
from tests.e2e.conversation import run_conversation

SCRIPTS = sorted((Path(__file__).parents[3] / "spec" / "conversations").glob("*.jsonl"))
OF_A_PROCESS = frozenset({"capture-restart", "exit-by-signal", "status"})
"""What only a process of the server's own can play: it is killed or signalled, or tells what it has loaded."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_with_a_child(script: Path) -> None:
    def start(args: list[str]) -> Any:
        async def open_link() -> Link:
            return await Child.spawn([*find_server(None, {}), "--stdio", *args], os.environ, None)

        return ScriptedClient(open_link, lines="--framing=ndjson" in args)

    run_conversation(script.read_text("utf-8").splitlines(), start)


@pytest.mark.parametrize("script", [path for path in SCRIPTS if path.stem not in OF_A_PROCESS], ids=lambda p: p.stem)
def test_in_this_process(script: Path) -> None:
    """A kill is an orderly end here; what a script says of the store afterwards holds all the same."""

    def start(args: list[str]) -> Any:
        async def open_link() -> Link:
            return InProcess(args)

        return ScriptedClient(open_link, lines="--framing=ndjson" in args)

    run_conversation(script.read_text("utf-8").splitlines(), start)


def test_what_only_a_process_can_play_is_about_one() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in SCRIPTS}
    about = ('"signal"', '"kill"', '"loadedModules"')
    assert all(any(word in texts[name] for word in about) for name in OF_A_PROCESS)
    assert len(SCRIPTS) - len(OF_A_PROCESS) >= 30
