"""The small rules of the worker: frames, Retry-After, reasoning, and what the server loads for it."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Encoder

from afterturn.child.frames import Frames
from afterturn.models.worker.messages import (
    Alive,
    Ended,
    Failed,
    FromWorker,
    Ready,
    Reply,
    frame,
    from_worker_decoder,
)
from afterturn.models.worker.reasoning import effort_for_none
from afterturn.models.worker.retry_after import LONGEST_MS, retry_after_ms

NOW_MS = 1_700_000_000_000  # Tue, 14 Nov 2023 22:13:20 GMT
MESSAGES: st.SearchStrategy[FromWorker] = st.one_of(
    st.builds(Ready, st.text()),
    st.builds(Alive, st.integers(0, 2**40)),
    st.builds(Ended, st.integers(0, 2**40)),
    st.builds(Failed, id=st.just(1), kind=st.just("status"), message=st.text(), status=st.integers(300, 599)),
    st.builds(
        Reply,
        id=st.just(2),
        text=st.binary(max_size=300),
        stop_reason=st.just("stop"),
        input_tokens=st.none() | st.integers(1, 2**40),
        output_tokens=st.none(),
        cached_tokens=st.none(),
        cost=st.none() | st.floats(0, 10),
    ),
)


@given(st.lists(MESSAGES, max_size=8), st.lists(st.integers(1, 400), min_size=1))
def test_frames_come_out_as_they_went_in(messages: list[FromWorker], sizes: list[int]) -> None:
    data = b"".join(frame(Encoder(), each) for each in messages)
    frames, bodies, at, n = Frames(), list[bytes](), 0, 0
    while at < len(data):
        size = sizes[n % len(sizes)]
        bodies += frames.feed(data[at : at + size])
        at, n = at + size, n + 1
    assert [from_worker_decoder().decode(each) for each in bodies] == messages


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("0", 0),
        ("7", 7000),
        (" 7 ", 7000),
        ("1.5", 1500),
        ("-3", None),
        ("", None),
        ("7 seconds", None),
        ("nan", None),
        ("1e9", None),
        ("٣", None),
        ("9" * 400, LONGEST_MS),
        ("99999999", LONGEST_MS),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30_000),
        ("Tuesday, 14-Nov-23 22:13:50 GMT", 30_000),
        ("Tue Nov 14 22:13:50 2023", 30_000),
        ("Tue, 14 Nov 2023 22:13:00 GMT", 0),
        ("Tue, 99 Nov 2023 22:13:00 GMT", None),
        ("Tue, 14 Nov 9999 22:13:00 GMT", LONGEST_MS),
    ],
)
def test_retry_after(value: str | None, expected: int | None) -> None:
    assert retry_after_ms(value, NOW_MS) == expected


@given(st.text())
def test_any_retry_after_is_sensible(value: str) -> None:
    wait = retry_after_ms(value, NOW_MS)
    assert wait is None or 0 <= wait <= LONGEST_MS


YES = {"supports_reasoning": True}


@pytest.mark.parametrize(
    ("model", "known", "expected"),
    [
        ("openai/unknown", {}, None),
        ("openai/plain", {"supports_reasoning": False}, None),
        ("openai/a", {**YES, "supports_none_reasoning_effort": True}, "none"),
        ("openai/a", {**YES, "supports_minimal_reasoning_effort": True}, "minimal"),
        ("openai/a", YES, "low"),
        ("azure/a", YES, "low"),
        ("openai/a", {**YES, "supports_low_reasoning_effort": False}, None),
        ("anthropic/claude-a", YES, "none"),
        ("gemini/gemini-2.5-flash", YES, "none"),
        ("gemini/gemini-2.5-pro", YES, "minimal"),
        ("vertex_ai/claude-a", YES, None),
        ("deepseek/reasoner", YES, None),
    ],
)
def test_the_effort_that_means_none(model: str, known: dict[str, Any], expected: str | None) -> None:
    provider, _, name = model.partition("/")
    assert effort_for_none(provider, name, known) == expected


def test_the_server_loads_nothing_heavy_for_it() -> None:
    heavy = ("litellm", "openai", "httpx", "aiohttp", "dataclasses", "ctypes", "psutil")
    code = f"import sys, afterturn.models.litellm; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
