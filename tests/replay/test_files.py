"""The files that `afterturn replay` is given and finds, and where it writes its page."""

import errno
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from afterturn.cli.replay import files_of
from afterturn.replay.reading import UnreadableError, events
from tests.replay.sessions import PiSession, found, replay, two_requests


def unreadable(folder: Path) -> dict[str, Path]:
    files = {
        "empty": b"",
        "foreign": b'{"hello": 1}\n',
        "text": b"Dear diary\n",
        "gzip": gzip.compress(b"x" * 100),
        "binary": bytes(range(256)) * 10,
        "truncated": b'{"type":"session","id":"x","ti',
    }
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return {name: folder / name for name in files}


@pytest.mark.parametrize("name", ["empty", "foreign", "text", "gzip", "binary", "truncated", "missing"])
def test_a_file_that_is_no_session(tmp_path: Path, name: str) -> None:
    file = unreadable(tmp_path / "files").get(name, tmp_path / "missing")
    done = replay(tmp_path, file)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert str(file) in done.stderr


def test_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    two_requests().write(folder / "below" / "a.jsonl")
    PiSession("other").user("Hello").says("Hi").write(folder / "b.jsonl")
    bad = unreadable(folder)
    done = replay(tmp_path, folder, "--json")
    assert done.returncode == 0
    assert [json.loads(line)["toolCalls"] for line in done.stdout.splitlines()] == [0, 5]
    assert sorted(line.split(": ")[1] for line in done.stderr.splitlines()) == sorted(map(str, bad.values()))
    said = replay(tmp_path, folder).stdout
    assert "2 files, 2 sessions, 7 turns, 5 tool calls" in said


def test_a_bad_file_among_good_ones(tmp_path: Path) -> None:
    good = two_requests().write(tmp_path / "a.jsonl")
    done = replay(tmp_path, unreadable(tmp_path / "files")["gzip"], good, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["toolCalls"] == 5


def test_a_path_that_cannot_be_looked_at_spoils_no_other(tmp_path: Path) -> None:
    good = two_requests().write(tmp_path / "a.jsonl")
    done = replay(tmp_path, "a" * 300, good, "--json")
    assert (done.returncode, done.stderr.count("\n"), "too long" in done.stderr) == (2, 1, True)
    assert json.loads(done.stdout)["toolCalls"] == 5


def test_an_empty_name_is_not_this_folder(tmp_path: Path) -> None:
    """`afterturn replay --import "$UNSET"` is to take nothing in."""
    wanted = [(str(each.path), each.given, each.problem) for each in files_of([""])]
    assert wanted == [("''", True, "there is no such file")]


def test_a_folder_with_what_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    two_requests().write(folder / "below" / "a.jsonl")
    (folder / "back").symlink_to(folder)
    (folder / "ring").symlink_to(folder / "ring")
    (folder / "nowhere").symlink_to(folder / "missing")
    os.mkfifo(folder / "pipe")
    assert [report["toolCalls"] for report in found(tmp_path, folder)] == [5]


def test_what_a_folder_keeps_closed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with modes: the tests may run as a user to whom nothing is closed."""
    for name in ("a.jsonl", "closed/b.jsonl", "hidden.jsonl"):
        two_requests().write(tmp_path / name)
    look_into, look_at = os.scandir, Path.stat

    def scandir(path: str) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return look_into(path)

    def stat(self: Path, **how: bool) -> os.stat_result:
        if self.name == "hidden.jsonl":
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return look_at(self, **how)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(Path, "stat", stat)
    wanted = [(each.path, each.given, each.problem) for each in files_of([str(tmp_path)])]
    assert wanted == [
        (tmp_path / "a.jsonl", False, None),
        (tmp_path / "closed", False, "you may not read it"),
        (tmp_path / "hidden.jsonl", False, None),
    ]
    assert [(each.given, each.problem) for each in files_of([str(tmp_path / "closed")])] == [
        (True, "you may not read it")
    ]
    with pytest.raises(UnreadableError, match="you may not read it"):
        next(events(tmp_path / "hidden.jsonl"))


def test_a_folder_without_any_session(tmp_path: Path) -> None:
    unreadable(tmp_path / "files")
    assert replay(tmp_path, tmp_path / "files").returncode == 2
    (tmp_path / "none").mkdir()
    done = replay(tmp_path, tmp_path / "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no session" in done.stderr


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    file = two_requests().write(tmp_path / "s.jsonl")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(file)
    os.mkfifo(tmp_path / "pipe")
    before = file.read_bytes()
    for target in (
        "nowhere/o.html",
        "s.jsonl/o.html",
        "folder",
        "pipe",
        "s.jsonl",
        "link",
        "folder/../s.jsonl",
        "o" * 300,
    ):
        done = replay(tmp_path, file, "--html", f"{tmp_path}/{target}")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert target.rpartition("/")[2] in done.stderr
    assert replay(tmp_path, file, "--html", "").returncode == 1
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "pipe", "s.jsonl", "temporary"]


def test_a_page_beside_its_sessions(tmp_path: Path) -> None:
    """Made a second time it takes the place of the first, and never of a session; a link to it stays one."""
    folder = tmp_path / "files"
    file = two_requests().write(folder / "a.jsonl")
    page = folder / "o.html"
    for _ in range(2):
        assert replay(tmp_path, folder, "--html", page).returncode == 0
        assert page.read_text("utf-8").startswith("<!doctype html>")
    before = file.read_bytes()
    assert replay(tmp_path, folder, "--html", file).returncode == 1
    assert file.read_bytes() == before
    page.write_text("", "utf-8")
    (tmp_path / "link").symlink_to(page)
    assert replay(tmp_path, file, "--html", tmp_path / "link").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert page.stat().st_size > 10_000
