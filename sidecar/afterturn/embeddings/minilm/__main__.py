"""The MiniLM process: `python -I -m afterturn.embeddings.minilm REQUESTS_FD REPLIES_FD SERVER_PID`.

One text after the other: a batch would take as much more memory as its longest text has companions.
"""

import os
import sys
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.msgpack import Encoder

from afterturn.child.frames import Frames, framed
from afterturn.embeddings.minilm.messages import Broken, Failed, Ready, Text, Vector, text_decoder

if TYPE_CHECKING:
    from afterturn.embeddings.minilm.model import MinilmModel

READ_BYTES = 1 << 16


def main() -> None:
    """Serve the server that started this process until it goes."""
    from afterturn.child.isolation import die_with, give_way, take_pipes

    requests_fd, replies_fd, parent = take_pipes(sys.argv[1:])
    die_with(parent)
    give_way()
    texts: SimpleQueue[Text] = SimpleQueue()
    # A thread of its own sees the server's end while the runtime loads, or is stuck.
    Thread(target=_read, args=(requests_fd, texts), daemon=True).start()
    from afterturn.embeddings.minilm.model import Unusable, load

    try:
        model = load()
    except Unusable as problem:
        _send(replies_fd, Broken(str(problem)))
        return
    _send(replies_fd, Ready())
    while True:
        _send(replies_fd, _answer(model, texts.get()))


def _read(fd: int, texts: "SimpleQueue[Text]") -> None:
    frames, decoder = Frames(), text_decoder()
    while data := os.read(fd, READ_BYTES):
        for body in frames.feed(data):
            texts.put(decoder.decode(body))
    os._exit(0)


def _answer(model: "MinilmModel", asked: Text) -> Vector | Failed:
    try:
        return Vector(asked.id, model.vector(asked.text))
    except Exception as problem:  # the runtime raises nothing narrower, and a text's fault is not the next one's
        return Failed(asked.id, type(problem).__name__)


def _send(fd: int, message: Struct) -> None:
    left = memoryview(framed(Encoder().encode(message)))
    try:
        while left:
            left = left[os.write(fd, left) :]
    except OSError:
        os._exit(0)


if __name__ == "__main__":
    main()
