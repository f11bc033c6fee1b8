"""The command line of a serving process."""

import pytest

from afterturn.options import DEFAULT_MAX_MESSAGE_BYTES, OptionError, ServeOptions, parse_options


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", ServeOptions()),
        ("--stdio", ServeOptions()),
        ("--stdio --framing ndjson", ServeOptions(framing="ndjson")),
        ("--framing=ndjson", ServeOptions(framing="ndjson")),
        ("--clientProcessId=12 --stdio", ServeOptions(client_process_id=12)),
        ("--max-message-bytes 2048", ServeOptions(max_message_bytes=2048)),
        ("--max-message-bytes=1", ServeOptions(max_message_bytes=1)),
        ("--log-level=debug", ServeOptions(log_level="debug")),
    ],
)
def test_good(line: str, expected: ServeOptions) -> None:
    assert parse_options(line.split()) == expected
    assert ServeOptions().max_message_bytes == DEFAULT_MAX_MESSAGE_BYTES == 64 * 1024 * 1024


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("--pipe=/tmp/x", "--pipe"),
        ("--socket 5000", "--socket"),
        ("--node-ipc", "--node-ipc"),
        ("--framing=xml", "--framing"),
        ("--framing", "--framing"),
        ("--max-message-bytes=0", "--max-message-bytes"),
        ("--max-message-bytes=1e9", "--max-message-bytes"),
        ("--clientProcessId=-4", "--clientProcessId"),
        ("--clientProcessId", "--clientProcessId"),
        ("--log-level=loud", "--log-level"),
        ("--clientProcessId=" + "9" * 5000, "--clientProcessId"),
        ("--verbose", "--verbose"),
    ],
)
def test_bad(line: str, named: str) -> None:
    with pytest.raises(OptionError, match=named):
        parse_options(line.split())
