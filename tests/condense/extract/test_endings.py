"""How a call ended, in the wrapping of every harness."""

import pytest

from tests.condense.extract.saying import check, say

_CODES = {
    "codex": (
        "Chunk ID: 97409b\nWall time: 0.05 seconds\nProcess exited with code 127\nOutput:\nrg: not here\n",
        "127",
    ),
    "codex, older": ("Exit code: 3\nWall time: 0.1 seconds\nOutput:\nsome words of output\n", "3"),
    "claude code": ("Exit code 2\nsome words of output", "2"),
    "pi": ("some words of output\n\n\nCommand exited with code 137", "137"),
    "gemini": (
        "Command: make\nDirectory: (root)\nOutput: some words\nError: (none)\nExit Code: 1\nSignal: 0\n"
        "Background PIDs: (none)\nProcess Group PGID: 3695",
        "1",
    ),
    "mini-swe": ("<returncode>4</returncode>\n<output>\nsome words of output\n</output>", "4"),
    "openhands": ("some words\n[The command completed with exit code 100.]", "100"),
    "a task": (
        "<retrieval_status>success</retrieval_status>\n\n<task_id>b1</task_id>\n\n<exit_code>0</exit_code>\n\n"
        "<output>\nsome words of output\n</output>",
        "0",
    ),
    "aider": ("some words of output\n[env] [job] Return Code: 1", "1"),
}


@pytest.mark.parametrize("name", _CODES)
def test_exit_codes(name: str) -> None:
    text, code = _CODES[name]
    check(say("bash", {"command": "make all"}, text), f"exit code {code}", "some words" if "rg:" not in text else "rg:")


@pytest.mark.parametrize(
    "text",
    [
        "return code: see below\nfinished",
        "def exit(code):\n    return 1\n",
        "exits 3 of the motorway are closed today",
    ],
)
def test_what_is_no_exit_code(text: str) -> None:
    check(say("bash", {"command": "cat x"}, text), lacks=["exit code"])


@pytest.mark.parametrize("text", ["", "\n\n", "  \n"])
def test_nothing_at_all(text: str) -> None:
    check(say("bash", {"command": "true"}, text), "bash true", "no output")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("The user doesn't want to proceed with this tool use. The tool use was rejected.", None),
        ("[Request interrupted by user for tool use]", None),
        ("whatever the host says", "denied"),
    ],
)
def test_refusals(text: str, status: str | None) -> None:
    check(say("Bash", {"command": "git push"}, text, is_error=True, status=status), "denied by the user")


def test_a_call_that_was_not_run() -> None:
    check(say("bash", {"command": "make"}, "", status="notRun"), "not run")


def test_a_file_about_refusals_is_no_refusal() -> None:
    text = "The request was denied by the user.\n" + "It goes on about something else here.\n" * 60
    check(say("read", {"path": "notes.md"}, text), lacks=["denied by the user;", "-> denied"])


def test_time_out() -> None:
    check(
        say("bash", {"command": "sleep 900"}, "Command timed out after 120 seconds", is_error=True),
        "timed out after 120",
    )


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            "import os\n" * 60 + "\n[Showing lines 1-1603 of 2377 (50.0KB limit). Use offset=1604 to continue]",
            "1-1603 of 2377",
        ),
        ("import os\n" * 60 + "\n[1549 more lines in file. Use offset=121 to continue]", "1549 more lines"),
        ("<file>\n00001| import os\n00002| x = 1\n\n(End of file - total 128 lines)\n</file>", "total 128 lines"),
        ("[File: /repo/a.py (1997 lines total)]\n(1373 more lines above)\n1374:x = 1\n1375:y = 2", "1997 lines total"),
    ],
)
def test_extents(text: str, note: str) -> None:
    check(say("read", {"path": "a.py"}, text), note)


def test_messages_of_the_harness_are_no_part_of_the_result() -> None:
    source = "     1→import os\n     2→def run_all(): pass\n"
    text = source + "\n<system-reminder>\nYou MUST refuse to improve it.\n</system-reminder>\n"
    check(say("Read", {"file_path": "/a/b.py"}, text), "run_all 2", lacks=["refuse", "reminder"])


def test_a_screen_dump_is_read_as_lines() -> None:
    long = "src/engine/frame.c:12:7: error: implicit declaration of function load_frame_head"
    rows = [long[:80], long[80:], "make: *** [Makefile:4: all] Error 1", *["cc -c x.c"] * 6]
    text = "Command: make\nDirectory: (root)\nOutput: " + "\n".join(row.ljust(80) for row in rows) + "\nExit Code: 2\n"
    check(say("run_shell_command", {"command": "make"}, text), "src/engine/frame.c:12:7", "exit code 2", "Error 1")
