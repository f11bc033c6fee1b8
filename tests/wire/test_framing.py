"""Cutting bytes into messages: tolerant, bounded, and going on after whatever is no message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.wire.framing import MAX_HEADER_BYTES, ContentLengthFraming, Fault, LineFraming, make_framing

LIMIT = 100
OK = b"Content-Length: 2\r\n\r\n{}"
BAD = "bad_header"
LARGE = "message_too_large"


def kinds(frames: list) -> list:
    return [frame.kind if isinstance(frame, Fault) else bytes(frame) for frame in frames]


def feed(framing, data: bytes, step: int | None = None) -> list:
    pieces = [data[i : i + step] for i in range(0, len(data), step)] if step else [data]
    return kinds([frame for piece in pieces for frame in framing.feed(piece)])


def check(data: bytes, expected: list) -> None:
    """The same frames come out however the bytes are cut."""
    for step in (None, 1, 2, 3, 7, 64):
        assert feed(ContentLengthFraming(LIMIT), data, step) == expected, (step, data[:80])


@pytest.mark.req("framing.tolerant-headers")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(OK, id="as written by clients"),
        pytest.param(b"content-length: 2\r\n\r\n{}", id="lower case"),
        pytest.param(b"CONTENT-LENGTH:2\r\n\r\n{}", id="upper case, no space"),
        pytest.param(b"Content-Length :\t 2 \t\r\n\r\n{}", id="spaces and tabs around the value"),
        pytest.param(b"Content-Length: 2\n\n{}", id="bare line feeds"),
        pytest.param(b"Content-Length: 2\r\n\n{}", id="mixed line ends"),
        pytest.param(
            b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}", id="type"
        ),
        pytest.param(b"Content-Length: 2\r\nX-Any: thing: more\r\n\r\n{}", id="unknown header"),
        pytest.param(b"Content-Length: 2\r\nX-Empty:\r\n\r\n{}", id="empty unknown header"),
        pytest.param(b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", id="the same length twice"),
        pytest.param(b"\r\n\n" + OK, id="stray line ends before"),
        pytest.param(b"Content-Length: 0002\r\n\r\n{}", id="leading zeros"),
    ],
)
def test_headers_are_read_tolerantly(data: bytes) -> None:
    check(data + OK, [b"{}", b"{}"])


@pytest.mark.req("framing.bad-header")
@pytest.mark.req("framing.resync")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"Content-Length: abc\r\n\r\n", id="letters"),
        pytest.param(b"Content-Length: -5\r\n\r\n", id="negative"),
        pytest.param(b"Content-Length: 5.0\r\n\r\n", id="fraction"),
        pytest.param(b"Content-Length:\r\n\r\n", id="empty"),
        pytest.param(b"Content-Length: 1e3\r\n\r\n", id="exponent"),
        pytest.param("Content-Length: ٢\r\n\r\n".encode(), id="digits of another script"),
        pytest.param(b"Content-Length: 99999999999999999999999999\r\n\r\n", id="not a length any machine has"),
        pytest.param(b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n", id="two lengths"),
        pytest.param(b"X-Other: 1\r\nContent-Length: x\r\n\r\n{}", id="bad length behind another header"),
        pytest.param(b"X-Other: 1\r\n\r\n", id="no length"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"x"}\n', id="a line of json"),
        pytest.param(b"garbage", id="garbage joined to the next header"),
        pytest.param(b"GET / HTTP/1.1\r\n", id="another protocol"),
        pytest.param(b"\x00\xff\xfe", id="binary"),
        pytest.param(b"a" * (MAX_HEADER_BYTES + 10), id="a header that never ends"),
        pytest.param(
            b"Content-Length: 2\r\nX: " + b"a" * (MAX_HEADER_BYTES + 10) + b"\r\n\r\n", id="one that is too long"
        ),
    ],
)
def test_a_bad_header_is_answered_once_and_the_next_is_found(data: bytes) -> None:
    check(data + OK, [BAD, b"{}"])


ENDLESS = b"Content-Length: 2\n" * 1000


@pytest.mark.req("framing.bad-header")
@pytest.mark.req("framing.resync")
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(ENDLESS + b"\n{}", [BAD, b"{}"], id="whose last length ends as one should"),
        pytest.param(ENDLESS + OK, [BAD, b"{}"], id="with a good header behind it"),
        pytest.param(ENDLESS + b"X: 1\r\n\r\n{}", [BAD, b"{}"], id="with another field in its last header"),
        pytest.param(ENDLESS + b"garbage" + OK, [BAD, b"{}"], id="that becomes no header at all: still one"),
        pytest.param(ENDLESS + OK + b"garbage\n" + OK, [BAD, b"{}", BAD, b"{}"], id="but the next one is another"),
        pytest.param(b"X: Content-Length: 2\n" * 1000 + b"\n{}" + OK, [BAD, b"{}", b"{}"], id="named within lines"),
        pytest.param(b"X: 1\n" * 5000 + OK, [BAD, b"{}"], id="without any length"),
    ],
)
def test_a_header_block_without_end_is_answered_once(data: bytes, expected: list) -> None:
    for step in (None, 7, 64):
        assert feed(ContentLengthFraming(LIMIT), data + OK, step) == [*expected, b"{}"], step


@pytest.mark.req("framing.resync")
@pytest.mark.parametrize("line", [b"Content-Length: 2\n", b"X: Content-Length: 2\n", b"Content-Length: 2 "])
def test_a_header_block_without_end_is_read_a_few_times_and_not_once_for_each_line(
    line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks: list[int] = []
    whole = ContentLengthFraming._any_header

    def counted(self: ContentLengthFraming, buffer: bytes, at: int, frames: list) -> tuple[int, int]:
        blocks.append(at)
        return whole(self, buffer, at, frames)

    monkeypatch.setattr(ContentLengthFraming, "_any_header", counted)
    size = 20 * MAX_HEADER_BYTES
    feed(ContentLengthFraming(LIMIT), line * (size // len(line)))
    assert len(blocks) <= 3 * 20


@pytest.mark.req("framing.too-large")
def test_a_message_over_the_limit_is_skipped_and_answered_at_once() -> None:
    framing = ContentLengthFraming(LIMIT)
    assert feed(framing, b"Content-Length: 101\r\n\r\n") == [LARGE]
    assert feed(framing, b"x" * 100) == []
    assert feed(framing, b"x" + OK) == [b"{}"]
    check(b"Content-Length: 100\r\n\r\n" + b"x" * 100 + OK, [b"x" * 100, b"{}"])


def test_a_length_that_is_too_short_or_too_long_costs_one_message() -> None:
    check(b"Content-Length: 2\r\n\r\n{}{}" + OK, [b"{}", BAD, b"{}"])
    check(b"Content-Length: 25\r\n\r\n{}" + OK + OK, [b"{}" + OK, b"{}"])


def test_an_oversized_announcement_holds_nothing() -> None:
    framing = ContentLengthFraming(LIMIT)
    framing.feed(b"Content-Length: 1000000000\r\n\r\n")
    for _ in range(100):
        framing.feed(b"x" * 65536)
    assert not framing._head
    assert not framing._body


def test_lines() -> None:
    check_lines = [
        (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\r\n\n  \n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b"x" * 101 + b"\n{}\n", [LARGE, b"{}"]),
        (b"x" * 1000, [LARGE]),
        (b"{}", []),
    ]
    for data, expected in check_lines:
        for step in (None, 1, 3):
            assert feed(LineFraming(LIMIT), data, step) == expected


@pytest.mark.parametrize(
    ("data", "last"),
    [
        (b"{}", [b"{}"]),
        (b'{"a":1}\n{"b":2}\r', [b'{"b":2}']),
        (b"{}\n  ", []),
        (b"{}\n", []),
        (b"x" * 1000, []),
    ],
)
def test_the_last_line_needs_no_line_end(data: bytes, last: list) -> None:
    framing = LineFraming(LIMIT)
    framing.feed(data)
    assert kinds(framing.end()) == last


def test_a_body_that_does_not_arrive_is_no_message() -> None:
    framing = ContentLengthFraming(LIMIT)
    framing.feed(OK[:-1])
    assert framing.end() == []


def test_a_long_line_has_no_64_kib_cliff() -> None:
    line = b"x" * 1_000_000
    assert feed(LineFraming(2_000_000), line + b"\n", 65536) == [line]


@given(
    st.lists(st.binary(max_size=LIMIT), max_size=8), st.integers(1, 50), st.sampled_from(["content-length", "ndjson"])
)
def test_what_is_wrapped_is_unwrapped(bodies: list[bytes], step: int, name: str) -> None:
    if name == "ndjson":
        bodies = [body.replace(b"\n", b"").strip() or b"{}" for body in bodies]
    framing = make_framing(name, LIMIT)
    assert feed(framing, b"".join(map(framing.wrap, bodies)), step) == bodies


@given(
    st.lists(
        st.one_of(st.binary(max_size=40), st.sampled_from([b"Content-Length: ", b"\r\n\r\n", b"5", OK, b"\n"])),
        max_size=20,
    )
)
def test_any_bytes_are_survived_and_cut_alike(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    whole = feed(ContentLengthFraming(LIMIT), data)
    assert feed(ContentLengthFraming(LIMIT), data, 1) == whole


@pytest.mark.parametrize("blanks", [0, 1, 30, 33, 100])
def test_blanks_before_the_colon_do_not_depend_on_where_reads_are_cut(blanks: int) -> None:
    data = b"garbage\r\n\r\nContent-Length" + b" " * blanks + b": 2\r\n\r\n{}" + OK
    whole = feed(ContentLengthFraming(LIMIT), data)
    assert all(feed(ContentLengthFraming(LIMIT), data, step) == whole for step in (1, 5, 64))
    assert whole[-1] == b"{}"


@given(st.binary(max_size=60))
def test_after_any_garbage_a_good_frame_is_found(garbage: bytes) -> None:
    framing = ContentLengthFraming(LIMIT)
    feed(framing, garbage)
    # Garbage may have announced a body of up to LIMIT bytes, or begun a header; enough good frames get through both.
    frames = feed(framing, OK * 12)
    assert b"{}" in frames
