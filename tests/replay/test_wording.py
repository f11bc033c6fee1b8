"""What a report says."""

from collections import Counter

import pytest

from afterturn.replay.figures import Curve, FileFigures, SessionFigures, Spend, TraceFound
from afterturn.replay.wording import about, in_line, in_tokens, name_of, spent, title, traces_note, warning_lines


def session(**known: object) -> SessionFigures:
    plain = {"session_id": "s", "title": None, "cwd": None, "model": None, "parent_id": None, "curve": Curve()}
    return SessionFigures(**{**plain, **known})


@pytest.mark.parametrize(
    ("sessions", "lines"),
    [
        ([session()], ["0 turns for 0 requests \u00b7 0 tool calls"]),
        (
            [session(cwd="/p", model="m", turns=3, requests=1, tool_calls=2, results=2)],
            ["/p \u00b7 m", "3 turns for 1 request \u00b7 2 tool calls"],
        ),
        (
            [
                session(turns=3, requests=2, tool_calls=4, results=3, errors=1, compactions=2, failed_turns=1),
                session(parent_id="s", turns=1, tool_calls=1, results=1),
            ],
            [
                "4 turns for 2 requests \u00b7 5 tool calls (1 failed, 1 unanswered) \u00b7 2 compactions "
                "\u00b7 1 failed turn \u00b7 1 sub-agent"
            ],
        ),
        (
            [session(turns=1), session(parent_id="s", branched=True), session(parent_id="s", branched=True)],
            ["1 turn for 0 requests \u00b7 0 tool calls \u00b7 2 branches"],
        ),
        ([session(turns=1), session()], ["1 turn for 0 requests \u00b7 0 tool calls \u00b7 2 sessions"]),
    ],
    ids=["nothing", "one", "a sub-agent", "branches", "two sessions"],
)
def test_about(sessions: list[SessionFigures], lines: list[str]) -> None:
    assert about(FileFigures(file="f", harness="pi", sessions=sessions)) == lines


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("src/a  b.py", "src/a  b.py"),
        ("a\nb\tc", "a b c"),
        ("re\x1b[31md\x1b]0;title\x07\x9b2J", "red"),
        ("gpj.\u202eexe\u2066\u200b", "gpj.exe"),
        ("half \ud83d", "half \ud83d"),
        ("x" * 300, "x" * 199 + "\u2026"),
    ],
    ids=["as it is", "one line", "escape sequences", "hidden marks", "a lone surrogate", "long"],
)
def test_in_line(text: str, line: str) -> None:
    assert in_line(text) == line


def test_what_a_file_brings_is_cleaned() -> None:
    red = "\x1b[31m"
    found = FileFigures(file=f"{red}a.jsonl", harness="pi", sessions=[session(cwd=f"/p{red}", model=f"m{red}")])
    assert title(found) == "a.jsonl"
    assert about(found)[0] == "/p \u00b7 m"
    assert warning_lines(Counter({f"odd{red}": 2}), 1) == ["odd (2 times)"]


@pytest.mark.parametrize(
    ("one", "name"),
    [
        (session(title="Do it"), "Do it"),
        (session(session_id="a\x1b[31mb"), "ab"),
        (session(title="Do it", parent_id="p"), "Sub-agent: Do it"),
        (session(title="Do it", parent_id="p", branched=True), "Branch: Do it"),
    ],
    ids=["title", "id", "sub-agent", "branch"],
)
def test_name_of(one: SessionFigures, name: str) -> None:
    assert name_of(one) == name


def test_in_tokens() -> None:
    assert in_tokens(36_955, 12_090) == "about 9.2k \u2192 3k tokens"


@pytest.mark.parametrize(
    ("usages", "said"),
    [
        ([], "No model answered."),
        ([Spend(1, 1000, 20, 0.0123, ["a/b"])], "1 model call to a/b: 1,000 tokens in, 20 tokens out, $0.0123."),
        (
            [Spend(1, 1, 2, 0.5, ["a/b"]), Spend(2, None, 3, None, ["c/d"])],
            "3 model calls to a/b, c/d: 5 tokens out, cost unknown.",
        ),
    ],
    ids=["none", "one", "what is unknown is not guessed"],
)
def test_spent(usages: list[Spend], said: str) -> None:
    total = Spend()
    for usage in usages:
        total.join(usage)
    assert spent(total, may_ask=True) == said


def test_that_nothing_left_the_machine_is_said_only_where_nothing_could() -> None:
    assert spent(Spend(), may_ask=False) == "No model was asked, and nothing left the machine."


def test_traces_note_counts_those_that_are_not_held() -> None:
    traces = [TraceFound("t", "s", 0, 0.5, True, "do", "done", [], "because")]
    said = traces_note(FileFigures(file="f", traces=traces, more_traces=4))
    assert said == "5 steps that later sessions can search, best first; \u03b1 weighs a step's reflection"


def test_warning_lines() -> None:
    warnings = Counter({"often": 3, "once": 1, "rare": 1})
    assert warning_lines(warnings, 3) == ["often (3 times)", "once", "rare"]
    assert warning_lines(warnings, 1) == ["often (3 times)", "2 other things; --json has them all"]
