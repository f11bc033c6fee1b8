"""The command line of a serving process. Hand-parsed: argparse costs a tenth of the whole start."""

from msgspec import Struct

DEFAULT_MAX_MESSAGE_BYTES = 64 * 1024 * 1024

_USAGE = (
    "options are --stdio, --framing=content-length|ndjson, --max-message-bytes=N, --clientProcessId=N, "
    "--log-level=debug|info|warning|error"
)
_OTHER_TRANSPORTS = ("--pipe", "--socket", "--node-ipc", "--port")
_MAX_DIGITS = 15
_LOG_LEVELS = ("debug", "info", "warning", "error")


class OptionError(Exception):
    """A command line that cannot be served; the text is for the person who wrote it."""


class ServeOptions(Struct, frozen=True):
    """How one process serves: framing, size limit (bytes), a client pid to watch, log level."""

    framing: str = "content-length"
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    client_process_id: int | None = None
    log_level: str = "warning"


def parse_options(args: list[str]) -> ServeOptions:
    """Read `--name=value` and `--name value` options. Raises OptionError with a message that names the option."""
    found: dict[str, str] = {}
    rest = iter(args)
    for arg in rest:
        name, equals, value = arg.partition("=")
        if name == "--stdio":
            continue
        if name in _OTHER_TRANSPORTS:
            raise OptionError(f"{name} is not supported: afterturn speaks over stdin and stdout only (--stdio)")
        if name not in ("--framing", "--max-message-bytes", "--clientProcessId", "--log-level"):
            raise OptionError(f"unknown option {arg!r}; {_USAGE}")
        found[name] = value if equals else next(rest, "")
    framing = _choice(found, "--framing", ("content-length", "ndjson"), "content-length")
    return ServeOptions(
        framing=framing,
        max_message_bytes=_number(found, "--max-message-bytes", 1) or DEFAULT_MAX_MESSAGE_BYTES,
        client_process_id=_number(found, "--clientProcessId", 1),
        log_level=_choice(found, "--log-level", _LOG_LEVELS, "warning"),
    )


def _choice(found: dict[str, str], name: str, allowed: tuple[str, ...], default: str) -> str:
    value = found.get(name, default)
    if value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def _number(found: dict[str, str], name: str, least: int) -> int | None:
    value = found.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS and int(value) >= least):
        shown = value if len(value) <= 100 else value[:100] + "\u2026"
        raise OptionError(f"{name} must be a whole number of at least {least}, not {shown!r}")
    return int(value)
