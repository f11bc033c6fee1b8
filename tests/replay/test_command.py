"""`afterturn replay`, as people run it, over the real process: its figures."""

import json
from pathlib import Path
from typing import Any

from tests.replay.sessions import START_MS, PiSession, found, log, replay, two_requests


def test_for_programs(tmp_path: Path) -> None:
    file = two_requests().write(tmp_path / "s.jsonl")
    (report,) = found(tmp_path, file)
    raw = sum(map(len, (log("parser"), "Error: no rule", log("lexer"), log("again"))))
    counted = {
        "harness": "pi",
        "file": str(file),
        "sessions": 1,
        "turns": 6,
        "requests": 2,
        "toolCalls": 5,
        "results": 4,
        "errors": 1,
        "refs": 4,
        "rawChars": raw,
        "compactions": 0,
        "failedTurns": 0,
        "warnings": [],
        "usage": None,
        "newTraces": None,
    }
    assert {name: report[name] for name in counted} == counted
    assert 0 < report["keptChars"] < raw / 4
    assert report["tools"]["read"]["calls"] == 3
    assert report["tools"]["bash"]["errors"] == 1
    away, end = report["recaps"]
    assert (away["awayMs"], away["turn"], end["awayMs"], end["turn"]) == (3_601_000, 3, None, 6)
    assert "parser" in away["text"]
    assert len(report["traces"]) == 2
    assert report["traces"][0]["asked"] == "Please make the parser faster"
    (session,) = report["perSession"]
    assert (session["cwd"], session["started"]) == ("/home/someone/project", START_MS)


def test_the_context_turn_by_turn(tmp_path: Path) -> None:
    """As long as a request goes on its results stay; with its end they are replaced."""
    file = two_requests().compaction().user("Thanks").says("Bye").write(tmp_path / "s.jsonl")
    (report,) = found(tmp_path, file)
    context = report["perSession"][0]["context"]
    turns, _, before, after = zip(*context, strict=True)
    assert turns == (0, 1, 2, 3, 4, 5, 6)
    assert before[1] == after[1]
    assert after[2] < before[2] / 4
    assert after[5] < before[5] / 4
    assert before[6] == after[6] == len("Thanks") + len("Bye")
    assert report["compactions"] == 1
    assert report["perSession"][0]["compactedAt"] == [6]


def test_a_long_request_is_condensed_on_the_way(tmp_path: Path) -> None:
    """Else a session of one request would have nothing of it until its end."""
    session = PiSession().user("Read everything")
    for number in range(30):
        session.calls(("read", {"path": f"{number}.py"}, log(f"part-{number}")))
    context = found(tmp_path, session.write(tmp_path / "s.jsonl"))[0]["perSession"][0]["context"]
    assert context[15][3] < context[15][2] / 2
    assert max(after for _, _, _, after in context) < 130_000


def test_the_times_of_a_session_that_keeps_none(tmp_path: Path) -> None:
    """What is not known is null, never 0."""
    session = two_requests()
    for line in session.lines:
        line.pop("timestamp")
        line.get("message", {}).pop("timestamp", None)
    (report,) = found(tmp_path, session.write(tmp_path / "s.jsonl"))
    (told,) = report["perSession"]
    assert (told["started"], told["ended"]) == (None, None)
    assert {at for _, at, _, _ in told["context"]} == {None}
    assert [(recap["at"], recap["awayMs"]) for recap in report["recaps"]] == [(None, None)]


def test_a_session_that_says_it_began_after_its_first_words(tmp_path: Path) -> None:
    """One that was branched off has older words than itself."""
    session = two_requests()
    session.lines[0]["timestamp"] = "2026-01-02T00:00:00Z"
    (told,) = found(tmp_path, session.write(tmp_path / "s.jsonl"))[0]["perSession"]
    assert told["started"] == START_MS + 1_000
    assert told["ended"] - told["started"] == 3_611_000


def test_every_list_names_its_session_alike(tmp_path: Path) -> None:
    (report,) = found(tmp_path, two_requests().write(tmp_path / "s.jsonl"))
    named = [*report["perSession"], *report["recaps"], *report["traces"]]
    assert {each["sessionId"] for each in named} == {"hand-made"}


def test_failed_turns_are_left_out(tmp_path: Path) -> None:
    session = PiSession().user("Do it").says("", stop_reason="error").says("Done")
    (report,) = found(tmp_path, session.write(tmp_path / "s.jsonl"))
    assert (report["turns"], report["failedTurns"], len(report["perSession"][0]["context"])) == (2, 1, 1)
    assert [trace["asked"] for trace in report["traces"]] == ["Do it"]


def test_a_recap_knows_of_turns_that_failed(tmp_path: Path) -> None:
    """The person came back once, to a request whose attempts all failed; the second one is no new absence."""
    session = PiSession().user("Make the page green").says("It is green.").later(600).user("Now the footer")
    file = session.says("I wi", stop_reason="error").says("", stop_reason="aborted").write(tmp_path / "s.jsonl")
    back, end = found(tmp_path, file)[0]["recaps"]
    assert (back["awayMs"], back["turn"], "green" in back["text"]) == (601_000, 1, True)
    assert (end["awayMs"], "The last turn was broken off." in end["text"]) == (None, True)
    assert end["at"] == back["at"] + 2_000


def test_a_sub_agent_has_no_recap(tmp_path: Path) -> None:
    """Whoever comes back comes back to the session that called it."""
    lines = [claude_code("user", "Count the colors", 1), claude_code("assistant", "I ask an agent", 2)]
    lines += [claude_code("user", "Count", 3, agentId="a1"), claude_code("assistant", "Three", 4, agentId="a1")]
    lines += [claude_code("user", "And once more", 900, agentId="a1"), claude_code("assistant", "3", 901, agentId="a1")]
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(map(json.dumps, [*lines, claude_code("assistant", "It is three.", 902)])), "utf-8")
    (report,) = found(tmp_path, file)
    assert report["sessions"] == 2
    assert [(recap["sessionId"], recap["awayMs"]) for recap in report["recaps"]] == [("s", None)]


def claude_code(role: str, text: str, seconds: int, **more: Any) -> dict[str, Any]:
    message = {"role": role, "id": f"m{seconds}", "content": [{"type": "text", "text": text}]}
    stamp = f"2026-01-01T00:{seconds // 60:02}:{seconds % 60:02}Z"
    return {"type": role, "sessionId": "s", "timestamp": stamp, "isSidechain": bool(more), "message": message, **more}


def test_a_branch_is_no_sub_agent(tmp_path: Path) -> None:
    def entry(id_: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        return {"type": "message", "id": id_, "parentId": parent, "message": message}

    lines = [{"type": "session", "version": 3, "id": "s", "cwd": "/w"}, entry("1", None, "user", "Do it")]
    lines += [
        entry("2", "1", "assistant", "One way"),
        entry("3", "2", "user", "No"),
        entry("4", "1", "assistant", "So?"),
    ]
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (report,) = found(tmp_path, file)
    named = {each["sessionId"]: (each["parentId"], each["branched"]) for each in report["perSession"]}
    assert named == {"s": (None, False), "s/2": ("s", True)}
    assert {recap["sessionId"] for recap in report["recaps"]} == {"s", "s/2"}
    said = replay(tmp_path, file).stdout
    assert "1 branch" in said
    assert "sub-agent" not in said


def test_a_retry_is_no_coming_back(tmp_path: Path) -> None:
    session = PiSession().user("Make it green").says("Done").later(600).user("Now the footer")
    session.says("", stop_reason="error").later(60).user("Again").says("Done, too")
    recaps = found(tmp_path, session.write(tmp_path / "s.jsonl"))[0]["recaps"]
    assert [recap["awayMs"] for recap in recaps] == [601_000, None]
