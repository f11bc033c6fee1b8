"""The base class of every wire type, and the few scalar types they share."""

from typing import Annotated

from msgspec import Meta, Struct

_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1

Int = Annotated[int, Meta(ge=_INT64_MIN, le=_INT64_MAX)]
"""A whole number that every language and the store can hold (64 bits, signed)."""

Count = Annotated[int, Meta(ge=0, le=_INT64_MAX)]
"""A whole number of things, characters, bytes or milliseconds; never negative."""

Millis = Int
"""A point in time: integer milliseconds since 1970-01-01T00:00Z."""


class Shape(Struct, rename="camel", omit_defaults=True, frozen=True, gc=False):
    """Base of the wire types: camelCase on the wire, immutable, defaults left out when sent.

    Not tracked by the garbage collector: a decoded message is a tree, so reference counts free it.
    """


class Empty(Shape, frozen=True):
    """An object without fields: the params of a method that takes none, and every result that is not described."""
