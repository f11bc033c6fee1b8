"""aider's Markdown."""

import pytest

from tests.replay.importers.made import AIDER, check, sessions_of


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_runs_of_quoted_lines_and_several_chats(ending: str, mark: str) -> None:
    check(
        "aider",
        mark + AIDER.replace("\n", ending),
        [
            (None, None, [("run-1", "aider", {}, "Aider v1\nModels: m", False, None)]),
            (
                "Fix the printer\nplease",
                "Edit `a.py`:\n>>>>>>> REPLACE",
                [("run-2", "aider", {}, "Applied edit to a.py\n\n1 failed", False, None)],
            ),
        ],
        [(None, None, [("run-1", "aider", {}, "Aider v1", False, None)])],
    )


def test_chats_of_the_same_second_are_two() -> None:
    chat = "# aider chat started at 2026-01-01 10:00:00\n#### Go\n"
    sessions = sessions_of(chat + chat)
    assert [session.session_id for session in sessions] == [
        "aider 2026-01-01 10:00:00",
        "aider 2026-01-01 10:00:00#2",
    ]
    assert [session.start.started for session in sessions if session.start] == [1767261600000] * 2
