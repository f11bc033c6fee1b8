"""One importer a harness: each knows its format by what stands in it, and makes the neutral stream of it."""

from collections.abc import Iterator
from typing import Any, Protocol

from afterturn.replay.source import Source
from afterturn.replay.stream import Event


class Importer(Protocol):
    """What an importer's module holds."""

    @property
    def HARNESS(self) -> str:  # noqa: N802  (a constant of the module)
        ...

    def read(self, source: Source) -> Iterator[Event]: ...


class ValueImporter(Importer, Protocol):
    """An importer of JSON."""

    def recognises(self, value: Any) -> bool:
        """Whether a value from the head of the file, which may be cut short, is of this format."""
        ...
