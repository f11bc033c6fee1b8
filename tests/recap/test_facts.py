"""The recap without a model (recap.md, 'Output': facts). The expected texts are written by hand, from the page."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn.recap.headline import _image, headline, is_telling
from afterturn.recap.requests import own_words
from afterturn.recap.runs import error_line, kinds_of, only_looks, run_failed, shows_pass, summary_line
from afterturn.recap.steps import command_of
from afterturn.recap.writes import written_paths
from afterturn_protocol.base import Message, ToolUse
from tests.recap.talk import built, call, ran, result, said, user, wrote

ASK = user("Make the colors of the history page green and yellow", timestamp=1000)
TASK = "Task: Make the colors of the history page green and yellow."

FACTS: dict[str, tuple[list[Message], str]] = {
    "unanswered": ([ASK], f"{TASK} Your last message has no answer yet."),
    "work, then a question": (
        [ASK, *wrote("src/a.css"), *wrote("src/b.css", 2), said("I changed both files. Shall I run the tests?")],
        f"{TASK} Since then: 2 steps, wrote b.css, a.css. It asks: Shall I run the tests?",
    ),
    "one reply": ([ASK, said("Fine.")], f"{TASK} Since then: 1 reply. It is your turn."),
    "what it found": (
        [ASK, said("The colors come from a theme file in the build folder.")],
        f"{TASK} Since then: 1 reply. It said: The colors come from a theme file in the build folder. It is your turn.",
    ),
    "its word that all is well is not repeated": (
        [ASK, *wrote("a.css"), said("All tests pass and everything is working now. The fix is complete and verified.")],
        f"{TASK} Since then: 1 step, wrote a.css. It is your turn.",
    ),
    "a passing run": (
        [ASK, *wrote("a.css"), *ran("npm test", "Tests: 3 passed, 3 total\nTime: 1s", 2), said("Look.")],
        f"{TASK} Since then: 2 steps, wrote a.css. Last test run: Tests: 3 passed, 3 total. It is your turn.",
    ),
    "a failing build": (
        [
            ASK,
            *ran("cd web && npm run build", "src/a.ts(3,1): error TS2304: Cannot find name 'x'.", 1, is_error=True),
            said("Hm."),
        ],
        f"{TASK} Since then: 1 step. `npm run build` failed: src/a.ts(3,1): error TS2304: Cannot find name 'x'."
        " It is your turn.",
    ),
    "a failure that was mended": (
        [ASK, *ran("pytest", "1 failed", 1, is_error=True), *ran("pytest", "4 passed in 1s", 2), said("Look.")],
        f"{TASK} Since then: 2 steps. Last test run: 4 passed in 1s. It is your turn.",
    ),
    "a build that failed before the tests passed": (
        [ASK, *ran("make", "a.c:1: error: x", 1, is_error=True), *ran("make test", "4 passed", 2), said("Look.")],
        f"{TASK} Since then: 2 steps. Last test run: 4 passed. It is your turn.",
    ),
    "a check that still fails though the tests pass": (
        [ASK, *ran("ruff check", "Found 3 errors.", 1, is_error=True), *ran("pytest", "4 passed", 2), said("Look.")],
        f"{TASK} Since then: 2 steps. `ruff check` failed: Found 3 errors. It is your turn.",
    ),
    "a look that found nothing is no failure": (
        [ASK, *ran("grep x", "exit code: 1", 1, is_error=True), *ran("ls", "a", 2), said("Look.")],
        f"{TASK} Since then: 2 steps. It is your turn.",
    ),
    "denied": (
        [ASK, said("", call("bash", command="rm -rf build")), result("The user rejected this tool use", is_error=True)],
        f"{TASK} Since then: 1 step. `rm -rf build` was denied or stopped; it waits for you.",
    ),
    "not run": (
        [ASK, said("I push it.", call("bash", command="git push"))],
        f"{TASK} Since then: 1 step. `git push` has no result yet; it may wait for your approval.",
    ),
    "a question by tool": (
        [ASK, said("", call("AskUserQuestion", questions=[{"question": "Which green do you want?"}]))],
        f"{TASK} Since then: 1 step. It asks: Which green do you want?",
    ),
    "aborted": (
        [ASK, said("I be", stop_reason="aborted")],
        f"{TASK} Since then: 1 reply. The last turn was broken off.",
    ),
    "failed": ([ASK, said("", stop_reason="error")], f"{TASK} Since then: 1 reply. The last turn ended in an error."),
    "interrupted": (
        [ASK, said("ok"), user("[Request interrupted by user]")],
        f"{TASK} Since then: 1 reply. The last turn was broken off.",
    ),
    "the check that failed, of several commands": (
        [ASK, *ran("git stash && npm run build; ls", "error: no", 1, is_error=True), said("Hm.")],
        f"{TASK} Since then: 1 step. `npm run build` failed: error: no. It is your turn.",
    ),
    "what a command is fed is left out": (
        [ASK, said("", call("bash", command='git commit -m "$(cat <<E\nx\nE\n)"'))],
        f"{TASK} Since then: 1 step. `git commit` has no result yet; it may wait for your approval.",
    ),
    "the file that is read": (
        [ASK, said("", call("Read", file_path="/src/a.css")), result("x")],
        f"{TASK} Since then: 1 step. Last step: `Read a.css`; no answer yet.",
    ),
    "still at work": ([ASK, *ran("ls", "a")], f"{TASK} Since then: 1 step. Last step: `ls`; no answer yet."),
    "a later request": (
        [ASK, said("done"), user("Now also add a dark mode switch"), said("", call("edit", path="x/app.tsx"))],
        f"{TASK} Latest request: Now also add a dark mode switch. Since then: 1 step."
        " `edit app.tsx` has no result yet; it may wait for your approval.",
    ),
    "'ok' is no request of its own": (
        [ASK, said("Shall I?"), user("ok"), said("Fine.")],
        f"{TASK} Since then: 1 reply. It is your turn.",
    ),
    "the first that says something": (
        [user("/mode"), said("set"), ASK, said("Fine.")],
        f"{TASK} Since then: 1 reply. It is your turn.",
    ),
    "Chinese": (
        [
            user("把历史页面的颜色改成绿色和黄色"),
            *wrote("src/a.css"),
            *ran("npm test", "2 failed, 1 passed", 2, is_error=True),
        ],
        "任务：把历史页面的颜色改成绿色和黄色。此后：2 步操作，写入 a.css。`npm test` 失败：2 failed, 1 passed。",
    ),
    "Chinese question": (
        [user("把历史页面的颜色改成绿色和黄色"), said("已经找到文件。要我现在修改吗？")],
        "任务：把历史页面的颜色改成绿色和黄色。此后：1 条回复。它问：要我现在修改吗？",
    ),
}


@pytest.mark.parametrize("name", FACTS)
def test_facts(name: str) -> None:
    messages, expected = FACTS[name]
    assert built(*messages).facts == expected


def test_what_changed_since_the_person_left() -> None:
    early = [said("", call("write", 1, path="a.css"), timestamp=2000), result("ok", 1, timestamp=2100)]
    late = [
        said("", call("write", 2, path="b.css"), timestamp=9000),
        result("ok", 2, timestamp=9100),
        said("Hm.", timestamp=9200),
    ]
    assert built(ASK, *early, *late, away=5000).facts == f"{TASK} Since you left: 1 step, wrote b.css. It is your turn."
    assert (
        built(ASK, *early, *late, away=99_999).facts
        == f"{TASK} Since then: 2 steps, wrote b.css, a.css. It is your turn."
    )


def test_only_steps_that_ended_well_wrote_a_file() -> None:
    failed = [said("", call("write", 1, path="a.css")), result("no such folder", 1, is_error=True), said("Hm.")]
    assert "wrote" not in str(built(ASK, *failed).facts)


def test_secrets_do_not_reach_the_facts() -> None:
    made = built(
        user("use the key SECRET to fetch the list of users"),
        said("ok"),
        redact=lambda text: text.replace("SECRET", "[gone]"),
    )
    assert made.facts is not None
    assert "SECRET" not in made.facts
    assert "[gone]" in made.facts


def test_a_small_limit_keeps_what_counts() -> None:
    made = built(ASK, *wrote("a.css"), said("Shall I run the tests?"), max_chars=120)
    assert made.facts == f"{TASK} It asks: Shall I run the tests?"


REQUESTS: list[tuple[str, str]] = [
    ("fix the login", "fix the login"),
    ("Hi!\n\nPlease fix the login page, it crashes", "Please fix the login page, it crashes"),
    ("# Title of it\n\nThe page crashes when I log in.", "Title of it. The page crashes when I log in."),
    ("Fix this:\n```\ncode here\n```\nthanks a lot", "Fix this: thanks a lot"),
    ("<system-reminder>be nice</system-reminder>fix the login", "fix the login"),
    ("<command-name>init</command-name><command-args>fast please</command-args>", "/init fast please"),
    (
        "We're currently solving the following issue. Here's the text:\nISSUE:\nDates are wrong\nThey are off by one.",
        "Dates are wrong. They are off by one.",
    ),
    (
        "I've uploaded a repository.\n<issue_description>\nDates are wrong\n</issue_description>\nCan you help?",
        "Dates are wrong",
    ),
    ("look at '/Users/me/pics/shots/a 1.png' please, the header is cut", "look at [image] please, the header is cut"),
    ("the header is cut:/tmp/shots/a.png and (/tmp/b.JPG) too", "the header is cut:[image] and ([image]) too"),
    ("the header of 'shots/old/a.png' is cut", "the header of 'shots[image] is cut"),
    ("look at /a.png and /tmp/a.txt, the header is cut", "look at /a.png and /tmp/a.txt, the header is cut"),
    ("see /home/me/work/project/src/a.py for the loop", "see …/a.py for the loop"),
    ("use bd dep add <issue> to link", "use bd dep add <issue> to link"),
    ('{"a": 1,\n"b": 2}\nwhy does this JSON not parse', "why does this JSON not parse"),
    (
        "Project: quickjs\nEngine: libFuzzer\nFuzz Target: fuzz_eval\nCrash Type: Heap-use-after-free\nPlease fix it",
        "Project: quickjs. Engine: libFuzzer. Fuzz Target: fuzz_eval. Crash Type: Heap-use-after-free. Please fix it",
    ),
    ("", ""),
    ("   \n ", ""),
    ("```\nonly code\n```", "``` only code ```"),
]


@pytest.mark.parametrize(("text", "expected"), REQUESTS)
def test_headline(text: str, expected: str) -> None:
    assert headline(text, 130) == expected


def test_a_word_with_many_slashes_is_tried_once() -> None:
    """Tried at each of them, this would take hours."""
    assert _image().search("/a" * 500_000) is None


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("ok", False),
        ("yes please do it", False),
        ("/mode", False),
        ("continue", False),
        ("fix the login page", True),
        ("see main.ts", True),
        ("修复登录页面", True),
        ("好的", False),
        ("'/tmp/x/y/z/shot.png'", False),
    ],
)
def test_telling(text: str, telling: bool) -> None:
    assert is_telling(text) is telling


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain", "plain"),
        ("a<system-reminder>x</system-reminder>" + "b" * 100_000, "a" + "b" * 100_000),
        ("[Request interrupted by user for tool use]", ""),
        ("<task-notification>x</task-notification>\nRead the output file", ""),
        (
            "# AGENTS.md instructions for /x\n<INSTRUCTIONS>a</INSTRUCTIONS>",
            "",
        ),
        ("a <system-reminder>x</system-reminder> b <system-reminder>y</system-reminder>c", "a  b c"),
        ("an unclosed <system-reminder> stays", "an unclosed <system-reminder> stays"),
        ("<skills-list>stays</skills-list>", "<skills-list>stays</skills-list>"),
    ],
)
def test_own_words(text: str, words: str) -> None:
    assert own_words(text) == words


KINDS: list[tuple[str, set[str]]] = [
    ("pytest -q", {"test"}),
    ("cd a && uv run pytest", {"test"}),
    ("python -m pytest tests", {"test"}),
    ("npm run test:unit", {"test"}),
    ("cargo test --all", {"test"}),
    ("go test ./...", {"test"}),
    ("mix test", {"test"}),
    ("./node_modules/.bin/vitest run", {"test"}),
    ("cat tests/test_a.py", set()),
    ("grep -r pytest .", set()),
    ("npm run build", {"build"}),
    ("tsc --noEmit", {"build"}),
    ("npm run typecheck", {"lint"}),
    ("ruff check .", {"lint"}),
    ("git commit -m x && git push", {"commit", "push"}),
    ("git -C a commit -m x", {"commit"}),
    ("gh pr merge 3", {"merge"}),
    ("npm install", {"install"}),
    ("ls", set()),
]


@pytest.mark.parametrize(("command", "kinds"), KINDS)
def test_kinds(command: str, kinds: set[str]) -> None:
    assert set(kinds_of(command)) == kinds


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("ls -la", True),
        ("git status && cat a", True),
        ("git diff | head", True),
        ("python a.py", False),
        ("ls && make", False),
        ("sed -n 1,5p a", True),
        ("sed -i s/a/b/ a", False),
    ],
)
def test_looks(command: str, looks: bool) -> None:
    assert only_looks(command) is looks


RUNS: list[tuple[str, bool, bool, str | None]] = [
    ("===== 12 passed in 0.3s =====", False, True, "12 passed in 0.3s"),
    ("1 failed, 11 passed", True, False, "1 failed, 11 passed"),
    ("49 tests, 0 failures", False, True, "49 tests, 0 failures"),
    ("Tests  3 passed (3)", False, True, "Tests 3 passed (3)"),
    ("test result: ok. 5 passed; 0 failed;", False, True, "test result: ok. 5 passed; 0 failed;"),
    ("test result: FAILED. 1 passed; 2 failed", True, False, "test result: FAILED. 1 passed; 2 failed"),
    ("Ran 6 tests in 0.03s\n\nFAILED (failures=3)", True, False, "FAILED (failures=3)"),
    ("Ran 6 tests in 0.03s\n\nOK", False, True, "OK"),
    ("ok  \tpkg/a\t0.2s", False, True, None),
    ("--- FAIL: TestA\nFAIL\tpkg/a\t0.2s", True, False, None),
    ("All checks passed!", False, True, "All checks passed!"),
    ("Found 0 errors", False, False, "Found 0 errors"),
    ("Found 3 errors in 2 files", True, False, "Found 3 errors in 2 files"),
    ("0 failed, 0 errors", False, True, "0 failed, 0 errors"),
    ("", False, False, None),
]


@pytest.mark.parametrize(("output", "failed", "passed", "total"), RUNS, ids=[each[0][:30] for each in RUNS])
def test_what_a_run_says(output: str, failed: bool, passed: bool, total: str | None) -> None:
    assert run_failed(output) is failed
    assert shows_pass(output) is passed
    assert summary_line(output) == total


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ('Traceback (most recent call last):\n  File "a"\nValueError: bad', "ValueError: bad"),
        (
            "src/a.ts(3,1): error TS2304: Cannot find name 'x'.\nmore",
            "src/a.ts(3,1): error TS2304: Cannot find name 'x'.",
        ),
        ("error[E0308]: mismatched types\n --> a.rs", "error[E0308]: mismatched types"),
        ("bash: foo: command not found", "bash: foo: command not found"),
        ("x\n" * 1995 + "a.c:1: error: half a line is none" + "\ny" * 4000, None),
        ("all fine", None),
    ],
)
def test_the_line_with_the_error(output: str, error: str | None) -> None:
    assert error_line(output) == error


WRITES: list[tuple[ToolUse, list[str]]] = [
    (call("Write", file_path="/a/b.py", content="x"), ["/a/b.py"]),
    (call("str_replace_editor", command="view", path="a.py"), []),
    (call("str_replace_editor", command="create", path="a.py"), ["a.py"]),
    (call("TodoWrite", todos=[]), []),
    (call("Read", file_path="a.py"), []),
    (
        ToolUse(id="1", name="apply_patch", input="*** Begin Patch\n*** Update File: a.py\n*** Add File: b.py\n"),
        ["a.py", "b.py"],
    ),
    (call("bash", command="cat > a.py <<'EOF'\nx\nEOF"), ["a.py"]),
    (call("bash", command="cat <<'EOF' > b.py\nx\nEOF"), ["b.py"]),
    (call("bash", command="sed -i 's/a/b/' src/c.py"), ["src/c.py"]),
    (call("bash", command="ls > /dev/null"), []),
    (ToolUse(id="1", name="write", input=None), []),
    (ToolUse(id="1", name="write", input=["odd"]), []),
    (ToolUse(id="1", name="write", input={"path": 5}), []),
]


@pytest.mark.parametrize(("each", "paths"), WRITES)
def test_written_paths(each: ToolUse, paths: list[str]) -> None:
    assert written_paths(each) == paths


@pytest.mark.parametrize(
    ("each", "command"),
    [
        (call("bash", command="ls"), "ls"),
        (call("exec_command", cmd="ls"), "ls"),
        (call("shell", command=["bash", "-lc", "ls -a"]), "ls -a"),
        (call("shell", command=["ls", "-a"]), "ls -a"),
        (call("read", command="x"), None),
        (ToolUse(id="1", name="bash", input="ls"), "ls"),
        (ToolUse(id="1", name="bash", input={"command": None}), None),
    ],
)
def test_commands(each: ToolUse, command: str | None) -> None:
    assert command_of(each) == command


TEXT = st.text(st.characters(codec=None, categories=None), max_size=150) | st.sampled_from(
    ["fix it", "Shall I?", "1 failed", "\u202e\x1b[1m", "修复登录"]
)
TALK = st.lists(
    st.one_of(
        TEXT.map(user),
        TEXT.map(said),
        st.builds(lambda text, number: said(text, call("bash", number, command=text)), TEXT, st.integers(0, 2)),
        st.builds(result, TEXT, st.integers(0, 2), is_error=st.sampled_from([None, True])),
    ),
    max_size=20,
)


@settings(deadline=None)
@given(TALK, st.integers(1, 500), st.integers(0, 100) | st.none())
def test_facts_always_fit(talk: list[Message], limit: int, away: int | None) -> None:
    facts = built(*talk, max_chars=limit, away=away).facts
    assert facts is None or 0 < len(facts) <= min(limit, 400)
