"""What the server and the model worker say to each other: msgpack in frames (child/frames.py).

Nothing a provider wrote crosses but the text of a completion, and vectors.
"""

from typing import Literal

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from afterturn.child.frames import framed

FailedKind = Literal["connection", "status", "malformed", "unavailable"]


class Call(Struct, frozen=True, kw_only=True, tag="call"):
    """Make one model call.

    model: "provider/id". messages: (role, content).
    reasoning_off: have the model not reason, where its API has a word for it.
    credentials: environment variables that litellm itself looks for.
    limit_seconds: after this litellm may give up too; the deadlines are the server's.
    """

    id: int
    model: str
    messages: list[tuple[str, str]]
    max_tokens: int
    reasoning_off: bool
    api_key: str | None
    api_base: str | None
    headers: dict[str, str]
    credentials: dict[str, str]
    limit_seconds: float

    def __repr__(self) -> str:
        return f"Call({self.id})"  # the fields hold keys, and a repr ends up in logs


class Embed(Struct, frozen=True, kw_only=True, tag="embed"):
    """Embed texts in one call; the other fields are those of `Call`."""

    id: int
    model: str
    texts: list[str]
    api_key: str | None
    api_base: str | None
    headers: dict[str, str]
    credentials: dict[str, str]
    limit_seconds: float

    def __repr__(self) -> str:
        return f"Embed({self.id})"  # as of Call


class Cancel(Struct, frozen=True, tag="cancel"):
    """End a call. The worker answers `Ended`, unless the call's own answer is on its way."""

    id: int


class Ready(Struct, frozen=True, tag="ready"):
    """litellm is loaded; calls may come."""

    version: str


class Broken(Struct, frozen=True, tag="broken"):
    """litellm cannot be used. `problem` says why and what to install."""

    problem: str


class Alive(Struct, frozen=True, tag="alive"):
    """The provider has sent something for a call."""

    id: int


class Reply(Struct, frozen=True, kw_only=True, tag="reply"):
    """A completion.

    text: UTF-8 with lone surrogates as they are. Tokens and cost (US dollars): None where they are not known.
    """

    id: int
    text: bytes
    stop_reason: str
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost: float | None


class Embedded(Struct, frozen=True, kw_only=True, tag="embedded"):
    """A vector for each text, in order: little-endian float32 of unit length. Tokens and cost as in `Reply`."""

    id: int
    vectors: list[bytes]
    input_tokens: int | None
    cost: float | None


class Failed(Struct, frozen=True, kw_only=True, tag="failed"):
    """A call that brought nothing; the fields are those of ProviderFailure."""

    id: int
    kind: FailedKind
    message: str
    status: int | None = None
    retry_after_ms: int | None = None
    called: bool = True


class Ended(Struct, frozen=True, tag="ended"):
    """A cancelled call is over: its socket is closed."""

    id: int


ToWorker = Call | Embed | Cancel
FromWorker = Ready | Broken | Alive | Reply | Embedded | Failed | Ended


def to_worker_decoder() -> Decoder[ToWorker]:
    return Decoder(ToWorker)


def from_worker_decoder() -> Decoder[FromWorker]:
    return Decoder(FromWorker)


def frame(encoder: Encoder, message: ToWorker | FromWorker) -> bytes:
    """The message as it goes over the pipe."""
    return framed(encoder.encode(message))
