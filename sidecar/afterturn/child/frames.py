"""How a process and its child cut a pipe into messages: the length of a body in 4 bytes, the highest first, then it."""

HEAD_BYTES = 4


def framed(body: bytes) -> bytes:
    """The body as it goes over the pipe."""
    return len(body).to_bytes(HEAD_BYTES, "big") + body


class Frames:
    """Cuts what comes out of a pipe into the bodies of its frames."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies that are whole now."""
        buffer = self._buffer
        buffer += data
        bodies: list[bytes] = []
        start = 0
        while len(buffer) - start >= HEAD_BYTES:
            end = start + HEAD_BYTES + int.from_bytes(buffer[start : start + HEAD_BYTES], "big")
            if len(buffer) < end:
                break
            bodies.append(bytes(buffer[start + HEAD_BYTES : end]))
            start = end
        del buffer[:start]
        return bodies
