"""A sidecar that is missing, dies or hangs costs pi nothing; and pi, however it ends, leaves none behind."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.hosts.pi.host import SIDECAR, Home
from tests.hosts.pi.rpc import Rpc, gone, sidecar_of, sidecars, until
from tests.hosts.pi.script import RECOVERY_TOOL, act, is_of_agent
from tests.hosts.pi.store import traces
from tests.provider.answers import Answer, stalls
from tests.provider.server import ProviderRequest, ScriptedProvider

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
AT_ONCE_SECONDS = 10.0
"""Far more than pi needs to end, far less than what it would take if it waited for a sidecar."""


def stub(folder: Path, *lines: str) -> Path:
    """An executable that stands where the sidecar should."""
    path = folder / "afterturn-stub"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


BROKEN: dict[str, Callable[[Path], Path]] = {
    "missing": lambda folder: folder / "nowhere",
    "ends at once": lambda folder: stub(folder, "exit 3"),
    "says nothing": lambda folder: stub(folder, "exec cat >/dev/null"),
    "is deaf to all": lambda folder: stub(folder, "trap '' TERM INT HUP", "while :; do sleep 1; done"),
    "floods stderr": lambda folder: stub(folder, "exec yes 'nothing good' >&2"),
    "talks nonsense": lambda folder: stub(folder, "exec yes 'nothing good'"),
}


@pytest.mark.parametrize("trouble", BROKEN)
def test_print_mode_is_as_without(home: Home, tmp_path: Path, trouble: str) -> None:
    home.sidecar = BROKEN[trouble](tmp_path)
    home.notes(1)
    process = subprocess.Popen(
        home.command("-p", "read 1"),
        env=home.environment,
        cwd=home.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    seen: set[psutil.Process] = set()
    until(lambda: seen.update(children(process.pid)) or process.poll() is not None, "end of pi")
    out, errors = process.communicate(timeout=AT_ONCE_SECONDS)
    assert (process.returncode, out, errors) == (0, "Did all of: read 1\n", "")
    for child in seen:
        until(lambda child=child: gone(child), f"end of {child}", AT_ONCE_SECONDS)


def children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@pytest.mark.parametrize("trouble", BROKEN)
def test_a_front_end_is_told_once_at_most(home: Home, tmp_path: Path, trouble: str) -> None:
    home.sidecar = BROKEN[trouble](tmp_path)
    with Rpc(home) as pi:
        pi.prompt("one")
        pi.prompt("two")
        pi.command("/afterturn off")
        pi.ui("notify", lambda event: event["message"].startswith("afterturn is off"))
        notices = [event for event in pi.events if event.get("method") == "notify"]
    assert len(notices) <= 1


def test_a_session_file_with_nonsense_in_it_ends_nobody(home: Home) -> None:
    with Rpc(home) as pi:
        pi.prompt("one")
        pi.status("captured")
    image = {"type": "image", "data": 5, "mimeType": None}
    message = {"role": "user", "content": [image, None, 7, {"type": "toolCall"}], "timestamp": "never"}
    last = home.entries()[-1]
    entry = {**last, "type": "message", "id": "feedbeef", "parentId": last["id"], "message": message}
    with home.session_file.open("a") as file:
        file.write(json.dumps(entry) + "\n")
    with Rpc(home, "-c") as pi:
        pi.command("/afterturn status")
        pi.ui("notify", lambda event: ", process " in event["message"])


def test_a_store_that_cannot_be_opened_is_told_of_once(home: Home) -> None:
    home.store.write_text("no folder")
    with Rpc(home) as pi:
        pi.ui("notify", lambda event: "cannot be opened" in event["message"])
        pi.prompt("one")
        pi.command("/afterturn status")
        pi.ui("notify", lambda event: ", process " in event["message"])
        assert not any("cannot be opened" in event.get("message", "") for event in pi.events)


def test_killed_in_the_middle_it_comes_back_and_nothing_is_lost(home: Home) -> None:
    home.notes(1)
    home.notes(2)
    with Rpc(home) as pi:
        pi.prompt("read 1")
        until(lambda: home.kept("afterturn-condensed"), "a condensed result")
        first = pi.sidecar()
        first.kill()
        pi.prompt("read 2")
        until(lambda: len(home.kept("afterturn-condensed")) == 2, "the second condensed result")
        assert pi.sidecar().pid != first.pid
        pi.prompt("recover t1")
        answer = pi.take(lambda event: event["type"] == "tool_execution_end" and event["toolName"] == RECOVERY_TOOL)
        assert "note 1-30 is" in str(answer)
    assert [trace["userText"] for trace in traces(home)] == ["read 1", "read 2", "recover t1"]


def test_one_that_hangs_is_not_waited_for(home: Home) -> None:
    home.notes(1)
    with Rpc(home) as pi:
        pi.prompt("read 1")
        until(lambda: home.kept("afterturn-captured"), "a captured episode")
        hanging = pi.sidecar()
        hanging.suspend()
        pi.prompt("go on")
        pi.end_input_for_good(AT_ONCE_SECONDS)
        until(lambda: gone(hanging), "end of the hanging sidecar", AT_ONCE_SECONDS)


def unheard(home: Home, *args: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """pi in a process group of its own, whose output nobody reads."""
    return subprocess.Popen(
        home.command(*args),
        env=home.environment,
        cwd=home.project,
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.mark.parametrize("how", SIGNALS, ids=lambda how: how.name)
@pytest.mark.parametrize("when", ["idle", "working"])
def test_a_signal_ends_both(home: Home, provider: ScriptedProvider, how: signal.Signals, when: str) -> None:
    if when == "working":
        provider.otherwise = lambda request: stalls()
    process = unheard(home, "--mode", "rpc", stdin=subprocess.PIPE)
    sidecar = sidecar_of(process.pid)
    assert process.stdin
    if when == "working":
        process.stdin.write(b'{"type": "prompt", "message": "go"}\n')
        process.stdin.flush()
        until(lambda: provider.requests, "a request")
    process.send_signal(how)
    process.wait(AT_ONCE_SECONDS)
    until(lambda: gone(sidecar), "end of the sidecar", AT_ONCE_SECONDS)
    process.stdin.close()


def test_an_interrupt_of_print_mode_from_the_terminal_ends_both(home: Home, provider: ScriptedProvider) -> None:
    provider.otherwise = lambda request: stalls()
    process = unheard(home, "-p", "go")
    sidecar = sidecar_of(process.pid)
    until(lambda: provider.requests, "a request")
    # A terminal interrupts the whole group.
    os.killpg(process.pid, signal.SIGINT)
    process.wait(AT_ONCE_SECONDS)
    until(lambda: gone(sidecar), "end of the sidecar", AT_ONCE_SECONDS)


def test_a_new_session_gets_a_sidecar_of_its_own(home: Home) -> None:
    with Rpc(home) as pi:
        pi.prompt("one")
        first = pi.sidecar()
        pi.send(type="new_session")
        pi.take(lambda event: event["type"] == "response" and event["command"] == "new_session")
        until(lambda: gone(first), "end of the first sidecar", AT_ONCE_SECONDS)
        second = until(lambda: [each for each in sidecars(pi.process.pid) if each != first], "a second sidecar")
        assert len(second) == 1
        pi.prompt("two")
        until(lambda: home.kept("afterturn-captured"), "the second episode")
    until(lambda: gone(second[0]), "end of the second sidecar", AT_ONCE_SECONDS)
    assert [trace["userText"] for trace in traces(home)] == ["one", "two"]


def test_work_of_a_session_that_is_left_before_the_sidecar_is_there_is_captured(home: Home, tmp_path: Path) -> None:
    go = tmp_path / "go"
    home.sidecar = stub(tmp_path, f"until test -e {go}; do sleep 0.1; done", f'exec {SIDECAR} "$@"')
    with Rpc(home) as pi:
        pi.prompt("one")
        first = pi.sidecar()
        pi.send(type="new_session")
        pi.take(lambda event: event["type"] == "response" and event["command"] == "new_session")
        go.touch()
        until(lambda: gone(first), "end of the first sidecar")
    assert [trace["userText"] for trace in traces(home)] == ["one"]


def test_a_model_that_never_answers_the_sidecar_keeps_nobody(home: Home, provider: ScriptedProvider) -> None:
    home.settings = {}
    home.notes(1)

    def silent(request: ProviderRequest) -> Answer:
        return act(request) if is_of_agent(request) else stalls()

    provider.otherwise = silent
    with Rpc(home) as pi:
        pi.prompt("read 1")
        until(lambda: [each for each in provider.requests if not is_of_agent(each)], "a request of the sidecar")
        pi.prompt("go on")
        pi.end_input_for_good(AT_ONCE_SECONDS)
