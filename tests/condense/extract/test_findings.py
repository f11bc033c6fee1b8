"""What went wrong, in the words of many tools: which lines are told, how, and in which order."""

from typing import Any

import pytest

from afterturn.condense.extract.call import read_call
from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.messages import error_lines
from afterturn.condense.extract.output import unwrap
from afterturn.condense.extract.places import places_in
from afterturn.condense.extract.problems import totals
from afterturn.condense.extract.shape import is_log
from afterturn.condense.extract.tail import says_something
from afterturn.condense.extract.view import ToolView
from afterturn.condense.extract.weights import error_weight, is_total, is_warning, says_again
from tests.condense.extract.saying import check, say

_AROUND = "".join(f"step {number} of the work went on here\n" for number in range(60))


@pytest.mark.parametrize(
    ("line", "weight"),
    [
        ("** (Mix) Project is at the wrong version", 4),
        ("DO *NOT* COMMIT!", 4),
        ("NOT READY FOR RELEASE!", 4),
        ("ALL GOOD!", 0),
        ("The LLM did not conform to the edit format.", 2),
        ("The SEARCH section must exactly match an existing block", 2),
        ("Types of parameters 'c' and 'value' are incompatible.", 2),
        ("Only 4 reflections allowed, stopping.", 2),
        ("zsh: unknown option --frob", 2),
        ("code: 'MODULE_NOT_FOUND',", 2),
        ("would reformat src/a.py", 2),
        ("left: 1", 2),
        ('code:  assert html =~ "badge"', 2),
        ("parse_test.go:23: got 3, want 4", 2),
        ("left: 0;", 0),
        ('src/a.py:12: SyntaxWarning: "is" with a literal.', 1),
        ("a.c:3:1: warning: implicit declaration of function 'f'", 1),
        ("[warn] src/a.ts", 1),
        ("\u26a0\ufe0f  Source maps are on in production", 1),
        ("warnings are off here", 0),
        ("const error = new Error('x')", 0),
    ],
)
def test_how_much_a_line_says(line: str, weight: int) -> None:
    assert error_weight(line) == weight


@pytest.mark.parametrize(
    ("line", "again"),
    [
        ("npm error Lifecycle script `check` failed with error:", True),
        ("\u00d7 Some errors were emitted while running checks.", True),
        ("-- Configuring incomplete, errors occurred!", True),
        ("error: could not compile `demo` due to 1 previous error", True),
        ("collect2: error: ld returned 1 exit status", True),
        ("error[E0425]: cannot find value `x`", False),
        ("error TS2304: Cannot find name 'x'.", False),
    ],
)
def test_what_says_no_more_than_that_something_failed(line: str, again: bool) -> None:
    assert says_again(line) is again


@pytest.mark.parametrize(
    ("line", "total"),
    [
        ("\u2713 built in 2.05s", True),
        ("\u2713 2613 modules transformed.", True),
        ("Compiled with 1 warning", True),
        ("Finished `dev` profile [unoptimized] target(s) in 0.21s", True),
        ("\u2705 Updated 7 dependency version(s)", True),
        ("1 file inspected, 2 offenses detected", True),
        ("1 file would be reformatted, 3 files left alone", True),
        ("it was built into the house", False),
    ],
)
def test_what_sums_up_a_build(line: str, total: bool) -> None:
    assert is_total(line) is total


def test_warnings_are_told_apart_from_other_lesser_lines() -> None:
    assert is_warning("WARN: no such language")
    assert not is_warning("npm error path /repo")


def test_the_cause_comes_before_what_ran_it() -> None:
    text = (
        "src/a.ts(1,2): error TS2304: Cannot find name 'join'.\nnpm error Lifecycle script `check` failed with error:\n"
    )
    assert [message.text for message in error_lines(Lines(text))] == [
        "error TS2304: Cannot find name 'join'.",
        "npm error Lifecycle script `check` failed with error:",
    ]


def _messages(text: str) -> list[str]:
    return [told for message in error_lines(Lines(text)) for told in message.written()]


_LONG = (
    "error TS2353: Object literal may only specify known properties of things like these, and '{}' is not one of them"
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("F821 undefined name 'i'\nF821 undefined name 'e'", ["F821 undefined name 'i'", "F821 undefined name 'e'"]),
        (
            "\n".join(_LONG.format(name) for name in "abc"),
            [_LONG.format("c"), _LONG.format("a") + " (also these, and 'b')"],
        ),
    ],
    ids=["few and short ones in full", "of long ones what is other"],
)
def test_near_repeats(text: str, told: list[str]) -> None:
    assert _messages(text) == told


@pytest.mark.parametrize(
    ("heading", "told"),
    [
        (
            "src/a.ts:26:10 lint/correctness/noUnusedImports  FIXABLE  \u2501\u2501\u2501\u2501",
            "(lint/correctness/noUnusedImports)",
        ),
        ("src/b.ts format \u2501\u2501\u2501\u2501\u2501\u2501", "(src/b.ts format)"),
    ],
)
def test_the_rule_of_a_message_stands_over_it(heading: str, told: str) -> None:
    assert _messages(f"{heading}\n\n  \u00d7 This import is unused.\n") == [f"\u00d7 This import is unused. {told}"]


def test_totals_that_differ_in_numbers_only_are_told_last() -> None:
    text = "Checked 238 files in 9ms.\nFound 1 warning.\nChecked 3 files in 1ms.\nChecked 9 files in 2ms.\n"
    assert totals(Lines(text)) == (
        ["Checked 9 files in 2ms.", "Found 1 warning."],
        ["Checked 238 files in 9ms.", "Checked 3 files in 1ms."],
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a.ts(3,4): x\na.ts(9,1): x\na.ts(9,7): x\na.ts(12,2): x\na.ts(40,1): x", "a.ts line 3, 9, 12, 40"),
        ("at /opt/venvs/of/the/testbed/lib/python3.9/collections/abc.py:62: x", "collections/abc.py:62"),
        (
            "at /repo/packages/with/a/long/name/node_modules/@sentry/cli/js/helper.js:343:18",
            "@sentry/cli/js/helper.js:343:18",
        ),
        ("at /usr/lib/python3.12/json/decoder.py:9: x", "/usr/lib/python3.12/json/decoder.py:9"),
    ],
)
def test_places_in_short(text: str, written: str) -> None:
    assert [place.written() for place in places_in(text).values()] == [written]


_UNITTEST = "".join(
    f"FAIL: {name} (pay.tests.{owner})\nAssertionError: 1 != 2\n"
    for name, owner in (("test_a", "One"), ("test_b", "One"), ("test_c", "Two"))
)
_EX_UNIT = """\
  1) test badge is shown (App.LiveTest)
     test/live_test.exs:146
     Assertion with =~ failed
     code:  assert html =~ "badge"
     left:  "<p>none</p>"
     right: "badge"

12 tests, 1 failure
"""
_RUST = "thread 'a' panicked at src/a.rs:3:5:\nassertion `left == right` failed\n  left: 17\n right: 23\n"


@pytest.mark.parametrize(
    ("text", "has"),
    [
        (_UNITTEST + "Ran 9 tests in 1s\n", ["FAIL: test_a (pay.tests.One), test_b, FAIL: test_c (pay.tests.Two)"]),
        (_EX_UNIT, ['code: assert html =~ "badge"', 'right: "badge"', "12 tests, 1 failure"]),
        (_RUST, ["left: 17", "right: 23", "src/a.rs:3:5"]),
        ("--- FAIL: TestA\n    a_test.go:23: got 3, want 4\nFAIL\n", ["got 3, want 4"]),
        (_AROUND + "DO *NOT* COMMIT!\n" + _AROUND, ['"DO *NOT* COMMIT!"']),
        (_AROUND + "** (Mix) Project needs a newer Elixir\n" + _AROUND, ["** (Mix) Project needs a newer Elixir"]),
        (
            _AROUND + 'a.py:9: SyntaxWarning: "is" with a literal. Did you mean "=="?\n' + _AROUND,
            ['"is" with a literal'],
        ),
        (_AROUND + "  code: 'MODULE_NOT_FOUND',\n" + _AROUND, ["MODULE_NOT_FOUND"]),
    ],
    ids=range(8),
)
def test_what_is_told_of_a_run(text: str, has: list[str]) -> None:
    check(say("bash", {"command": "run"}, text, is_error=True), *has)


def test_findings_of_linters_have_no_words_of_errors() -> None:
    text = "main.go:5:2: ineffectual assignment to x (ineffassign)\n" + _AROUND
    check(
        say("bash", {"command": "golangci-lint run"}, text, is_error=True), "ineffectual assignment to x (ineffassign)"
    )
    check(say("bash", {"command": "show"}, text), lacks=["told:"])


_LONG_PATH = "/Users/user/workspaces/some-mono/packages/coding-agent/src/core/index.ts"


@pytest.mark.parametrize(
    ("text", "has"),
    [
        (f"Could not find the exact text in {_LONG_PATH}.", [f"Could not find the exact text in {_LONG_PATH}."]),
        (
            "<tool_use_error>Found 2 matches of the string to replace, but replace_all is false.\nString: x = 1"
            "</tool_use_error>",
            ["Found 2 matches of the string to replace, but replace_all is false."],
        ),
        (
            "No replacement was performed, old_str `case A:\n  case B:\n  f();` did not appear verbatim in /r/a.c.",
            ["No replacement was performed", "did not appear verbatim in /r/a.c."],
        ),
    ],
    ids=["a long path", "several matches", "the reason at the end"],
)
def test_why_an_edit_failed(text: str, has: list[str]) -> None:
    check(say("edit", {"path": "a.c"}, text, is_error=True), *has)


def test_diagnostics_after_a_small_edit() -> None:
    text = "Edit applied.\nLSP errors detected in this file, please fix:\nERROR [33:10] 'magic.h' file not found\n"
    check(say("edit", {"filePath": "a.c"}, text), "ERROR [33:10] 'magic.h' file not found")


@pytest.mark.parametrize(
    ("line", "says"),
    [(_LONG_PATH, True), ("QUJDREVG" * 9, False), ("QUJD/REVG" * 2 + "QUJDREVG" * 8, False)],
    ids=["path", "base64", "base64 with slashes"],
)
def test_a_long_path_is_no_encoded_text(line: str, says: bool) -> None:
    assert says_something(line) is says


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (
            "<retrieval_status>timeout</retrieval_status>\n<status>running</status>\n<output>x</output>",
            ("retrieval_status timeout", "status running"),
        ),
        ("<retrieval_status>success</retrieval_status>\n<status>completed</status>\n<output>x</output>", ()),
    ],
    ids=["still running", "done"],
)
def test_how_a_task_in_the_background_stands(text: str, notes: tuple[str, ...]) -> None:
    assert unwrap(text).notes == notes


def test_a_reminder_that_is_all_of_a_result_is_told() -> None:
    text = "<system-reminder>Warning: the file exists but has only 12 lines.</system-reminder>"
    check(say("Read", {"file_path": "a.py"}, text), "the file exists but has only 12 lines")
    check(say("Read", {"file_path": "a.py"}, text + "\nalpha = 1\n"), lacks=["only 12 lines"])


@pytest.mark.parametrize(
    ("path", "log"),
    [("build.log", True), ("tasks/b1.output", True), ("/home/u/tool-results/x.txt", True), ("notes.txt", False)],
)
def test_what_holds_the_output_of_a_run(path: str, log: bool) -> None:
    assert is_log(path) is log


def test_a_saved_output_with_line_numbers() -> None:
    text = "".join(f"{2560 + at:6}\u2192{line}\n" for at, line in enumerate(["x: 1,"] * 9 + [" Tests  16 passed (16)"]))
    check(say("Read", {"file_path": "/home/u/tool-results/x.txt"}, text), "Tests 16 passed (16)")


@pytest.mark.parametrize(
    ("tool", "args", "text", "has"),
    [
        (
            "bash",
            {"command": "wc -l a.ts && grep -n run a.ts"},
            "  2376 a.ts\n" + "12: run()\n14: run()\n" * 40,
            ["2376 a.ts"],
        ),
        ("bash", {"command": "cat /tmp/x.c"}, "404: Not Found", ["404: Not Found"]),
        (
            "bash",
            {"command": "git checkout a.py && run"},
            "Updated 1 path from the index\n" + _AROUND,
            ["Updated 1 path from the index"],
        ),
        ("grep", {"pattern": "spawn"}, "a.py:3:  pool.spawn(x)\na.py:9:  spawn(y)\n" * 9, ["as: pool.spawn"]),
    ],
    ids=["counts", "one line", "git", "what a searched name is of"],
)
def test_what_other_commands_tell(tool: str, args: Any, text: str, has: list[str]) -> None:
    check(say(tool, args, text), *has)


def test_names_near_the_line_that_was_asked_for_come_first() -> None:
    lines = [f"    filler_{at} = other_{at}.thing_{at}" for at in range(120)]
    lines[60] = "    return value.total_seconds() / base_unit.total_seconds()"
    text = "".join(f"{at}:{line}\n" for at, line in enumerate(lines, 1))
    has = "near: value.total_seconds base_unit.total_seconds"
    check(say("open", {"path": "a.py", "line_number": 61}, text), has)
    check(say("bash", {"command": "goto 61"}, text), has)
    check(say("open", {"path": "a.py"}, text), lacks=["near:"])


def test_what_a_page_does_not_tell() -> None:
    text = "The thread is about a crash. The page does not mention a fix or a commit.\n" * 6
    check(say("WebFetch", {"url": "https://a.example"}, text), "missing: The page does not mention a fix or a commit.")


def test_how_many_were_found_is_said_by_the_harness() -> None:
    assert read_call(ToolView("Grep", {}, "Found 3 files\na.py\n")).body == "a.py"
