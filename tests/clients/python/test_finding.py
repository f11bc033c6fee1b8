"""Which server is started, and what it sees of the environment."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from afterturn_client import Afterturn, Broken, Exited, ServerNotFound, finding
from afterturn_client.finding import find_server, safe_environment

OWN = [sys.executable, "-E", "-P", "-m", "afterturn"]


def program(path: Path) -> str:
    path.write_text("#!/bin/sh\nexit 7\n")
    path.chmod(0o755)
    return str(path)


def test_the_given_command_comes_first(tmp_path: Path) -> None:
    environ = {"AFTERTURN_PATH": program(tmp_path / "other")}
    assert find_server(["uvx", "afterturn"], environ) == ["uvx", "afterturn"]
    with pytest.raises(ServerNotFound, match="empty"):
        find_server([], environ)


def test_the_variable_comes_second(tmp_path: Path) -> None:
    named = program(tmp_path / "named")
    assert find_server(None, {"AFTERTURN_PATH": named}) == [named]


@pytest.mark.parametrize("named", ["/no/such/program", "afterturn", "."])
def test_a_variable_that_names_no_program_is_refused(named: str) -> None:
    with pytest.raises(ServerNotFound, match="AFTERTURN_PATH"):
        find_server(None, {"AFTERTURN_PATH": named, "PATH": os.environ["PATH"]})


def test_this_interpreters_own_comes_third(tmp_path: Path) -> None:
    program(tmp_path / "afterturn")
    assert find_server(None, {"PATH": str(tmp_path)}) == OWN


def test_the_path_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "find_spec", lambda name: None)
    on_path = program(tmp_path / "afterturn")
    assert find_server(None, {"PATH": str(tmp_path)}) == [on_path]
    with pytest.raises(ServerNotFound, match="pip install afterturn"):
        find_server(None, {"PATH": str(tmp_path / "empty")})


def test_keys_are_not_passed_on() -> None:
    environ = {
        "HOME": "/h",
        "https_proxy": "p",
        "LC_ALL": "C",
        "XDG_DATA_HOME": "/d",
        "AFTERTURN_HOME": "/a",
        "OPENAI_API_KEY": "secret",
        "PYTHONPATH": "/p",
        "LD_PRELOAD": "x.so",
    }
    kept = {"HOME", "https_proxy", "LC_ALL", "XDG_DATA_HOME", "AFTERTURN_HOME"}
    assert safe_environment(environ, None).keys() == kept
    assert safe_environment(environ, {"OPENAI_API_KEY": "mine"}) == {
        **{name: environ[name] for name in kept},
        "OPENAI_API_KEY": "mine",
    }


@pytest.mark.anyio
async def test_another_folder_and_what_lies_in_it_change_nothing(tmp_path: Path) -> None:
    for name in ("json.py", "msgspec.py", "afterturn.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the folder')")
    async with Afterturn.start(cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}) as client:
        assert (await client.afterturn.status()).process.pid


@pytest.mark.anyio
async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ServerNotFound, match="nowhere"):
        await Afterturn.start(cwd=tmp_path / "nowhere").__aenter__()


@pytest.mark.anyio
async def test_another_program_is_shown_by_what_it_says() -> None:
    with pytest.raises(Broken, match="it begins with b'Welcome to something else"):
        await Afterturn.start(["sh", "-c", "echo Welcome to something else; sleep 60"]).__aenter__()


@pytest.mark.anyio
@pytest.mark.parametrize("start", [Afterturn.start, Afterturn.in_process], ids=["child", "in process"])
async def test_options_that_the_server_refuses_are_told(start: Any) -> None:
    with pytest.raises(Exited, match="unknown option '--what'") as caught:
        await start(args=["--what"]).__aenter__()
    assert caught.value.code == 2
