"""Settings overlaid by the options of one request (condense.md, 'Options')."""

from typing import Any

from msgspec import ValidationError, convert, to_builtins

from afterturn.condense.errors import InvalidInputError
from afterturn_protocol.condense import CondenseOptions
from afterturn_protocol.settings import CHOICES, CondenseSettings


def merged(settings: CondenseSettings, options: CondenseOptions | None) -> CondenseSettings:
    """The settings with what `options` sets. `enabled` cannot be set by a request.

    Raises InvalidInputError for a value that the setting does not allow.
    """
    if options is None:
        return settings
    overlay: dict[str, Any] = to_builtins(options)
    if not overlay:
        return settings
    for name, value in overlay.items():
        words = CHOICES.get(f"condense.{name}")
        if words is not None and value not in words:
            raise InvalidInputError(f"$.options.{name}", " or ".join(f'"{word}"' for word in words))
    try:
        return convert({**to_builtins(settings), **overlay}, CondenseSettings)
    except ValidationError as problem:
        expected, _, path = str(problem).partition(" - at `")
        place = path.rstrip("`").replace("$", "$.options", 1) or "$.options"
        raise InvalidInputError(place, expected.removeprefix("Expected ")) from None
