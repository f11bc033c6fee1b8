"""Which format a file has, and what is said of one that has none."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from afterturn.replay.importers.fields import epoch_ms
from afterturn.replay.reading import HARNESSES, UnreadableError, events
from afterturn.replay.stream import SessionEnd, SessionStart, Turn
from tests.replay.importers.made import EXAMPLES, MS, events_of, lines, message, sessions_of, shape, tool

FOREIGN = (
    "no session of pi, claude-code, codex, opencode, gemini-cli, kimi-cli, amp, swe-agent, mini-swe-agent, "
    "openhands or aider"
)


def reason(path: Path) -> str:
    with pytest.raises(UnreadableError) as caught:
        list(events(path))
    assert caught.value.path == path
    assert str(caught.value) == f"{path}: {caught.value.reason}"
    assert "\n" not in str(caught.value)
    return caught.value.reason


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_format_is_found_by_what_stands_in_it(name: str) -> None:
    harness, text = EXAMPLES[name]
    found = events_of(text)
    assert {event.harness for event in found if isinstance(event, SessionStart)} == {harness}
    answered = [call for event in found if isinstance(event, Turn) for call in event.calls if call.result is not None]
    assert answered
    assert isinstance(found[0], SessionStart)
    assert isinstance(found[-1], SessionEnd)
    assert [event.skipped for event in found if isinstance(event, SessionEnd) and event.skipped] == []


def test_there_is_an_example_of_every_harness() -> None:
    assert {harness for harness, _ in EXAMPLES.values()} == set(HARNESSES)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("change", ["mark", "crlf", "blank lines", "zeros behind"])
def test_what_changes_nothing(name: str, change: str) -> None:
    text = EXAMPLES[name][1]
    changed = {
        "mark": "\ufeff" + text,
        "crlf": text.replace("\n", "\r\n"),
        "blank lines": "\n \n" + text + "\n\n",
        "zeros behind": text + "\n\x00\x00\x00",
    }[change]
    if name == "aider" and change == "zeros behind":
        return
    assert shape(sessions_of(changed)) == shape(sessions_of(text))


@pytest.mark.parametrize("content", [b"", b"\n\r\n \t", b"\x00\x00\x00", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert reason(path) == "is empty"


def zipped(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("session.jsonl", content)
    return buffer.getvalue()


PI = EXAMPLES["pi v1"][1].encode("utf-8")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (gzip.compress(PI), "gzip"),
        (bz2.compress(PI), "bzip2"),
        (lzma.compress(PI), "xz"),
        (zipped(PI), "zip"),
        (b"\x28\xb5\x2f\xfd\x04\x58", "zstd"),
    ],
    ids=["gzip", "bzip2", "xz", "zip", "zstd"],
)
def test_compressed(tmp_path: Path, content: bytes, name: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(content)
    assert reason(path) == f"is compressed ({name}); unpack it first"


def tarred(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("session.jsonl")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (tarred(PI), "is an archive (tar); unpack it first"),
        (bytes(range(256)), "is a binary file"),
        (b"\x7fELF\x02\x01\x01" + bytes(200), "is a binary file"),
        (PI.decode().encode("utf-16"), "is a binary file"),
        (b"hello\nworld\n", f"is text, but {FOREIGN}"),
        (b"# A title\n\n[a link](b)\n> quoted\n", f"is text, but {FOREIGN}"),
        (b"\xff\xfe\xfd", f"is text, but {FOREIGN}"),
        (b'{"name": "x", "version": 1}', f"is JSON, but {FOREIGN}"),
        (b'{"messages": [{"role": "user", "content": "Go"}]}', f"is JSON, but {FOREIGN}"),
        (b'[{"role": "user", "content": "Go"}]', f"is JSON, but {FOREIGN}"),
        (b"[1, 2, 3]", f"is JSON, but {FOREIGN}"),
        (b"[" * 100_000, f"is JSON, but {FOREIGN}"),
        (b'{"a":' * 100_000, f"is JSON, but {FOREIGN}"),
    ],
)
def test_foreign(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(content)
    assert reason(path) == said


@pytest.mark.parametrize(
    ("content", "harness"),
    [
        (b'{"type":"summary","summary":"t","leafUuid":"x"}\n', "claude-code"),
        (b'{"type":"session","version":3,"id":"s","cwd":"/w"}', "pi"),
        (b'{"sessionId":"s","projectHash":"h","messages":[', "gemini-cli"),
        (b'{"id":"p1","messageID":"m","sessionID":"s","type":"text","text":"x"}', "opencode"),
    ],
)
def test_of_which_nothing_can_be_read(tmp_path: Path, content: bytes, harness: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert reason(path) == f"is of {harness}, but no turn of it can be read: it is empty or cut off"


def test_a_path_that_is_no_file_to_read(tmp_path: Path) -> None:
    assert reason(tmp_path) == "is a folder, not a file"
    assert reason(tmp_path / "none") == "there is no such file"
    assert reason(tmp_path / "none" / "such") == "there is no such file"
    os.mkfifo(tmp_path / "pipe")
    assert reason(tmp_path / "pipe") == "is not a regular file"


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(PI)

    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert reason(path) == "you may not read it"


@pytest.mark.parametrize("name", EXAMPLES)
def test_progress_never_goes_back_and_ends_with_the_whole_file(name: str) -> None:
    text = EXAMPLES[name][1]
    told: list[int] = []
    events_of(text, on_bytes=told.append)
    size = len(text.encode("utf-8"))
    assert told == sorted(told)
    assert told[0] <= told[-1] <= size
    if not name.startswith("opencode "):  # of those, only what a turn needs is read again
        assert told[-1] == size


@pytest.mark.parametrize(
    "name", ["kimi-cli wire", "swe-agent", "mini-swe-agent", "openhands history", "openhands export", "openhands sdk"]
)
def test_formats_without_ids_of_their_own_have_other_ids_in_other_files(name: str) -> None:
    text = EXAMPLES[name][1]
    other = text.replace("Fix", "Mend").replace("Count", "Tell").replace("terminal", "bash")
    ids = [session.session_id for session in sessions_of(text)]
    assert ids == [session.session_id for session in sessions_of(text)]
    assert not set(ids) & {session.session_id for session in sessions_of(other)}


def test_a_session_may_begin_behind_lines_of_another_kind() -> None:
    text = 'warning: something\n{"note": "not of a session"}\n' + lines(message("m2", "assistant", 1), tool("p", "a"))
    assert [event.harness for event in events_of(text) if isinstance(event, SessionStart)] == ["opencode"]


@pytest.mark.parametrize(
    ("stamp", "ms"),
    [
        ("2026-01-01T00:00:01.500Z", MS),
        ("2026-01-01T02:00:01.500+02:00", MS),
        ("2026-01-01T00:00:01.500000", MS),
        (MS, MS),
        (1.9, 1),
        (0, None),
        (-5, None),
        (1e300, None),
        (float("nan"), None),
        ("0001-01-01T00:00:00+23:59", None),
        ("yesterday", None),
        (None, None),
        (True, None),
    ],
)
def test_epoch_ms(stamp: object, ms: int | None) -> None:
    assert epoch_ms(stamp) == ms
