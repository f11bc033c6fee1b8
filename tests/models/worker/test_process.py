"""The worker as a process: it starts, stops, crashes, hangs and floods without hurting the server (cases L02, P01)."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
from msgspec.msgpack import Encoder

from afterturn.models.provider import ProviderFailure
from afterturn.models.worker.messages import Reply, frame
from afterturn.models.worker_environment import worker_environment
from tests.clocks import SteppedClock
from tests.models.worker.rig import KEY, Rig, failure_of, prompt, python_with, wait_end
from tests.provider.server import ScriptedProvider

STUB = Path(__file__).with_name("stub_litellm.py")


def with_stub(folder: Path, before: str = "", top: str = "") -> str:
    """A python whose litellm is the stub; `top` is put into the stub and runs when it is imported."""
    package = folder / "stub" / "litellm"
    package.mkdir(parents=True)
    shutil.copy(STUB, package / "__init__.py")
    if top:
        with (package / "__init__.py").open("a") as out:
            out.write(top)
    return python_with(folder, [folder / "stub"], before)


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def server() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        yield server


@pytest.fixture
def rig(server: ScriptedProvider, clock: SteppedClock, tmp_path: Path) -> Iterator[Rig]:
    with Rig(server, clock=clock, python=with_stub(tmp_path)) as rig:
        yield rig


async def in_flight(rig: Rig, *models: str, **changed: Any) -> list[asyncio.Task[ProviderFailure]]:
    """Calls that the worker has, and that will fail."""
    first = await rig.complete(prompt("stub/fine"))
    assert first.text == "fine"
    return [asyncio.create_task(failure_of(rig.complete(prompt(model, **changed)))) for model in models]


def kinds(failures: list[ProviderFailure]) -> list[str]:
    return [each.kind for each in failures]


# -- starting


def test_the_worker_starts_with_the_first_call_and_is_kept(rig: Rig) -> None:
    assert rig.provider.worker_pid is None
    rig.ask("stub/fine")
    worker = rig.worker
    rig.ask("stub/fine")
    assert rig.worker == worker
    assert os.getpgid(worker.pid) == worker.pid != os.getpgid(0)
    assert worker.nice() == min(psutil.Process().nice() + 3, 19)


def test_calls_that_come_together_share_one_start(rig: Rig) -> None:
    async def together() -> set[int | None]:
        async def one() -> int | None:
            await rig.complete(prompt("stub/fine"))
            return rig.provider.worker_pid

        return set(await asyncio.gather(*(one() for _ in range(5))))

    assert len(rig.run(together())) == 1
    assert len(rig.children) == 1


def test_the_start_has_a_limit_of_its_own(server: ScriptedProvider, clock: SteppedClock, tmp_path: Path) -> None:
    """A start that is given up: the process is gone, and another one is tried at once, then after a while."""
    python = with_stub(tmp_path, top="time.sleep(600)\n")
    with Rig(server, clock=clock, python=python, longest_start_seconds=0.3) as rig:
        for _ in range(2):
            failure = rig.fail("stub/fine", idle_ms=1, total_ms=1)
            assert (failure.kind, failure.called) == ("crashed", False)
            assert failure.message == "the model worker did not start within 0.3 s"
            assert rig.children == []
        assert rig.fail("stub/fine").retry_after_ms == 1001


def test_a_call_waits_for_a_start_only_so_long_and_the_start_goes_on(server: ScriptedProvider, tmp_path: Path) -> None:
    """On a busy machine, where every start takes longer than a call waits, calls must be made after all."""
    go = tmp_path / "go"
    python = with_stub(
        tmp_path, top=f"import pathlib\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)\n"
    )
    with Rig(server, python=python, start_seconds=0.2) as rig:
        for _ in range(3):
            failure = rig.fail("stub/fine")
            assert (failure.kind, failure.called) == ("crashed", False)
            assert failure.message == "the model worker did not start within 0.2 s"
        (worker,) = rig.children
        go.touch()
        rig.provider._start_seconds = 60
        assert rig.ask("stub/fine").text == "fine"
        assert rig.worker == worker


def test_a_worker_that_nobody_waits_for_any_more_is_idle(
    server: ScriptedProvider, clock: SteppedClock, tmp_path: Path
) -> None:
    python = with_stub(tmp_path, top="time.sleep(0.5)\n")
    with Rig(server, clock=clock, python=python, start_seconds=0.1) as rig:
        assert rig.fail("stub/fine").kind == "crashed"
        (worker,) = rig.children

        async def started_and_idle() -> None:
            while not clock.slept:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            clock.advance(120)

        rig.run(started_and_idle())
        rig.run(asyncio.to_thread(wait_end, worker))


def test_an_answer_may_come_in_the_turn_in_which_its_caller_is_cancelled(rig: Rig) -> None:
    """It is dropped, and what came with it is not."""

    async def crossed() -> str:
        call, other = (asyncio.create_task(rig.complete(prompt("stub/silence"))) for _ in range(2))
        await rig.server.requested(2)
        process = rig.provider._worker
        assert process is not None
        first, second = process._waiting
        call.cancel()
        process._child._received(b"".join(frame(Encoder(), reply_to(id)) for id in (first, second)))
        await asyncio.wait([call])
        assert call.cancelled()
        return (await other).text

    assert rig.run(crossed()) == "said by hand"


def reply_to(id: int) -> Reply:
    return Reply(
        id=id,
        text=b"said by hand",
        stop_reason="stop",
        input_tokens=None,
        output_tokens=None,
        cached_tokens=None,
        cost=None,
    )


def test_a_slow_start_does_not_count_against_the_call(server: ScriptedProvider, tmp_path: Path) -> None:
    python = with_stub(tmp_path, top="time.sleep(2.1)\n")
    with Rig(server, python=python) as rig:
        assert rig.ask("stub/fine", idle_ms=2000, total_ms=2000).text == "fine"


def test_python_is_not_there(server: ScriptedProvider, tmp_path: Path) -> None:
    with Rig(server, python=str(tmp_path / "nothing")) as rig:
        failure = rig.fail("stub/fine")
        assert (failure.kind, failure.called) == ("crashed", False)
        assert "No such file" in failure.message


UNUSABLE: list[tuple[str, Callable[[Path], str], str]] = [
    (
        "missing",
        lambda folder: python_with(
            folder,
            [],
            "import importlib.metadata as m\ndef gone(name): raise m.PackageNotFoundError(name)\nm.version = gone\n",
        ),
        "litellm is not installed; install it with: pip install 'litellm>=1.83,<2'",
    ),
    (
        "broken",
        lambda folder: with_stub(folder, top="import nothing_of_this_name\n"),
        "does not load (ModuleNotFoundError at nothing_of_this_name); install it with: pip install 'litellm>=1.83,<2'",
    ),
    (
        "syntax",
        lambda folder: with_stub(folder, top="sk-secret-of-a-broken-file = = 1\n"),
        "does not load (SyntaxError); install it with: pip install 'litellm>=1.83,<2'",
    ),
    *(
        (
            version,
            lambda folder, version=version: with_stub(
                folder,
                f"import importlib.metadata as m\nm.version = lambda name: '{version}'\n",
                "raise SystemExit(9)\n",
            ),
            f"litellm {version} is a compromised release and was not loaded; "
            "install it with: pip install 'litellm>=1.83,<2'",
        )
        for version in ("1.82.7", "1.82.8")
    ),
]


@pytest.mark.parametrize(("make", "message"), [each[1:] for each in UNUSABLE], ids=[each[0] for each in UNUSABLE])
def test_litellm_that_cannot_be_used(
    server: ScriptedProvider, clock: SteppedClock, tmp_path: Path, make: Callable[[Path], str], message: str
) -> None:
    with Rig(server, clock=clock, python=make(tmp_path)) as rig:
        failure = rig.fail("stub/fine")
        assert (failure.kind, failure.called) == ("unavailable", False)
        assert failure.message.endswith(message)
        assert rig.children == []
        again = rig.fail("stub/fine")
        assert (again.message, again.retry_after_ms) == (failure.message, 60_001)


def test_litellm_is_looked_for_again_after_a_minute(
    server: ScriptedProvider, clock: SteppedClock, tmp_path: Path
) -> None:
    python = with_stub(tmp_path, top="import nothing_of_this_name\n")
    with Rig(server, clock=clock, python=python) as rig:
        assert rig.fail("stub/fine").kind == "unavailable"
        shutil.copy(STUB, tmp_path / "stub" / "litellm" / "__init__.py")
        assert rig.fail("stub/fine").kind == "unavailable"
        clock.advance(60)
        assert rig.ask("stub/fine").text == "fine"


# -- ending


def test_idle_stop_and_start(rig: Rig, clock: SteppedClock) -> None:
    rig.ask("stub/fine")
    worker = rig.worker

    async def idle(seconds: float) -> None:
        await asyncio.sleep(0)
        clock.advance(seconds)
        await asyncio.sleep(0)

    rig.run(idle(119))
    assert worker.is_running()
    rig.run(idle(1))
    wait_end(worker)
    assert rig.provider.worker_pid is None
    assert clock.slept == [120]
    rig.ask("stub/fine")
    assert rig.worker != worker


def test_a_worker_in_use_is_not_idle(rig: Rig, clock: SteppedClock) -> None:
    async def used() -> None:
        (call,) = await in_flight(rig, "stub/silence", idle_ms=500)
        await asyncio.sleep(0)
        clock.advance(1000)
        assert (await call).kind == "timeout"

    rig.run(used())
    assert rig.worker.is_running()


def test_close_ends_calls_and_process(rig: Rig) -> None:
    async def closed() -> list[ProviderFailure]:
        calls = await in_flight(rig, "stub/silence", "stub/stuck")
        await rig.server.requested(2)
        worker = rig.worker
        await rig.provider.close()
        assert not worker.is_running()
        return await asyncio.gather(*calls)

    assert kinds(rig.run(closed())) == ["crashed", "crashed"]
    assert rig.fail("stub/fine").kind == "unavailable"


def test_close_while_it_starts(server: ScriptedProvider, tmp_path: Path) -> None:
    async def closed(rig: Rig) -> ProviderFailure:
        call = asyncio.create_task(failure_of(rig.complete(prompt("stub/fine"))))
        for _ in range(3):
            await asyncio.sleep(0)
        assert len(rig.children) == 1
        await rig.provider.close()
        assert rig.children == []
        return await call

    with Rig(server, python=with_stub(tmp_path, top="time.sleep(600)\n")) as rig:
        assert rig.run(closed(rig)).kind == "unavailable"


def test_a_killed_worker_fails_its_calls_and_the_next_call_starts_another(rig: Rig) -> None:
    async def killed() -> list[ProviderFailure]:
        calls = await in_flight(rig, "stub/silence", "stub/silence")
        await rig.server.requested(2)
        rig.worker.kill()
        return await asyncio.gather(*calls)

    failures = rig.run(killed())
    assert [(each.kind, each.message, each.called) for each in failures] == [
        ("crashed", "the model worker was killed by signal 9", True)
    ] * 2
    assert rig.ask("stub/fine").text == "fine"


def test_a_worker_that_ends_by_itself(rig: Rig) -> None:
    failure = rig.fail("stub/exit")
    assert (failure.kind, failure.message) == ("crashed", "the model worker ended with code 3")
    assert rig.ask("stub/fine").text == "fine"


def test_a_worker_that_keeps_crashing_is_left_alone_for_longer_and_longer(rig: Rig, clock: SteppedClock) -> None:
    assert rig.fail("stub/exit").called is True
    for seconds in (1, 2, 4):
        assert rig.fail("stub/exit").called is True
        refused = rig.fail("stub/fine")
        assert (refused.kind, refused.called, refused.retry_after_ms) == ("crashed", False, seconds * 1000 + 1)
        clock.advance(seconds)
    assert rig.ask("stub/fine").text == "fine"
    assert rig.fail("stub/exit").called is True
    assert rig.ask("stub/fine").text == "fine"


@pytest.mark.parametrize("model", ["stub/stuck", "stub/deaf"])
def test_a_call_that_does_not_yield_costs_its_limit_and_the_worker(rig: Rig, model: str) -> None:
    async def hung() -> list[ProviderFailure]:
        other, call = await in_flight(rig, "stub/silence", model, idle_ms=20_000)
        hanging = asyncio.create_task(failure_of(rig.complete(prompt(model, idle_ms=200))))
        worker = rig.worker
        assert (await hanging).kind == "timeout"
        assert worker.is_running()
        failures = await asyncio.gather(other, call)
        assert not worker.is_running()
        return failures

    failures = rig.run(hung())
    assert [(each.kind, each.message) for each in failures] == [
        ("crashed", "the model worker did not end a call when it was told to")
    ] * 2
    assert rig.ask("stub/fine").text == "fine"


def test_a_stopped_worker_costs_the_limit(rig: Rig) -> None:
    async def stopped() -> ProviderFailure:
        (other,) = await in_flight(rig, "stub/silence")
        await rig.server.requested(1)
        worker = rig.worker
        worker.send_signal(signal.SIGSTOP)
        failure = await failure_of(rig.complete(prompt("stub/fine", idle_ms=200)))
        assert (await other).kind == "crashed"
        assert not worker.is_running()
        return failure

    assert rig.run(stopped()).kind == "timeout"
    assert rig.ask("stub/fine").text == "fine"


# -- what it may not do to the server


def test_a_flood_of_output_blocks_nobody_and_is_seen_nowhere(rig: Rig, capfd: Any) -> None:
    assert rig.ask("stub/flood").text == "fine"
    assert rig.ask("stub/flood").text == "fine"
    assert capfd.readouterr() == ("", "")


def test_a_flood_while_it_is_imported(server: ScriptedProvider, tmp_path: Path, capfd: Any) -> None:
    with Rig(server, python=with_stub(tmp_path, top="flood()\n")) as rig:
        assert rig.ask("stub/fine").text == "fine"
    assert capfd.readouterr() == ("", "")


def test_what_litellm_raises_stays_inside(rig: Rig, capfd: Any) -> None:
    failure = rig.fail("stub/raise")
    assert (failure.kind, failure.called) == ("unavailable", False)
    assert "secret" not in str(failure)
    assert capfd.readouterr() == ("", "")


def test_its_environment_holds_no_key_and_no_switch_of_the_servers(server: ScriptedProvider, tmp_path: Path) -> None:
    planted = {"OPENAI_API_KEY": "sk-planted", "AWS_SECRET_ACCESS_KEY": "planted", "PYTHONPATH": "/planted"}
    planted |= {"LITELLM_MODE": "DEV", "OPENAI_BASE_URL": "http://planted", "https_proxy": "http://127.0.0.1:9"}
    with Rig(server, environ=planted, python=with_stub(tmp_path)) as rig:
        shown = rig.ask("stub/environ").text
        at_start = rig.worker.environ()
    for value in (*planted.values(), KEY):
        assert (value in shown) == (value == "http://127.0.0.1:9"), value
    assert at_start["LITELLM_MODE"] == "PRODUCTION"
    assert at_start["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert KEY not in repr(at_start)


def test_s05_env_files_are_not_read(tmp_path: Path) -> None:
    """Case S05: litellm looks for .env files upwards from where it is installed."""
    (tmp_path / ".env").write_text("XAI_API_KEY=leak\n")
    installed = tmp_path / "site" / "litellm"
    installed.parent.mkdir()
    spec = find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    installed.symlink_to(Path(spec.origin).parent)
    code = (
        f"import os, sys\nsys.path.insert(0, {str(installed.parent)!r})\n"
        "from afterturn.models.worker.loading import load_litellm\n"
        "print(load_litellm()[0].__file__, os.environ.get('XAI_API_KEY'))"
    )
    environ = worker_environment({**os.environ, "HOME": str(tmp_path), "LITELLM_MODE": "DEV"})
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == [str(installed / "__init__.py"), "None"]
    assert "leak" not in done.stderr


def test_no_descriptor_of_the_server_is_open_in_it(rig: Rig) -> None:
    ours = os.pipe()
    inode = os.fstat(ours[0]).st_ino
    try:
        for fd in ours:
            os.set_inheritable(fd, True)
        opened = rig.ask("stub/descriptors").text.split()
    finally:
        for fd in ours:
            os.close(fd)
    assert opened.count(str(Path(os.devnull).stat().st_ino)) == 3
    assert str(inode) not in opened


# -- the server's end

PARENT = """
import asyncio, sys
from tests.models.worker.rig import Rig, prompt
from tests.provider.server import ScriptedProvider

with ScriptedProvider() as server, Rig(server, python=sys.argv[1]) as rig:
    async def main():
        await rig.complete(prompt("stub/fine"))
        call = asyncio.create_task(rig.complete(prompt(sys.argv[2])))
        await server.requested(1)
        print(rig.provider.worker_pid, flush=True)
        await call
    rig.run(main())
"""


@pytest.mark.parametrize("model", ["stub/silence", "stub/stuck"])
def test_it_vanishes_with_a_server_that_is_killed(tmp_path: Path, model: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, with_stub(tmp_path), model],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    with parent:
        assert parent.stdout
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        parent.wait()
        wait_end(worker, 5)


@pytest.mark.parametrize("model", ["stub/silence", "stub/stuck"])
def test_it_vanishes_when_its_pipe_ends(server: ScriptedProvider, tmp_path: Path, model: str) -> None:
    """Where the kernel ends no child with its parent: the end of the pipe does, even while a call blocks the loop."""
    from msgspec.msgpack import Encoder

    from afterturn.child.frames import Frames
    from afterturn.models.worker.messages import Call, Ready, frame, from_worker_decoder

    requests, replies = os.pipe(), os.pipe()
    command = [
        with_stub(tmp_path),
        "-m",
        "afterturn.models.worker",
        str(requests[0]),
        str(replies[1]),
        str(os.getpid()),
    ]
    worker = subprocess.Popen(command, pass_fds=(requests[0], replies[1]))
    try:
        (ready,) = Frames().feed(os.read(replies[0], 1000))
        assert isinstance(from_worker_decoder().decode(ready), Ready)
        call = Call(
            id=1,
            model=model,
            messages=[],
            max_tokens=1,
            reasoning_off=True,
            api_key=None,
            api_base=server.url,
            headers={},
            credentials={},
            limit_seconds=600,
        )
        os.write(requests[1], frame(Encoder(), call))
        server.wait_requests(1)
        os.close(requests[1])
        assert worker.wait(10) == 0
    finally:
        worker.kill()
        worker.wait()
        for fd in (requests[0], *replies):
            os.close(fd)
