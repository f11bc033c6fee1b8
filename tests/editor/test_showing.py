"""What a hover says."""

from typing import Any

from afterturn.editor.showing import HEAD_CHARS, HEAD_LINES, shown, whole
from afterturn_protocol.refs import ImageDescriptor, RefRecord


def record(text: str = "done", **more: Any) -> RefRecord:
    facts: dict[str, Any] = {
        "ref": "t12",
        "short_id": "t12",
        "tool_call_id": "c1",
        "label": "c1",
        "tool_name": "bash",
        "args": {"command": "ls"},
        "is_error": False,
        "turn_index": 3,
        "text": text,
        "offset": 0,
        "total_chars": len(text),
        "next_offset": None,
    }
    return RefRecord(**{**facts, **more})


def test_markdown() -> None:
    assert shown(record("a\nb"), None, markdown=True) == (
        '**t12** `bash` · ok · turn 3 · 3 chars\n\n```json\n{"command": "ls"}\n```\n\n```text\na\nb\n```'
    )


def test_plain_text() -> None:
    assert shown(record("a\nb"), "denied", markdown=False) == (
        't12 bash · denied · turn 3 · 3 chars\n\n{"command": "ls"}\n\na\nb'
    )


def test_the_status_is_the_hosts_own_else_what_the_record_says() -> None:
    assert "· error ·" in shown(record(is_error=True), None, markdown=True)
    assert "· notRun ·" in shown(record(is_error=True), "notRun", markdown=True)
    assert "· `[x](y)` ·" in shown(record(), "[x](y)", markdown=True)


def test_the_head_ends_with_a_mark_where_more_follows() -> None:
    long = shown(record("line\n" * 100), None, markdown=False)
    assert long.count("line") == HEAD_LINES
    assert long.endswith("\u2026")
    assert shown(record("x" * 10_000), None, markdown=False).endswith("\u2026")
    assert len(shown(record(("x" * 300 + "\n") * 100), None, markdown=False)) < HEAD_CHARS + 500
    assert shown(record("one line", next_offset=8, total_chars=99), None, markdown=False).endswith("\u2026")
    assert not shown(record("one line"), None, markdown=False).endswith("\u2026")


def test_output_cannot_leave_its_fence() -> None:
    text = shown(record("````\n# heading"), None, markdown=True)
    assert text.endswith("`````text\n````\n# heading\n`````")
    assert "\n# tool" not in shown(record(tool_name="x`\n# tool"), None, markdown=True)


def test_terminal_codes_are_not_shown() -> None:
    assert shown(record("\x1b[31mred\x1b[0m"), None, markdown=False).endswith("\n\nred")


def test_a_hosts_own_words_are_shown_as_a_terminal_would_leave_them() -> None:
    hidden = "ba\u202esh\x1b[31m\nx\u200b"
    image = ImageDescriptor(mime_type=hidden, bytes=1)
    for markdown in (False, True):
        text = shown(record("done", tool_name=hidden, images=[image], args=None), hidden, markdown=markdown)
        assert text.replace("`", "").replace("**", "").split("\n")[0] == (
            "t12 bash x · bash x · turn 3 · 4 chars · bash x (1 bytes)"
        )
    assert len(shown(record("", tool_name="x" * 10_000, args=None), "y" * 10_000, markdown=False)) < 300


def test_images_lossy_originals_and_calls_without_args() -> None:
    image = ImageDescriptor(mime_type="image/png", bytes=1234)
    text = shown(record("", images=[image], lossy=True, args={}), None, markdown=False)
    assert text == "t12 bash · ok · turn 3 · 0 chars · image/png (1,234 bytes) · kept without its secrets"


def test_whole_text_is_left_alone() -> None:
    assert whole("a \U0001f680 b") == "a \U0001f680 b"
    assert whole("\ud83d\ude80") == "\U0001f680"
    assert whole("x\ud83dy\ude80") == "x\ufffdy\ufffd"
