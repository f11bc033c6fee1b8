"""Bullets about a tool call without a model (condense.md, 'Without a model: extractive').

A call is read (`call`, `output`), given to the extractor of its kind (`registry`, `kinds`), and what that found is cut
to a budget (`render`). All of it is pure: the same view gives the same bytes in every process.

What a bullet says is taken literally from the call's arguments or its cleaned text (`afterturn.text.clean`), with three
exceptions: the fixed words of the extractors, counts, which always have the form of COUNT_PATTERN, and what the view
says of images.
"""

from afterturn.condense.extract.call import read_call
from afterturn.condense.extract.names import tokens
from afterturn.condense.extract.outcome import tell_images
from afterturn.condense.extract.registry import extractor_of
from afterturn.condense.extract.render import render
from afterturn.condense.extract.salient import salient
from afterturn.condense.extract.view import ToolView

__all__ = ["COUNT_PATTERN", "ToolView", "bullets", "salient", "words_of"]

# Numbers that were counted rather than quoted, for whoever checks bullets against their source.
COUNT_PATTERN = r"\(\d+ lines\)"


def bullets(call: ToolView, *, wanted: frozenset[str] = frozenset()) -> list[str]:
    """One to three lines about `call`, each beginning with "- ", without label or ref. Never raises.

    `wanted`: words of texts in which what this call showed may be used again, such as the arguments of calls after it
    (`words_of`); names that are among them come first.
    """
    read = read_call(call)
    digest = extractor_of(read)(read, wanted)
    if call.images:
        tell_images(call.images, digest)
    return render(read, digest)


def words_of(text: str) -> frozenset[str]:
    """The words of a text that may be names of something."""
    return frozenset([word for word in tokens(text) if len(word) > 3])
