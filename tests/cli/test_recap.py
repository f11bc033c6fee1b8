"""`afterturn recap FILE`, as people run it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MESSAGES = [
    {"role": "user", "content": "Make the colors of the page green"},
    {"role": "assistant", "content": "", "toolCalls": [{"id": "c1", "name": "write", "input": {"path": "src/a.css"}}]},
    {"role": "tool", "content": "ok", "toolCallId": "c1"},
    {"role": "assistant", "content": "Shall I run the tests?"},
]
FACTS = "Task: Make the colors of the page green. Since then: 1 step, wrote a.css. It asks: Shall I run the tests?\n"
CLAUDE_CODE = [
    {"type": "user", "sessionId": "s", "message": {"content": MESSAGES[0]["content"]}},
    {
        "type": "assistant",
        "sessionId": "s",
        "message": {
            "id": "m1",
            "content": [{"type": "tool_use", "id": "c1", "name": "Write", "input": {"file_path": "src/a.css"}}],
        },
    },
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]}},
    {"type": "assistant", "message": {"id": "m2", "content": [{"type": "text", "text": "Shall I run the tests?"}]}},
]

PI = [
    {"type": "session", "id": "s", "cwd": "/w"},
    {"type": "message", "message": {"role": "user", "content": MESSAGES[0]["content"]}},
    {
        "type": "message",
        "message": {
            "role": "assistant",
            "content": [{"type": "toolCall", "id": "c1", "name": "write", "arguments": {"path": "src/a.css"}}],
        },
    },
    {"type": "message", "message": {"role": "toolResult", "toolCallId": "c1", "content": "ok"}},
    {
        "type": "message",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Shall I run the tests?"}]},
    },
]


def recap(home: Path, text: str, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    file = home / "session.json"
    file.write_text(text, "utf-8")
    return subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", "recap", str(file), *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "AFTERTURN_HOME": str(home), **env},
    )


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(MESSAGES),
        json.dumps({"messages": MESSAGES}),
        "\n".join(map(json.dumps, CLAUDE_CODE)),
        "\n".join(map(json.dumps, CLAUDE_CODE)) + '\n{"type": "assist',
        "\n".join(map(json.dumps, PI)),
        "\ufeff" + json.dumps(MESSAGES),
    ],
    ids=["messages", "context", "claude code", "claude code, torn", "pi", "byte order mark"],
)
def test_facts(tmp_path: Path, text: str) -> None:
    done = recap(tmp_path, text, "--facts")
    assert (done.returncode, done.stdout, done.stderr) == (0, FACTS, "")


def test_a_last_turn_that_failed_is_said(tmp_path: Path) -> None:
    failed = {"role": "assistant", "content": [{"type": "text", "text": "I wi"}], "stopReason": "error"}
    text = "\n".join(map(json.dumps, [*PI, {"type": "message", "message": failed}]))
    assert "The last turn ended in an error." in recap(tmp_path, text, "--facts").stdout


def test_a_file_is_about_its_session_not_about_a_sub_agent(tmp_path: Path) -> None:
    """However much more than the session the sub-agent did."""
    agent = {"isSidechain": True, "agentId": "a1"}
    asked = {"type": "user", "sessionId": "s", "message": {"content": "Count all the colors"}, **agent}
    counted = [
        {
            "type": "assistant",
            "sessionId": "s",
            "message": {"id": f"a{number}", "content": [{"type": "text", "text": f"{number} colors"}]},
            **agent,
        }
        for number in range(9)
    ]
    text = "\n".join(map(json.dumps, [*CLAUDE_CODE[:2], asked, *counted, *CLAUDE_CODE[2:]]))
    assert recap(tmp_path, text, "--facts").stdout == FACTS


@pytest.mark.parametrize("args", [["--facts"], ["--prompt"], ["--facts", "--json"]], ids=" ".join)
def test_the_user_s_own_secrets_stay_out(args: list[str], tmp_path: Path) -> None:
    text = json.dumps([{**MESSAGES[0], "content": "Make project Bluebird42 green"}, *MESSAGES[1:]])
    assert "Bluebird42" in recap(tmp_path, text, *args).stdout
    rules = json.dumps({"redaction": {"extraPatterns": ["Bluebird\\d+"]}})
    assert "Bluebird42" not in recap(tmp_path, text, *args, AFTERTURN_SETTINGS=rules).stdout


def test_no_control_character_reaches_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e"
    use = {"id": "c1", "name": f"write{evil}", "input": {"path": f"src/{evil}a.css"}}
    asked, _, done, last = MESSAGES
    messages = [{**asked, "content": f"Make{evil} it green"}, {"role": "assistant", "content": "", "toolCalls": [use]}]
    text = json.dumps([*messages, {**done, "content": f"Error: {evil}"}, last])
    for said in (recap(tmp_path, text, "--facts").stdout, recap(tmp_path, text, "--prompt").stdout):
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said)


def test_without_a_model_it_is_the_facts(tmp_path: Path) -> None:
    done = recap(tmp_path, json.dumps(MESSAGES))
    assert (done.returncode, done.stdout) == (0, FACTS)


def test_a_file_larger_than_a_message(tmp_path: Path) -> None:
    output = {"role": "tool", "toolCallId": "c1", "content": "x" * 40_000}
    many = [MESSAGES[0]] + [each for _ in range(1_700) for each in (MESSAGES[1], output)] + [MESSAGES[3]]
    text = json.dumps(many)
    assert len(text) > 64 * 1024 * 1024
    done = recap(tmp_path, text)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Task: Make the colors of the page green. Since then: ")


def test_for_programs(tmp_path: Path) -> None:
    found = json.loads(recap(tmp_path, json.dumps(MESSAGES), "--facts", "--json").stdout)
    assert found["recap"] == FACTS.rstrip("\n")
    assert (found["origin"], found["model"], found["usage"]) == ("facts", None, None)
    assert (found["gate"], found["messages"], len(found["contextHash"])) == (True, 4, 64)


def test_the_prompt_that_a_model_would_get(tmp_path: Path) -> None:
    shown = recap(tmp_path, json.dumps(MESSAGES), "--prompt").stdout
    assert "Make the colors of the page green" in shown
    assert " step ok\nwrite " in shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "no session found"),
        ("", "no session found"),
        ("[" * 100_000, "no session found"),
        ("\x00\x7f\ufffd" * 1000, "no session found"),
        ('[{"role": "user", "content": "torn', "no session found"),
        ('{"some": "other file"}', "no session found"),
        ('[{"role": 5, "content": ""}]', "$[0].role"),
        ('{"messages": [{"role": "user"}]}', "content"),
        ('[{"role": "user", "content": [{"type": "text", "text": 7}]}]', "$[0].content[0].text"),
        ('{"messages": [{"role": "user", "content": [{"x": 1}]}]}', "$.messages[0].content[0]"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str, said: str) -> None:
    done = recap(tmp_path, text, "--facts")
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_nothing_to_recap(tmp_path: Path) -> None:
    assert recap(tmp_path, "[]", "--facts").stdout == "There is nothing to recap.\n"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("{home}/none", "No such file"),
        ("{home}", "Is a directory"),
        ("", "FILE is empty"),
        ("/dev/zero", "is not a regular file"),
    ],
    ids=["missing", "a folder", "no name", "a device without an end"],
)
def test_a_file_that_cannot_be_one(tmp_path: Path, file: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", "recap", file.format(home=tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert said in done.stderr
