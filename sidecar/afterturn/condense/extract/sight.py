"""What a lens looks at: one call's output with what is known about it."""

import msgspec

from afterturn.condense.extract.call import Call
from afterturn.condense.extract.hot import Lines
from afterturn.condense.extract.names import tokens


class Sight(msgspec.Struct, frozen=True):
    """`wanted`: words that later calls use. `known`: words of the key argument, which the bullets show anyway.

    `text`: what to read, the body or a part of it.
    """

    call: Call
    lines: Lines
    wanted: frozenset[str]
    known: frozenset[str]
    text: str


def sight_of(call: Call, subject: str, wanted: frozenset[str]) -> Sight:
    return Sight(call, Lines(call.body), wanted, frozenset(tokens(subject[:160])), call.body)
