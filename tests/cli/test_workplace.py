"""The folder of a command that keeps nothing."""

import fcntl
import tempfile
from pathlib import Path

import pytest

from afterturn.cli.workplace import workplace


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left_by_one_that_was_killed(temporary: Path, name: str = "afterturn-replay-x", mark: str = "in-use") -> Path:
    folder = temporary / name
    folder.mkdir()
    for each in (mark, "afterturn.db"):
        (folder / each).write_text("")
    return folder


def test_it_is_there_for_its_own_user_and_then_gone(temporary: Path) -> None:
    with workplace("replay") as folder:
        assert (folder.parent, folder.stat().st_mode & 0o777) == (temporary, 0o700)
    assert list(temporary.iterdir()) == []


def test_what_a_killed_one_left_goes(temporary: Path) -> None:
    left_by_one_that_was_killed(temporary)
    with workplace("recap") as folder:
        assert list(temporary.iterdir()) == [folder]


def test_that_of_another_one_stays(temporary: Path) -> None:
    with workplace("replay") as first:
        (first / "afterturn.db").write_text("")
        with workplace("replay"):
            assert (first / "afterturn.db").exists()


@pytest.mark.parametrize(
    ("name", "mark"), [("other-x", "in-use"), ("afterturn-x", "something")], ids=["not its name", "no mark"]
)
def test_what_is_none_stays(name: str, mark: str, temporary: Path) -> None:
    folder = left_by_one_that_was_killed(temporary, name, mark)
    with workplace("replay"):
        assert (folder / "afterturn.db").exists()


def test_no_link_is_followed(temporary: Path) -> None:
    elsewhere = left_by_one_that_was_killed(temporary, "elsewhere")
    (temporary / "afterturn-x").symlink_to(elsewhere)
    with workplace("replay"):
        assert (elsewhere / "afterturn.db").exists()


def test_a_file_system_without_locks(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(file: object, how: int) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with workplace("replay") as folder:
        assert list(folder.iterdir()) == []
    assert list(temporary.iterdir()) == []
