"""Settings overlaid by the options of one request (condense.md and capture.md, 'Options')."""

from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert, to_builtins

from afterturn.misfits import InvalidInputError, split_problem
from afterturn_protocol.settings import CHOICES

S = TypeVar("S", bound=Struct)


def overlaid(section: str, settings: S, options: Struct | None) -> S:
    """The settings of a section with what `options` sets.

    Raises InvalidInputError for a value that the setting does not allow.
    """
    overlay: dict[str, Any] = to_builtins(options) if options is not None else {}
    if not overlay:
        return settings
    for name, value in overlay.items():
        words = CHOICES.get(f"{section}.{name}")
        if words is not None and value not in words:
            raise InvalidInputError(f"$.options.{name}", " or ".join(f'"{word}"' for word in words))
    try:
        return convert({**to_builtins(settings), **overlay}, type(settings))
    except ValidationError as problem:
        path, expected = split_problem(str(problem))
        raise InvalidInputError(path.replace("$", "$.options", 1), expected) from None
