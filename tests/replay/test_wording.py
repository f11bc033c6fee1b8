"""What a report says."""

from collections import Counter

import pytest

from afterturn.replay.figures import Curve, FileFigures, SessionFigures, Spend, TraceFound
from afterturn.replay.wording import about, spent, traces_note, warning_lines


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
        ([session(turns=1), session()], ["1 turn for 0 requests \u00b7 0 tool calls \u00b7 2 sessions"]),
    ],
    ids=["nothing", "one", "a sub-agent", "two sessions"],
)
def test_about(sessions: list[SessionFigures], lines: list[str]) -> None:
    assert about(FileFigures(file="f", harness="pi", sessions=sessions)) == lines


@pytest.mark.parametrize(
    ("usages", "said"),
    [
        ([], "No model was asked, and nothing left the machine."),
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
    assert spent(total) == said


def test_traces_note_counts_those_that_are_not_held() -> None:
    traces = [TraceFound("t", "s", 0, 0.5, True, "do", "done", [], "because")]
    said = traces_note(FileFigures(file="f", traces=traces, more_traces=4))
    assert said == "5 steps that later sessions can search, best first; \u03b1 weighs a step's reflection"


def test_warning_lines() -> None:
    warnings = Counter({"often": 3, "once": 1, "rare": 1})
    assert warning_lines(warnings, 3) == ["often (3 times)", "once", "rare"]
    assert warning_lines(warnings, 1) == ["often (3 times)", "2 other things; --json has them all"]
