"""From settings to what takes secrets out of a text."""

from collections.abc import Callable, Mapping

from afterturn.redact.redactor import Redactor
from afterturn_protocol.settings import RedactionSettings

Redact = Callable[[str], tuple[str, Mapping[str, int]]]
"""The text without its secrets, and how many of each type there were."""


def redact_of(settings: RedactionSettings) -> Redact:
    """A `Redactor` with the user's own patterns; where redaction is off, every text as it is. Raises PatternError."""
    return Redactor(settings.extra_patterns).redact if settings.enabled else _as_it_is


def _as_it_is(text: str) -> tuple[str, Mapping[str, int]]:
    return text, {}
