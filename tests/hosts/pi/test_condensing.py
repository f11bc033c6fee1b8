"""Condensing reaches the model: what the provider was sent is what is looked at."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.pi.host import COMPANY, Home, needle
from tests.hosts.pi.rpc import Rpc, until
from tests.hosts.pi.script import RECOVERY_TOOL, is_of_agent, text_of
from tests.provider.server import ScriptedProvider

Message = dict[str, Any]


def requests_of(provider: ScriptedProvider) -> list[list[Message]]:
    """The messages of every request of the agent, in order."""
    return [request.body["messages"] for request in provider.requests if is_of_agent(request)]


def replacements(home: Home) -> dict[str, str]:
    """What stands in place of each call's result, by the id of the call."""
    kept = [each for data in home.kept("afterturn-condensed") for each in data["replacements"]]
    return {each["toolCallId"]: each["text"] for each in kept}


def results_in(messages: list[Message]) -> dict[str, str]:
    return {message["tool_call_id"]: text_of(message) for message in messages if message["role"] == "tool"}


def continues(before: list[Message], after: list[Message]) -> bool:
    """Whether `after` is `before` and more, byte for byte."""
    return [json.dumps(each) for each in before] == [json.dumps(each) for each in after[: len(before)]]


def read_and_condense(pi: Rpc, *numbers: int) -> None:
    """Have the agent read those notes, and wait until they are condensed."""
    for number in numbers:
        pi.home.notes(number)
    before = len(replacements(pi.home)) if any(pi.home.sessions.glob("*.jsonl")) else 0
    pi.prompt(f"read {' '.join(map(str, numbers))}")
    until(lambda: len(replacements(pi.home)) == before + len(numbers), "condensed results")


def test_a_long_session_shrinks_and_its_prefix_stays(home: Home, provider: ScriptedProvider) -> None:
    with Rpc(home) as pi:
        read_and_condense(pi, 1, 2, 3)
        before = len(requests_of(provider))
        read_and_condense(pi, 4, 5)
        again = len(requests_of(provider))
        pi.prompt("tell me")
    requests = requests_of(provider)
    texts = replacements(home)
    assert len(texts) == 5

    largest, next_one = requests[before - 1], requests[before]
    assert len(json.dumps(next_one)) < 0.6 * len(json.dumps(largest))
    for number, call in ((1, 0), (2, 1), (3, 2)):
        assert needle(number, 30) in json.dumps(largest)
        assert needle(number, 30) not in json.dumps(next_one)
        assert results_in(next_one)[f"call_1_{call}"] == texts[f"call_1_{call}"]
    for at in range(1, len(requests)):
        if at not in (before, again):
            assert continues(requests[at - 1], requests[at]), at
    # What was condensed once is never touched again.
    assert continues(next_one[:-1], requests[-1])


def test_the_newer_pi_keeps_the_edits_in_the_session(home: Home, provider: ScriptedProvider) -> None:
    with Rpc(home) as pi:
        read_and_condense(pi, 1, 2)
        pi.prompt("tell me")
    edits = [entry for entry in home.entries() if entry["type"] == "context_edit"]
    assert len(edits) == (2 if home.line == "new" else 0)
    with Rpc(home, "-c", extension=False) as pi:
        pi.prompt("tell me more")
    *_, last, without = requests_of(provider)
    assert (results_in(without) == results_in(last)) == (home.line == "new")


def test_an_original_comes_back_and_is_left_alone(home: Home, provider: ScriptedProvider) -> None:
    with Rpc(home) as pi:
        read_and_condense(pi, 1, 2)
        pi.prompt("recover t1")
        read_and_condense(pi, 3)
        pi.prompt("tell me")
    original = home.project.joinpath("notes-1.txt").read_text()
    recovered = next(
        message["tool_call_id"]
        for message in requests_of(provider)[-1]
        if message["role"] == "tool" and original.rstrip() in text_of(message)
    )
    assert recovered not in replacements(home)
    call = next(
        call
        for message in requests_of(provider)[-1]
        for call in message.get("tool_calls", ())
        if call["id"] == recovered
    )
    assert call["function"]["name"] == RECOVERY_TOOL


@pytest.mark.parametrize("mode", [["-p"], ["--mode", "json", "-p"]], ids=["print", "json"])
def test_without_a_front_end_pi_waits_for_an_original(home: Home, provider: ScriptedProvider, mode: list[str]) -> None:
    with Rpc(home) as pi:
        read_and_condense(pi, 1)
    done = home.run(*home.command("-c", *mode, "recover t1"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "Did all of: recover t1" in done.stdout
    assert needle(1, 30) in json.dumps(requests_of(provider)[-1])


def test_digests_name_the_tool_that_there_is(home: Home, provider: ScriptedProvider) -> None:
    home.settings = {**home.settings, "condense": {"recoveryToolName": "another_tool"}}
    with Rpc(home) as pi:
        read_and_condense(pi, 1)
    (text,) = replacements(home).values()
    assert RECOVERY_TOOL in text
    assert "another_tool" not in text


def test_a_restart_keeps_refs_and_edits(home: Home, provider: ScriptedProvider) -> None:
    with Rpc(home) as pi:
        read_and_condense(pi, 1, 2)
        pi.prompt("tell me")
    last = requests_of(provider)[-1]
    with Rpc(home, "-c") as pi:
        pi.prompt("tell me more")
        first = requests_of(provider)[-1]
        pi.prompt("recover t2")
        recovered = requests_of(provider)[-1]
        read_and_condense(pi, 3)
    assert continues(last, first)
    assert needle(2, 30) in json.dumps(recovered)
    # Refs count on: t1 to t4 are the two reads, and what was recovered kept its own.
    assert "`t3`" in list(replacements(home).values())[-1]


def test_a_fork_has_the_digests_and_the_originals(home: Home, provider: ScriptedProvider) -> None:
    with Rpc(home) as pi:
        read_and_condense(pi, 1, 2)
        pi.prompt("tell me")
        before = results_in(requests_of(provider)[-1])
        pi.send(type="get_fork_messages")
        messages = pi.take(lambda event: event.get("command") == "get_fork_messages")["data"]["messages"]
        entry = next(each["entryId"] for each in messages if each["text"] == "tell me")
        pi.send(type="fork", entryId=entry)
        assert pi.take(lambda event: event.get("command") == "fork")["success"]
        pi.prompt("recover t1")
    first, second = requests_of(provider)[-2:]
    assert results_in(first) == before
    assert needle(1, 30) in json.dumps(second)


def test_results_of_calls_that_ran_at_once_keep_their_places(home: Home, provider: ScriptedProvider) -> None:
    for number in (1, 2, 3):
        home.notes(number)
    with Rpc(home) as pi:
        pi.prompt("race 1 2 3")
        until(lambda: len(replacements(home)) == 3, "condensed results")
        pi.prompt("tell me")
        pi.prompt("recover t2")
    texts = replacements(home)
    results = results_in(requests_of(provider)[-1])
    for number, call in ((1, "call_1_0"), (2, "call_1_0_1"), (3, "call_1_0_2")):
        assert f"notes-{number}.txt" in texts[call]
        assert results[call] == texts[call]
    assert needle(2, 30) in results[list(results)[-1]]
    by_id = {entry["id"]: entry.get("message", {}) for entry in home.entries()}
    for entry in home.entries():
        if entry["type"] == "context_edit":
            assert text_of(entry["replacement"]) == texts[by_id[entry["targetId"]]["toolCallId"]]


def test_an_image_comes_back_with_its_original(home: Home, provider: ScriptedProvider) -> None:
    with Rpc(home, "-e", str(COMPANY)) as pi:
        pi.prompt("call shoot")
        until(lambda: replacements(home), "a condensed result")
        pi.prompt("tell me")
        pi.prompt("recover t1")
    before, after = (json.dumps(messages) for messages in requests_of(provider)[-2:])
    assert "data:image/png" not in before
    assert "data:image/png" in after
    assert "beside it" in after


def test_nothing_is_condensed_where_the_agent_could_not_ask_for_it(home: Home, provider: ScriptedProvider) -> None:
    home.notes(1)
    with Rpc(home, "--tools", "read") as pi:
        pi.prompt("read 1")
        pi.status("captured")
        pi.command("/afterturn flush")
        assert pi.ui("notify")["message"] == "Nothing waits to be condensed."
        pi.command("/afterturn status")
        assert "nothing is condensed: the agent is not given the tool" in pi.ui("notify")["message"]
        pi.prompt("tell me")
    assert needle(1, 30) in json.dumps(requests_of(provider)[-1])


def test_the_older_line_keeps_what_the_newer_has_edited(provider: ScriptedProvider, tmp_path: Path) -> None:
    home = Home(tmp_path, "new", provider.openai_base)
    with Rpc(home) as pi:
        read_and_condense(pi, 1)
        pi.prompt("tell me")
    digests = results_in(requests_of(provider)[-1])
    home.line = "old"
    with Rpc(home, "-c") as pi:
        pi.prompt("tell me more")
    assert results_in(requests_of(provider)[-1]) == digests
